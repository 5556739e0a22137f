package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/paymentcode"
	"baoco/app/services"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/webtest"

	"github.com/getkin/kin-openapi/openapi3"
)

const eventStream = "/api/v1/transactions/stream"

// eventIDs are the ids of the transactions that a stream has sent, in its order.
func eventIDs(text string) (ids []string) {
	for line := range strings.SplitSeq(text, "\n") {
		var body struct{ Transactions []struct{ ID string } }
		if data, found := strings.CutPrefix(line, "data: "); found && json.Unmarshal([]byte(data), &body) == nil && len(body.Transactions) == 1 {
			ids = append(ids, body.Transactions[0].ID)
		}
	}
	return ids
}

// begun is the id that a reader comes back with before it has got an event.
func begun(c *webtest.PipeConn) string {
	_, rest, _ := strings.Cut(c.Text(), "\nid: ")
	id, _, _ := strings.Cut(rest, "\n")
	return id
}

func wantEvents(t *testing.T, what string, c *webtest.PipeConn, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := eventIDs(c.Text()); !slices.Equal(got, want) || c.HasEnded() {
		t.Errorf("%s: sent %v, want %v; status %d, ended %t", what, got, want, c.Status, c.HasEnded())
	}
}

// A stream sends what is recorded from now on, of its account and its filter, at once,
// and what another process records within a second. Every 15 seconds, and at first, it
// says that it is alive.
func TestEventStream(t *testing.T) {
	t.Parallel()
	contract, err := webtest.TheContract()
	apptest.Must(t, err)
	schema := contract.Doc.Components.Schemas["StreamedTransaction"].Value
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		other := w.Link("VCB", "007")
		second := w.SecondAccount()
		_, err := w.Services.Inbound.LinkBankAccount(t.Context(), second,
			inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "B"}, time.Now())
		apptest.Must(t, err)
		key := w.APIKey(access.ScopeRead)
		w.Pay(1, "before", "before")
		open := func(query string) *webtest.PipeConn {
			c, hangUp := w.OpenAs(key, eventStream+query, false)
			t.Cleanup(hangUp)
			return c
		}
		all, in, out, bank := open(""), open("?type=IN&bank_account_id="), open("?type=OUT"), open(fmt.Sprintf("?bank_account_id=%d", other.ID))
		time.Sleep(time.Minute + 500*time.Millisecond)
		synctest.Wait()
		if want := "retry: 2000\nid: 1\n" + strings.Repeat(": the connection is alive\n\n", 5); all.Text() != want ||
			all.Headers.Get("Content-Type") != "text/event-stream" {
			t.Errorf("after a quiet minute: %q %v", all.Text(), all.Headers)
		}
		began := time.Now()
		w.Pay(1, "2", "đơn \"hàng\"\r\ndata: x")
		w.Pay(second, "3", "theirs")
		wantEvents(t, "all", all, "2")
		wantEvents(t, "money in", in, "2")
		if took := time.Since(began); took > 0 {
			t.Errorf("sent after %v", took)
		}
		_, _, err = w.Admin().Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{
			Incoming: inbound.Incoming{EventID: "4", Gateway: "VCB", AccountNumber: "007", Type: app.Out, Amount: 5, Time: time.Now()},
		}, time.Now())
		apptest.Must(t, err)
		time.Sleep(time.Second + 50*time.Millisecond)
		wantEvents(t, "all", all, "2", "4")
		wantEvents(t, "money in", in, "2")
		wantEvents(t, "money out", out, "4")
		wantEvents(t, "one bank account", bank, "4")
		sent := all.Text()[strings.Index(all.Text(), "event: "):]
		want := "event: transaction\nid: 2\ndata: {\"transactions\":[{\"id\":\"2\",\"gateway\":\"ACB\",\"transactionDate\":\"" +
			app.FormatTime(began, w.Services.Ledger.Zone()) +
			"\",\"transactionNumber\":\"FT2\",\"accountNumber\":\"" + apptest.SomeAccount +
			"\",\"content\":\"đơn \\\"hàng\\\"\\r\\ndata: x\",\"transferType\":\"IN\",\"transferAmount\":1549000}]}\n\n" +
			"event: transaction\nid: 4\ndata: {"
		if !strings.HasPrefix(sent, want) {
			t.Errorf("sent\n%q, want\n%q", sent, want)
		}
		for line := range strings.SplitSeq(sent, "\n") {
			if data, found := strings.CutPrefix(line, "data: "); found {
				var v any
				apptest.Must(t, json.Unmarshal([]byte(data), &v))
				apptest.Must(t, schema.VisitJSON(v, openapi3.EnableJSONSchema2020()))
			}
		}
	})
}

