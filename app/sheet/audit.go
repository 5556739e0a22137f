package sheet

import (
	"io"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/audit"
)

var (
	auditHeader = []app.Text{
		{EN: "Line", VI: "Dòng"},
		{EN: "Time", VI: "Thời gian"},
		{EN: "Who", VI: "Ai"},
		{EN: "By way of", VI: "Thực hiện qua"},
		{EN: "Network address", VI: "Địa chỉ mạng"},
		{EN: "What was done", VI: "Đã làm gì"},
	}
	auditWidths = []int{10, 20, 20, 15, 20, 100}
)

// NewAudit begins a file of the audit log with its header in lang; times are written
// in zone.
func NewAudit(format Format, w io.Writer, lang app.Lang, zone *time.Location) (Writer[app.AuditLine], error) {
	names := columns(auditHeader, lang)
	if format == XLSX {
		f, err := newXLSX(w, names, auditWidths, Intro{}, zone)
		return &auditFile{xlsx: f, lang: lang, zone: zone}, err
	}
	f, err := newCSV(format, w, names, zone)
	return &auditFile{csv: f, lang: lang, zone: zone}, err
}

// auditFile writes lines into one of both.
type auditFile struct {
	csv  *csvFile
	xlsx *xlsxFile
	lang app.Lang
	zone *time.Location
}

func (f *auditFile) Add(l app.AuditLine) error {
	texts := []string{}
	for _, text := range []app.Text{audit.Who(l.Actor), l.Actor.Way.Name(), audit.Address(l.Actor), audit.Sentence(l, f.zone)} {
		texts = append(texts, audit.Bare(text.In(f.lang)))
	}
	id := strconv.FormatInt(l.ID, 10)
	if f.csv != nil {
		row := []string{id, app.FormatTime(l.Actor.At, f.zone)}
		for _, text := range texts {
			row = append(row, Guard(text))
		}
		return f.csv.csv.Write(row)
	}
	if err := f.xlsx.beginRow(); err != nil {
		return err
	}
	f.xlsx.number(id, styleText)
	f.xlsx.time(l.Actor.At, styleTime)
	for _, text := range texts {
		f.xlsx.text(text, styleText)
	}
	_, err := f.xlsx.part.WriteString("</row>")
	return err
}

func (f *auditFile) Close() error {
	if f.csv != nil {
		return f.csv.Close()
	}
	return f.xlsx.Close()
}
