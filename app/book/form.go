package book

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"time"

	"baoco/app"
)

// Form is a form of the law.
type Form string

// The forms.
const (
	S1a Form = "s1a" // revenue
	S2e Form = "s2e" // money at banks
)

// FormText is a form as it is valid from a day on. A circular that changes a form adds another
// to forms.json: a book of a period before that day keeps its own.
type FormText struct {
	Form      Form
	ValidFrom string `json:"valid_from"`
	Number    string
	Title     formText
	Basis     formText
	Columns   []FormColumn
}

// FormColumn is a column with the mark that the form gives it.
type FormColumn struct {
	Mark string
	formText
}

type formText struct{ EN, VI string }

// Text is for both languages.
func (t formText) Text() app.Text { return app.Text{EN: t.EN, VI: t.VI} }

//go:embed forms.json
var formsJSON []byte

var forms = func() (list []FormText) {
	if err := json.Unmarshal(formsJSON, &list); err != nil {
		panic(err)
	}
	return list
}()

// formOf is a form as it is valid on a day; the oldest of that form on a day before all.
func formOf(form Form, day app.Day) (found FormText, err error) {
	for _, f := range forms {
		if f.Form == form && (found.Form == "" || f.ValidFrom <= day.String()) {
			found = f
		}
	}
	if found.Form == "" {
		err = app.InvalidField("form", "must be s1a or s2e", "phải là s1a hoặc s2e")
	}
	return found, err
}

// Heading is what stands above a book.
type Heading struct {
	Name    string // of the household business
	Address string
	Place   string // of business
	TaxCode string // empty: none was entered
}

var errTaxCode = app.Text{EN: "must be 10 or 13 digits; a hyphen may stand before the last three",
	VI: "phải có 10 hoặc 13 chữ số; có thể có dấu gạch ngang trước 3 số cuối"}

var taxCode = regexp.MustCompile(`^\d{10}(-?\d{3})?$`)

// check brings a heading into the form in which it is kept.
func (h Heading) check() (Heading, error) {
	var bad app.Invalid
	for field, text := range map[string]*string{"name": &h.Name, "address": &h.Address, "place": &h.Place} {
		var ok bool
		if *text, ok = app.ReadText(*text, maxNote, ""); !ok {
			bad.Add(field, "must be at most 200 characters without control characters", "dài tối đa 200 ký tự, không chứa ký tự điều khiển")
		}
	}
	if h.TaxCode != "" && !taxCode.MatchString(h.TaxCode) {
		bad.Add("tax_code", errTaxCode.EN, errTaxCode.VI)
	}
	return h, bad.Err()
}

// Cash is what was sold for cash on a day.
type Cash struct {
	Day    app.Day
	Amount int64 // 0: nothing is written down
	Note   string
}

// check brings cash of now into the form in which it is kept.
func (c Cash) check(today app.Day) (Cash, error) {
	var bad app.Invalid
	if c.Amount < 0 || c.Amount > app.MaxAmount {
		bad.Add("amount", app.TypedAmountRule.EN, app.TypedAmountRule.VI)
	}
	if c.Day > today {
		bad.Add("day", "must not be after today", "không được sau hôm nay")
	}
	c.Note = checkNote("note", c.Note, &bad)
	return c, bad.Err()
}

// BankAccount is a bank account with its opening balance: what was on it when OpenedOn began. It
// may be unlinked.
type BankAccount struct {
	app.BankAccount
	HasOpening bool
	OpenedOn   app.Day
	Opening    int64
}

// Closing closes the books through a day. Whoever closed them knew the transactions up to LastID:
// those stand in the book, and later ones of the same time in the next.
type Closing struct {
	Number   int64 // from 1
	Through  app.Day
	Zone     *time.Location // of the days of the book
	EndsAt   time.Time      // the first moment after Through
	LastID   int64
	Heading  Heading // of the book
	ClosedAt time.Time
	ClosedBy string // name of the user; empty: the command line
}
