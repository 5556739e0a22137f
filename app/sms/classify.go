package sms

import (
	"regexp"
	"strings"

	"baoco/app/pattern"
)

// What a text is that can't be read as a movement. Two mistakes cost something, and they
// pull apart: to drop a movement of money, and to store a one-time code. So:
//
//  1. A text that gives a code is no money, unless an amount with its direction stands
//     before the code, and money comes in or a balance is told: then the code is what a
//     payer wrote. No bank tells a balance with a code, or asks for one to pay in.
//  2. What else shows a movement of money is kept: a signed amount with an
//     account or a balance; an amount beside a balance and an account; an
//     amount with a word for its movement and an account, unless the text is
//     about a debt.
//  3. The rest is no money: advertising, logins, statements, what friends write.
//
// A word for codes alone decides nothing, since banks warn of giving them away
// in any text. An account is a word for it with a number; a balance is a word
// for it with an amount, and no amount of a balance counts as another.
func classify(text string) Kind {
	text = strings.ReplaceAll(text, "\n", " ")
	switch {
	case looksLikeMoney(text):
		return Unreadable
	case codeWords().MatchString(text):
		return Code
	}
	return Other
}

func looksLikeMoney(text string) bool {
	text = balanceChange().ReplaceAllString(text, "ps")
	rest := balanceWords().ReplaceAllString(text, " # ")
	balance, account := rest != text, accountWords().MatchString(rest)
	money, in := len(rest), false
	if moved := movedAmount().FindStringIndex(rest); moved != nil {
		money, in = moved[0], moneyIn().MatchString(rest[moved[0]:moved[1]])
	}
	if code, given := codeAt(rest, money); given {
		return (balance || in && account) && money < code
	}
	switch {
	case money < len(rest) && (account || balance):
		return true
	case balance && account && anyAmount().MatchString(rest):
		return true
	}
	return account && movementWords().MatchString(rest) && !debtWords().MatchString(rest)
}

// figure is an amount by its look: grouped, or followed by a currency.
const figure = `(?:[0-9]{1,3}(?:[.,][0-9]{3})+|[0-9]{1,3}(?: [0-9]{3})+\b|[0-9]{1,13}(?:[.,][0-9]{1,2})?\s?(?:vnd|dong\b|d\b|₫|usd))`

const signedFigure = `(?:\+|(?:^|[^0-9a-z])[−–-])\)?\s?(?:vnd|usd)?\s?` + figure

var (
	anyAmount = pattern.Lazy(figure)

	// The words between a word and its number hold no digit, so that an
	// account's number is never passed over to reach an amount.
	balanceWords = pattern.Lazy(`(?:so\s?du|(?:\b|vnd)sd|\bbalance|\bavail)[^0-9]{0,40}?[+-]?\s?` + figure)
	// A change of the balance is a movement, no balance.
	balanceChange = pattern.Lazy(`\b(?:thay doi|bien dong) so du\b`)
	accountWords  = pattern.Lazy(`(?:(?:tk|\b(?:tai khoan|account|acct?|a/c))[^0-9]{0,25}?|\bthe:?\s?)(?:[x*]{2,}[0-9]{2,}` +
		`|[0-9][0-9x*]{3,})`)
	movementWords = pattern.Lazy(`\b(?:tang|giam|ghi co|ghi no|bao co|bao no|bi tru|duoc cong|phat sinh|thay doi|bien dong|da nhan` +
		`|vua nhan|nhan duoc|` +
		`da chuyen|vua chuyen|da rut|da nop|ps|gd|giao dich|credit|credited|debit|debited)\b[^0-9]{0,30}?` + figure)
	debtWords = pattern.Lazy(`\b(?:sao ke|du no|no qua han|den han|qua han|han thanh toan|nhac no|khoan vay|thanh toan toi thieu` +
		`|statement)\b`)
)

const labelledFigure = `\b(?:gd(?: moi nhat)?|ps|phat sinh|so tien|thay doi) ?:? ?[+-] ?(?:vnd ?)?[0-9]`

