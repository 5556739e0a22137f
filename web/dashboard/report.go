package dashboard

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/sheet"
	"baoco/web/wire"
)

const reportPath = "/report"

// reportData is the page of a report. Report is nil if the form is refused.
type reportData struct {
	*book.Report
	Form    url.Values // as it was entered
	Groups  []book.Grouping
	Banks   []app.BankAccount
	Periods []chip
	Exports exports
	Lines   []reportLine
	Totals  []reportLine
	Percent string // by how much the money in differs from the period before; empty: see change
	Open    bool   // the period isn't over yet
	// Bars are the bars of money in and out as SVG paths: chartTall high, chartSlot wide for each row.
	Bars   [2]string
	Width  int
	Height int
}

// reportLine is a row of the table.
type reportLine struct {
	Name  string
	Cells []string
}

const (
	chartSlot = 10
	chartTall = 120
)

// requestedReport reads which report the address names.
func (v *visit) requestedReport() (r book.ReportRequest, err error) {
	values := v.URL.Query()
	p := wire.Params{Values: values, Zone: v.zone}
	bank := p.ID("bank_account_id")
	r, err = book.ReadReport(values.Get("from"), values.Get("to"), book.Grouping(values.Get("by")), bank, app.DayOf(v.now, v.zone))
	if bad := p.Bad.Err(); bad != nil {
		err = bad
	}
	return r, err
}

func reportValues(r book.ReportRequest) url.Values {
	values := url.Values{"from": {r.First.String()}, "to": {r.Last.String()}, "by": {string(r.By)}}
	if r.BankAccountID != 0 {
		values.Set("bank_account_id", strconv.FormatInt(r.BankAccountID, 10))
	}
	return values
}

func (s *Server) readReport(v *visit) (*book.Report, error) {
	asked, err := v.requestedReport()
	if err != nil {
		return nil, err
	}
	r, err := s.Services.Books.Report(v.Context(), v.account.ID, asked, v.now)
	if err == nil && r.Accounts == "" {
		r.Accounts = v.only
	}
	return r, err
}

func (s *Server) reportPage(v *visit) (err error) {
	asked, _ := v.requestedReport()
	d := reportData{Form: reportValues(asked), Groups: book.ReportGroupings, Height: chartTall}
	for _, name := range []string{"from", "to", "by", "bank_account_id"} {
		if typed := v.URL.Query().Get(name); typed != "" {
			d.Form.Set(name, typed)
		}
	}
	today := app.DayOf(v.now, v.zone)
	for _, p := range dayRanges(today) {
		one := asked
		one.First, one.Last = p.first, p.last
		here := one.First == asked.First && one.Last == asked.Last
		d.Periods = append(d.Periods, chip{p.name.In(v.Lang), linkTo(reportPath, reportValues(one)), here})
	}
	if d.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	r, err := s.readReport(v)
	if err == nil {
		d.Report, d.Open = r, r.Last >= today
		d.Exports = exportLinks(reportPath+"/file", reportValues(r.ReportRequest))
		d.Lines, d.Totals = v.reportLines(r, r.Rows), v.reportLines(r, r.Sums())
		if !d.Open {
			d.Percent = v.change(r.Total.In.Total, r.Before.In.Total)
		}
		d.drawBars()
	}
	return s.render(v, err, pageHead{"report", "book", app.Text{EN: "Report", VI: "Báo cáo"}}, d)
}

func (v *visit) reportLines(r *book.Report, rows []book.ReportRow) (list []reportLine) {
	for _, row := range rows {
		line := reportLine{Name: row.Text.In(v.Lang)}
		for _, c := range r.Columns() {
			write := v.Money
			if c.Count {
				write = v.Number
			}
			text := ""
			if n := c.Of(row.Sums); n != 0 {
				text = write(n)
			}
			line.Cells = append(line.Cells, text)
		}
		list = append(list, line)
	}
	return list
}

// drawBars draws the bars of the rows, side by side.
func (d *reportData) drawBars() {
	var most int64
	for _, row := range d.Rows {
		most = max(most, row.In.Total, row.Out.Total)
	}
	for i, row := range d.Rows {
		for side, amount := range []int64{row.In.Total, row.Out.Total} {
			if amount > 0 {
				x := float64(i*chartSlot) + 1 + float64(side)*chartSlot*0.4
				d.Bars[side] += barPath(x, chartTall, chartSlot*0.4, max(1, float64(amount)/float64(most)*chartTall))
			}
		}
	}
	if most > 0 {
		d.Width = len(d.Rows) * chartSlot
	}
}

func (s *Server) exportReport(v *visit, r *book.Report) error {
	e := &export[book.ReportRow]{v: v, server: s, name: "report-" + r.First.String() + "_" + r.Last.String()}
	if err := e.readFormat(v.URL.Query()); err != nil {
		return err
	}
	if v.Method == http.MethodHead {
		e.header()
		return nil
	}
	if err := s.Services.Ledger.Audit(v.Context(), v.account.ID, book.DeedExport, 0, app.AuditNamed(r.Name())); err != nil {
		return err
	}
	var file bytes.Buffer
	if err := sheet.WriteReport(e.format, &file, r, v.Lang); err != nil {
		return err
	}
	e.header()
	_, err := e.v.w.Write(file.Bytes())
	return err
}
