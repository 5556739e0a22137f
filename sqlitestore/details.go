package sqlitestore

import (
	"context"

	"baoco/app"
)

func (s *Store) DeliveryFacts(ctx context.Context, accountID, id int64) (app.DeliveryFacts, error) {
	var f app.DeliveryFacts
	var d deliveryScan
	var p payloadScan
	var sealed sealedSecrets
	var samples bool
	w := &f.Webhook
	dest := append([]any{&w.ID, &w.Name, &w.URL, &w.IsActive, &f.Deleted, &f.ResentFrom, &samples}, d.dest()...)
	dest = append(append(dest, p.dest()...), sealed.dest()...)
	err := s.queryRow(ctx, `SELECT w.id, w.name, w.url, w.is_active, w.deleted_at IS NOT NULL,
			coalesce((SELECT a.delivery_id FROM attempts a WHERE a.id = d.resend_of), 0), d.sample IS NOT NULL,
			`+deliveryColumns+`, `+payloadColumns+`, `+secretColumns+`
		FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id`+payloadFrom+` WHERE d.id = ? AND d.account_id = ?`, id, accountID).Scan(dest...)
	if noRows(err) {
		return f, app.ErrNoDelivery()
	}
	if err != nil {
		return f, storageError(err)
	}
	w.AccountID = accountID
	f.Delivery, f.URL = d.delivery(), w.URL
	if f.Payload, err = p.payload(f.TransactionID); err != nil {
		return f, err
	}
	if !f.Deleted {
		if f.Secrets, err = sealed.open(s.sealer); err != nil {
			return f, err
		}
		w.SecretLost = f.Secrets.Current == ""
	}
	f.ResentAs, err = s.resentAs(ctx, f.Delivery, samples)
	return f, err
}

// resentAs looks among the deliveries of the same transaction, or among the
// samples, for those that resend an attempt of d.
func (s *Store) resentAs(ctx context.Context, d app.Delivery, sample bool) ([]app.Delivery, error) {
	among, of := `INDEXED BY deliveries_transaction WHERE d.transaction_id = ?`, d.TransactionID
	if sample {
		among, of = `INDEXED BY deliveries_samples WHERE d.sample IS NOT NULL AND d.account_id = ?`, d.AccountID
	}
	rows, err := s.query(ctx, `SELECT `+deliveryColumns+` FROM deliveries d `+among+`
		AND d.resend_of IN (SELECT id FROM attempts WHERE delivery_id = ?) ORDER BY d.id`, of, d.ID)
	return collect(rows, err, scanDelivery)
}
