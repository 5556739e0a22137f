package acceptance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"

	"github.com/google/go-cmp/cmp"
)

// TestDemoServes looks around in what the demo leaves: two months of a shop,
// told to nobody, payment requests of every fate, and payments that come in. It ends with an interrupt and
// leaves nothing behind.
func TestDemoServes(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	p := &process{stderr: &apptest.Output{}}
	p.Cmd = program(scratch, "demo", "--every", "50ms", "--listen", anyPort)
	p.Env = append(p.Env, "TMPDIR="+scratch)
	stdout := &apptest.Output{}
	p.Stdout, p.Stderr = stdout, p.stderr
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })

	said := func(pattern string) string {
		t.Helper()
		found := stdout.Await(regexp.MustCompile(pattern), 30*time.Second)
		if found == nil {
			t.Fatalf("the demo never said %s:\n%s%s", pattern, stdout, p.stderr)
		}
		return found[1]
	}
	past, err := strconv.ParseInt(said(`(\d+) transactions imported from a statement, nobody told`), 10, 64)
	must(t, err)
	if past < 350 || past > 550 {
		t.Errorf("two months of a shop are %d transactions", past)
	}
	base, counter, key := said(`(http://\S+)   the dashboard`), said(`(http://\S+)   the screen`), said(`KEY=(\S+)`)
	overview := func() (o struct {
		Transactions int64 `json:"total_transactions"`
		In           int64 `json:"total_in"`
		Out          int64 `json:"total_out"`
		Sent         int64 `json:"webhooks_sent"`
	}) {
		answer := struct{ Overview any }{&o}
		must(t, json.Unmarshal(demoGet(t, base+"/api/v1/analytics/overview", key), &answer))
		return o
	}
	var requests struct {
		List []struct{ Status, Reference string } `json:"payment_requests"`
	}
	must(t, json.Unmarshal(demoGet(t, base+"/api/v1/payment-requests", key), &requests))
	fates := map[string]int{}
	for _, r := range requests.List {
		fates[strings.TrimSpace(r.Status+" "+r.Reference)]++
	}
	if diff := cmp.Diff(map[string]int{"open": 2, "paid": 2, "overpaid": 1, "expired Đơn 1040": 1, "paid Đơn 1041": 1, "overpaid Đơn 1042": 1,
		"paid Đơn 1043": 1}, fates); diff != "" {
		t.Errorf("payment requests: %s", diff)
	}
	const story, storySent = 4, 6
	o := overview()
	for deadline := time.Now().Add(20 * time.Second); o.Sent <= storySent+1 || o.Transactions <= past+story+1; o = overview() {
		if time.Now().After(deadline) {
			t.Fatalf("no payment came in and went out after %d: %+v", past+story, o)
		}
		time.Sleep(200 * time.Millisecond) // the API has a limit
	}
	if o.Sent > 100 {
		t.Errorf("%d calls to the shop: it was told of its past", o.Sent)
	}
	if o.In < o.Out || o.Out == 0 {
		t.Errorf("a shop that takes %d and pays %d", o.In, o.Out)
	}
	if page := demoGet(t, counter, ""); !bytes.Contains(page, []byte("data-say")) {
		t.Errorf("no money on the counter's screen:\n%s", page)
	}

	must(t, p.Process.Signal(os.Interrupt))
	if err := p.Wait(); err != nil {
		t.Errorf("after an interrupt: %v\n%s%s", err, stdout, p.stderr)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("the demo left %v (%v)", left, err)
	}
	text := stdout.String()
	if !strings.Contains(text, "All of it was true.") || strings.Contains(text, "✗") || strings.Contains(text, "SePay's call") ||
		p.stderr.String() != "" {
		t.Errorf("the demo said\n%s%s", text, p.stderr)
	}
}

// demoGet gets an address with the API key, if there is one, within 10 s.
func demoGet(t *testing.T, address, key string) []byte {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	must(t, err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	must(t, err)
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	must(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", address, response.StatusCode, &body)
	}
	return body.Bytes()
}
