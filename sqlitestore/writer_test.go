package sqlitestore_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"baoco/app"
)

// Many callers share commits; those whose work fails or panics, before or
// after it wrote, or who gave up, get their own error and take nobody with
// them.
func TestGroupCommitKeepsCallersApart(t *testing.T) {
	t.Parallel()
	path := create(t)
	s := open(t, path, true)
	gone, leave := context.WithCancel(t.Context())
	leave()
	mine := errors.New("mine")
	callers := []struct {
		name    string
		ctx     context.Context
		do      func(write func() error) error
		outcome func(error) bool
	}{
		{"succeeds", t.Context(), func(write func() error) error { return write() }, func(err error) bool { return err == nil }},
		{"fails before writing", t.Context(), func(func() error) error { return mine }, func(err error) bool { return errors.Is(err, mine) }},
		{"fails half done", t.Context(), func(write func() error) error { return errors.Join(write(), mine) },
			func(err error) bool { return errors.Is(err, mine) }},
		{"panics half done", t.Context(), func(write func() error) error { panic(write()) },
			func(err error) bool { return err != nil && strings.Contains(err.Error(), "panic") }},
		{"overlooks a failed write", t.Context(), func(write func() error) error { _, _ = write(), write(); return nil },
			func(err error) bool { return err != nil && strings.Contains(err.Error(), "UNIQUE") }},
		{"gave up", gone, func(write func() error) error { return write() }, func(err error) bool { return errors.Is(err, context.Canceled) }},
	}
	var all sync.WaitGroup
	succeeded := 0
	for i := range 2000 {
		c := callers[0] // most succeed, so that the others have company
		if i%17 == 0 {
			c = callers[i/17%len(callers)]
		}
		if c.name == "succeeds" {
			succeeded++
		}
		all.Go(func() {
			err := s.Write(c.ctx, func(exec func(string, ...any) error) error {
				return c.do(func() error { return exec(`INSERT INTO settings (name, value) VALUES (?, ?)`, i, c.name) })
			})
			if !c.outcome(err) {
				t.Errorf("caller %d, who %s: %v", i, c.name, err)
			}
		})
	}
	all.Wait()
	must(t, s.Close())
	left := peek(t, path,
		`SELECT value, count(*) FROM settings WHERE value IN ('succeeds', 'fails before writing', 'fails half done', 'panics half done',
			'overlooks a failed write', 'gave up') GROUP BY value`)
	if len(left) != 1 || left[0][0] != "succeeds" || left[0][1] != int64(succeeded) {
		t.Errorf("the callers left %v, want %d of those who succeed", left, succeeded)
	}
}

// A panic in the writer itself, outside of any caller's work, ends neither the
// process nor a caller's wait: nobody is told that something is on disk, nothing
// more is written, and the process is told to end.
func TestPanicOfTheWriter(t *testing.T) {
	t.Parallel()
	s := open(t, create(t), true)
	if err := s.Watch(t.Context(), func(int64) { panic("the writer's own") }); app.CodeOf(err) != app.CodeUnavailable {
		t.Errorf("whose batch it was is told: %v", err)
	}
	select {
	case err := <-s.Fatal():
		if !strings.Contains(err.Error(), "panic: the writer's own") {
			t.Errorf("the process is told: %v", err)
		}
	default:
		t.Error("the process isn't told")
	}
	if err := s.SetBaseURL(t.Context(), "https://shop.vn"); app.CodeOf(err) != app.CodeUnavailable {
		t.Errorf("the next caller is told: %v", err)
	}
	must(t, s.Close())
}

// A job may leave the error of a write unread, since it fails with it. That holds for nothing
// else that returns an error.
func TestOnlyWritesGoUnread(t *testing.T) {
	t.Parallel()
	writes := []string{"exec", "audit", "auditChange", "auditOften", "notePaymentChange", "noteRemoval", "noteUnsent", "endFeedFailures",
		"keepAlertMessage", "failServed", "setWebhookBankAccounts", "fail"}
	files := token.NewFileSet()
	var all []*ast.File
	names, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(files, name, nil, 0)
			must(t, err)
			all = append(all, f)
		}
	}
	fails := map[string]bool{}
	for _, f := range all {
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || fn.Type.Results == nil {
				continue
			}
			results := fn.Type.Results.List
			if last, is := results[len(results)-1].Type.(*ast.Ident); is && last.Name == "error" {
				fails[fn.Name.Name] = true
			}
		}
	}
	unread := 0
	for _, f := range all {
		ast.Inspect(f, func(n ast.Node) bool {
			statement, is := n.(*ast.ExprStmt)
			if !is {
				return true
			}
			call, is := statement.X.(*ast.CallExpr)
			if !is {
				return true
			}
			isTx := func(e ast.Expr) bool { return slices.Contains([]string{"tx", "t", "r", "r.tx"}, types.ExprString(e)) }
			name, ofJob := "", len(call.Args) > 0 && isTx(call.Args[0])
			switch fn := call.Fun.(type) {
			case *ast.Ident:
				name = fn.Name
			case *ast.SelectorExpr:
				name, ofJob = fn.Sel.Name, ofJob || isTx(fn.X)
			}
			switch {
			case slices.Contains(writes, name):
				unread++
			case ofJob && fails[name]:
				t.Errorf("%s: the error of %s is not read", files.Position(call.Pos()), name)
			}
			return true
		})
	}
	if unread < 100 {
		t.Errorf("found only %d writes whose errors are left unread", unread)
	}
}
