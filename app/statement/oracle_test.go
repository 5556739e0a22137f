package statement_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/statement"
)

// bankFile is a file of testdata/statement/bank with the right values of its rows, which
// stand right below its header.
type bankFile struct {
	name    string
	header  int // index of the header
	content int // column of the contents
	account string
	amounts []int64 // negative: money out
	money   []int   // columns of amounts and balances
}

var bankFiles = []bankFile{
	{"bilingual_account_col", 0, 5, "", []int64{1500000, -200000}, []int{3, 4}},
	{"ctg_mttq_time", 0, 5, "", []int64{50000, 10000}, []int{6, 7, 8}},
	{"mb_web", 0, 6, "", []int64{-200000, 1500000}, []int{2, 3, 4}},
	{"tcb_count_lines", 14, 6, "19030000000017", []int64{1000000, 1000000, 700000}, []int{7, 8, 9, 10, 11}},
	{"tcb_fee_only", 12, 6, "19030000000017", []int64{300000, -110000, -16000}, []int{7, 8, 9, 10, 11}},
	{"tcb_same_second", 12, 6, "19030000000017", []int64{1000000, 700000, 1000000}, []int{7, 8, 9, 10, 11}},
	{"utf16le_nobom", 0, 1, "", []int64{1500000}, []int{2, 3, 4}},
	{"vcb_mttq_dots", 0, 5, "", []int64{3000, 500000, -55000, 50000}, []int{2, 3, 4}},
	{"vcb_tnx", 0, 5, "", []int64{3000, 500000}, []int{2, 3, 4}},
	{"vpb_tang", 11, 2, "150100008", []int64{-52200, 4000000, 1000000}, []int{4, 5, 6}},
}

// lines reads the file into cells, and marks the content of row n with "Zn ".
func (f bankFile) lines(t testing.TB) [][]string {
	data, err := os.ReadFile(filepath.Join(samples, "bank", f.name+".csv"))
	must(t, err)
	if strings.HasPrefix(f.name, "utf16") {
		data, err = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Bytes(data)
		must(t, err)
	}
	text := strings.TrimPrefix(string(data), "\uFEFF")
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	switch {
	case strings.Contains(text, ";;"):
		r.Comma = ';'
	case strings.Contains(text, "\t"):
		r.Comma = '\t'
	}
	lines, err := r.ReadAll()
	must(t, err)
	for n := range f.amounts {
		cell := &lines[f.header+1+n][f.content]
		*cell = fmt.Sprintf("Z%d %s", n, *cell)
	}
	return lines
}

// hostile is what a payer, or a bank, may write.
var hostile = []string{"", "Tổng cộng", "-500000", "1,000,000", "+9.999.999", "=1+1", "'0123456789", `a"b`, "x;y,z|w\tv", "USD 100",
	"Số dư đầu kỳ",
	"Số tài khoản: 0987654321", "Nợ", "Có", "Ghi nợ", "01/01/2020", "(1.000)", "Phí 11.000", "tinh bang nghin dong", "dòng 1\ndòng 2", "CT đi"}

// titles stand in lines that are no rows.
var titles = [][]string{{}, {"", ""}, {"Trang 2"}, {"Kính gửi: a, b; c"}, {"", "", "Người lập biểu", "Kiểm soát"},
	{"Tổng số giao dịch", "3"},
	{"Tên tài khoản", "CTY 123456"}, {"Tài khoản đối ứng: 0987654321"},
	{"Số tài khoản thụ hưởng", "0987654321"}, {"Hotline 1900545413"},
	{"Cộng trang", "", "", "9", "9", "9", "9", "9", "9"}, {"Ngày in: 01/01/2027"}, {"Lãi suất", "0.1"}, {"", "", "", "12", "13", "14"}}

