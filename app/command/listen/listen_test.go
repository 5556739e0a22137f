package listen_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/command"
	"baoco/app/delivery"
	"baoco/web/webtest"
)

// program is the receiver on the developer's machine.
type program struct {
	mu     sync.Mutex
	ids    []string
	wrong  []string // what its signature or body had
	secret string
	answer func(id string) int
	taken  chan string
}

func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct {
		Transactions []struct{ ID, Checksum string }
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if json.Unmarshal(body, &call) != nil || len(call.Transactions) != 1 || call.Transactions[0].Checksum == "" ||
		r.Header.Get("X-Webhook-Signature") != delivery.Signature(p.secret, body) {
		p.wrong = append(p.wrong, string(body))
		return
	}
	id := call.Transactions[0].ID
	p.ids = append(p.ids, id)
	w.WriteHeader(p.answer(id))
	p.taken <- id
}

// cutter passes connections on to a server, and cuts them.
type cutter struct {
	net.Listener
	to string
	mu sync.Mutex
	at map[net.Conn]struct{}
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	u, err := url.Parse(to)
	apptest.Must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	apptest.Must(t, err)
	c := &cutter{Listener: l, to: u.Host, at: map[net.Conn]struct{}{}}
	t.Cleanup(func() { l.Close(); c.cut() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", c.to)
			if err != nil {
				conn.Close()
				continue
			}
			c.mu.Lock()
			c.at[conn], c.at[server] = struct{}{}, struct{}{}
			c.mu.Unlock()
			go func() { io.Copy(server, conn); server.Close() }()
			go func() { io.Copy(conn, server); conn.Close() }()
		}
	}()
	return c
}

// cut ends all connections at once, in the middle of whatever they carry.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.at {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		conn.Close()
	}
	clear(c.at)
}

func await(t *testing.T, out *apptest.Output, text string) {
	t.Helper()
	if out.Await(regexp.MustCompile(regexp.QuoteMeta(text)), time.Minute) == nil {
		t.Fatalf("%q doesn't come: %s", text, out.String())
	}
}

// Transactions arrive once each and in order, however often the connection is lost. What
// the program doesn't take is named.
func TestListen(t *testing.T) {
	t.Chdir(t.TempDir())
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	between := newCutter(t, w.URL)
	p := &program{taken: make(chan string, 1<<16), answer: func(string) int { return http.StatusOK }}
	receiver := httptest.NewServer(p)
	defer receiver.Close()
	keyFile := filepath.Join(t.TempDir(), "key")
	apptest.Must(t, os.WriteFile(keyFile, []byte(w.APIKey(access.ScopeListen)+"\n"), 0o600))

	// The memory is made by a first run, which is refused: so the receiver knows the secret.
	var out, said apptest.Output
	if code := command.Run(t.Context(), []string{"baoco", "listen", "--server", receiver.URL, "--forward-to", receiver.URL,
		"--api-key-file", keyFile}, nil, io.Discard, &said); code != 1 || !strings.Contains(said.String(), "is not a baoco") {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	p.wrong = nil
	var memory struct{ Secret, Key string }
	data, err := os.ReadFile(".baoco-listen.json")
	apptest.Must(t, err)
	apptest.Must(t, json.Unmarshal(data, &memory))
	p.secret = memory.Secret

	source := w.Native()
	record := func(from, to int) {
		t.Helper()
		var batch []string
		for n := from; n < to; n++ {
			batch = append(batch, apptest.Transfer{ID: fmt.Sprint("E", n)}.Native())
		}
		w.Wants(webtest.Counts{Recorded: to - from}, source, apptest.Batch(batch...))
	}
	if code := command.Run(t.Context(), []string{"baoco", "listen", "--server", receiver.URL, "--forward-to", receiver.URL, "--kind", "sepay",
		"--api-key-file", keyFile}, nil, io.Discard, &said); code != 1 || !strings.Contains(said.String(), "with the secret "+memory.Key) {
		t.Errorf("as SePay: exit %d, %s", code, said.String())
	}
	p.wrong = nil
	record(0, 3) // before: they aren't brought
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		ended <- command.Run(ctx, []string{"baoco", "listen", "--server", "http://" + between.Addr().String() + "/",
			"--forward-to", receiver.URL + "/hook", "--api-key-file", keyFile}, nil, &out, &said)
	}()
	defer func() {
		stop()
		if code := <-ended; code != 0 || !strings.Contains(said.String(), "1 transactions were not taken") {
			t.Errorf("stopped: exit %d, %s", code, said.String())
		}
	}()
	await(t, &said, "with the secret "+memory.Secret)
	rounds, each := apptest.Rounds(2, 20), apptest.Rounds(30, 500)
	// The first transaction is waited for, so that the stream has begun.
	deadline := time.Now().Add(30 * time.Second)
	total := 3
	for began := false; !began; {
		record(total, total+1)
		total++
		select {
		case <-p.taken:
			began = true
		case <-time.After(time.Second):
			if time.Now().After(deadline) {
				t.Fatal("the stream doesn't begin: " + said.String())
			}
		}
	}
	p.mu.Lock()
	first, _ := strconv.Atoi(p.ids[0])
	p.mu.Unlock()
	for range rounds {
		record(total, total+each)
		for n := range each {
			if n == each/2 {
				between.cut()
			}
			select {
			case <-p.taken:
			case <-time.After(60 * time.Second):
				t.Fatalf("a transaction doesn't come: %s", said.String())
			}
		}
		total += each
	}
	p.mu.Lock()
	for i, id := range p.ids {
		if id != strconv.Itoa(first+i) {
			t.Fatalf("call %d is of transaction %s, not %d", i, id, first+i)
		}
	}
	if want := 1 + rounds*each; len(p.ids) != want || len(p.wrong) > 0 {
		t.Errorf("%d calls, want %d; wrong ones: %q", len(p.ids), want, p.wrong)
	}
	refused := strconv.Itoa(first + len(p.ids))
	p.answer = func(string) int { return http.StatusInternalServerError }
	p.mu.Unlock()
	record(total, total+1)
	<-p.taken
	await(t, &out, "500 NOT TAKEN")
	between.Close() // the server is gone for this command; it goes on trying
	between.cut()
	await(t, &said, "is lost")
	// Another program in this directory begins by itself.
	apptest.Eventually(t, refused+" is kept", func() bool {
		var kept struct{ Last map[string]int64 }
		data, err := os.ReadFile(".baoco-listen.json")
		apptest.Must(t, err)
		apptest.Must(t, json.Unmarshal(data, &kept))
		return strconv.FormatInt(kept.Last["http://"+between.Addr().String()+" "+receiver.URL+"/hook"], 10) == refused
	})
	if !strings.Contains(out.String(), refused) || strings.Count(out.String(), "\n") != rounds*each+2 {
		t.Errorf("%d lines", strings.Count(out.String(), "\n"))
	}
}

