package dashboard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/sheet"
	"baoco/web/wire"
)

// bookPath is the page on which the books are shown and closed, and their heading is set.
const bookPath = "/book"

type bookData struct {
	Periods  []book.Period
	Period   book.Period
	Form     book.Form
	By       book.Grouping
	Sheet    string // address of the page to print
	Exports  exports
	Closings []book.Closing
	Close    *confirmation // closes the period; nil: it can't be closed
	Open     *confirmation // takes back the last closing; nil: nothing is closed
	Heading  book.Heading
	Cash     []book.Cash // of the period
	CashForm cashForm
	Accounts []openingRow
	Limited  bool   // the visitor sees only some bank accounts; the cash is of the whole shop
	Refused  string // the name of the refused form; empty: none was refused
}

type cashForm struct{ Day, Amount, Note string }

// openingRow is a bank account with the form of its opening balance. Reported is the last balance
// that a provider reported before the period; nil: none was reported.
type openingRow struct {
	book.BankAccount
	Day, Amount string
	Reported    *reportedBalance
}

// requestedBook reads which book the address names.
func (s *Server) requestedBook(v *visit) (book.Request, error) {
	values := v.URL.Query()
	r := book.Request{Form: book.S1a, By: book.ByDay}
	if form := values.Get("form"); form != "" {
		r.Form = book.Form(form)
	}
	if by := values.Get("by"); by != "" {
		r.By = book.Grouping(by)
	}
	var err error
	r.Period, err = s.requestedPeriod(v)
	return r, err
}

func bookValues(r book.Request) url.Values {
	return url.Values{"form": {string(r.Form)}, "period": {r.Period.String()}, "by": {string(r.By)}}
}

// showBook shows the page. If a form was refused, d has what was entered, and wrong says why.
func (s *Server) showBook(v *visit, d bookData, wrong error) error {
	asked, err := s.requestedBook(v)
	if wrong == nil {
		wrong = err
	}
	ctx, account, today := v.Context(), v.account.ID, app.DayOf(v.now, v.zone)
	d.Periods, d.Period, d.Form, d.By = book.Periods(today), asked.Period, asked.Form, asked.By
	d.Sheet, d.Exports = linkTo(bookPath+"/sheet", bookValues(asked)), exportLinks(bookPath+"/file", bookValues(asked))
	if d.Closings, err = s.Services.Books.Closings(ctx, account); err != nil {
		return err
	}
	if v.may(ownerOnly) && d.Period.Last < today && (len(d.Closings) == 0 || d.Closings[len(d.Closings)-1].Through < d.Period.Last) {
		d.Close = new(s.bookClosing(v, d.Period))
	}
	if v.may(ownerOnly) && len(d.Closings) > 0 {
		d.Open = new(s.bookOpening(v, d.Closings[len(d.Closings)-1]))
	}
	if d.Refused != "heading" {
		if d.Heading, err = s.Services.Books.Heading(ctx, account); err != nil {
			return err
		}
	}
	d.Limited = v.user.Limit.On
	if d.Cash, err = s.Services.Books.Cash(ctx, account, d.Period.First, d.Period.Last); err != nil {
		return err
	}
	if d.Refused != "cash" {
		d.CashForm.Day = min(today, d.Period.Last).String()
	}
	if err := s.readOpenings(v, &d); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"book", "book", app.Text{EN: "Books", VI: "Sổ sách"}}, d)
}

// readOpenings reads the bank accounts with the forms of their opening balances. If one of these
// forms was refused, d.Accounts has only this one before.
func (s *Server) readOpenings(v *visit, d *bookData) error {
	sent := d.Accounts
	list, err := s.Services.Books.BookAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	reported, err := s.Services.Ledger.Balances(v.Context(), v.account.ID, d.Period.First-1)
	d.Accounts = nil
	for _, b := range list {
		row := openingRow{BankAccount: b, Day: d.Period.First.String()}
		if balance, has := reported[b.ID]; has {
			row.Reported, row.Amount = s.reportedBalance(v, &balance), app.GroupDigits(balance.Amount, v.Lang)
		}
		if b.HasOpening {
			row.Day, row.Amount = b.OpenedOn.String(), app.GroupDigits(b.Opening, v.Lang)
		}
		if len(sent) > 0 && sent[0].ID == b.ID {
			row.Day, row.Amount = sent[0].Day, sent[0].Amount
		}
		d.Accounts = append(d.Accounts, row)
	}
	return err
}

