package sqlitestore

import (
	"fmt"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
)

// recorder records the elements of a call inside one transaction. Every bank
// transaction takes this way, whichever channel it came by:
//
//	element → known event id? → which bank account? → the same movement as one that
//	another channel reported? → insert, with its totals and its deliveries → items
//	that this decides (repeat.go)
type recorder struct {
	tx     *tx
	zone   *time.Location
	now    time.Time
	call   inbound.Call
	retry  bool  // of an event that is in the log already
	before int64 // items of that event up to it are noted anew
	event  int64 // inbound event id; 0: none is kept

	position   int     // of the element that is being recorded
	deliveries int     // queued
	webhooks   []int64 // that got them
	ready      []delivery.Outgoing
	closed     map[int64]closedItems // by inbound event
	decided    []decidedItem         // of the call itself

	discarded map[int]string // in a retry: the reasons of the discarded items, by their position
	kept      int            // in a retry: number of elements that stay discarded
}

// report is an element on its way to the ledger.
type report struct {
	source   int64
	event    int64   // inbound event; 0: none
	importID int64   // 0: it is of no file
	silent   bool    // no webhook gets it
	isNot    []int64 // transactions that a person said it doesn't repeat
	inbound.Incoming
}

func (e report) channel() channel { return channel{e.source, e.EventIDChannel} }

func (r *recorder) report(e inbound.Incoming) report {
	return report{
		source: r.call.Source.ID, event: r.event, importID: r.call.ImportID,
		silent: r.call.NoDeliveries || e.Time.Before(r.call.NoDeliveriesBefore), Incoming: e,
	}
}

// maxReady is how many deliveries of one call are returned ready to be sent. The
// sweep reads the others from the file.
const maxReady = 16

// element records one element and returns its outcome, and the id of its
// transaction or 0.
func (r *recorder) element(position int, e inbound.Incoming) (inbound.Outcome, int64, error) {
	r.position = position
	if e.Fault != nil {
		return r.rejected(position, e)
	}
	if seen, err := r.find(e); err != nil || seen != nil {
		if err != nil {
			return "", 0, err
		}
		return r.again(position, e, seen)
	}
	bankAccount, found, err := r.bankAccount(e, r.call.Source.BankAccountID)
	if err != nil {
		return "", 0, err
	}
	if !found {
		return r.unassigned(position, e)
	}
	r.noteBalance(bankAccount, e)
	same, like, err := r.judge(bankAccount, r.report(e))
	switch {
	case err != nil:
		return "", 0, err
	case like == inbound.SameMovement:
		return inbound.OutcomeDuplicate, same, r.merge(bankAccount, e, same)
	case like == inbound.NotKnown:
		return r.mayBeRepeat(position, bankAccount, e, same)
	}
	if takes, err := r.tx.takes(bankAccount.AccountID, e.Amount); err != nil || !takes {
		if err == nil && r.call.Channel == app.ChannelHand {
			err = inbound.ErrSumTooLarge
		}
		if err != nil {
			return "", 0, err
		}
		e.Fault = &app.FieldError{Field: "transferAmount", Text: inbound.SumTooLarge}
		return r.rejected(position, e)
	}
	id, err := r.record(bankAccount, e)
	return inbound.OutcomeRecorded, id, err
}

// record records an element as a transaction of its own.
func (r *recorder) record(b app.BankAccount, e inbound.Incoming) (int64, error) {
	if err := r.keepEvent(); err != nil {
		return 0, err
	}
	if err := r.keepImport(); err != nil {
		return 0, err
	}
	id, err := r.insert(b, r.report(e))
	if err != nil {
		return 0, err
	}
	if err := r.remember(e, id, 0, false); err != nil {
		return 0, err
	}
	return id, r.decide(b, r.report(e))
}

// merge notes that a transaction is the movement of e.
func (r *recorder) merge(b app.BankAccount, e inbound.Incoming, id int64) error {
	if err := r.remember(e, id, 0, true); err != nil {
		return err
	}
	if err := r.keepReport(b, r.report(e), id); err != nil {
		return err
	}
	return r.decide(b, r.report(e))
}

// rejected keeps an element that can't be read as an item. A provider's list shows
// it each time it is read, so there an element with an event id is kept once.
func (r *recorder) rejected(position int, e inbound.Incoming) (inbound.Outcome, int64, error) {
	if r.call.Channel == app.ChannelPoll && e.EventID != "" {
		kept, err := scanOne[bool](r.tx.queryRow(`SELECT EXISTS (SELECT 1 FROM inbound_items WHERE account_id = ? AND source_id = ? AND event_id = ?
				AND state IN ('rejected', 'discarded') AND channel = ? AND NOT (inbound_event_id = ? AND id <= ? AND state = 'rejected'))`,
			r.call.AccountID, r.call.Source.ID, e.EventID, string(e.EventIDChannel), r.event, r.before))
		if err != nil || kept {
			return inbound.OutcomeDuplicate, 0, err
		}
	}
	_, err := r.addItem(position, inbound.OutcomeRejected, e, *e.Fault)
	return inbound.OutcomeRejected, 0, err
}