// What is recorded while nobody listens comes, though there was no transaction before.
func TestListenBeforeTheFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	t.Setenv("BAOCO_API_KEY", w.APIKey(access.ScopeListen))
	called := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called <- struct{}{} }))
	defer receiver.Close()
	listen := func(until func() bool) {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		ended := make(chan int)
		go func() {
			ended <- command.Run(ctx, []string{"baoco", "listen", "--server", w.URL, "--forward-to", receiver.URL}, nil, io.Discard, io.Discard)
		}()
		for ctx.Err() == nil && !until() {
			time.Sleep(10 * time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Error("nothing comes")
		}
		stop()
		<-ended
	}
	listen(func() bool {
		data, _ := os.ReadFile(".baoco-listen.json")
		return strings.Contains(string(data), w.URL)
	})
	w.Wants(webtest.Counts{Recorded: 1}, w.Native(), apptest.Batch(apptest.Transfer{ID: "E1"}.Native()))
	listen(func() bool { return len(called) > 0 })
}

// A server that sends what baoco never does is not believed, and nothing of it reaches the
// program or steers the terminal.
func TestListenToAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("BAOCO_API_KEY", "k")
	transaction := func(id string) string {
		return `data: {"transactions":[{"id":"` + id + `","transferType":"IN","transferAmount":5}]}` + "\n\n"
	}
	for sent, want := range map[string]string{
		"event: transaction\nid: 3\n" + transaction("4"):                                            "the event 3 has another transaction",
		"event: transaction\nid: 3\n" + strings.Repeat("data: "+strings.Repeat("x", 1<<19)+"\n", 3): "longer than 1 MiB",
		"event: removed\nid: 3\ndata: \x1b[31m\n\n":                                                 "undone: \ufffd[31m",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				t.Error("the program is called")
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 0\n\n"+sent)
		}))
		ctx, stop := context.WithCancel(t.Context())
		var said apptest.Output
		ended := make(chan int)
		go func() {
			ended <- command.Run(ctx, []string{"baoco", "listen", "--server", server.URL, "--forward-to", server.URL}, nil, io.Discard, &said)
		}()
		await(t, &said, want)
		stop()
		<-ended
		server.Close()
	}
}

