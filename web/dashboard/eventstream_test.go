package dashboard_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/payment"
	"baoco/app/services"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/webtest"
)

var streamPaths = []string{"/live", "/live/counter?since=0"}

// Whoever may not see a stream any more sees nothing that comes in from then
// on, and the stream ends within a second.
func TestStreamsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	ends := map[string]func(w webtest.Bubble, cookies map[string]*http.Cookie, u access.User) error{
		"sign-out": func(w webtest.Bubble, cookies map[string]*http.Cookie, _ access.User) error {
			sendTo(w, cookies, "POST", "/logout", nil)
			return nil
		},
		"sign-out everywhere": func(w webtest.Bubble, _ map[string]*http.Cookie, u access.User) error {
			_, err := w.Services.Access.EndSessions(context.Background(), 1, u.ID)
			return err
		},
		"new password": func(w webtest.Bubble, _ map[string]*http.Cookie, u access.User) error {
			_, err := w.Services.Access.SetPassword(context.Background(), u, otherPassword, app.IdempotencyKey{}, time.Now())
			return err
		},
		"other role": func(w webtest.Bubble, _ map[string]*http.Cookie, u access.User) error {
			_, err := w.Services.Access.SetRole(context.Background(), 1, u.ID, access.RoleCashier)
			return err
		},
		"removed": func(w webtest.Bubble, _ map[string]*http.Cookie, u access.User) error {
			return w.Services.Access.RemoveUser(context.Background(), 1, u.ID)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
				w.User(1, "boss", access.RoleOwner)
				u := w.User(1, "lan", access.RoleOwner)
				cookies := signInTo(w, "lan")
				w.Pay(1, "before", "before it")
				var streams []*webtest.PipeConn
				for _, path := range streamPaths {
					c, hangUp := w.Open(cookies, path, false)
					defer hangUp()
					if c.HasEnded() || c.Status != http.StatusOK {
						t.Fatalf("%s: %d %s", path, c.Status, c.Text())
					}
					streams = append(streams, c)
				}
				export, hangUp := w.Open(cookies, exportPath+"?format=csv", true)
				defer hangUp()
				streams = append(streams, export)
				time.Sleep(20 * time.Second) // the streams stay open, and the export waits for its reader
				for i, c := range streams {
					if c.HasEnded() {
						t.Fatalf("stream %d ended by itself", i)
					}
				}
				changes := strings.Count(streams[0].Text(), "event: changed")
				apptest.Must(t, end(w, cookies, u))
				w.Pay(1, "after", "after it")
				time.Sleep(time.Second)
				synctest.Wait()
				for i, c := range streams {
					if !c.HasEnded() {
						t.Errorf("stream %d is open after a second", i)
					}
					if text := c.Text(); strings.Contains(text, "after it") || i == 0 && strings.Count(text, "event: changed") != changes {
						t.Errorf("stream %d shows what came in afterwards: %s", i, text)
					}
					if c != export && strings.Count(c.Text(), "event: ended") != 1 {
						t.Errorf("stream %d doesn't say that it ended", i)
					}
				}
			})
		})
	}
}

// A storage that doesn't answer for a while ends no stream, and nothing is
// missing afterwards.
func TestStreamsSurviveTheStorage(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.User(1, "lan", access.RoleOwner)
		cookies := signInTo(w, "lan")
		page, hangUp := w.Open(cookies, "/live", false)
		defer hangUp()
		counter, hangUp := w.Open(cookies, "/live/counter?since=0", false)
		defer hangUp()
		link, hangUp := w.Open(nil, "/live/counter/"+counterLink(w.World, 1, payment.CounterLinkCreate{})+"?since=0", false)
		defer hangUp()
		streams := []*webtest.PipeConn{page, counter, link}
		file, err := sql.Open("sqlite", w.Path)
		apptest.Must(t, err)
		defer file.Close()
		for i, table := range []string{"users", "sessions", "counter_links", "bank_accounts"} {
			content := fmt.Sprintf("payment %d", i)
			before := lastPosition(page)
			w.Pay(1, content, content)
			_, err := file.Exec("ALTER TABLE " + table + " RENAME TO gone")
			apptest.Must(t, err)
			time.Sleep(20 * time.Second)
			synctest.Wait()
			for i, c := range streams[:2] { // that of the link asks neither
				if (table == "users" || table == "sessions") && (strings.Contains(c.Text(), content) || lastPosition(page) != before) {
					t.Errorf("%s away: stream %d goes on without knowing whether it may", table, i)
				}
			}
			_, err = file.Exec("ALTER TABLE gone RENAME TO " + table)
			apptest.Must(t, err)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if position := lastPosition(page); page.HasEnded() || position == before || strings.Count(page.Text(), position) != 1 {
				t.Fatalf("%s away: ended %t, position %s told %d times", table, page.HasEnded(), position, strings.Count(page.Text(), position))
			}
			for _, c := range streams[1:] {
				if c.HasEnded() || !strings.Contains(c.Text(), content) || strings.Count(c.Text(), content+"<") > 1 {
					t.Fatalf("%s away: ended %t, %q shown %d times", table, c.HasEnded(), content, strings.Count(c.Text(), content))
				}
			}
		}
	})
}