// removedIDs are the ids of transactions that a stream has said were removed, in its order.
func removedIDs(text string) (ids []string) {
	for event := range strings.SplitSeq(text, "\n\n") {
		var body struct{ Removed []string }
		data, found := strings.CutPrefix(event, "event: removed\ndata: ")
		if found && json.Unmarshal([]byte(data), &body) == nil {
			ids = append(ids, body.Removed...)
		}
	}
	return ids
}

// A reader is told that a transaction which it got was removed with its import, also where
// it was away meanwhile, whichever process did that. It is told of none that it didn't get,
// nor of other accounts. A transaction that is removed before it was sent is never sent.
func TestEventStreamOfRemoved(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.Link("VCB", "007")
		second := w.SecondAccount()
		_, err := w.Services.Inbound.LinkBankAccount(t.Context(), second,
			inbound.BankAccountLink{Bank: "VCB", AccountNumber: "007", AccountName: "B"}, time.Now())
		apptest.Must(t, err)
		key := w.APIKey(access.ScopeRead)
		imported := func(account int64, rows int, number string) int64 {
			t.Helper()
			in, err := w.Admin().Inbound.NewImport(t.Context(), inbound.ImportOptions{AccountID: account, File: "a.csv"})
			apptest.Must(t, err)
			var list []inbound.Incoming
			for i := range rows {
				list = append(list, inbound.Incoming{AccountNumber: number, Number: fmt.Sprint("R", in, i, time.Now().Unix()), Type: app.In,
					Amount: 5000, Time: time.Now()})
			}
			_, err = in.Add(t.Context(), list, time.Now())
			apptest.Must(t, err)
			time.Sleep(2 * time.Second)
			return in.ID()
		}
		undo := func(account, id int64) {
			t.Helper()
			apptest.Must(t, w.Admin().Inbound.UndoImport(t.Context(), account, id, time.Now()))
			time.Sleep(2 * time.Second)
		}
		open := func(query string, header ...string) *webtest.PipeConn {
			c, hangUp := w.OpenAs(key, eventStream+query, false, header...)
			t.Cleanup(hangUp)
			time.Sleep(time.Second)
			return c
		}
		wants := func(what string, c *webtest.PipeConn, sent, removed []string) {
			t.Helper()
			wantEvents(t, what, c, sent...)
			if got := removedIDs(c.Text()); !slices.Equal(got, removed) {
				t.Errorf("%s: told that %v were removed, want %v", what, got, removed)
			}
		}
		open("")
		all, out, bank := open(""), open("?type=OUT"), open("?bank_account_id=1")
		first := imported(1, 3, "007")       // 1 to 3
		theirs := imported(second, 1, "007") // 4
		later := open("")
		undo(second, theirs)
		undo(1, first)
		wants("all", all, []string{"1", "2", "3"}, []string{"1", "2", "3"})
		wants("money out", out, nil, nil)
		wants("another bank account", bank, nil, nil)
		wants("one who came later", later, nil, nil)
		unsent := imported(1, 2, "007") // 5 and 6
		undo(1, unsent)
		w.Pay(1, "7", "x")
		wants("one who was away", open("", "Last-Event-ID", "2"), []string{"7"}, []string{"1", "2"})
		wants("one who has nothing", open("?since_id=0"), []string{"7"}, nil)
		wants("one who has all", open("", "Last-Event-ID", "7"), nil, []string{"1", "2", "3", "5", "6"})
		wants("money out of one who has all", open("?type=OUT", "Last-Event-ID", "7"), nil, nil)
		wants("all", all, []string{"1", "2", "3", "5", "6", "7"}, []string{"1", "2", "3", "5", "6"})

		// There are more than are read at a time. The last transaction is one of them.
		for range 3 {
			undo(1, imported(1, 450, "007"))
		}
		if got := len(removedIDs(open("", "Last-Event-ID", "100000").Text())); got != 5+3*450 {
			t.Errorf("told of %d removed ones", got)
		}
	})
}

