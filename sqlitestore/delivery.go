package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
	"baoco/app/fold"
)

// deliveryStates are the states of deliveries; the file has their indices here, so that the partial indexes
// are small.
var deliveryStates = []app.DeliveryState{app.DeliveryPending, app.DeliveryDelivered, app.DeliveryFailed, app.DeliveryCancelled}

func stateNumber(state app.DeliveryState) int { return slices.Index(deliveryStates, state) }

const deliveryColumns = `d.id, d.account_id, d.webhook_id, coalesce(d.transaction_id, 0), d.state, d.attempts, d.due_ms, d.created_ms,
	coalesce(d.resend_of, 0), d.single`

// deliveryDest is where the deliveryColumns are scanned to.
func deliveryDest(d *delivery.Delivery) []any {
	state := intInto(func(n int64) { d.State = deliveryStates[n] })
	return []any{&d.ID, &d.AccountID, &d.WebhookID, &d.TransactionID, state, &d.Attempts, millisInto(&d.DueAt), millisInto(&d.CreatedAt),
		&d.ResendOf, &d.Test}
}

func scanDelivery(row scanner) (d delivery.Delivery, err error) {
	return d, row.Scan(deliveryDest(&d)...)
}

// Backlogs goes from webhook to webhook in the index of the queue and reads only
// the first due times of each.
func (s *Store) Backlogs(ctx context.Context, now time.Time) ([]delivery.WebhookBacklog, error) {
	return readAll(ctx, s, func(row scanner) (b delivery.WebhookBacklog, err error) {
		return b, row.Scan(&b.WebhookID, &b.Due, millisInto(&b.NextDue), millisInto(&b.LastDue))
	}, `
		WITH RECURSIVE q(id) AS (
			SELECT min(webhook_id) FROM deliveries INDEXED BY deliveries_due WHERE state = 0
			UNION ALL
			SELECT (SELECT min(webhook_id) FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id > q.id) FROM q
			WHERE q.id IS NOT NULL
		)
		SELECT q.id,
			EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id = q.id AND retry = 0)
			OR EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id = q.id AND retry = 1 AND due_ms <= ?1),
			(SELECT min(due_ms) FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id = q.id AND retry = 1 AND due_ms > ?1),
			(SELECT max(due_ms) FROM deliveries INDEXED BY deliveries_due WHERE state = 0 AND webhook_id = q.id AND retry = 1)
		FROM q JOIN webhooks w ON w.id = q.id WHERE w.is_active = 1 AND w.deleted_at IS NULL`, now.UnixMilli())
}

// OldestDue reads the first due times of each webhook, past the deliveries in skip.
func (s *Store) OldestDue(ctx context.Context, now time.Time, skip []int64) (map[int64]time.Time, error) {
	return readMap(ctx, s, func(row scanner) (webhook int64, due time.Time, err error) {
		err = row.Scan(&webhook, millisInto(&due))
		return webhook, due, err
	}, `SELECT w.id, min((SELECT d.due_ms FROM deliveries d INDEXED BY deliveries_due
			WHERE d.state = 0 AND d.webhook_id = w.id AND d.retry = r.retry AND d.due_ms <= ?1 AND d.id NOT IN (SELECT value FROM json_each(?2))
			ORDER BY d.due_ms LIMIT 1)) AS oldest
		FROM webhooks w, (SELECT 0 AS retry UNION ALL SELECT 1) r
		WHERE w.is_active = 1 AND w.deleted_at IS NULL AND NOT `+secretLost+` GROUP BY w.id HAVING oldest IS NOT NULL`,
		now.UnixMilli(), jsonArray(skip))
}

const payloadFrom = ` LEFT JOIN transactions t ON t.id = d.transaction_id LEFT JOIN bank_accounts b ON b.id = t.bank_account_id`

