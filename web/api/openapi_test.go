package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/stream"
	"baoco/web/api"
	"baoco/web/webtest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

// rawOpenAPI is the document as it stands.
func rawOpenAPI(t *testing.T) map[string]any {
	t.Helper()
	var raw map[string]any
	apptest.Must(t, json.Unmarshal(api.OpenAPIJSON("1.2.3"), &raw))
	return raw
}

var update = flag.Bool("update", false, "write openapi.json anew")

// openapi.json says what openapi.yaml says, in the same order. One member is one line,
// so that changes of two people can be merged.
func TestOpenAPIJSON(t *testing.T) {
	source, err := os.ReadFile("openapi.yaml")
	apptest.Must(t, err)
	var document yaml.Node
	apptest.Must(t, yaml.Unmarshal(source, &document))
	var want bytes.Buffer
	apptest.Must(t, json.Indent(&want, appendYAML(nil, document.Content[0]), "", ""))
	want.WriteByte('\n')
	if *update {
		apptest.Must(t, os.WriteFile("openapi.json", want.Bytes(), 0o644))
	}
	if got, err := os.ReadFile("openapi.json"); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Error("openapi.json isn't made of this openapi.yaml: go test ./web/api -run TestOpenAPIJSON -update writes it", err)
	}
}

// appendYAML writes a node as JSON. The document has no aliases, and its
// numbers are written as in JSON.
func appendYAML(b []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b = app.AppendJSONString(b, n.Content[i].Value)
			b = append(b, ':')
			b = appendYAML(b, n.Content[i+1])
		}
		return append(b, '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendYAML(b, item)
		}
		return append(b, ']')
	}
	if n.ShortTag() == "!!str" {
		return app.AppendJSONString(b, n.Value)
	}
	return append(b, n.Value...)
}

func TestOpenAPIIsValid(t *testing.T) {
	for _, text := range [][]byte{api.OpenAPI(`1.2.3 "beta"`), api.OpenAPIJSON(`1.2.3 "beta"`)} {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		apptest.Must(t, err)
		if err := doc.Validate(context.Background()); err != nil {
			t.Error(err)
		}
		if doc.Info.Version != `1.2.3 "beta"` {
			t.Errorf("version %q", doc.Info.Version)
		}
	}
	c, err := webtest.TheContract()
	apptest.Must(t, err)
	if err := c.Doc.Validate(context.Background()); err != nil {
		t.Error("an example has a member that is not described:", err)
	}
}

// TestOpenAPINeedsAllItHas finds components that nothing refers to.
func TestOpenAPINeedsAllItHas(t *testing.T) {
	raw := rawOpenAPI(t)
	text := string(api.OpenAPIJSON("test"))
	for kind, components := range raw["components"].(map[string]any) {
		for name := range maps.Keys(components.(map[string]any)) {
			used := strings.Contains(text, `"#/components/`+kind+`/`+name+`"`)
			if kind == "securitySchemes" {
				used = strings.Contains(text, `"`+name+`": [`)
			}
			if !used && name != "MethodNotAllowed" { // which is any address's
				t.Errorf("nothing refers to %s/%s", kind, name)
			}
		}
	}
}

// The table of the formats has a row for every kind of source.
func TestOpenAPINamesKinds(t *testing.T) {
	t.Parallel()
	document := string(api.OpenAPI("1.2.3"))
	for _, kind := range provider.Kinds {
		if !strings.Contains(document, "        | `"+string(kind.Provider)+"` | ") {
			t.Errorf("the table of callSource in openapi.yaml has no row for %s", kind.Provider)
		}
	}
}

// TestOpenAPIForStrictReaders holds the YAML to what strict readers ask beyond
// the one that the other tests use: every line of a braced value is indented
// deeper than the key that it belongs to. Generators of clients put the
// components of all kinds into one set of names.
func TestOpenAPIForStrictReaders(t *testing.T) {
	quoted := regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"| #.*$`)
	open, key := 0, 0
	for i, line := range strings.Split(string(api.OpenAPI("1.2.3")), "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if open == 0 {
			key = indent
		} else if indent <= key {
			t.Errorf("line %d is indented by %d, its key by %d: %s", i+1, indent, key, line)
		}
		bare := quoted.ReplaceAllString(line, "")
		if open > 0 || strings.HasSuffix(bare, "{") || strings.HasSuffix(bare, "[") {
			open += strings.Count(bare, "{") + strings.Count(bare, "[") - strings.Count(bare, "}") - strings.Count(bare, "]")
		}
	}
	if open != 0 {
		t.Errorf("%d brackets are open at the end", open)
	}
	kindOf := map[string]string{}
	for kind, components := range rawOpenAPI(t)["components"].(map[string]any) {
		for name := range components.(map[string]any) {
			if kindOf[name] != "" {
				t.Errorf("%s is of %s and of %s", name, kindOf[name], kind)
			}
			kindOf[name] = kind
		}
	}
}