// mostLines is the largest number of lines of a book that is shown as a page.
const mostLines = 2000

// errManyLines ends the reading of a book that is too long for a page.
var errManyLines = app.InvalidField("by", "has too many lines for a page: choose a line a day, or Excel",
	"có quá nhiều dòng để xem trên trang: hãy chọn mỗi ngày một dòng, hoặc tải Excel")

// sheetData is the page of a book to print.
type sheetData struct {
	*book.Book
	Lines []book.Line
	Back  string
}

func (s *Server) bookSheet(v *visit) error {
	b, err := s.readBook(v)
	if err != nil {
		return s.showBook(v, bookData{}, err)
	}
	d := sheetData{Book: b, Back: linkTo(bookPath, bookValues(b.Request))}
	err = b.Each(v.Context(), func(l book.Line) error {
		if len(d.Lines) == mostLines {
			return errManyLines
		}
		d.Lines = append(d.Lines, l)
		return nil
	})
	if errors.Is(err, errManyLines) {
		return s.showBook(v, bookData{}, err)
	}
	if err != nil {
		return err
	}
	return s.write(v, 200, "book-sheet", s.view(v, "book", b.Text.Title.Text(), d))
}

func (s *Server) readBook(v *visit) (*book.Book, error) {
	asked, err := s.requestedBook(v)
	if err != nil {
		return nil, err
	}
	return s.Services.Books.Book(v.Context(), v.account.ID, asked)
}

func (s *Server) exportBook(v *visit, b *book.Book) error {
	e := &export[book.Line]{v: v, server: s, name: strings.ToLower(b.Text.Number) + "-" + b.Period.String()}
	if err := e.readFormat(v.URL.Query()); err != nil {
		return err
	}
	e.begin = func(format sheet.Format, w io.Writer, lang app.Lang, zone *time.Location) (sheet.Writer[book.Line], error) {
		return sheet.NewBook(format, w, b, lang, zone)
	}
	return e.send(func(ctx context.Context) error {
		detail := app.AuditNamed(b.Text.Number + " " + b.Period.String())
		if err := s.Services.Ledger.Audit(ctx, v.account.ID, book.DeedExport, 0, detail); err != nil {
			return err
		}
		var page []book.Line
		err := b.Each(ctx, func(l book.Line) error {
			if page = append(page, l); len(page) < exportLines {
				return nil
			}
			defer func() { page = page[:0] }()
			return e.add(page)
		})
		if err == nil && len(page) > 0 {
			err = e.add(page)
		}
		return err
	})
}

// exportLines is how many lines of a book an export writes at a time.
const exportLines = 500

// bookClosing asks before the books are closed through the end of a period.
func (s *Server) bookClosing(v *visit, p book.Period) confirmation {
	return confirmation{
		Path: bookPath + "/close?period=" + p.String(), Back: bookPath + "?period=" + p.String(), section: "book",
		Title: v.T("Close the books?", "Chốt sổ?"), Button: v.T("Close the books", "Chốt sổ"),
		done: app.Text{EN: "The books are closed.", VI: "Đã chốt sổ."},
		Texts: []string{v.T("Everything through ", "Mọi khoản đến hết ngày ") + v.Date(p.Last) +
			v.T(" stays as it is now: marks, cash, opening balances and the heading. What is recorded later for that time goes into the next book.",
				" giữ nguyên như hiện tại: đánh dấu, tiền mặt, số dư đầu kỳ và thông tin đầu sổ. Khoản ghi nhận muộn sẽ vào sổ kỳ sau.")},
		do: func() error {
			_, err := s.Services.Books.Close(v.Context(), v.account.ID, p, v.user.Name, v.now)
			return err
		},
	}
}

