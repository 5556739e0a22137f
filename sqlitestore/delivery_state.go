package sqlitestore

import "baoco/app"

// What a transaction is told of by its deliveries, as [app.TransactionStates]
// says it, of the transaction that id names in a query.

// lastFailed is the condition that the last delivery to some webhook failed.
func lastFailed(id string) string { return hasDelivery(id, "= 2 AND "+noneLater("d")) }

// noneLater is the condition on a delivery that no other one to its webhook came
// after it.
func noneLater(d string) string {
	return `NOT EXISTS (SELECT 1 FROM deliveries o INDEXED BY deliveries_transaction WHERE o.transaction_id = ` + d + `.transaction_id AND o.webhook_id = ` + d +
		`.webhook_id AND o.id > ` + d + `.id AND o.state <> 3)`
}

// hasDelivery is the condition that there is a delivery in some states, d.
func hasDelivery(id, states string) string {
	return `EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_transaction WHERE d.transaction_id = ` + id + ` AND d.state ` + states + `)`
}

// inState is the condition that a transaction is in a state. It costs three
// microseconds at most.
func inState(state app.DeliveryState, id string) string {
	switch state {
	case app.DeliveryFailed:
		return lastFailed(id)
	case app.DeliveryPending:
		return hasDelivery(id, "= 0") + ` AND NOT ` + lastFailed(id)
	case app.DeliveryDelivered:
		return hasDelivery(id, "= 1") + ` AND NOT ` + hasDelivery(id, "IN (0, 2) AND (d.state = 0 OR "+noneLater("d")+")")
	}
	return `NOT ` + hasDelivery(id, "<> 3")
}

// stateIndex finds the transactions in a state, but for delivered ones, which
// most of them are. It reads as many as are or were in the state.
func stateIndex(accountID int64, state app.DeliveryState) *index {
	x := &index{id: "k.transaction_id", twice: true}
	switch state {
	case app.DeliveryFailed:
		x.from = `deliveries k INDEXED BY deliveries_failed_transactions`
		x.where.add("k.account_id = ? AND k.state = 2", accountID)
		x.rest.add(noneLater("k"))
	case app.DeliveryPending:
		x.from = `webhooks w CROSS JOIN deliveries k INDEXED BY deliveries_due ON k.webhook_id = w.id AND k.state = 0`
		x.where.add("w.account_id = ?", accountID)
		x.rest.add("NOT " + lastFailed("k.transaction_id"))
	case app.DeliveryUnsent:
		x.from = `transactions_unsent k`
		x.where.add("k.account_id = ?", accountID)
		x.rest.add(inState(state, "k.transaction_id"))
	}
	return x
}

// noteUnsent notes transactions that may be without a delivery now; which
// chooses their deliveries, which are about to be cancelled.
func noteUnsent(tx *tx, which string, args ...any) error {
	return tx.exec(`INSERT INTO transactions_unsent (account_id, transaction_id) SELECT account_id, transaction_id FROM deliveries
		WHERE id IN (`+which+`) AND transaction_id IS NOT NULL ON CONFLICT DO NOTHING`, args...)
}
