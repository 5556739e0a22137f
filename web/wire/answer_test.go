package wire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"testing"

	"baoco/app"
	"baoco/web/wire"
)

// Every code of package app has a status of its own in HTTP: only an internal
// error is a 500.
func TestEveryCodeHasAStatus(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../app/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, named := spec.Type.(*ast.Ident); !named || typ.Name != "Code" {
			return true
		}
		for _, value := range spec.Values {
			code, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes++
			if status := wire.StatusOf(app.Code(code)); (status == http.StatusInternalServerError) != (app.Code(code) == app.CodeInternal) {
				t.Errorf("%s is %d", code, status)
			}
		}
		return true
	})
	if codes < 18 {
		t.Errorf("found %d codes", codes)
	}
}
