package dashboard_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

	"baoco/app/apptest"
)

// The compiler doesn't look into templates: a field that was renamed is noticed
// only when somebody reaches its branch. TestTemplates holds both ways of every
// branch against the types of what the handlers show. A template that nothing
// shows is a mistake too.
func TestTemplates(t *testing.T) {
	t.Parallel()
	c := &templateCheck{TB: t, trees: map[string]*parse.Tree{}, seen: map[string]bool{}, funcs: map[string]ast.Expr{}}
	paths, err := filepath.Glob("templates/*/*.html")
	apptest.Must(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		apptest.Must(t, err)
		tree := parse.New(path)
		tree.Mode = parse.SkipFuncCheck
		_, err = tree.Parse(string(text), "", "", c.trees)
		apptest.Must(t, err)
		delete(c.trees, path) // what stands between the definitions
	}
	for _, d := range c.readCode() {
		c.shown(d)
	}
	for name := range c.trees {
		if !c.seen[name] {
			t.Errorf("nothing shows the template %q", name)
		}
	}
}

// value is the type of a value in a template.
type value struct {
	types.Type  // nil: something was wrong, and was said
	literal     string
	addressable bool                 // methods of its pointer may be called
	within      map[*types.Var]value // what is in its fields of type any
}

type templateCheck struct {
	testing.TB
	trees map[string]*parse.Tree
	seen  map[string]bool // templates, and templates with the type of their dot
	pkg   *types.Package
	info  types.Info
	funcs map[string]ast.Expr // of templateFuncs
}

// readCode reads the code of the package with its types.
func (c *templateCheck) readCode() (functions []*ast.FuncDecl) {
	list, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", ".").Output()
	apptest.Must(c, err)
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	fset := token.NewFileSet()
	house, err := build.ImportDir(".", 0)
	apptest.Must(c, err)
	var files []*ast.File
	for _, name := range house.GoFiles {
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		apptest.Must(c, err)
		files = append(files, file)
	}
	c.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	c.pkg, err = config.Check(house.Name, fset, files, &c.info)
	apptest.Must(c, err)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				functions = append(functions, n)
			case *ast.KeyValueExpr: // of templateFuncs, or an entry that no template names
				if name := c.constant(n.Key); name != "" {
					c.funcs[name] = n.Value
				}
			}
			return true
		})
	}
	return functions
}

// constant is the text that an expression is; empty where it is none.
func (c *templateCheck) constant(e ast.Expr) string {
	if of := c.info.Types[e].Value; of != nil && of.Kind() == constant.String {
		return constant.StringVal(of)
	}
	return ""
}

// shown checks the templates that a function shows.
func (c *templateCheck) shown(f *ast.FuncDecl) {
	shows := []string{"render", "showPart", "layOut", "write", "writeSlip", "part", "ExecuteTemplate"}
	made := map[types.Object]ast.Expr{} // variables, and what they are made of
	ast.Inspect(f, func(n ast.Node) bool {
		if n, ok := n.(*ast.AssignStmt); ok && len(n.Lhs) == 1 {
			if id, ok := n.Lhs[0].(*ast.Ident); ok {
				made[c.info.Defs[id]] = n.Rhs[0]
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 3 {
			return true
		}
		show, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(shows, show.Sel.Name) {
			return true
		}
		name, data := "", c.given(call.Args[len(call.Args)-1], made)
		for _, arg := range slices.Backward(call.Args) {
			if head, ok := arg.(*ast.CompositeLit); ok && c.info.Types[head].Type == c.pkg.Scope().Lookup("pageHead").Type() {
				arg = head.Elts[0]
			}
			if text := c.constant(arg); text != "" {
				name = text // the first
			}
		}
		switch {
		case name == "" && slices.Contains(shows, f.Name.Name): // f has it from its caller
		case name == "":
			c.Errorf("%s shows a template whose name isn't a constant", f.Name.Name)
		case show.Sel.Name == "render":
			c.template("page-"+name, c.viewOf(data))
		case show.Sel.Name == "showPart":
			c.template(name, c.viewOf(data))
		case show.Sel.Name == "layOut":
			c.template("page-"+name, data)
		default:
			c.template(name, data)
		}
		return true
	})
}

// given is the value of an expression in the code. What the method view returns
// has its data within.
func (c *templateCheck) given(e ast.Expr, made map[types.Object]ast.Expr) value {
	if id, ok := e.(*ast.Ident); ok && made[c.info.Uses[id]] != nil {
		e = made[c.info.Uses[id]]
	}
	if call, ok := e.(*ast.CallExpr); ok {
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "view" {
			return c.viewOf(c.given(call.Args[len(call.Args)-1], made))
		}
	}
	return value{Type: c.info.Types[e].Type}
}

func (c *templateCheck) viewOf(data value) value {
	view := c.pkg.Scope().Lookup("view").Type()
	field, _, _ := types.LookupFieldOrMethod(view, false, c.pkg, "Data")
	return value{Type: view, within: map[*types.Var]value{field.(*types.Var): data}}
}

// template checks a template, once for each type of its dot.
func (c *templateCheck) template(name string, dot value) {
	key := fmt.Sprint(name, dot)
	if tree := c.trees[name]; tree == nil {
		c.Errorf("there is no template %q", name)
	} else if !c.seen[key] {
		c.seen[name], c.seen[key] = true, true
		(&templateWalk{c, tree, map[string]value{"$": dot}}).list(tree.Root, dot)
	}
}
