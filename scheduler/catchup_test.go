package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/inbound"

	"github.com/google/go-cmp/cmp"
)

const listURL = "https://list.example.vn"

// ids are n ids as each provider makes them, not in any order.
func ids(provider app.Provider, n int) []string {
	all := make([]string, n)
	for i := range all {
		if all[i] = fmt.Sprint(536760 + i); provider == "sepay" {
			all[i] = fmt.Sprintf("%08x-922e-11f1-b21a-a6006ab65aca", uint32(i+1)*2654435761)
		}
	}
	return all
}

// callID is what the provider's call names a transaction: Casso by the id of
// the list, SePay by another.
func callID(provider app.Provider, m movement) string {
	if provider == "sepay" {
		return "call " + m.id
	}
	return m.id
}

func listOf(provider app.Provider, known ...movement) *list {
	if provider == "sepay" {
		return sepayList(known...)
	}
	return cassoList(known...)
}

// The same transaction by call and by list, in both orders, with a number and
// without, is one row and one delivery; those that are alike stay as many as
// there are.
func TestListAndCalls(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"sepay", "casso-v2"} {
		for _, c := range []struct {
			name   string
			number string
			listed int // alike in the list
			called int // of them by call
		}{
			{"numbered", "FT1", 1, 1}, {"without a number", "", 1, 1},
			{"two with one number", "FT1", 2, 2}, {"two alike", "", 2, 2}, {"three alike, one called", "", 3, 1},
		} {
			for _, order := range []string{"call first", "list first", "calls between", "calls repeated"} {
				if testing.Short() && provider == "casso-v2" && order != "list first" {
					continue // the race detector makes each a second
				}
				bubble(t, fmt.Sprintf("%s/%s/%s", provider, c.name, order), func(t *testing.T) {
					l := listOf(provider)
					r := newReader(t, l)
					source := r.source(t, provider, listURL)
					var called []inbound.Incoming
					for i, id := range ids(provider, c.listed) {
						m := movement{id: id, number: c.number}
						l.add(m)
						if i < c.called {
							called = append(called, m.called(callID(provider, m)))
						}
					}
					r.now = r.now.Add(2 * time.Hour)
					switch order {
					case "call first":
						r.calls(t, source, called...)
						r.one(t, time.Minute)
					case "list first":
						r.one(t, time.Minute)
						r.calls(t, source, called...)
					case "calls between":
						r.calls(t, source, called[0])
						r.one(t, time.Minute)
						r.calls(t, source, called[1:]...)
					case "calls repeated":
						r.calls(t, source, called...)
						r.one(t, time.Minute)
						r.calls(t, source, called...)
					}
					r.one(t, 2*time.Hour)
					r.one(t, time.Minute)
					r.wantRows(t, c.listed, c.listed)
					r.tallies(t, r.events(t)...)
				})
			}
		}
	}
}

// Casso's list and calls name a transaction by one id, so it is known though
// the list has neither its number nor its time of day.
func TestCassoKnowsItsIDs(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"call", "list"} {
		bubble(t, first, func(t *testing.T) {
			listed := movement{id: "536760", at: moment.Add(12 * time.Hour)} // midnight in Vietnam
			called := listed
			called.number, called.at, called.content = "FT1", moment.Add(20*time.Hour), "DH 1 again"
			r := newReader(t, cassoList(listed))
			source := r.source(t, "casso", listURL)
			r.now = r.now.Add(22 * time.Hour)
			if first == "call" {
				r.calls(t, source, called.called("536760"))
			}
			r.one(t, time.Minute)
			if got := r.calls(t, source, called.called("536760")); got.Duplicates != 1 {
				t.Errorf("the call: %+v", got)
			}
			r.wantRows(t, 1, 1)
		})
	}
}

