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

// FormText is a version of a form, valid from a day on. If a circular changes a form, another
// version is added to forms.json: a book of a period before that day keeps its version.
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

// Text returns the text in both languages.
func (t formText) Text() app.Text { return app.Text{EN: t.EN, VI: t.VI} }

//go:embed forms.json
var formsJSON []byte

var forms = func() (list []FormText) {
	if err := json.Unmarshal(formsJSON, &list); err != nil {
		panic(err)
	}
	return list
}()

// formOf returns the version of a form that is valid on a day, or the oldest version for an
// earlier day.
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

// Heading is the data about the business above a book.
type Heading struct {
	Name    string // the name of the household business
	Address string
	Place   string // the place of business
	TaxCode string // empty: none was entered
}

var errTaxCode = app.Text{EN: "must be 10 or 13 digits; a hyphen may stand before the last three",
	VI: "phải có 10 hoặc 13 chữ số; có thể có dấu gạch ngang trước 3 số cuối"}

var taxCode = regexp.MustCompile(`^\d{10}(-?\d{3})?$`)

// check checks a heading and returns it in the form in which it is stored.
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

// Cash is the sales for cash of a day, in VND.
type Cash struct {
	Day    app.Day
	Amount int64 // 0: none was entered
	Note   string
}

// check checks cash and returns it in the form in which it is stored.
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

// BankAccount is a bank account with its opening balance, in VND: the balance at the start of
// OpenedOn. It may be unlinked.
type BankAccount struct {
	app.BankAccount
	HasOpening bool
	OpenedOn   app.Day
	Opening    int64
}

// Closing closes the books through a day. The closed book has the transactions up to LastID.
// Later ones of the same time are in the next book.
type Closing struct {
	Number   int64 // from 1
	Through  app.Day
	Zone     *time.Location // the zone of the days of the book
	EndsAt   time.Time      // the first moment after Through
	LastID   int64
	Heading  Heading // the heading of the book
	ClosedAt time.Time
	ClosedBy string // name of the user; empty: the command line
}
