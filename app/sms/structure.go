package sms

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/pattern"
)

// A text is read by its structure, whatever bank sends it: labelled parts, one after the
// other, from the first character to the content. It counts only where every character
// before the content belongs to a part, and where the parts are one account, one amount
// with its direction, at most one time, and a balance or the label of the content. Anything
// else, such as a fee, a second amount or a word without a meaning here, is a doubt, and the
// text is kept for a person.
//
// What the payer writes comes after the label of the content or, where there is none,
// after a balance. Nothing of it is read any more but a balance at the very end of the text,
// and the bank's reference on a line of its own. Where it holds a second notice, the whole
// text is kept.

// part is one kind of part: its pattern fits at the beginning of what is left.
type part struct {
	name    string
	pattern func() *regexp.Regexp
}

// In the patterns a space is any white space or none, since texts lose their spaces and
// line breaks on the way. The first part that fits counts.
var parts = []part{
	newPart("account",
		`(?:so du|sd|bien dong so du|bien dong)? (?:(?:so )?(?:tk|tai khoan)(?:/account)?|stk|account|acct?)`+
			` (?:thanh toan|gd|giao dich)?(?: vnd)?(?: (?P<bank>[a-wyz][a-z]{1,14}))? :?`+
			` (?P<account>[0-9]{0,19}[x*•]{1,12}[0-9]{0,19}|[0-9]{0,6}(?:\.{2,6}|…)[0-9]{3,19}|[0-9]{0,19})`+
			`(?: \(? vnd \)?)? :?(?: tai (?P<branch>[a-z]{2,15}) :?)?(?: cua (?:quy khach|ban))?`),
	newPart("number", reference),
	newPart("amount", `gd moi nhat : (?P<sign>[+-]) `+figureField+`(?P<do> :)`),
	newPart("amount",
		`(?:(?:da|vua)? (?:so tien (?:gd|giao dich)?|gd|giao dich|ps|phat sinh|(?:thay doi|bien dong) (?:so du)?|nhan (?:duoc)?`+
			`|change) :?)? \(? (?P<sign>[+-]) \)? `+figureField),
	newPart("amount", `(?:(?:ps|gd|phat sinh|duoc|da|vua|bi) )*(?P<word>tang|giam|ghi co|ghi no) :? (?:\(? (?P<sign>[+-]) \)?)? `+
		figureField+`(?P<do> do)?`),
	newPart("balance", balanceLabel+` [0-9.,]{0,20}\*{2,} (?:vnd)?`), // the app hides it
	newPart("balance", balanceLabel+` (?P<sign>[+-])? `+figureField),
	newPart("balance", `den `+clock+` (?:ngay)? `+day+` la `+figureField), // the time is the balance's
	newPart("time",
		`(?:(?:vao luc|luc|vao|ngay|(?:thoi gian|tg) (?:gd|giao dich)?|time|date) :?)? (?P<time>`+clock+` [;,]? (?:ngay)? `+day+`|`+
			day+` [;,]? (?:luc)? `+clock+`|`+day+`|`+clock+`)`),
	newPart("content", `(?:(?:tu|den|nguoi (?:chuyen|nhan)|payer|payee) :[^|\n]{0,200}?[\s|.;,])?`+
		` (?:(?:noi dung (?:gd|giao dich|ck|chuyen khoan)?|nd (?:gd|ck)?|n/dung|gd|ct|dien giai|mo ta|loi nhan|detail|description|ref) :|ref\b)`),
	newPart("separator", `sd dau :? `+figureField), // the balance before
	newPart("separator", `[\s.;,|]`),
}

const (
	figureField  = `(?P<before>vnd)? (?P<amount>[0-9](?:[0-9.,]{0,30}[0-9])?)(?P<vnd> (?:vnd|dong\b|d\b|₫))?`
	balanceLabel = `(?:so du|sdc|sd|balance)` +
		` (?:(?:tk|cuoi|hien tai|hien thoi|kha dung(?:/available balance)?|moi|sau (?:gd|giao dich)) )*(?:la|:)?`
	clock     = `[0-9]{1,2}(?:h[0-9]{1,2}p?|:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]{3})?)?)`
	day       = `[0-9]{1,2}[/-][0-9]{1,2}(?:[/-][0-9]{2,4})?`
	reference = `(?:so|ma) (?:gd|giao dich) :? (?P<number>[0-9a-z]+(?:-[0-9a-z]+)*)`
)

