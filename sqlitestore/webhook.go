package sqlitestore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/delivery"
)

const webhookColumns = `w.id, w.account_id, w.name, w.kind, w.url, w.type, w.code_prefixes, w.code_only, w.receiving_number, w.auth,
	w.header_names, w.is_active, w.created_at, iif(w.next_secret IS NULL, NULL, w.overlap_to_ms), ` + secretLost + `,
	(SELECT json_group_array(id ORDER BY id) FROM (SELECT w.bank_account_id AS id WHERE w.bank_account_id IS NOT NULL
		UNION ALL SELECT bank_account_id FROM webhook_bank_accounts WHERE webhook_id = w.id)),
	(w.bank_account_id IS NOT NULL OR w.receiving_number <> '') AND NOT EXISTS (SELECT 1 FROM bank_accounts b
		WHERE b.account_id = w.account_id AND b.unlinked_at IS NULL AND (w.bank_account_id IS NULL OR b.id IN (SELECT w.bank_account_id
			UNION ALL SELECT bank_account_id FROM webhook_bank_accounts WHERE webhook_id = w.id))
		AND (w.receiving_number = '' OR instr(char(10) || b.receiving_numbers || char(10), char(10) || w.receiving_number || char(10))
			OR instr(char(10) || b.receiving_numbers, char(10) || w.receiving_number || ' = ')))`

// secretLost is true if the secret of a webhook was dropped for a new key, see
// [ReplaceKey].
const secretLost = `length(w.secret) = 0`

func scanWebhook(row scanner) (delivery.Webhook, error) { return scanWebhookAnd(row) }

func scanWebhookAnd(row scanner, more ...any) (delivery.Webhook, error) {
	var w delivery.Webhook
	var ids string
	err := row.Scan(append([]any{&w.ID, &w.AccountID, &w.Name, &w.Kind, &w.URL, &w.Type, linesInto{&w.CodePrefixes}, &w.CodeOnly,
		&w.ReceivingNumber, &w.Auth, linesInto{&w.HeaderNames}, &w.IsActive, secondsInto(&w.CreatedAt),
		millisInto(&w.OverlapTo), &w.SecretLost, &ids, &w.Silent}, more...)...)
	if err == nil && ids != "[]" {
		err = json.Unmarshal([]byte(ids), &w.BankAccountIDs)
	}
	return w, noRowsAs(err, delivery.ErrNoWebhook)
}

const oneWebhook = `SELECT ` + webhookColumns + ` FROM webhooks w WHERE w.id = ? AND w.account_id = ? AND w.deleted_at IS NULL`

func (s *Store) CreateWebhook(ctx context.Context, w delivery.Webhook, sealed delivery.Sealed, key app.IdempotencyKey,
	now time.Time) (delivery.Webhook, bool, error) {
	type creation struct {
		webhook delivery.Webhook
		made    bool
	}
	c, err := writing(ctx, s, func(tx *tx) (c creation, err error) {
		if before, found := earlier(tx, w.AccountID, key, now); found {
			return creation{webhook: txWebhook(tx, w.AccountID, before.result)}, nil
		}
		mayCreateWebhook(tx, w, now)
		c = creation{w, true}
		c.webhook.ID = tx.insert(insertInto("webhooks", `account_id, name, kind, url, type, code_prefixes, code_only, receiving_number, auth,
			is_active, created_at, secret`), w.AccountID, w.Name, string(w.Kind), w.URL, string(w.Type), lines(w.CodePrefixes), w.CodeOnly,
			w.ReceivingNumber, string(w.Auth), w.IsActive, w.CreatedAt.Unix(), s.sealer.seal(sealWebhook, sealed.Secret))
		if err := s.setHeaders(tx, &c.webhook, sealed.Headers); err != nil {
			return c, err
		}
		setWebhookBankAccounts(tx, c.webhook)
		keepKey(tx, w.AccountID, key, keptResult{result: c.webhook.ID}, now)
		return c, tx.audit(ctx, w.AccountID, app.DeedWebhookCreate, c.webhook.ID, auditWebhook(tx, delivery.Webhook{}, c.webhook))
	})
	return c.webhook, c.made, err
}