const payloadColumns = `d.sample, coalesce(b.bank, ''), coalesce(b.account_number, ''), coalesce(t.number, ''), coalesce(t.type, ''),
	coalesce(t.amount, 0),
	coalesce(t.content, ''), t.occurred_at, coalesce(t.zone_offset, 0), t.code, t.payment_request, coalesce(t.receiving_number, '')`

// payloadScan reads the payload of a delivery: its transaction, or its test payload.
type payloadScan struct {
	sample sql.NullString
	t      app.Transaction
}

func (s *payloadScan) dest() []any {
	return []any{&s.sample, &s.t.Bank, &s.t.AccountNumber, &s.t.Number, &s.t.Type, &s.t.Amount, &s.t.Content, secondsInto(&s.t.Time),
		&s.t.ZoneOffset, codeInto{&s.t.Code}, paymentInto{&s.t.PaymentSent}, &s.t.ReceivingNumber}
}

func (s *payloadScan) payload(transactionID int64) (p delivery.Payload, err error) {
	if s.sample.Valid {
		return p, json.Unmarshal([]byte(s.sample.String), &p)
	}
	s.t.ID = transactionID
	return delivery.PayloadOf(s.t), nil
}

// Due finds the ids in the index of the queue, where ids to skip cost little, and
// then reads the rows.
func (s *Store) Due(ctx context.Context, f delivery.DueFilter, now time.Time) ([]delivery.Outgoing, error) {
	ids, err := s.dueIDs(ctx, f, now)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	as, err := s.scanReceiver(s.queryRow(ctx, `SELECT `+receiverColumns+` FROM webhooks w
		WHERE w.id = ? AND w.is_active = 1 AND w.deleted_at IS NULL`, f.WebhookID))
	if err != nil || as.Secrets.Current == "" { // a webhook without a secret gets nothing
		return nil, noRowsAs(err, nil)
	}
	list, err := readAll(ctx, s, func(row scanner) (delivery.Outgoing, error) {
		o := as
		var p payloadScan
		if err := row.Scan(append(deliveryDest(&o.Delivery), p.dest()...)...); err != nil {
			return o, err
		}
		var err error
		o.Payload, err = p.payload(o.TransactionID)
		return o, err
	}, `SELECT `+deliveryColumns+`, `+payloadColumns+` FROM json_each(?) CROSS JOIN deliveries d ON d.id = value`+payloadFrom+`
		WHERE d.state = 0`, jsonArray(ids))
	for i := 0; err == nil && i < len(list); i++ {
		err = s.addOriginal(ctx, &list[i])
	}
	return list, err
}

// addOriginal reads SePay's own id and call of a transaction, for a webhook of WebhookSepay.
func (s *Store) addOriginal(ctx context.Context, o *delivery.Outgoing) error {
	if o.Kind != delivery.WebhookSepay {
		return nil
	}
	err := s.queryRow(ctx, `SELECT coalesce(t.sepay_id, 0), iif(s.provider = 'sepay' AND t.channel = 'call', e.body, NULL)
		FROM transactions t LEFT JOIN sources s ON s.id = t.source_id `+fromEvent+` WHERE t.id = ?`,
		o.TransactionID).Scan(&o.Original.ID, &o.Original.Body)
	return noRowsAs(err, nil) // a test has no transaction
}

// dueIDs stops reading when it has enough, without a LIMIT: with a parameter as its LIMIT,
// SQLite would prepare the statement again for each value.
func (s *Store) dueIDs(ctx context.Context, f delivery.DueFilter, now time.Time) ([]int64, error) {
	until := now.UnixMilli()
	if !f.Retries {
		until = math.MaxInt64
	}
	rows, err := s.query(ctx, `SELECT id FROM deliveries INDEXED BY deliveries_due
		WHERE state = 0 AND webhook_id = ? AND retry = ? AND due_ms <= ? ORDER BY due_ms`, f.WebhookID, f.Retries, until)
	ids := make([]int64, 0, f.Limit)
	err = each(rows, err, func(row scanner) (bool, error) {
		id, err := scanOne[int64](row)
		if !slices.Contains(f.Skip, id) {
			ids = append(ids, id)
		}
		return len(ids) >= f.Limit, err
	})
	return ids, err
}

