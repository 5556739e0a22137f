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
		`<table><tr><td>a</table><style>td{display:none}</style>`:                                          "1:a damaged",
		`<table><tr><td>a</table><!--[if mso]><table><tr><td>b</table><![endif]-->`:                        "1:a damaged",
		`<style>` + strings.Repeat("/*;", 1<<20) + `</style><table><tr><td>a</table>`:                      "1:a",
		`<table><tr><td x:num="` + strings.Repeat("x", 1<<20) + `"></table>`:                               "damaged",
		`<table><tr><td>a<tr><td>5<!--[if mso]>000<![endif]--></table>`:                                    "1:a damaged",
		`<table><tr><td>a<tr><td>b<col style="display:none"></table>`:                                      "1:a damaged",
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
	f, err := sheet.Open(t.Context(), write(t, page), 0)
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

// TestPageUnseen: what a browser, Excel or LibreOffice hides of a page, or shows otherwise, is asked about, with
// the first row and their number.
func TestPageUnseen(t *testing.T) {
	const want, both = "1 IN 5000 a, 2 OUT 3000 b", "2" + question + "2"
	const five, row, ending = "<td>5.000", "<tr><td>02", "</table>"
	const first = "<tr><td>01/11/2026</td><td>a</td><td></td><td>5.000</td><td></td></tr>"
	const page = "<html><head></head><body><table><tr><td>Ngày<td>Nội dung<td>Rút ra<td>Gửi vào<td>Ghi chú</tr>" + first +
		"<tr><td>02/11/2026</td><td>b</td><td>3.000</td><td></td><td>x</td></tr></table></body></html>"
	style := func(css string) string { return "<head><style>" + css + "</style>" }
	for _, test := range []struct{ old, new, asks string }{
		{"", "", ""},
		// A part is hidden where it stands.
		{row, `<tr style="color:red; display : NONE"><td>02`, "3" + question + "1"},
		{row, `<tr hidden><td>02`, "3" + question + "1"},
		{row, `<tr height=0><td>02`, "3" + question + "1"},
		{row, `<tr style="height:.1pt"><td>02`, "3" + question + "1"},
		{row, `<tr hidden></caption><td>02`, "4" + question + "1"},
		{first, `<tr hidden><td>01/11/2026<td>a<td><td>5.000<td rowspan=2>`, both},
		{five, `<td style="visibility:hidden">5.000`, "2" + question + "1"},
		{five, `<td style="mso-hide:all">5.000`, "2" + question + "1"},
		{five, `<td><span hidden>5.</span>000`, "2" + question + "2"},
		{five, `<td><span style="font-size:0">5.</span>000`, "2" + question + "2"},
		{five, `<td><span style="position:absolute;left:-999px">5.</span>000`, "2" + question + "2"},
		{five, `<td><span style="position:absolute">5.</span>000`, "2" + question + "2"},
		{five, `<td><span style="margin:0 0 0 -99px">5.</span>000`, "2" + question + "2"},
		{five, `<td><span style="float:right">5.</span>000`, "2" + question + "2"},
		{five, `<td><comment>5.</comment>000`, "2" + question + "2"},
		{five, `<td><select><option>5.000</select>`, "2" + question + "2"},
		{five, `<td><noframes>5.</noframes>000`, "2" + question + "2"},
		{five, `<td>5.000<script>document.write("000")</script>`, "2" + question + "2"},
		{five, `<td><bdo dir=rtl>5.000</bdo>`, "2" + question + "2"},
		{row, `<tbody hidden><tr><td>02`, "3" + question + "1"},
		{"<table>", `<table><col><col style="display:none">`, both},
		{"<table>", `<table><col><col width=0>`, both},
		{"<table>", `<table hidden>`, both},
		{"<table>", `<div style="display:none"></div><table>`, both},
		{"<table>", `<template><table>`, both},
		{page, strings.ReplaceAll(strings.Replace(page, "<table>", "<table><tr hidden><td><table>", 1), ending, ending+ending), both},
		{"<td>x", `<td hidden>`, "3" + question + "1"},
		{ending, `<![if supportMisalignedColumns]><tr height=0 style='display:none'><td width=0></td></tr><![endif]></table>`, ""},
		// A style sheet hides it.
		{"<head>", style(".a{display:none}"), both},
		{"<head>", style("#a{color:red;visibility : collapse}"), both},
		{"<head>", style("td[x]{font-size:0}"), both},
		{"<head>", style("tr{height:0px}"), both},
		{"<head>", style("@media screen{td{mso-hide:all}}"), both},
		{"<head>", style("td{d\\69splay:none}"), both},
		{"<head>", style("td{display:n\\6fne}"), both},
		{"<head>", style(`td{font-family:"/*";display:none;font-family:"*/"}`), both},
		{"<head>", style(`td{color:red/* don't */;display:none;/* ' */}`), both},
		{"<head>", style("td{font-family:'\n;display:none;'}"), both},
		{"<head>", style("td{font-family:\"\n;display:none;\"}"), both},
		{"<head>", style(`td::before{content:"1"}`), both},
		{"<head>", style(`@import "a.css";`), both},
		{"<head>", style("@font-face{src:url(a)}"), both},
		{"<head>", style("td, comment { display:none;  }"), both},
		{"<head>", `<head><link rel=stylesheet href="//a.vn/a.css">`, both},
		{"<head>", `<head><link rel=File-List href="a_files/filelist.xml">`, ""},
		{"<head>", style("/* all: */ td{color:red}"), ""},
		// A number format shows another number.
		{"<head>", style(`.a{mso-number-format:"0\0022000\0022"}`), both},
		{"<head>", style(`.a{mso-number-format:"0\;-0\;0\;"}`), both},
		{"<head>", style(`.a{mso-number-format:"\#\,\#\#0\,"}`), both},
		{five, `<td style='mso-number-format:"0\\000"'>5.000`, "2" + question + "1"},
		{five, `<td style='mso-number-format:"\#\,\#\#0\\ \0022₫\0022"'>5.000`, ""},
		{five, `<td style="mso-number-format:\@">5.000`, ""},
		// An attribute has the value.
		{five, `<td x:num="5000">5.000`, ""},
		{five, `<td x:num>5.000`, ""},
		{five, `<td sdval="5000.4" sdnum="1033;">5.000`, ""},
		{five, `<td x:num="50000">5.000`, "2" + question + "1"},
		{five, `<td x:num="50">5.000`, "2" + question + "1"},
		{five, `<td x:num="-5000">5.000`, "2" + question + "1"},
		{five, `<td x:num="5000">`, "2" + question + "1"},
		{five, `<td y:num="6000">5.000`, "2" + question + "1"},
		{five, `<td x:fmla="=A1">5.000`, "2" + question + "1"},
		{five, `<td sdval="6000">5.000`, "2" + question + "1"},
		{"<td>a", `<td x:str="a">a`, ""},
		{"<td>a", `<td x:str="b">a`, "2" + question + "1"},
		{"<td>01/11/2026", `<td x:num="46327.5">1/11/2026`, ""},
		{"<td>01/11/2026", `<td x:num="46328">01/11/2026`, "2" + question + "1"},
		{"<td>x", `<td x:num="5">x`, ""},
		// Excel reads comments of conditions.
		{"<head>", "<head><!--[if gte mso 9]><xml><x:Name>Sheet1</x:Name></xml><![endif]-->", ""},
		{"<head>", `<head><!--[if !mso]><style>v\:* {behavior:url(#default#VML);}</style><![endif]-->`, ""},
		{"<head>", "<head><!--[if mso]><style>td{display:none}</style><![endif]-->", both},
		{"<head>", "<head><![if !mso]>", both},
		{five, "<td>5.000<![if !mso]>", "2" + question + "2"},
	} {
		path := write(t, strings.Replace(page, test.old, test.new, 1))
		rows, err := tryRows(t, path, statement.Options{Zone: zone})
		list, _ := differences(t, path)
		if got := strings.Join(list, ", "); err != nil || brief(rows) != want || !strings.HasPrefix(got, test.asks) ||
			test.asks == "" && got != "" {
			t.Errorf("%s: %s, %v, asks %q, want %q", test.new, brief(rows), err, got, test.asks)
		}
	}
}