func mayCreateWebhook(tx *tx, w delivery.Webhook, now time.Time) {
	for _, id := range w.BankAccountIDs {
		linkedBankAccount(tx, w.AccountID, id)
	}
	if w.ReceivingNumber != "" {
		paidTo(tx, w.AccountID, 0, w.ReceivingNumber)
	}
	unexpired(tx, w.AccountID, now)
	count := findValue[int](tx, `SELECT count(*) FROM webhooks WHERE account_id = ? AND deleted_at IS NULL`, w.AccountID)
	tx.refuse(count >= delivery.MaxWebhooks, delivery.ErrTooManyWebhooks)
}

func txWebhook(tx *tx, accountID, id int64) delivery.Webhook {
	return find(tx, nil, scanWebhook, oneWebhook, id, accountID)
}

func (s *Store) Webhooks(ctx context.Context, accountID int64) ([]delivery.Webhook, error) {
	return readAll(ctx, s, scanWebhook,
		`SELECT `+webhookColumns+` FROM webhooks w WHERE w.account_id = ? AND w.deleted_at IS NULL ORDER BY w.id`, accountID)
}

func (s *Store) Webhook(ctx context.Context, accountID, id int64) (delivery.Webhook, error) {
	return scanWebhook(s.queryRow(ctx, oneWebhook, id, accountID))
}

func (s *Store) UpdateWebhook(ctx context.Context, accountID, id int64, u delivery.WebhookUpdate, now time.Time) (delivery.Webhook, error) {
	return writing(ctx, s, func(tx *tx) (delivery.Webhook, error) {
		w := txWebhook(tx, accountID, id)
		before := w
		replace(&w.Name, u.Name)
		replace(&w.URL, u.URL)
		replace(&w.Type, u.Type)
		replace(&w.IsActive, u.IsActive)
		replace(&w.BankAccountIDs, u.BankAccountIDs)
		replace(&w.CodePrefixes, u.CodePrefixes)
		replace(&w.CodeOnly, u.CodeOnly)
		if replace(&w.ReceivingNumber, u.ReceivingNumber); w.ReceivingNumber != "" && w.ReceivingNumber != before.ReceivingNumber {
			paidTo(tx, accountID, 0, w.ReceivingNumber)
		}
		if w.IsActive && !before.IsActive {
			unexpired(tx, accountID, now)
		}
		tx.exec(`UPDATE webhooks SET name = ?, url = ?, type = ?, is_active = ?, code_prefixes = ?, code_only = ?,
			receiving_number = ? WHERE id = ?`, w.Name, w.URL, string(w.Type), w.IsActive, lines(w.CodePrefixes), w.CodeOnly,
			w.ReceivingNumber, id)
		if u.Headers != nil {
			if err := s.setHeaders(tx, &w, *u.Headers); err != nil {
				return w, err
			}
		}
		if u.BankAccountIDs != nil {
			for _, id := range w.BankAccountIDs {
				if !slices.Contains(before.BankAccountIDs, id) { // one from before stays, also if it was unlinked
					linkedBankAccount(tx, accountID, id)
				}
			}
			setWebhookBankAccounts(tx, w)
			w = txWebhook(tx, accountID, id) // reads again whether it is silent
		}
		d := auditWebhook(tx, before, w)
		if u.Headers != nil { // also if only values have changed
			d.Changes = append(d.Changes, app.AuditChange{Field: "headers", From: strings.Join(before.HeaderNames, ", "),
				To: strings.Join(w.HeaderNames, ", ")})
		}
		return w, tx.auditChange(ctx, accountID, app.DeedWebhookChange, id, d)
	})
}