// waitingRetries are the ids of the retries that are due in an interval, ?1 not included,
// at most a step of them. Retries of a webhook that is switched off are among them.
var waitingRetries = `(SELECT d.id FROM webhooks w CROSS JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.retry = 1
	WHERE d.state = 0 AND d.due_ms > ?1 AND d.due_ms <= ?2` + stepLimit + `)`

func (s *Store) PullRetries(ctx context.Context, schedule []time.Duration, now time.Time) (int64, error) {
	waits := make([]int64, len(schedule))
	for i, wait := range schedule {
		waits[i] = wait.Milliseconds()
	}
	list, err := json.Marshal(waits)
	if err != nil {
		return 0, err
	}
	longest := slices.Max(waits)
	return s.changeRetries(ctx, `?3 + coalesce(json_extract(?4, '$[' || attempts || ']'), ?5)`, now.UnixMilli()+longest, int64(math.MaxInt64),
		now.UnixMilli(), string(list), longest)
}

func (s *Store) MoveRetries(ctx context.Context, after, until time.Time) (int64, error) {
	return s.changeRetries(ctx, `due_ms + ?2 - ?1`, after.UnixMilli(), until.UnixMilli())
}

// changeRetries changes the due times of waitingRetries. The new times must lie outside the
// interval, so that the next step doesn't find them again.
func (s *Store) changeRetries(ctx context.Context, due string, args ...any) (int64, error) {
	return inSteps(ctx, s, 0, func(tx *tx, n int64) (int64, bool, error) {
		changed := tx.change(`UPDATE deliveries SET due_ms = `+due+` WHERE id IN `+waitingRetries, args...)
		return n + changed, changed == stepRows, nil
	})
}

// newestTime is the time of the newest row, in milliseconds; NULL: nothing was recorded yet.
const newestTime = `SELECT nullif(max(coalesce((SELECT created_at * 1000 FROM transactions ORDER BY id DESC LIMIT 1), 0),
	coalesce((SELECT received_ms FROM inbound_events ORDER BY id DESC LIMIT 1), 0),
	coalesce((SELECT started_ms FROM attempts ORDER BY id DESC LIMIT 1), 0)), 0)`

func (s *Store) NewestTime(ctx context.Context) (at time.Time, err error) {
	return at, s.queryRow(ctx, newestTime).Scan(millisInto(&at))
}

var insertAttempt = insertInto("attempts", `account_id, delivery_id, webhook_id, type, number, url, started_ms, duration_ms, dns_ms,
	connect_ms, tls_ms, wait_ms, status_code, ok, error, detail, response_body, next_ms`)

func (s *Store) Settle(ctx context.Context, made delivery.Attempt) (delivery.Attempt, error) {
	return writing(ctx, s, func(tx *tx) (delivery.Attempt, error) {
		a, d := made, made.Delivery
		changed := tx.change(`UPDATE deliveries SET state = ?, attempts = ?, retry = 1, due_ms = ? WHERE id = ? AND state = 0`,
			stateNumber(d.State), d.Attempts, unixMilliOrNull(d.DueAt), d.ID)
		if changed == 0 {
			// It was cancelled meanwhile, or is a test, which is never in the queue.
			a.NextAttemptAt = time.Time{}
			state := app.DeliveryCancelled
			if d.State == app.DeliveryDelivered || d.Test {
				state = d.State
			}
			a.Delivery.State, a.Delivery.DueAt = state, time.Time{}
			tx.exec(`UPDATE deliveries SET state = ?, attempts = ?, retry = 1 WHERE id = ?`, stateNumber(state), d.Attempts, d.ID)
		}
		r := a.Result
		a.ID = tx.insert(insertAttempt, d.AccountID, d.ID, d.WebhookID, string(a.Payload.TransferType), a.Number, a.URL,
			r.StartedAt.UnixMilli(), r.Duration.Milliseconds(), r.Phases.DNS.Milliseconds(), r.Phases.Connect.Milliseconds(),
			r.Phases.TLS.Milliseconds(), r.Phases.Wait.Milliseconds(), r.StatusCode, r.OK(),
			string(r.Error), r.Detail.String(), append([]byte{}, r.Body...), unixMilliOrNull(a.NextAttemptAt))
		tx.totals.attempts = append(tx.totals.attempts, attemptDelta{
			id: a.ID, accountID: d.AccountID, webhookID: d.WebhookID, transactionID: d.TransactionID, startedAt: r.StartedAt,
			ok: r.OK(),
		})
		return a, nil
	})
}