// secondNotice tells whether a content holds a movement of its own: an amount with its
// direction beside an account, a balance or its label.
func secondNotice(content string) bool {
	content = balanceChange().ReplaceAllString(content, "ps")
	rest := balanceWords().ReplaceAllString(content, " # ")
	return labelledAmount().MatchString(rest) || movedAmount().MatchString(rest) && (rest != content || accountWords().MatchString(rest))
}

var (
	labelledAmount = pattern.Lazy(labelledFigure)
	movedAmount    = pattern.Lazy(signedFigure + `|` + labelledFigure + `|(?:^|[^0-9a-z])[+-] ?[1-9][0-9]{3,8}(?:[^0-9]|$)` +
		`|\b(?:tang|giam|ghi co|ghi no)\b[^0-9]{0,5}` + figure)
	moneyIn = pattern.Lazy(`\+|tang|ghi co`)
	// secondFigure is what a content without a label may not hold: it may be a part that isn't known.
	secondFigure = pattern.Lazy(signedFigure + `|[0-9]\s?(?:vnd|dong\b|d\b|₫|usd)|\b(?:phi|thue|vat|fee)\b[^0-9]{0,10}` + figure)
	// noMoney is what banks write of transfers that failed or are still to come.
	noMoney = pattern.Lazy(`\b(?:(?:khong|chua) (?:thanh cong|thuc hien)|that bai|tu choi|(?:da|bi) huy|huy (?:gd|giao dich)` +
		`|(?:cho|dang) xu ly|(?:dat|len) (?:lich|lenh)|hen gio|yeu cau|se (?:bi|duoc)|failed|unsuccessful|declined|scheduled|pending)\b`)
)

var (
	codeWords = pattern.Lazy(`\b(?:smart|e|sms|ma)?otp|\bma (?:xac thuc|xac nhan|kich hoat|bao mat|pin)\b|\bmat khau\b|\bpassword\b` +
		`|\bpasscode\b|\b(?:verification|security) code\b|\bone.time\b`)
	// A code follows its word, or a word that says "is" somewhere after it, or
	// goes before it: "123456 la ma OTP".
	codeNext   = pattern.Lazy(`^[^0-9.!?]{0,80}?(` + codeFigure + `)`)
	codeAfter  = pattern.Lazy(`(?:\b(?:la|is)\b|[:=])\s?(` + codeFigure + `)`)
	codeBefore = pattern.Lazy(`(?:^|[^0-9a-z.,/:+-])\s?(` + codeFigure + `)\s?(?:la|is)\b[^0-9]{0,40}$`)
	// What stands between a word for codes and the number of a help line.
	helpLine = pattern.Lazy(`\b(?:lh|hotline|lien he|goi|tong dai|call)\b`)
)

const codeFigure = `[0-9]{3}[ -][0-9]{3}|[0-9]{4,8}`

// codeAt tells whether a text gives a code, and where the word for it stands.
// After money, where a payer may have written the word, only a number next to
// it is a code, not the reference of the transfer further on.
func codeAt(text string, money int) (int, bool) {
	for _, word := range codeWords().FindAllStringIndex(text, 20) {
		before, after := text[max(0, word[0]-60):word[0]], text[word[1]:min(len(text), word[1]+300)]
		if codeBefore().MatchString(before) || isCode(codeNext(), after) || word[0] < money && isCode(codeAfter(), after) {
			return word[0], true
		}
	}
	return 0, false
}

// isCode tells whether a number that form finds stands alone: no part of an
// amount, a date, an account or a help line's number.
func isCode(form *regexp.Regexp, text string) bool {
	for _, at := range form.FindAllStringSubmatchIndex(text, 20) {
		if !goesOn(text[at[3]:]) && !helpLine().MatchString(text[max(0, at[2]-20):at[2]]) {
			return true
		}
	}
	return false
}

// goesOn tells whether a number goes on in what follows its digits.
func goesOn(next string) bool {
	if next == "" {
		return false
	}
	if alphanumeric(next[0]) {
		return true
	}
	return strings.IndexByte(".,/:-*", next[0]) >= 0 && len(next) > 1 && next[1] >= '0' && next[1] <= '9'
}

func alphanumeric(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }
