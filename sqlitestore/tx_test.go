package sqlitestore_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/statement"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// mostChanges is how many rows one work may change: at some twenty microseconds
// for each, others wait for it less than 50 milliseconds.
const mostChanges = 1000

// many is how much there is of what an operation is about.
const many = inbound.MaxElements

// elements are n transactions on the account with a number.
func (h *history) elements(n int, account string) []inbound.Incoming {
	list := make([]inbound.Incoming, n)
	for i := range list {
		h.seq++
		list[i] = inbound.Incoming{
			EventID: fmt.Sprint(h.seq), Gateway: "ACB", AccountNumber: account, Number: fmt.Sprint("N", h.seq), Type: app.In,
			Amount: 1000 + int64(h.seq), Time: h.now,
		}
	}
	return list
}

// record records a call of the first account's first source.
func (h *history) record(elements []inbound.Incoming) inbound.Recording {
	h.t.Helper()
	r, err := h.service.Inbound.RecordTransactions(h.t.Context(), h.callOf(elements))
	must(h.t, err)
	return r
}

func (h *history) callOf(elements []inbound.Incoming) inbound.Call {
	return inbound.Call{
		AccountID: 1, Source: h.sources[0], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now, Elements: elements,
	}
}

// fail settles what is due of the first webhook as failed for good.
func (h *history) fail(most int) {
	h.t.Helper()
	due, err := h.store.Due(h.t.Context(), delivery.DueFilter{WebhookID: h.hooks[0].ID, Limit: most}, h.now)
	must(h.t, err)
	var all sync.WaitGroup
	for _, o := range due {
		o.Attempts = len(delivery.RetrySchedule)
		all.Go(func() {
			_, err := h.service.Deliveries.Settle(h.t.Context(), o,
				delivery.Result{StartedAt: h.now, StatusCode: 500, Error: delivery.ErrorHTTPStatus})
			must(h.t, err)
		})
	}
	all.Wait()
}

// whole examines a file as doctor --full does.
func whole(t *testing.T, path string, now time.Time) {
	t.Helper()
	checks, err := sqlitestore.Examine(t.Context(), path, sqlitestore.Examination{Full: true, Now: now})
	must(t, err)
	for _, c := range checks {
		if c.Result == upkeep.CheckFailed {
			t.Errorf("%s: %s", c.Name, c.Text.EN)
		}
	}
}

