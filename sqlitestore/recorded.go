package sqlitestore

import (
	"baoco/app"
	"baoco/app/inbound"
)

// keepEvent adds the call to the log, once, with the numbers of a call whose
// elements are all recorded. closeEvent corrects the numbers if they aren't.
func (r *recorder) keepEvent() {
	if r.event != 0 || r.call.Body == nil {
		return
	}
	r.event = r.tx.insert(`INSERT INTO inbound_events (account_id, source_id, channel, received_ms, body, recorded, duplicates,
		unassigned, conflicts, rejected, open) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)`,
		r.call.AccountID, nullIfZero(r.call.Source.ID), string(r.call.Channel), r.call.ReceivedAt.UnixMilli(), r.call.Body, len(r.call.Elements))
}

func (r *recorder) closeEvent(n inbound.Recording) {
	if r.event != 0 {
		r.tx.exec(`UPDATE inbound_events SET recorded = ?, duplicates = ?, unassigned = ?, conflicts = ?, rejected = ?, open = `+
			openItems+` WHERE id = ?`, n.Recorded, n.Duplicates, n.Unassigned, n.Conflicts, n.Rejected, r.event)
	}
}

// keepImport adds the row of an imported file with the first transaction that it brings or
// that another file brought.
func (r *recorder) keepImport() {
	if r.call.Channel != app.ChannelFile || r.call.ImportID != 0 {
		return
	}
	r.call.ImportID = r.tx.insert(`INSERT INTO imports (account_id, file, imported_at) VALUES (?, ?, ?)`, r.call.AccountID,
		r.call.File, r.now.Unix())
}

// namedByImport notes that a file names a transaction which another file brought.
func (r *recorder) namedByImport(id int64) {
	if r.call.Channel != app.ChannelFile || id == 0 ||
		!findValue[bool](r.tx, `SELECT import_id IS NOT NULL AND import_id <> ? FROM transactions WHERE id = ?`, r.call.ImportID, id) {
		return
	}
	r.keepImport()
	r.tx.exec(`INSERT INTO import_repeats (import_id, transaction_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, r.call.ImportID, id)
}

// closeImport adds the elements from first on that were recorded to the sums of the
// file.
func (r *recorder) closeImport(first int, recording *inbound.Recording) {
	recording.ImportID = r.call.ImportID
	var sum app.Flow
	for i, e := range r.call.Elements[first:len(recording.Outcomes)] {
		if recording.Outcomes[first+i] == inbound.OutcomeRecorded {
			sum.Add(e.Type, app.Amounts{Count: 1, Total: e.Amount})
		}
	}
	if r.call.Channel == app.ChannelFile && sum.In.Count+sum.Out.Count > 0 {
		r.tx.exec(`UPDATE imports SET in_count = in_count + ?, in_amount = in_amount + ?, out_count = out_count + ?, out_amount =
			out_amount + ?, undone_at = NULL WHERE id = ?`, sum.In.Count, sum.In.Total, sum.Out.Count, sum.Out.Total, r.call.ImportID)
	}
}

// seenEvent is the transaction or the item of a known event id.
type seenEvent struct {
	inbound.RecordedAs
	transactionID int64
	itemID        int64
	inboundEvent  int64           // of the item
	state         inbound.Outcome // of the item
}

// find looks up an event id. Most ids are new, and a look at the key alone finds that in half
// the time.
func (r *recorder) find(e inbound.Incoming) *seenEvent {
	if !findValue[bool](r.tx, `SELECT EXISTS (SELECT 1 FROM event_ids WHERE account_id = ? AND source_id = ? AND channel = ?
		AND event_id = ?)`, r.call.AccountID, r.call.Source.ID, string(e.EventIDChannel), e.EventID) {
		return nil
	}
	var seen seenEvent
	r.tx.fail(scanKnown(r.tx.queryRow(`SELECT coalesce(k.transaction_id, 0), coalesce(k.item_id, 0), coalesce(i.inbound_event_id, 0),
		coalesce(i.state, ''), `+knownColumns+` FROM event_ids k`+knownJoins+`
		WHERE k.account_id = ? AND k.source_id = ? AND k.channel = ? AND k.event_id = ?`, r.call.AccountID, r.call.Source.ID,
		string(e.EventIDChannel), e.EventID), &seen.RecordedAs, &seen.transactionID, &seen.itemID, &seen.inboundEvent, &seen.state))
	return &seen
}

// knownColumns are what was recorded under an event id k: as a transaction t, or as an
// item i, which names its bank as the provider did.
const (
	knownColumns = `coalesce(b.bank, ''), iif(t.id IS NULL, coalesce(i.gateway, ''), ''), coalesce(b.account_number, i.account_number, ''),
		coalesce(t.receiving_number, ''), coalesce(t.type, i.type, ''), coalesce(t.amount, i.amount, 0)`
	knownJoins = ` LEFT JOIN transactions t ON t.id = k.transaction_id LEFT JOIN bank_accounts b ON b.id = t.bank_account_id LEFT
		JOIN inbound_items i ON i.id = k.item_id`
)

func scanKnown(row scanner, k *inbound.RecordedAs, before ...any) error {
	var gateway string
	err := row.Scan(append(before, &k.Bank, &gateway, &k.AccountNumber, &k.ReceivingNumber, &k.Type, &k.Amount)...)
	if gateway != "" {
		bank, _ := app.FindBank(gateway)
		k.Bank = bank.Code
	}
	return err
}

func (r *recorder) remember(e inbound.Incoming, transactionID, itemID int64, merged bool) {
	r.tx.exec(`INSERT INTO event_ids (account_id, source_id, channel, event_id, transaction_id, item_id, merged)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		r.call.AccountID, r.call.Source.ID, string(e.EventIDChannel), e.EventID, nullIfZero(transactionID), nullIfZero(itemID), merged)
}

