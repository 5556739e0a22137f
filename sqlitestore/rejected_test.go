package sqlitestore_test

import (
	"context"
	"testing"
	"time"

	"baoco/app"
)

// Of a list, what has an id is kept once however often it is read; what has none
// is kept each time, since nothing tells it from the others.
func TestRejectedElementsOfAList(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	for _, c := range []struct {
		id    string
		again bool
	}{{"~1", false}, {"~2", false}, {"~1", true}, {"~2", true}, {"", false}, {"", false}, {"\x00", false}} {
		r, err := h.service.RecordTransactions(context.Background(), app.InboundCall{
			AccountID: 1, Source: h.sources[0], Channel: app.ChannelPoll, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []app.Incoming{{EventID: c.id, Fault: &app.FieldError{Field: "element", Text: app.Text{EN: "x", VI: "x"}}}},
		})
		must(t, err)
		if r.Duplicates != 0 != c.again || r.Rejected != 0 == c.again {
			t.Errorf("%q: %+v", c.id, r)
		}
		h.now = h.now.Add(time.Minute)
	}
}
