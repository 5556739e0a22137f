package scheduler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/target"
	"baoco/scheduler"
)

// A key that is refused turns the source's bank accounts to error, once: the
// next transaction makes them active, and they stay so while the key is still
// refused. What somebody switched off stays off.
func TestKeyRefused(t *testing.T) {
	t.Parallel()
	for _, provider := range []app.Provider{"sepay", "casso"} {
		bubble(t, string(provider), func(t *testing.T) {
			id := ids(provider, 3)
			l := listOf(provider, movement{id: id[0], number: "FT0"})
			r := newReader(t, l)
			ctx := context.Background()
			for _, number := range []string{"22", "33"} {
				_, err := r.Services.Inbound.LinkBankAccount(ctx, 1,
					inbound.BankAccountLink{Bank: "ACB", AccountNumber: number, AccountName: "B"}, r.now)
				must(t, err)
			}
			source := r.source(t, provider, listURL)
			r.calls(t, source, movement{id: "2", account: "22", number: "FT9"}.called("2"))
			_, err := r.Services.Ledger.ToggleBankAccount(ctx, 1, 2, r.now)
			must(t, err)
			r.one(t, 2*time.Hour)
			statuses := func(want ...app.BankAccountStatus) {
				t.Helper()
				accounts, err := r.Services.Ledger.BankAccounts(ctx, 1)
				must(t, err)
				for i, b := range accounts {
					if b.Status != want[i] {
						t.Errorf("bank account %d is %s, want %s", b.ID, b.Status, want[i])
					}
				}
			}
			statuses(app.BankAccountActive, app.BankAccountInactive, app.BankAccountActive)
			l.answer(http.StatusForbidden)
			r.wantFault(t, r.catchUp(t, time.Minute), inbound.PollKeyRefused, true)
			statuses(app.BankAccountError, app.BankAccountInactive, app.BankAccountActive) // the last is not the source's
			r.calls(t, source, movement{number: "FT1"}.called("x"))
			statuses(app.BankAccountActive, app.BankAccountInactive, app.BankAccountActive)
			r.wantFault(t, r.catchUp(t, time.Minute), inbound.PollKeyRefused, false)
			l.answer(http.StatusBadGateway)
			r.wantFault(t, r.catchUp(t, time.Minute), inbound.PollUnreachable, false)
			if got := r.reload(t, source); got.PollError != inbound.PollKeyRefused {
				t.Errorf("the source's fault is %q", got.PollError)
			}
			l.answer(http.StatusUnauthorized)
			r.wantFault(t, r.catchUp(t, time.Minute), inbound.PollKeyRefused, false)
			statuses(app.BankAccountActive, app.BankAccountInactive, app.BankAccountActive)
			l.answerAgain()
			if got := r.one(t, time.Minute); !got.Changed {
				t.Errorf("it works again, and nobody is told: %+v", got)
			}
			l.answer(http.StatusUnauthorized)
			r.wantFault(t, r.catchUp(t, time.Minute), inbound.PollKeyRefused, true)
			statuses(app.BankAccountError, app.BankAccountInactive, app.BankAccountActive)
		})
	}
}

// A source for one bank account turns that one to error, though it has never
// recorded.
func TestKeyRefusedAtFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := sepayList()
		l.answer(http.StatusUnauthorized)
		r := newReader(t, l)
		_, err := r.Services.Inbound.AddSource(context.Background(), 1,
			inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: "s", APIKey: listKey, BankAccountID: 1}, r.now)
		must(t, err)
		r.wantFault(t, r.catchUp(t, time.Minute), inbound.PollKeyRefused, true)
		if b := r.bankAccount(t); b.Status != app.BankAccountError {
			t.Errorf("the bank account is %s", b.Status)
		}
	})
}

