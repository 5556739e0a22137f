package acceptance_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
)

// mountDisk mounts a disk of a size, like "2m", on a folder until the test ends. It is unmounted
// although files may be open: a process that another test is starting has, until it runs its
// program, whatever this process had open when it began.
func mountDisk(t *testing.T, dir, size string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs root, to mount a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// A full disk: calls are answered 503, so that the provider tries again, reads
// go on, readiness fails, no result is sent twice for want of a place to note
// it; and once there is room, all of it recovers by itself.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "small")
	must(t, os.Mkdir(dir, 0o700))
	mountDisk(t, dir, "2m")
	receiver := openShop(t)
	p := serveIn(t, dir, anyPort, "--allow-target", receiver.target())
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	receiver.createWebhookFor(t, dir, "/a", "ALL")
	key := strings.TrimSpace(do(t, dir, "apikey", "create", "k"))
	source := addNative(t, dir)
	calls := &caller{url: p.url + source.URLPath, secret: source.Secret, acked: map[string]bool{}}

	// The first refusal has the log copied and cut, and then there is room again.
	sent, refused := 0, 0
	for ; sent < 20_000 && refused < 100; sent++ {
		if refused++; calls.call(fmt.Sprint("FT", sent)) {
			refused = 0
		}
	}
	if sent == 20_000 {
		t.Fatal("the disk never filled up")
	}
	ready := func(want int) func() bool {
		return func() bool {
			response, err := http.Get(p.url + "/readyz")
			if err != nil {
				return false
			}
			response.Body.Close()
			return response.StatusCode == want
		}
	}
	eventually(t, "readiness fails", ready(http.StatusServiceUnavailable))
	if got := status(t, p.url+"/api/v1/transactions", key); got != http.StatusOK {
		t.Errorf("reading on a full disk: %d", got)
	}
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	eventually(t, "readiness recovers", ready(http.StatusOK))
	eventually(t, "recording recovers", func() bool { return calls.call(fmt.Sprint("FT", sent)) })
	acked := calls.acknowledged()
	eventually(t, "everything acknowledged is delivered", func() bool {
		receiver.mu.Lock()
		defer receiver.mu.Unlock()
		return len(receiver.bodies) >= len(acked)
	})
	must(t, p.Process.Signal(syscall.SIGTERM))
	must(t, p.Wait())
	checkLedger(t, filepath.Join(dir, "baoco.db"), acked)
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	for number, bodies := range receiver.bodies {
		if len(bodies) > 1 {
			t.Errorf("%s was sent %d times", number, len(bodies))
		}
	}
	t.Logf("%d acknowledged before and after the disk was full", len(acked))
}

// A full disk for scheduled backups: the server works on, says so, and the next that
// has room is made.
func TestScheduledBackupToFullDisk(t *testing.T) {
	t.Parallel()
	shop := openShop(t)
	in := install(t, shop)
	disk := t.TempDir()
	mountDisk(t, disk, "128k")
	const lastBackup = "baoco_last_backup_timestamp_seconds"
	start := func(more ...string) (*process, map[string]float64) {
		p := serveIn(t, in.dir, anyPort, append(more, "--allow-target", shop.target(), "--backup-dir", disk, "--metrics-listen", "0")...)
		at := p.stderr.Await(showingAt, time.Minute)
		eventually(t, "the backup is tried", func() bool { return strings.Contains(p.stderr.String(), "backup") })
		_, figures := figuresOf(t, "http://"+at[1]+"/metrics", "")
		return p, figures
	}
	p, figures := start()
	if log := p.stderr.String(); strings.Count(log, "scheduled backup") != 1 || !strings.Contains(log, "not enough room") {
		t.Errorf("the log:\n%s", log)
	}
	if _, told := figures[lastBackup]; told || figures["baoco_well"] != 1 {
		t.Errorf("a backup is told of: %v, well: %v", told, figures["baoco_well"])
	}
	if page := systemPage(t, in.dir, p); !strings.Contains(page, "The last scheduled backup failed.") &&
		!strings.Contains(page, "Lần sao lưu theo lịch gần nhất bị lỗi") {
		t.Error("the page of the system doesn't warn")
	}
	if !in.provider(p.url).call("FT1") {
		t.Error("a call is not acknowledged")
	}
	eventually(t, "the shop is told", func() bool { return len(shop.received()) == 1 })
	if image := readImage(t, disk); len(image) != 0 {
		t.Errorf("%d files are left", len(image))
	}
	p.end(t)
	must(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	p, figures = start()
	if age := float64(time.Now().Unix()) - figures[lastBackup]; age < 0 || age > 300 ||
		strings.Contains(p.stderr.String(), "scheduled backup") {
		t.Errorf("the backup is %.0f s old\n%s", age, p.stderr)
	}
	p.end(t)
	image := readImage(t, disk)
	if len(image) != 2 {
		t.Errorf("%d files, want a backup and its key", len(image))
	}

	// As if it were made long ago: with another it is one too many.
	for name := range image {
		old := regexp.MustCompile(`[0-9]{8}T[0-9]{6}Z`).ReplaceAllString(name, "20260101T000000Z")
		must(t, os.Rename(filepath.Join(disk, name), filepath.Join(disk, old)))
	}
	apptest.Exec(t, in.db, `DELETE FROM settings WHERE name = 'scheduled_backup'`)
	p, _ = start("--backup-keep", "1")
	p.end(t)
	kept := readImage(t, disk)
	for name := range kept {
		if strings.Contains(name, "20260101") || len(kept) != 2 {
			t.Errorf("of the backups there are: %v", slices.Sorted(maps.Keys(kept)))
		}
	}
}
