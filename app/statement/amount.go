package statement

import (
	"errors"
	"regexp"
	"strings"

	"baoco/app"
	"baoco/app/sheet"
)

// money is the content of a cell of an amount column.
type money struct {
	value  int64 // with its sign; 0: the cell holds no amount, or there is an err
	signed bool  // a sign was written
	err    error // why the content isn't an amount
	digits bool  // some digit isn't 0, or the spreadsheet has not calculated the value
	zero   bool  // 0 is written
	marks  marks // of a text
}

// known tells whether the cell holds a number, which may be 0.
func (m money) known() bool { return m.err == nil && (m.value != 0 || m.zero) }

// marks are the bytes between the digits of an amount; 0: the amount has no such mark.
type marks struct{ group, decimal byte }

// The reasons why a text is not an amount, beside the reasons of app.
var (
	errAmountGroups = errors.New("neither groups of three digits nor zero decimals")
	errAmountCut    = errors.New("digits were lost in scientific notation")
	errAmountShown  = errors.New("shown as another number")
)

// parseMoney reads an amount in VND. A number of a spreadsheet is taken exactly, and the
// spreadsheet must show the same number, in any currency. In a text, "." "," or a space may
// group digits in threes and "," or "." may begin decimals that are all 0:
//
//	1.234.567  1,234,567  1 234 567.00  1.234.567,00 VND  (1,234)  -1.234  1234-
//
// "1.234" is 1234, since an amount in VND has no decimals; "1.23" and "1,234.50"
// are errors. So is "1.5E+07" as a text: Excel has cut digits of such an amount.
// An empty cell, a dash and 0 are no amount. The whole file must show what the marks of an
// amount mean (see addMarks).
func parseMoney(c cell) money {
	text := c.Plain()
	m := money{digits: strings.ContainsAny(text, "123456789") || text == sheet.NotCalculated}
	m.zero = !m.digits && strings.Contains(text, "0")
	if isDash(text) {
		return m
	}
	if strings.ContainsAny(c.Text, "\u202D\u202E") { // its digits are shown in another order
		m.err = app.ErrAmountSyntax
		return m
	}
	if c.Number {
		m.value, m.err = app.ParseAmount(text)
		shown, negative, signed := cutSign(cutUnit(c.Shown))
		same := strings.EqualFold(shown, strings.TrimLeft(text, "-")) && negative == (m.value < 0)
		shows := m.value != 0 || !m.digits && strings.ContainsAny(c.Shown, "123456789") // 0 may be shown as a dash
		if m.signed = signed; shows && !same && shownCurrency(c) == "" {
			m.err = errAmountShown
		}
		if errors.Is(m.err, app.ErrAmountRange) && !m.digits {
			m.err = nil // 0
		}
		return m
	}
	digits, negative, signed := cutSign(cutUnit(text))
	m.signed = signed
	if digits == "" {
		m.err = app.ErrAmountSyntax
		return m
	}
	var whole string
	if whole, m.marks, m.err = parseDigits(digits); m.err == nil && whole != "" {
		m.value, m.err = app.ParseAmount(whole)
	}
	if negative {
		m.value = -m.value
	}
	return m
}

// cutUnit removes the name of the currency.
func cutUnit(s string) string {
	if strings.Trim(s, "0123456789.,") == "" {
		return s
	}
	s = strings.ToLower(s)
	for _, unit := range []string{"vnđ", "vnd", "đồng", "đ", "₫"} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			s = rest
		} else if rest, ok := strings.CutPrefix(s, unit); ok {
			s = rest
		}
	}
	return strings.TrimFunc(s, sheet.IsSpace)
}

// cutSign removes the sign: a plus or minus before or after the digits, or
// parentheses around them.
func cutSign(s string) (digits string, negative, signed bool) {
	if inner, ok := strings.CutPrefix(s, "("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok {
			return cutUnit(strings.TrimFunc(inner, sheet.IsSpace)), true, true
		}
		return s, false, false
	}
	for _, sign := range []string{"-", "−", "–", "+"} {
		rest, before := strings.CutPrefix(s, sign)
		if !before {
			rest, signed = strings.CutSuffix(s, sign)
		}
		if before || signed {
			return cutUnit(strings.TrimFunc(rest, sheet.IsSpace)), sign != "+", true
		}
	}
	return s, false, false
}

// isDash tells whether a cell holds nothing, or dashes.
func isDash(s string) bool { return strings.Trim(s, "-–—− ") == "" }

// amountForm is digits in one piece or grouped in threes by one mark, and decimals behind
// another mark: its parts are digits, mark, decimals, four times.
var amountForm = regexp.MustCompile(`^(?:(\d{1,3}(?:\.\d{3})+)(?:(,)(\d+))?|(\d{1,3}(?:,\d{3})+)(?:(\.)(\d+))?|` +
	`(\d{1,3}(?: \d{3})+)(?:([.,])(\d+))?|(\d+)(?:([.,])(\d+))?)$`)

var ungrouped = strings.NewReplacer(".", "", ",", "", " ", "")

// parseDigits returns the digits of a whole number without the marks between them and
// without leading zeros. Decimals must all be 0. Digits that may be decimals or a broken
// group are an error, and so is a group behind a 0.
func parseDigits(s string) (whole string, m marks, err error) {
	if strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") {
		return "", m, errAmountGroups // of several lines
	}
	s = strings.Map(func(r rune) rune {
		if sheet.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
	parts := amountForm.FindStringSubmatch(s)
	if parts == nil {
		switch {
		case strings.Trim(s, "0123456789., ") == "":
			return "", m, errAmountGroups
		case strings.Trim(s, "0123456789.,eE+- ") == "" && strings.ContainsAny(s, "eE"):
			return "", m, errAmountCut
		}
		return "", m, app.ErrAmountSyntax
	}
	i := 1
	for parts[i] == "" {
		i += 3
	}
	whole, decimals := parts[i], parts[i+2]
	if parts[i+1] != "" {
		m.decimal = parts[i+1][0]
	}
	if at := strings.IndexAny(whole, "., "); at >= 0 {
		m.group = whole[at]
	}
	fraction := strings.Trim(decimals, "0") != ""
	switch zero := whole[0] == '0' && m.group != 0 && strings.Trim(whole, "0., ") != ""; {
	case zero && whole[1] == m.group && decimals == "": // 0.123
		return "", marks{decimal: m.group}, app.ErrAmountFraction
	case zero, fraction && m.group == 0 && len(whole) <= 3 && whole != "0":
		return "", m, errAmountGroups
	case fraction:
		return "", m, app.ErrAmountFraction
	}
	return strings.TrimLeft(ungrouped.Replace(whole), "0"), m, nil
}

// directions are the words, folded, in a column of directions.
var directions = map[app.Direction]list{
	app.In:  listOf("=c|=co|=cr|=crdt|=credit|=in|=ghi co|=tien vao|=thu|=vao|=den|=nhan|=nhan tien"),
	app.Out: listOf("=d|=no|=dr|=dbit|=debit|=out|=ghi no|=tien ra|=chi|=ra|=di"),
}

// parseDirection reads a direction; empty: the cell names none.
func parseDirection(c cell) app.Direction {
	text := c.Plain()
	words := wordsOf(text[:min(len(text), 40)])
	switch {
	case text == "+", directions[app.In].in(words):
		return app.In
	case text == "-", directions[app.Out].in(words):
		return app.Out
	}
	return ""
}
