package acceptance_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
)

// sepayProvider is SePay with its list and its calls.
type sepayProvider struct {
	*httptest.Server
	hang  atomic.Bool
	mu    sync.Mutex
	known []sepayTransfer
	asked int
}

// sepayTransfer is a transaction of today on the bank account of the tests.
type sepayTransfer struct {
	call         int // id in a call
	id, number   string
	date, amount string
}

func openSePay(t *testing.T, key string) *sepayProvider {
	s := &sepayProvider{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked++
		s.mu.Unlock()
		if s.hang.Load() {
			<-r.Context().Done()
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		first := 1 + slices.IndexFunc(s.known, func(x sepayTransfer) bool { return x.id == r.URL.Query().Get("since_id") })
		var records []string
		for _, x := range s.known[first:] {
			records = append(records,
				fmt.Sprintf(`{"id":%q,"transaction_date":%q,"account_number":"19354957","transfer_type":"in","amount_in":%s,"amount_out":0,`+
					`"transaction_content":"DH %s","reference_number":%q,"bank_brand_name":"ACB"}`, x.id, x.date, x.amount, x.id, x.number))
		}
		fmt.Fprintf(w, `{"status":"success","data":[%s],"meta":{"pagination":{"has_more":false}}}`, strings.Join(records, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sepayProvider) transfer(n int, number string) sepayTransfer {
	x := sepayTransfer{
		call: 92700 + n, id: fmt.Sprintf("%08x-922e-11f1-b21a-a6006ab65aca", n), number: number, amount: "200000",
		date: time.Now().In(time.FixedZone("", 7*3600)).Format("2006-01-02 15:04:05"),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = append(s.known, x)
	return x
}

func (s *sepayProvider) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// calls makes the provider's call of a transaction and gives the answer.
func (x sepayTransfer) calls(t *testing.T, url, secret string) string {
	t.Helper()
	body := fmt.Sprintf(`{"id":%d,"gateway":"ACB","transactionDate":%q,"accountNumber":"19354957","code":null,"content":"DH %s"`+
		`,"transferType":"in","transferAmount":%s,"referenceCode":%q}`,
		x.call, x.date, x.id, x.amount, x.number)
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Authorization", "Apikey "+secret)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	return string(answer)
}

// A server with a source that has an API key: what was called and what is in
// the list is one transaction and one delivery, whichever comes first, with
// the command beside the server and with the server's own reading at its
// start.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	const key = "the-api-key-of-the-list"
	dir, receiver, sepay := t.TempDir(), openShop(t), openSePay(t, key)
	must(t, os.WriteFile(filepath.Join(dir, "sepay.key"), []byte(key+"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "wrong.key"), []byte("a-wrong-api-key"), 0o600))
	_, listPort, err := net.SplitHostPort(sepay.Listener.Addr().String())
	must(t, err)
	allowed := []string{"--allow-target", receiver.target(), "--allow-target", "127.0.0.1@" + listPort}
	p := serveIn(t, dir, anyPort, append(allowed, "--catch-up", "1h")...)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	receiver.createWebhookFor(t, dir, "/hook", "IN")
	var source createdSource
	must(t, json.Unmarshal([]byte(doIn(t, dir, "source", "add", "--provider", "sepay", "--auth", "apikey", "--name", "SePay",
		"--api-key-file", "wrong.key", "--api-url", sepay.URL, "-o", "json")), &source))
	url := p.url + source.URLPath
	if code, _, stderr := baoco("", "source", "add", "--db", filepath.Join(dir, "baoco.db"), "--provider", "sepay", "--auth",
		"apikey", "--name", "inside",
		"--api-key-file", filepath.Join(dir, "sepay.key"), "--api-url", "http://127.0.0.1:1"); code != terminal.ExitUsage ||
		!strings.Contains(stderr, "--allow-target 127.0.0.1/32") {
		t.Errorf("a list at a private address: exit %d, %s", code, stderr)
	}

	out, err := program(dir, "source", "catch-up", "1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "key_refused: the provider answered 401") {
		t.Errorf("with a wrong key: %v, %s", err, out)
	}
	if list := do(t, dir, "source", "list", "-o", "json"); !strings.Contains(list, `"poll_error": "key_refused"`) ||
		!strings.Contains(list, `"last_poll_at": null`) {
		t.Errorf("source list: %s", list)
	}
	doIn(t, dir, "source", "rotate", "1", "--api-key-file", "sepay.key")

	caughtUp := func(want string) {
		t.Helper()
		if got := do(t, dir, "source", "catch-up", "1"); !strings.Contains(got, want) {
			t.Errorf("caught up: %s, want %s", got, want)
		}
	}
	called := func(x sepayTransfer, want string) {
		t.Helper()
		if got := x.calls(t, url, source.Secret); !strings.Contains(got, want) {
			t.Errorf("called: %s, want %s", got, want)
		}
	}
	called(sepay.transfer(1, "FT1"), `"recorded":1`)
	unnumbered := sepay.transfer(2, "")
	called(unnumbered, `"recorded":1`)
	caughtUp("0 recorded, 2 duplicates")
	late := []sepayTransfer{sepay.transfer(3, "FT3"), sepay.transfer(4, "")}
	caughtUp("2 recorded, 0 duplicates")
	for _, x := range late {
		called(x, `"duplicates":1`)
	}
	if list := do(t, dir, "source", "list", "-o", "json"); !strings.Contains(list, `"poll_error": null`) ||
		strings.Contains(list, `"last_poll_at": null`) {
		t.Errorf("source list: %s", list)
	}
	eventually(t, "the shop is told of all four", func() bool { return receiver.calls.Load() == 4 })

	must(t, p.Process.Signal(syscall.SIGTERM))
	must(t, p.Wait())
	missed := sepay.transfer(5, "FT5")
	p = serveIn(t, dir, p.address(), allowed...)
	eventually(t, "the shop is told of what came meanwhile", func() bool { return receiver.calls.Load() == 5 })
	called(missed, `"duplicates":1`)

	must(t, p.Process.Signal(syscall.SIGTERM))
	must(t, p.Wait())
	if log := p.stderr.String(); strings.Contains(log, key) || !strings.Contains(log, "caught up") {
		t.Errorf("the log:\n%s", log)
	}

	// A stop while the list hangs doesn't wait for it.
	sepay.hang.Store(true)
	before := sepay.requests()
	p = serveIn(t, dir, p.address(), allowed...)
	eventually(t, "the list is asked for", func() bool { return sepay.requests() > before })
	began := time.Now()
	must(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); err != nil || time.Since(began) > serve.StopTime-time.Second {
		t.Errorf("the stop took %v: %v\n%s", time.Since(began), err, p.stderr)
	}
	if got := receiver.calls.Load(); got != 5 || receiver.bad != 0 {
		t.Errorf("the shop was called %d times, %d badly", got, receiver.bad)
	}
}
