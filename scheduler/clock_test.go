package scheduler_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/upkeep"

	"github.com/google/go-cmp/cmp"
)

// The clock of a machine was seven hours ahead, and is right when its server starts
// again. First attempts begin at once, retries wait once more for what they waited for,
// and somebody is told.
func TestClockWasAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), answer: func(count int, _ *http.Request) (*http.Response, error) {
			return respond(map[bool]int{true: 500, false: 200}[count == 1]), nil
		}}
		path := newFile(t)
		s := open(t, path, n)
		s.webhook(t, "https://shop.example.vn/hook")
		s.start(t)
		s.Record("FT1")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		must(t, s.courier.Stop(t.Context()))
		s.Record("FT2")
		const ahead = 7 * time.Hour
		s.Change(`UPDATE deliveries SET due_ms = due_ms + ?1, created_ms = created_ms + ?1`, ahead.Milliseconds())
		s.Change(`UPDATE attempts SET started_ms = started_ms + ?`, ahead.Milliseconds())
		must(t, s.Store.Close())

		n.start = time.Now()
		s = open(t, path, n)
		s.start(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		if d := cmp.Diff([]time.Duration{0, 10 * time.Second}, n.times()[1:]); d != "" {
			t.Errorf("attempts after the start (-want +got):\n%s", d)
		}
		told := func() (text string) {
			list, err := s.Services.Alerts.Attention(t.Context(), app.DefaultAccountID, upkeep.Installation{}, time.Now())
			must(t, err)
			for _, a := range list {
				if a.Warning == upkeep.WarningClock {
					text += a.Text.EN
				}
			}
			return text
		}
		if text := told(); !strings.Contains(text, "set back by 420 minutes") || !strings.Contains(s.log.String(), "set back by 420 minutes") {
			t.Errorf("told: %q, logged:\n%s", text, s.log)
		}
		time.Sleep(20 * time.Minute)
		if text := told(); text != "" {
			t.Errorf("later: %q", text)
		}
		s.close(t)
	})
}