// A stream that is limited to codes sends the transactions whose code begins so, and
// no others.
func TestEventStreamOfCodes(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		for _, prefix := range []string{"DH", "HD"} {
			_, err := w.Services.Ledger.CreateCodePattern(t.Context(), 1,
				paymentcode.Pattern{Prefix: prefix, Least: 6, Most: 6, Alphabet: paymentcode.Digits}, time.Now())
			apptest.Must(t, err)
		}
		c, hangUp := w.OpenAs(w.APIKey(access.ScopeRead), eventStream+"?code_prefix=DH", false)
		t.Cleanup(hangUp)
		synctest.Wait()
		w.Pay(1, "1", "DH001234")
		w.Pay(1, "2", "HD001234")
		w.Pay(1, "3", "no code")
		w.Pay(1, "4", "ck dh 001235")
		time.Sleep(time.Second)
		wantEvents(t, "codes", c, "1", "4")
		if !strings.Contains(c.Text(), `"code":"DH001235"`) {
			t.Errorf("sent without its code: %q", c.Text())
		}
	})
}

// A reader who comes back gets all after its last event, also one who has got none yet,
// and tells nobody how many transactions other accounts have.
func TestEventStreamResumes(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		second := w.SecondAccount()
		_, err := w.Services.Inbound.LinkBankAccount(t.Context(), second,
			inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "B"}, time.Now())
		apptest.Must(t, err)
		for i := range 60 {
			w.Pay(1+int64(i%2)*(second-1), strconv.Itoa(i), "x") // odd ids are account 1's
		}
		key := w.APIKey(access.ScopeRead)
		odd := func(from, to int) (ids []string) {
			for id := from; id <= to; id += 2 {
				ids = append(ids, strconv.Itoa(id))
			}
			return ids
		}
		for _, c := range []struct {
			query, last string
			begun       string
			want        []string
		}{
			{"?since_id=0", "", "0", odd(1, 59)},
			{"?since_id=9", "", "9", odd(11, 59)},
			{"?since_id=0", "51", "51", odd(53, 59)},
			{"", "52", "52", odd(53, 59)},
			{"", "57", "57", odd(59, 59)},
			{"", "59", "59", nil},
			{"", "60", "59", nil},
			{"", "", "59", nil},
			{"", "61", "59", nil}, // not given yet
			{"?since_id=9223372036854775807", "", "59", nil},
			{"?type=OUT", "", "0", nil},
			{"?type=OUT&since_id=7", "", "0", nil},
		} {
			var header []string
			if c.last != "" {
				header = []string{"Last-Event-ID", c.last}
			}
			stream, hangUp := w.OpenAs(key, eventStream+c.query, false, header...)
			time.Sleep(time.Second)
			wantEvents(t, c.query+" "+c.last, stream, c.want...)
			if got := begun(stream); got != c.begun {
				t.Errorf("%s %s: begins at %s, want %s", c.query, c.last, got, c.begun)
			}
			hangUp()
		}
		// One who has got nothing yet misses nothing.
		stream, hangUp := w.OpenAs(key, eventStream, false)
		hangUp()
		w.Pay(1, "meanwhile", "x")
		again, hangUp := w.OpenAs(key, eventStream, false, "Last-Event-ID", begun(stream))
		defer hangUp()
		wantEvents(t, "after the first cut", again, "61")
	})
}