// again handles an element whose event id is known: it is a duplicate, a conflict,
// or, in a retry, an item that can be recorded now.
func (r *recorder) again(position int, e inbound.Incoming, seen *seenEvent) (inbound.Outcome, int64) {
	if seen.transactionID == 0 && seen.inboundEvent == 0 {
		return inbound.OutcomeDuplicate, 0 // its item was discarded, and has been pruned
	}
	if seen.Compare(e) == inbound.OutcomeConflict {
		r.tx.refuse(r.call.Channel == app.ChannelHand, inbound.ErrEventConflict)
		r.addConflict(position, e)
		return inbound.OutcomeConflict, seen.transactionID
	}
	if !r.retry || seen.transactionID != 0 {
		r.namedByImport(seen.transactionID)
		return inbound.OutcomeDuplicate, seen.transactionID
	}
	if seen.inboundEvent != r.event {
		return inbound.OutcomeDuplicate, 0 // another event has its item
	}
	bankAccount, found := r.tx.recordCache(r.call.AccountID).match(e, r.call.Source.BankAccountID)
	if !found {
		if seen.state == inbound.OutcomeDiscarded {
			r.kept++
		}
		return inbound.OutcomeUnassigned, 0
	}
	item := find(r.tx, nil, scanWaitingItem, `SELECT `+waitingColumns+
		` FROM inbound_items i LEFT JOIN sources s ON s.id = i.source_id WHERE i.id = ?`, seen.itemID)
	item.Incoming, item.silent = e, r.report(e).silent
	return r.assign(item, bankAccount)
}

func (r *recorder) unassigned(position int, e inbound.Incoming) (inbound.Outcome, int64) {
	r.tx.refuse(r.call.Channel == app.ChannelHand, inbound.ErrUnknownBankAccount)
	if r.call.Channel != app.ChannelFile { // the user still has the file
		item := r.addItem(position, inbound.OutcomeUnassigned, e, app.FieldError{Field: "accountNumber", Text: app.Text{
			EN: "is not a linked bank account", VI: "chưa được liên kết",
		}})
		r.remember(e, 0, item, false)
	}
	return inbound.OutcomeUnassigned, 0
}

// addConflict keeps an item for a conflict. If the conflict comes again, it keeps no second
// item, also if somebody has discarded the first one.
func (r *recorder) addConflict(position int, e inbound.Incoming) {
	if findValue[bool](r.tx, `SELECT EXISTS (SELECT 1 FROM inbound_items WHERE account_id = ? AND source_id = ? AND event_id = ?
		AND state IN ('conflict', 'discarded')
		AND channel = ? AND amount = ? AND type = ? AND account_number = ? AND gateway = ? AND NOT (inbound_event_id = ? AND id <= ?))`,
		r.call.AccountID, r.call.Source.ID, e.EventID, string(e.EventIDChannel), e.Amount, string(e.Type), e.AccountNumber,
		e.Gateway, r.event, r.before) {
		return
	}
	r.addItem(position, inbound.OutcomeConflict, e, app.FieldError{Field: "id", Text: app.Text{
		EN: "was recorded with another amount, direction or account", VI: "đã được ghi nhận với số tiền, loại giao dịch hoặc tài khoản khác",
	}})
}

var insertItem = insertInto("inbound_items", `inbound_event_id, account_id, source_id, channel, position, state, reason_field, reason_en,
	reason_vi, event_id, gateway, account_number, number, type, amount, content, occurred_at, date_only, date_flaw, masked, received_ms,
	silent, forwarded, clocked, balance, available, sub_account`)