// AddTest makes a test delivery. It begins as cancelled, so that no sweep finds
// it, and its one attempt settles it.
func (s *Store) AddTest(ctx context.Context, accountID, webhookID int64, sample func(delivery.Webhook) delivery.Payload,
	now time.Time) (delivery.Outgoing, error) {
	return writing(ctx, s, func(tx *tx) (delivery.Outgoing, error) {
		w := txWebhook(tx, accountID, webhookID)
		o := find(tx, nil, s.scanReceiver, `SELECT `+receiverColumns+` FROM webhooks w WHERE w.id = ?`, webhookID)
		o.Payload = sample(w)
		tx.refuse(o.Secrets.Current == "", delivery.ErrSecretLost)
		o.Delivery = delivery.Delivery{AccountID: accountID, WebhookID: webhookID, State: app.DeliveryCancelled,
			CreatedAt: time.UnixMilli(now.UnixMilli()), Test: true}
		o.ID = tx.insert(`INSERT INTO deliveries (account_id, webhook_id, sample, state, attempts, retry, created_ms, single)
			VALUES (?, ?, '{}', 3, 0, 0, ?, 1)`, accountID, webhookID, now.UnixMilli())
		o.Payload.TestID = o.ID
		payload, err := json.Marshal(o.Payload)
		if err != nil {
			return o, err
		}
		tx.exec(`UPDATE deliveries SET sample = ? WHERE id = ?`, string(payload), o.ID)
		return o, tx.audit(ctx, accountID, app.DeedWebhookTest, webhookID, app.AuditNamed(w.Name))
	})
}

func (s *Store) DeliveryFacts(ctx context.Context, accountID, id int64) (delivery.Facts, error) {
	var f delivery.Facts
	var p payloadScan
	var called sealedReceiver
	var samples bool
	w := &f.Webhook
	dest := append([]any{&w.ID, &w.Name, &w.IsActive, &f.Deleted, &f.ResentFrom, &samples}, deliveryDest(&f.Delivery)...)
	dest = append(append(dest, p.dest()...), called.dest()...)
	err := s.queryRow(ctx, `SELECT w.id, w.name, w.is_active, w.deleted_at IS NOT NULL,
			coalesce((SELECT a.delivery_id FROM attempts a WHERE a.id = d.resend_of), 0), d.sample IS NOT NULL,
			`+deliveryColumns+`, `+payloadColumns+`, `+receiverColumns+`
		FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id`+payloadFrom+` WHERE d.id = ? AND d.account_id = ?`, id, accountID).Scan(dest...)
	if err != nil {
		return f, noRowsAs(err, delivery.ErrNoDelivery)
	}
	w.AccountID, w.Kind, w.URL = accountID, called.of.Kind, called.of.URL
	as := called.of
	if !f.Deleted {
		if as, err = called.open(s.sealer); err != nil {
			return f, err
		}
		w.SecretLost = as.Secrets.Current == ""
	}
	as.Delivery = f.Delivery
	if as.Payload, err = p.payload(f.TransactionID); err != nil {
		return f, err
	}
	f.Outgoing = as
	if err := s.addOriginal(ctx, &f.Outgoing); err != nil {
		return f, err
	}
	f.ResentAs, err = s.resentAs(ctx, f.Delivery, samples)
	return f, err
}

