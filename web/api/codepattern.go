package api

import (
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/paymentcode"
)

// CodePatternJSON is the schema CodePattern of openapi.yaml.
type CodePatternJSON struct {
	ID        int64                `json:"id"`
	Prefix    string               `json:"prefix"`
	MinLength int                  `json:"min_length"` // of the part after the prefix
	MaxLength int                  `json:"max_length"`
	Alphabet  paymentcode.Alphabet `json:"alphabet"`
	CreatedAt string               `json:"created_at"`
}

// EncodeCodePattern writes p with its times in zone.
func EncodeCodePattern(p app.CodePattern, zone *time.Location) CodePatternJSON {
	return CodePatternJSON{p.ID, p.Prefix, p.Least, p.Most, p.Alphabet, app.FormatTime(p.CreatedAt, zone)}
}

func (s *Server) listCodePatterns(q *Request) error {
	return listed(q, s.service.Ledger.CodePatterns, func(p app.CodePattern) CodePatternJSON { return EncodeCodePattern(p, s.zone) },
		"code_patterns", app.Text{EN: "Code patterns.", VI: "Danh sách mẫu mã thanh toán."})
}

func (s *Server) showCodePattern(q *Request) error {
	p, err := s.service.Ledger.CodePattern(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The code pattern.", "Mẫu mã thanh toán.",
		member{"code_pattern", EncodeCodePattern(p, s.zone)})
}

func (s *Server) createCodePattern(q *Request) error {
	f, err := q.fields("prefix", "min_length", "max_length", "alphabet")
	if err != nil {
		return err
	}
	in := paymentcode.Pattern{
		Prefix: f.required("prefix"), Alphabet: paymentcode.Alphabet(f.required("alphabet")),
		Least: f.codeLength("min_length"), Most: f.codeLength("max_length"),
	}
	f.bad.Merge(app.CheckCodePattern(in))
	if err := f.bad.Err(); err != nil {
		return err
	}
	p, err := s.service.Ledger.CreateCodePattern(q.Context(), q.account(), in, q.now)
	return q.answer(err, http.StatusCreated, "The code pattern was created. Transactions that are recorded from now on are read by it.",
		"Đã tạo mẫu mã thanh toán. Giao dịch ghi nhận từ bây giờ sẽ được đọc theo mẫu này.",
		member{"code_pattern", EncodeCodePattern(p, s.zone)})
}

// codeLength reads how many characters follow a prefix.
func (f *fields) codeLength(name string) int {
	if f.body.Get(name).Kind == exactjson.Null {
		f.bad.Add(name, "is required", "là bắt buộc")
	}
	return f.whole(name, 0, paymentcode.MinDigits, paymentcode.MaxCode-paymentcode.MinPrefix,
		app.Text{EN: "must be a whole number from 3 to 23", VI: "phải là số nguyên từ 3 đến 23"})
}

func (s *Server) deleteCodePattern(q *Request) error {
	return q.ok(s.service.Ledger.DeleteCodePattern(q.Context(), q.account(), q.pathID(), q.now),
		"The code pattern was deleted; the codes of transactions stay.",
		"Đã xoá mẫu mã thanh toán; mã của các giao dịch vẫn được giữ.")
}
