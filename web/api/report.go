package api

import (
	"baoco/app"
	"baoco/app/book"
	"baoco/web/wire"
)

func (s *Server) report(q *Request) error {
	p := wire.Params{Values: q.URL.Query(), Zone: s.zone}
	bank := p.ID("bank_account_id")
	asked, err := book.ReadReport(p.Values.Get("from"), p.Values.Get("to"), book.Grouping(p.Values.Get("by")), bank,
		app.DayOf(q.now, p.Zone))
	if bad := p.Bad.Err(); bad != nil {
		err = bad
	}
	if err != nil {
		return err
	}
	r, err := s.service.Books.Report(q.Context(), q.account(), asked, q.now)
	if err != nil {
		return err
	}
	return q.ok(nil, "Report of a period.", "Báo cáo theo kỳ.", member{"report", EncodeReport(r)})
}

// ReportJSON is a report, without the parts that are empty.
type ReportJSON struct {
	From   string           `json:"from"`
	To     string           `json:"to"`
	By     book.Grouping    `json:"by"`
	Rows   []reportRowJSON  `json:"rows"`
	Total  reportSumsJSON   `json:"total"`
	Before reportPeriodJSON `json:"before"`
}

type reportSumsJSON struct {
	InCount      int64  `json:"in_count"`
	InTotal      int64  `json:"in_total"`
	OutCount     int64  `json:"out_count"`
	OutTotal     int64  `json:"out_total"`
	Net          int64  `json:"net"`
	Revenue      *int64 `json:"revenue,omitempty"`
	Refunded     *int64 `json:"refunded,omitempty"`
	AfterRefunds *int64 `json:"in_after_refunds,omitempty"`
	Cash         *int64 `json:"cash,omitempty"`
}

type reportRowJSON struct {
	Key string `json:"key"`
	reportSumsJSON
}

type reportPeriodJSON struct {
	From string `json:"from"`
	To   string `json:"to"`
	reportSumsJSON
}

// EncodeReport writes a report.
func EncodeReport(r *book.Report) ReportJSON {
	sums := func(s book.Sums) reportSumsJSON {
		j := reportSumsJSON{InCount: s.In.Count, InTotal: s.In.Total, OutCount: s.Out.Count, OutTotal: s.Out.Total, Net: s.Net()}
		if r.Marks {
			j.Revenue = &s.Revenue
		}
		if r.HasRefunds() {
			j.Refunded, j.AfterRefunds = &s.Refunded, new(s.AfterRefunds())
		}
		if r.HasCash() {
			j.Cash = &s.Cash
		}
		return j
	}
	before := r.ReportRequest.Before()
	rows := All(r.Rows, func(row book.ReportRow) reportRowJSON { return reportRowJSON{row.Key, sums(row.Sums)} })
	return ReportJSON{r.First.String(), r.Last.String(), r.By, rows, sums(r.Total),
		reportPeriodJSON{before.First.String(), before.Last.String(), sums(r.Before)}}
}
