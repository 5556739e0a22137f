package api

import (
	_ "embed"
	"strings"

	"baoco/app"
	"baoco/app/provider"

	"go.yaml.in/yaml/v4"
)

// openAPI is the description of all that is served under /api and beside it
// for machines. Tests hold every answer against it.
//
//go:embed openapi.yaml
var openAPI string

// OpenAPI is the description of the HTTP interface of a version, with the kinds
// of sources that there are: an OpenAPI 3.1 document in YAML.
func OpenAPI(version string) []byte {
	var kinds []string
	for _, kind := range provider.Kinds {
		kinds = append(kinds, string(kind.Provider))
	}
	// A JSON string is one of YAML too.
	line := app.AppendJSONString([]byte("\n  version: "), version)
	return []byte(strings.NewReplacer("\n  version: dev", string(line), "enum: [every kind of source]", "enum: ["+strings.Join(kinds, ", ")+"]").Replace(openAPI))
}

// OpenAPIJSON is the document of OpenAPI in JSON, with its members in the same
// order.
func OpenAPIJSON(version string) []byte {
	var document yaml.Node
	if err := yaml.Unmarshal(OpenAPI(version), &document); err != nil {
		panic(err) // the document is part of the program
	}
	return appendYAML(nil, document.Content[0])
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