// A key that may not, an address that is none, and a damaged memory end the command.
func TestListenRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	w := webtest.NewWorld(t)
	run := func(key string, args ...string) (code int, said string) {
		t.Setenv("BAOCO_API_KEY", key)
		var out bytes.Buffer
		code = command.Run(t.Context(), append([]string{"baoco", "listen"}, args...), nil, io.Discard, &out)
		return code, out.String()
	}
	var help bytes.Buffer
	command.Run(t.Context(), []string{"baoco", "listen", "--help"}, nil, &help, &help)
	if strings.Contains(help.String(), "--account") || strings.Contains(help.String(), "--db") || !strings.Contains(help.String(), "--new") {
		t.Errorf("the help is %s", help.String())
	}
	good := []string{"--server", w.URL, "--forward-to", "http://localhost:3000"}
	for _, c := range []struct {
		key  string
		args []string
		code int
		said string
	}{
		{"", good, 2, "an API key is needed"},
		{"baoco_x", good, 1, "answers 401"},
		{"baoco_x\r\nHost: y", good, 2, "the API key must be one line without blanks"},
		{"baoco x", good, 2, "the API key must be one line without blanks"},
		{"k", []string{"--server", "pay.shop.vn", "--forward-to", "http://localhost:3000"}, 2, "--server must be an address"},
		{"k", []string{"--server", w.URL, "--forward-to", "localhost:3000"}, 2, "--forward-to must be an address"},
		{"k", []string{"--server", w.URL, "--forward-to", "http://a:b@localhost:3000"}, 2, "--forward-to must be an address"},
		{"k", append(good, "more"), 2, "takes no argument"},
		{"k", append(good, "--kind", "sheet"), 2, "--kind must be standard or sepay"},
	} {
		if code, said := run(c.key, c.args...); code != c.code || !strings.Contains(said, c.said) {
			t.Errorf("%q: exit %d, %s", c.args, code, said)
		}
	}
	apptest.Must(t, os.WriteFile(".baoco-listen.json", []byte("{}"), 0o600))
	if code, said := run("k", good...); code != 4 || !strings.Contains(said, "is damaged") {
		t.Errorf("a damaged memory: exit %d, %s", code, said)
	}
	// A symlink in its place is replaced, and what it led to stays.
	apptest.Must(t, os.WriteFile("elsewhere", []byte(`{"secret":"`+delivery.NewSecret()+`","key":"k","last":{}}`), 0o644))
	before, err := os.ReadFile("elsewhere")
	apptest.Must(t, err)
	apptest.Must(t, os.Remove(".baoco-listen.json"))
	apptest.Must(t, os.Symlink("elsewhere", ".baoco-listen.json"))
	run("baoco_x", good...)
	after, err := os.ReadFile("elsewhere")
	apptest.Must(t, err)
	file, err := os.Lstat(".baoco-listen.json")
	apptest.Must(t, err)
	if !bytes.Equal(before, after) || file.Mode() != 0o600 {
		t.Errorf("the symlink's file is %s, and the memory has the mode %s", after, file.Mode())
	}
	for _, last := range []string{"-1", "9223372036854775807"} {
		apptest.Must(t, os.WriteFile(".baoco-listen.json", []byte(strings.Replace(string(before), "{}", `{"a b":`+last+`}`, 1)), 0o600))
		if code, said := run("k", good...); code != 4 || !strings.Contains(said, "names the transaction "+last+" of a b, which can't be") {
			t.Errorf("last %s: exit %d, %s", last, code, said)
		}
	}
}

// A server that is busy and a program that isn't there yet cost nothing: the command waits for
// both, and each transaction is called once. With --new it begins with what comes then.
func TestListenWaits(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("BAOCO_API_KEY", "k")
	var asked atomic.Int32
	from := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		from <- r.Header.Get("Last-Event-ID")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: 2\n\n")
		for _, id := range []string{"3", "3", "4"} {
			_, _ = io.WriteString(w, "event: transaction\nid: "+id+"\ndata: "+`{"transactions":[{"id":"`+id+
				`","transferType":"IN","transferAmount":5}]}`+"\n\n")
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	apptest.Must(t, err)
	address := free.Addr().String()
	apptest.Must(t, free.Close())
	run := func(said *apptest.Output, out io.Writer, more ...string) (end func()) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan int)
		go func() {
			ended <- command.Run(ctx, append([]string{"baoco", "listen", "--server", server.URL, "--forward-to", "http://" + address}, more...),
				nil, out, said)
		}()
		return func() { stop(); <-ended }
	}
	var said, out apptest.Output
	end := run(&said, &out)
	await(t, &said, "Transaction 3 waits for it")
	l, err := net.Listen("tcp", address)
	apptest.Must(t, err)
	called := make(chan string, 10)
	program := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var call struct{ Transactions []struct{ ID string } }
		_ = json.NewDecoder(r.Body).Decode(&call)
		called <- call.Transactions[0].ID
	})}
	go func() { _ = program.Serve(l) }()
	defer program.Close()
	if first, second := apptest.Receive(t, "call", called), apptest.Receive(t, "call", called); first != "3" || second != "4" {
		t.Errorf("the program is called with %s and %s", first, second)
	}
	await(t, &out, "  4  ")
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if data, _ := os.ReadFile(".baoco-listen.json"); strings.Contains(string(data), `": 4`) {
			break
		}
	}
	end()
	end = run(new(apptest.Output), io.Discard)
	if a, b := <-from, apptest.Receive(t, "connection", from); a != "" || b != "4" {
		t.Errorf("the streams begin after %q and %q", a, b)
	}
	end()
	defer run(new(apptest.Output), io.Discard, "--new")()
	if after := apptest.Receive(t, "connection", from); after != "" {
		t.Errorf("with --new the stream begins after %q", after)
	}
}