// A stream ends within a second once its key is revoked or has expired, or the server
// stops, also while its reader takes nothing. Nothing that comes in from then on is
// sent. A reader who takes nothing holds it for ten seconds anyway.
func TestEventStreamEnds(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(w webtest.Bubble, k access.APIKey, closing chan struct{}){
		"revoked": func(w webtest.Bubble, k access.APIKey, _ chan struct{}) {
			apptest.Must(w.T, w.Services.Access.RevokeAPIKey(context.Background(), 1, k.ID, time.Now()))
		},
		"revoked elsewhere": func(w webtest.Bubble, k access.APIKey, _ chan struct{}) {
			apptest.Must(w.T, w.Admin().Access.RevokeAPIKey(context.Background(), 1, k.ID, time.Now()))
			apptest.Must(w.T, w.Store.RefreshCredentials(context.Background())) // as a server does every 400 ms
		},
		"expired": func(webtest.Bubble, access.APIKey, chan struct{}) { time.Sleep(5 * time.Second) },
		"stopped": func(_ webtest.Bubble, _ access.APIKey, closing chan struct{}) { close(closing) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
				closing := make(chan struct{})
				w.Handler = web.New(web.Config{Services: w.Services, Version: "test", Closing: closing})
				var expires time.Time
				if what == "expired" {
					expires = time.Now().Add(9 * time.Second)
				}
				k, key, err := w.Services.Access.CreateAPIKey(t.Context(), 1, access.APIKeyCreate{
					Name: "reader", Scope: access.ScopeRead, ExpiresAt: expires,
				}, time.Now())
				apptest.Must(t, err)
				w.Pay(1, "1", "one")
				quick, hangUp := w.OpenAs(key, eventStream, false)
				defer hangUp()
				slow, hangUp := w.OpenAs(key, eventStream+"?since_id=0", true)
				defer hangUp()
				time.Sleep(5 * time.Second)
				if quick.HasEnded() || slow.HasEnded() {
					t.Fatalf("ended by itself: %t %t", quick.HasEnded(), slow.HasEnded())
				}
				end(w, k, closing)
				w.Pay(1, "2", "two")
				time.Sleep(time.Second)
				synctest.Wait()
				if !quick.HasEnded() || !slow.HasEnded() || len(eventIDs(quick.Text())) > 0 {
					t.Errorf("after a second: ended %t, %t, sent %q", quick.HasEnded(), slow.HasEnded(), quick.Text())
				}
			})
		})
	}
}

// What hangs in the connection of a slow reader holds nothing of the file, and ends
// after ten seconds.
func TestEventStreamOfASlowReader(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		key := w.APIKey(access.ScopeRead)
		for i := range 120 {
			w.Pay(1, strconv.Itoa(i), "x")
		}
		began := time.Now()
		c, hangUp := w.OpenAs(key, eventStream+"?since_id=0", false)
		defer hangUp()
		synctest.Wait()
		c.Fill()
		w.Pay(1, "more", "x")
		time.Sleep(3 * time.Second)
		w.File(func(db *sql.DB) error {
			var busy, log, done int
			err := db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done)
			if busy != 0 || log != 0 {
				t.Errorf("the log can't be emptied while a reader takes nothing: %d %d %d", busy, log, done)
			}
			return err
		})
		<-c.Ended
		if took := time.Since(began).Truncate(100 * time.Millisecond); took != 10*time.Second {
			t.Errorf("it was held for %v", took)
		}
	})
}

// A storage that doesn't answer for a while ends no stream, and nothing is missing
// afterwards. It is logged once.
func TestEventStreamSurvivesTheStorage(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		var log bytes.Buffer
		w.Handler = web.New(web.Config{Services: w.Services, Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		c, hangUp := w.OpenAs(w.APIKey(access.ScopeRead), eventStream, false)
		w.Pay(1, "1", "x")
		time.Sleep(time.Second)
		wantEvents(t, "before", c, "1")
		source, call := w.Native(), apptest.Batch(apptest.Transfer{}.Native())
		w.Change(`ALTER TABLE transaction_notes RENAME TO gone`)
		webtest.From(w.Handler, "192.0.2.1:1")("POST", source.URLPath(), call, apptest.Credentials(source, call, time.Now())...).
			WantStatus(t, http.StatusOK)
		time.Sleep(time.Minute)
		w.Change(`ALTER TABLE gone RENAME TO transaction_notes`)
		time.Sleep(time.Second)
		wantEvents(t, "afterwards", c, "1", "2")
		w.Change(`ALTER TABLE transactions RENAME TO gone`)
		time.Sleep(time.Minute)
		w.Change(`ALTER TABLE gone RENAME TO transactions`)
		w.Pay(1, "3", "x")
		time.Sleep(time.Second)
		wantEvents(t, "after the second time", c, "1", "2", "3")
		hangUp()
		synctest.Wait()
		for _, line := range []string{"read transactions for an event stream", "read what is new for event streams"} {
			if n := strings.Count(log.String(), line); n != 1 || strings.Count(log.String(), "level=ERROR") != 2 {
				t.Errorf("%d lines %q: %s", n, line, log.String())
			}
		}
	})
}

