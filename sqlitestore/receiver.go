package sqlitestore

import (
	"context"
	"encoding/json"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// This file has the receiver of a webhook: its address, its secrets and its own headers.

// receiverColumns are the columns of a receiver.
const receiverColumns = `w.kind, w.url, w.auth, w.headers, ` + secretColumns

// sealedReceiver is a receiver as it is in the file.
type sealedReceiver struct {
	of      delivery.Outgoing
	headers []byte
	secrets sealedSecrets
}

func (r *sealedReceiver) dest() []any {
	return append([]any{&r.of.Kind, &r.of.URL, &r.of.Auth, &r.headers}, r.secrets.dest()...)
}

func (s *Store) scanReceiver(row scanner) (delivery.Outgoing, error) {
	var called sealedReceiver
	if err := row.Scan(called.dest()...); err != nil {
		return delivery.Outgoing{}, err
	}
	return called.open(s.sealer)
}

func (r *sealedReceiver) open(sealer *sealer) (o delivery.Outgoing, err error) {
	o = r.of
	if o.Secrets, err = r.secrets.open(sealer); err != nil || r.headers == nil {
		return o, err
	}
	text, err := sealer.open(sealHeaders, r.headers)
	if err == nil {
		err = json.Unmarshal([]byte(text), &o.Headers)
	}
	return o, err
}

func (s *Store) ChangeSecrets(ctx context.Context, accountID, id int64, in delivery.SecretsChange, now time.Time) (bool, error) {
	return writing(ctx, s, func(tx *tx) (bool, error) {
		w := txWebhook(tx, accountID, id)
		if _, found := earlier(tx, accountID, in.Key, now); found {
			return false, nil
		}
		had := find(tx, nil, s.scanSecrets, `SELECT `+secretColumns+` FROM webhooks w WHERE w.id = ?`, id)
		secrets, err := in.Change(had)
		if err != nil {
			return false, err
		}
		var next any
		if secrets.Next != "" {
			next = s.sealer.seal(sealWebhook, secrets.Next)
		}
		tx.exec(`UPDATE webhooks SET secret = ?, next_secret = ?, overlap_to_ms = ?, secrets_changed_ms = ? WHERE id = ?`,
			s.sealer.seal(sealWebhook, secrets.Current), next, unixMilliOrNull(secrets.OverlapTo), unixMilliOrNull(secrets.ChangedAt), id)
		deed := app.DeedWebhookRotate
		if had.Next != "" && secrets.Current == had.Next {
			deed = app.DeedWebhookActivate
		}
		keepKey(tx, accountID, in.Key, keptResult{result: id}, now)
		return true, tx.audit(ctx, accountID, deed, id, app.AuditNamed(w.Name))
	})
}

func (s *Store) scanSecrets(row scanner) (delivery.Secrets, error) { return s.scanSecretsAnd(row) }

// scanSecretsAnd scans a row with columns before those of the secrets.
func (s *Store) scanSecretsAnd(row scanner, before ...any) (delivery.Secrets, error) {
	var sealed sealedSecrets
	if err := row.Scan(append(before, sealed.dest()...)...); err != nil {
		return delivery.Secrets{}, err
	}
	return sealed.open(s.sealer)
}

func (s *Store) WebhookSecrets(ctx context.Context, accountID int64) (map[int64]delivery.Secrets, error) {
	return readMap(ctx, s, func(row scanner) (id int64, secrets delivery.Secrets, err error) {
		secrets, err = s.scanSecretsAnd(row, &id)
		return id, secrets, err
	}, `SELECT w.id, `+secretColumns+` FROM webhooks w WHERE w.account_id = ? AND w.deleted_at IS NULL`, accountID)
}

const secretColumns = `w.secret, w.next_secret, w.overlap_to_ms, w.secrets_changed_ms`

// sealedSecrets are a webhook's secrets as they are in the file.
type sealedSecrets struct {
	current, next []byte
	overlapTo     time.Time
	changed       time.Time
}

func (s *sealedSecrets) dest() []any {
	return []any{&s.current, &s.next, millisInto(&s.overlapTo), millisInto(&s.changed)}
}

func (s *sealedSecrets) open(sealer *sealer) (secrets delivery.Secrets, err error) {
	secrets.ChangedAt = s.changed
	if len(s.current) == 0 {
		return secrets, nil // lost
	}
	if secrets.Current, err = sealer.open(sealWebhook, s.current); err != nil || s.next == nil {
		return secrets, err
	}
	secrets.OverlapTo = s.overlapTo
	secrets.Next, err = sealer.open(sealWebhook, s.next)
	return secrets, err
}
