package acceptance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Bounds of what a reader of a package can hold. app is what every room says: its number
// only goes down.
const (
	mostNames   = 150
	mostOfApp   = 300
	mostMethods = 40
)

// TestFaces: no package exports more names, and no interface has more methods, those that it
// embeds from its package included, than a reader can hold.
func TestFaces(t *testing.T) {
	seen := 0
	eachRoom(t, func(dir, path string) {
		names, interfaces := 0, map[string]*ast.InterfaceType{}
		for _, file := range goFiles(t, path) {
			for _, decl := range file.Decls {
				names += exportedNames(decl, interfaces)
			}
		}
		most := mostNames
		if dir == "app" {
			most = mostOfApp
		}
		if names > most {
			t.Errorf("%s exports %d names, more than %d", dir, names, most)
		}
		for name := range interfaces {
			seen++
			if n := methods(interfaces, name); n > mostMethods {
				t.Errorf("%s.%s has %d methods, more than %d", dir, name, n, mostMethods)
			}
		}
	})
	if seen < 20 {
		t.Errorf("only %d interfaces were found", seen)
	}
}

// goFiles are the files of a package, without its tests.
func goFiles(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		must(t, err)
		files = append(files, file)
	}
	return files
}

// exportedNames counts those of a declaration, and adds its interfaces.
func exportedNames(decl ast.Decl, interfaces map[string]*ast.InterfaceType) (n int) {
	count := func(name *ast.Ident) {
		if name.IsExported() {
			n++
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			count(decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				count(spec.Name)
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					interfaces[spec.Name.Name] = i
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					count(name)
				}
			}
		}
	}
	return n
}

// methods counts those of an interface.
func methods(interfaces map[string]*ast.InterfaceType, name string) (n int) {
	if interfaces[name] == nil {
		return 0 // of another package
	}
	for _, field := range interfaces[name].Methods.List {
		n += len(field.Names)
		if embedded, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 {
			n += methods(interfaces, embedded.Name)
		}
	}
	return n
}
