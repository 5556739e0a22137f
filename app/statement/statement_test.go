package statement_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"baoco/app/apptest"
	"baoco/app/statement"
)

var update = flag.Bool("update", false, "write the golden files of testdata/statement anew")

var must = apptest.Must

// zone is that of Vietnam.
var zone = time.FixedZone("", 7*60*60)

const samples = "../../testdata/statement"

// TestSamples reads the statements of testdata/statement: as they are, made
// into workbooks, and changed in the ways in which files differ that say the
// same.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples, "*.csv"))
	must(t, err)
	if len(files) < 10 {
		t.Fatalf("only %d samples", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".csv"), func(t *testing.T) {
			content := readFile(t, file)
			golden := strings.TrimSuffix(file, ".csv") + ".golden"
			got := read(t, file, statement.Options{Zone: zone})
			if *update {
				writeFile(t, golden, got)
			}
			want := readFile(t, golden)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for name, change := range changes {
				t.Run(name, func(t *testing.T) {
					got := read(t, write(t, change(content)), statement.Options{Zone: zone})
					if diff := cmp.Diff(norm.NFC.String(want), norm.NFC.String(got)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// changes leave what a file says as it is.
var changes = map[string]func(string) string{
	"decomposed":   func(s string) string { return norm.NFD.String(s) },
	"windows ends": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"byte order":   func(s string) string { return "\uFEFF" + s },
	"utf-16":       func(s string) string { return utf16Bytes(s, false) },
	"utf-16 big":   func(s string) string { return utf16Bytes(s, true) },
	"nul bytes":    func(s string) string { return strings.ReplaceAll(s, "0", "0\x00") },
	"no end":       func(s string) string { return strings.TrimRight(s, "\n") },
}

// read gives what a file is read as, a line a row.
func read(t testing.TB, path string, o statement.Options) string {
	t.Helper()
	r, err := statement.Open(t.Context(), path, o)
	must(t, err)
	defer r.Close()
	var b strings.Builder
	l := r.Layout()
	fmt.Fprintf(&b, "bank %q account %q\n", l.Bank, l.AccountNumber)
	for i, f := range l.Columns {
		if f != "" {
			fmt.Fprintf(&b, "  %d %s\n", i+1, f)
		}
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			for _, s := range r.Skipped() {
				fmt.Fprintf(&b, "skipped %d from line %d: %s\n", s.Lines, s.First, s.Reason.EN)
			}
			return b.String()
		}
		must(t, err)
		b.WriteString(format(row))
	}
}

func format(row statement.Row) string {
	at := "-"
	if !row.Time.IsZero() {
		at = row.Time.In(zone).Format("2006-01-02 15:04:05")
	}
	s := fmt.Sprintf("%d | %s | %s %d | %s %s | %s | %q", row.Line, at, row.Type, row.Amount, row.Gateway, row.AccountNumber,
		row.Number, row.Content)
	if row.EventID != "" {
		s += " id " + row.EventID
	}
	if row.Fault != nil {
		s += "\n  ! " + row.Fault.Field + " " + row.Fault.Text.EN
	}
	return s + "\n"
}

func write(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "statement")
	writeFile(t, path, content)
	return path
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func utf16Bytes(s string, big bool) string {
	var order binary.AppendByteOrder = binary.LittleEndian
	if big {
		order = binary.BigEndian
	}
	var b []byte
	for _, unit := range utf16.Encode([]rune("\uFEFF" + s)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}