// TestPageWriters: pages as programs write them go in whole, and nothing is asked.
func TestPageWriters(t *testing.T) {
	const heads = "<th>Ngày</th><th>Nội dung</th><th>Rút ra</th><th>Gửi vào</th><th>Số dư</th></tr>"
	for name, page := range map[string]string{
		"Excel": `<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><meta name=ProgId content=Excel.Sheet>
<link rel=File-List href="a_files/filelist.xml"><!--[if !mso]><style>v\:* {behavior:url(#default#VML);}</style><![endif]-->
<!--[if gte mso 9]><xml><o:DocumentProperties><o:Version>11.5606</o:Version></o:DocumentProperties></xml><![endif]-->
<style><!--table
	{mso-displayed-decimal-separator:"\.";
	mso-displayed-thousand-separator:"\,";}
@page
	{margin:1.0in .75in 1.0in .75in;
	mso-header-margin:.5in;}
br
	{mso-data-placement:same-cell;}
.style16
	{mso-number-format:"_\(* \#\,\#\#0\.00_\)\;_\(* \\\(\#\,\#\#0\.00\\\)\;_\(* \0022-\0022??_\)\;_\(\@_\)";}
.style20
	{mso-number-format:0%;}
td
	{padding:0px;
	mso-ignore:padding;
	color:windowtext;
	font-family:"Times New Roman", serif;
	mso-number-format:General;
	text-align:general;
	mso-protection:locked visible;
	white-space:nowrap;}
.xl24
	{mso-number-format:"dd\/mm\/yyyy\\ hh\:mm";}
.xl25
	{mso-number-format:"\#\,\#\#0\;\[Red\]\\-\#\,\#\#0";}
--></style></head><body><table x:str border=0 width=327 style='border-collapse:collapse;table-layout:fixed;width:246pt'>
<col width=80 style='mso-width-source:userset;mso-width-alt:2925;width:60pt'><col width=64 span=4 style='width:48pt'>
<tr height=17 style='height:12.75pt'>` + heads + `
<tr height=17><td class=xl24 align=right x:num="46327.423611111109">01/11/2026 10:10</td><td x:str="a "> a<span
style='mso-spacerun:yes'> </span></td><td>&nbsp;</td><td class=xl25 x:num="5000">5,000</td><td x:num="15000">15,000</td></tr>
<tr height=17><td class=xl24 align=right x:num="46328">02/11/2026 00:00</td><td>b</td><td x:num="3000"><span
style='mso-spacerun:yes'> </span>3,000</td><td x:num="0"> - </td><td x:num>12,000</td></tr>
<![if supportMisalignedColumns]><tr height=0 style='display:none'><td width=80 style='width:60pt'></td></tr><![endif]></table>`,
		"ASP.NET": `<style> .textmode { mso-number-format:\@; } </style><div><table cellspacing="0" rules="all" border="1"
style="border-collapse:collapse;"><tr style="color:White;background-color:#006699;font-weight:bold;">` + heads + `
<tr><td class="textmode">01/11/2026</td><td>a</td><td>&nbsp;</td><td style="mso-number-format:'#,##0'">5.000</td><td>15.000</td></tr>
<tr><td style=mso-number-format:"@">02/11/2026</td><td>b</td><td>3.000</td><td>&nbsp;</td><td>12.000</td></tr></table></div>`,
		"Telerik": `<html><head><meta charset="utf-8"><style type="text/css">.rgHeader { font-weight: bold }</style></head><body>
<table class="rgMasterTable" style="width:100%;table-layout:auto;empty-cells:show;"><colgroup><col /><col /></colgroup><thead><tr>` +
			heads + `</thead><tbody><tr class="rgRow" style="text-align:left;"><td>01/11/2026</td><td>a</td><td></td><td>5.000</td>
<td>15.000</td></tr><tr class="rgAltRow"><td>02/11/2026</td><td>b</td><td>3.000</td><td></td><td>12.000</td></tr></tbody></table>`,
		"DevExpress": `<!DOCTYPE html><html><head><style type="text/css">.cs1 {color:#000000;background-color:transparent;border-style: none;
font-family:Arial; font-size:13px; font-weight:normal; font-style:normal; padding-left:2px;}</style></head><body leftMargin=10>
<table cellpadding="0" style="border-width:0px;empty-cells:show;width:672px;position:relative;"><tr>
<td style="width:0px;height:0px;"></td><td style="height:0px;width:96px;"></td></tr><tr>` +
			strings.ReplaceAll(heads, "<th>Ngày", `<td style="width:0px;height:23px;"></td><th>Ngày`) + `
<tr style="vertical-align:top;"><td style="width:0px;height:23px;"></td><td class="cs1" style="width:94px;line-height:15px;">
<nobr>01/11/2026</nobr></td><td>a</td><td></td><td>5,000</td><td>15,000</td></tr><tr><td style="width:0px;height:23px;"></td>
<td>02/11/2026</td><td>b</td><td>3,000</td><td></td><td>12,000</td></tr></table>`,
		"JasperReports": `<html><head><style type="text/css">a {text-decoration: none}</style></head><body text="#000000"><table
style="empty-cells: show; width: 595px; border-collapse: collapse; background-color: white;"><tr valign="top" style="height:0">
<td style="width:20px"></td></tr><tr>` + heads + `<tr valign="top" style="height:20px"><td style="pointer-events: auto; text-indent: 0px;
text-align: left;"><span style="font-family: Arial; color: #000000; font-size: 10px; line-height: 1.25;">01/11/2026</span></td><td>a</td>
<td></td><td>5.000,00</td><td>15.000,00</td></tr><tr>
<td>02/11/2026</td><td>b</td><td>3.000,00</td><td></td><td>12.000,00</td></tr></table>`,
		"Oracle": `<html><head><style type='text/css'> body {font:10pt Arial,Helvetica,sans-serif; color:black; background:White;}
table,tr,td {font:10pt Arial; padding:0px 0px 0px 0px; margin:0px 0px 0px 0px;} h1 {margin-top:0pt; padding:0px;-} a {vertical-align:top;}
</style><title>SQL*Plus Report</title></head><body><p><table border='1' width='90%' summary='Script output'><tr>` + heads + `
<tr><td>
01/11/2026</td><td>a</td><td align="right">&nbsp;</td><td>      5,000</td><td>15,000</td></tr>
<tr><td>02/11/2026</td><td>b</td><td>3,000</td><td>&nbsp;</td><td>12,000</td></tr></table><p></body></html>`,
		"SAP": `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head>
<body><table border=1 rules=all><tr>` + heads + `
<tr><td bgcolor="#ffffff"><nobr><font size=2>01.11.2026&nbsp;</font></nobr></td><td>a</td>
<td></td><td nowrap>5.000&nbsp;</td><td>15.000</td></tr>
<tr><td>02.11.2026</td><td>b</td><td><nobr>3.000</nobr></td><td></td><td>12.000</td></tr></table>`,
		"LibreOffice": "<!DOCTYPE html>\n<html><head>\n\t<style type=\"text/css\">\n" +
			"\t\tbody,div,table,thead,tbody,tfoot,tr,th,td,p { font-family:\"Calibri\"; font-size:small }\n" +
			"\t</style></head><body><table cellspacing=\"0\" border=\"0\">" +
			`<colgroup span="5" width="86"></colgroup><tr>` + heads + `<tr>
<td height="17" align="right" sdval="46327" sdnum="1033;0;D/M/YY">1/11/26</td><td align="left">a</td><td align="left"><br></td>
<td sdval="5000" sdnum="1033;0;#,##0"><font color="#000000">5,000</font></td><td sdval="15000" sdnum="1033;">15000</td></tr>
<tr><td sdval="46328.5" sdnum="1033;0;YYYY-MM-DD HH:MM">2026-11-02 12:00</td><td>b</td><td sdval="3000.4">3000</td><td><br></td>
<td sdval="12000" sdnum="1033;0;#,##0.00">12,000.00</td></tr></table>`,
	} {
		path := write(t, page)
		rows, err := tryRows(t, path, statement.Options{Zone: zone})
		list, _ := differences(t, path)
		if err != nil || brief(rows) != "1 IN 5000 a, 2 OUT 3000 b" || len(list) > 0 {
			t.Errorf("%s: %s, %v, asks %q", name, brief(rows), err, list)
		}
	}
}
