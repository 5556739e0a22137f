package web_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/provider"
	"baoco/sqlitestore"
	"baoco/web"
)

// bubble is an installation in the virtual time of a test, whose requests are
// handed to the handler without a network.
type bubble struct {
	*world
	handler http.Handler
}

// inBubble runs a test of streams in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, w bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := bubble{world: newStillWorld(t)}
		w.handler = web.New(web.Config{Service: w.service, Version: "test"})
		w.link("ACB", someAccount)
		test(t, w)
	})
}

// send makes a request with the cookies of a browser, and keeps those it gets.
func (w bubble) send(cookies map[string]*http.Cookie, method, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	for _, c := range answer.Result().Cookies() {
		cookies[c.Name] = c
	}
	return answer
}

func (w bubble) signIn(name string) map[string]*http.Cookie {
	w.t.Helper()
	cookies := map[string]*http.Cookie{}
	if a := w.send(cookies, "POST", "/login", url.Values{"name": {name}, "password": {somePassword}}); a.Code != http.StatusSeeOther {
		w.t.Fatalf("sign-in: %d", a.Code)
	}
	return cookies
}

// pipeConn is a connection without a network, whose other end reads what is sent,
// or nothing where it is full.
type pipeConn struct {
	mu       sync.Mutex
	header   http.Header
	status   int
	body     bytes.Buffer
	full     bool
	deadline time.Time
	moved    chan struct{} // closed at a new deadline
	ended    chan struct{} // closed when the handler has returned
}

func (c *pipeConn) Header() http.Header { return c.header }

func (c *pipeConn) WriteHeader(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *pipeConn) Write(p []byte) (int, error) {
	for {
		c.mu.Lock()
		left, moved := time.Until(c.deadline), c.moved
		if !c.full {
			defer c.mu.Unlock()
			return c.body.Write(p)
		}
		c.mu.Unlock()
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		select {
		case <-moved:
		case <-time.After(left):
		}
	}
}

func (c *pipeConn) Flush() {}

func (c *pipeConn) SetReadDeadline(time.Time) error { return nil }

func (c *pipeConn) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

func (c *pipeConn) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body.String()
}

func (c *pipeConn) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// open begins a stream. hangUp ends it as its reader would.
func (w bubble) open(cookies map[string]*http.Cookie, path string, full bool) (c *pipeConn, hangUp context.CancelFunc) {
	ctx, hangUp := context.WithCancel(context.Background())
	r := httptest.NewRequestWithContext(ctx, "GET", path, nil)
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	c = &pipeConn{header: http.Header{}, status: http.StatusOK, full: full, moved: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		defer func() {
			if value := recover(); value != nil && value != http.ErrAbortHandler {
				panic(value)
			}
		}()
		w.handler.ServeHTTP(c, r)
	}()
	synctest.Wait()
	return c, hangUp
}

var streamPaths = []string{
	"/live/transactions?since=0-0", "/live/transactions?since=0-0&sums=1", "/live/transactions/new?since=0-0", "/live/deliveries?since=0-0", "/live/counter?since=0",
}