// auditWebhook returns the change of a webhook's fields; before is zero for a new one.
func auditWebhook(tx *tx, before, w delivery.Webhook) app.AuditDetail {
	d := app.AuditNamed(cmp.Or(before.Name, w.Name))
	if before.Name != "" {
		d = d.Changed("name", before.Name, w.Name).Changed("type", before.Type, w.Type).
			Changed("is_active", before.IsActive, w.IsActive)
	}
	d = d.ChangedURL(before.URL, w.URL).
		Changed("code_prefix", strings.Join(before.CodePrefixes, ", "), strings.Join(w.CodePrefixes, ", ")).
		Changed("code_only", before.CodeOnly, w.CodeOnly).
		Changed("receiving_number", before.ReceivingNumber, w.ReceivingNumber)
	if slices.Equal(before.BankAccountIDs, w.BankAccountIDs) {
		return d
	}
	from := ""
	if before.Name != "" {
		from = auditLimit(tx, access.BankAccountLimit{On: before.BankAccountIDs != nil, IDs: before.BankAccountIDs})
	}
	return d.Changed("bank_accounts", from, auditLimit(tx, access.BankAccountLimit{On: w.BankAccountIDs != nil, IDs: w.BankAccountIDs}))
}

func (s *Store) setHeaders(tx *tx, w *delivery.Webhook, headers []delivery.Header) error {
	w.HeaderNames = nil
	for _, h := range headers {
		w.HeaderNames = append(w.HeaderNames, h.Name)
	}
	var sealed any
	if len(headers) > 0 {
		values, err := json.Marshal(headers)
		if err != nil {
			return err
		}
		sealed = s.sealer.seal(sealHeaders, string(values))
	}
	return tx.exec(`UPDATE webhooks SET header_names = ?, headers = ? WHERE id = ?`, lines(w.HeaderNames), sealed, w.ID)
}

func setWebhookBankAccounts(tx *tx, w delivery.Webhook) error {
	var first any
	var others []int64
	if len(w.BankAccountIDs) > 0 {
		first, others = w.BankAccountIDs[0], w.BankAccountIDs[1:]
	}
	tx.exec(`UPDATE webhooks SET bank_account_id = ? WHERE id = ?`, first, w.ID)
	tx.exec(`DELETE FROM webhook_bank_accounts WHERE webhook_id = ?`, w.ID)
	return tx.exec(`INSERT INTO webhook_bank_accounts (webhook_id, bank_account_id) SELECT ?, value FROM json_each(?)`, w.ID,
		jsonArray(others))
}

func (s *Store) ToggleWebhook(ctx context.Context, accountID, id int64, now time.Time) (delivery.Webhook, error) {
	return writing(ctx, s, func(tx *tx) (delivery.Webhook, error) {
		w := txWebhook(tx, accountID, id)
		if !w.IsActive {
			unexpired(tx, accountID, now)
		}
		w.IsActive = !w.IsActive
		tx.exec(`UPDATE webhooks SET is_active = ? WHERE id = ?`, w.IsActive, id)
		return w, tx.audit(ctx, accountID, app.DeedWebhookChange, id, app.AuditNamed(w.Name).Changed("is_active", !w.IsActive, w.IsActive))
	})
}

// cancelStep is how many deliveries one step cancels. It changes two rows for each.
const cancelStep = stepRows / 2

// DeleteWebhook hides the webhook at once, so that nothing more is sent to it, and cancels
// its pending deliveries in steps. After a crash Prune makes the missing steps.
func (s *Store) DeleteWebhook(ctx context.Context, accountID, id int64, now time.Time) error {
	deleted, err := inSteps(ctx, s, false, func(tx *tx, deleted bool) (bool, bool, error) {
		if !deleted {
			w := txWebhook(tx, accountID, id)
			tx.audit(ctx, accountID, app.DeedWebhookDelete, id, app.AuditNamed(w.Name))
			tx.exec(`UPDATE webhooks SET deleted_at = ?, is_active = 0, secret = x'', next_secret = NULL, headers = NULL WHERE id = ?`,
				now.Unix(), id)
		}
		n := cancel(tx, `SELECT id FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id = ? LIMIT ?`, id, cancelStep)
		return true, n == cancelStep, nil
	})
	if deleted {
		return nil
	}
	return err
}