// seenEvent is the transaction or the item that an event id stands for.
type seenEvent struct {
	inbound.Known
	transactionID int64
	itemID        int64
	inboundEvent  int64           // of the item
	state         inbound.Outcome // of the item
}

// find looks up an event id. Most are new, which a look at the key alone tells in half the
// time.
func (r *recorder) find(e inbound.Incoming) (*seenEvent, error) {
	known, err := scanOne[bool](r.tx.queryRowOf(r.eventKey(e), `SELECT EXISTS (SELECT 1 FROM event_ids WHERE account_id = ? AND source_id = ? AND channel = ? AND event_id = ?)`,
		r.call.AccountID, r.call.Source.ID, string(e.EventIDChannel), e.EventID))
	if err != nil || !known {
		return nil, err
	}
	var seen seenEvent
	err = scanKnown(r.tx.queryRow(`SELECT coalesce(k.transaction_id, 0), coalesce(k.item_id, 0), coalesce(i.inbound_event_id, 0), coalesce(i.state, ''), `+knownColumns+` FROM event_ids k`+knownJoins+`
		WHERE k.account_id = ? AND k.source_id = ? AND k.channel = ? AND k.event_id = ?`, r.call.AccountID, r.call.Source.ID, string(e.EventIDChannel), e.EventID),
		&seen.Known, &seen.transactionID, &seen.itemID, &seen.inboundEvent, &seen.state)
	return &seen, err
}

// knownColumns are what was recorded under an event id k: as a transaction t, or as an
// item i, which names its bank as the provider did.
const (
	knownColumns = `coalesce(b.bank, ''), iif(t.id IS NULL, coalesce(i.gateway, ''), ''), coalesce(b.account_number, i.account_number, ''), coalesce(t.type, i.type, ''), coalesce(t.amount, i.amount, 0)`
	knownJoins   = ` LEFT JOIN transactions t ON t.id = k.transaction_id LEFT JOIN bank_accounts b ON b.id = t.bank_account_id LEFT JOIN inbound_items i ON i.id = k.item_id`
)

func scanKnown(row scanner, k *inbound.Known, before ...any) error {
	var gateway string
	err := row.Scan(append(before, &k.Bank, &gateway, &k.AccountNumber, &k.Type, &k.Amount)...)
	if gateway != "" {
		bank, _ := app.FindBank(gateway)
		k.Bank = bank.Code
	}
	return err
}

// again handles an element whose event id is known: it is a duplicate, a conflict,
// or, in a retry, an item that can be recorded now.
func (r *recorder) again(position int, e inbound.Incoming, seen *seenEvent) (inbound.Outcome, int64, error) {
	if seen.transactionID == 0 && seen.inboundEvent == 0 {
		return inbound.OutcomeDuplicate, 0, nil // its item was discarded, and has been pruned
	}
	if seen.Compare(e) == inbound.OutcomeConflict {
		if r.call.Channel == app.ChannelHand {
			return "", 0, inbound.ErrEventConflict
		}
		return inbound.OutcomeConflict, seen.transactionID, r.addConflict(position, e)
	}
	if !r.retry || seen.transactionID != 0 {
		return inbound.OutcomeDuplicate, seen.transactionID, r.namedByImport(seen.transactionID)
	}
	if seen.inboundEvent != r.event {
		return inbound.OutcomeDuplicate, 0, nil // another event has its item
	}
	bankAccount, found, err := r.bankAccount(e, r.call.Source.BankAccountID)
	if err != nil {
		return "", 0, err
	}
	if !found {
		if seen.state == inbound.OutcomeDiscarded {
			r.kept++
		}
		return inbound.OutcomeUnassigned, 0, nil
	}
	item, err := scanWaitingItem(r.tx.queryRow(`SELECT `+waitingColumns+` FROM inbound_items i LEFT JOIN sources s ON s.id = i.source_id WHERE i.id = ?`, seen.itemID))
	if err != nil {
		return "", 0, err
	}
	item.Incoming, item.silent = e, r.report(e).silent
	return r.assign(item, bankAccount)
}