// Nothing that a person or a provider does holds the writer for long: however
// much there is of it, each of its commits changes few rows.
func TestNothingHoldsTheWriter(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(h *history)
		do      func(ctx context.Context, h *history) (int, error)
		want    int
	}{
		{"a call of many elements", nil, func(ctx context.Context, h *history) (int, error) {
			r, err := h.service.Inbound.RecordTransactions(ctx, h.callOf(h.elements(many, "1000")))
			return r.Recorded, err
		}, many},
		{"a call for an account that isn't linked", nil, func(ctx context.Context, h *history) (int, error) {
			r, err := h.service.Inbound.RecordTransactions(ctx, h.callOf(h.elements(many, "999")))
			return r.Unassigned, err
		}, many},
		{"a page of a list", nil, func(ctx context.Context, h *history) (int, error) {
			call := h.callOf(h.elements(many, "1000"))
			call.Channel = app.ChannelPoll
			for i := range call.Elements {
				call.Elements[i].EventIDChannel = app.ChannelPoll
			}
			r, err := h.store.RecordPage(ctx, call, "2", true, time.UTC)
			return r.Recorded, err
		}, many},
		{"rows of a file", nil, func(ctx context.Context, h *history) (int, error) {
			in, err := h.service.Inbound.NewImport(ctx, inbound.ImportOptions{AccountID: 1, Notify: true})
			must(h.t, err)
			r, err := in.Add(ctx, h.elements(500, "1000"), h.now)
			return r.Recorded, err
		}, 500},
		{"rows of a file, dry", nil, func(ctx context.Context, h *history) (int, error) {
			in, err := h.service.Inbound.NewImport(ctx, inbound.ImportOptions{AccountID: 1, Notify: true, DryRun: true})
			must(h.t, err)
			r, err := in.Add(ctx, h.elements(statement.Batch, "1000"), h.now)
			if r.Deliveries != 2*statement.Batch {
				h.t.Errorf("a dry run names %d deliveries", r.Deliveries)
			}
			return r.Recorded, err
		}, statement.Batch},
		{"take back an import", func(h *history) {
			h.imports("a.csv", false, h.rows(0, many))
			must(h.t, h.service.Ledger.IndexSearch(context.Background()))
		}, func(ctx context.Context, h *history) (int, error) {
			err := h.service.Inbound.UndoImport(ctx, 1, 1, h.now)
			must(h.t, err)
			u, err := h.service.Inbound.Undoable(ctx, 1, 1, h.now)
			return int(u.In.Count + u.Out.Count), err
		}, 0},
		{"link a bank account", func(h *history) {
			h.record(h.elements(many, "999"))
			h.record(h.elements(many, "999"))
			h.record(h.elements(many, "998"))
		}, func(ctx context.Context, h *history) (int, error) {
			r, err := h.service.Inbound.LinkBankAccount(ctx, 1, inbound.BankAccountLink{Bank: "ACB", AccountNumber: "999", AccountName: "A"}, h.now)
			if r.Deliveries != 4*many {
				h.t.Errorf("%d deliveries", r.Deliveries)
			}
			return r.Recorded, err
		}, 2 * many},
		{"link an event", func(h *history) {
			h.record(h.elements(many, "999"))
			h.record(h.elements(many, "999"))
		}, func(ctx context.Context, h *history) (int, error) {
			r, err := h.service.Inbound.LinkInbound(ctx, 1, inbound.EventLink{EventID: 2, AccountName: "A"}, h.now)
			if r.Recorded != many || len(r.TransactionIDs) != many || r.Open != 0 || r.More {
				h.t.Errorf("%d recorded, %d named, %d open, more: %t", r.Recorded, len(r.TransactionIDs), r.Open, r.More)
			}
			return r.Waiting, err
		}, many},
		{"retry an event", func(h *history) {
			unread := h.elements(many, "1000")
			for i := range unread {
				unread[i].Fault = &app.FieldError{Field: "transferAmount", Text: app.AmountRule}
			}
			h.seq = 0
			h.record(unread)
		}, func(ctx context.Context, h *history) (int, error) {
			r, err := h.store.RetryInbound(ctx, 1, h.normal(h.elements(many, "1000")), time.UTC, h.now)
			return r.Recorded, err
		}, many},
		{"discard an event", func(h *history) { h.record(h.elements(many, "999")) },
			func(ctx context.Context, h *history) (int, error) { return h.service.Inbound.DiscardInbound(ctx, 1, 1) }, many},
		{"prune", func(h *history) {
			h.record(h.elements(many, "999"))
			_, err := h.service.Inbound.DiscardInbound(h.t.Context(), 1, 1)
			must(h.t, err)
			h.fill(`INSERT INTO inbound_events (account_id, channel, received_ms, body, recorded, duplicates, unassigned, conflicts, rejected, open)
				SELECT 1, 'call', i, zeroblob(i % 3000), 0, 0, 0, 0, 0, 0`)
			h.fill(`INSERT INTO idempotency_keys (account_id, key, operation, hash, result, outcome, created_ms) SELECT 1, i, '', x'', 0, '', i`)
			h.fill(`INSERT INTO sessions (token, generation, halfway, data, agent, address, started_at, seen_at, end_at, ended) SELECT i, 0, 0,
				x'', '', '', 0, 0, i, 0`)
			h.fill(`INSERT INTO webhook_hours (webhook_id, hour, succeeded, failed) SELECT 1, i, 0, 0`)
			h.record(h.elements(many, "1000"))
			h.fail(many)
			h.now = h.now.Add(30 * 24 * time.Hour)
		}, func(ctx context.Context, h *history) (int, error) {
			p, err := h.service.Upkeep.Prune(ctx, upkeep.PruneLimits{Inbound: time.Hour, History: time.Hour}, h.now)
			left := peek(h.t, h.store.Path(),
				`SELECT (SELECT count(*) FROM inbound_events) + (SELECT count(*) FROM inbound_items) + (SELECT count(*) FROM attempts)
				+ (SELECT count(*) FROM idempotency_keys) + (SELECT count(*) FROM sessions) + (SELECT count(*) FROM webhook_hours)`)
			if p.Attempts != many || left[0][0] != int64(0) {
				h.t.Errorf("%+v, and %v rows are left", p, left[0][0])
			}
			return p.InboundEvents, err
		}, many + 2},
		{"replay a webhook", func(h *history) {
			h.record(h.elements(many, "1000"))
			must(h.t, h.store.Write(h.t.Context(), func(exec func(string, ...any) error) error {
				return exec(`UPDATE deliveries SET state = 2, attempts = 6, due_ms = NULL WHERE webhook_id = 1`)
			}))
		}, func(ctx context.Context, h *history) (int, error) {
			return h.service.Deliveries.Replay(ctx, 1, delivery.ReplayCreate{WebhookID: 1}, h.now.Add(time.Minute))
		}, many},
		{"send what waits", func(h *history) {
			h.record(h.elements(many, "1000"))
			must(h.t, h.store.Write(h.t.Context(), func(exec func(string, ...any) error) error {
				return exec(`UPDATE deliveries SET retry = 1, attempts = 1, due_ms = due_ms + 600000 WHERE webhook_id = 1`)
			}))
		}, func(ctx context.Context, h *history) (int, error) {
			return h.service.Deliveries.SendWaiting(ctx, 1, 1, app.IdempotencyKey{}, h.now.Add(time.Minute))
		}, many},
		{"resend", func(h *history) {
			h.record(h.elements(delivery.MaxResend, "1000"))
			h.fail(delivery.MaxResend)
		}, func(ctx context.Context, h *history) (int, error) {
			var ids []int64
			for id := range int64(delivery.MaxResend) {
				ids = append(ids, id+1)
			}
			r, err := h.service.Deliveries.ResendMany(ctx, 1, ids, app.IdempotencyKey{}, h.now)
			return r.Count, err
		}, delivery.MaxResend},
		{"delete a webhook", func(h *history) { h.record(h.elements(many, "1000")) }, func(ctx context.Context, h *history) (int, error) {
			must(h.t, h.service.Deliveries.DeleteWebhook(ctx, 1, 1, h.now))
			return int(peek(h.t, h.store.Path(), `SELECT count(*) FROM deliveries WHERE state = 3`)[0][0].(int64)), nil
		}, many},
		{"switches and secrets", func(h *history) { h.record(h.elements(many, "1000")) }, func(ctx context.Context, h *history) (int, error) {
			_, err := h.service.Deliveries.ToggleWebhook(ctx, 1, 1, h.now)
			must(h.t, err)
			_, err = h.service.Ledger.ToggleBankAccount(ctx, 1, 1, h.now)
			must(h.t, err)
			_, err = h.service.Inbound.RotateSource(ctx, 1, 1, inbound.SourceRotate{}, h.now)
			must(h.t, err)
			return 0, h.service.Ledger.UnlinkBankAccount(ctx, 1, 1, h.now)
		}, 0},
		{"index", func(h *history) { h.record(h.elements(many, "1000")) }, func(ctx context.Context, h *history) (int, error) {
			must(h.t, h.service.Ledger.IndexSearch(ctx))
			left, err := h.store.Unindexed(ctx)
			return int(left), err
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, create(t), 1)
			defer h.store.Close()
			if c.prepare != nil {
				c.prepare(h)
			}
			var most atomic.Int64
			must(t, h.store.Watch(t.Context(), func(changes int64) { most.Store(max(most.Load(), changes)) }))
			n, err := c.do(t.Context(), h)
			must(t, err)
			if n != c.want {
				t.Errorf("it came to %d, want %d", n, c.want)
			}
			if most.Load() > mostChanges {
				t.Errorf("one commit changed %d rows, at most %d are meant", most.Load(), mostChanges)
			}
			whole(t, h.store.Path(), h.now)
		})
	}
}

// normal is a call as the service hands it on.
func (h *history) normal(elements []inbound.Incoming) inbound.Call {
	call := h.callOf(elements)
	for i := range call.Elements {
		call.Elements[i].EventIDChannel = call.Channel
	}
	return call
}

// fill runs a statement that ends in a SELECT, for i from 1 to many.
func (h *history) fill(statement string) {
	h.t.Helper()
	must(h.t, h.store.Write(h.t.Context(), func(exec func(string, ...any) error) error {
		return exec(statement+` FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n)`, many)
	}))
}
