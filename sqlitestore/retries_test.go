package sqlitestore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Where the clock was set forward, what waited goes on waiting as long as it had to, and
// what was due stays due. However many wait, each is moved once, those of a webhook that
// is off too.
func TestMoveRetries(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 5)
	defer h.store.Close()
	h.record(h.elements(900, "1000"))
	before, step := h.now.Truncate(time.Millisecond), 7*time.Hour
	must(t, h.store.Write(t.Context(), func(exec func(string, ...any) error) error {
		if err := exec(`UPDATE deliveries SET retry = 1, due_ms = ?1 + id`, before.UnixMilli()); err != nil {
			return err
		}
		if err := exec(`UPDATE deliveries SET due_ms = ?1 WHERE id = 1`, before.UnixMilli()); err != nil {
			return err
		}
		return exec(`UPDATE webhooks SET is_active = 0 WHERE id = 2`)
	}))
	due := func() [][]any {
		return peek(t, path, `SELECT min(due_ms - id), max(due_ms - id), count(*) FROM deliveries WHERE id > 1`)
	}
	count := due()[0][2].(int64)
	n, err := h.store.MoveRetries(t.Context(), before, before.Add(step))
	must(t, err)
	if n != count || n < 900 {
		t.Errorf("%d of %d were moved", n, count)
	}
	after := before.Add(step).UnixMilli()
	if d := cmp.Diff([][]any{{after, after, count}}, due()); d != "" {
		t.Errorf("due (-want +got):\n%s", d)
	}
	if first := peek(t, path, `SELECT due_ms FROM deliveries WHERE id = 1`)[0][0]; first != before.UnixMilli() {
		t.Errorf("what was due was moved to %v", first)
	}
}
