package inbound

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"baoco/app"
	"baoco/app/fold"
)

// One movement of money may be reported more than once: by a provider and by the bank's
// text, by a text and later by a statement, or by one text that a phone forwards twice.
// A report with the number of a recorded transaction is that transaction. Any other is
// compared with what other channels reported of the same bank account, direction and
// amount at the same time:
//
//	report → RepeatRule.Judge: the same movement, and nothing is recorded; another one, and
//	it is recorded; or not known, and it is kept as OutcomeMayBeRepeat until a later report
//	or a person decides
//
// A transaction is the same movement as at most one report of a channel, so two equal
// transfers that two channels report stay two.

// RepeatWindow is how far apart two channels may date one movement if they have no
// common number for it. If one channel names only the day, the day must be the same.
const RepeatWindow = 10 * time.Minute

// LateWindow is how long after a movement a text without the bank's time may come. Beyond
// RepeatWindow only an equal balance makes such a report and another one movement.
const LateWindow = 24 * time.Hour

// Unclocked reports whether the time of e is when a bank's text came, because the text names
// no time.
func (e Incoming) Unclocked() bool { return e.Forwarded && !e.Clocked }

// Report is what one channel reported about a movement.
type Report struct {
	Number    string // the bank's code of the transfer; may be empty
	Content   string
	Time      time.Time
	Balance   int64 // of the bank account after the movement, in VND; 0: not named
	Available int64 // the part of it that can be spent; 0: not named
}

// Report is the report that e makes about its movement.
func (e Incoming) Report() Report {
	return Report{e.Number, e.Content, e.Time, e.Balance, e.Available}
}

// Likeness is what a comparison of two reports found.
type Likeness int

const (
	NotKnown Likeness = iota
	SameMovement
	AnotherMovement
)

// RepeatRule compares the reports of the bank accounts of one account.
type RepeatRule struct {
	Codes app.CodeReader
	Own   []string // the numbers of the account's bank accounts: in a content they prove nothing
}

// Reported is a transaction with its reports.
type Reported struct {
	TransactionID int64
	Time          time.Time
	Late          bool     // it is within LateWindow only: one of the two has no time of the bank
	Own, Others   []Report // by the channel of the report that is judged, and by other channels
}

// Judge judges a report by the transactions of its bank account, direction, amount and
// time, the nearest first. It returns the transaction that the report repeats, or may
// repeat; 0: none. A report that may repeat an earlier one of its own channel stays not known,
// even if another channel has an equal balance: a balance comes back when money goes back.
func (r RepeatRule) Judge(e Incoming, known []Reported) (transactionID int64, like Likeness) {
	like = AnotherMovement
	again, sure := int64(0), false
	for _, k := range known {
		found, certain := r.compare(e, k)
		switch {
		case found == SameMovement && len(k.Own) > 0:
			return k.TransactionID, SameMovement
		case found == NotKnown && len(k.Own) > 0:
			again = cmp.Or(again, k.TransactionID)
		case sure || found == AnotherMovement:
		case certain, found == SameMovement && like != SameMovement, like == AnotherMovement:
			transactionID, like, sure = k.TransactionID, found, certain
		}
	}
	if again != 0 {
		return again, NotKnown
	}
	return transactionID, like
}

// compare is certain if a balance, a number or a repeated text decides, and not the contents.
func (r RepeatRule) compare(e Incoming, k Reported) (like Likeness, certain bool) {
	if len(k.Own) > 0 {
		return r.forwardedAgain(e, k.Own), true
	}
	otherNumber := slices.ContainsFunc(k.Others, func(o Report) bool { return otherNumber(o.Number, e.Number) })
	for _, other := range k.Others {
		like := compareBalances(e.Report(), other)
		switch {
		case like == SameMovement && (otherNumber || k.Late && r.compareContents(e.Report(), other) == AnotherMovement):
			return NotKnown, false // a balance comes back when money goes back
		case like != NotKnown:
			return like, true
		}
	}
	if k.Late || otherNumber {
		return AnotherMovement, true
	}
	like = AnotherMovement
	for _, other := range k.Others {
		switch r.compareContents(e.Report(), other) {
		case SameMovement:
			return SameMovement, false
		case NotKnown:
			like = NotKnown
		}
	}
	return like, false
}

// compareBalances compares the balances that both reports have.
func compareBalances(a, b Report) Likeness {
	for _, said := range [][2]int64{{a.Balance, b.Balance}, {a.Available, b.Available}} {
		switch {
		case said[0] == 0 || said[1] == 0:
		case said[0] == said[1]:
			return SameMovement
		default:
			return AnotherMovement
		}
	}
	return NotKnown
}

