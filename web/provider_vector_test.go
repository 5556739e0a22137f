package web_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"

	"github.com/google/go-cmp/cmp"
)

// vector is a call of testdata/provider with what must come of it.
type vector struct {
	Name       string
	Provider   app.Provider
	Auth       app.Auth
	AccessKey  string `json:"access_key"`
	Secret     string
	Headers    map[string]string
	Body       string
	Normalized []normalized // none: a test call, or nothing paid
}

// normalized is one transaction of a vector; what is nil isn't said.
type normalized struct {
	TestCall  bool   `json:"test_call"`
	EventID   string `json:"event_id"`
	Account   string
	Gateway   string
	Direction app.Direction
	Amount    int64
	Time      string
	BankRef   *string `json:"bank_ref"`
	Content   *string
}

// vectors are those from the providers' documentation, a directory each, and
// those that make.mjs made.
func vectors(t testing.TB) (list []vector) {
	t.Helper()
	dir := filepath.Join("..", "testdata", "provider")
	for _, v := range []vector{
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
	var made []vector
	if err := json.Unmarshal(b, &made); err != nil {
		t.Fatal(err)
	}
	return append(list, made...)
}

func (v vector) header() (pairs []string) {
	for name, value := range v.Headers {
		pairs = append(pairs, name, value)
	}
	return pairs
}

// httpHeader is header as a server reads it.
func (v vector) httpHeader() http.Header {
	h := http.Header{}
	for name, value := range v.Headers {
		h.Set(name, value)
	}
	return h
}

// signedAt is the time at which the vector's timestamp is that of now.
func (v vector) signedAt() time.Time {
	if n, err := strconv.ParseInt(v.Headers["X-SePay-Timestamp"], 10, 64); err == nil {
		return time.Unix(n, 0)
	}
	return time.Now()
}

// source is the vector's source as the adapter sees it.
func (v vector) source() app.Source {
	return app.Source{Provider: v.Provider, Auth: v.Auth, Secret: v.Secret, Options: app.SourceOptions{AccessKey: v.AccessKey}}
}

// prepare links the accounts that a vector names, and adds its source.
func (w *world) prepare(v vector) app.Source {
	w.t.Helper()
	bankAccounts := map[string]int64{}
	for _, n := range v.Normalized {
		if _, linked := bankAccounts[n.Account]; linked {
			continue
		}
		bank, known := app.FindBank(n.Gateway)
		if !known {
			bank.Code = "ACB"
		}
		number := n.Account
		if number == "" {
			number = someAccount
		}
		bankAccounts[n.Account] = w.link(bank.Code, number).ID
	}
	add := app.SourceAdd{Provider: v.Provider, Auth: v.Auth, Name: v.Name, Secret: v.Secret, Options: app.SourceOptions{AccessKey: v.AccessKey}}
	if v.Provider == "pay2s-ipn" {
		if add.BankAccountID = bankAccounts[""]; add.BankAccountID == 0 {
			add.BankAccountID = w.link("ACB", someAccount).ID
		}
	}
	s, err := w.service.AddSource(context.Background(), 1, add, time.Now())
	must(w.t, err)
	return s
}

// TestProviderVectors: every vector authenticates and is recorded exactly as
// it says, once.
func TestProviderVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if why := web.Verify(v.source(), []byte(v.Body), v.httpHeader(), v.signedAt()); why.Code != "" {
				t.Fatalf("refused: %+v", why)
			}
			w := newWorld(t)
			source := w.prepare(v)
			header := v.header()
			if v.Provider == "sepay" && v.Auth == app.AuthHMAC {
				// The signature itself is right, the timestamp is years old.
				if a := w.do("POST", source.URLPath(), v.Body, header...); a.status != http.StatusUnauthorized {
					t.Fatalf("an old timestamp: %d %s", a.status, a.body)
				}
				w.nothingStored()
				header = credentials(source, v.Body, time.Now())
			}
			n := len(v.Normalized)
			if got := w.do("POST", source.URLPath(), v.Body, header...).counts(t); got != (counts{Recorded: n}) {
				t.Fatalf("got %+v", got)
			}
			for i, got := range w.wantTransactions(n) {
				want := v.Normalized[i]
				bank, known := app.FindBank(want.Gateway)
				if known && got.Bank != bank.Code || want.Account != "" && got.AccountNumber != want.Account || got.Type != want.Direction || got.Amount != want.Amount ||
					want.BankRef != nil && got.Number != *want.BankRef || want.Content != nil && got.Content != *want.Content ||
					want.Time != "" && (app.FormatTime(got.Time, w.service.Zone()) != want.Time || got.DateFlaw != "") {
					t.Errorf("recorded %+v\nwant %+v", got, want)
				}
			}
			if diff := cmp.Diff(wantedEvents(v), w.eventIDs()); diff != "" {
				t.Errorf("event ids (-want +got):\n%s", diff)
			}
			if e := w.events(); len(e) != 1 || string(e[0].Body) != v.Body || e[0].SourceID != source.ID || e[0].Open != 0 {
				t.Errorf("inbound log: %+v", e)
			}
			// The provider tries again.
			if got := w.do("POST", source.URLPath(), v.Body, header...).counts(t); got != (counts{Duplicates: n}) {
				t.Errorf("again: %+v", got)
			}
			w.wantTransactions(n)
			w.tallies()
			list, e := w.reads(2)
			if len(list) != n || n == 0 && (e.Nothing == app.Text{}) {
				t.Errorf("the log says %+v, %+v", list, e.Nothing)
			}
			for i, s := range list {
				if s.Transaction != int64(i+1) || s.Amount != v.Normalized[i].Amount {
					t.Errorf("the log says %+v", s)
				}
			}
		})
	}
}

func wantedEvents(v vector) (ids []string) {
	for _, n := range v.Normalized {
		ids = append(ids, n.EventID)
	}
	return ids
}

func (w *world) eventIDs() (ids []string) {
	w.t.Helper()
	w.file(func(db *sql.DB) error {
		rows, err := db.Query(`SELECT event_id FROM event_ids ORDER BY transaction_id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	return ids
}

// nodeScript runs a script of testdata/provider, where node is installed.
func nodeScript(t *testing.T, input, script string, args ...string) []byte {
	t.Helper()
	script = filepath.Join("..", "testdata", "provider", script)
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
	must(t, err)
	return output
}

func TestProviderVectorsByNode(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../testdata/provider/vectors.json")
	must(t, err)
	if !bytes.Equal(nodeScript(t, "", "make.mjs", "--stdout"), committed) {
		t.Error("make.mjs makes another vectors.json than the one that stands there")
	}
}
