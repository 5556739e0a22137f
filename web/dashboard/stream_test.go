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
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/webtest"
)

var streamPaths = []string{
	"/live/transactions?since=0-0", "/live/transactions?since=0-0&sums=1", "/live/transactions/new?since=0-0", "/live/deliveries?since=0-0", "/live/counter?since=0",
}

// Whoever may not see a stream any more sees nothing that comes in from then
// on, and the stream ends within a second.
func TestStreamsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	ends := map[string]func(w webtest.Bubble, cookies map[string]*http.Cookie, u app.User) error{
		"sign-out": func(w webtest.Bubble, cookies map[string]*http.Cookie, _ app.User) error {
			w.Send(cookies, "POST", "/logout", nil)
			return nil
		},
		"sign-out everywhere": func(w webtest.Bubble, _ map[string]*http.Cookie, u app.User) error {
			_, err := w.Service.EndSessions(context.Background(), 1, u.ID)
			return err
		},
		"new password": func(w webtest.Bubble, _ map[string]*http.Cookie, u app.User) error {
			_, err := w.Service.SetPassword(context.Background(), 1, u.ID, otherPassword, app.IdempotencyKey{}, time.Now())
			return err
		},
		"other role": func(w webtest.Bubble, _ map[string]*http.Cookie, u app.User) error {
			_, err := w.Service.SetRole(context.Background(), 1, u.ID, app.RoleViewer)
			return err
		},
		"removed": func(w webtest.Bubble, _ map[string]*http.Cookie, u app.User) error {
			return w.Service.RemoveUser(context.Background(), 1, u.ID)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
				w.User(1, "boss", app.RoleOwner)
				u := w.User(1, "lan", app.RoleOwner)
				cookies := w.SignIn("lan")
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
				apptest.Must(t, end(w, cookies, u))
				w.Pay(1, "after", "after it")
				time.Sleep(time.Second)
				synctest.Wait()
				for i, c := range streams {
					if !c.HasEnded() {
						t.Errorf("stream %d is open after a second", i)
					}
					if text := c.Text(); strings.Contains(text, "after it") || strings.Contains(text, "2 new transactions") {
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
		w.User(1, "lan", app.RoleOwner)
		cookies := w.SignIn("lan")
		page, hangUp := w.Open(cookies, "/live/transactions?since=0-0", false)
		defer hangUp()
		counter, hangUp := w.Open(cookies, "/live/counter?since=0", false)
		defer hangUp()
		link, hangUp := w.Open(nil, "/live/counter/"+w.CounterLink(1, app.CounterLinkCreate{})+"?since=0", false)
		defer hangUp()
		streams := []*webtest.PipeConn{page, counter, link}
		file, err := sql.Open("sqlite", w.Path)
		apptest.Must(t, err)
		defer file.Close()
		for i, table := range []string{"users", "sessions", "counter_links", "bank_accounts"} {
			content := fmt.Sprintf("payment %d", i)
			id := w.Pay(1, content, content)
			_, err := file.Exec("ALTER TABLE " + table + " RENAME TO gone")
			apptest.Must(t, err)
			time.Sleep(20 * time.Second)
			synctest.Wait()
			for i, c := range streams[:2] { // that of the link asks neither
				if (table == "users" || table == "sessions") && strings.Contains(c.Text(), content) {
					t.Errorf("%s away: stream %d goes on without knowing whether it may", table, i)
				}
			}
			_, err = file.Exec("ALTER TABLE gone RENAME TO " + table)
			apptest.Must(t, err)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			for _, c := range streams {
				if c.HasEnded() || !strings.Contains(c.Text(), content) || strings.Count(c.Text(), content+"<") > 1 {
					t.Fatalf("%s away: ended %t, payment %d shown %d times", table, c.HasEnded(), id, strings.Count(c.Text(), content))
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

func (s *panickingStore) NewestIDs(ctx context.Context) (app.NewestIDs, error) {
	if s.panics.Load() {
		panic("newest ids")
	}
	return s.Store.NewestIDs(ctx)
}

// A panic behind live rows ends neither the server nor a stream. It is logged
// once, with where it was, and nothing is missing afterwards.
func TestStreamsSurviveAPanic(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		store := &panickingStore{Store: w.Store}
		w.Service = apptest.Over(t, w.Store, app.Config{Store: store})
		var log bytes.Buffer
		w.Handler = web.New(web.Config{Service: w.Service, Version: "test", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		w.User(1, "lan", app.RoleOwner)
		c, hangUp := w.Open(w.SignIn("lan"), "/live/transactions?since=0-0", false)
		store.panics.Store(true)
		time.Sleep(5 * time.Second)
		w.Pay(1, "meanwhile", "meanwhile")
		store.panics.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if c.HasEnded() || !strings.Contains(c.Text(), "meanwhile") {
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
		w.User(1, "lan", app.RoleOwner)
		cookies := w.SignIn("lan")
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

// What became of a delivery is sent once.
func TestStreamOfAttempts(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.User(1, "lan", app.RoleOwner)
		hook, _ := w.Webhook("https://shop.example.vn/baoco", app.WebhookAll)
		id := w.Pay(1, "first", "first")
		c, hangUp := w.Open(w.SignIn("lan"), fmt.Sprintf("/live/transactions?since=%d-0", id), false)
		defer hangUp()
		sent := func() int { return strings.Count(c.Text(), fmt.Sprintf(`hx-target="#tx-%d-state"`, id)) }
		wait := func() { time.Sleep(time.Second); synctest.Wait() }
		wait()
		if n := sent(); n != 0 {
			t.Errorf("sent %d times before any attempt", n)
		}
		first, err := w.Service.Due(t.Context(), hook.ID, time.Now(), nil, 1, false)
		apptest.Must(t, err)
		result := serverError
		result.StartedAt = time.Now()
		_, err = w.Service.Settle(t.Context(), first[0], result)
		apptest.Must(t, err)
		wait()
		if n := sent(); n != 1 {
			t.Errorf("sent %d times after an attempt", n)
		}
		w.Pay(1, "second", "second")
		wait()
		if n := sent(); n != 1 || !strings.Contains(c.Text(), "second") {
			t.Errorf("sent %d times after another transaction", n)
		}
	})
}

// attemptingStore makes the first attempt of a transaction's delivery right after
// the delivery was read.
type attemptingStore struct {
	*sqlitestore.Store
	attempt func()
}

func (s *attemptingStore) DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) ([]app.LatestDelivery, error) {
	list, err := s.Store.DeliveriesOf(ctx, accountID, transactionIDs)
	if attempt := s.attempt; attempt != nil && len(list) > 0 {
		s.attempt = nil
		attempt()
	}
	return list, err
}

// A row and what became of it afterwards are two events: htmx drops a change to
// a row that comes with the same event.
func TestStreamOfAnAttemptBesideItsRow(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		store := &attemptingStore{Store: w.Store}
		w.Service = apptest.Over(t, w.Store, app.Config{Store: store})
		w.Handler = web.New(web.Config{Service: w.Service, Version: "test"})
		w.User(1, "lan", app.RoleOwner)
		hook, _ := w.Webhook("https://shop.example.vn/baoco", app.WebhookAll)
		c, hangUp := w.Open(w.SignIn("lan"), "/live/transactions?since=0-0", false)
		defer hangUp()
		store.attempt = func() {
			first, err := w.Service.Due(context.Background(), hook.ID, time.Now(), nil, 1, false)
			apptest.Must(t, err)
			_, err = w.Service.Settle(context.Background(), first[0], app.Result{StartedAt: time.Now(), StatusCode: http.StatusOK})
			apptest.Must(t, err)
		}
		id := w.Pay(1, "first", "first")
		time.Sleep(time.Second)
		synctest.Wait()
		row, changed := fmt.Sprintf(`<tr id="tx-%d">`, id), fmt.Sprintf(`hx-target="#tx-%d-state" hx-swap="innerHTML"><span class="pill delivered"`, id)
		_, after, _ := strings.Cut(c.Text(), row)
		_, after, _ = strings.Cut(after, "\n\n")
		if !strings.Contains(after, changed) {
			t.Errorf("after the event of the row nothing says that it was delivered:\n%s", c.Text())
		}
	})
}

// Nobody takes the streams of others: not a user or a link, not an account.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		var close []context.CancelFunc
		// open gives how many of n streams begin.
		open := func(cookies map[string]*http.Cookie, path string, n int) (begun int) {
			for range n {
				c, hangUp := w.Open(cookies, path, false)
				if c.Status == http.StatusOK && !c.HasEnded() {
					begun++
					close = append(close, hangUp)
				} else if hangUp(); c.Status != http.StatusServiceUnavailable || c.Headers.Get("Retry-After") == "" {
					t.Errorf("%s: %d", path, c.Status)
				}
			}
			return begun
		}
		w.User(1, "lan", app.RoleOwner)
		w.User(1, "mai", app.RoleOwner)
		lan, mai := w.SignIn("lan"), w.SignIn("mai")
		if n := open(lan, streamPaths[0], 15) + open(lan, streamPaths[4], 6); n != 20 {
			t.Errorf("one user holds %d", n)
		}
		if n := open(mai, streamPaths[0], 1); n != 1 {
			t.Error("another user has none")
		}
		links := func(account int64, n, each int) (begun int) {
			for range n {
				begun += open(nil, "/live/counter/"+w.CounterLink(account, app.CounterLinkCreate{})+"?since=0", each)
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
		third, err := w.Service.CreateAccount(t.Context(), "third", time.Now())
		apptest.Must(t, err)
		if n := links(third.ID, 6, 20); n != 100 {
			t.Errorf("all hold %d", 400+n)
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
		r.Header.Set("Authorization", "Bearer "+w.APIKey(app.ScopeFull))
		answer := httptest.NewRecorder()
		w.Handler.ServeHTTP(answer, r)
		if answer.Code != http.StatusCreated {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
}
