package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

// Recording what had been waiting for a bank account goes in steps. What is
// left to do stands in unfinished_links from the commit that links on, so that
// FinishLinks goes on where a crash, or a caller who had no more time, cut it
// off. A step looks at the items as they are by then: what was recorded on
// another way meanwhile, or discarded, waits no more.

// everyEvent stands in unfinished_links for the items of all events.
const everyEvent = 0

// noteLink notes that unassigned items are to be recorded on a bank account:
// those of an event, or of every one.
func noteLink(tx *tx, bankAccountID, eventID int64, notify app.NotifyOnLink, now time.Time) error {
	return tx.exec(`INSERT OR REPLACE INTO unfinished_links (bank_account_id, inbound_event_id, notify, linked_at, item_id) VALUES (?, ?, ?, ?, 0)`,
		bankAccountID, eventID, int(notify), now.Unix())
}

// unfinishedLink is a row of unfinished_links.
type unfinishedLink struct {
	event    int64
	notify   app.NotifyOnLink
	linkedAt time.Time
	item     int64 // items up to it were looked at
}

// finishLink records what one step can of what an unfinished link is about, and
// adds it to result. There is none any more where others finished it, or where
// the bank account was unlinked.
func finishLink(tx *tx, result *app.InboundLinkResult, event int64, zone *time.Location, now time.Time) (more bool, err error) {
	b := result.BankAccount
	link, linkedAt := unfinishedLink{event: event}, int64(0)
	err = tx.queryRow(`SELECT notify, linked_at, item_id FROM unfinished_links WHERE bank_account_id = ? AND inbound_event_id = ?`, b.ID, event).
		Scan(&link.notify, &linkedAt, &link.item)
	if noRows(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	link.linkedAt = time.Unix(linkedAt, 0)
	r := &recorder{tx: tx, zone: zone, now: now, call: app.InboundCall{AccountID: b.AccountID}}
	if more, err = r.waiting(b, &link, result); err != nil {
		return false, err
	}
	result.Deliveries += r.deliveries
	result.Webhooks = append(result.Webhooks, r.webhooks...)
	if more {
		return true, tx.exec(`UPDATE unfinished_links SET item_id = ? WHERE bank_account_id = ? AND inbound_event_id = ?`, link.item, b.ID, event)
	}
	return false, tx.exec(`DELETE FROM unfinished_links WHERE bank_account_id = ? AND inbound_event_id = ?`, b.ID, event)
}

// waiting records the unassigned items that a link is about, from the one on
// that it has come to, until the step is full.
func (r *recorder) waiting(b app.BankAccount, link *unfinishedLink, result *app.InboundLinkResult) (more bool, err error) {
	items, err := waitingItems(r.tx, b, *link)
	if err != nil {
		return false, err
	}
	more = len(items) == stepRows
	for i, item := range items {
		link.item = item.id
		if err := r.waitingItem(item, b, *link, result); err != nil {
			return false, err
		}
		if r.tx.full() {
			more = more || i+1 < len(items)
			break
		}
	}
	return more, r.closeItems()
}

// waitingItem records an unassigned item where it turned out to be about b. Of
// an event somebody has said so; any other must name the bank account without
// doubt.
func (r *recorder) waitingItem(item waitingItem, b app.BankAccount, link unfinishedLink, result *app.InboundLinkResult) error {
	if link.event != everyEvent && !b.Fits(item.Incoming) {
		return nil
	}
	if link.event == everyEvent {
		matched, found, err := r.bankAccount(item.Incoming, item.only)
		if err != nil || !found || matched.ID != b.ID {
			return err
		}
	}
	recent := link.linkedAt.Sub(item.receivedAt) <= app.RecentlyReceived
	r.silent = link.notify == app.NotifyNone || link.notify == app.NotifyRecent && !recent
	outcome, id, err := r.assign(item, b)
	switch {
	case err != nil:
		return err
	case link.event == everyEvent && outcome == app.OutcomeRecorded:
		result.Waiting++
	case link.event != everyEvent:
		if outcome == app.OutcomeRecorded {
			result.Recorded++
		} else {
			result.Duplicates++
		}
		result.TransactionIDs = append(result.TransactionIDs, id)
	}
	return nil
}

// waitingItems are the next items that a link may be about, a step's at most:
// of an event all, else those that name the number of b, show some digits of a
// number or name none.
func waitingItems(tx *tx, b app.BankAccount, link unfinishedLink) ([]waitingItem, error) {
	const columns = `SELECT ` + waitingColumns + ` FROM `
	if link.event != everyEvent {
		rows, err := tx.query(columns+`inbound_items i LEFT JOIN sources s ON s.id = i.source_id
			WHERE i.inbound_event_id = ? AND i.state = 'unassigned' AND i.id > ? ORDER BY i.id`+stepLimit, link.event, link.item)
		return collect(rows, err, scanWaitingItem)
	}
	const named = `SELECT id FROM (SELECT id FROM inbound_items INDEXED BY inbound_items_unassigned
		WHERE account_id = ?1 AND state = 'unassigned' AND iif(masked, '', account_number) = `
	const next = ` AND id > ?3 ORDER BY id` + stepLimit + `)`
	rows, err := tx.query(columns+`(`+named+`?2`+next+` UNION ALL `+named+`''`+next+` ORDER BY id`+stepLimit+`) k
		CROSS JOIN inbound_items i ON i.id = k.id LEFT JOIN sources s ON s.id = i.source_id ORDER BY i.id`, b.AccountID, b.AccountNumber, link.item)
	return collect(rows, err, scanWaitingItem)
}

func (s *Store) LinkBankAccount(ctx context.Context, b app.BankAccount, notify app.NotifyOnLink, zone *time.Location, now time.Time) (app.LinkResult, error) {
	r, err := inSteps(ctx, s, app.InboundLinkResult{}, func(tx *tx, r app.InboundLinkResult) (app.InboundLinkResult, bool, error) {
		if r.BankAccount.ID == 0 {
			id, err := linkBankAccount(tx, b, now)
			if err != nil {
				return r, false, err
			}
			r.BankAccount = b
			r.BankAccount.ID = id
			if err := noteLink(tx, id, everyEvent, notify, now); err != nil {
				return r, false, err
			}
		}
		more, err := finishLink(tx, &r, everyEvent, zone, now)
		if err != nil {
			return r, false, err
		}
		r.BankAccount, err = txBankAccount(tx, b.AccountID, r.BankAccount.ID)
		return r, more, err
	})
	more, err := linkGoesOn(r, err)
	return app.LinkResult{BankAccount: r.BankAccount, Recorded: r.Waiting, More: more, Deliveries: r.Deliveries, Webhooks: r.Webhooks}, err
}

// linkGoesOn tells whether an error came after the bank account was linked: then
// the link stands, and what is left is recorded by FinishLinks.
func linkGoesOn(r app.InboundLinkResult, err error) (bool, error) {
	if r.BankAccount.ID != 0 && app.CodeOf(err) == app.CodeUnavailable {
		return true, nil
	}
	return false, err
}

// FinishLinks goes on with the links that were made before a time and aren't
// finished, and gives the webhooks that got deliveries.
func (s *Store) FinishLinks(ctx context.Context, before time.Time, zone *time.Location, now time.Time) ([]int64, error) {
	type left struct {
		bankAccount app.BankAccount
		event       int64
	}
	rows, err := s.query(ctx, `SELECT `+bankAccountColumns+`, l.inbound_event_id FROM unfinished_links l JOIN bank_accounts b ON b.id = l.bank_account_id
		WHERE l.linked_at < ? ORDER BY l.bank_account_id, l.inbound_event_id DESC`, before.Unix())
	links, err := collect(rows, err, func(row scanner) (l left, err error) {
		l.bankAccount, err = scanBankAccount(row, &l.event)
		return l, err
	})
	var webhooks []int64
	for _, l := range links {
		if err != nil {
			break
		}
		var r app.InboundLinkResult
		r, err = inSteps(ctx, s, app.InboundLinkResult{BankAccount: l.bankAccount}, func(tx *tx, r app.InboundLinkResult) (app.InboundLinkResult, bool, error) {
			more, err := finishLink(tx, &r, l.event, zone, now)
			return r, more, err
		})
		webhooks = append(webhooks, r.Webhooks...)
	}
	return webhooks, err
}
