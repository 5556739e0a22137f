package inbound_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/web"
	"baoco/web/webtest"
)

// hostile are bodies that cost the most to build, of about n bytes.
func hostile(n int) map[string]string {
	zeros := strings.Repeat("0", 64) // looks like a signature
	repeated := func(begin, s, end string) string {
		return begin + strings.Repeat(s, (n-len(begin)-len(end))/len(s)) + end
	}
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	return map[string]string{
		"empty arrays":   repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":[`, `[],`, `[]]}`),
		"small objects":  repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":[`, `{"":0},`, `0]}`),
		"numbers":        repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":[`, `0,`, `0]}`),
		"quoted":         repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","a":"\"","data":[`, `0,`, `0]}`),
		"members":        repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":{`, `"a":0,`, `"b":0}}`),
		"deep":           repeated(deep, " ", ""),
		"deep objects":   repeated("", `{"":`, ""),
		"escapes":        repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":{"a":"`, `\u0001`, `"}}`),
		"surrogates":     repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":{"a":"`, `\ud800`, `"}}`),
		"62 objects":     repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":[`+strings.Repeat(`{"":0},`, 60)+`"`, `a`, `"]}`),
		"252 objects":    repeated(`{"signature":"`+zeros+`","m2signature":"`+zeros+`","data":[`+strings.Repeat(`{"":0},`, 250)+`"`, `a`, `"]}`),
		"a form":         repeated("sign=a&timestamp=1", "&a=b", ""),
		"a multipart":    repeated("--a\r\n", "Content-Disposition: form-data; name=a\r\n\r\nb\r\n--a\r\n", "--a--"),
		"a form of JSON": repeated("[=", "&a=b", ""),
	}
}

// allocated is how many bytes fn allocates, and all else that happens meanwhile.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileBodies: a body that nobody has signed costs at most 3 MiB, all
// that is allocated counted, however large it is sent; one that is signed as it
// stands five times its size. The test isn't parallel, so that it measures itself
// alone.
func TestHostileBodies(t *testing.T) {
	w := webtest.NewStillWorld(t)
	h := web.New(web.Config{Services: w.Services})
	peers := 0
	for _, kind := range provider.Facts() {
		for _, auth := range kind.Auths {
			in := inbound.SourceAdd{Provider: kind.Provider, Auth: auth, Name: "test", Secret: fmt.Sprint("the secret of ", kind.Provider, auth)}
			switch {
			case kind.Provider == "pay2s-ipn":
				in.Options.AccessKey, in.BankAccountID = "AK1", w.Link("MBB", "7000").ID
			case kind.Provider == "vietqr":
				in.Options.Username = "shop"
			case kind.Provider == "generic":
				in.Options.Map = map[string]string{"id": "id", "amount": "amount", "account": "account", "list": "data"}
			}
			if auth == inbound.AuthToken && kind.Provider != "casso" {
				in.Options.Header = "X-Secret"
			}
			most := uint64(3 << 20)
			if kind.Provider == "native" && auth == inbound.AuthHMAC {
				most = 5 << 20
			}
			source, err := w.Services.Inbound.AddSource(t.Context(), 1, in, time.Now())
			apptest.Must(t, err)
			for _, size := range []int{7 << 10, 60 << 10, 1 << 20} {
				for name, body := range hostile(size) {
					peers++
					header := apptest.Credentials(inbound.Source{Provider: source.Provider, Auth: source.Auth, Options: source.Options,
						Secret: "wrong-secret-0123456789"}, body, time.Now())
					header = append(header, "X-Casso-Signature", "t=1,v1="+strings.Repeat("0", 128))
					var a webtest.Answer
					cost := uint64(math.MaxUint64)
					for tries := 0; tries < 3 && cost > most; tries++ { // what else allocates is counted too
						cost = min(cost, allocated(func() { a = webtest.From(h, webtest.Peer(peers)+":1")("POST", source.URLPath(), body, header...) }))
					}
					if a.Status != http.StatusUnauthorized && a.Status != http.StatusRequestEntityTooLarge {
						t.Errorf("%s %s, %s: %d", source.Provider, source.Auth, name, a.Status)
					}
					if cost > most {
						t.Errorf("%s %s, %s of %d bytes: %d KiB are allocated, more than %d", source.Provider, source.Auth, name,
							len(body), cost>>10, most>>10)
					}
				}
			}
		}
	}
}

