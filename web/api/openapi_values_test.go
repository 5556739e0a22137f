package api_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/provider"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// constants are the values of the constants that package app has of a type,
// but for the empty one.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	values := map[string][]string{}
	paths, err := filepath.Glob("../../app/*.go")
	for _, room := range []string{"delivery", "inbound"} {
		more, _ := filepath.Glob("../../app/" + room + "/*.go")
		paths = append(paths, more...)
	}
	apptest.Must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		apptest.Must(t, err)
		for _, decl := range file.Decls {
			g, isGeneral := decl.(*ast.GenDecl)
			if !isGeneral || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				name, named := v.Type.(*ast.Ident)
				if !named || len(v.Values) != 1 {
					continue
				}
				if literal, isLiteral := v.Values[0].(*ast.BasicLit); isLiteral && literal.Kind == token.STRING && literal.Value != `""` {
					value, err := strconv.Unquote(literal.Value)
					apptest.Must(t, err)
					values[name.Name] = append(values[name.Name], value)
				}
			}
		}
	}
	return values
}

// TestOpenAPIEnums compares each list of values with the constants that there
// are.
func TestOpenAPIEnums(t *testing.T) {
	schemas := rawOpenAPI(t)["components"].(map[string]any)["schemas"]
	known := constants(t)
	for _, kind := range provider.Facts() {
		known["Provider"] = append(known["Provider"], string(kind.Provider))
	}
	// A shortage is never recorded.
	known["ErrorClass"] = slices.DeleteFunc(known["ErrorClass"], func(class string) bool { return class == string(delivery.ErrorShortage) })
	// A notice comes with a call.
	known["Channel"] = slices.DeleteFunc(known["Channel"], func(channel string) bool { return channel == string(app.ChannelNotice) })
	event := webtest.MemberAt(schemas, "InboundEvent", "allOf").([]any)[1]
	for _, c := range []struct {
		goType string
		schema any
	}{
		{"Direction", webtest.MemberAt(schemas, "Direction")},
		{"Range", webtest.MemberAt(schemas, "Range")},
		{"WebhookType", webtest.MemberAt(schemas, "WebhookType")},
		{"BankAccountStatus", webtest.MemberAt(schemas, "BankAccountStatus")},
		{"Code", webtest.MemberAt(schemas, "ErrorCode")},
		{"RefusalCode", webtest.MemberAt(schemas, "RefusalCode")},
		{"Provider", webtest.MemberAt(schemas, "Provider")},
		{"Auth", webtest.MemberAt(schemas, "Source", "properties", "auth")},
		{"PollFault", webtest.MemberAt(schemas, "Source", "properties", "poll_error")},
		{"Channel", webtest.MemberAt(event, "properties", "channel")},
		{"Outcome", webtest.MemberAt(schemas, "Outcome")},
		{"ErrorClass", webtest.MemberAt(schemas, "HistoryRecord", "properties", "error")},
	} {
		var listed []string
		for _, value := range webtest.MemberAt(c.schema, "enum").([]any) {
			if value != nil {
				listed = append(listed, value.(string))
			}
		}
		want := known[c.goType]
		slices.Sort(listed)
		slices.Sort(want)
		if diff := cmp.Diff(want, listed); diff != "" {
			t.Errorf("%s (-) and the document (+) differ:\n%s", c.goType, diff)
		}
	}
}

