package sqlitestore

import (
	"slices"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
)

// recorder records the elements of a call inside one transaction. Every bank
// transaction takes this way, whichever channel it came by:
//
//	element → known event id? → which bank account? → the same movement as one that
//	another channel reported? → insert, with its totals and its deliveries → items
//	that this decides
//
// Its methods are in four files: record.go takes an element into the ledger, repeat.go
// judges whether another channel reported it, settle.go closes items that may be repeats,
// and recorded.go keeps the ids of events, the log of calls, and the items that need
// attention.
type recorder struct {
	tx     *tx
	zone   *time.Location
	now    time.Time
	call   inbound.Call
	retry  bool  // of an event that is in the log already
	before int64 // items of that event up to this id are written again
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
	provider app.Provider // of the source; empty: none
	event    int64        // inbound event; 0: none
	importID int64        // 0: it isn't from a file
	silent   bool         // no webhook gets it
	isNot    []int64      // transactions that a person said it doesn't repeat
	inbound.Incoming
}

func (e report) channel() channel { return channel{e.source, e.EventIDChannel} }

func (r *recorder) report(e inbound.Incoming) report {
	return report{
		source: r.call.Source.ID, provider: r.call.Source.Provider, event: r.event, importID: r.call.ImportID,
		silent: r.call.NoDeliveries || e.Time.Before(r.call.NoDeliveriesBefore), Incoming: e,
	}
}

// maxReady is how many deliveries of one call are returned ready to be sent. The
// sweep reads the rest from the file.
const maxReady = 16

// elements records the elements after those of recording, and stops when the step
// is full. A dry run has one step, since its later elements are compared with the
// earlier ones.
func (r *recorder) elements(recording *inbound.Recording) (more bool) {
	for i := len(recording.Outcomes); i < len(r.call.Elements) && !more; i++ {
		recording.Add(r.element(i, r.call.Elements[i]))
		for _, d := range r.decided {
			if d.position < len(recording.Outcomes) {
				recording.Recount(d.position, d.outcome, d.transaction)
			}
		}
		r.decided = nil
		more = r.tx.failed != nil || r.tx.full() && !r.call.DryRun && i+1 < len(r.call.Elements)
	}
	recording.Deliveries += r.deliveries
	recording.Discarded += r.kept
	recording.Webhooks = append(recording.Webhooks, r.webhooks...)
	if len(recording.Ready) < maxReady {
		recording.Ready = append(recording.Ready, r.ready...)
	}
	recording.EventID = r.event
	r.closeItems()
	return more
}

// element records one element and returns its outcome, and the id of its
// transaction or 0.
func (r *recorder) element(position int, e inbound.Incoming) (inbound.Outcome, int64) {
	r.position = position
	if e.Fault != nil {
		return r.rejected(position, e)
	}
	if seen := r.find(e); seen != nil {
		return r.again(position, e, seen)
	}
	bankAccount, found := r.tx.recordCache(r.call.AccountID).match(e, r.call.Source.BankAccountID)
	if !found {
		return r.unassigned(position, e)
	}
	r.noteBalance(bankAccount, e)
	same, likeness := r.judge(bankAccount, r.report(e))
	switch {
	case likeness == inbound.SameMovement:
		r.remember(e, same, 0, true)
		r.keepReport(bankAccount, r.report(e), same)
		r.decide(bankAccount, r.report(e))
		return inbound.OutcomeDuplicate, same
	case likeness == inbound.NotKnown:
		return r.mayBeRepeat(position, bankAccount, e, same)
	case !r.tx.takes(bankAccount.AccountID, e.Amount):
		r.tx.refuse(r.call.Channel == app.ChannelHand, inbound.ErrSumTooLarge)
		e.Fault = &app.FieldError{Field: "transferAmount", Text: inbound.SumTooLarge}
		return r.rejected(position, e)
	}
	r.keepEvent()
	r.keepImport()
	id := r.insert(bankAccount, r.report(e))
	r.remember(e, id, 0, false)
	r.decide(bankAccount, r.report(e))
	return inbound.OutcomeRecorded, id
}