// TestVerifiedBodies: those of whoever knows the secret are bounded too, and
// kept.
func TestVerifiedBodies(t *testing.T) {
	const most = 64 << 20
	w := webtest.NewStillWorld(t)
	h := web.New(web.Config{Services: w.Services})
	native, sepay := w.Native(), w.Sepay()
	for _, source := range []inbound.Source{native, sepay} {
		size := 1 << 20
		if source.Provider == "sepay" {
			size = 64 << 10
		}
		for name, body := range hostile(size) {
			var a webtest.Answer
			cost := allocated(func() {
				a = webtest.From(h, "192.0.2.1:1")("POST", source.URLPath(), body, apptest.Credentials(source, body, time.Now())...)
			})
			if a.Status >= 500 || a.Status == http.StatusUnauthorized || cost > most {
				t.Errorf("%s, %s: %d, %d KiB are allocated", source.Provider, name, a.Status, cost>>10)
			}
			if e := w.NewestEvent(); string(e.Body) != body || e.Rejected != 1 {
				t.Errorf("%s, %s: kept as %d bytes, %d rejected", source.Provider, name, len(e.Body), e.Rejected)
			}
		}
	}
	body := `{"id":1,"more":[` + strings.Repeat("0,", 600) + `0]}`
	if a := webtest.From(h, "192.0.2.1:1")("POST", sepay.URLPath(), body,
		apptest.Credentials(sepay, body, time.Now())...); a.Counts(t) != webtest.Rejected {
		t.Errorf("603 values: %d %s", a.Status, a.Body)
	}
	key := w.APIKey(access.ScopeFull)
	if a := webtest.From(h, "192.0.2.1:1")("POST", "/api/v1/webhooks", hostile(60 << 10)["small objects"], "Authorization",
		"Bearer "+key); a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("the management API: %d %s", a.Status, a.Body)
	}
}

// TestHeldBodies: large bodies that nobody has verified are held for one client
// up to 4 MiB, and for all up to 16; small ones always find room.
func TestHeldBodies(t *testing.T) {
	t.Parallel()
	w := webtest.NewStillWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	h := web.New(web.Config{Services: w.Services})
	source := w.Source("native", inbound.AuthHMAC, "")
	large := bytes.Repeat([]byte(" "), 1<<20-10)
	var open []*slowCall
	hold := func(client int) {
		t.Helper()
		u := slowUpload(h, webtest.Peer(client)+":1", source, "wrong-secret-0123456789", "")
		if _, err := u.Body.Write(large); err != nil { // it is read
			t.Fatalf("client %d, upload %d: %v", client, len(open), <-u.Answer)
		}
		open = append(open, u)
	}
	sends := func(client int, body string) webtest.Answer {
		u := slowUpload(h, webtest.Peer(client)+":1", source, source.Secret, body)
		_, _ = io.WriteString(u.Body, body)
		u.Body.Close()
		return apptest.Receive(t, "a call that is sent whole is answered", u.Answer)
	}
	n := 0
	call := func(size int) string {
		n++
		body := apptest.Batch(apptest.Transfer{ID: fmt.Sprint("h", n)}.Native())
		return body + strings.Repeat(" ", size-len(body))
	}
	wants := func(client, size, status int) {
		t.Helper()
		a := sends(client, call(size))
		if a.Status != status || status == 503 && a.Header.Get("Retry-After") == "" {
			t.Errorf("client %d, %d bytes: %d %s, want %d", client, size, a.Status, a.Body, status)
		}
	}
	for range 4 {
		hold(0)
	}
	wants(0, 1<<20, 503)
	wants(0, 64<<10, 200)
	wants(1, 1<<20, 200)
	for client := range 4 {
		for range 4 {
			if client > 0 {
				hold(client)
			}
		}
	}
	hold(4) // what is beyond the first 64 KiB of 17 fits
	wants(9, 1<<20, 503)
	wants(9, 64<<10, 200)
	wants(0, 64<<10, 200)
	for _, u := range open {
		u.Body.Close()
		if a := apptest.Receive(t, "a call that ends is answered", u.Answer); a.Status != 401 {
			t.Errorf("a call that isn't signed: %d %s", a.Status, a.Body)
		}
	}
	wants(0, 1<<20, 200)
	wants(9, 1<<20, 200)
	w.Until("the calls without room are noted", func() bool {
		busy := 0
		list, err := w.Services.Inbound.RefusedCalls(t.Context(), 1, source.ID, 1000)
		apptest.Must(t, err)
		for _, c := range list {
			if c.Code == inbound.RefusalBusy && strings.HasPrefix(c.Text.EN, "Too many large calls") {
				busy++
			}
		}
		return busy == 2
	})
}

