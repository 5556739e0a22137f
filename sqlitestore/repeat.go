package sqlitestore

import (
	"cmp"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/payment"
)

// This file finds out whether a report repeats a recorded transaction. If that isn't known, it
// keeps the report as an item until it is. The rule is in app/inbound/repeat.go.

// judge compares a report with the reports of other channels about the bank account. It returns
// the transaction that the report repeats, or may repeat.
func (r *recorder) judge(b app.BankAccount, e report) (id int64, likeness inbound.Likeness) {
	if others := r.tx.reportedBy(b.ID, e.channel()); !others && !e.Forwarded {
		return 0, inbound.AnotherMovement
	}
	if id = r.withNumber(b, e); id != 0 {
		return id, inbound.SameMovement
	}
	if e.NotRepeat {
		return 0, inbound.AnotherMovement
	}
	known, cut := r.reported(b, e)
	known = slices.DeleteFunc(known, func(k inbound.Reported) bool { return slices.Contains(e.isNot, k.TransactionID) })
	if len(known) == 0 && cut == 0 {
		return 0, inbound.AnotherMovement
	}
	cache := r.tx.recordCache(b.AccountID)
	rule := inbound.RepeatRule{Codes: cache.codes}
	for _, own := range cache.all() {
		rule.Own = append(rule.Own, own.AccountNumber)
		for _, n := range own.Receiving() {
			rule.Own = append(rule.Own, n.Number)
		}
	}
	if id, likeness = rule.Judge(e.Incoming, known); likeness == inbound.AnotherMovement && cut != 0 {
		id, likeness = cut, inbound.NotKnown
	}
	return id, likeness
}

// reportedByChannel is true for a transaction t that the channel ?1 of the source ?2 has
// reported, first or later.
const reportedByChannel = `(t.channel = ?1 AND t.source_id = ?2
	OR EXISTS (SELECT 1 FROM event_ids k INDEXED BY event_ids_merged WHERE k.transaction_id = t.id AND k.merged = 1 AND k.channel = ?1
	AND k.source_id = ?2))`

// ofNumber is true where the column number has the inbound.NumberKey ?3, for the indexes.
const ofNumber = `number <> '' AND replace(replace(replace(replace(replace(upper(number), '\BNK', ''), '\I2B', ''), ' ', ''), '-', ''),
	'.', '') = ?3 `

const sameNumber = `SELECT t.id FROM (
		SELECT id FROM transactions INDEXED BY transactions_number WHERE bank_account_id = ?4 AND ` + ofNumber +
	`AND amount = ?6 AND occurred_at BETWEEN ?7 - ?8 AND ?7 + ?8
		UNION ALL SELECT transaction_id FROM transaction_reports INDEXED BY transaction_reports_number WHERE bank_account_id = ?4 AND ` +
	ofNumber + `) same
	CROSS JOIN transactions t ON t.id = same.id
	WHERE t.type = ?5 AND t.amount = ?6 AND t.occurred_at BETWEEN ?7 - ?8 AND ?7 + ?8 AND NOT ` + reportedByChannel + ` ORDER BY t.id LIMIT 1`

// withNumber finds a transaction by a number that another channel gave it, its amount and
// its time: a source may give all its transactions the same number.
func (r *recorder) withNumber(b app.BankAccount, e report) int64 {
	number := inbound.NumberKey(e.Number)
	if number == "" {
		return 0
	}
	known := findValue[bool](r.tx, `SELECT EXISTS (SELECT 1 FROM transactions INDEXED BY transactions_number
			WHERE bank_account_id = ?1 AND `+ofNumber+`AND amount = ?2)
		OR EXISTS (SELECT 1 FROM transaction_reports INDEXED BY transaction_reports_number WHERE bank_account_id = ?1 AND `+ofNumber+`)`,
		b.ID, e.Amount, number)
	if !known {
		return 0
	}
	return findValue[int64](r.tx, sameNumber,
		string(e.EventIDChannel), e.source, number, b.ID, string(e.Type), e.Amount, e.Time.Unix(), int64(app.SameTransferWindow/time.Second))
}

// mostCompared is how many transactions of a channel before, and after, a report are compared
// with it. If there are more, only a person can record the report: it may repeat one of these.
// The number is in the text of the statement, as mostDecided is: with a parameter as its LIMIT,
// SQLite prepares it again for each value, which takes three times as long as to run it.
const mostCompared = `1000`

// near finds the transactions of a bank account ?3, amount ?4 and direction ?5 that the
// channel ?11 of the source ?10 reported first, from ?6 to ?7: the nearest to ?9. Transactions
// without a time of day must be of the day that begins at ?8. Where a report may be late, they
// may be from ?13 to ?14.
const near = nearBy + `transactions_amount` + ofAmount

const nearBy = `SELECT * FROM (SELECT t.id, t.channel, t.source_id, t.number, t.content, t.occurred_at, t.date_only, t.balance,
	t.available FROM transactions t INDEXED BY `

const ofAmount = `
	WHERE t.bank_account_id = ?3 AND t.amount = ?4 AND t.source_id = ?10 AND t.channel = ?11 AND t.type = ?5 AND `

