package statement_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/statement"
)

// bigCSV and bigBook are files of n transactions, of 1, 2, 3 … VND; the texts
// of the book are shared.
func bigCSV(n int) string {
	var b strings.Builder
	b.WriteString("Ngày hạch toán,Ngày giao dịch,Phát sinh nợ,Phát sinh có,Số dư,Nội dung\n")
	for i := range n {
		fmt.Fprintf(&b, "01/11/2026,01/11/2026 10:11:12,,%d,%d,%s\n", i+1, (i+1)*(i+2)/2, content(i))
	}
	return b.String()
}

func bigBook(n int) map[string]string {
	var rows, shared strings.Builder
	shared.WriteString("<sst>")
	for i := range n {
		fmt.Fprintf(&rows, `<row><c><v>46327</v></c><c t="s"><v>%d</v></c><c><v>%d</v></c></row>`, i, i+1)
		fmt.Fprintf(&shared, `<si><t>%s</t></si>`, content(i))
	}
	shared.WriteString("</sst>")
	p := parts(headerRow + rows.String())
	p["xl/sharedStrings.xml"] = shared.String()
	return p
}

func content(i int) string {
	return fmt.Sprintf("NGUYEN VAN A chuyen tien DH%d mua hang tai cua hang %s", i, strings.Repeat("x", 1+i%500))
}

// TestSize: a file costs little memory however long it is, nothing of it is
// left in the directory for temporary files, and every row is right.
func TestSize(t *testing.T) {
	const n = 30_000 // more text than is held in memory
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, path := range map[string]string{"CSV": write(t, bigCSV(n)), "XLSX": write(t, zipped(t, bigBook(n)))} {
		before := heap()
		r, err := statement.Open(path, statement.Options{Zone: zone})
		must(t, err)
		for i := range n {
			row, err := r.Next()
			must(t, err)
			if row.Fault != nil || row.Amount != int64(i+1) || row.Type != app.In || row.Content != content(i) {
				t.Fatalf("%s: row %d is %+v", name, i, row)
			}
			if i%(n/4) == n/8 {
				if grown := heap() - before; grown > 24<<20 {
					t.Errorf("%s: %d MB of memory in row %d", name, grown>>20, i)
				}
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(temporary); err != nil || runtime.GOOS == "linux" && len(left) != 0 {
			t.Errorf("%s: left while it is read: %v, %v", name, left, err)
		}
		must(t, r.Close())
	}
	t.Setenv("TMPDIR", temporary+"/none")
	if _, err := tryRows(t, write(t, zipped(t, bigBook(n))), statement.Options{Zone: zone}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without room for the texts: %v", err)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkCSV(b *testing.B)  { benchmark(b, bigCSV(100_000)) }
func BenchmarkXLSX(b *testing.B) { benchmark(b, zipped(b, bigBook(100_000))) }

func benchmark(b *testing.B, file string) {
	path := write(b, file)
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		rows += len(readRows(b, path, statement.Options{Zone: zone}))
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
