package statement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"baoco/app"
	"baoco/app/sheet"
	"baoco/app/statement"
)

const bankPage = "\xEF\xBB\xBF\n<html><head><title>Sao kê</title><style>td{color:red}</style></head>" +
	"<body><p>Số tài khoản: <b>0071001234567</b></p>" +
	`<TABLE border=1><tr><th rowspan=2>Ngày</th><th rowspan="2">Nội dung</th><th colspan=2>Số tiền</th></tr>` +
	`<tr><th>N&#7907;</th><th>Có</th></tr>`

// TestPage reads a web page that a bank names .xls.
func TestPage(t *testing.T) {
	rows := bankPage + `<tr><td>01/11/2026&nbsp;10:11:12</td><td>TRA
		TIEN <b>DON</b><br>5</td><td>&nbsp;</td><td align=right>1.234.567</td></tr>
		<tr><td>02/11/2026<td><!-- note -->a &lt; b<td>1&nbsp;000&nbsp;000<td></tr>
		<tr><td colspan=2>Tổng cộng<td>1.000.000<td>1.234.567</table></body></html>`
	got := readRows(t, write(t, rows), statement.Options{Zone: zone})
	if len(got) != 2 || got[0].Amount != 1234567 || got[0].Type != app.In || got[0].Content != "TRA TIEN DON 5" ||
		got[0].Time.In(zone).Format("2006-01-02 15:04:05") != "2026-11-01 10:11:12" || got[0].AccountNumber != "0071001234567" ||
		got[0].Fault != nil || got[1].Amount != 1000000 || got[1].Type != app.Out || got[1].Content != "a < b" || got[1].Line != 5 {
		t.Errorf("%+v", got)
	}
	o := statement.Options{Zone: zone}
	if diff := cmp.Diff(read(t, "testdata/sheetjs_text.xlsx", o), read(t, "testdata/sheetjs_text.html", o)); diff != "" {
		t.Errorf("(-xlsx +page):\n%s", diff)
	}
}

// TestPageCells: cells stand in the columns that a browser shows them in.
func TestPageCells(t *testing.T) {
	deep := strings.Repeat("<table><tr><td>", 100) + "a" + strings.Repeat("</table>", 100)
	for page, want := range map[string]string{
		`<table><tr><td>a<td>b<tr><td><td>c</table>`:                                                       "1:a|b 2:|c",
		`<table><tr><td rowspan=3>a<td>b<tr><td>c</tr><tr></tr><tr><td>d</table>`:                          "1:a|b 2:|c 4:d",
		`<table><tr><td rowspan=2 colspan=2>a<td>b<tr><td>c</table>`:                                       "1:a||b 2:||c",
		`<table><tr><td colspan=0>a<td colspan=x>b</table>`:                                                "1:a|b",
		`<table><tr><td><div>a</div><p>b</p></td></tr></table>`:                                            "1:a\n\nb",
		`<div>x</div>y<br>z<table><tr><td>a</table>w`:                                                      "1:x 2:y 3:z 4:a 5:w",
		`<table><tr><td><table><tr><td>a<td>b</table><td> </table>`:                                        "1:a|b",
		`<table><tr><td>x<table><tr><td>a<td>b</table></table>`:                                            "1:a|b damaged",
		`<table><tr><td><table><tr><td>a</table><td>x</table>`:                                             "1:a damaged",
		`<table><tr><td rowspan=2>a<td>b<td rowspan=2>c<tr><td colspan=2>d</table>`:                        "1:a|b|c damaged",
		`<table><tr><td>a</tr>`:                                                                            "1:a damaged",
		`<table><tr><td>a`:                                                                                 "1:a damaged",
		`<table><tr><td colspan=99999>a</table>`:                                                           "damaged",
		`<table><tr><td>` + strings.Repeat("<b>x</b>", 1<<18+1) + `</table>`:                               "damaged",
		`<table><tr>` + strings.Repeat("<td rowspan=0>", 257) + strings.Repeat("<tr>", 1<<19) + `</table>`: "damaged",
		`<table><tr><td>` + strings.Repeat("<td>", 1<<14) + `</table>`:                                     "damaged",
		`<table x=` + strings.Repeat("x", 9<<20):                                                           "damaged",
		deep:                                                                                               "damaged",
		`<table><tr><td>a<script>var x = "<td>";</script><style>b</style></table>`:                         "1:a",
		`<table><thead><tr><th rowspan=2>a<th>b</thead><tr><td>c<td>d</table>`:                             "1:a|b 2:c|d",
		`<table><tr><td>a<td rowspan=0>b<td>c<tr><td>d<td>e<tbody><tr><td>f<td>g</table>`:                  "1:a|b|c 2:d||e 3:f|g",
		`<table><tr><td rowspan=" 2px">a<td>b<tr><td>c<tr><td>d</table>`:                                   "1:a|b 2:|c 3:d",
		`<table><tr><td colspan="2;">a<td>b</table>`:                                                       "1:a||b",
		`<table><caption>x</caption><tr><td>a</table>`:                                                     "1:x 2:a",
		`<html></td>x<table><tr><td>a</table>`:                                                             "1:x 2:a",
		`<table><tr><td>500<sup>1</sup></table>`:                                                           "1:500\n1",
		`<table><tr><td>500</td>.000</tr></table>`:                                                         "damaged",
		`<table><tr style="color:red; display : NONE"><td>a</table>`:                                       "damaged",
		`<table><tr><td><span hidden>1.</span>500</table>`:                                                 "damaged",
		`<table><tr><td><select><option>1</select>500</table>`:                                             "damaged",
		`<table hidden><tr><td>a</table>`:                                                                  "damaged",
		`<html><template><table><tr><td>a</table></template>`:                                              "damaged",
		`<html><div hidden>x</div><table><tr><td><input type=hidden value=1>a</table>`:                     "1:x 2:a",
		"<table><tr><td>Ti\xEA\xCCn</table>":                                                               "1:Ti\u00EA\u0300n",
		`<?xml version="1.0"?><html xmlns="x"><table><tr><td>a</td><td/><td>b</td></tr></table></html>`:    "1:a||b",
	} {
		if got := pageCells(t, page); got != want {
			t.Errorf("%.100s: %q, want %q", page, got, want)
		}
	}
}

// pageCells gives the lines of a page with their numbers.
func pageCells(t *testing.T, page string) string {
	t.Helper()
	f, err := sheet.Open(write(t, page))
	must(t, err)
	defer f.Close()
	table, err := f.Sheet(0)
	must(t, err)
	var lines []string
	for {
		r, err := table.Next()
		if err != nil {
			if strings.Contains(err.Error(), "damaged") {
				lines = append(lines, "damaged")
			}
			return strings.Join(lines, " ")
		}
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, c.Text)
		}
		lines = append(lines, fmt.Sprintf("%d:%s", r.Line, strings.Join(cells, "|")))
	}
}
