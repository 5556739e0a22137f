package scheduler_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A server is alive as long as its writer commits and its courier sweeps, with
// nothing to do too. Where either stops, it isn't alive half a minute later.
func TestAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newFile(t), &network{start: time.Now(), answer: always500})
		if err := s.Services.Upkeep.Alive(time.Now().Add(time.Hour)); err != nil {
			t.Errorf("before the start: %v", err)
		}
		s.start(t)
		for range 10 {
			time.Sleep(time.Minute)
			must(t, s.Services.Upkeep.Alive(time.Now()))
		}
		dead := func(want string) {
			t.Helper()
			if err := s.Services.Upkeep.Alive(time.Now()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("it says %v, want %q", err, want)
			}
		}
		must(t, s.courier.Stop(t.Context())) // nobody sweeps, and nobody asks the writer for anything
		time.Sleep(20 * time.Second)
		must(t, s.Services.Upkeep.Alive(time.Now()))
		time.Sleep(15 * time.Second)
		dead("the writer hangs")
		s.Record("FT1")
		dead("the courier hangs")
		must(t, s.Store.Close())
	})
}
