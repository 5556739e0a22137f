package web_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"baoco/web"

	"github.com/getkin/kin-openapi/openapi3"
)

// rawOpenAPI is the document as it stands.
func rawOpenAPI(t *testing.T) map[string]any {
	t.Helper()
	var raw map[string]any
	must(t, json.Unmarshal(web.OpenAPIJSON("1.2.3"), &raw))
	return raw
}

func TestOpenAPIIsValid(t *testing.T) {
	for _, text := range [][]byte{web.OpenAPI(`1.2.3 "beta"`), web.OpenAPIJSON(`1.2.3 "beta"`)} {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		must(t, err)
		if err := doc.Validate(context.Background()); err != nil {
			t.Error(err)
		}
		if doc.Info.Version != `1.2.3 "beta"` {
			t.Errorf("version %q", doc.Info.Version)
		}
	}
	c, err := theContract()
	must(t, err)
	if err := c.doc.Validate(context.Background()); err != nil {
		t.Error("an example has a member that is not described:", err)
	}
}

// TestOpenAPINeedsAllItHas finds components that nothing refers to.
func TestOpenAPINeedsAllItHas(t *testing.T) {
	raw := rawOpenAPI(t)
	text := string(web.OpenAPIJSON("test"))
	for kind, components := range raw["components"].(map[string]any) {
		for name := range maps.Keys(components.(map[string]any)) {
			used := strings.Contains(text, `"#/components/`+kind+`/`+name+`"`)
			if kind == "securitySchemes" {
				used = strings.Contains(text, `{"`+name+`":`) || strings.Contains(text, `,"`+name+`":[`)
			}
			if !used && name != "MethodNotAllowed" { // which is any address's
				t.Errorf("nothing refers to %s/%s", kind, name)
			}
		}
	}
}