// rejected keeps an element that can't be read as an item. A provider's list shows
// it each time it is read, so there an element with an event id is kept once.
func (r *recorder) rejected(position int, e inbound.Incoming) (inbound.Outcome, int64) {
	if r.call.Channel == app.ChannelPoll && e.EventID != "" &&
		findValue[bool](r.tx, `SELECT EXISTS (SELECT 1 FROM inbound_items WHERE account_id = ? AND source_id = ? AND event_id = ?
			AND state IN ('rejected', 'discarded') AND channel = ? AND NOT (inbound_event_id = ? AND id <= ? AND state = 'rejected'))`,
			r.call.AccountID, r.call.Source.ID, e.EventID, string(e.EventIDChannel), r.event, r.before) {
		return inbound.OutcomeDuplicate, 0
	}
	r.addItem(position, inbound.OutcomeRejected, e, *e.Fault)
	return inbound.OutcomeRejected, 0
}

var insertTransaction = insertInto("transactions", `account_id, bank_account_id, source_id, channel, inbound_event_id, import_id, number,
	type, amount, content, search, occurred_at, date_only, date_flaw, zone_offset, created_at, code, payment_request, balance, available,
	unclocked, unmatched, receiving_number, sepay_id`)

// sepayID is SePay's own id of a transaction, under which shops that were made for SePay get
// it. It is nil if another provider brought the transaction, or if another account at SePay
// used the id before.
func (r *recorder) sepayID(accountID int64, e report) any {
	id, ok := delivery.ParseSepayID(e.EventID)
	if !ok || e.provider != "sepay" {
		return nil
	}
	if findValue[bool](r.tx, `SELECT EXISTS (SELECT 1 FROM transactions INDEXED BY transactions_sepay
		WHERE account_id = ? AND sepay_id = ? AND sepay_id IS NOT NULL)`, accountID, id) {
		return nil
	}
	return id
}

// insert adds the transaction, its share of the totals and of the payment request that it
// is for, and its deliveries.
func (r *recorder) insert(b app.BankAccount, e report) int64 {
	cache := r.tx.recordCache(b.AccountID)
	_, offset := e.Time.In(r.zone).Zone()
	t := app.Transaction{
		AccountID: b.AccountID, BankAccountID: b.ID, Bank: b.Bank, AccountNumber: b.AccountNumber, Number: e.Number,
		Type: e.Type, Amount: e.Amount, Content: e.Content, Time: time.Unix(e.Time.Unix(), 0), DateOnly: e.DateOnly, ZoneOffset: offset,
		Code: cache.codes.Read(b.WithoutPrefix(e.Content)), ReceivingNumber: e.ReceivedOn(b),
	}
	var match paymentMatch
	if cache.payments {
		match = r.match(b, t, cache.codes)
	}
	if match.ID != 0 {
		t.PaymentSent = match.With(t.Amount, match.LateFor(t, r.now), r.now).State(r.now)
	}
	t.ID = r.tx.insert(insertTransaction, b.AccountID, b.ID, e.source, string(e.EventIDChannel), nullIfZero(e.event), nullIfZero(e.importID),
		e.Number, string(e.Type), e.Amount, e.Content, app.SearchText(e.Content, e.Number), e.Time.Unix(), e.DateOnly, string(e.DateFlaw),
		offset, r.now.Unix(), codeOrNull(t.Code), paymentOrNull(t.PaymentSent), nullIfZero(e.Balance), nullIfZero(e.Available), e.Unclocked(),
		cache.payments && e.Type == app.In && match.ID == 0, t.ReceivingNumber, r.sepayID(b.AccountID, e))
	r.tx.totals.addTransaction(transactionDelta{
		id: t.ID, accountID: b.AccountID, bankAccountID: b.ID, at: e.Time, day: app.DayOf(e.Time, r.zone), direction: e.Type, amount: e.Amount,
		receivingNumber: t.ReceivingNumber,
	})
	if match.ID != 0 {
		match.keep(r.tx, t, r.now)
	}
	if status := b.Status.AfterTransaction(); status != b.Status {
		r.tx.exec(`UPDATE bank_accounts SET status = ? WHERE id = ?`, string(status), b.ID)
	}
	if !e.silent && b.Status != app.BankAccountInactive {
		r.fanOut(t)
	}
	return t.ID
}