var (
	// titles are what may stand before the first part: the name of the bank or of its app,
	// and what the notice is.
	titles = []func() *regexp.Regexp{
		pattern.Lazy(`^\s*(?:(?:thong bao|ngan hang)\s+)?[(\[]?(?P<bank>(?:[a-z]{1,12} ){1,2}bank\b|[a-z]{2,20})[)\]]?` +
			`(?:\s+(?:neo|digibank|smartbanking|ipay|mobile|plus|one|pay)\b)?\s*:?`),
		pattern.Lazy(`^\s*(?:(?:thong bao|tb\b)(?:\s*(?:bien dong|thay doi) so du|\s*(?:giao dich|gd))?\s*:?` +
			`|(?:bien dong|thay doi) so du\s*[:\n])`),
	}
	lastBalance = pattern.Lazy(`(?:^|[\s.,;|])` + spaced(` `+balanceLabel+` [+-]? `+figureField+` \.?`) + `\s*$`)
	// lastReference and lastTime are the bank's: a payer writes no line breaks.
	lastReference = pattern.Lazy(`\n` + spaced(reference))
	lastTime      = pattern.Lazy(`\n(` + spaced(clock+` `+day+`|`+day+` `+clock) + `)\s*$`)
	// inParentheses is a content without a label, which goes on to the last balance. One that
	// Agribank cut ends in (...) and has no parenthesis behind it.
	inParentheses = pattern.Lazy(`^([a-z]{0,15})\(([^()]*(?:\([^()]*\)[^()]*)*(?:\(\.\.\.)?)\)\s*$`)
	// goesOnInDigits is what follows the first group of a figure whose groups are separated by
	// blanks, and foreign what follows an amount of another currency.
	goesOnInDigits = pattern.Lazy(`^ [0-9]{3}(?:[^0-9]|$)`)
	foreign        = pattern.Lazy(`^\s*(?:[$€£¥]|(?:usd|eur|gbp|jpy|aud|sgd|cad|chf|cny|hkd|krw|thb|twd|nzd)(?:[^a-z]|$))`)
)

func newPart(name, text string) part {
	return part{name, pattern.Lazy(`^(?:` + spaced(text) + `)`)}
}

func spaced(pattern string) string { return strings.ReplaceAll(pattern, " ", `\s*`) }

// maxParts is how many parts and separators are read before a text is given up.
const maxParts = 40

// structure is what the parts of a text say.
type structure struct {
	banks           []string // names of banks, as written
	account         string
	amount, sign    string // the amount without what separates its groups
	word            string // of the direction, without white space
	number, time    string
	told            bool  // there is a balance
	held, available int64 // the balance of the account, and the part of it that can be spent; 0: none that can be read
	labelled        bool  // the content has a label
	content         string
	rest            string // folded: the content and what stands behind it, but for a balance at the end
	accounts        int
	amounts, times  int
	end             int // of the parts, in the folded text
}

// readStructure reads a text by its parts. A fault says which doubt is left; then the
// movement holds at most bank and account.
func readStructure(text foldedText, m Message, zone *time.Location) (Movement, *app.FieldError) {
	s, whole := takeApart(text)
	var read Movement
	bank, agreed := bankOf(m.Sender, s.banks)
	if s.accounts == 1 && agreed {
		account, fault := accountNumber(s.account)
		if read.Bank = bank; fault != nil {
			return read, fault
		}
		read.AccountNumber, read.Masked = account, strings.Contains(account, "x")
	}
	direction, known := directionOf(s.sign, s.word)
	if !whole || !known || !agreed || s.accounts != 1 || s.amounts != 1 || s.times > 1 || !s.told && !s.labelled {
		return read, notKnown
	}
	amount, err := app.ParseAmount(s.amount)
	if err != nil {
		return read, amountFault
	}
	at, clocked := when(s.time, m.ReceivedAt, zone)
	late := at.After(m.ReceivedAt.Add(clocksDiffer))
	offer := s.sign == "" && (s.word == "tang" || s.word == "giam") // without their marks: gives, or takes off a price
	switch {
	case secondNotice(s.rest), !s.told && (late || offer || codeWords().MatchString(text.plain)),
		noMoney().MatchString(s.rest) && (!s.told || direction == app.Out):
		return read, notKnown
	}
	read.Type, read.Amount, read.Time, read.Clocked = direction, amount, at, clocked
	read.Content, read.Number = app.CleanText(s.content, app.MaxContent), s.number
	read.Balance, read.Available = s.held, s.available
	return read, nil
}