// change changes a file in ways that leave right what is read of it, or refuse it.
func (f bankFile) change(t testing.TB, lines [][]string, r *rand.Rand) [][]string {
	often := func(n int) bool { return r.IntN(n) == 0 }
	if often(2) { // hostile contents
		for n := range f.amounts {
			lines[f.header+1+n][f.content] = fmt.Sprintf("Z%d %s", n, hostile[r.IntN(len(hostile))])
		}
	}
	if often(2) { // another style of numbers
		style := r.IntN(6)
		for n := range f.amounts {
			for _, c := range f.money {
				lines[f.header+1+n][c] = restyled(lines[f.header+1+n][c], style)
			}
		}
	}
	if often(2) { // other columns
		order := r.Perm(len(lines[f.header]))
		for n := range len(f.amounts) + 1 {
			moved := make([]string, len(order))
			for from, to := range order {
				moved[to] = lines[f.header+n][from]
			}
			lines[f.header+n] = moved
		}
	}
	rows := slices.Clone(lines[f.header+1 : f.header+1+len(f.amounts)])
	if often(2) {
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	if often(3) {
		rows = rows[r.IntN(len(rows)):]
	}
	below := append([][]string{}, lines[f.header+1+len(f.amounts):]...)
	changed := slices.Clone(lines[:f.header+1])
	if often(3) && f.header > 1 { // cut titles, which may have the account
		changed = slices.Delete(changed, r.IntN(f.header/2), f.header/2+r.IntN(f.header/2))
	}
	head := changed[len(changed)-1]
	for _, row := range rows {
		if often(3) {
			changed = append(changed, titles[r.IntN(len(titles))])
		}
		if often(6) {
			changed = append(changed, head)
		}
		changed = append(changed, row)
	}
	if often(2) {
		changed = append([][]string{titles[r.IntN(len(titles))]}, changed...)
	}
	return append(changed, below...)
}

var (
	plainNumber = regexp.MustCompile(`^[1-9]\d{0,14}$`)
	marker      = regexp.MustCompile(`Z(\d) ?`)
)

var groupedText = regexp.MustCompile(`^(-?)(\d{1,3}(?:[.,]\d{3})+|\d+)( *(?:VND|₫))?$`)

// restyled writes an amount in another way.
func restyled(cell string, style int) string {
	m := groupedText.FindStringSubmatch(cell)
	if m == nil {
		return cell
	}
	digits := strings.NewReplacer(".", "", ",", "").Replace(m[2])
	n, _ := strconv.ParseInt(digits, 10, 64)
	dots := app.GroupDigits(n, app.Vietnamese)
	return m[1] + []string{dots, app.GroupDigits(n, app.English), digits, strings.ReplaceAll(dots, ".", " "), dots + ",00",
		app.GroupDigits(n, app.English) + ".00 VND"}[style] + m[3]
}

// writtenAs writes the lines as a file of some kind. A file that is cut within an amount
// in its last column can't be told from a whole one: such a file isn't made.
func writtenAs(t testing.TB, lines [][]string, r *rand.Rand) string {
	if r.IntN(4) == 0 {
		var rows strings.Builder
		for _, line := range lines {
			rows.WriteString("<row>")
			for _, cell := range line {
				if plainNumber.MatchString(cell) && r.IntN(2) == 0 {
					rows.WriteString("<c><v>" + cell + "</v></c>")
				} else {
					rows.WriteString(texts("", cell))
				}
			}
			rows.WriteString("</row>")
		}
		return zipped(t, parts(strings.ReplaceAll(rows.String(), ` r=""`, "")))
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = []rune{',', ';', '\t', '|'}[r.IntN(4)]
	width := 0
	for _, line := range lines {
		width = max(width, len(line))
		if len(line) == 0 {
			line = []string{"", ""}
		}
		must(t, w.Write(line))
	}
	w.Flush()
	text := b.String()
	switch r.IntN(6) {
	case 0:
		return utf16Bytes(text, r.IntN(2) == 0)
	case 1:
		cut := text[:r.IntN(len(text)+1)]
		reader := csv.NewReader(strings.NewReader(cut))
		reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = w.Comma, -1, true
		if all, err := reader.ReadAll(); err == nil && len(all) > 0 && len(all[len(all)-1]) < width {
			return cut
		}
	case 2:
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// checkChanged reads a file that was changed, and compares each row with what it was. A
// row is right, or has a fault or no date, or the file is refused. It returns how many are right.
func (f bankFile) checkChanged(t testing.TB, path string, seed uint64) (right int) {
	r := rand.New(rand.NewPCG(seed, 0))
	content := writtenAs(t, f.change(t, f.lines(t), r), r)
	writeFile(t, path, content)
	reader, err := statement.Open(t.Context(), path, statement.Options{Zone: zone})
	if err != nil {
		return 0
	}
	defer reader.Close()
	var rows []statement.Row
	for {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if row.Fault != nil || row.Time.IsZero() {
			continue
		}
		amount := row.Amount
		if row.Type == app.Out {
			amount = -amount
		}
		m := marker.FindStringSubmatch(row.Content)
		if m == nil && slices.Contains(f.amounts, amount) {
			continue // the file is cut in the content
		}
		if m == nil {
			t.Fatalf("%s, seed %d: made up: %s\n%s", f.name, seed, format(row), content)
		}
		n, _ := strconv.Atoi(m[1])
		if amount != f.amounts[n] || row.AccountNumber != "" && row.AccountNumber != f.account {
			t.Fatalf("%s, seed %d: row %d is %s\n%s", f.name, seed, n, format(row), content)
		}
		right++
	}
	return right
}

// TestChangedBankFiles: whatever a file changes, no row is read with another amount,
// direction or account than it has.
func TestChangedBankFiles(t *testing.T) {
	t.Parallel()
	seeds := apptest.Rounds(25, 1000)
	path := filepath.Join(t.TempDir(), "statement")
	for _, f := range bankFiles {
		right := 0
		for seed := range seeds {
			right += f.checkChanged(t, path, uint64(seed))
		}
		if right < len(f.amounts)*seeds/4 {
			t.Errorf("%s: only %d of %d rows are read", f.name, right, len(f.amounts)*seeds)
		}
	}
}

func FuzzBankFiles(f *testing.F) {
	path := filepath.Join(f.TempDir(), "statement")
	for n := range bankFiles {
		f.Add(uint64(n), byte(n))
	}
	f.Fuzz(func(t *testing.T, seed uint64, file byte) {
		bankFiles[int(file)%len(bankFiles)].checkChanged(t, path, seed)
	})
}