// TestOpenAPIForGenerators holds the document to what oapi-codegen takes: a value has one
// type, besides null; the name that it makes for a list of values inside a schema is no
// other schema's; and what only the webhooks need is written there.
func TestOpenAPIForGenerators(t *testing.T) {
	raw := rawOpenAPI(t)
	schemas := webtest.MemberAt(raw, "components", "schemas").(map[string]any)
	var look func(at string, v any)
	look = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				look(at, item)
			}
		case map[string]any:
			if types, several := v["type"].([]any); several && (len(types) != 2 || types[1] != "null") {
				t.Errorf("%s: the type is %v", at, types)
			}
			for name, member := range v {
				look(at+" "+name, member)
			}
		}
	}
	look("", raw)
	components, err := json.Marshal([]any{raw["paths"], raw["components"]})
	apptest.Must(t, err)
	for name, schema := range schemas {
		properties, _ := webtest.MemberAt(schema, "properties").(map[string]any)
		for property, p := range properties {
			made := name + strings.ToUpper(property[:1]) + property[1:]
			if _, taken := schemas[made]; taken && webtest.MemberAt(p, "$ref") == nil {
				t.Errorf("%s %s would be named %s, as a schema is", name, property, made)
			}
		}
		if !bytes.Contains(components, []byte(`"#/components/schemas/`+name+`"`)) {
			t.Errorf("only a webhook needs %s", name)
		}
	}
}

func TestOpenAPIOfEveryEndpoint(t *testing.T) {
	raw := rawOpenAPI(t)
	n := 0
	for path, item := range raw["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			if !strings.HasPrefix(path, "/api/v1/") || method == "parameters" {
				continue
			}
			n++
			i := slices.IndexFunc(endpoints, func(e endpoint) bool {
				return e.Method == strings.ToUpper(method) && e.Path == strings.Replace(path, "{id}", "*", 1)
			})
			if i < 0 {
				t.Errorf("%s %s is no endpoint", method, path)
				continue
			}
			if limit := webtest.MemberAt(operation, "x-requests-per-minute"); limit != float64(endpoints[i].Limit) {
				t.Errorf("%s %s: %v requests a minute, want %d", method, path, limit, endpoints[i].Limit)
			}
			security := webtest.MemberAt(operation, "security")
			if security == nil {
				security = raw["security"]
			}
			scope := "read"
			if endpoints[i].Writes {
				scope = "full"
			}
			if strings.HasSuffix(path, "/transactions/stream") {
				scope = "listen"
			}
			if want := []any{map[string]any{"apiKey": []any{scope}}}; !cmp.Equal(security, any(want)) {
				t.Errorf("%s %s: security %v, want %v", method, path, security, want)
			}
		}
	}
	if n != len(endpoints) {
		t.Errorf("%d endpoints are described, of %d", n, len(endpoints))
	}
}

// TestOpenAPINumbers compares what the document says with what the code has.
func TestOpenAPINumbers(t *testing.T) {
	raw := rawOpenAPI(t)
	for _, c := range []struct {
		path string
		want float64
	}{
		{"schemas Amount minimum", 1},
		{"schemas Amount maximum", app.MaxAmount},
		{"schemas HistoryRecord properties amount maximum", app.MaxAmount},
		{"schemas TransactionSent properties transferAmount maximum", app.MaxAmount},
		{"schemas HistoryRecord properties attempt maximum", float64(len(delivery.RetrySchedule))},
		{"schemas HistoryRecord properties response_body maxLength", delivery.KeptAnswer},
		{"schemas HistoryRecord properties description maxLength", app.MaxContent},
		{"schemas Transaction properties content maxLength", app.MaxContent},
		{"schemas InboundNamed properties content maxLength", app.MaxContent},
		{"schemas TransactionSent properties content maxLength", app.MaxContent},
		{"schemas SecretRotation properties overlap_hours maximum", delivery.MaxOverlap.Hours()},
		{"parameters ListPerPage schema maximum", app.MaxPageSize},
		{"parameters PerPage schema maximum", app.MaxPageSize},
		{"parameters PerPage schema default", app.DefaultPageSize},
	} {
		if got := webtest.MemberAt(raw["components"], strings.Fields(c.path)...); got != c.want {
			t.Errorf("%s is %v, want %v", c.path, got, c.want)
		}
	}
	events := webtest.MemberAt(raw, "components", "schemas", "InboundEvent", "allOf").([]any)[1]
	if got := webtest.MemberAt(events, "properties", "items", "maxItems"); got != float64(inbound.ShownItems) {
		t.Errorf("an event has at most %v items, want %d", got, inbound.ShownItems)
	}
	text := string(api.OpenAPI("test"))
	for _, sentence := range []string{
		fmt.Sprintf("the account has %d webhooks.", delivery.MaxWebhooks),
		fmt.Sprintf("the account has %d streams.", stream.MaxStreams),
		fmt.Sprintf("with the first %d items that need attention", inbound.ListedItems),
		fmt.Sprintf("need attention first, at most %d,", inbound.ShownItems),
		fmt.Sprintf("The last %d are kept.", inbound.KeptRefusedCalls),
		fmt.Sprintf("safe to repeat for %d hours", int(app.IdempotencyWindow/time.Hour)),
		fmt.Sprintf("received in the last %d hours", int(inbound.RecentlyReceived/time.Hour)),
		fmt.Sprintf("within %d seconds, from the start", int(delivery.AttemptTimeout/time.Second)),
		"again 10 s, 30 s, 1 min, 5 min and 10 min after",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), sentence) {
			t.Errorf("the document does not say %q", sentence)
		}
	}
}

