package acceptance_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"
)

var textsFile = flag.String("texts", "", "file that TestTexts writes all texts to: place, English, Vietnamese, separated by tabs")

// pair is one text in both languages, as the source has it. What is put in when
// the program runs is in braces.
type pair struct{ Place, EN, VI string }

// TestTexts finds every text that people see. One that is translated in two ways
// is unexplained unless twoWays says why. No word stands in it that the glossary
// in app/doc.go has settled against.
func TestTexts(t *testing.T) {
	t.Parallel()
	pairs := slices.Concat(goPairs(t), templatePairs(t), tablePairs(t))
	if len(pairs) < 1500 {
		t.Errorf("found only %d texts", len(pairs))
	}
	if *textsFile != "" {
		var table strings.Builder
		for _, p := range pairs {
			fmt.Fprintf(&table, "%s\t%s\t%s\n", p.Place, cell(p.EN), cell(p.VI))
		}
		must(t, os.WriteFile(*textsFile, []byte(table.String()), 0o644))
	}
	for _, p := range pairs {
		wantSettled(t, p.Place, p.VI)
	}
	for _, path := range sources(t, ".md") {
		if strings.Contains(path, "/help/vi/") {
			text, err := os.ReadFile(path)
			must(t, err)
			wantSettled(t, path, string(text))
		}
	}
	twice(t, pairs, func(p pair) (string, string) { return p.EN, p.VI })
	twice(t, pairs, func(p pair) (string, string) { return p.VI, singular(p.EN) })
}

func cell(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// twice finds the texts that are translated in two ways.
func twice(t *testing.T, pairs []pair, from func(pair) (text, translation string)) {
	byText := map[string]map[string]string{} // text, translation, place
	for _, p := range pairs {
		text, translation := from(p)
		if byText[text] == nil {
			byText[text] = map[string]string{}
		}
		byText[text][translation] = p.Place
	}
	for text, translations := range byText {
		if _, explained := twoWays[text]; len(translations) < 2 || explained {
			continue
		}
		for translation, place := range translations {
			t.Errorf("%q is %q in %s", text, translation, place)
		}
	}
}

// singular is a text without the ending of many, which Vietnamese doesn't have.
func singular(text string) string {
	if before, many := strings.CutSuffix(text, "ies"); many {
		return before + "y"
	}
	return strings.TrimSuffix(text, "s")
}

// twoWays are texts that have two translations, and why.
var twoWays = map[string]string{
	"Chưa có":    "Vietnamese has one word for a time that hasn't come and a thing that isn't there",
	"Format":     "of a file, or of the statement of a bank",
	"From":       "days, or hours of silence",
	"To":         "days, or hours of silence",
	"Gửi thử":    "the button, and what it sent",
	"Quay lại":   "from a form, or to the page before",
	"bị lặp lại": "twice, or more often",
	"Thời gian":  "an import knows the columns of an export by their names",
}

// settled are the words that the glossary in app/doc.go was settled against.
var settled = regexp.MustCompile(`(?i:lượt (gửi|gọi|báo)|mục nhận được|gán tài khoản|không thời hạn)|\b[Ss]ecret\b`)

// notOurs are names of others, code, and the word that the first use explains.
var notOurs = regexp.MustCompile("(?i)secret key|rotate-secret|\\(secret\\)|`[^`]*`|(?m)^    .*$")

// wantSettled refuses the old words in a Vietnamese text.
func wantSettled(t *testing.T, place, text string) {
	if old := settled.FindString(notOurs.ReplaceAllString(text, "")); old != "" {
		t.Errorf("%s has %q, for which the glossary in app/doc.go has another word", place, old)
	}
}

// sources are the files of the program whose names end so, in order.
func sources(t *testing.T, ending string) (files []string) {
	must(t, filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ending) && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return nil
	}))
	return files
}

func place(path string, line int) string {
	return fmt.Sprintf("%s:%d", filepath.ToSlash(strings.TrimPrefix(path, "../../")), line)
}

