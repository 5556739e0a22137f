package sqlitestore_test

import (
	"testing"

	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
)

// A command whose work takes many commits leaves the server turns between them:
// a call that comes in meanwhile is not held up until all of it is done.
func TestCommandLeavesTurns(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	h.record(h.elements(many, "999"))
	beside := open(t, h.store.Path(), false)
	defer beside.Close()
	command := apptest.Over(t, beside, services.Config{})

	recorded := make(chan int, 1)
	go func() {
		r, err := command.Inbound.LinkBankAccount(t.Context(), 1,
			inbound.BankAccountLink{Bank: "ACB", AccountNumber: "999", AccountName: "A"}, h.now)
		if err != nil {
			t.Error(err)
		}
		recorded <- r.Recorded
	}()
	calls := 0
	for linking := true; linking; calls++ {
		h.record(h.elements(1, "1000"))
		select {
		case n := <-recorded:
			linking = false
			if n != many {
				t.Errorf("%d were recorded", n)
			}
		default:
		}
	}
	// Some forty commits, and without turns two or three calls.
	if calls < 10 {
		t.Errorf("only %d calls came through while a command linked", calls)
	}
}
