package sqlitestore

import (
	"context"
	"slices"
	"time"

	"baoco/app"
)

func (s *Store) LinkInbound(ctx context.Context, accountID, id int64, in app.InboundLink, zone *time.Location, now time.Time) (app.InboundLinkResult, error) {
	r, err := inSteps(ctx, s, app.InboundLinkResult{}, func(tx *tx, r app.InboundLinkResult) (app.InboundLinkResult, bool, error) {
		if r.BankAccount.ID == 0 {
			if err := beginLink(tx, accountID, id, in, &r, now); err != nil {
				return r, false, err
			}
		}
		more, err := finishLink(tx, &r, id, zone, now)
		if err == nil && !more && r.Linked {
			more, err = finishLink(tx, &r, everyEvent, zone, now)
		}
		if err == nil {
			err = tx.queryRow(`SELECT coalesce((SELECT open FROM inbound_events WHERE id = ?), 0)`, id).Scan(&r.Open)
		}
		if err != nil {
			return r, false, err
		}
		r.BankAccount, err = txBankAccount(tx, accountID, r.BankAccount.ID)
		return r, more, err
	})
	r.More, err = linkGoesOn(r, err)
	return r, err
}

// beginLink finds or links the bank account of an event's unassigned items, and
// notes what is to be recorded on it.
func beginLink(tx *tx, accountID, id int64, in app.InboundLink, r *app.InboundLinkResult, now time.Time) error {
	items, err := unassignedItems(tx, accountID, id)
	if err != nil {
		return err
	}
	if r.BankAccount, r.Linked, err = targetOf(tx, accountID, in, items, now); err != nil {
		return err
	}
	if err := noteLink(tx, r.BankAccount.ID, id, in.Notify, now); err != nil || !r.Linked {
		return err
	}
	return noteLink(tx, r.BankAccount.ID, everyEvent, in.Notify, now)
}

// unassignedItems are what of an event waits for its bank account; not none.
func unassignedItems(tx *tx, accountID, id int64) ([]waitingItem, error) {
	if err := inboundEventExists(tx, accountID, id); err != nil {
		return nil, err
	}
	rows, err := tx.query(`SELECT `+waitingColumns+` FROM inbound_items i LEFT JOIN sources s ON s.id = i.source_id
		WHERE i.inbound_event_id = ? AND i.state = 'unassigned' ORDER BY i.id`, id)
	items, err := collect(rows, err, scanWaitingItem)
	if err == nil && len(items) == 0 {
		err = app.ErrNothingUnassigned()
	}
	return items, err
}

// targetOf is the bank account that items, which are of one source, are to be
// recorded on. It is linked where it isn't yet.
func targetOf(tx *tx, accountID int64, in app.InboundLink, items []waitingItem, now time.Time) (b app.BankAccount, linked bool, err error) {
	own, err := narrowedTo(tx, items[0].only)
	if err != nil {
		return b, false, err
	}
	roster, err := tx.roster(accountID)
	if err != nil {
		return b, false, err
	}
	elements := make([]app.Incoming, len(items))
	for i, item := range items {
		elements[i] = item.Incoming
	}
	if in, err = in.Complete(elements, own, roster.all()); err != nil {
		return b, false, err
	}
	b = app.BankAccount{
		AccountID: accountID, Bank: in.Bank, AccountNumber: in.AccountNumber, AccountName: in.AccountName,
		Status: app.BankAccountActive, CreatedAt: now,
	}
	sameNumber := roster.bankAccounts[b.AccountNumber]
	bank, _ := app.FindBank(b.Bank)
	if at := slices.IndexFunc(sameNumber, func(known app.BankAccount) bool { return bank.Is(known.Bank) }); at >= 0 {
		b = sameNumber[at]
	} else {
		if b.AccountName == "" {
			return b, false, app.ErrNameNeeded()
		}
		if b.ID, err = linkBankAccount(tx, b, now); err != nil {
			return b, false, err
		}
		linked = true
	}
	if own.ID != 0 && own.ID != b.ID {
		return b, false, app.ErrSourceIsForOther(own.ID)
	}
	return b, linked, nil
}

// narrowedTo is the bank account that a source is for, linked or not; the zero
// one where it is for all.
func narrowedTo(tx *tx, id int64) (app.BankAccount, error) {
	if id == 0 {
		return app.BankAccount{}, nil
	}
	return scanBankAccount(tx.queryRow(`SELECT `+bankAccountColumns+` FROM bank_accounts b WHERE b.id = ?`, id))
}