// Nobody takes the streams of others: not a key, an address, or an account. Every open
// stream counts, and none that has ended.
func TestEventStreamsAreBounded(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		var log bytes.Buffer
		w.Handler = web.New(web.Config{
			Services: w.Services, Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil)),
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		})
		var close []context.CancelFunc
		// open gives how many of n streams begin.
		open := func(key, from string, n int) (begun int) {
			for range n {
				c, hangUp := w.OpenAs(key, eventStream, false, "X-Forwarded-For", from)
				if c.Status == http.StatusOK && !c.HasEnded() {
					begun++
					close = append(close, hangUp)
				} else if hangUp(); c.Status != http.StatusServiceUnavailable || c.Headers.Get("Retry-After") == "" ||
					!strings.Contains(c.Text(), "Too many event streams") {
					t.Errorf("%d %s", c.Status, c.Text())
				}
			}
			return begun
		}
		keyOf := func(account int64) string {
			_, key, err := w.Services.Access.CreateAPIKey(t.Context(), account, access.APIKeyCreate{
				Name: "reader", Scope: access.ScopeRead,
			}, time.Now())
			apptest.Must(t, err)
			return key
		}
		if n := open(keyOf(1), "198.51.100.1", 51); n != 50 {
			t.Errorf("a key holds %d", n)
		}
		if n := open(keyOf(1), "198.51.100.1", 40) + open(keyOf(1), "198.51.100.1", 11); n != 50 {
			t.Errorf("an address holds %d more", n)
		}
		if n := open(keyOf(1), "198.51.100.2", 50) + open(keyOf(1), "198.51.100.2", 50) + open(keyOf(1), "198.51.100.3", 1); n != 100 {
			t.Errorf("an account holds %d more", n)
		}
		for i := range 5 {
			a, err := w.Services.Ledger.CreateAccount(t.Context(), strconv.Itoa(i), time.Now())
			apptest.Must(t, err)
			want := 200
			if i == 4 {
				want = 0
			}
			n := 0
			for k := range 4 {
				n += open(keyOf(a.ID), fmt.Sprintf("203.0.113.%d", 4*i+k), 50)
			}
			if n != want {
				t.Errorf("account %d holds %d, want %d", i, n, want)
			}
		}
		if n := strings.Count(log.String(), "too many streams are open"); n != 1 || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%d lines about it within a minute: %s", n, log.String())
		}
		for _, hangUp := range close {
			hangUp()
		}
		synctest.Wait()
		close = nil
		if n := open(keyOf(1), "198.51.100.1", 50); n != 50 {
			t.Errorf("after all have ended, %d of 50 begin", n)
		}
		for _, hangUp := range close {
			hangUp()
		}
		synctest.Wait()
	})
}

// recordingStore is a file to which another process adds a transaction just after the
// newest ids were read.
type recordingStore struct {
	*sqlitestore.Store
	once sync.Once
	add  func()
}

func (s *recordingStore) NewestIDs(ctx context.Context) (delivery.NewestIDs, error) {
	newest, err := s.Store.NewestIDs(ctx)
	s.once.Do(s.add)
	return newest, err
}

// What is recorded while a stream begins is sent, also to a reader whose connection
// breaks before that: the id to come back with is from before it.
func TestEventStreamBeginsAtOneMoment(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.Pay(1, "1", "before")
		store := &recordingStore{Store: w.Store, add: func() { w.Pay(1, "2", "meanwhile") }}
		w.Handler = web.New(web.Config{Services: apptest.Over(t, w.Store, services.Config{Store: store}), Version: "test"})
		c, hangUp := w.OpenAs(w.APIKey(access.ScopeRead), eventStream, false)
		defer hangUp()
		time.Sleep(time.Second)
		wantEvents(t, "meanwhile", c, "2")
		if begun(c) != "1" {
			t.Errorf("it begins at %s", begun(c))
		}
	})
}
