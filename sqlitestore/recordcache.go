package sqlitestore

import (
	"regexp"
	"slices"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
)

// recordCache holds what recording looks up for every transaction of an account:
// its linked bank accounts by number, its active webhooks, its code patterns, and
// whether it ever had a payment request. The writer keeps it in memory between commits.
type recordCache struct {
	bankAccounts map[string][]app.BankAccount
	receiving    map[string][]app.BankAccount // by their receiving numbers
	webhooks     []cachedWebhook
	codes        app.CodeReader
	payments     bool // the account has, or had, a payment request
}

type cachedWebhook struct {
	delivery.Webhook
	secrets  delivery.Secrets
	readable bool // the secrets could be opened
}

// changesCache finds the statements that change a table which caches are read from.
var changesCache = regexp.MustCompile(`\b(INTO|UPDATE|UPDATE OR \w+|DELETE FROM)\s+(bank_accounts|webhooks|code_patterns)\b`)

// forgetCache empties the caches. It is called after a statement that changes
// what they hold, after a rollback, and after a commit of another process.
func (t *tx) forgetCache() {
	clear(t.caches)
	clear(t.channels)
}

// channel is a channel of a source, by which reports come; source is 0 for files and for
// transactions that were entered by hand.
type channel struct {
	source int64
	name   app.Channel
}

// reportedBy notes that a channel reports a bank account, and returns whether other channels
// report it too.
func (t *tx) reportedBy(bankAccount int64, by channel) (others bool) {
	known, loaded := t.channels[bankAccount]
	if !loaded {
		known = findAll(t, func(row scanner) (c channel, err error) { return c, row.Scan(&c.source, &c.name) },
			`SELECT source_id, channel FROM bank_account_channels WHERE bank_account_id = ?`, bankAccount)
	}
	if !slices.Contains(known, by) {
		known = append(known, by)
		t.exec(`INSERT INTO bank_account_channels (bank_account_id, source_id, channel) VALUES (?, ?, ?)`, bankAccount,
			by.source, string(by.name))
	}
	if t.failed == nil {
		t.channels[bankAccount] = known
	}
	return len(known) > 1
}

// checkCache empties the caches if another connection has committed since the last
// transaction of this one. It runs at the beginning of each transaction.
func (t *tx) checkCache() error {
	version, err := scanOne[int64](t.queryRow(`PRAGMA data_version`))
	if err == nil && version != t.cacheVersion {
		t.forgetCache()
		t.cacheVersion = version
	}
	return err
}

// recordCache returns the cache of an account, as of this transaction.
func (t *tx) recordCache(accountID int64) *recordCache {
	if r := t.caches[accountID]; r != nil {
		return r
	}
	r := &recordCache{
		bankAccounts: map[string][]app.BankAccount{}, receiving: map[string][]app.BankAccount{},
		webhooks: findAll(t, t.scanCachedWebhook, `SELECT `+webhookColumns+`, `+secretColumns+` FROM webhooks w
			WHERE w.account_id = ? AND w.deleted_at IS NULL AND w.is_active = 1 ORDER BY w.id`, accountID),
		codes:    app.NewCodeReader(findAll(t, scanCodePattern, codePatternsOf, accountID)),
		payments: findValue[bool](t, `SELECT EXISTS (SELECT 1 FROM payment_requests WHERE account_id = ?)`, accountID),
	}
	for _, b := range findAll(t, columnsOnly(scanBankAccount), shownBankAccounts, accountID, nil) {
		r.bankAccounts[b.AccountNumber] = append(r.bankAccounts[b.AccountNumber], b)
		for _, n := range b.Receiving() {
			r.receiving[n.Number] = append(r.receiving[n.Number], b)
		}
	}
	if t.failed == nil {
		t.caches[accountID] = r
	}
	return r
}

// all returns the linked bank accounts in no particular order.
func (r *recordCache) all() (list []app.BankAccount) {
	for _, linked := range r.bankAccounts {
		list = append(list, linked...)
	}
	return list
}

// withNumber finds the bank account at a bank whose account number is number, or that receives
// money on number; the latter isn't the bank account but. A bank that changed its name has two codes.
func (r *recordCache) withNumber(code, number string, but int64) (found app.BankAccount, _ bool) {
	bank, _ := app.FindBank(code)
	for _, b := range slices.Concat(r.bankAccounts[number], r.receiving[number]) {
		if bank.Is(b.Bank) && (b.ID != but || b.AccountNumber == number) {
			return b, true
		}
	}
	return found, false
}

// match finds the bank account of e: by e.AccountNumber, which is an account number or a receiving
// number, or else by e.SubAccount, which is a receiving number. If e names no known bank, a number of
// several bank accounts finds none of them.
func (r *recordCache) match(e inbound.Incoming, only int64) (app.BankAccount, bool) {
	named := slices.Concat(r.candidates(e, only), r.receivers(e.AccountNumber, only))
	b, found := app.MatchBankAccount(named, e.Gateway)
	if _, known := app.FindBank(e.Gateway); !found && (known || len(named) == 0) {
		b, found = app.MatchBankAccount(r.receivers(e.SubAccount, only), e.Gateway)
	}
	return b, found
}

// receivers returns the bank accounts that have a receiving number. only is the id of the only one
// that may be returned, 0 for any.
func (r *recordCache) receivers(number string, only int64) []app.BankAccount {
	return slices.DeleteFunc(slices.Clone(r.receiving[number]), func(b app.BankAccount) bool { return only != 0 && b.ID != only })
}

// candidates returns the bank accounts that have the number of e. only is the one to which the
// source is limited, 0 for any: it is a candidate if e names no number. A masked number fits
// every number with its visible digits.
func (r *recordCache) candidates(e inbound.Incoming, only int64) []app.BankAccount {
	named := r.bankAccounts[e.AccountNumber]
	if !e.Masked && only == 0 {
		return named // empty if e names no number
	}
	var list []app.BankAccount
	for number, linked := range r.bankAccounts {
		if number != e.AccountNumber && e.AccountNumber != "" && !(e.Masked && app.ShowsDigitsOf(e.AccountNumber, number)) {
			continue
		}
		for _, b := range linked {
			if only == 0 || b.ID == only {
				list = append(list, b)
			}
		}
	}
	return list
}

// scanCachedWebhook leaves out secrets that can't be opened: transactions must be recorded
// nevertheless.
func (t *tx) scanCachedWebhook(row scanner) (w cachedWebhook, err error) {
	var sealed sealedSecrets
	if w.Webhook, err = scanWebhookAnd(row, sealed.dest()...); err != nil {
		return w, err
	}
	w.secrets, err = sealed.open(t.sealer)
	w.readable = err == nil && w.secrets.Current != ""
	return w, nil
}
