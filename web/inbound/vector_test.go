package inbound_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// vectors are those from the providers' documentation, a directory each, and
// those that make.mjs made.
func vectors(t testing.TB) (list []webtest.Vector) {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", "provider")
	for _, v := range []webtest.Vector{
		{Name: "native", Provider: "native", Auth: app.AuthHMAC},
		{Name: "sepay-apikey", Provider: "sepay", Auth: app.AuthAPIKey},
		{Name: "sepay-hmac", Provider: "sepay", Auth: app.AuthHMAC},
		{Name: "casso", Provider: "casso", Auth: app.AuthToken},
		{Name: "casso-v2-test", Provider: "casso-v2", Auth: app.AuthHMAC},
		{Name: "payos-test", Provider: "payos", Auth: app.AuthHMAC},
		{Name: "pay2s", Provider: "pay2s", Auth: app.AuthBearer},
		{Name: "pay2s-ipn", Provider: "pay2s-ipn", Auth: app.AuthHMAC},
		{Name: "capcom6-sms", Provider: "capcom6", Auth: app.AuthHMAC},
		{Name: "incoming-sms-to-url", Provider: "sms-to-url", Auth: app.AuthBearer},
	} {
		read := func(file string) []byte {
			b, err := os.ReadFile(filepath.Join(dir, v.Name, file))
			if err != nil {
				t.Fatal(err)
			}
			return bytes.TrimSuffix(b, []byte("\n"))
		}
		v.Body, v.Secret = string(read("body.json")), string(read("secret"))
		if v.Provider == "pay2s-ipn" {
			v.AccessKey = string(read("access_key"))
		}
		wanted := read("normalized.json")
		if wanted[0] == '{' {
			wanted = append(append([]byte("["), wanted...), ']')
		}
		for into, b := range map[any][]byte{&v.Headers: read("headers.json"), &v.Normalized: wanted} {
			if err := json.Unmarshal(b, into); err != nil {
				t.Fatal(v.Name, err)
			}
		}
		if v.Normalized[0].TestCall {
			v.Normalized = nil
		}
		list = append(list, v)
	}
	b, err := os.ReadFile(filepath.Join(dir, "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made []webtest.Vector
	if err := json.Unmarshal(b, &made); err != nil {
		t.Fatal(err)
	}
	return append(list, made...)
}

// TestProviderVectors: every vector authenticates and is recorded exactly as
// it says, once.
func TestProviderVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if why := webtest.RefusalOf(v.Source(), []byte(v.Body), v.HTTPHeader(), v.SignedAt()); why.Code != "" {
				t.Fatalf("refused: %+v", why)
			}
			w := webtest.NewWorld(t)
			source := w.Prepare(v)
			header := v.Header()
			if v.Provider == "sepay" && v.Auth == app.AuthHMAC {
				// The signature itself is right, the timestamp is years old.
				if a := w.Do("POST", source.URLPath(), v.Body, header...); a.Status != http.StatusUnauthorized {
					t.Fatalf("an old timestamp: %d %s", a.Status, a.Body)
				}
				w.NothingStored()
				header = webtest.Credentials(source, v.Body, time.Now())
			}
			n := len(v.Normalized)
			if got := w.Do("POST", source.URLPath(), v.Body, header...).Counts(t); got != (webtest.Counts{Recorded: n}) {
				t.Fatalf("got %+v", got)
			}
			for i, got := range w.WantTransactions(n) {
				want := v.Normalized[i]
				bank, known := app.FindBank(want.Gateway)
				if known && got.Bank != bank.Code || want.Account != "" && got.AccountNumber != want.Account || got.Type != want.Direction || got.Amount != want.Amount ||
					want.BankRef != nil && got.Number != *want.BankRef || want.Content != nil && got.Content != *want.Content ||
					want.Time != "" && (app.FormatTime(got.Time, w.Service.Zone()) != want.Time || got.DateFlaw != "") {
					t.Errorf("recorded %+v\nwant %+v", got, want)
				}
			}
			if diff := cmp.Diff(wantedEvents(v), w.EventIDs()); diff != "" {
				t.Errorf("event ids (-want +got):\n%s", diff)
			}
			if e := w.Events(); len(e) != 1 || string(e[0].Body) != v.Body || e[0].SourceID != source.ID || e[0].Open != 0 {
				t.Errorf("inbound log: %+v", e)
			}
			// The provider tries again.
			if got := w.Do("POST", source.URLPath(), v.Body, header...).Counts(t); got != (webtest.Counts{Duplicates: n}) {
				t.Errorf("again: %+v", got)
			}
			w.WantTransactions(n)
			w.Tallies()
			list, e := w.Reads(2)
			if len(list) != n || n == 0 && (e.Explanation == app.Text{}) {
				t.Errorf("the log says %+v, %+v", list, e.Explanation)
			}
			for i, s := range list {
				if s.Transaction != int64(i+1) || s.Amount != v.Normalized[i].Amount {
					t.Errorf("the log says %+v", s)
				}
			}
		})
	}
}

func wantedEvents(v webtest.Vector) (ids []string) {
	for _, n := range v.Normalized {
		ids = append(ids, n.EventID)
	}
	return ids
}

// nodeScript runs a script of testdata/provider, where node is installed.
func nodeScript(t *testing.T, input, script string, args ...string) []byte {
	t.Helper()
	script = filepath.Join("..", "..", "testdata", "provider", script)
	if _, err := os.Stat(script); err != nil { // so that a cached result depends on it
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: what JavaScript signs was not compared")
	}
	command := exec.Command(node, append([]string{script}, args...)...)
	command.Stdin = strings.NewReader(input)
	output, err := command.Output()
	apptest.Must(t, err)
	return output
}

func TestProviderVectorsByNode(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../../testdata/provider/vectors.json")
	apptest.Must(t, err)
	if !bytes.Equal(nodeScript(t, "", "make.mjs", "--stdout"), committed) {
		t.Error("make.mjs makes another vectors.json than the one that stands there")
	}
}