// What differs from what the other side names is another transaction, however much it
// looks like it. What doesn't is the same by another source too.
func TestAlikeButDifferent(t *testing.T) {
	t.Parallel()
	first := movement{id: ids("sepay", 1)[0], content: "TIEN DIEN THANG 10"}
	for _, c := range []struct {
		name string
		call movement
	}{
		{"another time", movement{at: moment.Add(time.Hour + inbound.RepeatWindow + time.Second), content: first.content}},
		{"another content", movement{content: "HOC PHI LOP BA"}},
		{"another amount", movement{amount: 200001, content: first.content}},
		{"another direction", movement{amount: -200000, content: first.content}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := newReader(t, sepayList(first))
			source := r.source(t, "sepay", listURL)
			r.now = r.now.Add(2 * time.Hour)
			r.calls(t, source, c.call.called("92704"))
			r.one(t, time.Minute)
			r.wantRows(t, 2, 2)
		})
	}
	bubble(t, "another source", func(t *testing.T) {
		r := newReader(t, sepayList(first))
		r.source(t, "sepay", listURL)
		other, err := r.Services.Inbound.AddSource(context.Background(), 1,
			inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: "other"}, r.now)
		must(t, err)
		r.now = r.now.Add(2 * time.Hour)
		r.calls(t, other, first.called("92704"))
		r.one(t, time.Minute)
		r.wantRows(t, 1, 1)
	})
	bubble(t, "a number on one side only", func(t *testing.T) {
		r := newReader(t, sepayList(first))
		source := r.source(t, "sepay", listURL)
		r.now = r.now.Add(2 * time.Hour)
		r.calls(t, source, movement{number: "FT1"}.called("92704"))
		r.one(t, time.Minute)
		r.wantRows(t, 1, 1)
	})
}

// The first reading records what happened since the day on which the source
// was made, and tells the shop of what happened since that moment; later ones
// tell of everything, however late.
func TestFirstReading(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"sepay", "casso"} {
		bubble(t, string(provider), func(t *testing.T) {
			id := ids(provider, 5)
			l := listOf(provider,
				movement{id: id[0], number: "FT0", at: moment.Add(-24 * time.Hour)}, // the day before: not asked for
				movement{id: id[1], number: "FT1", at: moment.Add(-time.Second)},
				movement{id: id[2], number: "FT2", at: moment})
			r := newReader(t, l)
			r.source(t, provider, listURL)
			if got := r.one(t, time.Minute); got.Recorded != 2 || got.Pages != 1 {
				t.Errorf("first reading: %+v", got)
			}
			r.wantRows(t, 2, 1)
			l.add(movement{id: id[3], number: "FT3", at: moment.Add(-time.Hour)},
				movement{id: id[4], number: "FT4", at: moment.Add(30 * 24 * time.Hour)})
			r.one(t, 31*24*time.Hour)
			r.wantRows(t, 4, 3)
		})
	}
}

// The list is read on from where it was left, across a restart and in the
// middle of its pages.
func TestProgress(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"sepay", "casso"} {
		bubble(t, string(provider), func(t *testing.T) {
			var known []movement
			for i, id := range ids(provider, 350) {
				known = append(known, movement{id: id, number: fmt.Sprint("FT", i), at: moment.Add(time.Duration(i) * time.Second)})
			}
			l := listOf(provider, known...)
			r := newReader(t, l)
			source := r.source(t, provider, listURL)
			l.instead = func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n == 3 {
					w.WriteHeader(http.StatusBadGateway)
				}
				return n == 3
			}
			r.wantFault(t, r.catchUp(t, time.Hour), inbound.PollUnreachable, true)
			r.wantRows(t, 200, 200)
			r.close(t)
			r.open(t)
			if got := r.reload(t, source); !got.PolledAt.IsZero() || got.PollError != inbound.PollUnreachable || got.Progress == "" {
				t.Errorf("the source says %+v", got)
			}
			l.forgetRequests()
			l.instead = nil
			got := r.one(t, time.Minute)
			if !got.Changed || got.Pages != 2 || got.Recorded != 150 || got.Duplicates != 0 {
				t.Errorf("after the restart: %+v", got)
			}
			if d := cmp.Diff([]string{"3", "4"}, l.asked("page")); d != "" {
				t.Errorf("pages asked for (-want +got):\n%s", d)
			}
			r.wantRows(t, 350, 350)
			if got := r.reload(t, source); !got.PolledAt.Equal(r.now) || got.PollError != "" || !got.LastTransactionAt.Equal(r.now) ||
				!got.LastCallAt.IsZero() {
				t.Errorf("the source says %+v", got)
			}
		})
	}
}

// SePay's list is read by since_id, and once an hour by date from three days
// before; one that SePay doesn't know any more has it read by date.
func TestSePayAsks(t *testing.T) { synctest.Test(t, testSePayAsks) }

