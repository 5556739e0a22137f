package sqlitestore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/stream"
)

// ledger makes a stream of all that comes in from now on, but for what change says.
func ledger(t *testing.T, s *services.All, account int64, change func(*stream.Create), now time.Time) (stream.Stream, error) {
	t.Helper()
	in := stream.Create{Name: "ledger", URL: "nats://nats.shop.vn", Topic: "shop"}
	if change != nil {
		change(&in)
	}
	st, _, err := s.Streams.CreateStream(t.Context(), account, in, now)
	return st, err
}

// An imported transaction that a stream has carried to a broker, or is about to, isn't
// taken back; those that no stream takes are.
func TestUndoImportOfStreamed(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 8)
	defer func() { h.store.Close() }()
	ctx := t.Context()
	h.imports("before.csv", false, h.rows(1000, 10))
	st, err := ledger(t, h.service, 1, func(c *stream.Create) { c.Type = delivery.WebhookOut }, h.now)
	must(t, err)
	told := func(id int64) int64 {
		u, err := h.service.Inbound.Undoable(ctx, 1, id, h.now)
		must(t, err)
		return u.NotifiedCount
	}
	if n := told(1); n != 0 {
		t.Errorf("%d from before the stream count as told", n)
	}
	id, _ := h.imports("a.csv", false, h.rows(0, 30)) // every third is money out
	if n := told(id); n != 10 {
		t.Errorf("%d that an active stream takes count as told, want 10", n)
	}
	must(t, second(h.service.Streams.ToggleStream(ctx, 1, st.ID, h.now)))
	if n := told(id); n != 0 {
		t.Errorf("%d that a stopped stream hasn't sent count as told", n)
	}
	list, passed, err := h.service.Streams.StreamTransactions(ctx, st, st.Position, stream.MaxBatch)
	must(t, err)
	must(t, h.service.Streams.SettleStream(ctx, stream.Progress{StreamID: st.ID, From: st.Position, To: list[4].ID, Tried: list[4].ID,
		Sent: 5}))
	if n := told(id); n != 5 || passed < list[9].ID || len(list) != 10 {
		t.Errorf("%d that it has sent count as told, want 5", n)
	}
	// Whatever becomes of the stream, the broker has them.
	still := func(what string) {
		t.Helper()
		if n := told(id); n != 5 {
			t.Errorf("%s: %d that it has sent count as told, want 5", what, n)
		}
	}
	change := func(u stream.Update) {
		t.Helper()
		must(t, second(h.service.Streams.UpdateStream(ctx, 1, st.ID, u, h.now)))
	}
	change(stream.Update{SinceID: &list[6].ID})
	still("moved ahead")
	change(stream.Update{SinceID: &st.Position})
	still("moved back")
	// An attempt that was on its way when the stream was moved, and that failed.
	must(t, h.service.Streams.SettleStream(ctx, stream.Progress{StreamID: st.ID, From: list[6].ID, To: list[6].ID, Tried: list[7].ID}))
	if n := told(id); n != 8 {
		t.Errorf("%d that it has tried to send count as told, want 8", n)
	}
	in := delivery.WebhookIn
	change(stream.Update{Type: &in})
	if n := told(id); n < 8 {
		t.Errorf("after its type was changed %d that it has sent count as told", n)
	}
	must(t, h.service.Streams.DeleteStream(ctx, 1, st.ID, h.now))
	must(t, h.service.Inbound.UndoImport(ctx, 1, id, h.now))
	left := told(id)
	for _, sent := range list[:8] {
		if _, err := h.service.Ledger.Transaction(ctx, 1, sent.ID); err != nil {
			t.Errorf("transaction %d, which it has sent: %v", sent.ID, err)
		}
	}
	if left >= 30 {
		t.Errorf("%d of 30 are left", left)
	}
}