// numberForm is a number by which banks count their transfers: letters, then digits.
var numberForm = regexp.MustCompile(`^([A-Z]{2,})([0-9]+)$`)

// otherNumber reports whether two numbers differ, but have the same letters and as many
// digits: the bank counted two movements.
func otherNumber(a, b string) bool {
	a, b = NumberKey(a), NumberKey(b)
	x, y := numberForm.FindStringSubmatch(a), numberForm.FindStringSubmatch(b)
	return a != b && x != nil && y != nil && x[1] == y[1] && len(x[2]) == len(y[2])
}

// NumberKey is the number of a transfer in one form for all channels: in capitals, without
// blanks, separators and the suffixes that some banks add.
func NumberKey(number string) string {
	key := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, number)
	for _, left := range []string{`\BNK`, `\I2B`, " ", "-", "."} {
		key = strings.ReplaceAll(key, left, "")
	}
	return key
}

// forwardedAgain compares a bank's text with earlier ones of its channel. Two texts with the
// same time of the bank and the same balance are one. With only one of these, or neither, equal
// texts may be of two movements. So may texts with both but different contents: money that
// comes, goes back and comes again within a minute leaves the same balance twice.
func (r RepeatRule) forwardedAgain(e Incoming, own []Report) Likeness {
	like := AnotherMovement
	for _, o := range own {
		apart, balances := e.Time.Sub(o.Time).Abs(), e.Balance == o.Balance && e.Available == o.Available
		switch {
		case !e.Forwarded || !balances || e.Clocked && apart != 0:
		case apart > RepeatWindow && (e.Balance == 0 && e.Available == 0 || apart > LateWindow):
		case e.Clocked && (e.Balance != 0 || e.Available != 0):
			if r.compareContents(e.Report(), o) != AnotherMovement {
				return SameMovement
			}
			like = NotKnown
		case app.Squeeze(e.Content) == app.Squeeze(o.Content):
			like = NotKnown
		}
	}
	return like
}

// leastContent is how many letters and digits a content needs to say anything by itself.
const leastContent = 8

// compareContents follows decisions: equal contents, one that contains the other, a common
// payment code or a common long number are the same movement; long contents without a
// common word are another. With two different payment codes a common number proves nothing.
func (r RepeatRule) compareContents(a, b Report) Likeness {
	x, y := app.Squeeze(a.Content), app.Squeeze(b.Content)
	if len(x) > len(y) {
		a, b, x, y = b, a, y, x
	}
	code, other := r.Codes.Read(a.Content).Text, r.Codes.Read(b.Content).Text
	switch {
	case x == "":
		return NotKnown
	case x == y, len(x) >= leastContent && strings.Contains(y, x), code != "" && code == other, (code == "" || other == "") &&
		r.shareNumber(a, b):
		return SameMovement
	case len(x) >= leastContent && !shareWord(a.Content, y) && !shareWord(b.Content, x):
		return AnotherMovement
	}
	return NotKnown
}

// leastNumber is how many digits a number needs to prove that two contents are of one
// transfer.
const leastNumber = 6

// shareNumber reports whether both contents have a long number that is no account or
// phone number and no date: many contents have those.
func (r RepeatRule) shareNumber(a, b Report) bool {
	others := numbersIn(b.Content)
	return slices.ContainsFunc(numbersIn(a.Content), func(n string) bool {
		return slices.Contains(others, n) && !isPhoneNumber(n) && !isDateOf(n, a.Time) && !isDateOf(n, b.Time) &&
			!slices.ContainsFunc(r.Own, func(own string) bool {
				return strings.Contains(own, n) || len(own) >= leastNumber && strings.Contains(n, own)
			})
	})
}

func numbersIn(content string) (long []string) {
	for _, n := range strings.FieldsFunc(content, func(c rune) bool { return c < '0' || c > '9' }) {
		if len(n) >= leastNumber {
			long = append(long, n)
		}
	}
	return long
}

// isPhoneNumber reports whether n has the form of a Vietnamese telephone number, also of a
// hotline: many payers write the shop's number into the content.
func isPhoneNumber(n string) bool {
	if (strings.HasPrefix(n, "1900") || strings.HasPrefix(n, "1800")) && (len(n) == 8 || len(n) == 10) {
		return true
	}
	rest, national := strings.CutPrefix(n, "0")
	if !national {
		rest, national = strings.CutPrefix(n, "84")
	}
	return national && (len(rest) == 9 && strings.Contains("35789", rest[:1]) || (len(rest) == 9 || len(rest) == 10) && rest[0] == '2')
}