// stuckCall is a call whose body doesn't arrive, until it is cut.
type stuckCall struct {
	*httptest.ResponseRecorder
	cut chan struct{}
}

func (c *stuckCall) Read([]byte) (int, error) {
	<-c.cut
	return 0, os.ErrDeadlineExceeded
}

func (c *stuckCall) SetReadDeadline(time.Time) error {
	close(c.cut)
	return nil
}

// However many bodies of strangers are arriving slowly, the oldest make room, and
// a provider's call comes in.
func TestSlowArrivalsMakeRoom(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		source := w.Source("native", inbound.AuthHMAC, "")
		var ended atomic.Int64
		var all []*stuckCall
		var running sync.WaitGroup
		begin := func(n int) {
			for range n {
				c := &stuckCall{httptest.NewRecorder(), make(chan struct{})}
				all = append(all, c)
				r := httptest.NewRequest("POST", source.URLPath(), c)
				running.Go(func() {
					w.Handler.ServeHTTP(c, r)
					ended.Add(1)
				})
			}
			synctest.Wait()
		}
		wants := func(when string, n int64) {
			t.Helper()
			if got := ended.Load(); got != n {
				t.Errorf("%s: %d bodies are cut, want %d", when, got, n)
			}
		}
		begin(600)
		wants("in one moment", 0)
		time.Sleep(3 * time.Second)
		wants("with nobody new", 0)
		begin(10)
		wants("with ten more", 10)
		call := apptest.Batch(apptest.Transfer{ID: "1", Account: apptest.SomeAccount}.Native())
		r := httptest.NewRequest("POST", source.URLPath(), strings.NewReader(call))
		for i, header := 0, apptest.Credentials(source, call, time.Now()); i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		answer := httptest.NewRecorder()
		w.Handler.ServeHTTP(answer, r)
		if answer.Code != http.StatusOK {
			t.Errorf("a provider's call: %d %s", answer.Code, answer.Body)
		}
		for _, c := range all {
			select {
			case <-c.cut:
			default:
				close(c.cut)
			}
		}
		running.Wait()
	})
}

// slowCall is a call whose body is sent slowly.
type slowCall struct {
	Body   *io.PipeWriter
	Answer chan webtest.Answer
}

func slowUpload(h http.Handler, remote string, source inbound.Source, secret, whole string) *slowCall {
	read, write := io.Pipe()
	u := &slowCall{write, make(chan webtest.Answer, 1)}
	source.Secret = secret
	request := httptest.NewRequest("POST", source.URLPath(), read)
	request.RemoteAddr = remote
	header := apptest.Credentials(source, whole, time.Now())
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	go func() {
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		_ = read.CloseWithError(io.ErrClosedPipe) // as a server does with what it hasn't read
		u.Answer <- webtest.Answer{Status: recorder.Code, Header: recorder.Header(), Body: recorder.Body.String()}
	}()
	return u
}
