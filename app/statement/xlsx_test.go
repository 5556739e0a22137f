package statement_test

import (
	"encoding/csv"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"baoco/app/statement"
)

// TestWorkbooks reads the banks' statements as workbooks that another library
// wrote: they say what the text files say.
func TestWorkbooks(t *testing.T) {
	for _, bank := range []string{"acb", "bidv", "bidv_reference", "ctg", "mbb", "tcb", "vcb", "vcb_accounts", "signed"} {
		t.Run(bank, func(t *testing.T) {
			file := filepath.Join(samples, bank+".csv")
			lines := cellsOf(t, file)
			want := withoutLines(read(t, file, statement.Options{Zone: zone}))
			for name, make := range map[string]func(*testing.T, [][]string) string{"text": textBook, "typed": typedBook,
				"stream": streamBook, "1904": book1904} {
				t.Run(name, func(t *testing.T) {
					got := withoutLines(read(t, make(t, lines), statement.Options{Zone: zone}))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

func cellsOf(t *testing.T, file string) [][]string {
	t.Helper()
	content := readFile(t, file)
	r := csv.NewReader(strings.NewReader(content))
	if strings.Contains(content, "|") {
		r.Comma = '|'
	}
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	must(t, err)
	return lines
}

// withoutLines cuts the numbers of lines: a line of a text file may be several
// of the file.
func withoutLines(s string) string {
	return regexp.MustCompile(`(?m)^\d+ \||from line \d+`).ReplaceAllString(s, "")
}

// textBook has every cell as a shared text, some of them in several fonts, the
// title above merged cells, and a sheet without a table before it.
func textBook(t *testing.T, lines [][]string) string {
	f := excelize.NewFile()
	must(t, f.SetCellValue("Sheet1", "A1", "Hướng dẫn"))
	_, err := f.NewSheet("Sao kê")
	must(t, err)
	for y, cells := range lines {
		for x, text := range cells {
			at, err := excelize.CoordinatesToCellName(x+1, y+1)
			must(t, err)
			if text == "" {
				continue
			}
			if begin, rest, ok := strings.Cut(text, " "); ok {
				must(t, f.SetCellRichText("Sao kê", at, []excelize.RichTextRun{{Text: begin, Font: &excelize.Font{Bold: true}}, {Text: " " + rest}}))
			} else {
				must(t, f.SetCellStr("Sao kê", at, text))
			}
		}
	}
	if lines[0][1] == "" {
		must(t, f.MergeCell("Sao kê", "A1", "D1"))
	}
	return saved(t, f)
}

// typedBook has amounts and dates as numbers, as banks' own files do.
func typedBook(t *testing.T, lines [][]string) string {
	return typed(t, excelize.NewFile(), lines)
}

// book1904 counts its days from 1904.
func book1904(t *testing.T, lines [][]string) string {
	f, yes := excelize.NewFile(), true
	must(t, f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &yes}))
	return typed(t, f, lines)
}

func typed(t *testing.T, f *excelize.File, lines [][]string) string {
	for y, cells := range lines {
		for x, text := range cells {
			at, err := excelize.CoordinatesToCellName(x+1, y+1)
			must(t, err)
			if value := typedValue(text); value != nil {
				must(t, f.SetCellValue("Sheet1", at, value))
			}
		}
	}
	return saved(t, f)
}

var (
	grouped = regexp.MustCompile(`^-?[0-9]{1,3}([.,][0-9]{3})+([.,]00)?$`)
	small   = regexp.MustCompile(`^-?[1-9][0-9]{0,4}$`)
	dated   = regexp.MustCompile(`^\d\d/\d\d/\d{4}( \d\d:\d\d(:\d\d)?)?$`)
)

func typedValue(text string) any {
	switch {
	case text == "":
		return nil
	case grouped.MatchString(text), small.MatchString(text):
		if len(text) > 3 && (strings.HasSuffix(text, ",00") || strings.HasSuffix(text, ".00")) {
			text = text[:len(text)-3]
		}
		n, _ := strconv.Atoi(strings.NewReplacer(".", "", ",", "").Replace(text))
		return n
	case dated.MatchString(text):
		at, _ := time.Parse("02/01/2006 15:04:05"[:len(text)], text)
		return at
	}
	return text
}

// streamBook is written as large files are: texts in the cells themselves.
func streamBook(t *testing.T, lines [][]string) string {
	f := excelize.NewFile()
	w, err := f.NewStreamWriter("Sheet1")
	must(t, err)
	for y, cells := range lines {
		row := make([]any, len(cells))
		for x := range cells {
			row[x] = typedValue(cells[x])
			if _, isTime := row[x].(time.Time); isTime {
				row[x] = cells[x]
			}
		}
		must(t, w.SetRow("A"+strconv.Itoa(y+1), row))
	}
	must(t, w.Flush())
	return saved(t, f)
}

func saved(t *testing.T, f *excelize.File) string {
	path := filepath.Join(t.TempDir(), "statement.xls") // the name doesn't matter
	b, err := f.WriteToBuffer()
	must(t, err)
	must(t, f.Close())
	writeFile(t, path, b.String())
	return path
}