// takeApart gives the parts of a text. It reports false where something before
// the content is no part, or is perhaps not in VND.
func takeApart(text foldedText) (structure, bool) {
	s := structure{}
	s.readTitle(text.plain)
	// The parts as they were after a balance, and the line of the time behind it: there a
	// content without a label begins.
	var before *structure
	cutOff := false // if the text ends here, digits may be missing
	for range maxParts {
		if s.end == len(text.plain) {
			return s, !cutOff
		}
		name, found := nextPart(text.plain[s.end:])
		switch {
		case name == "" && before != nil:
			s = *before
			s.readContent(text, len(text.plain))
			return s, !secondFigure().MatchString(s.rest)
		case name == "":
			return s, !s.told && s.readInParentheses(text)
		}
		s.end += len(found[""])
		if found["amount"] != "" && !s.inVND(text.plain, found) {
			return s, false
		}
		if name == "content" || found["do"] != "" {
			s.add(text, name, found)
			return s, s.readLabelled(text)
		}
		if name != "separator" {
			cutOff = name == "account" || name == "amount" && found["vnd"] == ""
		}
		s.add(text, name, found)
		first := name == "balance" && before == nil && s.accounts == 1 && s.amounts == 1
		line := name == "time" && before != nil && clockPattern().MatchString(s.time) && strings.HasPrefix(text.plain[s.end:], "\n")
		if first || line {
			as := s
			before = &as
		}
	}
	return s, false
}

// add notes a part by its groups. It ends at s.end.
func (s *structure) add(text foldedText, name string, found map[string]string) {
	switch name {
	case "account":
		s.accounts++
		s.account = found["account"]
		for _, bank := range []string{found["bank"], found["branch"]} {
			if bank != "" {
				s.banks = append(s.banks, bank)
			}
		}
	case "number":
		s.number = text.source(s.end-len(found["number"]), s.end)
	case "amount":
		s.amounts++
		s.amount, s.sign = digits(found["amount"], vnd(found)), found["sign"]
		s.word = strings.Join(strings.Fields(found["word"]), "")
	case "balance":
		s.addBalance(found)
	case "time":
		s.times++
		s.time = found["time"]
	}
}

func (s *structure) readTitle(plain string) {
	for range 2 {
		for _, title := range titles {
			at := title().FindStringSubmatchIndex(plain[s.end:])
			if at == nil {
				continue
			}
			if i := title().SubexpIndex("bank"); i > 0 {
				name := plain[s.end+at[2*i] : s.end+at[2*i+1]]
				if _, known := app.FindBank(name); !known {
					continue
				}
				s.banks = append(s.banks, name)
			}
			s.end += at[1]
		}
	}
}

// nextPart gives the part that text begins with, by its groups; "" is the whole
// of it. The name is empty where no part fits.
func nextPart(text string) (string, map[string]string) {
	for _, p := range parts {
		groups := p.pattern().FindStringSubmatch(text)
		if groups == nil || groups[0] == "" {
			continue
		}
		found := map[string]string{}
		for i, name := range p.pattern().SubexpNames() {
			found[name] = groups[i]
		}
		found[""] = groups[0]
		return p.name, found
	}
	return "", nil
}

// vnd tells whether a figure has its currency beside it.
func vnd(found map[string]string) bool { return found["before"] != "" || found["vnd"] != "" }

// inVND reports false where a figure goes on after its part, is in another currency, or has
// a fraction and no currency. Techcombank names none; an account that isn't kept in VND shows
// it by cents.
func (s *structure) inVND(plain string, found map[string]string) bool {
	if strings.HasSuffix(found["vnd"], "vnd") && strings.HasPrefix(plain[s.end:], "_") {
		s.end -= len(found["vnd"]) // it is the content's: VND_TGTT_…
		found["vnd"] = ""
	}
	rest := plain[s.end:]
	if vnd(found) {
		return true
	}
	return digits(found["amount"], false) != "" && !foreign().MatchString(rest) &&
		(len(found["amount"]) > 3 || !goesOnInDigits().MatchString(rest))
}