// isDateOf reports whether n is the day of t, as banks write it into contents.
func isDateOf(n string, t time.Time) bool {
	return slices.ContainsFunc([]string{"020106", "02012006", "060102", "20060102"}, func(layout string) bool {
		day := t.In(bankZone).Format(layout)
		return n == day || len(day) == 8 && strings.HasPrefix(n, day) && len(n) == 14 // with the time of day
	})
}

// bankZone is the time zone of Vietnamese banks.
var bankZone = time.FixedZone("", 7*60*60)

// shareWord reports whether a word of a content, except the commonWords, is found in another
// content, squeezed: banks drop blanks.
func shareWord(content, squeezed string) bool {
	words := strings.FieldsFunc(fold.String(content), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return slices.ContainsFunc(words, func(word string) bool {
		return len(word) > 1 && !slices.Contains(commonWords, word) && strings.Contains(squeezed, word)
	})
}

// commonWords are what banks, their apps and most payers write.
var commonWords = strings.Fields(`chuyen tien khoan ck ct nd noi dung thanh toan tt tra mua hang don hoa ma so gd giao dich tai tk stk ` +
	`tu den toi di cho
	nhan gui qua ngan nh nop rut mat vnd dong luc ngay ref trace ft ib ibft ebank napas atm pos the qr vietqr mb mbvcb vcb bidv acb tcb vpb ` +
	`tpb vib stb ctg msb hdb shb
	vietcombank vietinbank techcombank agribank mbbank vpbank tpbank sacombank momo zalopay vnpay viettel money app cam on va la cua com`)

// MayRepeat is the reason for keeping a report that may repeat a transaction.
func MayRepeat(transactionID int64) app.FieldError {
	return app.FieldError{Field: "transaction",
		Text: app.Textf("%d may be the same money: amount and time agree, and nothing in the two reports says whether they are one transfer",
			"%d có thể là cùng khoản tiền này: số tiền và thời gian khớp, nhưng không đủ căn cứ để biết là một hay hai lần chuyển", transactionID)}
}

// ErrMayBeRepeat refuses to record by hand a movement that may be recorded already.
func ErrMayBeRepeat(transactionID int64) error {
	return app.Refused(app.CodeMayBeRepeat, app.Textf(
		"Transaction %d may be the same money: amount and time agree. If this is another transfer, say so (not_a_repeat) and record it again.",
		"Giao dịch %d có thể là cùng khoản tiền này: số tiền và thời gian khớp. Nếu đây là lần chuyển khác, hãy xác nhận "+
			"(not_a_repeat) rồi ghi lại.", transactionID))
}

// Settled is the result of settling an item that might be a repeat.
type Settled struct {
	Outcome       Outcome // OutcomeRecorded, OutcomeDuplicate, or OutcomeMayBeRepeat: of another transaction
	TransactionID int64   // that it is, or may repeat
	Webhooks      []int64 // of each delivery that follows
}

// RepeatSettle is a person's decision about an item of an inbound event.
type RepeatSettle struct {
	EventID int64
	ItemID  int64 // 0: the only item of the event that may be a repeat
	// TransactionID is the id of the transaction that the person saw: a decision that is
	// sent twice must not decide about the next one. 0: not given.
	TransactionID int64
	Repeat        bool // the item is the movement of the transaction that it names
}

// SettleRepeat settles an item as a person says. If the item isn't a repeat, or the
// transaction was removed, the item is compared with other transactions again, and recorded if
// it repeats none of them. CodeConflict if there isn't exactly one such item.
func (s *Service) SettleRepeat(ctx context.Context, accountID int64, in RepeatSettle, now time.Time) (Settled, error) {
	settled, err := s.store.SettleRepeat(ctx, accountID, in, s.zone, now)
	s.deliveries.Wake(settled.Webhooks, nil)
	return settled, err
}

// ReportPart names a report that was merged with a transaction which another channel reported.
type ReportPart struct {
	TransactionID int64
	EventRef
}

// PartReport records such a report as a transaction of its own: a person knows that they were
// two transfers. CodeConflict where the transaction has no such report, for example after it
// was parted.
func (s *Service) PartReport(ctx context.Context, accountID int64, in ReportPart, now time.Time) (Settled, error) {
	settled, err := s.store.PartReport(ctx, accountID, in, s.zone, now)
	s.deliveries.Wake(settled.Webhooks, nil)
	return settled, err
}

// ErrNothingToSettle refuses a decision about nothing, or about several items.
var ErrNothingToSettle error = app.Conflict(
	"This needs one item of the event that may be a repeat. It may have been decided meanwhile, or may be another transaction now.",
	"Cần đúng một mục chưa rõ trùng hay không của lần nhận này. Có thể mục đó vừa được xử lý, hoặc nay có thể trùng với giao dịch khác.")
