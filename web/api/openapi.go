package api

import (
	_ "embed"
	"strings"

	"baoco/app"
	"baoco/app/provider"
)

// The description of the management API and of the other addresses for programs. Tests check
// every answer against it. "go test ./web/api -run TestOpenAPIJSON -update" makes the JSON of
// the YAML.
var (
	//go:embed openapi.yaml
	openAPI string
	//go:embed openapi.json
	openAPIJSON string
)

// OpenAPI is the description of the HTTP interface of a version, with all kinds of sources: an
// OpenAPI 3.1 document in YAML.
func OpenAPI(version string) []byte { return filled(openAPI, version) }

// OpenAPIJSON is the document of OpenAPI in JSON, with its members in the same
// order.
func OpenAPIJSON(version string) []byte { return filled(openAPIJSON, version) }

// filled puts JSON strings, which are also valid YAML, into the document.
func filled(document, version string) []byte {
	var kinds []string
	for _, kind := range provider.Kinds {
		kinds = append(kinds, `"`+string(kind.Provider)+`"`)
	}
	line := app.AppendJSONString(nil, version)
	return []byte(strings.NewReplacer(`"the version of baoco"`, string(line), `"every kind of source"`,
		strings.Join(kinds, ", ")).Replace(document))
}