// readLabelled reads the content behind its label, and the balance behind it where none stood before.
func (s *structure) readLabelled(text foldedText) bool {
	s.labelled = true
	to := len(text.plain)
	if end, known := endingBalance(text.plain[s.end:]); end >= 0 && !s.told {
		if !known {
			return false
		}
		s.told, to = true, s.end+end
	}
	s.readContent(text, to)
	return true
}

// readInParentheses reads a content without a label before a balance that ends the text.
func (s *structure) readInParentheses(text foldedText) bool {
	rest := text.plain[s.end:]
	end, known := endingBalance(rest)
	if !known {
		return false
	}
	at := inParentheses().FindStringSubmatchIndex(rest[:end])
	if at == nil {
		return false
	}
	to := s.end + end
	s.told = true
	if at[2] == at[3] { // nothing but parentheses
		s.end, to = s.end+at[4], s.end+at[5]
	}
	s.readContent(text, to)
	return !secondFigure().MatchString(s.rest)
}

// endingBalance gives where a balance begins that ends a text; -1: there is none. It isn't
// known where it may be in another currency.
func endingBalance(text string) (at int, known bool) {
	groups := lastBalance().FindStringSubmatchIndex(text)
	if groups == nil {
		return -1, false
	}
	found := map[string]string{}
	for _, name := range []string{"before", "amount", "vnd"} {
		if i := 2 * lastBalance().SubexpIndex(name); groups[i] >= 0 {
			found[name] = text[groups[i]:groups[i+1]]
		}
	}
	return groups[0], vnd(found) || digits(found["amount"], false) != ""
}

// readContent reads what the payer wrote, and the bank's reference or time on the line after it.
// One of several references may be the payer's.
func (s *structure) readContent(text foldedText, to int) {
	rest := text.plain[s.end:to]
	s.rest = rest
	if ends := lastReference().FindAllStringSubmatchIndex(rest, -1); ends != nil {
		end := ends[len(ends)-1]
		to = s.end + end[0]
		if len(ends) == 1 && s.number == "" {
			s.number = text.source(s.end+end[2], s.end+end[3])
		}
	}
	if at := lastTime().FindStringSubmatchIndex(text.plain[s.end:to]); at != nil && s.labelled && s.times == 0 {
		s.time, s.times, to = text.plain[s.end+at[2]:s.end+at[3]], 1, s.end+at[0]
	}
	s.content = text.source(s.end, to)
	if !s.labelled {
		s.content = strings.TrimLeft(s.content, " \t\r\n.;,|-")
	}
	s.content = strings.TrimSpace(s.content)
}

// addBalance notes a balance that stands before the content.
func (s *structure) addBalance(found map[string]string) {
	s.told = true
	n := balance(digits(found["amount"], vnd(found)))
	if found["sign"] == "-" {
		n = -n
	}
	if strings.Contains(strings.Join(strings.Fields(found[""]), ""), "khadung") {
		s.available = n
	} else {
		s.held = n
	}
}

// bankOf is the code of the bank that the text names, else the sender's, else "". It reports
// false where the text names two, or what is no bank.
func bankOf(sender string, named []string) (string, bool) {
	code := ""
	for _, name := range named {
		bank, known := app.FindBank(name)
		if !known || code != "" && !bank.Is(code) {
			return "", false
		}
		code = cmp.Or(code, bank.Code)
	}
	if bank, known := senderBank(sender); known && (code == "" || bank.Is(code)) {
		code = bank.Code
	}
	return code, true
}

// directionOf reports false where sign and word contradict each other, or both are missing.
func directionOf(sign, word string) (app.Direction, bool) {
	bySign := map[string]app.Direction{"+": app.In, "-": app.Out}[sign]
	byWord := map[string]app.Direction{"tang": app.In, "ghico": app.In, "giam": app.Out, "ghino": app.Out}[word]
	if bySign != "" && byWord != "" && bySign != byWord {
		return "", false
	}
	return cmp.Or(bySign, byWord), cmp.Or(bySign, byWord) != ""
}
