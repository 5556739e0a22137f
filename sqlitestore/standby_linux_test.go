package sqlitestore_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// copyWriter writes the shown copy of a standby as Litestream does.
type copyWriter struct {
	t    *testing.T
	file *os.File
	mark string
}

// standBy shows a copy that holds data.
func standBy(t *testing.T, data []byte) (*sqlitestore.Standby, *copyWriter) {
	t.Helper()
	s, err := sqlitestore.OpenStandby(filepath.Join(t.TempDir(), "baoco.db"), "no key", slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s, show(t, s, data)
}

func show(t *testing.T, s *sqlitestore.Standby, data []byte) *copyWriter {
	t.Helper()
	path := restoreCopy(t, s, data)
	_, keyFits, err := s.Admit(t.Context(), path, path+"-txid")
	must(t, err)
	if keyFits {
		t.Error("no key fits")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	s.Show(path, path+"-txid")
	must(t, s.RemoveOthers())
	return &copyWriter{t, f, path + "-txid"}
}

// restoreCopy makes a copy, and its mark after it.
func restoreCopy(t *testing.T, s *sqlitestore.Standby, data []byte) string {
	t.Helper()
	path, err := s.NewCopy()
	must(t, err)
	must(t, os.WriteFile(path, data, 0o600))
	must(t, os.WriteFile(path+"-txid", nil, 0o600))
	return path
}

// lock takes the locks of a writer of SQLite, by ways that don't end with other open
// files of this process.
func (w *copyWriter) lock(kind int16) {
	w.t.Helper()
	const setWait = 38 // F_OFD_SETLKW
	for _, at := range [][2]int64{{0x40000000, 1}, {0x40000002, 510}} {
		l := syscall.Flock_t{Type: kind, Start: at[0], Len: at[1]}
		must(w.t, syscall.FcntlFlock(w.file.Fd(), setWait, &l))
	}
}

func (w *copyWriter) readBySomebody() bool {
	w.t.Helper()
	const get = 36 // F_OFD_GETLK
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Start: 0x40000002, Len: 510}
	must(w.t, syscall.FcntlFlock(w.file.Fd(), get, &l))
	return l.Type != syscall.F_UNLCK
}

// pages writes those pages that differ between two states, and gives their number.
func (w *copyWriter) pages(from, to []byte, most int) (n int) {
	w.t.Helper()
	const size = 4096
	for at := 0; at < len(to) && n < most; at += size {
		if page := to[at : at+size]; at >= len(from) || !bytes.Equal(from[at:at+size], page) {
			if at == 0 {
				continue // few objects of Litestream have it
			}
			_, err := w.file.WriteAt(page, int64(at))
			must(w.t, err)
			n++
		}
	}
	return n
}

func (w *copyWriter) marked() {
	w.t.Helper()
	must(w.t, os.WriteFile(w.mark+".tmp", []byte("1\n"), 0o600))
	must(w.t, os.Rename(w.mark+".tmp", w.mark))
}

// beats are the states of one file with a beat each; none has another size.
func beats(t *testing.T, n int) (states [][]byte) {
	t.Helper()
	path := apptest.NewFile(t)
	for range n {
		store := apptest.OpenStore(t, path, true)
		must(t, store.SetBeat(t.Context(), time.Now()))
		must(t, store.Close())
		data, err := os.ReadFile(path)
		must(t, err)
		states = append(states, data)
	}
	return states
}

func sequence(t *testing.T, s *sqlitestore.Standby) int64 {
	t.Helper()
	beat, err := s.Beat(t.Context())
	must(t, err)
	return beat.Sequence
}

// What another program has written counts from the next query on, although nothing in
// the first page says so. While it writes queries wait; what it has left unfinished
// isn't read.
func TestStandbyReadsWhatIsWhole(t *testing.T) {
	t.Parallel()
	states := beats(t, 4)
	s, w := standBy(t, states[0])
	if got := sequence(t, s); got != 1 {
		t.Fatalf("the first beat is %d", got)
	}
	w.lock(syscall.F_WRLCK)
	read := make(chan int64)
	go func() {
		beat, _ := s.Beat(context.Background())
		read <- beat.Sequence
	}()
	select {
	case n := <-read:
		t.Fatalf("%d was read while the file was locked", n)
	case <-time.After(200 * time.Millisecond):
	}
	if w.pages(states[0], states[1], 100) == 0 {
		t.Fatal("nothing was written")
	}
	w.lock(syscall.F_UNLCK)
	w.marked()
	if got := apptest.Receive(t, "the file is read once it is unlocked", read); got != 2 {
		t.Errorf("read while it was written: %d", got)
	}
	if got := sequence(t, s); got != 2 {
		t.Errorf("afterwards: %d", got)
	}
	if names, _ := filepath.Glob(s.Path() + ".standby-*/*"); len(names) != 2 {
		t.Errorf("reading made files: %v", names)
	}
	conn, err := s.Connect(t.Context())
	must(t, err)
	if !w.readBySomebody() {
		t.Error("a connection doesn't keep Litestream waiting before its query")
	}
	must(t, conn.Close())
	apptest.Eventually(t, "a connection that is closed doesn't", func() bool { return !w.readBySomebody() })

	w.pages(states[1], states[2], 1) // and then it fails
	if beat, err := s.Beat(t.Context()); app.CodeOf(err) != app.CodeUnavailable {
		t.Errorf("of a torn copy %d was read: %v", beat.Sequence, err)
	}
	w.pages(states[1], states[2], 100)
	w.marked()
	if got := sequence(t, s); got != 3 {
		t.Errorf("once it was whole: %d", got)
	}

	must(t, w.file.Truncate(int64(len(states[0])/2)))
	w.marked()
	if err := s.Check(t.Context()); !errors.Is(err, sqlitestore.ErrDamaged) {
		t.Errorf("the check of half a copy: %v", err)
	}
	show(t, s, states[3])
	if got := sequence(t, s); got != 4 {
		t.Errorf("of another copy: %d", got)
	}
	must(t, s.Check(t.Context()))
}

// A copy that may be another's, or that this baoco doesn't read, isn't shown. Nothing is
// written, whatever is asked for, and no more than two copies are there.
func TestStandbyRefuses(t *testing.T) {
	t.Parallel()
	data := beats(t, 1)[0]
	s, w := standBy(t, data)
	ctx := apptest.Acting(t.Context())
	if err := s.SetBeat(ctx, time.Now()); !errors.Is(err, upkeep.ErrStandby) {
		t.Errorf("a beat was written: %v", err)
	}
	if _, err := s.CreateAccount(ctx, app.Account{Name: "a"}); !errors.Is(err, upkeep.ErrStandby) {
		t.Errorf("an account was made: %v", err)
	}
	if _, err := sqlitestore.OpenStandby(s.Path(), "no key", slog.Default()); !errors.Is(err, sqlitestore.ErrInUse) {
		t.Errorf("a second standby: %v", err)
	}
	newer := bytes.Clone(data)
	binary.BigEndian.PutUint32(newer[60:], binary.BigEndian.Uint32(newer[60:])+1)
	another := bytes.Clone(data)
	binary.BigEndian.PutUint32(another[60:], binary.BigEndian.Uint32(another[60:])-1)
	older, err := os.ReadFile(unpackReleased(t, fmt.Sprintf(releasedFile, sqlitestore.SchemaVersion()-1)))
	must(t, err)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"half": {data[:len(data)/2], sqlitestore.ErrDamaged}, "newer": {newer, sqlitestore.ErrNewer}, "another schema": {another, sqlitestore.ErrSchema}, "older": {older, sqlitestore.ErrOlder}, "nothing": {nil, sqlitestore.ErrNotDatabase},
	} {
		path := restoreCopy(t, s, c.data)
		if _, _, err := s.Admit(t.Context(), path, path+"-txid"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := restoreCopy(t, s, data)
	later := time.Now().Add(time.Second)
	must(t, os.Chtimes(path, later, later))
	if _, _, err := s.Admit(t.Context(), path, path+"-txid"); !errors.Is(err, sqlitestore.ErrDamaged) {
		t.Errorf("a copy that was written after its mark: %v", err)
	}
	names, err := filepath.Glob(s.Path() + ".standby-*/*")
	must(t, err)
	if len(names) != 4 { // and their marks
		t.Errorf("there are %v", names)
	}
	// The server is brought up to date while it is followed.
	_, err = w.file.WriteAt(newer[60:64], 60)
	must(t, err)
	w.marked()
	if _, err := s.Beat(t.Context()); app.CodeOf(err) != app.CodeUnavailable || !strings.Contains(err.Error(), "another version of baoco") {
		t.Errorf("of a newer schema: %v", err)
	}
}

// Hundreds of copies, one after another, leave no open file behind.
func TestStandbyLeavesNoFiles(t *testing.T) {
	data := beats(t, 1)[0]
	s, err := sqlitestore.OpenStandby(filepath.Join(t.TempDir(), "baoco.db"), "no key", slog.New(slog.DiscardHandler))
	must(t, err)
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(list)
	}
	before := count()
	for range 100 {
		path := restoreCopy(t, s, data)
		_, _, err := s.Admit(t.Context(), path, path+"-txid")
		must(t, err)
		s.Show(path, path+"-txid")
		must(t, s.RemoveOthers())
		if got := sequence(t, s); got != 1 {
			t.Fatal(got)
		}
	}
	if after := count(); after > before+2 {
		t.Errorf("%d open files, and %d before", after, before)
	}
	must(t, s.Close())
	if names, _ := filepath.Glob(s.Path() + ".standby-*"); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}
