package sms

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app"
)

// fields are what a pattern may name in braces.
var fields = strings.NewReplacer(
	" ", `\s*`,
	// Up to 50 characters with one run of hidden ones.
	"{account}", `(?P<account>[0-9]{0,19}[x*]{0,12}[0-9]{0,19})`,
	// The figure may be written anyhow, and the sign may be missing: amount and
	// direction tell a person what is wrong with them.
	"{amount}", `(?P<sign>[+-])?\s*`+figureField,
	"{figure}", figureField,
	"{vnd}", `(?:vnd|dong|d)`,
	// A balance may be written anyhow: one that can't be read is passed over. What follows
	// the content is never one: a payer can write it.
	"{balance}", `(?P<balance>[+-]?\s*[0-9x*][0-9x*.,]{0,40})`,
	"{available}", `(?P<available>[+-]?\s*[0-9x*][0-9x*.,]{0,40})`,
	// A balance that must be whole.
	"{whole}", `[+-]?(?P<whole>[0-9][0-9.,]{0,40})`,
	"{time}", `(?P<time>[0-9hp:;/\s-]{0,30})`,
)

const figureField = `(?P<amount>[0-9](?:[0-9.,]{0,30}[0-9])?)`

// reader is a shape ready to read with.
type reader struct {
	*shape
	head *regexp.Regexp // fits only at the beginning of a text
	tail *regexp.Regexp // nil where nothing follows the content
}

var readers = sync.OnceValue(func() []reader {
	readers := make([]reader, len(shapes))
	for i := range shapes {
		s := &shapes[i]
		readers[i] = reader{shape: s, head: regexp.MustCompile(`^\s*(?:` + fields.Replace(s.pattern) + `)`)}
		if s.tail != "" {
			readers[i].tail = regexp.MustCompile(fields.Replace(s.tail))
		}
	}
	return readers
})

// match is where a shape's fields stand in a text.
type match struct {
	reader
	text foldedText
	at   []int // of head's groups
}

func (r reader) match(text foldedText) (match, bool) {
	at := r.head.FindStringSubmatchIndex(text.plain)
	return match{r, text, at}, at != nil
}

// field is the folded text of a group of head; "" where the text or the shape
// doesn't have it.
func (f match) field(name string) string {
	i := f.head.SubexpIndex(name)
	if i < 0 || f.at[2*i] < 0 {
		return ""
	}
	return f.text.plain[f.at[2*i]:f.at[2*i+1]]
}

// movement reads the fields. What is wrong with the money or the account is a
// fault; then only bank and account are set.
func (f match) movement(m Message, zone *time.Location) (Movement, *app.FieldError) {
	var read Movement
	if f.field("bank") != "" || FromBank(m.Sender, f.bank) {
		read.Bank = f.bank
	}
	account, fault := accountNumber(f.field("account"))
	if fault != nil {
		return read, fault
	}
	read.AccountNumber, read.Masked = account, strings.Contains(account, "x")
	direction, fault := direction(f.field("sign"))
	if fault != nil {
		return read, fault
	}
	amount, fault := amount(f.field("amount"))
	if fault != nil {
		return read, fault
	}
	if whole := f.field("whole"); whole != "" && !grouped.MatchString(strings.TrimRight(whole, ".,")) {
		return read, &app.FieldError{Field: "amount", Text: app.Text{
			EN: "may not be in VND: the balance beside it isn't a whole number",
			VI: "có thể không phải VND: số dư đi kèm không phải số nguyên",
		}}
	}
	read.Type, read.Amount = direction, amount
	read.Time, read.Clocked = when(f.field("time"), m.ReceivedAt, zone)
	read.Balance, read.Available = balance(cmp.Or(f.field("balance"), f.field("whole"))), balance(f.field("available"))
	read.Content, read.Number = f.content()
	return read, nil
}

// balance reads a balance; 0 where it is none that can be read.
func balance(s string) int64 {
	s = strings.TrimRight(strings.Join(strings.Fields(s), ""), ".,")
	if !grouped.MatchString(strings.TrimLeft(s, "+-")) {
		return 0
	}
	n, _ := strconv.ParseInt(ungroup.Replace(strings.TrimPrefix(s, "+")), 10, 64)
	return n
}

// content is what the payer wrote, and the bank's reference after it.
func (f match) content() (content, number string) {
	from, to := f.at[1], len(f.text.plain)
	if f.tail != nil {
		rest := f.text.plain[from:]
		if ends := f.tail.FindAllStringSubmatchIndex(rest, -1); ends != nil {
			end := ends[len(ends)-1]
			to = from + end[0]
			// A reference on the line of the content, or one of several, may
			// be the payer's.
			if i := f.tail.SubexpIndex("number"); i > 0 && len(ends) == 1 && rest[end[0]] == '\n' {
				number = f.text.source(from+end[2*i], from+end[2*i+1])
			}
		}
	}
	content = strings.TrimSpace(f.text.source(from, to))
	if f.parentheses && strings.HasPrefix(content, "(") {
		content = strings.TrimSpace(strings.TrimSuffix(content[1:], ")"))
	}
	return app.CleanText(content, app.MaxContent), number
}

// accountNumber makes every hidden character an x. An account of which fewer
// than three digits can be seen could be anybody's.
func accountNumber(s string) (string, *app.FieldError) {
	account := strings.ReplaceAll(s, "*", "x")
	if len(account)-strings.Count(account, "x") < 3 {
		return "", &app.FieldError{Field: "account_number", Text: app.Text{
			EN: "must show at least three digits",
			VI: "phải hiện ít nhất ba chữ số",
		}}
	}
	return account, nil
}

func direction(sign string) (app.Direction, *app.FieldError) {
	switch sign {
	case "+", "tang":
		return app.In, nil
	case "-", "giam":
		return app.Out, nil
	}
	return "", &app.FieldError{Field: "type", Text: app.Text{
		EN: "can't be told: the amount has no sign",
		VI: "không xác định được: số tiền không có dấu cộng hay trừ",
	}}
}

// grouped is a whole number, in one piece or in groups of three that one mark
// separates.
var grouped = regexp.MustCompile(`^(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:\.[0-9]{3})+)$`)

var ungroup = strings.NewReplacer(",", "", ".", "")

func amount(s string) (int64, *app.FieldError) {
	if grouped.MatchString(s) {
		if n, err := app.ParseAmount(ungroup.Replace(s)); err == nil {
			return n, nil
		}
	}
	return 0, &app.FieldError{Field: "amount", Text: app.Text{
		EN: "must be a whole number of VND from 1 to 9999999999999, written like 1500000, 1,500,000 or 1.500.000",
		VI: "phải là số nguyên VND từ 1 đến 9999999999999, viết như 1500000, 1,500,000 hoặc 1.500.000",
	}}
}