func testSePayAsks(t *testing.T) {
	id := ids("sepay", 3)
	l := sepayList(movement{id: id[0], at: moment.Add(time.Hour)}, movement{id: id[1], at: moment.Add(2 * time.Hour)})
	r := newReader(t, l)
	r.source(t, "sepay", listURL)
	want := func(after time.Duration, asked ...string) {
		t.Helper()
		l.forgetRequests()
		r.one(t, after)
		if d := cmp.Diff(asked, l.asked("since_id", "transaction_date_from", "page", "per_page", "transaction_date_sort")); d != "" {
			t.Errorf("after %v (-want +got):\n%s", after, d)
		}
	}
	want(3*time.Hour, " 2026-11-20 00:00:00 1 100 asc")
	want(3*time.Minute, id[1]+"  1 100 asc")
	l.add(movement{id: id[2], at: moment.Add(3 * time.Hour)})
	want(3*time.Minute, id[1]+"  1 100 asc")
	want(3*time.Minute, id[2]+"  1 100 asc")
	want(48*time.Minute, id[2]+"  1 100 asc")
	want(3*time.Minute, " 2026-11-20 00:00:00 1 100 asc") // an hour after the last one by date, whatever was read since
	want(14*24*time.Hour, " 2026-11-20 00:00:00 1 100 asc")
	want(time.Hour, " 2026-12-01 16:00:00 1 100 asc") // three days before the last one by date
	l.mu.Lock()
	l.known = l.known[:2]
	l.mu.Unlock()
	want(3*time.Minute, id[2]+"  1 100 asc", " 2026-12-01 17:00:00 1 100 asc")
	r.wantRows(t, 3, 3)
}

// Casso's list is read from the day before that of the last reading, and to
// tomorrow, since Casso doesn't say whether the last day is part of it.
func TestCassoAsks(t *testing.T) { synctest.Test(t, testCassoAsks) }

func testCassoAsks(t *testing.T) {
	l := cassoList()
	r := newReader(t, l)
	r.source(t, "casso", listURL)
	for _, c := range []struct {
		after time.Duration
		asked string
	}{
		{3 * time.Hour, "2026-11-20 2026-11-21 1 100 ASC"},
		{24 * time.Hour, "2026-11-20 2026-11-22 1 100 ASC"}, // not from before there was a key
		{24 * time.Hour, "2026-11-20 2026-11-23 1 100 ASC"},
		{10 * 24 * time.Hour, "2026-11-21 2026-12-03 1 100 ASC"},
		{time.Hour, "2026-12-01 2026-12-03 1 100 ASC"},
	} {
		l.forgetRequests()
		r.one(t, c.after)
		if d := cmp.Diff([]string{c.asked}, l.asked("fromDate", "toDate", "page", "pageSize", "sort")); d != "" {
			t.Errorf("after %v (-want +got):\n%s", c.after, d)
		}
	}
}

// A transaction that the provider learns of late, between others, while its
// list is read, is not left out.
func TestLateTransactions(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"sepay", "casso"} {
		bubble(t, string(provider), func(t *testing.T) {
			id := ids(provider, 153)
			l := listOf(provider)
			for i := range 150 {
				l.add(movement{id: id[i], number: fmt.Sprint("FT", i), at: moment.Add(time.Duration(i) * time.Second)})
			}
			l.instead = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
				if n == 2 { // between the pages
					l.add(movement{id: id[150], number: "FT150", at: moment.Add(time.Second)})
				}
				return false
			}
			r := newReader(t, l)
			r.source(t, provider, listURL)
			r.one(t, time.Hour)
			l.add(movement{id: id[151], number: "FT151", at: moment.Add(time.Second)})
			r.one(t, 3*time.Minute)
			r.one(t, 2*time.Hour)
			l.mu.Lock() // SePay may mean the order of dates with since_id
			l.known = slices.Insert(l.known, 0, movement{id: id[152], number: "FT152", at: moment.Add(time.Second)})
			l.mu.Unlock()
			r.one(t, 2*time.Hour)
			r.wantRows(t, 153, 153)
		})
	}
}