// bookOpening asks before the last closing is taken back.
func (s *Server) bookOpening(v *visit, last book.Closing) confirmation {
	return confirmation{
		Path: bookPath + "/open?through=" + last.Through.String(), Back: bookPath, section: "book",
		Title: v.T("Open the book again?", "Mở lại sổ?"), Button: v.T("Open the book again", "Mở lại sổ"),
		done: app.Text{EN: "The book is open again.", VI: "Đã mở lại sổ."},
		Texts: []string{v.T("The last closing, through ", "Bỏ lần chốt gần nhất, đến hết ngày ") + v.Date(last.Through) +
			v.T(", is taken back. A book that you handed in already may then say something else.",
				". Sổ bạn đã nộp có thể sẽ khác đi.")},
		do: func() error {
			_, err := s.Services.Books.OpenBooks(v.Context(), v.account.ID, last.Through)
			return err
		},
	}
}

func (s *Server) openBook(v *visit) error {
	last, err := s.Services.Books.LastClosing(v.Context(), v.account.ID)
	if err == book.ErrNoneClosed && v.Method == http.MethodGet { // the closing was taken back already
		return s.redirect(v, bookPath, app.Text{})
	}
	if err != nil {
		return err
	}
	if through, named := v.URL.Query()["through"]; named && through[0] != last.Through.String() {
		return book.ErrOtherClosing // it was taken back already
	}
	return s.confirm(v, s.bookOpening(v, last))
}

func (s *Server) setHeading(v *visit) error {
	h := book.Heading{Name: v.PostFormValue("name"), Address: v.PostFormValue("address"), Place: v.PostFormValue("place"),
		TaxCode: strings.TrimSpace(v.PostFormValue("tax_code"))}
	if err := s.Services.Books.SetHeading(v.Context(), v.account.ID, h); err != nil {
		return s.showBook(v, bookData{Heading: h, Refused: "heading"}, err)
	}
	return s.redirect(v, bookPath, app.Text{EN: "Saved.", VI: "Đã lưu."})
}

// readDayAmount reads a day and an amount. An empty amount is 0.
func readDayAmount(day, amount string, bad *app.Invalid) (d app.Day, n int64) {
	d, err := app.ParseDay(day)
	if err != nil {
		bad.Add("day", "must be a date as Y-m-d", "phải là ngày dạng Y-m-d")
	}
	sign := int64(1)
	if text, minus := strings.CutPrefix(strings.ReplaceAll(amount, "−", "-"), "-"); minus {
		amount, sign = text, -1
	}
	if amount != "" && amount != "0" {
		if n, err = app.ReadAmount(amount); err != nil {
			bad.Add("amount", app.TypedAmountRule.EN, app.TypedAmountRule.VI)
		}
	}
	return d, sign * n
}

// setCash writes down the cash of a day; an empty amount removes it.
func (s *Server) setCash(v *visit) error {
	form := cashForm{v.PostFormValue("day"), strings.TrimSpace(v.PostFormValue("amount")), v.PostFormValue("note")}
	var bad app.Invalid
	c := book.Cash{Note: form.Note}
	c.Day, c.Amount = readDayAmount(form.Day, form.Amount, &bad)
	err := bad.Err()
	if err == nil {
		err = s.Services.Books.SetCash(v.Context(), v.account.ID, c, v.now)
	}
	if err != nil {
		return s.showBook(v, bookData{CashForm: form, Refused: "cash"}, err)
	}
	return s.redirect(v, bookPath+"?period="+c.Day.String()[:len("2026-11")], app.Text{EN: "Saved.", VI: "Đã lưu."})
}

// setOpening writes the opening balance of a bank account; an empty amount removes it.
func (s *Server) setOpening(v *visit) error {
	row := openingRow{Day: v.PostFormValue("day"), Amount: strings.TrimSpace(v.PostFormValue("amount"))}
	var bad app.Invalid
	var known bool
	if row.ID, known = wire.ParseID(v.PostFormValue("bank_account_id")); !known {
		return app.ErrUnknownReference("bank_account_id")
	}
	row.OpenedOn, row.Opening = readDayAmount(row.Day, row.Amount, &bad)
	row.HasOpening = row.Amount != ""
	err := bad.Err()
	if err == nil {
		err = s.Services.Books.SetOpening(v.Context(), v.account.ID, row.BankAccount, v.now)
	}
	if err != nil {
		return s.showBook(v, bookData{Accounts: []openingRow{row}, Refused: "opening"}, err)
	}
	return s.redirect(v, bookPath, app.Text{EN: "Saved.", VI: "Đã lưu."})
}
