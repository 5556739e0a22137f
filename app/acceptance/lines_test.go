package acceptance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// longest is how many characters a line of Go has at most.
const longest = 140

// TestLines: no line is longer than what is read at one look.
func TestLines(t *testing.T) {
	seen := 0
	eachRoom(t, func(_, path string) {
		paths, err := filepath.Glob(filepath.Join(path, "*.go"))
		must(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			must(t, err)
			for i, line := range strings.Split(string(text), "\n") {
				if n := utf8.RuneCountInString(line); n > longest {
					t.Errorf("%s:%d: %d characters, more than %d", path, i+1, n, longest)
				}
				seen++
			}
		}
	})
	if seen < 100_000 {
		t.Errorf("only %d lines were found", seen)
	}
}

// mostParameters is how many parameters a function takes at most, its context included.
const mostParameters = 5

// TestParameters: no function, literal or method of an interface takes more, in tests neither:
// what a reader would have to count is a struct.
func TestParameters(t *testing.T) {
	seen := 0
	eachFile(t, func(path string, file *ast.File, at func(ast.Node) int) {
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.FuncType)
			if !ok {
				return true
			}
			seen++
			if n := f.Params.NumFields(); n > mostParameters {
				t.Errorf("%s:%d: %d parameters, more than %d", path, at(f), n, mostParameters)
			}
			return true
		})
	})
	if seen < 5000 {
		t.Errorf("only %d functions were found", seen)
	}
}

// goFile is a name of a Go file in a text.
var goFile = regexp.MustCompile(`[\w/]*\w\.go\b`)

// TestNamedFiles: every Go file that a comment, README.md or CONTRIBUTING.md names is one of the house.
func TestNamedFiles(t *testing.T) {
	named, known := map[string]string{}, map[string]bool{}
	eachFile(t, func(path string, file *ast.File, at func(ast.Node) int) {
		known[filepath.Base(path)] = true
		for _, group := range file.Comments {
			for _, name := range goFile.FindAllString(group.Text(), -1) {
				named[name] = path
			}
		}
	})
	for _, file := range []string{"README.md", ".github/CONTRIBUTING.md"} {
		text, err := os.ReadFile("../../" + file)
		must(t, err)
		for _, name := range goFile.FindAllString(string(text), -1) {
			named[name] = file
		}
	}
	for name, path := range named {
		if strings.HasPrefix(name, "testdata/") {
			_, err := os.Stat("../../" + name)
			known[filepath.Base(name)] = err == nil
		}
		if !known[filepath.Base(name)] {
			t.Errorf("%s names %s, which is no file of the house", path, name)
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d names of files were found", len(named))
	}
}

// A stranger reads each of them within five minutes.
func TestReadmesAreShort(t *testing.T) {
	for _, file := range []string{"README.md", ".github/README.vi.md"} {
		text, err := os.ReadFile("../../" + file)
		must(t, err)
		if n := len(strings.Fields(string(text))); n > 900 {
			t.Errorf("%s has %d words, more than 900", file, n)
		}
	}
}

// eachFile calls fn with every Go file of the house, tests included; at gives the line of a node.
func eachFile(t *testing.T, fn func(path string, file *ast.File, at func(ast.Node) int)) {
	t.Helper()
	eachRoom(t, func(dir, path string) {
		paths, err := filepath.Glob(filepath.Join(path, "*.go"))
		must(t, err)
		for _, path := range paths {
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			must(t, err)
			fn(path, file, func(n ast.Node) int { return files.Position(n.Pos()).Line })
		}
	})
}