// A page is kept where something of it is new; a faulty element is kept once,
// until somebody deals with it.
func TestKeptPages(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"sepay", "casso"} {
		bubble(t, string(provider), func(t *testing.T) {
			id := ids(provider, 4)
			faulty := movement{id: id[0], number: "FT0"}
			broken := faulty
			broken.raw = strings.NewReplacer(`"amount_in":200000`, `"amount_in":null`, `"amount":200000`, `"amount":null`).Replace(faulty.sepay())
			if provider == "casso" {
				broken.raw = strings.Replace(faulty.casso(), `"amount":200000`, `"amount":null`, 1)
			}
			l := listOf(provider, broken, movement{raw: "17"}, movement{id: id[1], number: "FT1"},
				movement{id: id[2], number: "FT2", account: "404"})
			r := newReader(t, l)
			r.source(t, provider, listURL)
			if got := r.one(t, 2*time.Hour); got.Recorded != 1 || got.Rejected != 2 || got.Unassigned != 1 {
				t.Errorf("first: %+v", got)
			}
			for range 3 {
				if got := r.one(t, 2*time.Hour); got.Duplicates != 4 {
					t.Errorf("again: %+v", got)
				}
			}
			events := r.events(t)
			if len(events) != 1 || events[0].Open != 3 || events[0].Channel != app.ChannelPoll || events[0].Recorded != 1 {
				t.Fatalf("events: %+v", events)
			}
			r.tallies(t, events...)
			if got, err := r.Services.Inbound.RetryInbound(context.Background(), 1, events[0].ID, r.now); err != nil || got.Rejected != 2 ||
				got.Duplicates != 1 || got.Unassigned != 1 {
				t.Errorf("retry: %+v, %v", got, err)
			}
			_, err := r.Services.Inbound.DiscardInbound(context.Background(), 1, events[0].ID)
			must(t, err)
			l.mu.Lock()
			l.known[0] = faulty // the provider corrected it
			l.mu.Unlock()
			l.add(movement{id: id[3], number: "FT3"})
			if got := r.one(t, 2*time.Hour); got.Recorded != 2 || got.Duplicates != 3 {
				t.Errorf("corrected: %+v", got)
			}
			if events = r.events(t); len(events) != 2 || events[1].Open != 0 {
				t.Fatalf("events: %+v", events)
			}
			r.tallies(t, events[0])
			r.wantRows(t, 3, 3)
		})
	}
}

// A source that is for one bank account records on no other.
func TestNarrowedSource(t *testing.T) { synctest.Test(t, testNarrowedSource) }

func testNarrowedSource(t *testing.T) {
	id := ids("sepay", 2)
	r := newReader(t, sepayList(movement{id: id[0]}, movement{id: id[1], account: "777"}))
	_, err := r.Services.Inbound.LinkBankAccount(context.Background(), 1,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "777", AccountName: "B"}, r.now)
	must(t, err)
	_, err = r.Services.Inbound.AddSource(context.Background(), 1,
		inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: "s", APIKey: listKey, APIURL: listURL, BankAccountID: 2}, r.now)
	must(t, err)
	if got := r.one(t, 2*time.Hour); got.Recorded != 1 || got.Unassigned != 1 {
		t.Errorf("%+v", got)
	}
	if all := r.wantRows(t, 1, 1); all[0].BankAccountID != 2 {
		t.Errorf("recorded on bank account %d", all[0].BankAccountID)
	}
}

// The list of a source that gets its first API key later is read from then on.
func TestFirstKeyLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		id := ids("sepay", 3)
		r := newReader(t,
			sepayList(movement{id: id[0], number: "FT0"}, movement{id: id[1], number: "FT1", at: moment.Add(72*time.Hour - time.Second)},
				movement{id: id[2], number: "FT2", at: moment.Add(72 * time.Hour)}))
		ctx := context.Background()
		source, err := r.Services.Inbound.AddSource(ctx, 1, inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: "s"}, r.now)
		must(t, err)
		if results := r.catchUp(t, 72*time.Hour); len(results) != 0 {
			t.Errorf("without a key: %+v", results)
		}
		_, err = r.Services.Inbound.SetSourceAPIKey(ctx, 1, source.ID, listKey, r.now)
		must(t, err)
		r.one(t, time.Hour)
		r.wantRows(t, 2, 1)
		_, err = r.Services.Inbound.SetSourceAPIKey(ctx, 1, source.ID, "another", r.now)
		must(t, err)
		r.wantFault(t, r.catchUp(t, time.Hour), inbound.PollKeyRefused, true)
		if got := r.reload(t, source); !got.ListFrom.Equal(moment.Add(72 * time.Hour)) {
			t.Errorf("read from %v", got.ListFrom)
		}
	})
}
