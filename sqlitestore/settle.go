package sqlitestore

import (
	"cmp"
	"context"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// conclude closes an item whose movement is known: it is that of a transaction, or another
// one, which is recorded.
func (r *recorder) conclude(item waitingItem, b app.BankAccount, id int64, like inbound.Likeness) (inbound.Outcome, int64, error) {
	outcome, err := inbound.OutcomeDuplicate, error(nil)
	if like == inbound.AnotherMovement {
		if takes, err := r.tx.takes(b.AccountID, item.Amount); err != nil || !takes {
			return item.state, 0, err // it waits on
		}
		outcome = inbound.OutcomeRecorded
		id, err = r.insert(b, item.report)
	} else {
		err = r.keepReport(b, item.report, id)
	}
	if err != nil {
		return "", 0, err
	}
	r.noteClosed(item, outcome)
	if item.event == r.event {
		r.decided = append(r.decided, decidedItem{item.position, outcome, id})
	}
	r.tx.exec(`UPDATE event_ids SET transaction_id = ?, merged = ? WHERE account_id = ? AND source_id = ? AND channel = ?
		AND event_id = ?`,
		id, outcome == inbound.OutcomeDuplicate, r.call.AccountID, item.source, string(item.EventIDChannel), item.EventID)
	r.tx.exec(`UPDATE inbound_items SET state = ? WHERE id = ?`, string(outcome), item.id)
	return outcome, id, r.decide(b, item.report)
}

// keepAsRepeat keeps an item that may be the movement of a transaction.
func (r *recorder) keepAsRepeat(item waitingItem, b app.BankAccount, same int64) error {
	why := inbound.MayRepeat(same)
	r.noteClosed(item, inbound.OutcomeMayBeRepeat)
	return r.tx.exec(`UPDATE inbound_items SET state = ?, bank_account_id = ?, transaction_id = ?, silent = ?, reason_field = ?, reason_en =
		?, reason_vi = ? WHERE id = ?`,
		string(inbound.OutcomeMayBeRepeat), b.ID, same, item.silent, why.Field, why.Text.EN, why.Text.VI, item.id)
}

// settle concludes an item that is what it may repeat, and judges one again that isn't, or
// whose transaction was removed.
func (r *recorder) settle(item waitingItem, b app.BankAccount, repeat bool) (inbound.Outcome, int64, error) {
	there, err := scanOne[bool](r.tx.queryRow(`SELECT EXISTS (SELECT 1 FROM transactions WHERE id = ?)`, item.mayRepeat))
	if err != nil {
		return "", 0, err
	}
	if repeat && there {
		return r.conclude(item, b, item.mayRepeat, inbound.SameMovement)
	}
	item.isNot = append(item.isNot, item.mayRepeat)
	r.tx.exec(`UPDATE inbound_items SET is_not = ? WHERE id = ?`, joinIDs(item.isNot), item.id)
	id, like, err := r.judge(b, item.report)
	if err != nil {
		return "", 0, err
	}
	if like == inbound.NotKnown {
		return inbound.OutcomeMayBeRepeat, id, r.keepAsRepeat(item, b, id)
	}
	return r.conclude(item, b, id, like)
}

// SettleRepeat does what a person says of an item that may be a repeat.
func (s *Store) SettleRepeat(
	ctx context.Context, accountID int64, in inbound.RepeatSettle, zone *time.Location, now time.Time,
) (inbound.Settled, error) {
	return writing(ctx, s, func(tx *tx) (inbound.Settled, error) {
		var settled inbound.Settled
		if err := inboundEventExists(tx, accountID, in.EventID); err != nil {
			return settled, err
		}
		r := &recorder{tx: tx, zone: zone, now: now, call: inbound.Call{AccountID: accountID}}
		items, err := r.mayBeRepeats(`+i.inbound_event_id = ? AND (?2 = 0 OR i.id = ?2) AND (?3 = 0 OR i.transaction_id = ?3)`,
			in.EventID, in.ItemID, in.TransactionID)
		if err == nil && len(items) != 1 {
			err = inbound.ErrNothingToSettle
		}
		if err != nil {
			return settled, err
		}
		item := items[0]
		b, err := txBankAccount(tx, accountID, item.bankAccount)
		if err != nil {
			return settled, err
		}
		tx.audit(ctx, accountID, app.DeedInboundSettle, in.EventID, app.AuditDetail{})
		settled.Outcome, settled.TransactionID, err = r.settle(item, b, in.Repeat)
		settled.Webhooks = r.webhooks
		if err == nil {
			err = r.closeItems()
		}
		return settled, err
	})
}

// PartReport records a report that was taken for a transaction as one of its own.
func (s *Store) PartReport(
	ctx context.Context, accountID int64, in inbound.ReportPart, zone *time.Location, now time.Time,
) (inbound.Settled, error) {
	return writing(ctx, s, func(tx *tx) (inbound.Settled, error) {
		none := inbound.Settled{}
		said, err := scanMerged(tx.queryRow(`SELECT `+mergedColumns+` AND k.source_id = ?3 AND k.channel = ?4 AND k.event_id = ?5`,
			in.TransactionID, accountID, in.SourceID, string(in.Channel), in.EventID))
		if err != nil {
			return none, noRowsAs(err, inbound.ErrNothingToSettle)
		}
		t, err := scanTransaction(tx.queryRow(oneTransaction, in.TransactionID, accountID, nil))
		if err != nil {
			return none, err
		}
		b, err := txBankAccount(tx, accountID, t.BankAccountID)
		if err != nil {
			return none, err
		}
		r := &recorder{tx: tx, zone: zone, now: now, call: inbound.Call{AccountID: accountID}}
		e := report{source: said.SourceID, Incoming: inbound.Incoming{EventID: said.EventID, EventIDChannel: said.Channel, Number: said.Number,
			Type: t.Type, Amount: t.Amount, Content: said.Content, Time: said.Time, DateOnly: said.DateOnly, Balance: said.Balance}}
		if takes, err := tx.takes(accountID, t.Amount); err != nil || !takes {
			return none, cmp.Or(err, inbound.ErrSumTooLarge)
		}
		id, err := r.insert(b, e)
		if err != nil {
			return none, err
		}
		key := []any{in.TransactionID, accountID, in.SourceID, string(in.Channel), in.EventID}
		const ofKey = `transaction_id = ?1 AND account_id = ?2 AND source_id = ?3 AND channel = ?4 AND event_id = ?5`
		tx.exec(`DELETE FROM transaction_reports WHERE `+ofKey, key...)
		tx.exec(`UPDATE event_ids SET transaction_id = ?6, merged = 0 WHERE `+ofKey, append(key, id)...)
		if err := r.decide(b, e); err != nil {
			return none, err
		}
		return inbound.Settled{Outcome: inbound.OutcomeRecorded, TransactionID: id, Webhooks: r.webhooks},
			tx.audit(ctx, accountID, app.DeedTransactionRecord, id, app.AuditDetail{})
	})
}
