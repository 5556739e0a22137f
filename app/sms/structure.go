package sms

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"baoco/app"
)

// A text in none of the shapes is read by its structure, whatever bank sends
// it: labelled parts, one after the other, from the first character to the
// label of the content. It counts only where every character before the content
// belongs to a part, and where the parts are one account, one amount with its
// direction, at least one balance and at most one time. Anything else, such as
// a fee, a second amount or a word without a meaning here, is a doubt, and the
// text is kept for a person.
//
// What the payer writes comes after the label of the content, where nothing
// but a balance at the very end of the text is read any more.

// part is one kind of part: its pattern fits at the beginning of what is left.
type part struct {
	name    string
	pattern *regexp.Regexp
}

// In the patterns a space is any white space or none, as in a shape's pattern.
// The first part that fits counts.
var parts = []part{
	newPart("account",
		`(?:so du|sd|bien dong)? (?:(?:so )?(?:tk|tai khoan)|stk|account|acct?)(?: (?P<bank>[a-wyz][a-z]{1,14}))? :? (?P<account>[0-9]{0`+
			`,19}[x*]{0,12}[0-9]{0,19})(?: \(? vnd \)?)?(?: tai (?P<branch>[a-z]{2,15}))?`),
	newPart("amount",
		`(?:(?:so tien (?:gd|giao dich)?|gd|giao dich|ps|phat sinh|(?:da )?thay doi|bien dong|change) :?)? \(? (?P<sign>[+-]) \)? `+
			figureField+currency),
	newPart("amount", `(?:duoc|da|vua|bi)? (?P<word>tang|giam|ghi co|ghi no) :? (?:\(? (?P<sign>[+-]) \)?)? `+figureField+currency),
	newPart("balance", balanceLabel+` [+-]? `+figureField+currency),
	newPart("time",
		`(?:(?:vao luc|luc|vao|ngay|thoi gian|time|date) :?)? (?P<time>`+clock+` [;,]? (?:ngay)? `+day+`|`+day+` [;,]? (?:luc)? `+clock+
			`|`+day+`|`+clock+`)`),
	newPart("content", `(?:(?:noi dung (?:gd|giao dich|ck|chuyen khoan)?|nd|n/dung|gd|dien giai|mo ta|detail|description|ref) :|ref\b)`),
	newPart("separator", `[\s.;,|]`),
}

const (
	currency     = `(?: (?:vnd|dong\b|d\b))?`
	balanceLabel = `(?:so du|sdc|sd|balance) (?:(?:cuoi|hien tai|hien thoi|kha dung|sau (?:gd|giao dich)) )*(?:la|:)?`
	clock        = `[0-9]{1,2}(?:h[0-9]{2}p?|:[0-9]{2}(?::[0-9]{2})?)`
	day          = `[0-9]{1,2}[/-][0-9]{1,2}(?:[/-][0-9]{2,4})?`
)

// lastBalance finds a balance that ends a text.
var lastBalance = regexp.MustCompile(`(?:^|[\s.;|])` + spaced(balanceLabel+` [+-]? `+figureField+currency+` \.?`) + `\s*$`)

// namedFirst is the name of a bank that begins a text: "NCB :", "(TPBank):".
var namedFirst = regexp.MustCompile(`^\s*\(?([a-z]{2,20})\)?\s*:`)

func newPart(name, pattern string) part {
	return part{name, regexp.MustCompile(`^(?:` + spaced(pattern) + `)`)}
}

func spaced(pattern string) string { return strings.ReplaceAll(pattern, " ", `\s*`) }

// maxParts is how many parts and separators are read before a text is given up.
const maxParts = 40

// structure is what the parts of a text say.
type structure struct {
	banks           []string // names of banks, as written
	account         string
	amount, sign    string
	word            string // of the direction, without white space
	balance         string // the last one; "" where there was none yet
	held, available int64  // the balance of the account, and the part of it that can be spent; 0: none
	time            string
	content         string
	accounts, times int
	amounts         int
}

// readStructure reads a text by its parts. It reports false where a doubt is
// left, whatever it is.
func readStructure(text foldedText, m Message, zone *time.Location) (Movement, bool) {
	s, ok := takeApart(text)
	if !ok || s.accounts != 1 || s.amounts != 1 || s.times > 1 || s.balance == "" {
		return Movement{}, false
	}
	bank, ok := bankOf(m.Sender, s.banks)
	if !ok {
		return Movement{}, false
	}
	account, fault := accountNumber(s.account)
	if fault != nil {
		return Movement{}, false
	}
	direction, ok := directionOf(s.sign, s.word)
	if !ok {
		return Movement{}, false
	}
	amount, fault := amount(s.amount)
	if fault != nil {
		return Movement{}, false
	}
	at, clocked := when(s.time, m.ReceivedAt, zone)
	return Movement{
		Bank: bank, AccountNumber: account, Masked: strings.Contains(account, "x"),
		Type: direction, Amount: amount, Content: app.CleanText(s.content, app.MaxContent), Time: at, Clocked: clocked,
		Balance: s.held, Available: s.available,
	}, true
}

