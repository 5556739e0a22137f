package acceptance_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/replica"
)

// Each fault of a copy stands in the log and in the figures, and is told by an alert,
// within five minutes; and so does its end.
func TestReplicaWatched(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it takes minutes until a copy is stale")
	}
	t.Parallel()
	for what, fault := range map[string]func(t *testing.T, r *watched) (mend func()){
		"Litestream stopped": func(t *testing.T, r *watched) func() {
			must(t, r.litestream.Process.Signal(syscall.SIGSTOP))
			return func() { must(t, r.litestream.Process.Signal(syscall.SIGCONT)) }
		},
		"the place is away": func(t *testing.T, r *watched) func() {
			must(t, os.Rename(r.place, r.place+".away"))
			must(t, os.WriteFile(r.place, nil, 0o600))
			return func() {
				must(t, os.Remove(r.place))
				must(t, os.Rename(r.place+".away", r.place))
			}
		},
		"an object deleted": func(t *testing.T, r *watched) func() {
			mend := damage(t, r.needed(t), nil)
			must(t, r.litestream.Process.Signal(syscall.SIGCONT))
			return mend
		},
		"the objects corrupt": func(t *testing.T, r *watched) func() {
			var mends []func()
			list, err := r.objects.List(t.Context(), replica.EpochDir(1))
			must(t, err)
			for _, o := range list {
				if !strings.HasSuffix(o.Name, ".ltx") { // it is being written
					continue
				}
				mends = append(mends, damage(t, filepath.Join(r.place, o.Name), func(b []byte) []byte { b[len(b)/2] ^= 1; return b }))
			}
			return func() {
				for _, mend := range mends {
					mend()
				}
			}
		},
		"the place is full": func(t *testing.T, r *watched) func() {
			file := filepath.Join(r.place, "..", "filling")
			for size := 1 << 20; size > 0; size /= 2 {
				f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				must(t, err)
				for err == nil {
					_, err = f.Write(make([]byte, size))
				}
				must(t, f.Close())
			}
			return func() { must(t, os.Remove(file)) }
		},
		"the sealed key is gone": func(t *testing.T, r *watched) func() {
			return damage(t, filepath.Join(r.place, replica.SealedKey), nil)
		},
		"the bucket never answers": func(_ *testing.T, r *watched) func() {
			r.bucket.hangs.Store(true)
			return func() { // as a service that restarts: Litestream gives up a request after 24 hours
				r.bucket.hangs.Store(false)
				r.bucket.server.CloseClientConnections()
			}
		},
		"the bucket takes nothing": func(_ *testing.T, r *watched) func() {
			r.bucket.readOnly.Store(true)
			return func() { r.bucket.readOnly.Store(false) }
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			kind := replica.File
			if strings.Contains(what, "bucket") {
				kind = replica.S3
			}
			r := watch(t, kind)
			for i := range 30 {
				r.provider(r.server.url).call(fmt.Sprint("FT", i))
				time.Sleep(litestreamEvery / 6) // the copy gets several objects
			}
			eventually(t, "the copy is good", func() bool { code, c := r.checked(t); return code == 0 && c.Transactions == 30 })
			if said := r.server.stderr.String(); strings.Contains(said, "the replica") {
				t.Errorf("of a good copy it says:\n%s", said)
			}
			mend := fault(t, r)
			began := time.Now()
			r.says(t, 5*time.Minute, "the replica is not good", 0)
			t.Logf("told after %v", time.Since(began).Round(time.Second))
			mend()
			began = time.Now()
			r.says(t, 5*time.Minute, "the replica is good again", 1)
			t.Logf("good again after %v", time.Since(began).Round(time.Second))
		})
	}
}

// damage changes an object as a disk does that loses something, or removes it.
func damage(t *testing.T, file string, change func(content []byte) []byte) (mend func()) {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	info, err := os.Stat(file)
	must(t, err)
	if change == nil {
		must(t, os.Remove(file))
	} else {
		must(t, os.WriteFile(file, change(slices.Clone(content)), 0o600))
		must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	}
	return func() { must(t, os.WriteFile(file, content, 0o600)) }
}

// watched is what is replicated, with those who look at it.
type watched struct {
	*replicated
	bucket  *bucket
	figures string
	alerts  *apptest.Output
}

func watch(t *testing.T, kind replica.Scheme) *watched {
	t.Helper()
	receiver := openShop(t)
	in := install(t, receiver)
	w := &watched{alerts: &apptest.Output{}}
	chat := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w.alerts, r.Body)
		fmt.Fprint(a, `{"ok":true,"result":{}}`)
	}))
	t.Cleanup(chat.Close)
	at, secret, dir := apptest.Places[kind](t)
	if kind == replica.File { // a disk of its own
		must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
		mountDisk(t, filepath.Dir(dir), "4m")
	}
	if kind == replica.S3 {
		w.bucket = &bucket{}
		at.Endpoint = w.bucket.before(t, at.Endpoint)
	}
	key, err := os.ReadFile(in.db + ".key")
	must(t, err)
	sealed, err := replica.SealKey(key, "five words that are long")
	must(t, err)
	objects, err := replica.Open(t.Context(), at, secret)
	must(t, err)
	must(t, objects.Put(t.Context(), replica.SealedKey, sealed))
	w.replicated = replicateAt(t, in, at, secret, "--allow-target", "127.0.0.1/32", "--metrics-listen", anyPort)
	w.place = dir
	must(t, os.WriteFile(filepath.Join(in.dir, "token"), []byte("123456789:"+strings.Repeat("A", 35)), 0o600))
	doIn(t, in.dir, "alert", "telegram", "--token-file", "token", "--chat", "1", "--api-url", chat.URL)
	do(t, in.dir, "alert", "set", "--lang", "en")
	w.figures = "http://" + w.server.stderr.Await(showingAt, 10*time.Second)[1] + "/metrics"
	return w
}

// says waits until all who look at the replica know whether it is good.
func (w *watched) says(t *testing.T, limit time.Duration, log string, good float64) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log:\n%s\nthe alerts:\n%s", w.server.stderr, w.alerts)
		}
	})
	within(t, limit, log+", in the log, in the figures and by an alert", func() bool {
		_, figures := figuresOf(t, w.figures, "")
		return strings.Contains(w.server.stderr.String(), log) && figures["baoco_replica_good"] == good &&
			strings.Contains(w.alerts.String(), "⚠️")
	})
}

// bucket is what can be wrong with a service of S3, before a real one.
type bucket struct {
	server          *httptest.Server
	hangs, readOnly atomic.Bool
}

// before answers for the service at a URL.
func (b *bucket) before(t *testing.T, endpoint string) string {
	t.Helper()
	to, err := url.Parse(endpoint)
	must(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }} // which is signed
	ended := make(chan struct{})
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case b.hangs.Load():
			select { // while the body isn't read nobody sees that the client has gone
			case <-r.Context().Done():
			case <-ended:
			}
		case b.readOnly.Load() && r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code></Error>")
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { close(ended); b.server.CloseClientConnections(); b.server.Close() })
	return b.server.URL
}

// within waits for something in another process that takes minutes.
func within(t *testing.T, limit time.Duration, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !there(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}