// resentAs finds the deliveries that resend an attempt of d, among those of the same
// transaction or among the test deliveries.
func (s *Store) resentAs(ctx context.Context, d delivery.Delivery, sample bool) ([]delivery.Delivery, error) {
	among, of := `INDEXED BY deliveries_transaction WHERE d.transaction_id = ?`, d.TransactionID
	if sample {
		among, of = `INDEXED BY deliveries_samples WHERE d.sample IS NOT NULL AND d.account_id = ?`, d.AccountID
	}
	return readAll(ctx, s, scanDelivery, `SELECT `+deliveryColumns+` FROM deliveries d `+among+`
		AND d.resend_of IN (SELECT id FROM attempts WHERE delivery_id = ?) ORDER BY d.id`, of, d.ID)
}

// latestColumns are the columns of a delivery d with its webhook w and its last attempt a,
// which latestFrom joins to d.
const (
	latestColumns = deliveryColumns +
		`, w.name, w.url, w.deleted_at IS NOT NULL, coalesce(a.id, 0), coalesce(a.status_code, 0), coalesce(a.error, ''),
			coalesce(a.duration_ms, 0)`
	latestFrom = ` JOIN webhooks w ON w.id = d.webhook_id
		LEFT JOIN attempts a ON a.id = (SELECT max(id) FROM attempts INDEXED BY attempts_delivery WHERE delivery_id = d.id)`
)

func latestDest(l *delivery.Latest) []any {
	return append(deliveryDest(&l.Delivery), &l.WebhookName, &l.URL, &l.Deleted, &l.HistoryID, &l.StatusCode, &l.Error,
		durationInto(&l.Duration))
}

func (s *Store) DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) ([]delivery.Latest, error) {
	if len(transactionIDs) == 0 {
		return nil, nil
	}
	// Only the last delivery to each webhook is listed: the others were resent.
	return readAll(ctx, s, func(row scanner) (l delivery.Latest, err error) { return l, row.Scan(latestDest(&l)...) },
		`SELECT `+latestColumns+` FROM json_each(?1) page
		CROSS JOIN deliveries d INDEXED BY deliveries_transaction ON d.transaction_id = page.value`+latestFrom+`
		WHERE d.account_id = ?2 AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.transaction_id = d.transaction_id
		AND o.webhook_id = d.webhook_id AND o.id > d.id)
		AND (?3 IS NULL OR EXISTS (SELECT 1 FROM transactions t WHERE t.id = d.transaction_id AND `+isShown("t", "?3")+`))
		ORDER BY d.id`, jsonArray(transactionIDs), accountID, limitOf(ctx))
}

func (s *Store) PendingDeliveries(ctx context.Context, accountID, webhookID int64) (int64, error) {
	return readOne[int64](ctx, s,
		`SELECT count(*) FROM webhooks w CROSS JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0
			WHERE w.account_id = ?1 AND w.deleted_at IS NULL AND (?2 = 0 OR w.id = ?2)`, accountID, webhookID)
}

func (s *Store) NewestIDs(ctx context.Context) (delivery.NewestIDs, error) {
	var n delivery.NewestIDs
	if limit := access.LimitOf(ctx); limit.On {
		return s.newestShown(ctx, limit)
	}
	err := s.queryRow(ctx, `SELECT coalesce((SELECT max(id) FROM transactions), 0), coalesce((SELECT max(id) FROM attempts), 0),
			coalesce((SELECT max(id) FROM inbound_events), 0), coalesce((SELECT max(id) FROM deliveries), 0),
			coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'payment_changes'), 0),
			coalesce((SELECT max(number) FROM removed_transactions), 0),
			coalesce((SELECT sum(position + coalesce(failing_ms, 0)) FROM streams), 0)`).
		Scan(&n.TransactionID, &n.AttemptID, &n.InboundEventID, &n.DeliveryID, &n.PaymentChanges, &n.Removals, &n.StreamState)
	return n, err
}

