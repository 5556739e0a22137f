package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"
)

// cancelling is an output that interrupts the command with its first write.
type cancelling struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (w *cancelling) Write(p []byte) (int, error) {
	w.cancel()
	return w.Buffer.Write(p)
}

// Interrupted, export says that the output isn't complete, and import what is
// recorded.
func TestInterrupted(t *testing.T) {
	db := apptest.NewFile(t)
	t.Setenv("BAOCO_DB", db)
	if code, _, stderr := baoco("", "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A"); code != 0 {
		t.Fatal(stderr)
	}
	var statement strings.Builder
	statement.WriteString("Date,Reference,Credit,Description\n")
	for i := range 3000 {
		fmt.Fprintf(&statement, "01/11/2026 10:00:00,FT%06d,1000,%s\n", i, strings.Repeat("x", 100))
	}
	path := filepath.Join(t.TempDir(), "statement.csv")
	must(t, os.WriteFile(path, []byte(statement.String()), 0o600))
	if code, _, stderr := baoco("", "transaction", "import", path); code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	ctx, cancel := context.WithCancel(context.Background())
	out := &cancelling{cancel: cancel}
	var stderr strings.Builder
	code := Run(ctx, []string{"baoco", "transaction", "export"}, nil, out, &stderr)
	if code != terminal.ExitError || stderr.String() != "baoco: interrupted; what was written is not complete\n" || out.Len() == 0 {
		t.Errorf("export: exit %d, %d bytes, %s", code, out.Len(), &stderr)
	}

	// Another process keeps the writer from prune and import until they are
	// interrupted.
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
	must(t, err)
	must(t, store.Close())
	for _, args := range [][]string{{"prune", "--keep-inbound", "1h", "--keep-history", "1h"}, {"transaction", "import", path}} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		stderr.Reset()
		if code := Run(ctx, append([]string{"baoco"}, args...), nil, io.Discard, &stderr); code != terminal.ExitError ||
			!strings.HasPrefix(stderr.String(), "baoco: interrupted") {
			t.Errorf("%v: exit %d, %s", args, code, &stderr)
		}
	}
}

// A file that could not be written to its end leaves nothing behind, and what
// stood there stays.
func TestExportFileThatFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	must(t, os.WriteFile(path, []byte("before"), 0o600))
	_, err := exportFile(path, func(w io.Writer) (int, error) {
		_, _ = io.WriteString(w, "half")
		return 1, context.Canceled
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if kept, err := os.ReadFile(path); err != nil || string(kept) != "before" || len(entries) != 1 {
		t.Errorf("%q, %v, %v", kept, err, entries)
	}
}

// The language of the installation is that of alerts where none was chosen.
func TestServeLang(t *testing.T) {
	db := apptest.NewFile(t)
	t.Setenv("BAOCO_DB", db)
	for _, c := range []struct {
		lang app.Lang
		want string
	}{{"", "vi"}, {app.English, "en"}, {app.Vietnamese, "vi"}} {
		store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
		must(t, err)
		must(t, serve.SaveSettings(context.Background(), store, serve.Settings{Lang: c.lang}))
		must(t, store.Close())
		if _, stdout, stderr := baoco("", "alert", "list"); !strings.Contains(stdout, "Language: "+c.want+".") {
			t.Errorf("serve --lang %q: %s%s", c.lang, stdout, stderr)
		}
	}
	if code, _, stderr := baoco("", "alert", "set", "--lang", "vi"); code != 0 {
		t.Fatal(stderr)
	}
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
	must(t, err)
	must(t, serve.SaveSettings(context.Background(), store, serve.Settings{Lang: app.English}))
	must(t, store.Close())
	if _, stdout, _ := baoco("", "alert", "list"); !strings.Contains(stdout, "Language: vi.") {
		t.Errorf("the language that was chosen is gone: %s", stdout)
	}
}