// panickingStore is a file whose newest ids can't be read for a while, as a fault
// of baoco would have it.
type panickingStore struct {
	*sqlitestore.Store
	panics atomic.Bool
}

func (s *panickingStore) NewestIDs(ctx context.Context) (delivery.NewestIDs, error) {
	if s.panics.Load() {
		panic("newest ids")
	}
	return s.Store.NewestIDs(ctx)
}

// A panic behind live pages ends neither the server nor a stream. It is logged
// once, with where it was, and nothing is missing afterwards.
func TestStreamsSurviveAPanic(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		store := &panickingStore{Store: w.Store}
		w.Services = apptest.Over(t, w.Store, services.Config{Store: store})
		var log bytes.Buffer
		w.Handler = web.New(web.Config{Services: w.Services, Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		w.User(1, "lan", access.RoleOwner)
		c, hangUp := w.Open(signInTo(w, "lan"), "/live", false)
		store.panics.Store(true)
		time.Sleep(5 * time.Second)
		before := lastPosition(c)
		w.Pay(1, "meanwhile", "meanwhile")
		store.panics.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if c.HasEnded() || lastPosition(c) == before {
			t.Errorf("ended %t, sent: %s", c.HasEnded(), c.Text())
		}
		hangUp()
		synctest.Wait()
		if strings.Count(log.String(), "panic: newest ids") != 1 || !strings.Contains(log.String(), "NewestIDs") {
			t.Errorf("the log: %s", log.String())
		}
	})
}

// A reader who takes nothing holds a stream for ten seconds.
func TestStreamOfASlowReader(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.User(1, "lan", access.RoleOwner)
		cookies := signInTo(w, "lan")
		for _, path := range streamPaths {
			w.Pay(1, path, path)
			begun := time.Now()
			c, hangUp := w.Open(cookies, path, true)
			<-c.Ended
			hangUp()
			if took := time.Since(begun); took != 10*time.Second {
				t.Errorf("%s was held for %v", path, took)
			}
		}
	})
}

// lastPosition is what a page heard last of where the file stands; empty: nothing.
func lastPosition(c *webtest.PipeConn) string {
	all := strings.Split(c.Text(), "event: changed\ndata: ")
	position, _, _ := strings.Cut(all[len(all)-1], "\n")
	if len(all) < 2 {
		return ""
	}
	return position
}

// A position tells no counts: it is of one server, so whoever knows the counts of
// one file can't tell those of another from it.
func TestPositionHidesCounts(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.User(1, "lan", access.RoleCashier)
		var positions []string
		for range 2 {
			w.Handler = web.New(web.Config{Services: w.Services, Version: "test", Logger: slog.New(slog.DiscardHandler)})
			c, hangUp := w.Open(signInTo(w, "lan"), "/live", false)
			time.Sleep(time.Second)
			synctest.Wait()
			positions = append(positions, lastPosition(c))
			hangUp()
		}
		if positions[0] == positions[1] || len(positions[0]) != 32 {
			t.Errorf("positions of the same file: %q", positions)
		}
	})
}

// A page hears at once of each change: a transaction, an attempt. It hears at first
// where the file stands, and every 4 seconds that the connection lives.
func TestLivePageHearsOfChanges(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.User(1, "lan", access.RoleOwner)
		hook, _ := w.Webhook("https://shop.example.vn/baoco", delivery.WebhookAll)
		cookies := signInTo(w, "lan")
		c, hangUp := w.Open(cookies, "/live", false)
		defer hangUp()
		known := map[string]bool{}
		heard := func() {
			t.Helper()
			time.Sleep(300 * time.Millisecond)
			synctest.Wait()
			position := lastPosition(c)
			if known[position] {
				t.Errorf("no new position was heard of:\n%s", c.Text())
			}
			known[position] = true
			page := sendTo(w, cookies, "GET", "/transactions", nil).Body.String()
			if !strings.Contains(page, `data-live="`+position+`"`) {
				t.Errorf("the page was made with another position than %s", position)
			}
		}
		heard()
		w.Pay(1, "first", "first")
		heard()
		first, err := w.Services.Deliveries.Due(t.Context(), delivery.DueFilter{WebhookID: hook.ID, Limit: 1}, time.Now())
		apptest.Must(t, err)
		result := serverError
		result.StartedAt = time.Now()
		_, err = w.Services.Deliveries.Settle(t.Context(), first[0], result)
		apptest.Must(t, err)
		heard()
		if n := strings.Count(c.Text(), "event: changed"); n != 3 {
			t.Errorf("three changes are told %d times", n)
		}
		before := strings.Count(c.Text(), "event: alive")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(c.Text(), "event: alive") - before; n != 15 || before != 1 {
			t.Errorf("in a minute it is told %d times that the connection lives, %d at first", n, before)
		}
	})
}

