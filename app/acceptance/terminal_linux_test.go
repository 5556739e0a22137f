package acceptance_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"baoco/app/apptest"
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

// onTerminal runs a command on a terminal of that many columns and gives what it shows there,
// as lines, none of them wider. Its stdout goes there too where none is given.
func onTerminal(t *testing.T, columns uint16, cmd *exec.Cmd) (shown string, lines []string) {
	t.Helper()
	screen, terminal := openTerminal(t, columns)
	cmd.Stderr = terminal
	if cmd.Stdout == nil {
		cmd.Stdout = terminal
	}
	all := make(chan []byte, 1)
	go func() {
		read, _ := io.ReadAll(screen) // it ends with an error, for the other end is closed
		all <- read
	}()
	must(t, cmd.Run())
	must(t, terminal.Close())
	shown = string(<-all)
	must(t, screen.Close())
	lines = strings.FieldsFunc(escapes.ReplaceAllString(shown, ""), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		if !strings.HasPrefix(line, "\ufeff") && utf8.RuneCountInString(line) > int(columns) { // an export is as it is
			t.Errorf("%q is wider than %d columns: %q", cmd.Args[1:], columns, line)
		}
	}
	return shown, lines
}

// On a terminal serve shows the set-up link itself, unless its log is for programs.
func TestSetUpLinkOnTerminal(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		screen, terminal := openTerminal(t, 120)
		seen := &apptest.Output{}
		cmd := program(t.TempDir(), "serve", "--listen", anyPort, "--log-format", format)
		cmd.Stderr = terminal
		must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = screen.Close() })
		must(t, terminal.Close())
		go func() { _, _ = io.Copy(seen, screen) }()
		found := seen.Await(servingAt, 30*time.Second)
		if found == nil {
			t.Fatalf("serve did not come up:\n%s", seen)
		}
		if link := "http://" + found[1] + "/setup/"; strings.Contains(seen.String(), link) != (format == "text") {
			t.Errorf("%s: the link %s…:\n%s", format, link, seen)
		}
	}
}

// Progress fits the terminal that it is shown on, although the standard output
// is none; where stderr is no terminal, or JSON goes to a program, there is nothing of it.
func TestProgressFitsTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apptest.NewFileAt(t, filepath.Join(dir, "baoco.db"))
	cmd := program(dir, "backup", "copy.db")
	cmd.Stdout = io.Discard
	shown, lines := onTerminal(t, 20, cmd)
	if !strings.Contains(shown, "copying") {
		t.Errorf("no progress: %q", shown)
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) >= 20 {
			t.Errorf("too wide: %q", line)
		}
	}
	// What is exported to the same terminal isn't mixed with it.
	shown, _ = onTerminal(t, 60, program(dir, "transaction", "export"))
	if !strings.Contains(shown, "exporting\x1b[K\r\x1b[K\ufeffbaoco id,") {
		t.Errorf("export: %q", shown)
	}
	cmd = program(dir, "backup", "json.db", "-o", "json")
	cmd.Stdout = io.Discard
	if shown, _ := onTerminal(t, 80, cmd); shown != "" {
		t.Errorf("beside JSON for a program: %q", shown)
	}
	var errs strings.Builder
	cmd = program(dir, "backup", "again.db")
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil || errs.String() != "" {
		t.Errorf("without a terminal: %v, %q", err, &errs)
	}
}

// Tables and help fit the terminal: numbers and, where there is room, words stay whole, and no
// line ends with blanks. Elsewhere they are as wide as their text.
func TestTablesAndHelpFitTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apptest.NewFileAt(t, filepath.Join(dir, "baoco.db"))
	do(t, dir, "bank", "link", "--bank", "VCB", "--number", "0071001234567", "--name", "CONG TY TNHH HOA SUA")
	const number = "FT26326123456789"
	do(t, dir, "transaction", "add", "--amount", "12345678", "--transaction-number", number, "--date", "2026-11-22 08:30:00",
		"--content", "NGUYEN THI MINH KHAI chuyen tien DH1042")
	for _, columns := range []uint16{50, 80, 120} {
		shown, lines := onTerminal(t, columns, program(dir, "transaction", "list"))
		for _, whole := range []string{"12.345.678", "2026-11-22", "08:30:00", "0071001234567", number} {
			if !strings.Contains(shown, whole) && (columns >= 80 || whole == "12.345.678") {
				t.Errorf("%d columns: no %s in\n%s", columns, whole, shown)
			}
		}
		if _, words := onTerminal(t, columns, program(dir)); len(words) < 7 {
			t.Errorf("baoco alone: %q", words)
		}
		for _, line := range lines {
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%d columns: blanks at the end of %q", columns, line)
			}
		}
	}
	if _, lines := onTerminal(t, 80, program(dir, "help")); len(lines) < 40 {
		t.Errorf("help: %q", lines)
	}
	if list := strings.Split(do(t, dir, "transaction", "list"), "\n"); len(list) != 4 || !strings.HasSuffix(list[1], number+"  ") {
		t.Errorf("without a terminal: %q", list)
	}
}
