package acceptance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Bounds of what a reader of a package can hold. app is what every room says: its number
// only goes down.
const (
	mostNames   = 150
	mostOfApp   = 300
	mostMethods = 40
	mostFiles   = 15 // of a circle
)

// TestFaces: no package exports more names, and no interface has more methods, those that it
// embeds from its package included, than a reader can hold.
func TestFaces(t *testing.T) {
	seen := 0
	eachRoom(t, func(dir, path string) {
		names, interfaces := 0, map[string]*ast.InterfaceType{}
		for _, file := range goFiles(t, token.NewFileSet(), path) {
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

// wholes are the packages of one subject, whose files may all use each other.
var wholes = []string{"sqlitestore"}

// TestCircles: no more files of a package use names of each other in a circle than a reader can
// hold, since such files are understood only together. Methods and fields don't count.
func TestCircles(t *testing.T) {
	seen := 0
	eachRoom(t, func(dir, path string) {
		uses := fileUses(t, path)
		seen += len(uses)
		circle := largestCircle(uses)
		switch large := len(circle) > mostFiles; {
		case large && !slices.Contains(wholes, dir):
			t.Errorf("%s has a circle of %d files, more than %d: %s", dir, len(circle), mostFiles, strings.Join(circle, " "))
		case !large && slices.Contains(wholes, dir):
			t.Errorf("%s has no circle of more than %d files any more: it is none of wholes", dir, mostFiles)
		}
	})
	if seen < 300 {
		t.Errorf("only %d files that use others were found", seen)
	}
}

// fileUses says of which other files of a package each of its files uses a name of the package.
func fileUses(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	files, info := token.NewFileSet(), types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: emptyPackages{}, Error: func(error) {}} // of what the empty packages lack
	pkg, _ := config.Check(dir, files, goFiles(t, files, dir), &info)
	uses := map[string]map[string]bool{}
	for name, object := range info.Uses {
		from, to := filepath.Base(files.Position(name.Pos()).Filename), filepath.Base(files.Position(object.Pos()).Filename)
		if object.Parent() != pkg.Scope() || from == to {
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][to] = true
	}
	return uses
}

// emptyPackages imports packages without their names.
type emptyPackages struct{}

func (emptyPackages) Import(path string) (*types.Package, error) {
	pkg := types.NewPackage(path, filepath.Base(path))
	pkg.MarkComplete()
	return pkg, nil
}

// largestCircle is the largest group of files each of which uses all others, through others too.
func largestCircle(uses map[string]map[string]bool) (largest []string) {
	reached := map[string]map[string]bool{}
	for from := range uses {
		reached[from] = map[string]bool{}
		var reach func(file string)
		reach = func(file string) {
			for to := range uses[file] {
				if !reached[from][to] {
					reached[from][to] = true
					reach(to)
				}
			}
		}
		reach(from)
	}
	for from := range reached {
		var circle []string
		for to := range reached[from] {
			if reached[to][from] {
				circle = append(circle, to)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	slices.Sort(largest)
	return largest
}

// goFiles are the files of a package, without its tests.
func goFiles(t *testing.T, files *token.FileSet, dir string) (parsed []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		must(t, err)
		parsed = append(parsed, file)
	}
	return parsed
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