// A live page that asks for itself anew doesn't take the flash of another page.
func TestLivePageLeavesTheFlash(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.User(1, "lan", access.RoleOwner)
		hook, _ := w.Webhook("https://shop.example.vn/baoco", delivery.WebhookAll)
		cookies := signInTo(w, "lan")
		sendTo(w, cookies, "POST", fmt.Sprintf("/webhooks/%d/toggle", hook.ID), nil)
		load := func(live string) string {
			r := httptest.NewRequest("GET", "/webhooks", nil)
			r.Header.Set("X-Live", live)
			for _, c := range cookies {
				r.AddCookie(c)
			}
			answer := httptest.NewRecorder()
			w.Handler.ServeHTTP(answer, r)
			return answer.Body.String()
		}
		const flash = `class="flash"`
		if strings.Contains(load("1"), flash) || !strings.Contains(load(""), flash) {
			t.Error("the flash is given to the live page, or is lost")
		}
	})
}

// A payer's text can't begin a line of a stream, whichever of the three ends of a
// line it holds: a forged event would blind the counter, or forge its total.
func TestStreamOfHostileText(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		c, hangUp := w.Open(nil, "/live/counter/"+counterLink(w.World, 1, payment.CounterLinkCreate{})+"?since=0", false)
		defer hangUp()
		for i, end := range []string{"\r", "\r\r", "\n\n", "\r\n\r\n"} {
			w.Pay(1, strconv.Itoa(i), "CK"+end+"id: 9000"+end+"event: ended"+end+"data: x")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		names := map[string]int{}
		for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(c.Text()), "\n") {
			name, _, _ := strings.Cut(line, ": ")
			names[name]++
			if line == "id: 9000" || line == "event: ended" || line == "data: x" {
				t.Errorf("a text became the line %q", line)
			}
		}
		if names["id"] != 4 || len(names) != 4 { // event, id, data, and the empty line
			t.Errorf("%v in %q", names, c.Text())
		}
	})
}

// Nobody takes the streams of others: not a user or a link, not an account.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		var log bytes.Buffer
		w.Handler = web.New(web.Config{Services: w.Services, Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		var close []context.CancelFunc
		// open gives how many of n streams begin.
		open := func(cookies map[string]*http.Cookie, path string, n int) (begun int) {
			for range n {
				c, hangUp := w.Open(cookies, path, false)
				if c.Status == http.StatusOK && !c.HasEnded() {
					begun++
					close = append(close, hangUp)
				} else if hangUp(); c.Status != http.StatusServiceUnavailable || c.Headers.Get("Retry-After") == "" ||
					!strings.Contains(c.Text(), "Too many live pages") {
					t.Errorf("%s: %d", path, c.Status)
				}
			}
			return begun
		}
		w.User(1, "lan", access.RoleOwner)
		w.User(1, "mai", access.RoleOwner)
		lan, mai := signInTo(w, "lan"), signInTo(w, "mai")
		if n := open(lan, streamPaths[0], 15) + open(lan, streamPaths[1], 6); n != 20 {
			t.Errorf("one user holds %d", n)
		}
		if n := open(mai, streamPaths[0], 1); n != 1 {
			t.Error("another user has none")
		}
		links := func(account int64, n, each int) (begun int) {
			for range n {
				begun += open(nil, "/live/counter/"+counterLink(w.World, account, payment.CounterLinkCreate{})+"?since=0", each)
			}
			return begun
		}
		if n := links(1, 1, 21); n != 20 {
			t.Errorf("one link holds %d", n)
		}
		if n := 41 + links(1, 8, 20); n != 200 {
			t.Errorf("one account holds %d", n)
		}
		second := w.SecondAccount()
		if n := links(second, 11, 20); n != 200 {
			t.Errorf("another account holds %d", n)
		}
		third, err := w.Services.Ledger.CreateAccount(t.Context(), "third", time.Now())
		apptest.Must(t, err)
		if n := links(third.ID, 6, 20); n != 100 {
			t.Errorf("all hold %d", 400+n)
		}
		if n := strings.Count(log.String(), "too many streams are open"); n != 1 || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%d lines about it within a minute: %s", n, log.String())
		}
		for _, hangUp := range close {
			hangUp()
		}
		synctest.Wait()
		close = nil
		if n := links(1, 1, 20); n != 20 {
			t.Errorf("after all have ended, %d of 20 begin", n)
		}
		for _, hangUp := range close {
			hangUp()
		}
		synctest.Wait()
	})
}

// slowBody is a body of which a byte arrives every two seconds.
type slowBody struct{ rest string }

func (b *slowBody) Read(p []byte) (int, error) {
	if b.rest == "" {
		return 0, io.EOF
	}
	time.Sleep(2 * time.Second)
	n := copy(p, b.rest[:1])
	b.rest = b.rest[n:]
	return n, nil
}

// The time that a body takes to arrive is not that of the storage.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		body := `{"id":"1","gateway":"ACB","accountNumber":"` + apptest.SomeAccount + `","transferType":"IN","transferAmount":5000}`
		r := httptest.NewRequest("POST", "/api/v1/transactions", &slowBody{body})
		r.Header.Set("Authorization", "Bearer "+w.APIKey(access.ScopeFull))
		answer := httptest.NewRecorder()
		w.Handler.ServeHTTP(answer, r)
		if answer.Code != http.StatusCreated {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
}