// bankAccount finds the linked bank account that e means. only is the one that the
// source is narrowed to, 0 for any.
func (r *recorder) bankAccount(e inbound.Incoming, only int64) (app.BankAccount, bool, error) {
	cache, err := r.tx.recordCache(r.call.AccountID)
	if err != nil {
		return app.BankAccount{}, false, err
	}
	b, found := app.MatchBankAccount(cache.candidates(e, only), e.Gateway)
	return b, found, nil
}

// insert adds the transaction, its share of the totals and of the payment request that it
// is for, and its deliveries.
func (r *recorder) insert(b app.BankAccount, e report) (int64, error) {
	cache, err := r.tx.recordCache(b.AccountID)
	if err != nil {
		return 0, err
	}
	_, offset := e.Time.In(r.zone).Zone()
	t := app.Transaction{
		AccountID: b.AccountID, BankAccountID: b.ID, Bank: b.Bank, AccountNumber: b.AccountNumber, Number: e.Number,
		Type: e.Type, Amount: e.Amount, Content: e.Content, Time: time.Unix(e.Time.Unix(), 0), DateOnly: e.DateOnly, ZoneOffset: offset, Code: cache.codes.Read(e.Content),
	}
	var match paymentMatch
	if cache.payments {
		if match, err = r.match(t, cache.codes); err != nil {
			return 0, err
		}
	}
	if match.ID != 0 {
		t.PaymentSent = match.With(t.Amount, match.LateFor(t, r.now), r.now).State(r.now)
	}
	t.ID, err = r.tx.add(transactions, b.AccountID, b.ID, e.source, string(e.EventIDChannel), nullIfZero(e.event), nullIfZero(e.importID), e.Number, string(e.Type), e.Amount,
		e.Content, app.SearchText(e.Content, e.Number), e.Time.Unix(), e.DateOnly, string(e.DateFlaw), offset, r.now.Unix(), codeOrNull(t.Code), paymentOrNull(t.PaymentSent),
		nullIfZero(e.Balance), nullIfZero(e.Available), e.Unclocked(), cache.payments && e.Type == app.In && match.ID == 0)
	if err != nil {
		return 0, err
	}
	r.tx.rows.keys[numberKey(b, e.Incoming)] = true
	r.tx.rows.keys[amountKey(b, e.channel(), e.Amount)] = true
	r.tx.totals.addTransaction(transactionDelta{
		id: t.ID, accountID: b.AccountID, bankAccountID: b.ID, at: e.Time, day: app.DayOf(e.Time, r.zone), direction: e.Type, amount: e.Amount,
	})
	if match.ID != 0 {
		if err := match.keep(r.tx, t, r.now); err != nil {
			return 0, err
		}
	}
	if status := b.Status.AfterTransaction(); status != b.Status {
		if err := r.tx.exec(`UPDATE bank_accounts SET status = ? WHERE id = ?`, string(status), b.ID); err != nil {
			return 0, err
		}
	}
	if e.silent || b.Status == app.BankAccountInactive {
		return t.ID, nil
	}
	return t.ID, r.fanOut(t)
}

// noteBalance notes the balance that a source told, unless it isn't known when
// it was so.
func (r *recorder) noteBalance(b app.BankAccount, e inbound.Incoming) {
	if e.Balance == 0 || e.DateFlaw != "" || r.call.Source.ID == 0 {
		return
	}
	r.tx.totals.balances = append(r.tx.totals.balances, balanceDelta{
		bankAccountID: b.ID, sourceID: r.call.Source.ID, day: app.DayOf(e.Time, r.zone), at: e.Time, amount: e.Balance,
	})
}

// fanOut queues one delivery for every active webhook that matches.
func (r *recorder) fanOut(t app.Transaction) error {
	cache, err := r.tx.recordCache(t.AccountID)
	if err != nil {
		return err
	}
	for _, w := range cache.webhooks {
		if !w.Takes(t) {
			continue
		}
		if r.call.DryRun {
			r.deliveries++
			continue
		}
		id, err := r.tx.add(deliveries, t.AccountID, w.ID, t.ID, stateNumbers[app.DeliveryPending], 0, 0, r.now.UnixMilli(), r.now.UnixMilli(), 0)
		if err != nil {
			return err
		}
		r.webhooks = append(r.webhooks, w.ID)
		r.deliveries++
		if len(r.ready) < maxReady {
			r.ready = append(r.ready, w.outgoing(id, t, r.now))
		}
	}
	return nil
}

// outgoing is the delivery, queued at now, as Due would return it.
func (w cachedWebhook) outgoing(id int64, t app.Transaction, now time.Time) delivery.Outgoing {
	if !w.readable {
		return delivery.Outgoing{}
	}
	at := time.UnixMilli(now.UnixMilli())
	return delivery.Outgoing{
		Delivery: delivery.Delivery{ID: id, AccountID: t.AccountID, WebhookID: w.ID, TransactionID: t.ID, State: app.DeliveryPending, DueAt: at, CreatedAt: at},
		Kind:     w.Kind, URL: w.URL, Secrets: w.secrets, Payload: delivery.PayloadOf(t),
	}
}