// An answer that is no page records nothing and leaves the progress as it was.
func TestUnreadablePages(t *testing.T) {
	t.Parallel()
	record := movement{id: "1"}.sepay()
	sepay := func(data, meta string) string { return `{"status":"success","data":` + data + `,"meta":` + meta + `}` }
	casso := func(data string) string { return `{"error":0,"message":"success","data":` + data + `}` }
	for _, c := range []struct {
		name     string
		provider app.Provider
		status   int
		body     string
		fault    inbound.PollFault
	}{
		{"no JSON", "sepay", 200, "<html>down for maintenance</html>", inbound.PollUnreadable},
		{"empty", "sepay", 200, "", inbound.PollUnreadable},
		{"half", "sepay", 200, sepay("["+record+"]", `{"pagination":{"has_more":false}}`)[:300], inbound.PollUnreadable},
		{"two documents", "sepay", 200, sepay("[]", `{"pagination":{"has_more":false}}`) + "{}", inbound.PollUnreadable},
		{"an error", "sepay", 200, `{"status":"error","message":"x","error_code":"y"}`, inbound.PollUnreadable},
		{"no data", "sepay", 200, `{"status":"success","meta":{"pagination":{"has_more":false}}}`, inbound.PollUnreadable},
		{"no end", "sepay", 200, sepay("["+record+"]", `{}`), inbound.PollUnreadable},
		{"null for the end", "sepay", 200, sepay("["+record+"]", `{"pagination":{"has_more":null}}`), inbound.PollUnreadable},
		{"data twice", "sepay", 200, `{"data":[],"status":"success","data":[` + record + `],"meta":{"pagination":{"has_more":false}}}`,
			inbound.PollUnreadable},
		{"too large", "sepay", 200, strings.Repeat(" ", 4<<20) + sepay("[]", `{"pagination":{"has_more":false}}`), inbound.PollUnreadable},
		{"a server error", "sepay", 500, "", inbound.PollUnreachable},
		{"not found", "sepay", 404, "", inbound.PollUnreadable},
		{"a redirect", "sepay", 302, "", inbound.PollUnreadable},
		{"too often", "sepay", 429, `{"status":"error","message":"Too many requests","error_code":"rate_limited"}`, inbound.PollRateLimited},
		{"key refused in the body", "casso", 200, `{"error":401,"message":"Unauthorized Access","data":null}`, inbound.PollKeyRefused},
		{"too often in the body", "casso", 200, `{"error":429,"message":"x","data":null}`, inbound.PollRateLimited},
		{"an error", "casso", 200, `{"error":1,"message":"x","data":null}`, inbound.PollUnreadable},
		{"no error", "casso", 200, `{"data":{"page":1,"totalPages":1,"records":[]}}`, inbound.PollUnreadable},
		{"null", "casso", 200, casso("null"), inbound.PollUnreadable},
		{"no records", "casso", 200, casso(`{"page":1,"totalPages":1,"records":null}`), inbound.PollUnreadable},
		{"no number of pages", "casso", 200, casso(`{"page":1,"records":[]}`), inbound.PollUnreadable},
	} {
		bubble(t, string(c.provider)+"/"+c.name, func(t *testing.T) {
			l := listOf(c.provider)
			l.instead = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Location", "https://elsewhere.example.vn/")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
				return true
			}
			r := newReader(t, l)
			source := r.source(t, c.provider, listURL)
			r.wantFault(t, r.catchUp(t, time.Hour), c.fault, true)
			r.wantFault(t, r.catchUp(t, time.Hour), c.fault, false)
			if len(l.requests) != 2 {
				t.Errorf("%d requests, want one each time", len(l.requests))
			}
			r.wantRows(t, 0, 0)
			if got := r.reload(t, source); got.PollError != c.fault || got.Progress != "" || len(r.events(t)) != 0 {
				t.Errorf("the source says %+v", got)
			}
			l.answerAgain()
			l.add(movement{id: ids(c.provider, 1)[0]})
			if got := r.one(t, time.Hour); !got.Changed || got.Recorded != 1 {
				t.Errorf("when it works again: %+v", got)
			}
		})
	}
}

// A provider that names a time is asked again after it, however often the
// others are read.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"600", moment.Add(time.Hour + 10*time.Minute).Format(http.TimeFormat)} {
		bubble(t, header, func(t *testing.T) {
			limited, other := sepayList(), cassoList()
			limited.answer(http.StatusTooManyRequests, "Retry-After", header)
			r := newReader(t, hosts{"limited.example.vn": limited, "other.example.vn": other})
			r.source(t, "sepay", "https://limited.example.vn")
			r.source(t, "casso", "https://other.example.vn")
			r.catchUp(t, time.Hour)
			limited.answerAgain()
			for range 3 {
				r.catchUp(t, 3*time.Minute)
			}
			if len(limited.requests) != 1 || len(other.requests) != 4 {
				t.Errorf("within ten minutes %d requests, and %d to the other; want 1 and 4", len(limited.requests), len(other.requests))
			}
			r.catchUp(t, 2*time.Minute)
			if got := r.reload(t, inbound.Source{ID: 1}); len(limited.requests) != 2 || got.PollError != "" {
				t.Errorf("after it: %d requests, %+v", len(limited.requests), got)
			}
		})
	}
}

