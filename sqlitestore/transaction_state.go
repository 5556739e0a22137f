package sqlitestore

import "baoco/app"

// SQL conditions for the state of a transaction, which follows from its deliveries
// (see [app.TransactionStates]). The argument id is the SQL expression of the
// transaction's id.

func lastFailed(id string) string { return hasDelivery(id, "= 2 AND "+noneLater) }

// noneLater is true if no delivery of the transaction to the same webhook came after
// delivery d, cancelled ones not counted.
const noneLater = `NOT EXISTS (SELECT 1 FROM deliveries o INDEXED BY deliveries_transaction
	WHERE o.transaction_id = d.transaction_id AND o.webhook_id = d.webhook_id AND o.id > d.id AND o.state <> 3)`

// hasDelivery is true if the transaction has a delivery d whose state meets states.
func hasDelivery(id, states string) string {
	return `EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_transaction WHERE d.transaction_id = ` + id +
		` AND d.state ` + states + `)`
}

// inState is true if the transaction is in a state. It costs at most three
// microseconds.
func inState(state app.DeliveryState, id string) string {
	switch state {
	case app.DeliveryFailed:
		return lastFailed(id)
	case app.DeliveryPending:
		return hasDelivery(id, "= 0") + ` AND NOT ` + lastFailed(id)
	case app.DeliveryDelivered:
		return hasDelivery(id, "= 1") + ` AND NOT ` + hasDelivery(id, "IN (0, 2) AND (d.state = 0 OR "+noneLater+")")
	}
	return `NOT ` + hasDelivery(id, "<> 3")
}

// byState has a query for each state but delivered, which most transactions are in. It finds
// the transactions of an account in the state, among all that once were in it.
var byState = map[app.DeliveryState]string{
	app.DeliveryFailed: `SELECT transaction_id AS id FROM deliveries d INDEXED BY deliveries_failed_transactions
		WHERE account_id = ? AND state = 2 AND ` + noneLater,
	app.DeliveryPending: `SELECT k.transaction_id AS id FROM webhooks w CROSS JOIN deliveries k INDEXED BY deliveries_due
		ON k.webhook_id = w.id AND k.state = 0 WHERE w.account_id = ? AND NOT ` + lastFailed("k.transaction_id"),
	app.DeliveryUnsent: `SELECT transaction_id AS id FROM transactions_unsent k
			WHERE account_id = ? AND ` + inState(app.DeliveryUnsent, "k.transaction_id") + `
		UNION ALL SELECT id FROM transactions t NOT INDEXED WHERE id > ` + searchedTo + ` AND ` + unsent,
}

// noteUnsent adds the transactions of deliveries that are about to be cancelled to
// transactions_unsent. which is the query of the ids of these deliveries.
func noteUnsent(tx *tx, which string, args ...any) error {
	return tx.exec(`INSERT INTO transactions_unsent (account_id, transaction_id) SELECT account_id, transaction_id FROM deliveries
		WHERE id IN (`+which+`) AND transaction_id IS NOT NULL ON CONFLICT DO NOTHING`, args...)
}