// remember stores the event id of an element.
func (r *recorder) remember(e inbound.Incoming, transactionID, itemID int64, merged bool) error {
	_, err := r.tx.add(eventIDs, r.call.AccountID, r.call.Source.ID, string(e.EventIDChannel), e.EventID, nullIfZero(transactionID), nullIfZero(itemID), merged)
	r.tx.rows.keys[r.eventKey(e)] = true
	return err
}

func (r *recorder) eventKey(e inbound.Incoming) rowKey {
	return rowKey{r.call.Source.ID, string(e.EventIDChannel), e.EventID}
}

func numberKey(b app.BankAccount, e inbound.Incoming) rowKey {
	return rowKey{b.ID, "", inbound.NumberKey(e.Number)}
}

// amountKey is of what a channel reported of an amount.
func amountKey(b app.BankAccount, by channel, amount int64) rowKey {
	return rowKey{b.ID, fmt.Sprint(by.source, " ", by.name), strconv.FormatInt(amount, 10)}
}

func (r *recorder) unassigned(position int, e inbound.Incoming) (inbound.Outcome, int64, error) {
	if r.call.Channel == app.ChannelHand {
		return "", 0, inbound.ErrUnknownBankAccount
	}
	if r.call.Channel == app.ChannelFile {
		return inbound.OutcomeUnassigned, 0, nil // the file keeps it
	}
	item, err := r.addItem(position, inbound.OutcomeUnassigned, e, app.FieldError{Field: "accountNumber", Text: app.Text{
		EN: "is not a linked bank account", VI: "chưa được liên kết",
	}})
	if err != nil {
		return "", 0, err
	}
	return inbound.OutcomeUnassigned, 0, r.remember(e, 0, item, false)
}

// addConflict keeps an item for a conflict, once however often it is repeated, also where
// somebody has discarded it.
func (r *recorder) addConflict(position int, e inbound.Incoming) error {
	kept, err := scanOne[bool](r.tx.queryRow(`SELECT EXISTS (SELECT 1 FROM inbound_items WHERE account_id = ? AND source_id = ? AND event_id = ? AND state IN ('conflict', 'discarded')
			AND channel = ? AND amount = ? AND type = ? AND account_number = ? AND gateway = ? AND NOT (inbound_event_id = ? AND id <= ?))`,
		r.call.AccountID, r.call.Source.ID, e.EventID, string(e.EventIDChannel), e.Amount, string(e.Type), e.AccountNumber, e.Gateway, r.event, r.before))
	if err != nil || kept {
		return err
	}
	_, err = r.addItem(position, inbound.OutcomeConflict, e, app.FieldError{Field: "id", Text: app.Text{
		EN: "was recorded with another amount, direction or account", VI: "đã được ghi nhận với số tiền, chiều hoặc tài khoản khác",
	}})
	return err
}

// addItem keeps an element for somebody to look at. In a retry one that was
// discarded for the same reason stays discarded.
func (r *recorder) addItem(position int, state inbound.Outcome, e inbound.Incoming, reason app.FieldError) (int64, error) {
	if why, discarded := r.discarded[position]; discarded && why == reason.Text.EN {
		r.kept++
		return 0, nil
	}
	if err := r.keepEvent(); err != nil || r.event == 0 {
		return 0, err
	}
	return r.tx.insert(`INSERT INTO inbound_items (inbound_event_id, account_id, source_id, channel, position, state, reason_field, reason_en, reason_vi,
			event_id, gateway, account_number, number, type, amount, content, occurred_at, date_only, date_flaw, masked, received_ms,
			silent, forwarded, clocked, balance, available)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.event, r.call.AccountID, r.call.Source.ID, string(e.EventIDChannel), position, string(state), reason.Field, reason.Text.EN, reason.Text.VI,
		e.EventID, e.Gateway, e.AccountNumber, e.Number, string(e.Type), e.Amount, e.Content, e.Time.Unix(), e.DateOnly, string(e.DateFlaw), e.Masked, r.call.ReceivedAt.UnixMilli(),
		r.report(e).silent, e.Forwarded, e.Clocked, nullIfZero(e.Balance), nullIfZero(e.Available))
}

// isOpen finds the items that need attention, openItems counts those of the
// event that is updated.
const (
	isOpen    = `state IN ('unassigned', 'rejected', 'conflict', 'may_be_repeat')`
	openItems = `(SELECT count(*) FROM inbound_items WHERE inbound_event_id = inbound_events.id AND ` + isOpen + `)`
)
