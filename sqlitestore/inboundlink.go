package sqlitestore

import (
	"context"
	"slices"
	"time"

	"baoco/app"
)

func (s *Store) LinkInbound(ctx context.Context, accountID, id int64, in app.InboundLink, zone *time.Location, now time.Time) (app.InboundLinkResult, error) {
	return writing(ctx, s, func(tx *tx) (result app.InboundLinkResult, err error) {
		items, err := unassignedItems(tx, accountID, id)
		if err != nil {
			return result, err
		}
		if result.BankAccount, result.Linked, err = targetOf(tx, accountID, in, items, now); err != nil {
			return result, err
		}
		r := recorder{tx: tx, zone: zone, now: now, call: app.InboundCall{AccountID: accountID}}
		if err := r.releaseItems(items, in.Notify, &result); err != nil {
			return result, err
		}
		if result.Linked {
			if result.Waiting, err = r.recordWaiting(result.BankAccount, in.Notify); err != nil {
				return result, err
			}
		}
		result.Deliveries, result.Webhooks = r.deliveries, r.webhooks
		if err := tx.queryRow(`SELECT open FROM inbound_events WHERE id = ?`, id).Scan(&result.Open); err != nil {
			return result, err
		}
		result.BankAccount, err = txBankAccount(tx, accountID, result.BankAccount.ID)
		return result, err
	})
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

// releaseItems records those of the items that can be about the bank account
// of result.
func (r *recorder) releaseItems(items []waitingItem, notify app.NotifyOnLink, result *app.InboundLinkResult) error {
	for _, item := range items {
		if !result.BankAccount.Fits(item.Incoming) {
			continue
		}
		outcome, id, err := r.release(item, result.BankAccount, notify)
		if err != nil {
			return err
		}
		if outcome == app.OutcomeRecorded {
			result.Recorded++
		} else {
			result.Duplicates++
		}
		result.TransactionIDs = append(result.TransactionIDs, id)
	}
	return nil
}