// match finds the request that a new transaction of b is for.
func (r *recorder) match(b app.BankAccount, t app.Transaction, codes app.CodeReader) (m paymentMatch) {
	var err error
	t.Content = b.WithoutPrefix(t.Content)
	m.Request, m.foundBy, err = payment.MatchTransfer(t, payment.Finder{
		Codes: codes,
		ByCode: func(code string) (payment.Request, bool, error) {
			p, err := scanPaymentRequest(r.tx.queryRow(`SELECT `+paymentColumns+paymentFrom+` WHERE r.account_id = ? AND r.code = ?`,
				t.AccountID, code))
			if err == payment.ErrNoRequest {
				return p, false, nil
			}
			return p, true, err
		},
		ByReference: func(references []string) ([]payment.Request, error) {
			rows, err := r.tx.query(`SELECT `+paymentColumns+
				` FROM json_each(?2) k CROSS JOIN payment_requests r INDEXED BY payment_requests_reference_key ON r.account_id = ?1
					AND r.reference_key = k.value AND r.reference_key <> ''
				JOIN bank_accounts b ON b.id = r.bank_account_id ORDER BY r.id DESC`, t.AccountID, jsonArray(references))
			var last []payment.Request
			err = each(rows, err, func(row scanner) (enough bool, err error) {
				p, err := scanPaymentRequest(row)
				last = append(last, p)
				return len(last) == payment.MaxCandidates, err
			})
			slices.Reverse(last)
			return last, err
		},
		HasLonger: func(reference string) (bool, error) {
			return scanOne[bool](r.tx.queryRow(`SELECT EXISTS (SELECT 1 FROM payment_requests INDEXED BY payment_requests_reference_key
				WHERE account_id = ?1 AND reference_key > ?2 AND reference_key < ?2 || '[' AND reference_key <> '')`, t.AccountID, reference))
		},
		ByAmount: func(bankAccountID, amount int64, after time.Time) ([]payment.Request, error) {
			return queryAll(r.tx, scanPaymentRequest, `SELECT `+paymentColumns+
				` FROM (SELECT id FROM payment_requests INDEXED BY payment_requests_asked WHERE bank_account_id = ?1 AND asked = ?2
					AND paid_at IS NULL AND cancelled_at IS NULL AND coalesce(expires_at > ?3, 1)
					UNION SELECT id FROM payment_requests r INDEXED BY payment_requests_amount WHERE bank_account_id = ?1 AND transfer_amount = ?2
					AND coalesce(`+paymentEnd+` > ?3, 1) LIMIT 2) k
				CROSS JOIN payment_requests r ON r.id = k.id JOIN bank_accounts b ON b.id = r.bank_account_id`, bankAccountID, amount, after.Unix())
		},
	})
	r.tx.fail(err)
	return m
}

// noteBalance notes the balance that a source reported, if the time of the balance is
// known.
func (r *recorder) noteBalance(b app.BankAccount, e inbound.Incoming) {
	if e.Balance == 0 || e.DateFlaw != "" || r.call.Source.ID == 0 {
		return
	}
	r.tx.totals.balances = append(r.tx.totals.balances, balanceDelta{
		bankAccountID: b.ID, sourceID: r.call.Source.ID, day: app.DayOf(e.Time, r.zone), at: e.Time, amount: e.Balance,
	})
}

// fanOut queues one delivery for every active webhook that matches.
func (r *recorder) fanOut(t app.Transaction) {
	for _, w := range r.tx.recordCache(t.AccountID).webhooks {
		if !w.Takes(t) {
			continue
		}
		if r.call.DryRun {
			r.deliveries++
			continue
		}
		id := r.tx.insert(`INSERT INTO deliveries (account_id, webhook_id, transaction_id, state, attempts, retry, due_ms,
				created_ms, single) VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?5, 0)`, t.AccountID, w.ID, t.ID,
			stateNumber(app.DeliveryPending), r.now.UnixMilli())
		r.webhooks = append(r.webhooks, w.ID)
		r.deliveries++
		if len(r.ready) < maxReady {
			r.ready = append(r.ready, w.outgoing(id, t, r.now))
		}
	}
}

// outgoing is the delivery, queued at now, as Due would return it.
func (w cachedWebhook) outgoing(id int64, t app.Transaction, now time.Time) delivery.Outgoing {
	if !w.readable || w.Kind == delivery.WebhookSepay || w.HeaderNames != nil {
		return delivery.Outgoing{} // Due reads it, with the headers or SePay's fields
	}
	at := time.UnixMilli(now.UnixMilli())
	return delivery.Outgoing{
		Delivery: delivery.Delivery{ID: id, AccountID: t.AccountID, WebhookID: w.ID, TransactionID: t.ID, State: app.DeliveryPending,
			DueAt: at, CreatedAt: at},
		Kind: w.Kind, URL: w.URL, Secrets: w.secrets, Payload: delivery.PayloadOf(t),
	}
}
