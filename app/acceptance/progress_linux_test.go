package acceptance_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"baoco/app"
	"baoco/sqlitestore"
)

// openTerminal opens both ends of a terminal of that many columns.
func openTerminal(t *testing.T, columns uint16) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	ioctl := func(request uintptr, value unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(value)); errno != 0 {
			t.Skipf("no terminals here: %v", errno)
		}
	}
	var unlocked, number int32
	ioctl(syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(syscall.TIOCGPTN, unsafe.Pointer(&number))
	ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&[4]uint16{24, columns}))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	return screen, terminal
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// Progress fits the terminal that it is shown on, although the standard output
// is none; where stderr is no terminal there is nothing of it.
func TestProgressFitsTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, sqlitestore.Create(context.Background(), filepath.Join(dir, "baoco.db"), app.DefaultZone, time.Now()))
	screen, terminal := openTerminal(t, 20)
	cmd := program(dir, "backup", "copy.db")
	cmd.Stderr = terminal
	must(t, cmd.Run())
	must(t, terminal.Close())
	shown, _ := io.ReadAll(screen) // it ends with an error, for the other end is closed
	must(t, screen.Close())
	text := escapes.ReplaceAllString(string(shown), "")
	if !strings.Contains(text, "copying") {
		t.Errorf("no progress: %q", shown)
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if utf8.RuneCountInString(line) >= 20 {
			t.Errorf("too wide: %q", line)
		}
	}
	var errs strings.Builder
	cmd = program(dir, "backup", "again.db")
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil || errs.String() != "" {
		t.Errorf("without a terminal: %v, %q", err, &errs)
	}
}