// takeApart gives the parts of a text. It reports false where something before
// the content is no part, or where a balance is not a whole number: then the
// currency may not be VND.
func takeApart(text foldedText) (structure, bool) {
	var s structure
	at := 0
	if named := namedFirst.FindStringSubmatchIndex(text.plain); named != nil && isBank(text.plain[named[2]:named[3]]) {
		s.banks = append(s.banks, text.plain[named[2]:named[3]])
		at = named[1]
	}
	for range maxParts {
		if at == len(text.plain) {
			return s, true
		}
		name, found := nextPart(text.plain[at:])
		if name == "" {
			return s, false
		}
		at += len(found[""])
		switch name {
		case "account":
			s.accounts++
			s.account = found["account"]
			for _, bank := range []string{found["bank"], found["branch"]} {
				if bank != "" {
					s.banks = append(s.banks, bank)
				}
			}
		case "amount":
			s.amounts++
			s.amount, s.sign, s.word = found["amount"], found["sign"], strings.Join(strings.Fields(found["word"]), "")
		case "balance":
			if !s.addBalance(found[""], found["amount"]) {
				return s, false
			}
		case "time":
			s.times++
			s.time = found["time"]
		case "content":
			return s, s.readContent(text, at)
		}
	}
	return s, false
}

// nextPart gives the part that text begins with, by its groups; "" is the whole
// of it. The name is empty where no part fits.
func nextPart(text string) (string, map[string]string) {
	for _, p := range parts {
		groups := p.pattern.FindStringSubmatch(text)
		if groups == nil || groups[0] == "" {
			continue
		}
		found := map[string]string{}
		for i, name := range p.pattern.SubexpNames() {
			found[name] = groups[i]
		}
		found[""] = groups[0]
		return p.name, found
	}
	return "", nil
}

// readContent reads what follows the label of the content. Where no balance
// came before, it must end the text.
func (s *structure) readContent(text foldedText, from int) bool {
	to := len(text.plain)
	if s.balance == "" {
		end := lastBalance.FindStringSubmatchIndex(text.plain[from:])
		if end == nil {
			return false
		}
		i := 2 * lastBalance.SubexpIndex("amount")
		if s.balance = text.plain[from+end[i] : from+end[i+1]]; !grouped.MatchString(s.balance) {
			return false
		}
		to = from + end[0]
	}
	s.content = strings.TrimSpace(text.source(from, to))
	return true
}

// addBalance notes a balance that stands before the content, with its label. It reports
// false where it isn't whole.
func (s *structure) addBalance(labelled, figure string) bool {
	s.balance = figure
	n := balance(figure)
	if _, number, _ := strings.Cut(labelled, "-"); number != "" {
		n = -n
	}
	if strings.Contains(strings.Join(strings.Fields(labelled), ""), "khadung") {
		s.available = n
	} else {
		s.held = n
	}
	return grouped.MatchString(figure)
}

func isBank(name string) bool {
	_, known := app.FindBank(name)
	return known
}

// bankOf is the code of the bank that sends: the sender's, where it is a bank's
// name, else the one that the text names, else "". It reports false where the
// text names anything but that bank.
func bankOf(sender string, named []string) (string, bool) {
	code := ""
	if bank, known := app.FindBank(strings.TrimSpace(sender)); known && plainName(strings.TrimSpace(sender)) {
		code = bank.Code
	}
	for _, name := range named {
		bank, known := app.FindBank(name)
		if !known || code != "" && !bank.Is(code) {
			return "", false
		}
		code = cmp.Or(code, bank.Code)
	}
	return code, true
}

// directionOf reports false where sign and word contradict each other.
func directionOf(sign, word string) (app.Direction, bool) {
	bySign, byWord := app.Direction(""), app.Direction("")
	switch sign {
	case "+":
		bySign = app.In
	case "-":
		bySign = app.Out
	}
	switch word {
	case "tang", "ghico":
		byWord = app.In
	case "giam", "ghino":
		byWord = app.Out
	}
	if bySign != "" && byWord != "" && bySign != byWord {
		return "", false
	}
	bySign = cmp.Or(bySign, byWord)
	return bySign, bySign != ""
}