// newestShown looks at no row that the limit doesn't show: a higher id must not show that
// other bank accounts had a transaction. The last transactions are as many as a page of
// the dashboard shows.
func (s *Store) newestShown(ctx context.Context, limit access.BankAccountLimit) (n delivery.NewestIDs, err error) {
	if len(limit.IDs) == 0 {
		return n, nil
	}
	accountID, err := readOne[int64](ctx, s, `SELECT account_id FROM bank_accounts WHERE id = ?`, limit.IDs[0])
	if err != nil {
		return n, err
	}
	l, err := s.transactionListing(ctx, accountID, limited(ctx, app.TransactionFilter{}))
	if err != nil {
		return n, err
	}
	ids, err := s.page(ctx, l, math.MaxInt64, app.Page{Number: 1, Size: app.DefaultPageSize})
	if err != nil || len(ids) == 0 {
		return n, err
	}
	n.TransactionID = ids[0]
	err = s.queryRow(ctx, `SELECT coalesce(max(a.id), 0), coalesce(max(d.id), 0) FROM json_each(?) k
			CROSS JOIN deliveries d INDEXED BY deliveries_transaction ON d.transaction_id = k.value LEFT JOIN attempts a ON a.delivery_id = d.id`,
		jsonArray(ids)).Scan(&n.AttemptID, &n.DeliveryID)
	return n, err
}

// Pending reads the index of the queue: its cost grows with the pending deliveries,
// not with all deliveries.
func (s *Store) Pending(ctx context.Context, accountID int64, f delivery.Filter, page app.Page) ([]delivery.Pending, int64, error) {
	if err := s.checkHistoryFilter(ctx, accountID,
		delivery.HistoryFilter{WebhookID: f.WebhookID, TransactionID: f.TransactionID}); err != nil {
		return nil, 0, err
	}
	from, args := pendingOf(accountID, f)
	total, err := readOne[int64](ctx, s, `SELECT count(*)`+from, args...)
	if err != nil {
		return nil, 0, err
	}
	// One statement finds and reads the page: a delivery that is attempted meanwhile leaves the list.
	const order = ` ORDER BY w.is_active AND NOT (` + secretLost + `) DESC, d.due_ms, d.id`
	list, err := readAll(ctx, s, func(row scanner) (delivery.Pending, error) {
		var one delivery.Pending
		var p payloadScan
		err := row.Scan(append(append(latestDest(&one.Latest), &one.Paused, &one.SecretLost), p.dest()...)...)
		if err == nil {
			one.Payload, err = p.payload(one.TransactionID)
		}
		return one, err
	}, `SELECT `+latestColumns+`, NOT w.is_active, `+secretLost+`, `+payloadColumns+` FROM (SELECT d.id`+from+order+` LIMIT ? OFFSET ?) page
		CROSS JOIN deliveries d ON d.id = page.id`+latestFrom+payloadFrom+order, append(args, page.Size, page.Offset())...)
	return list, counted(total, page), err
}

// pendingOf returns FROM and WHERE for the pending deliveries d of a filter, with
// their webhooks w.
func pendingOf(accountID int64, f delivery.Filter) (from string, args []any) {
	var c conditions
	c.add("w.account_id = ? AND w.deleted_at IS NULL", accountID)
	index := narrowDeliveries(&c, "deliveries_due", f)
	c.addIf(f.Type != "", "coalesce(t.type, json_extract(d.sample, '$.TransferType')) = ?", string(f.Type))
	c.addIf(f.Query != "", textHolds, fold.String(f.Query))
	from = ` FROM webhooks w CROSS JOIN deliveries d INDEXED BY ` + index + ` ON d.webhook_id = w.id AND d.state = 0`
	if f.Type != "" || f.Query != "" {
		from += ` LEFT JOIN transactions t ON t.id = d.transaction_id`
	}
	return from + ` WHERE ` + c.where.String(), c.args
}
