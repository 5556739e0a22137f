package statement_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/statement"
)

// readRows gives all rows of a file.
func readRows(t testing.TB, path string, o statement.Options) []statement.Row {
	t.Helper()
	rows, err := tryRows(t, path, o)
	must(t, err)
	return rows
}

func tryRows(t testing.TB, path string, o statement.Options) ([]statement.Row, error) {
	t.Helper()
	r, err := statement.Open(t.Context(), path, o)
	if err != nil {
		return nil, err
	}
	defer func() { must(t, r.Close()) }()
	var rows []statement.Row
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
}

// parts are those of the smallest workbook, its rows left out.
func parts(rows string) map[string]string {
	return map[string]string{
		"_rels/.rels": `<Relationships><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<workbook xmlns:r="x"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="/worksheet" Target="/xl/worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/sharedStrings.xml": `<sst><si><t>zero</t></si><si><r><t>o</t></r><r><t xml:space="preserve">ne </t></r><rPh><t>sound</t></rPh>` +
			`</si></sst>`,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	}
}

func zipped(t testing.TB, parts map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range parts {
		part, err := w.Create(name)
		must(t, err)
		_, err = io.WriteString(part, content)
		must(t, err)
	}
	must(t, w.Close())
	return b.String()
}

// workbook writes a workbook with the rows of XML in its sheet.
func workbook(t testing.TB, rows string) string {
	t.Helper()
	return write(t, zipped(t, parts(rows)))
}

// texts are cells with texts in them, as pairs of reference and text.
func texts(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(`<c r="` + pairs[i] + `" t="inlineStr"><is><t>`)
		_ = xml.EscapeText(&b, []byte(pairs[i+1]))
		b.WriteString(`</t></is></c>`)
	}
	return b.String()
}

const headerRow = `<row r="1"><c r="A1" t="str"><v>Ngày</v></c><c r="B1" t="str"><v>Nội dung</v></c><c r="C1" t="str"><v>Ghi có</v></c>` +
	`</row>`

// TestSheetXML reads what programs write into sheets that others don't.
func TestSheetXML(t *testing.T) {
	for _, test := range []struct{ name, cells, want string }{
		{"shared text", `<c r="B2" t="s"><v>0</v></c>`, "zero"},
		{"shared text in runs", `<c r="B2" t="s"><v> 1 </v></c>`, "one"},
		{"no references", `<c t="s"><v>0</v></c>`, "zero"},
		{"formula", `<c r="B2" t="str"><f>A1&amp;"x"</f><v>a&lt;b</v></c>`, "a<b"},
		{"escaped", `<c r="B2" t="inlineStr"><is><t>a_x000D_b_x005F_x_xZZZZ__x41</t></is></c>`, "a b_x_xZZZZ__x41"},
		{"character data", `<c r="B2" t="str"><v><![CDATA[a<b]]></v></c>`, "a<b"},
		{"other name spaces", `<x:c r="B2" t="s"><x:v>0</x:v></x:c>`, "zero"},
		{"truth", `<c r="B2" t="b"><v>1</v></c>`, "TRUE"},
		{"error", `<c r="B2" t="e"><v>#N/A</v></c>`, "#N/A"},
		{"lower case reference", `<c r="b2" t="s"><v>0</v></c>`, "zero"},
		{"number", `<c r="B2"><v>12</v></c>`, "12"},
		{"invalid UTF-8", "<c r=\"B2\" t=\"str\"><v>a\xffb</v></c>", "a\uFFFDb"},
	} {
		rows := readRows(t,
			workbook(t, headerRow+`<row r="2"><c r="A2" t="d"><v>2026-11-01T10:00:00</v></c>`+test.cells+`<c r="C2"><v>1000</v></c></row>`),
			statement.Options{Zone: zone})
		if len(rows) != 1 || rows[0].Content != test.want || rows[0].Line != 2 || rows[0].Amount != 1000 {
			t.Errorf("%s: %+v, want %q", test.name, rows, test.want)
		}
	}
}

// TestPartsOfOneKind: of several parts of one kind the first that the workbook names counts.
func TestPartsOfOneKind(t *testing.T) {
	p := parts(headerRow + `<row r="2"><c r="A2" t="str"><v>01/11/2026</v></c><c r="B2" t="s"><v>0</v></c><c r="C2"><v>1000</v></c></row>`)
	const list = "xl/_rels/workbook.xml.rels"
	p["_rels/.rels"] = strings.Replace(p["_rels/.rels"], `</Rel`,
		`<Relationship Id="rId0" Type="/officeDocument" Target="other.xml"/></Rel`, 1)
	p[list] = strings.Replace(p[list], `</Relationships>`, `<Relationship Id="rId1" Type="/worksheet" Target="other.xml"/>`+
		`<Relationship Id="rId0" Type="/sharedStrings" Target="other.xml"/></Relationships>`, 1)
	p["xl/other.xml"] = strings.Replace(p["xl/sharedStrings.xml"], "zero", "other", 1)
	path := write(t, zipped(t, p))
	for range 20 { // in whatever order a map gives them
		if rows := readRows(t, path, statement.Options{Zone: zone}); len(rows) != 1 || rows[0].Content != "zero" {
			t.Fatalf("%+v", rows)
		}
	}
}

