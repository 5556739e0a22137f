package command

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/upkeep"
)

// Prune removes what the server would, counts it first where it is asked to,
// and gives room back; money stays.
func TestPrune(t *testing.T) {
	old := time.Now().Add(-40 * 24 * time.Hour).UnixMilli()
	db := apptest.NewFile(t)
	apptest.Exec(t, db,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			INSERT INTO inbound_events (account_id, channel, received_ms, body, recorded, duplicates, unassigned, conflicts, rejected, open)
			SELECT 1, 'call', %d + i, zeroblob(4000), 1, 0, 0, 0, 0, i = 1 FROM n`, old),
		fmt.Sprintf(`INSERT INTO inbound_events (account_id, channel, received_ms, body, recorded, duplicates, unassigned, conflicts, rejected,
			open)
			VALUES (1, 'call', %d, x'00', 1, 0, 0, 0, 0, 0)`, time.Now().UnixMilli()),
	)
	t.Setenv("BAOCO_DB", db)
	run := func(want upkeep.Pruned, args ...string) {
		t.Helper()
		code, stdout, stderr := baoco("", append([]string{"prune", "-o", "json"}, args...)...)
		var got upkeep.Pruned
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
			t.Fatalf("%v: exit %d, %v\n%s", args, code, err, stderr)
		}
		if free := want.ReclaimableBytes > 0; free != (got.ReclaimableBytes > 9<<20) ||
			(want.ReclaimedBytes > 0) != (got.ReclaimedBytes > 9<<20) {
			t.Errorf("%v: bytes %+v", args, got)
		}
		got.ReclaimableBytes, got.ReclaimedBytes = want.ReclaimableBytes, want.ReclaimedBytes
		if got != want {
			t.Errorf("%v: %+v, want %+v", args, got, want)
		}
	}
	keep := []string{"--keep-inbound", "30d", "--keep-history", "0"}
	run(upkeep.Pruned{DryRun: true, InboundEvents: 2499}, append(keep, "--dry-run")...)
	run(upkeep.Pruned{DryRun: true}, "--keep-inbound", "60d", "--keep-history", "0", "--dry-run")
	run(upkeep.Pruned{DryRun: true}, "--keep-inbound", "0", "--keep-history", "0", "--dry-run")
	run(upkeep.Pruned{InboundEvents: 2499, ReclaimableBytes: 1}, keep...)
	run(upkeep.Pruned{ReclaimableBytes: 1}, keep...)
	before := fileSize(t, db)
	run(upkeep.Pruned{ReclaimedBytes: 1}, append(keep, "--vacuum")...)
	if after := fileSize(t, db); after > before-9<<20 {
		t.Errorf("the file has %d bytes, before %d", after, before)
	}
	if code, _, stderr := baoco("", "bank", "link", "--bank", "ACB", "--number", "1", "--name", "A"); code != 0 {
		t.Errorf("afterwards: exit %d, %s", code, stderr)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}