// addItem keeps an element as an item that needs attention. In a retry an item that was
// discarded for the same reason stays discarded.
func (r *recorder) addItem(position int, state inbound.Outcome, e inbound.Incoming, reason app.FieldError) int64 {
	if why, discarded := r.discarded[position]; discarded && why == reason.Text.EN {
		r.kept++
		return 0
	}
	if r.keepEvent(); r.event == 0 {
		return 0
	}
	return r.tx.insert(insertItem, r.event, r.call.AccountID, r.call.Source.ID, string(e.EventIDChannel), position, string(state),
		reason.Field, reason.Text.EN, reason.Text.VI, e.EventID, e.Gateway, e.AccountNumber, e.Number, string(e.Type), e.Amount, e.Content,
		e.Time.Unix(), e.DateOnly, string(e.DateFlaw), e.Masked, r.call.ReceivedAt.UnixMilli(), r.report(e).silent, e.Forwarded, e.Clocked,
		nullIfZero(e.Balance), nullIfZero(e.Available), e.SubAccount)
}

// waiting records the unassigned items of a link, after those that are done, until the
// step is full. more says that items are left.
func (r *recorder) waiting(b app.BankAccount, link *unfinishedLink, result *inbound.EventLinkResult) (more bool) {
	items := waitingItems(r.tx, b, *link)
	more = len(items) == stepRows
	for i, item := range items {
		link.item = item.id
		r.waitingItem(item, b, *link, result)
		if r.tx.full() {
			more = more || i+1 < len(items)
			break
		}
	}
	r.closeItems()
	return more
}

// waitingItem records an unassigned item on b. A person has chosen b for the items of the
// link's event; an item of another event must match b.
func (r *recorder) waitingItem(item waitingItem, b app.BankAccount, link unfinishedLink, result *inbound.EventLinkResult) {
	if link.event != everyEvent && !inbound.Fits(b, item.Incoming) {
		return
	}
	if link.event == everyEvent {
		if matched, found := r.tx.recordCache(r.call.AccountID).match(item.Incoming, item.only); !found || matched.ID != b.ID {
			return
		}
	}
	recent := link.linkedAt.Sub(item.receivedAt) <= inbound.RecentlyReceived
	item.silent = link.notify == inbound.NotifyNone || link.notify == inbound.NotifyRecent && !recent
	outcome, id := r.assign(item, b)
	switch {
	case outcome == inbound.OutcomeUnassigned:
	case link.event == everyEvent && outcome == inbound.OutcomeRecorded:
		result.Waiting++
	case link.event != everyEvent && outcome != inbound.OutcomeMayBeRepeat:
		if outcome == inbound.OutcomeRecorded {
			result.Recorded++
		} else {
			result.Duplicates++
		}
		result.TransactionIDs = append(result.TransactionIDs, id)
	}
}

// assign records an unassigned item on its bank account and closes it, or keeps it as an
// item that may be a repeat.
func (r *recorder) assign(item waitingItem, b app.BankAccount) (inbound.Outcome, int64) {
	id, likeness := r.judge(b, item.report)
	if likeness == inbound.NotKnown {
		r.keepAsRepeat(item, b, id)
		return inbound.OutcomeMayBeRepeat, 0
	}
	return r.conclude(item, b, id, likeness)
}

// closedItems are changes of the numbers of an event.
type closedItems struct{ unassigned, recorded, duplicates int }

// noteClosed counts the change of an item of another event than the call's own: closeEvent
// counts the call's own event as a whole.
func (r *recorder) noteClosed(item waitingItem, outcome inbound.Outcome) {
	if item.event == r.event {
		return
	}
	if r.closed == nil {
		r.closed = map[int64]closedItems{}
	}
	n := r.closed[item.event]
	if item.bankAccount == 0 { // the item is counted as unassigned, also if it was discarded
		n.unassigned--
	}
	switch outcome {
	case inbound.OutcomeRecorded:
		n.recorded++
	case inbound.OutcomeDuplicate:
		n.duplicates++
	}
	r.closed[item.event] = n
}

// closeItems corrects the numbers of the events whose items were closed. It runs
// once a step, because SQLite writes the whole row with the body again.
func (r *recorder) closeItems() {
	for event, n := range r.closed {
		r.tx.exec(`UPDATE inbound_events SET unassigned = unassigned + ?1, recorded = recorded + ?2, duplicates = duplicates + ?3,
			open = `+openItems+` WHERE id = ?4`, n.unassigned, n.recorded, n.duplicates, event)
	}
}