// reported returns the transactions of the bank account, direction, amount and time of e, the
// nearest first, with their reports. Transactions that the channel of e has reported are left
// out, unless e was forwarded. cut is one of the transactions if not all were read; else 0.
func (r *recorder) reported(b app.BankAccount, e report) (list []inbound.Reported, cut int64) {
	for _, by := range r.tx.channels[b.ID] {
		if by == e.channel() && !e.Forwarded {
			continue // its reports are of other movements
		}
		found, more := r.reportedBy(b, e, by)
		list, cut = append(list, found...), max(cut, more)
	}
	slices.SortStableFunc(list, func(x, y inbound.Reported) int {
		return cmp.Compare(x.Time.Sub(e.Time).Abs(), y.Time.Sub(e.Time).Abs())
	})
	return list, cut
}

func (r *recorder) reportedBy(b app.BankAccount, e report, by channel) (found []inbound.Reported, cut int64) {
	at, window, day := e.Time.Unix(), int64(inbound.RepeatWindow/time.Second), app.DayOf(e.Time, r.zone)
	midnight, from, to := day.Start(r.zone).Unix(), at-window, at+window
	if e.DateOnly {
		from, to = midnight, (day+1).Start(r.zone).Unix()-1
	}
	late := int64(inbound.LateWindow / time.Second)
	wide := [2]int64{from, to}
	if e.Unclocked() {
		wide = [2]int64{at - late, at + late}
	}
	const ofDay = `iif(t.date_only, t.occurred_at = ?8, 1) ORDER BY t.occurred_at `
	// The reports of a transaction follow its own row.
	rows, err := r.tx.query(`WITH page AS MATERIALIZED (SELECT t.*, `+reportedByChannel+` AS reported FROM (
			`+near+`t.occurred_at BETWEEN ?13 AND ?9 AND `+ofDay+`DESC LIMIT `+mostCompared+`)
			UNION ALL `+near+`t.occurred_at > ?9 AND t.occurred_at <= ?14 AND `+ofDay+`LIMIT `+mostCompared+`)
			UNION ALL `+near+`t.occurred_at = ?8 AND ?8 < ?13 AND t.date_only LIMIT `+mostCompared+`)
			UNION ALL `+nearBy+`transactions_unclocked`+ofAmount+
		`t.unclocked = 1 AND (t.occurred_at BETWEEN ?9 - ?12 AND ?13 - 1 OR t.occurred_at BETWEEN ?14 + 1 AND ?9 + ?12)
			LIMIT `+mostCompared+`)) t)
		SELECT id, reported AND (channel = ?1 AND source_id = ?2 OR NOT EXISTS (SELECT 1 FROM transaction_reports x
		WHERE x.transaction_id = page.id AND x.channel = ?1 AND x.source_id = ?2)),
			0 AS later, number, content, occurred_at, coalesce(balance, 0), coalesce(available, 0), (SELECT count(*)
			FROM page) >= `+mostCompared+`, NOT date_only AND occurred_at NOT BETWEEN ?6 AND ?7 FROM page
		UNION ALL SELECT x.transaction_id, x.channel = ?1 AND x.source_id = ?2, 1, x.number, x.content, x.occurred_at, coalesce(x.balance, 0),
		coalesce(x.available, 0), 0, 0
			FROM page p CROSS JOIN transaction_reports x ON x.transaction_id = p.id
		ORDER BY 1, later`, string(e.EventIDChannel), e.source, b.ID, e.Amount, string(e.Type), from, to, midnight, at, by.source,
		string(by.name), late, wide[0], wide[1])
	r.tx.fail(each(rows, err, func(row scanner) (bool, error) {
		var id int64
		var own, later, full, late bool
		var said inbound.Report
		err := row.Scan(&id, &own, &later, &said.Number, &said.Content, secondsInto(&said.Time), &said.Balance, &said.Available, &full, &late)
		if full {
			cut = id
		}
		if !later {
			found = append(found, inbound.Reported{TransactionID: id, Time: said.Time, Late: late})
		}
		last := &found[len(found)-1]
		if own {
			last.Own = append(last.Own, said)
		} else {
			last.Others = append(last.Others, said)
		}
		return false, err
	}))
	if !e.Forwarded {
		found = slices.DeleteFunc(found, func(k inbound.Reported) bool { return len(k.Own) > 0 })
	}
	return found, cut
}

// keepReport keeps the report e of a transaction if it differs from the first report.
func (r *recorder) keepReport(b app.BankAccount, e report, id int64) {
	r.tx.exec(`INSERT INTO transaction_reports (transaction_id, account_id, source_id, channel, event_id, bank_account_id, number,
		content, occurred_at, date_only, balance, available)
		SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM transactions
		WHERE id = ?1 AND (number, content, occurred_at, date_only, balance, available) IS NOT (?7, ?8, ?9, ?10, ?11, ?12)`,
		id, b.AccountID, e.source, string(e.EventIDChannel), e.EventID, b.ID, e.Number, e.Content, e.Time.Unix(), e.DateOnly,
		nullIfZero(e.Balance), nullIfZero(e.Available))
	r.matchByReport(b, e, id)
}

