package command

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/serve"
	"baoco/app/inbound"
	"baoco/sqlitestore"
	"baoco/web"
)

// TestInboundCommands runs a script, as TestCommands does, on a file into which
// calls came.
func TestInboundCommands(t *testing.T) {
	ctx := context.Background()
	db := apptest.NewFile(t)
	store, err := sqlitestore.Open(ctx, db, sqlitestore.Options{Unnamed: apptest.Unnamed})
	must(t, err)
	service, _, err := serve.NewService(ctx, store, nil)
	must(t, err)
	source, err := service.Inbound.AddSource(ctx, 1, inbound.SourceAdd{Provider: "native", Name: "till"}, time.Now())
	must(t, err)
	handler := web.New(web.Config{Services: service})
	call := func(path, token, body string) {
		request := httptest.NewRequest("POST", path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+token)
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	call(source.URLPath(), source.Secret, `{"transactions":[`+
		`{"id":"A1","gateway":"ACB","accountNumber":"19354957","transferType":"IN","transferAmount":200000,"content":"\u001b[31mred"`+
		`,"transactionDate":"2026-01-02 03:04:05"},`+
		`{"id":"A2","gateway":"ACB","accountNumber":"19354957","transferType":"IN","transferAmount":0}]}`)
	call(source.URLPath(), source.Secret, "{\"red\":\"\x1b[31m\xff\",\r\n\t\"rtl\": \"\u202e\"}")
	call(source.URLPath(), source.Secret,
		`{"transactions":[{"id":"A3","gateway":"ACB","accountNumber":"19354957","transferType":"IN","transferAmount":5}]}`)
	call("/api/webhooks/provider/nowhere", "x", "{}")
	call(source.URLPath(), `"`+source.Secret+`"`, "{}")
	must(t, store.Close()) // commits the notes of the refused calls too
	text, err := os.ReadFile("../../testdata/cli_inbound.txt")
	must(t, err)
	runScript(t, string(text), db)
	for _, args := range [][]string{{"source", "show", "1"}, {"source", "show", "1", "-o", "json"}, {"source", "list", "-o", "json"}} {
		if _, stdout, _ := baoco("", args...); strings.Contains(stdout, source.Secret) {
			t.Errorf("%v shows the secret", args)
		}
	}
	_, _, steps := baoco("", "source", "add", "--provider", "sepay", "--auth", "apikey", "--name", "SePay")
	if strings.Count(steps, "\n4. ") != 1 {
		t.Errorf("the fourth step at the provider has no line of its own:\n%s", steps)
	}
	var sepay struct {
		ID     int64
		Secret string
	}
	_, added, _ := baoco("", "source", "add", "--provider", "sepay", "--auth", "apikey", "--name", "another", "-o", "json")
	must(t, json.Unmarshal([]byte(added), &sepay))
	first := sepay.Secret
	_, rotated, _ := baoco("", "source", "rotate", strconv.FormatInt(sepay.ID, 10), "-o", "json")
	must(t, json.Unmarshal([]byte(rotated), &sepay))
	if !regexp.MustCompile(`^[A-Z2-7]{40} [A-Z2-7]{40}$`).MatchString(first + " " + sepay.Secret) {
		t.Errorf("the API keys for SePay, %s and %s, are not of letters and digits", first, sepay.Secret)
	}
}
