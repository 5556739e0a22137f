package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// conclude closes an item of which is known whether it repeats a transaction. If it doesn't,
// conclude records it as a transaction of its own.
func (r *recorder) conclude(item waitingItem, b app.BankAccount, id int64, likeness inbound.Likeness) (inbound.Outcome, int64) {
	outcome := inbound.OutcomeDuplicate
	switch {
	case likeness != inbound.AnotherMovement:
		r.keepReport(b, item.report, id)
	case r.tx.takes(b.AccountID, item.Amount):
		outcome, id = inbound.OutcomeRecorded, r.insert(b, item.report)
	default:
		return item.state, 0 // it still waits
	}
	r.noteClosed(item, outcome)
	if item.event == r.event {
		r.decided = append(r.decided, decidedItem{item.position, outcome, id})
	}
	r.tx.exec(`UPDATE event_ids SET transaction_id = ?, merged = ? WHERE account_id = ? AND source_id = ? AND channel = ?
		AND event_id = ?`, id, outcome == inbound.OutcomeDuplicate, r.call.AccountID, item.source, string(item.EventIDChannel), item.EventID)
	r.tx.exec(`UPDATE inbound_items SET state = ? WHERE id = ?`, string(outcome), item.id)
	r.decide(b, item.report)
	return outcome, id
}

// keepAsRepeat keeps an item that may be a repeat of a transaction.
func (r *recorder) keepAsRepeat(item waitingItem, b app.BankAccount, same int64) {
	why := inbound.MayRepeat(same)
	r.noteClosed(item, inbound.OutcomeMayBeRepeat)
	r.tx.exec(`UPDATE inbound_items SET state = ?, bank_account_id = ?, transaction_id = ?, silent = ?, reason_field = ?,
		reason_en = ?, reason_vi = ? WHERE id = ?`,
		string(inbound.OutcomeMayBeRepeat), b.ID, same, item.silent, why.Field, why.Text.EN, why.Text.VI, item.id)
}

// settle concludes an item as a repeat if a person says that it is one. If the person says
// that it isn't, or its transaction was removed, the item is judged again.
func (r *recorder) settle(item waitingItem, b app.BankAccount, repeat bool) (inbound.Outcome, int64) {
	if repeat && findValue[bool](r.tx, `SELECT EXISTS (SELECT 1 FROM transactions WHERE id = ?)`, item.mayRepeat) {
		return r.conclude(item, b, item.mayRepeat, inbound.SameMovement)
	}
	item.isNot = append(item.isNot, item.mayRepeat)
	r.tx.exec(`UPDATE inbound_items SET is_not = ? WHERE id = ?`, jsonArray(item.isNot), item.id)
	id, likeness := r.judge(b, item.report)
	if likeness == inbound.NotKnown {
		r.keepAsRepeat(item, b, id)
		return inbound.OutcomeMayBeRepeat, id
	}
	return r.conclude(item, b, id, likeness)
}

// SettleRepeat settles an item that may be a repeat as a person says.
func (s *Store) SettleRepeat(
	ctx context.Context, accountID int64, in inbound.RepeatSettle, zone *time.Location, now time.Time,
) (inbound.Settled, error) {
	return writing(ctx, s, func(tx *tx) (settled inbound.Settled, err error) {
		ownInboundEvent(tx, accountID, in.EventID)
		r := &recorder{tx: tx, zone: zone, now: now, call: inbound.Call{AccountID: accountID}}
		items := r.mayBeRepeats(`+i.inbound_event_id = ? AND (?2 = 0 OR i.id = ?2) AND (?3 = 0 OR i.transaction_id = ?3)`,
			in.EventID, in.ItemID, in.TransactionID)
		if len(items) != 1 {
			return settled, inbound.ErrNothingToSettle
		}
		b := txBankAccount(tx, accountID, items[0].bankAccount)
		tx.audit(ctx, accountID, app.DeedInboundSettle, in.EventID, app.AuditDetail{})
		settled.Outcome, settled.TransactionID = r.settle(items[0], b, in.Repeat)
		settled.Webhooks = r.webhooks
		r.closeItems()
		return settled, nil
	})
}

// PartReport records a merged report as a transaction of its own.
func (s *Store) PartReport(
	ctx context.Context, accountID int64, in inbound.ReportPart, zone *time.Location, now time.Time,
) (inbound.Settled, error) {
	return writing(ctx, s, func(tx *tx) (inbound.Settled, error) {
		said := find(tx, inbound.ErrNothingToSettle, scanMerged,
			`SELECT `+mergedColumns+` AND k.source_id = ?3 AND k.channel = ?4 AND k.event_id = ?5`,
			in.TransactionID, accountID, in.SourceID, string(in.Channel), in.EventID)
		t := find(tx, app.ErrNoTransaction, scanTransaction, oneTransaction, in.TransactionID, accountID, nil)
		b := txBankAccount(tx, accountID, t.BankAccountID)
		r := &recorder{tx: tx, zone: zone, now: now, call: inbound.Call{AccountID: accountID}}
		e := report{source: said.SourceID, Incoming: inbound.Incoming{EventID: said.EventID, EventIDChannel: said.Channel, Number: said.Number,
			Type: t.Type, Amount: t.Amount, Content: said.Content, Time: said.Time, DateOnly: said.DateOnly, Balance: said.Balance}}
		tx.refuse(!tx.takes(accountID, t.Amount), inbound.ErrSumTooLarge)
		id := r.insert(b, e)
		key := []any{in.TransactionID, accountID, in.SourceID, string(in.Channel), in.EventID}
		const ofKey = `transaction_id = ?1 AND account_id = ?2 AND source_id = ?3 AND channel = ?4 AND event_id = ?5`
		tx.exec(`DELETE FROM transaction_reports WHERE `+ofKey, key...)
		tx.exec(`UPDATE event_ids SET transaction_id = ?6, merged = 0 WHERE `+ofKey, append(key, id)...)
		r.decide(b, e)
		return inbound.Settled{Outcome: inbound.OutcomeRecorded, TransactionID: id, Webhooks: r.webhooks},
			tx.audit(ctx, accountID, app.DeedTransactionRecord, id, app.AuditDetail{})
	})
}