// matchByReport matches a transaction with the payment request that a later report names,
// unless an earlier report speaks against it. It doesn't match by amount alone: that was tried
// when the transaction was recorded.
func (r *recorder) matchByReport(b app.BankAccount, e report, id int64) {
	cache := r.tx.recordCache(b.AccountID)
	if !cache.payments {
		return
	}
	t := find(r.tx, app.ErrNoTransaction, scanTransaction, oneTransaction, id, b.AccountID, nil)
	if t.PaymentRequest.ID != 0 || t.Content == e.Content {
		return
	}
	t.Content, t.Code = e.Content, cache.codes.Read(b.WithoutPrefix(e.Content))
	match := r.match(b, t, cache.codes)
	if match.ID == 0 || match.foundBy == payment.MatchedByAmount {
		return
	}
	earlier := findAll(r.tx, scanOne[string], `SELECT content FROM transactions WHERE id = ?1
		UNION ALL SELECT content FROM transaction_reports WHERE transaction_id = ?1 AND (source_id, channel, event_id) IS NOT (?2, ?3, ?4)`,
		id, e.source, string(e.EventIDChannel), e.EventID)
	if !slices.ContainsFunc(earlier, func(content string) bool {
		return payment.SpeaksAgainst(cache.codes, b.WithoutPrefix(content), t, match.Request)
	}) {
		match.keepLater(r.tx, t, r.now)
		r.tx.notePaymentChange()
	}
}

// mayBeRepeat keeps an element that may repeat a transaction. An element that a person records
// by hand is refused: the person knows whether it is a repeat.
func (r *recorder) mayBeRepeat(position int, b app.BankAccount, e inbound.Incoming, same int64) (inbound.Outcome, int64) {
	r.tx.refuse(r.call.Channel == app.ChannelHand, inbound.ErrMayBeRepeat(same))
	if r.call.Body == nil {
		r.call.Body = []byte{} // so that rows of a file get an inbound event if they need attention
	}
	r.keepImport()
	item := r.addItem(position, inbound.OutcomeMayBeRepeat, e, inbound.MayRepeat(same))
	if item != 0 {
		r.tx.exec(`UPDATE inbound_items SET bank_account_id = ?, transaction_id = ?, import_id = ? WHERE id = ?`, b.ID, same,
			nullIfZero(r.call.ImportID), item)
	}
	r.remember(e, 0, item, false)
	return inbound.OutcomeMayBeRepeat, 0
}

// decidedItem is an item of the call that is being recorded which a later element decided.
type decidedItem struct {
	position    int
	outcome     inbound.Outcome
	transaction int64
}

// mostDecided is how many items a report decides at most.
const mostDecided = `100`

// decide judges again the items that may be repeats and have the bank account, direction and
// amount of e, which was just recorded or merged: e may show which of them are repeats.
func (r *recorder) decide(b app.BankAccount, e report) {
	if others := r.tx.reportedBy(b.ID, e.channel()); others || e.Forwarded {
		r.judgeItems(b, r.mayBeRepeats(`i.bank_account_id = ? AND i.amount = ? AND i.type = ?`, b.ID, e.Amount, string(e.Type)))
	}
}

// judgeItems judges items of a bank account until one is decided: conclude then judges the
// rest again.
func (r *recorder) judgeItems(b app.BankAccount, items []waitingItem) {
	for _, item := range items {
		if item.event == r.event && item.position > r.position {
			continue // the retry records it later
		}
		id, likeness := r.judge(b, item.report)
		if likeness != inbound.NotKnown {
			r.conclude(item, b, id, likeness)
			return
		}
		if id != item.mayRepeat {
			r.keepAsRepeat(item, b, id)
		}
	}
}

// judgeWithout judges again the items that may have been repeats of removed transactions.
func (r *recorder) judgeWithout(removed []removedTransaction) {
	for _, t := range removed {
		items := r.mayBeRepeats(`i.bank_account_id = ? AND i.amount = ? AND i.transaction_id = ?`, t.bankAccountID, t.amount, t.id)
		for _, item := range items {
			b := find(r.tx, nil, columnsOnly(scanBankAccount), oneBankAccount, item.bankAccount, r.call.AccountID)
			if b.ID != 0 { // 0: the bank account was unlinked
				r.judgeItems(b, []waitingItem{item})
			}
		}
	}
	r.closeItems()
}

// mayBeRepeats returns items that may be repeats. Those that were received long ago are silent.
func (r *recorder) mayBeRepeats(condition string, args ...any) []waitingItem {
	items := findAll(r.tx, scanWaitingItem, `SELECT `+waitingColumns+
		` FROM inbound_items i INDEXED BY inbound_items_repeat LEFT JOIN sources s ON s.id = i.source_id
		WHERE i.state = 'may_be_repeat' AND `+condition+` ORDER BY i.id LIMIT `+mostDecided, args...)
	for i := range items {
		items[i].silent = items[i].silent || r.now.Sub(items[i].receivedAt) > inbound.RecentlyReceived
	}
	return items
}
