package app_test

import (
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
)

// What ends at a second is good through that second, and no longer.
func TestEndsAfterItsSecond(t *testing.T) {
	end := time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC)
	for after, good := range map[time.Duration]bool{
		-time.Hour: true, 0: true, 999 * time.Millisecond: true, time.Second: false, 24 * time.Hour: false,
	} {
		now := end.Add(after)
		if (access.APIKey{ExpiresAt: end}).Valid(now) != good {
			t.Errorf("%v after its end an API key is valid: %t", after, !good)
		}
		if (app.Account{ExpiresAt: end}).Expired(now) == good {
			t.Errorf("%v after its end a plan is expired: %t", after, good)
		}
	}
	if !(access.APIKey{}).Valid(end) || (app.Account{}).Expired(end) {
		t.Error("what has no end has ended")
	}
	if (access.APIKey{RevokedAt: end, ExpiresAt: end.Add(time.Hour)}).Valid(end) {
		t.Error("a revoked key is valid")
	}
}
