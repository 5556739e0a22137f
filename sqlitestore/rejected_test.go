package sqlitestore_test

import (
	"context"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// Of a list, what has an id is kept once however often it is read; what has none
// is kept each time, since nothing tells it from the others.
func TestRejectedElementsOfAList(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	const poll, call = app.ChannelPoll, app.ChannelCall
	for _, c := range []struct {
		channel app.Channel
		id      string
		again   bool
	}{
		{poll, "~1", false}, {poll, "~2", false}, {poll, "~1", true}, {poll, "~2", true}, {poll, "", false}, {poll, "", false},
		{poll, "\x00", false},
		{call, "~3", false}, {call, "~3", false}, {poll, "~3", false}, {poll, "~3", true}, // each call is kept: somebody sent it
		{"discard", "", false}, {poll, "~1", true}, {poll, "~3", true}, {call, "~3", false},
	} {
		if c.channel == "discard" {
			for _, event := range peek(t, h.store.Path(), `SELECT id FROM inbound_events WHERE open > 0`) {
				_, err := h.service.Inbound.DiscardInbound(t.Context(), 1, event[0].(int64))
				must(t, err)
			}
			continue
		}
		r, err := h.service.Inbound.RecordTransactions(context.Background(), inbound.Call{
			AccountID: 1, Source: h.sources[0], Channel: c.channel, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []inbound.Incoming{{EventID: c.id, Fault: &app.FieldError{Field: "element", Text: app.Text{EN: "x", VI: "x"}}}},
		})
		must(t, err)
		if r.Duplicates != 0 != c.again || r.Rejected != 0 == c.again {
			t.Errorf("%s %q: %+v", c.channel, c.id, r)
		}
		h.now = h.now.Add(time.Minute)
	}
}
