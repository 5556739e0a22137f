package sheet

import (
	"io"
	"time"

	"baoco/app"
	"baoco/app/audit"
)

var auditColumns = []Column{
	{app.Text{EN: "Line", VI: "Dòng"}, 10},
	{app.Text{EN: "Time", VI: "Thời gian"}, 20},
	{app.Text{EN: "Who", VI: "Ai"}, 20},
	{app.Text{EN: "By way of", VI: "Thực hiện qua"}, 15},
	{app.Text{EN: "Network address", VI: "Địa chỉ mạng"}, 20},
	{app.Text{EN: "What was done", VI: "Đã làm gì"}, 100},
}

// NewAudit begins a file of the audit log with its header in lang; times are written
// in zone.
func NewAudit(format Format, w io.Writer, lang app.Lang, zone *time.Location) (Writer[app.AuditLine], error) {
	rows, err := NewRows(format, w, Layout{Columns: auditColumns, Lang: lang, Zone: zone})
	return rowsOf[app.AuditLine]{Rows: rows, cells: func(l app.AuditLine) []Value {
		cells := []Value{Number(l.ID), Time(l.Actor.At)}
		for _, text := range []app.Text{audit.Who(l.Actor), l.Actor.Way.Name(), audit.Address(l.Actor), audit.Sentence(l, zone)} {
			cells = append(cells, Text(audit.Bare(text.In(lang))))
		}
		return cells
	}}, err
}