// Over a real connection: the key goes to the one address in its header alone,
// whatever the environment says of proxies and the answer of redirects.
func TestKeyStaysHome(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	l := sepayList(movement{id: "a"})
	l.answer(http.StatusTemporaryRedirect, "Location", other.URL)
	server := httptest.NewServer(l)
	defer server.Close()
	r := newReader(t, nil)
	r.source(t, "sepay", server.URL+"/v2") // as SePay writes its address
	r.wantFault(t, r.catchUp(t, time.Hour), inbound.PollUnreadable, true)
	l.answerAgain()
	if got := r.one(t, 2*time.Hour); got.Recorded != 1 || elsewhere.Load() != 0 {
		t.Errorf("%+v; %d requests elsewhere", got, elsewhere.Load())
	}
	request := l.requests[0]
	if got := request.Header.Get("User-Agent"); got != "baoco/test" {
		t.Errorf("User-Agent %q", got)
	}
	if strings.Contains(request.URL.String(), listKey) || request.Header.Get("Authorization") != "Bearer "+listKey {
		t.Errorf("the request: %s %v", request.URL, request.Header)
	}
}

// The log says once that a list can't be read, and once that it can again.
func TestCatchUpLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := sepayList()
		l.answer(http.StatusUnauthorized)
		r := newReader(t, l)
		r.source(t, "sepay", listURL)
		var log bytes.Buffer
		var err error
		r.courier, err = scheduler.Start(r.Services, r.sender.Send,
			scheduler.Options{CatchUp: time.Minute, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		must(t, err)
		time.Sleep(5 * time.Minute)
		l.answerAgain()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		r.close(t)
		text := log.String()
		if n := len(l.requests); n < 9 || n > 11 {
			t.Errorf("%d requests in ten minutes", n)
		}
		if strings.Count(text, "catching up fails") != 1 || strings.Count(text, "catching up works again") != 1 ||
			strings.Count(text, "\n") != 2 {
			t.Errorf("the log:\n%s", text)
		}
		if strings.Contains(text, listKey) {
			t.Error("the log holds the API key")
		}
	})
}

// A list is read by one at a time.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := sepayList()
		l.instead = func(int, http.ResponseWriter, *http.Request) bool {
			time.Sleep(5 * time.Second)
			return false
		}
		r := newReader(t, l)
		source := r.source(t, "sepay", listURL)
		go r.Services.Inbound.CatchUp(context.Background(), r.now)
		time.Sleep(time.Second)
		if results := r.catchUp(t, 0); len(results) != 0 {
			t.Errorf("a second beside the first: %+v", results)
		}
		if _, err := r.Services.Inbound.CatchUpSource(context.Background(), 1, source.ID, r.now); app.CodeOf(err) != app.CodeConflict {
			t.Errorf("a command beside it: %v", err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(l.requests) != 1 {
			t.Errorf("%d requests", len(l.requests))
		}
		r.one(t, time.Minute)
	})
}

// A panic while a page is read is that page's fault.
func TestPanicOfAReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReader(t, sepayList())
		r.source(t, "sepay", listURL)
		r.spoil = func() { panic("as if the reader had a fault") }
		r.wantFault(t, r.catchUp(t, time.Minute), inbound.PollUnreadable, true)
		r.spoil = nil
		r.one(t, time.Minute)
	})
}

// A source that is removed while its list is read records nothing more.
func TestRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := sepayList(movement{id: "a"})
		r := newReader(t, l)
		source := r.source(t, "sepay", listURL)
		l.instead = func(int, http.ResponseWriter, *http.Request) bool {
			must(t, r.Services.Inbound.RemoveSource(context.Background(), 1, source.ID, r.now))
			return false
		}
		if results := r.catchUp(t, 2*time.Hour); len(results) != 1 || app.CodeOf(results[0].Err) != app.CodeNotFound {
			t.Errorf("%+v", results)
		}
		r.wantRows(t, 0, 0)
		if results := r.catchUp(t, time.Hour); len(results) != 0 {
			t.Errorf("afterwards: %+v", results)
		}
	})
}

// A list is read at public addresses, and at private ones that the operator
// opened. The address is judged when a source is made.
func TestListAddresses(t *testing.T) {
	t.Parallel()
	s := open(t, newFile(t), nil)
	for _, c := range []struct {
		url, allow string
		refused    bool
	}{
		{"https://list.example.vn", "", false},
		{"https://list.example.vn/base", "", false},
		{"https://list.example.vn/?x=y", "", true},
		{"ftp://list.example.vn", "", true},
		{"http://127.0.0.1:9000", "", true},
		{"http://127.0.0.1:9000", "127.0.0.1/32@9000", false},
		{"http://127.0.0.1:9001", "127.0.0.1/32@9000", true},
		{"http://localhost:9000", "", true},
		{"http://169.254.169.254", "0.0.0.0/0", true},
	} {
		service := apptest.Over(t, s.Store, services.Config{Targets: apptest.Targets(t, strings.Fields(c.allow)...)})
		_, err := service.Inbound.AddSource(t.Context(), 1,
			inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: "s", APIKey: listKey, APIURL: c.url}, time.Now())
		if refused := app.CodeOf(err) == app.CodeValidation; refused != c.refused || !refused && err != nil {
			t.Errorf("%s with %q allowed: %v", c.url, c.allow, err)
		}
	}
	s.close(t)
}