// Whoever may not see a stream any more sees nothing that comes in from then
// on, and the stream ends within a second.
func TestStreamsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	ends := map[string]func(w bubble, cookies map[string]*http.Cookie, u app.User) error{
		"sign-out": func(w bubble, cookies map[string]*http.Cookie, _ app.User) error {
			w.send(cookies, "POST", "/logout", nil)
			return nil
		},
		"sign-out everywhere": func(w bubble, _ map[string]*http.Cookie, u app.User) error {
			_, err := w.service.EndSessions(context.Background(), 1, u.ID)
			return err
		},
		"new password": func(w bubble, _ map[string]*http.Cookie, u app.User) error {
			_, err := w.service.SetPassword(context.Background(), 1, u.ID, otherPassword)
			return err
		},
		"other role": func(w bubble, _ map[string]*http.Cookie, u app.User) error {
			_, err := w.service.SetRole(context.Background(), 1, u.ID, app.RoleViewer)
			return err
		},
		"removed": func(w bubble, _ map[string]*http.Cookie, u app.User) error {
			return w.service.RemoveUser(context.Background(), 1, u.ID)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w bubble) {
				w.user(1, "boss", app.RoleOwner)
				u := w.user(1, "lan", app.RoleOwner)
				cookies := w.signIn("lan")
				w.pay(1, "before", "before it")
				var streams []*pipeConn
				for _, path := range streamPaths {
					c, hangUp := w.open(cookies, path, false)
					defer hangUp()
					if c.hasEnded() || c.status != http.StatusOK {
						t.Fatalf("%s: %d %s", path, c.status, c.text())
					}
					streams = append(streams, c)
				}
				export, hangUp := w.open(cookies, exportPath+"?format=csv", true)
				defer hangUp()
				streams = append(streams, export)
				time.Sleep(20 * time.Second) // the streams stay open, and the export waits for its reader
				for i, c := range streams {
					if c.hasEnded() {
						t.Fatalf("stream %d ended by itself", i)
					}
				}
				must(t, end(w, cookies, u))
				w.pay(1, "after", "after it")
				time.Sleep(time.Second)
				synctest.Wait()
				for i, c := range streams {
					if !c.hasEnded() {
						t.Errorf("stream %d is open after a second", i)
					}
					if text := c.text(); strings.Contains(text, "after it") || strings.Contains(text, "2 new transactions") {
						t.Errorf("stream %d shows what came in afterwards: %s", i, text)
					}
					if c != export && strings.Count(c.text(), "event: ended") != 1 {
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
	inBubble(t, func(t *testing.T, w bubble) {
		w.user(1, "lan", app.RoleOwner)
		cookies := w.signIn("lan")
		page, hangUp := w.open(cookies, "/live/transactions?since=0-0", false)
		defer hangUp()
		counter, hangUp := w.open(cookies, "/live/counter?since=0", false)
		defer hangUp()
		link, hangUp := w.open(nil, "/live/counter/"+w.counterLink(1, app.CounterLinkCreate{})+"?since=0", false)
		defer hangUp()
		streams := []*pipeConn{page, counter, link}
		file, err := sql.Open("sqlite", w.path)
		must(t, err)
		defer file.Close()
		for i, table := range []string{"users", "sessions", "counter_links", "bank_accounts"} {
			content := fmt.Sprintf("payment %d", i)
			id := w.pay(1, content, content)
			_, err := file.Exec("ALTER TABLE " + table + " RENAME TO gone")
			must(t, err)
			time.Sleep(20 * time.Second)
			synctest.Wait()
			for i, c := range streams[:2] { // that of the link asks neither
				if (table == "users" || table == "sessions") && strings.Contains(c.text(), content) {
					t.Errorf("%s away: stream %d goes on without knowing whether it may", table, i)
				}
			}
			_, err = file.Exec("ALTER TABLE gone RENAME TO " + table)
			must(t, err)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			for _, c := range streams {
				if c.hasEnded() || !strings.Contains(c.text(), content) || strings.Count(c.text(), content+"<") > 1 {
					t.Fatalf("%s away: ended %t, payment %d shown %d times", table, c.hasEnded(), id, strings.Count(c.text(), content))
				}
			}
		}
	})
}

// A reader who takes nothing holds a stream for ten seconds.
func TestStreamOfASlowReader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w bubble) {
		w.user(1, "lan", app.RoleOwner)
		cookies := w.signIn("lan")
		for _, path := range streamPaths {
			w.pay(1, path, path)
			begun := time.Now()
			c, hangUp := w.open(cookies, path, true)
			<-c.ended
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
	inBubble(t, func(t *testing.T, w bubble) {
		w.user(1, "lan", app.RoleOwner)
		hook, _ := w.webhook("https://shop.example.vn/baoco", app.WebhookAll)
		id := w.pay(1, "first", "first")
		c, hangUp := w.open(w.signIn("lan"), fmt.Sprintf("/live/transactions?since=%d-0", id), false)
		defer hangUp()
		sent := func() int { return strings.Count(c.text(), fmt.Sprintf(`hx-target="#tx-%d-state"`, id)) }
		wait := func() { time.Sleep(time.Second); synctest.Wait() }
		wait()
		if n := sent(); n != 0 {
			t.Errorf("sent %d times before any attempt", n)
		}
		first, err := w.service.Due(t.Context(), hook.ID, time.Now(), nil, 1, false)
		must(t, err)
		result := serverError
		result.StartedAt = time.Now()
		_, err = w.service.Settle(t.Context(), first[0], result)
		must(t, err)
		wait()
		if n := sent(); n != 1 {
			t.Errorf("sent %d times after an attempt", n)
		}
		w.pay(1, "second", "second")
		wait()
		if n := sent(); n != 1 || !strings.Contains(c.text(), "second") {
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
	inBubble(t, func(t *testing.T, w bubble) {
		targets, err := app.ParseTargetPolicy(nil)
		must(t, err)
		store := &attemptingStore{Store: w.store}
		w.service = app.NewService(app.Config{Store: store, Zone: w.service.Zone(), Targets: targets, Providers: provider.Facts(), Read: provider.Read})
		w.handler = web.New(web.Config{Service: w.service, Version: "test"})
		w.user(1, "lan", app.RoleOwner)
		hook, _ := w.webhook("https://shop.example.vn/baoco", app.WebhookAll)
		c, hangUp := w.open(w.signIn("lan"), "/live/transactions?since=0-0", false)
		defer hangUp()
		store.attempt = func() {
			first, err := w.service.Due(context.Background(), hook.ID, time.Now(), nil, 1, false)
			must(t, err)
			_, err = w.service.Settle(context.Background(), first[0], app.Result{StartedAt: time.Now(), StatusCode: http.StatusOK})
			must(t, err)
		}
		id := w.pay(1, "first", "first")
		time.Sleep(time.Second)
		synctest.Wait()
		row, changed := fmt.Sprintf(`<tr id="tx-%d">`, id), fmt.Sprintf(`hx-target="#tx-%d-state" hx-swap="innerHTML"><span class="pill delivered"`, id)
		_, after, _ := strings.Cut(c.text(), row)
		_, after, _ = strings.Cut(after, "\n\n")
		if !strings.Contains(after, changed) {
			t.Errorf("after the event of the row nothing says that it was delivered:\n%s", c.text())
		}
	})
}

// Nobody takes the streams of others: not a user or a link, not an account.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w bubble) {
		var close []context.CancelFunc
		// open gives how many of n streams begin.
		open := func(cookies map[string]*http.Cookie, path string, n int) (begun int) {
			for range n {
				c, hangUp := w.open(cookies, path, false)
				if c.status == http.StatusOK && !c.hasEnded() {
					begun++
					close = append(close, hangUp)
				} else if hangUp(); c.status != http.StatusServiceUnavailable || c.header.Get("Retry-After") == "" {
					t.Errorf("%s: %d", path, c.status)
				}
			}
			return begun
		}
		w.user(1, "lan", app.RoleOwner)
		w.user(1, "mai", app.RoleOwner)
		lan, mai := w.signIn("lan"), w.signIn("mai")
		if n := open(lan, streamPaths[0], 15) + open(lan, streamPaths[4], 6); n != 20 {
			t.Errorf("one user holds %d", n)
		}
		if n := open(mai, streamPaths[0], 1); n != 1 {
			t.Error("another user has none")
		}
		links := func(account int64, n, each int) (begun int) {
			for range n {
				begun += open(nil, "/live/counter/"+w.counterLink(account, app.CounterLinkCreate{})+"?since=0", each)
			}
			return begun
		}
		if n := links(1, 1, 21); n != 20 {
			t.Errorf("one link holds %d", n)
		}
		if n := 41 + links(1, 8, 20); n != 200 {
			t.Errorf("one account holds %d", n)
		}
		second := w.secondAccount()
		if n := links(second, 11, 20); n != 200 {
			t.Errorf("another account holds %d", n)
		}
		third, err := w.service.CreateAccount(t.Context(), "third", time.Now())
		must(t, err)
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
	inBubble(t, func(t *testing.T, w bubble) {
		body := `{"id":"1","gateway":"ACB","accountNumber":"` + someAccount + `","transferType":"IN","transferAmount":5000}`
		r := httptest.NewRequest("POST", "/api/v1/transactions", &slowBody{body})
		r.Header.Set("Authorization", "Bearer "+w.apiKey(app.ScopeFull))
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, r)
		if answer.Code != http.StatusCreated {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
}

// A panic behind the first byte breaks the connection: a part of an answer must
// not look like a whole one.
func TestPanicBehindTheFirstByte(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(w http.ResponseWriter)
		status int // 0: the connection breaks
	}{
		"before it":        {func(http.ResponseWriter) {}, http.StatusInternalServerError},
		"after the header": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }, 0},
		"after a byte":     {func(w http.ResponseWriter) { _, _ = w.Write([]byte("a part")) }, 0},
	} {
		server := httptest.NewUnstartedServer(web.Outermost(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			test.before(w)
			panic("a fault")
		})))
		server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		server.Start()
		status, text := 0, []byte(nil)
		response, err := http.Get(server.URL)
		if err == nil {
			if text, err = io.ReadAll(response.Body); err == nil {
				status = response.StatusCode
			}
		}
		if status != test.status || test.status == 0 && bytes.Contains(text, []byte("code")) {
			t.Errorf("%s: %d %s %v", name, status, text, err)
		}
		server.Close()
	}
}
