package sqlitestore

import (
	"context"
	"encoding/json"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

func (s *Store) LinkInbound(
	ctx context.Context, accountID int64, in inbound.EventLink, zone *time.Location, now time.Time,
) (inbound.EventLinkResult, error) {
	r, err := inSteps(ctx, s, inbound.EventLinkResult{}, func(tx *tx, r inbound.EventLinkResult) (inbound.EventLinkResult, bool, error) {
		if r.BankAccount.ID == 0 {
			beginLink(tx, accountID, in, &r, now)
			d := app.AuditDetail{}.Changed("bank_account", "", auditBankAccount(r.BankAccount).Name)
			tx.audit(ctx, accountID, app.DeedInboundLink, in.EventID, d)
		}
		more := finishLink(tx, &r, in.EventID, zone, now)
		if !more && r.Linked {
			more = finishLink(tx, &r, everyEvent, zone, now)
		}
		r.Open = findValue[int](tx, `SELECT open FROM inbound_events WHERE id = ?`, in.EventID)
		r.BankAccount = txBankAccount(tx, accountID, r.BankAccount.ID)
		return r, more, nil
	})
	r.More, err = staysLinked(r, err)
	return r, err
}

// beginLink finds or links the bank account of an event's unassigned items, and writes
// the row of unfinished_links by which they are recorded.
func beginLink(tx *tx, accountID int64, in inbound.EventLink, r *inbound.EventLinkResult, now time.Time) {
	ownInboundEvent(tx, accountID, in.EventID)
	items := findAll(tx, scanWaitingItem, `SELECT `+waitingColumns+` FROM inbound_items i LEFT JOIN sources s ON s.id = i.source_id
		WHERE i.inbound_event_id = ? AND i.state = 'unassigned' ORDER BY i.id`, in.EventID)
	if len(items) == 0 {
		tx.fail(inbound.ErrNothingUnassigned)
		return
	}
	r.BankAccount, r.Linked = targetOf(tx, accountID, in, items, now)
	noteLink(tx, r.BankAccount.ID, in.EventID, in.Notify, now)
	if r.Linked {
		noteLink(tx, r.BankAccount.ID, everyEvent, in.Notify, now)
	}
}

// targetOf finds the bank account on which items of one source will be recorded, and
// links it if it isn't linked.
func targetOf(tx *tx, accountID int64, in inbound.EventLink, items []waitingItem, now time.Time) (b app.BankAccount, linked bool) {
	// own is the bank account that the source is narrowed to, linked or not; zero: none.
	own := find(tx, nil, columnsOnly(scanBankAccount), `SELECT `+bankAccountColumns+` FROM bank_accounts b WHERE b.id = ?`, items[0].only)
	cache := tx.recordCache(accountID)
	elements := make([]inbound.Incoming, len(items))
	for i, item := range items {
		elements[i] = item.Incoming
	}
	in, err := in.Complete(elements, own, cache.all())
	tx.fail(err)
	b = app.BankAccount{
		AccountID: accountID, Bank: in.Bank, AccountNumber: in.AccountNumber, AccountName: in.AccountName,
		Status: app.BankAccountActive, CreatedAt: now,
	}
	if known, found := cache.withNumber(b.Bank, b.AccountNumber, 0); found {
		b = known
	} else {
		tx.refuse(b.AccountName == "", inbound.ErrNameNeeded)
		b.ID, linked = linkBankAccount(tx, b, now), true
	}
	tx.refuse(own.ID != 0 && own.ID != b.ID, inbound.ErrSourceIsForOther(own.ID))
	return b, linked
}

// When a bank account is linked, its unassigned items are recorded in steps. The commit
// that links it adds a row to unfinished_links, so that FinishLinks can continue after a
// crash, or when the caller's time is over. Each step reads the items again, because some
// may have been recorded or discarded meanwhile.

// everyEvent is the inbound_event_id in unfinished_links that means all events.
const everyEvent = 0

// noteLink adds the row by which the unassigned items of an event, or of every event,
// will be recorded on a bank account.
func noteLink(tx *tx, bankAccountID, eventID int64, notify inbound.NotifyOnLink, now time.Time) {
	tx.exec(`INSERT OR REPLACE INTO unfinished_links (bank_account_id, inbound_event_id, notify, linked_at, item_id)
		VALUES (?, ?, ?, ?, 0)`, bankAccountID, eventID, int(notify), now.Unix())
}

type unfinishedLink struct {
	event    int64
	notify   inbound.NotifyOnLink
	linkedAt time.Time
	item     int64 // the items up to this id are done
}

// finishLink records one step of the items of an unfinished link and adds the counts to
// result. If another process has finished the link, or the bank account was unlinked, it
// does nothing.
func finishLink(tx *tx, result *inbound.EventLinkResult, event int64, zone *time.Location, now time.Time) (more bool) {
	b := result.BankAccount
	link := unfinishedLink{event: event}
	err := tx.queryRow(`SELECT notify, linked_at, item_id FROM unfinished_links WHERE bank_account_id = ? AND inbound_event_id = ?`,
		b.ID, event).Scan(&link.notify, secondsInto(&link.linkedAt), &link.item)
	if err != nil {
		tx.fail(noRowsAs(err, nil))
		return false
	}
	r := &recorder{tx: tx, zone: zone, now: now, call: inbound.Call{AccountID: b.AccountID}}
	more = r.waiting(b, &link, result)
	result.Deliveries += r.deliveries
	result.Webhooks = append(result.Webhooks, r.webhooks...)
	if more {
		tx.exec(`UPDATE unfinished_links SET item_id = ? WHERE bank_account_id = ? AND inbound_event_id = ?`, link.item, b.ID, event)
	} else {
		tx.exec(`DELETE FROM unfinished_links WHERE bank_account_id = ? AND inbound_event_id = ?`, b.ID, event)
	}
	return more
}

// waitingItems returns the next items that a link may assign, at most a step. Of one event
// these are all; of every event, the items with the number of b, a masked number or no
// number.
func waitingItems(tx *tx, b app.BankAccount, link unfinishedLink) []waitingItem {
	const columns = `SELECT ` + waitingColumns + ` FROM `
	if link.event != everyEvent {
		return findAll(tx, scanWaitingItem, columns+`inbound_items i LEFT JOIN sources s ON s.id = i.source_id
			WHERE i.inbound_event_id = ? AND i.state = 'unassigned' AND i.id > ? ORDER BY i.id`+stepLimit, link.event, link.item)
	}
	const named = `SELECT id FROM (SELECT id FROM inbound_items INDEXED BY inbound_items_unassigned
		WHERE account_id = ?1 AND state = 'unassigned' AND iif(masked, '', account_number) = `
	next := ` AND id > ?3 ORDER BY id` + stepLimit + `)`
	return findAll(tx, scanWaitingItem, columns+`(`+named+`?2`+next+` UNION ALL `+named+`''`+next+` ORDER BY id`+stepLimit+`) k
		CROSS JOIN inbound_items i ON i.id = k.id LEFT JOIN sources s ON s.id = i.source_id ORDER BY i.id`, b.AccountID,
		b.AccountNumber, link.item)
}

func (s *Store) LinkBankAccount(ctx context.Context, b app.BankAccount, in inbound.BankAccountLink, zone *time.Location,
	now time.Time) (inbound.LinkResult, error) {
	r, err := inSteps(ctx, s, inbound.EventLinkResult{}, func(tx *tx, r inbound.EventLinkResult) (inbound.EventLinkResult, bool, error) {
		if r.BankAccount.ID == 0 {
			if kept, found := earlier(tx, b.AccountID, in.Key, now); found {
				r.BankAccount = txBankAccount(tx, b.AccountID, kept.result)
				return r, false, nil
			}
			id := linkBankAccount(tx, b, now)
			r.BankAccount, r.Linked = b, true
			r.BankAccount.ID = id
			noteLink(tx, id, everyEvent, in.Notify, now)
			tx.audit(ctx, b.AccountID, app.DeedBankAccountLink, id, auditBankAccount(b))
			keepKey(tx, b.AccountID, in.Key, keptResult{result: id}, now)
		}
		more := finishLink(tx, &r, everyEvent, zone, now)
		r.BankAccount = txBankAccount(tx, b.AccountID, r.BankAccount.ID)
		return r, more, nil
	})
	more, err := staysLinked(r, err)
	return inbound.LinkResult{BankAccount: r.BankAccount, Recorded: r.Waiting, More: more, Before: err == nil && !r.Linked,
		Deliveries: r.Deliveries, Webhooks: r.Webhooks}, err
}

// staysLinked reports whether the bank account was linked before the store became
// unavailable. Then it stays linked, and FinishLinks records the rest.
func staysLinked(r inbound.EventLinkResult, err error) (bool, error) {
	if r.BankAccount.ID != 0 && app.CodeOf(err) == app.CodeUnavailable {
		return true, nil
	}
	return false, err
}

// FinishLinks finishes the links that were begun before a time, and returns the ids of
// the webhooks that got deliveries.
func (s *Store) FinishLinks(ctx context.Context, before time.Time, zone *time.Location, now time.Time) ([]int64, error) {
	type left struct {
		bankAccount app.BankAccount
		event       int64
	}
	links, err := readAll(ctx, s, func(row scanner) (l left, err error) {
		l.bankAccount, err = scanBankAccount(row, &l.event)
		return l, err
	}, `SELECT `+bankAccountColumns+`, l.inbound_event_id FROM unfinished_links l JOIN bank_accounts b ON b.id = l.bank_account_id
		WHERE l.linked_at < ? ORDER BY l.bank_account_id, l.inbound_event_id DESC`, before.Unix())
	var webhooks []int64
	for _, l := range links {
		if err != nil {
			break
		}
		var r inbound.EventLinkResult
		r, err = inSteps(ctx, s, inbound.EventLinkResult{BankAccount: l.bankAccount},
			func(tx *tx, r inbound.EventLinkResult) (inbound.EventLinkResult, bool, error) {
				more := finishLink(tx, &r, l.event, zone, now)
				return r, more, nil
			})
		webhooks = append(webhooks, r.Webhooks...)
	}
	return webhooks, err
}

// waitingItem is an item that isn't recorded yet: its bank account isn't linked, or it may
// be a repeat.
type waitingItem struct {
	id         int64
	position   int
	state      inbound.Outcome
	only       int64 // the bank account that the source is narrowed to; 0: none
	receivedAt time.Time
	report

	bankAccount, mayRepeat int64 // if it may be a repeat: its bank account, and the transaction it may repeat
}

const waitingColumns = `i.id, i.position, i.state, coalesce(s.bank_account_id, 0), coalesce(s.provider, ''), i.received_ms, i.source_id,
	i.inbound_event_id, coalesce(i.import_id, 0), i.silent, i.channel, i.event_id, i.gateway, i.account_number, i.number, i.type, i.amount,
	i.content, i.occurred_at, i.date_only, i.date_flaw, i.masked, i.forwarded, i.clocked, coalesce(i.balance, 0), coalesce(i.available, 0),
	coalesce(i.bank_account_id, 0), coalesce(i.transaction_id, 0), i.is_not, i.sub_account`

func scanWaitingItem(row scanner) (waitingItem, error) {
	var item waitingItem
	var isNot string
	err := row.Scan(&item.id, &item.position, &item.state, &item.only, &item.provider, millisInto(&item.receivedAt), &item.source,
		&item.event, &item.importID, &item.silent, &item.EventIDChannel, &item.EventID, &item.Gateway, &item.AccountNumber, &item.Number,
		&item.Type, &item.Amount, &item.Content, secondsInto(&item.Time), &item.DateOnly, &item.DateFlaw, &item.Masked, &item.Forwarded,
		&item.Clocked, &item.Balance, &item.Available, &item.bankAccount, &item.mayRepeat, &isNot, &item.SubAccount)
	if err == nil {
		err = json.Unmarshal([]byte(isNot), &item.isNot)
	}
	return item, err
}