// The address is judged again at every connection, of which each page has one.
func TestListConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, allow string
		count       int64
	}{
		{"127.0.0.1", "", 0},
		{"127.0.0.1", "127.0.0.1/32", 2},
		{"localhost", "localhost", 2},
		{"localhost", "shop.lan", 0},
		{"[::ffff:127.0.0.1]", "::/0", 0},
	} {
		t.Run(c.host+" "+c.allow, func(t *testing.T) {
			t.Parallel() // between the two pages there is the pause of the provider
			r := newCountingReceiver(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `{"status":"success","data":[],"meta":{"pagination":{"has_more":false}}}`)
			})
			poller := scheduler.NewPoller(apptest.Targets(t, strings.Fields(c.allow)...), time.UTC, "test", nil)
			list := inbound.Source{Provider: "sepay", APIKey: listKey, APIURL: "http://" + c.host + ":" + r.port(t)}
			for range 2 {
				_, err := poller.Poll(t.Context(), list, "", time.Now())
				var blocked *target.BlockedAddressError
				if errors.As(err, &blocked) != (c.count == 0) || c.count > 0 && err != nil {
					t.Errorf("%v", err)
				}
			}
			if n := r.connections(t); n != c.count {
				t.Errorf("%d connections, want %d", n, c.count)
			}
		})
	}
}

// Of the elements that can't be read each is kept once, whether it has an id or
// not, however often the list shows it.
func TestUnreadableElements(t *testing.T) {
	t.Parallel()
	unreadable := []string{
		`null`, `17`, `"x"`, `[]`, `{}`, `{"id":null}`, `{"id":""}`, `{"id":"","amount":1}`, `{"id":"\u0000"}`, `{"id":"\u0000","amount":1}`,
		`{"id":" "}`, `{"id":" \u0000","amount":1}`, `{"id":[1]}`, `{"id":{"a":1}}`,
		`{"id":"7","amount":"200.000","amount_in":"200.000","transfer_type":"in","account_number":"19354957","bankSubAccId":"19354957"}`,
	}
	for _, provider := range []app.Provider{"sepay", "casso"} {
		bubble(t, string(provider), func(t *testing.T) {
			l := listOf(provider)
			var news []string
			l.instead = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				list := strings.Join(slices.Concat(unreadable, unreadable[:1], news), ",")
				if provider == "sepay" {
					fmt.Fprintf(w, `{"status":"success","data":[%s],"meta":{"pagination":{"has_more":false}}}`, list)
				} else {
					fmt.Fprintf(w, `{"error":0,"data":{"page":1,"totalPages":1,"records":[%s]}}`, list)
				}
				return true
			}
			r := newReader(t, l)
			r.source(t, provider, listURL)
			if got := r.one(t, time.Hour); got.Rejected != len(unreadable) || got.Duplicates != 1 {
				t.Errorf("the first time %+v, want %d rejected and one again", got, len(unreadable))
			}
			for range 2 {
				if got := r.one(t, time.Hour); got.Rejected != 0 || got.Duplicates != len(unreadable)+1 {
					t.Errorf("later %+v, want no more", got)
				}
			}
			events := r.events(t)
			if len(events) != 1 {
				t.Fatalf("%d events are kept", len(events))
			}
			event, err := r.Services.Inbound.ReadInboundEvent(context.Background(), 1, events[0].ID)
			must(t, err)
			shown := map[int]bool{}
			for _, item := range event.Items {
				shown[item.Position] = item.State == inbound.OutcomeRejected
			}
			for i := range unreadable {
				if !shown[i] {
					t.Errorf("%s is shown nowhere", unreadable[i])
				}
			}
			// What came with something new is shown as it was counted.
			if news = []string{(movement{id: "8"}).sepay()}; provider == "casso" {
				news = []string{(movement{id: "8"}).casso()}
			}
			if got := r.one(t, time.Hour); got.Recorded != 1 || got.Duplicates != len(unreadable)+1 {
				t.Errorf("with something new %+v", got)
			}
			event, err = r.Services.Inbound.ReadInboundEvent(context.Background(), 1, r.events(t)[0].ID)
			must(t, err)
			for i, e := range event.Elements {
				if want := []inbound.Outcome{inbound.OutcomeDuplicate, inbound.OutcomeRecorded}[i/(len(unreadable)+1)]; e.State != want {
					t.Errorf("element %d of %d is %q, want %s", i, len(event.Elements), e.State, want)
				}
			}
		})
	}
}
