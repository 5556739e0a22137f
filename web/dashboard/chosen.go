package dashboard

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/payment"
)

// chosenPath is the page on which transactions that were ticked in a list are changed together.
const chosenPath = "/transactions/chosen"

type chosenData struct {
	IDs       []string
	Days      []dayRows
	Sums      app.Flow
	Exports   exports
	Unmatched bool // the account has money without a payment request
	Aside     bool // some of this money was put aside
	Note      string
	Back      string
}

func (d chosenData) Count() int64 { return int64(len(d.IDs)) }

func (s *Server) chosenPage(v *visit) error {
	return s.showChosen(v, v.URL.Query(), nil)
}

// showChosen shows the page. refused is why no ticked transaction could be changed.
func (s *Server) showChosen(v *visit, values url.Values, refused error) error {
	d := chosenData{Back: localPath(values.Get("back")), Note: values.Get("note")}
	list, err := s.chosen(v, values["row"])
	if refused == nil {
		refused = err
	}
	if err := s.fillChosen(v, &d, list); err != nil {
		return err
	}
	return s.render(v, refused, pageHead{"chosen", "transactions", app.Text{EN: "Selected transactions", VI: "Giao dịch đã chọn"}}, d)
}

func (s *Server) fillChosen(v *visit, d *chosenData, list []app.Transaction) error {
	for _, t := range list {
		d.IDs = append(d.IDs, strconv.FormatInt(t.ID, 10))
		sums := &d.Sums.In
		if t.Type == app.Out {
			sums = &d.Sums.Out
		}
		sums.Total += t.Amount
		sums.Count++
	}
	d.Exports = exportLinks(exportPath, url.Values{"row": d.IDs})
	rows, err := s.withDeliveries(v, list)
	if err != nil {
		return err
	}
	if d.Days, err = s.groupByDay(v, rows, false); err != nil {
		return err
	}
	if d.Unmatched, err = s.anyUnmatched(v, false); err != nil {
		return err
	}
	d.Aside, err = s.anyUnmatched(v, true)
	return err
}

func (s *Server) anyUnmatched(v *visit, aside bool) (bool, error) {
	_, n, err := s.Services.Payments.UnmatchedTransactions(v.Context(), v.account.ID, payment.UnmatchedFilter{Aside: aside}, v.now)
	return n > 0, err
}

// chosen reads the transactions that were ticked, newest first.
func (s *Server) chosen(v *visit, texts []string) ([]app.Transaction, error) {
	ids, err := readIDs(texts, app.ErrNoTransaction)
	if err != nil {
		return nil, err
	}
	var list []app.Transaction
	for _, id := range ids {
		t, err := s.transactionOf(v, id)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b app.Transaction) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.ID, a.ID)) })
	return list, nil
}

// changeChosen makes one change to each ticked transaction, and says how many couldn't be
// changed.
func (s *Server) changeChosen(v *visit) error {
	chosen, err := s.chosen(v, v.PostForm["row"])
	if err != nil {
		return s.showChosen(v, v.PostForm, err)
	}
	done := 0
	var refused []error
	for _, t := range chosen {
		switch err := s.changeOne(v, t); {
		case err == nil:
			done++
		case app.CodeOf(err) == app.CodeConflict:
			refused = append(refused, err)
		case app.CodeOf(err) == app.CodeValidation:
			return s.showChosen(v, v.PostForm, err) // the form is wrong, for every transaction
		default:
			return err
		}
	}
	return s.redirect(v, localPath(v.PostFormValue("back")), withRefused(
		changedText(v.PostFormValue("aside"), done), app.Textf("Not changed: %d.", "Không sửa được: %d.", len(refused)), refused))
}

func changedText(aside string, done int) app.Text {
	switch aside {
	case "":
		return app.Textf("Transactions changed: %d.", "Đã sửa %d giao dịch.", done)
	case "1":
		return app.Textf("Put aside: %d. It is at the end of “Money without a request”, where this can be undone.",
			"Đã để riêng: %d. Tiền để riêng nằm ở cuối trang “Tiền chưa ghép”, có thể hoàn tác ở đó.", done)
	default:
		return app.Textf("Taken back: %d. This money is unmatched again.", "Đã đưa về lại tiền chưa ghép: %d.", done)
	}
}

// errHasNote refuses to replace the note that somebody wrote before.
var errHasNote = app.Conflict("A note that is there already stays.", "Ghi chú đã có được giữ nguyên.")

// changeOne makes the change of the form to one transaction.
func (s *Server) changeOne(v *visit, t app.Transaction) error {
	switch kind, note := book.Kind(v.PostFormValue("kind")), v.PostFormValue("note"); {
	case v.PostForm.Has("aside"):
		return s.Services.Payments.PutAside(v.Context(), v.account.ID, t.ID, v.PostFormValue("aside") == "1")
	case kind != "":
		_, err := s.Services.Books.SetMark(v.Context(), v.account.ID, t.ID, book.Mark{Kind: kind, Note: v.PostFormValue("revenue_note")})
		return err
	case strings.TrimSpace(note) == "":
		return app.InvalidField("note", "is empty", "đang trống")
	case t.Note != "":
		return errHasNote
	default:
		return s.Services.Ledger.SetNote(v.Context(), v.account.ID, t.ID, "", app.Note{Text: note, ChangedAt: v.now, ChangedBy: v.user.Name})
	}
}