// A position that somebody moved isn't moved by what was on its way. It is never beyond
// the last transaction, since those that follow would not be sent.
func TestStreamPosition(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 9)
	defer func() { h.store.Close() }()
	ctx := t.Context()
	h.imports("a.csv", false, h.rows(0, 30))
	far := int64(1 << 60)
	st, err := ledger(t, h.service, 1, func(c *stream.Create) { c.SinceID = &far }, h.now)
	must(t, err)
	if st.Position != 30 {
		t.Errorf("it begins after %d", st.Position)
	}
	back := int64(7)
	must(t, second(h.service.Streams.UpdateStream(ctx, 1, st.ID, stream.Update{SinceID: &back}, h.now)))
	must(t, h.service.Streams.SettleStream(ctx, stream.Progress{StreamID: st.ID, From: 30, To: 30, Sent: 3}))
	if st, err = h.service.Streams.Stream(ctx, 1, st.ID); err != nil || st.Position != 7 || st.Sent != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	first, err := h.service.Streams.StreamBehind(ctx, st)
	if err != nil || !first.Equal(h.now.Truncate(time.Second)) {
		t.Errorf("behind since %v, %v", first, err)
	}
	// More than one reading holds.
	h.imports("b.csv", false, h.rows(5000, 700))
	var seen []int64
	for at := st.Position; ; {
		list, passed, err := h.service.Streams.StreamTransactions(ctx, st, at, stream.MaxBatch)
		must(t, err)
		if len(list) == 0 {
			break
		}
		for _, tr := range list {
			seen = append(seen, tr.ID)
		}
		at = passed
	}
	if len(seen) != 723 || seen[0] != 8 || seen[722] != 730 {
		t.Errorf("%d transactions, the first %d, the last %d", len(seen), seen[0], seen[len(seen)-1])
	}
}

// Streams are bounded, and belong to an account.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	ctx, now := t.Context(), time.Now()
	other := w.SecondAccount()
	var last stream.Stream
	for range stream.MaxStreams {
		var err error
		last, err = ledger(t, w.Services, 1, nil, now)
		must(t, err)
	}
	if _, err := ledger(t, w.Services, 1, nil, now); !errors.Is(err, stream.ErrTooManyStreams) {
		t.Errorf("one more: %v", err)
	}
	must(t, second(ledger(t, w.Services, other, nil, now)))
	must(t, w.Services.Streams.DeleteStream(ctx, 1, last.ID, now))
	must(t, second(ledger(t, w.Services, 1, nil, now)))

	for what, err := range map[string]error{
		"deleted":   w.Services.Streams.DeleteStream(ctx, 1, last.ID, now),
		"another's": w.Services.Streams.DeleteStream(ctx, other, 1, now),
		"toggled":   second(w.Services.Streams.ToggleStream(ctx, other, 1, now)),
		"updated":   second(w.Services.Streams.UpdateStream(ctx, other, 1, stream.Update{}, time.Now())),
		"rotated":   second(w.Services.Streams.RotateStreamSecret(ctx, other, 1, app.IdempotencyKey{}, now)),
		"read":      second(w.Services.Streams.StreamWork(ctx, other, 1)),
	} {
		if app.CodeOf(err) != app.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := ledger(t, w.Services, other, func(c *stream.Create) { c.BankAccountID = 99 }, now); app.CodeOf(err) != app.CodeValidation {
		t.Errorf("of an unknown bank account: %v", err)
	}
	past := now.Add(-time.Hour)
	must(t, second(w.Services.Ledger.UpdateAccount(ctx, other, app.AccountUpdate{ExpiresAt: &past})))
	if _, err := ledger(t, w.Services, other, nil, now); app.CodeOf(err) != app.CodePlanExpired {
		t.Errorf("with an expired plan: %v", err)
	}
	text := fmt.Sprint(peek(t, w.Path, `SELECT secret, password FROM streams WHERE deleted_at IS NOT NULL`))
	if text != "[[[] []]]" {
		t.Errorf("of a deleted stream the file keeps %s", text)
	}
}

// second is the error of a call that also gives something.
func second[T any](_ T, err error) error { return err }
