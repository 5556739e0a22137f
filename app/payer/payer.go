// Package payer reads from the contents of transfers whose money it is, as far as banks write
// that, and sums up what came from one payer. Only the forms below say a name: everything else
// is the payer's own text, and isn't guessed from.
package payer

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/fold"
	"baoco/app/pattern"
)

// Payer is whoever made a transfer. Many people have the same name: the account tells them
// apart, where the bank writes it.
type Payer struct {
	Name    string // in capitals without accents; empty: the content says none
	Account string // the number of the payer's bank account; empty: the content says none
}

var (
	// fromTo is how Vietcombank ends a content: the payer's account and name, and the account
	// that was paid.
	fromTo = pattern.Lazy(`\bCT TU ([0-9X*]{4,19}) ([A-Z]{1,15}(?: [A-Z]{1,15}){1,7}) TOI ?[0-9X*]{4}`)
	// named is the content that banks fill in, after numbers of theirs: a name and what is done.
	named = pattern.Lazy(`^(?:MBVCB[.0-9]*\.|CT DEN:[0-9A-Z]+ |CK[0-9]{6,} |[0-9]{6,}-)?(` + fullName + `) ` +
		`(?:CHUYEN TIEN|CHUYEN KHOAN|CK|GUI TIEN)\b`)
	// last is the name that MB writes at the end.
	last = pattern.Lazy(`\bTU: (` + fullName + `)$`)
)

// fullName is a name of at least three words. It begins with a family name that is no everyday
// word, or goes on with VAN or THI.
const fullName = `(?:(?:NGUYEN|TRAN|PHAM|HUYNH) [A-Z]{1,7}|(?:LE|HOANG|PHAN|VU|VO|DANG|BUI|DO|HO|NGO|DUONG|LY|DINH|DOAN|LAM|MAI|TRINH` +
	`|TRUONG|DAO|CAO|HA|LUONG|LUU|TA|TO|CHU|VUONG|QUACH|THAI|TANG) (?:VAN|THI))(?: [A-Z]{1,7}){1,3}?`

// Of reads who paid t. It is empty for money out.
func Of(t app.Transaction) Payer {
	if t.Type != app.In {
		return Payer{}
	}
	content := strings.ToUpper(strings.Join(strings.Fields(fold.Letters(t.Content)), " "))
	if found := fromTo().FindStringSubmatch(content); found != nil {
		return Payer{Name: found[2], Account: found[1]}
	}
	for _, form := range []func() *regexp.Regexp{named, last} {
		if found := form().FindStringSubmatch(content); found != nil {
			return Payer{Name: found[1]}
		}
	}
	return Payer{}
}

// Given reads a payer from the values of an address.
func Given(values url.Values) Payer {
	return Payer{strings.ToUpper(strings.Join(strings.Fields(fold.Letters(values.Get("name"))), " ")), values.Get("account")}
}

// Values are those that Given reads.
func (p Payer) Values() url.Values {
	values := url.Values{"name": {p.Name}}
	if p.Account != "" {
		values.Set("account", p.Account)
	}
	return values
}

// is reports whether another payer is this one. Without an account everybody of the name is.
func (p Payer) is(other Payer) bool {
	return p.Name == other.Name && (p.Account == "" || p.Account == other.Account)
}

// maxFound is in how many transactions a payer is looked for.
const maxFound = 1000

// History is what came from a payer.
type History struct {
	app.Amounts
	Last     time.Time
	Accounts []string // from which the payer paid, as far as that is known
	Rows     []app.Transaction
	Partial  bool // there are more contents with the name: older money isn't in it
}

// HistoryOf sums up what came from a payer, newest first, of what ctx shows.
func HistoryOf(ctx context.Context, ledger *app.Service, accountID int64, p Payer) (h History, err error) {
	if len(p.Name) < 2 || len(p.Name) > app.MaxContent {
		return h, nil
	}
	page, err := ledger.Transactions(ctx, accountID, app.TransactionFilter{Query: p.Name, Type: app.In,
		Page: app.Page{Number: 1, Size: maxFound, CountTo: maxFound}})
	h.Partial = page.Total > maxFound
	accounts := map[string]bool{}
	for _, t := range page.Rows {
		from := Of(t)
		if !p.is(from) {
			continue
		}
		h.Rows = append(h.Rows, t)
		h.Count++
		h.Total += t.Amount
		if t.Time.After(h.Last) {
			h.Last = t.Time
		}
		if from.Account != "" && !accounts[from.Account] {
			accounts[from.Account] = true
			h.Accounts = append(h.Accounts, from.Account)
		}
	}
	return h, err
}