// TestOpenAPIBounds goes to the bounds that the document has and one beyond:
// program and document must agree on each.
func TestOpenAPIBounds(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	hook, _ := w.Webhook("https://shop.example.com/", delivery.WebhookAll)
	components := rawOpenAPI(t)["components"]
	number := func(path string) int64 {
		n, isNumber := webtest.MemberAt(components, strings.Fields(path)...).(float64)
		if !isNumber {
			t.Fatalf("the document has no %s", path)
		}
		return int64(n)
	}
	webhook := func(name, url string) string {
		return apptest.Quoted(map[string]any{"name": name, "webhook_url": url, "type": "ALL"})
	}
	const url = "https://shop.example.com/"
	get := func(format string) func(int64) (string, string, string, []string) {
		return func(n int64) (string, string, string, []string) { return "GET", fmt.Sprintf(format, n), "", nil }
	}
	post := func(path string, body func(n int64) string) func(int64) (string, string, string, []string) {
		return func(n int64) (string, string, string, []string) { return "POST", path, body(n), nil }
	}
	native := func(id string, amount int64) string {
		return apptest.Quoted(map[string]any{"id": id, "gateway": "ACB", "accountNumber": apptest.SomeAccount, "transferType": "IN",
			"transferAmount": amount})
	}
	refused := webtest.MemberAt(rawOpenAPI(t), "paths", "/api/v1/inbound/refused", "get", "parameters").([]any)[2]
	for _, c := range []struct {
		what        string // least is -1 where there is none
		least, most int64
		request     func(n int64) (method, path, body string, header []string)
	}{
		{"page", number("parameters Page schema minimum"), number("parameters Page schema maximum"), get("/api/v1/transactions?page=%d")},
		{"per_page", number("parameters PerPage schema minimum"), number("parameters PerPage schema maximum"),
			get("/api/v1/transactions?per_page=%d")},
		{"per_page of the history", number("parameters PerPage schema minimum"), number("parameters PerPage schema maximum"),
			get("/api/v1/webhooks/history?per_page=%d")},
		{"per_page of refused calls", int64(webtest.MemberAt(refused, "schema", "minimum").(float64)),
			int64(webtest.MemberAt(refused, "schema", "maximum").(float64)), get("/api/v1/inbound/refused?per_page=%d")},
		{"max_amount", number("schemas Amount minimum"), number("schemas Amount maximum"), get("/api/v1/transactions?max_amount=%d")},
		{"transferAmount", number("schemas Amount minimum"), number("schemas Amount maximum"),
			post("/api/v1/transactions", func(n int64) string { return native(fmt.Sprint("amount ", n), n) })},
		{"name", number("schemas Name minLength"), number("schemas Name maxLength"),
			post("/api/v1/webhooks", func(n int64) string { return webhook(strings.Repeat("ữ", int(n)), url) })},
		{"webhook_url", int64(len(url)), number("schemas WebhookUrl maxLength"), post("/api/v1/webhooks", func(n int64) string {
			if n < int64(len(url)) {
				return webhook("A", "")
			}
			return webhook("A", url+strings.Repeat("x", int(n)-len(url)))
		})},
		{"overlap_hours", number("schemas SecretRotation properties overlap_hours minimum"),
			number("schemas SecretRotation properties overlap_hours maximum"),
			post(fmt.Sprintf("/api/v1/webhooks/%d/rotate-secret", hook.ID), func(n int64) string { return fmt.Sprintf(`{"overlap_hours":%d}`, n) })},
		{"Idempotency-Key", -1, number("parameters IdempotencyKey schema maxLength"), func(n int64) (string, string, string, []string) {
			return "POST", "/api/v1/transactions", native(fmt.Sprint("key ", n), 1), []string{"Idempotency-Key", strings.Repeat("k", int(n))}
		}},
	} {
		for _, n := range []int64{c.least - 1, c.least, c.most, c.most + 1} {
			if n < 0 && c.least < 0 {
				continue // it has no least
			}
			method, path, body, header := c.request(n)
			good := n >= c.least && n <= c.most
			if err := checkRequest(method, path, body, header...); (err == nil) != good {
				t.Errorf("%s of %d: the document says %v", c.what, n, err)
			}
			a := w.Do(method, path, body, append(header, "Authorization", "Bearer "+w.APIKey(access.ScopeFull))...)
			if want := a.Status < 300; want != good || !good && a.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s of %d: %d %s", c.what, n, a.Status, webtest.Short(a.Body))
			}
		}
	}
}
