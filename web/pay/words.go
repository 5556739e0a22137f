package pay

import (
	"time"

	"baoco/app"
)

type words struct {
	Lang app.Lang
	zone *time.Location
	now  time.Time
}

// T is the text in the visitor's language.
func (w words) T(en, vi string) string { return app.Text{EN: en, VI: vi}.In(w.Lang) }

// Money writes an amount.
func (w words) Money(amount int64) string {
	return app.GroupDigits(amount, w.Lang) + "\u00a0₫"
}

// When writes an instant with its day: a picture of the page is kept.
func (w words) When(t time.Time) string { return app.WriteTime(t, w.zone).In(w.Lang) }

// copied is a value with a button that copies it.
type copied struct {
	words
	Shown, Value, Label string
}

// Copy shows a value with a button that copies it; label names the button.
func (w words) Copy(shown, value, label string) copied { return copied{w, shown, value, label} }

// BankName is what people call a bank.
func (w words) BankName(code string) string { return app.BankShortName(code) }