// goPairs are the texts of the Go files: the argument or field named vi, and the
// one before it.
func goPairs(t *testing.T) (pairs []pair) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range sources(t, ".go") {
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		must(t, err)
		files = append(files, file)
	}
	arguments := map[string]int{} // of the function of this name, the number of vi
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if at := vietnamese(f.Type.Params); at > 0 {
					arguments[f.Name.Name] = at
				}
			}
		}
	}
	elided := map[ast.Expr]ast.Expr{} // the types that elements of a list leave out
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			var list []ast.Expr
			at := 0
			switch n := n.(type) {
			case *ast.CallExpr:
				list, at = n.Args, arguments[lastName(n.Fun)]
			case *ast.CompositeLit:
				list = n.Elts
				switch of := cmp.Or(n.Type, elided[n]).(type) {
				case *ast.ArrayType:
					elide(elided, list, of.Elt)
				case *ast.MapType:
					elide(elided, list, of.Value)
				case *ast.StructType:
					at = vietnamese(of.Fields)
				default:
					if lastName(of) == "Text" {
						at = 1
					}
				}
			}
			if at == 0 || len(list) <= at {
				return true
			}
			en, vi := written(list[at-1]), written(list[at])
			if letters.MatchString(inserted.ReplaceAllString(en+vi, "")) {
				where := set.Position(list[at].Pos())
				pairs = append(pairs, pair{place(where.Filename, where.Line), en, vi})
			}
			return true
		})
	}
	return pairs
}

var (
	letters  = regexp.MustCompile(`\pL`)
	inserted = regexp.MustCompile(`\{[^}]*\}`)
)

// vietnamese is the number of the parameter or field named vi; 0 if none is.
func vietnamese(fields *ast.FieldList) (at int) {
	for _, field := range fields.List {
		for _, name := range field.Names {
			if name.Name == "vi" {
				return at
			}
			at++
		}
	}
	return 0
}

func elide(elided map[ast.Expr]ast.Expr, list []ast.Expr, of ast.Expr) {
	for _, e := range list {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		elided[e] = of
	}
}

// lastName is the name of a function or type without that of its package.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// written is a text as it is written, with what is put into it in braces.
func written(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.KeyValueExpr:
		return written(e.Value)
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return written(e.X) + written(e.Y)
	}
	return "{" + types.ExprString(e) + "}"
}

// templatePairs are the texts of the templates: the last two strings of a call
// that has two or more.
func templatePairs(t *testing.T) (pairs []pair) {
	for _, path := range sources(t, ".html") {
		text, err := os.ReadFile(path)
		must(t, err)
		root := parse.New(path)
		root.Mode = parse.SkipFuncCheck
		trees := map[string]*parse.Tree{}
		_, err = root.Parse(string(text), "", "", trees)
		must(t, err)
		for _, tree := range trees {
			eachCommand(tree.Root, func(c *parse.CommandNode) {
				var list []string
				for _, arg := range c.Args {
					if s, ok := arg.(*parse.StringNode); ok {
						list = append(list, s.Text)
					}
				}
				if n := len(list); n >= 2 && !fixed[c.Args[0].String()] {
					line := 1 + strings.Count(string(text[:c.Position()]), "\n")
					pairs = append(pairs, pair{place(path, line), list[n-2], list[n-1]})
				}
			})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.Place, b.Place) })
	return pairs
}

// tablePairs are the texts of the tables whose last columns are en and vi.
func tablePairs(t *testing.T) (pairs []pair) {
	for _, path := range sources(t, ".tsv") {
		text, err := os.ReadFile(path)
		must(t, err)
		for i, row := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			columns := strings.Split(row, "\t")
			last := columns[len(columns)-2:]
			if i == 0 && !slices.Equal(last, []string{"en", "vi"}) {
				break
			}
			pairs = append(pairs, pair{place(path, i+1), last[0], last[1]})
		}
	}
	return pairs
}

// fixed are the functions of templates whose strings aren't texts.
var fixed = map[string]bool{"eq": true, "ne": true, "and": true, "or": true, "printf": true, ".Wrong": true, "$.Wrong": true}

// eachCommand calls found with every command of a template.
func eachCommand(n parse.Node, found func(*parse.CommandNode)) {
	walk := func(nodes ...parse.Node) {
		for _, n := range nodes {
			eachCommand(n, found)
		}
	}
	branch := func(b parse.BranchNode) {
		walk(b.Pipe, b.List)
		if b.ElseList != nil {
			walk(b.ElseList)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		walk(n.Nodes...)
	case *parse.ActionNode:
		walk(n.Pipe)
	case *parse.IfNode:
		branch(n.BranchNode)
	case *parse.RangeNode:
		branch(n.BranchNode)
	case *parse.WithNode:
		branch(n.BranchNode)
	case *parse.TemplateNode:
		walk(n.Pipe)
	case *parse.PipeNode:
		if n == nil {
			return
		}
		for _, c := range n.Cmds {
			found(c)
			walk(c.Args...)
		}
	}
}