// cancel cancels the pending deliveries whose ids a query gives, and returns their
// number.
func cancel(tx *tx, which string, args ...any) int64 {
	noteUnsent(tx, which, args...)
	return tx.change(`UPDATE deliveries SET state = 3, due_ms = NULL WHERE id IN (`+which+`)`, args...)
}

// healthKept is how long the hours of webhooks are kept. One day is shown; the other one is
// for a clock that is set back.
const healthKept = 48 * time.Hour

// pruneHealth removes a step of hours older than healthKept.
func pruneHealth(tx *tx, now time.Time) (more bool) {
	return pruneRows(tx, `DELETE FROM webhook_hours WHERE (webhook_id, hour) IN
			(SELECT h.webhook_id, h.hour FROM webhooks w CROSS JOIN webhook_hours h ON h.webhook_id = w.id AND h.hour < ?`+stepLimit+`)`,
		hourOf(now.Add(-healthKept)))
}

func (s *Store) WebhookHealth(ctx context.Context, accountID, webhookID int64, now time.Time) ([]delivery.WebhookHealth, error) {
	const of = ` WHERE w.account_id = ?1 AND w.deleted_at IS NULL AND (?2 = 0 OR w.id = ?2)`
	list, err := readAll(ctx, s, func(row scanner) (h delivery.WebhookHealth, err error) {
		var detail string
		err = row.Scan(&h.WebhookID, &h.FailedInRow, &h.HistoryID, millisInto(&h.Last.StartedAt), durationInto(&h.Last.Duration),
			&h.Last.StatusCode, &h.Last.Error, &detail, &h.Retrying, millisInto(&h.RetryAt))
		h.Last.Detail = delivery.ParseDetail(detail)
		return h, err
	}, `SELECT w.id, coalesce(t.failed_in_row, 0), coalesce(a.id, 0), a.started_ms, coalesce(a.duration_ms, 0), coalesce(a.status_code, 0),
			coalesce(a.error, ''), coalesce(a.detail, ''),
			(SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id = w.id AND retry = 1 LIMIT ?3)),
			(SELECT min(due_ms) FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id = w.id AND retry = 1)
		FROM webhooks w LEFT JOIN webhook_totals t ON t.webhook_id = w.id LEFT JOIN attempts a ON a.id = t.last_attempt_id`+of+` ORDER BY w.id`,
		accountID, webhookID, alert.CountedUpTo)
	if err != nil {
		return nil, err
	}
	first := hourOf(now) - delivery.HealthHours + 1
	sums, err := readMap(ctx, s, func(row scanner) (key hourKey, sum delivery.HourHealth, err error) {
		err = row.Scan(&key.webhookID, &key.hour, &sum.Succeeded, &sum.Failed)
		return key, sum, err
	}, `SELECT h.webhook_id, h.hour, h.succeeded, h.failed FROM webhooks w CROSS JOIN webhook_hours h ON h.webhook_id = w.id`+of+
		` AND h.hour BETWEEN ?3 AND ?4`, accountID, webhookID, first, first+delivery.HealthHours-1)
	for i := range list {
		for hour := range list[i].Hours {
			list[i].Hours[hour] = sums[hourKey{list[i].WebhookID, first + int64(hour)}]
		}
	}
	return list, err
}

func (s *Store) RecentAttempts(ctx context.Context, accountID int64, now time.Time) (delivery.HourHealth, error) {
	var sum delivery.HourHealth
	first := hourOf(now) - delivery.HealthHours + 1
	err := s.queryRow(ctx,
		`SELECT coalesce(sum(h.succeeded), 0), coalesce(sum(h.failed), 0) FROM webhooks w CROSS JOIN webhook_hours h ON h.webhook_id = w.id
			WHERE w.account_id = ? AND h.hour BETWEEN ? AND ?`, accountID, first, first+delivery.HealthHours-1).Scan(&sum.Succeeded, &sum.Failed)
	return sum, err
}