// TestDamagedWorkbook: where a file can't be read on is an error, never the
// end of it; what stands before is given.
func TestDamagedWorkbook(t *testing.T) {
	good := `<row r="2"><c r="A2" t="str"><v>01/11/2026</v></c><c r="C2"><v>1000</v></c></row>`
	later := strings.ReplaceAll(good, `2"`, `4"`)
	bad := func(inner string) map[string]string { return parts(headerRow + good + inner) }
	row3 := func(cells string) map[string]string {
		return bad(`<row r="3"><c r="A3" t="str"><v>01/11/2026</v></c>` + cells + `</row>`)
	}
	with := func(name, content string) map[string]string {
		p := bad("")
		p[name] = content
		return p
	}
	tests := map[string]struct {
		parts map[string]string
		rows  int
	}{
		"control character":   {bad(`<row r="3"><c r="A3" t="str"><v>&#x1F;</v></c></row>` + later), 1},
		"raw control":         {bad("<row r=\"3\"><c r=\"A3\" t=\"str\"><v>\x1f</v></c></row>" + later), 1},
		"no such shared text": {bad(`<row r="3"><c r="A3" t="s"><v>2</v></c></row>`), 1},
		"negative shared":     {bad(`<row r="3"><c r="A3" t="s"><v>-1</v></c></row>`), 1},
		"shared text no int":  {bad(`<row r="3"><c r="A3" t="s"><v>x</v></c></row>`), 1},
		"unknown entity":      {bad(`<row r="3"><c r="A3" t="str"><v>&lol;</v></c></row>`), 1},
		"too many columns":    {bad(`<row r="3"><c r="XFE3"><v>1</v></c></row>`), 1},
		"odd reference":       {bad(`<row r="3"><c r="3A"><v>1</v></c></row>`), 1},
		"a cell twice":        {row3(`<c r="C3"><v>1000</v></c><c r="C3"><v>9000</v></c>`), 1},
		"a column before":     {row3(`<c r="C3"><v>1000</v></c><c r="B3" t="str"><v>a</v></c>`), 1},
		"another row's cell":  {bad(`<row r="3"><c r="A4" t="str"><v>01/11/2026</v></c></row>`), 1},
		"cell without a row":  {bad(`<row r="3"><c r="A" t="str"><v>01/11/2026</v></c></row>`), 1},
		"two values":          {row3(`<c r="C3"><v>1000</v><v>9000</v></c>`), 1},
		"a value and a text":  {row3(`<c r="C3"><v>1000</v><is><t>9000</t></is></c>`), 1},
		"two texts":           {row3(`<c r="C3" t="inlineStr"><is><t>1000</t></is><is><t>9000</t></is></c>`), 1},
		"element in a value":  {row3(`<c r="C3"><v>10<x>9</x>00</v></c>`), 1},
		"element in a text":   {row3(`<c r="C3" t="inlineStr"><is><t>10<x>9</x>00</t></is></c>`), 1},
		"a cell in a cell":    {row3(`<c r="C3"><c r="D3"><v>9000</v></c></c>`), 1},
		"a row in a row":      {bad(`<row r="3"><row r="4"><c t="str"><v>01/11/2026</v></c></row></row>`), 1},
		"a row twice":         {bad(good), 1},
		"a row above":         {bad(`<row r="1"/>`), 1},
		"row no int":          {bad(`<row r="x"/>`), 1},
		"rows in two places":  {bad(`</sheetData><sheetData><row r="3"/>`), 1},
		"rows within rows":    {bad(`<sheetData></sheetData><row r="3"/>`), 1},
		"too deep":            {bad(strings.Repeat("<a>", 100)), 1},
		"sheet cut":           {with("xl/worksheets/sheet1.xml", `<worksheet><sheetData>`+headerRow+good+`<row>`), 1},
		"sheet cut in a tag":  {with("xl/worksheets/sheet1.xml", `<worksheet><sheetData>`+headerRow+good+`<row r="3`), 1},
		"sheet cut after":     {with("xl/worksheets/sheet1.xml", `<worksheet><sheetData>`+headerRow+good+`</sheetData>`), 1},
		"shared texts cut":    {with("xl/sharedStrings.xml", `<sst><si><t>a`), 0},
		"no sheets":           {with("xl/workbook.xml", `<workbook/>`), 0},
		"empty workbook part": {with("xl/workbook.xml", ``), 0},
		"relations cut":       {with("xl/_rels/workbook.xml.rels", `<Relationships>`), 0},
		"a long tag":          {bad(`<row r="3" x="` + strings.Repeat("x", 5<<20) + `"/>`), 1},
		"a long comment":      {bad(`<!-- ` + strings.Repeat("<", 5<<20) + ` -->`), 1},
		"UTF-16":              {with("xl/workbook.xml", utf16Bytes(parts("")["xl/workbook.xml"], false)), 0},
		"unknown encoding":    {with("xl/workbook.xml", `<?xml version="1.0" encoding="koi8-r"?><workbook/>`), 0},
	}
	for name, test := range tests {
		rows, err := tryRows(t, write(t, zipped(t, test.parts)), statement.Options{Zone: zone})
		if err == nil || len(rows) != test.rows {
			t.Errorf("%s: %d rows, %v; want %d and an error", name, len(rows), err, test.rows)
		}
	}
	whole := zipped(t, bad(""))
	for cut := 4; cut < len(whole); cut += 97 {
		if _, err := tryRows(t, write(t, whole[:cut]), statement.Options{Zone: zone}); err == nil {
			t.Errorf("a file cut after %d of %d bytes is read", cut, len(whole))
		}
	}
	step := 37
	if apptest.Full() {
		step = 1
	}
	for at := 0; at < len(whole); at += step {
		changed := []byte(whole)
		changed[at] ^= 0x10
		rows, err := tryRows(t, write(t, string(changed)), statement.Options{Zone: zone})
		if err == nil && (len(rows) != 1 || rows[0].Amount != 1000) {
			t.Errorf("with byte %d of %d changed: %v", at, len(whole), rows)
		}
	}
}