// TestOpenAPIOfDeliveries holds what a shop receives against the document: a
// transaction, a sample, and both during a rotation.
func TestOpenAPIOfDeliveries(t *testing.T) {
	t.Parallel()
	c, err := webtest.TheContract()
	apptest.Must(t, err)
	received := make(chan []string, 10)
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			received <- []string{err.Error()}
			return
		}
		failures := checkDelivery(c.Doc, r.Header, body)
		if got := r.Header.Get("Content-Type"); got != "application/json" || r.ContentLength != int64(len(body)) {
			failures = append(failures, fmt.Sprintf("Content-Type %s, Content-Length %d", got, r.ContentLength))
		}
		received <- failures
	}))
	t.Cleanup(shop.Close)
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	hook, _ := w.Webhook(shop.URL, delivery.WebhookAll)
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	deliver := func(id string) {
		t.Helper()
		w.Do("POST", "/api/v1/transactions", apptest.Quoted(map[string]any{"id": id, "gateway": "ACB", "accountNumber": apptest.SomeAccount,
			"transferType": "OUT", "transferAmount": 1}), key...)
		w.Do("POST", fmt.Sprintf("/api/v1/webhooks/%d/test", hook.ID), "", key...)
		for range 2 {
			select {
			case failures := <-received:
				for _, f := range failures {
					t.Errorf("%s: %s", id, f)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: nothing came", id)
			}
		}
	}
	deliver("one")
	w.Do("POST", fmt.Sprintf("/api/v1/webhooks/%d/rotate-secret", hook.ID), "", key...)
	deliver("during a rotation")
}

// TestOpenAPISignatures verifies the example of a delivery under the secret of
// the example of a webhook, so that a shop can try its own code on them.
func TestOpenAPISignatures(t *testing.T) {
	raw := rawOpenAPI(t)
	secret := webtest.MemberAt(raw, "paths", "/api/v1/webhooks", "post", "responses", "201", "content", "application/json",
		"example", "secret").(string)
	operation := webtest.MemberAt(raw, "webhooks", "transactions", "post")
	headers := map[string]string{}
	for _, p := range webtest.MemberAt(operation, "parameters").([]any) {
		headers[strings.ToLower(webtest.MemberAt(p, "name").(string))] = webtest.MemberAt(p, "example").(string)
	}
	seconds, err := strconv.ParseInt(headers["webhook-timestamp"], 10, 64)
	apptest.Must(t, err)
	at := time.Unix(seconds, 0)
	o := delivery.Outgoing{
		Delivery: delivery.Delivery{ID: 1, CreatedAt: at}, Secrets: delivery.Secrets{Current: secret},
		Payload: delivery.Payload{
			ID: "1", Gateway: "ACB", TransactionDate: "2026-03-01 08:30:00", TransactionNumber: "FT24061", AccountNumber: "0123456789",
			Content: "Đơn hàng DH102", TransferType: app.In, TransferAmount: 150000,
		},
	}
	request := o.Request(delivery.UserAgent("1.2.3"), at)
	for _, h := range request.Headers {
		if got, described := headers[strings.ToLower(h.Name)]; described && got != h.Value {
			t.Errorf("the example of %s is %s, want %s", h.Name, got, h.Value)
		}
	}
	var want any
	apptest.Must(t, json.Unmarshal(request.Body, &want))
	example := webtest.MemberAt(operation, "requestBody", "content", "application/json", "example")
	if diff := cmp.Diff(want, example); diff != "" {
		t.Errorf("the body (-) and its example (+) differ:\n%s", diff)
	}
}

// checkDelivery gives what of a request to a shop is not as the document has
// it.
func checkDelivery(doc *openapi3.T, header http.Header, body []byte) []string {
	operation := doc.Webhooks["transactions"].Post
	var failures []string
	for _, p := range operation.Parameters {
		value := header.Get(p.Value.Name)
		if err := p.Value.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			failures = append(failures, fmt.Sprintf("header %s: %v", p.Value.Name, err))
		}
	}
	var v any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&v); err != nil {
		return append(failures, err.Error())
	}
	schema := operation.RequestBody.Value.Content["application/json"].Schema.Value
	if err := schema.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
		failures = append(failures, fmt.Sprintf("body: %v", err))
	}
	return failures
}
