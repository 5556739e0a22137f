package acceptance_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// startTail starts baoco transaction tail in dir, and gives its lines as they
// come.
func startTail(t *testing.T, dir string, args ...string) (p *process, lines *bufio.Scanner, out io.Closer) {
	t.Helper()
	p = &process{stderr: &apptest.Output{}}
	p.Cmd = program(dir, append([]string{"transaction", "tail"}, args...)...)
	p.Stderr = p.stderr
	stdout, err := p.StdoutPipe()
	must(t, err)
	must(t, p.Start())
	late := time.AfterFunc(3*time.Minute, func() { _ = p.Process.Kill() })
	t.Cleanup(func() { late.Stop(); _ = p.Process.Kill(); _ = p.Wait() })
	return p, bufio.NewScanner(stdout), stdout
}

func (in installation) add(t *testing.T, amount int, more ...string) {
	t.Helper()
	do(t, in.dir,
		append([]string{"transaction", "add", "--amount", strconv.Itoa(amount), "--content", "DH" + strconv.Itoa(amount)}, more...)...)
}

// Tail prints what other processes record, each once and in order, and says
// what became of the delivery; Ctrl-C ends it in order.
func TestTail(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	in.add(t, 1000)
	serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	eventually(t, "the first is delivered", func() bool { return strings.Contains(do(t, in.dir, "delivery", "list"), " 200 ") })

	p, lines, _ := startTail(t, in.dir, "--limit", "1")
	if !lines.Scan() || !strings.HasSuffix(oneSpace(lines.Text()), " ACB …4957 +1.000 DH1000 delivered") {
		t.Fatalf("%q\n%s", lines.Text(), p.stderr)
	}
	for amount := 1001; amount <= 1005; amount++ {
		in.add(t, amount)
	}
	for amount := 1001; amount <= 1005; amount++ {
		if !lines.Scan() ||
			!strings.HasSuffix(oneSpace(lines.Text()), " ACB …4957 +"+terminal.VND(int64(amount))+" DH"+strconv.Itoa(amount)+" delivered") {
			t.Fatalf("%q, want the one of %d\n%s", lines.Text(), amount, p.stderr)
		}
	}
	must(t, p.Process.Signal(syscall.SIGINT))
	if lines.Scan() {
		t.Errorf("more came: %q", lines.Text())
	}
	if err := p.Wait(); err != nil || p.stderr.String() != "" {
		t.Errorf("after Ctrl-C: %v, %q", err, p.stderr)
	}
}

// A transaction that nobody delivers is printed all the same, within moments;
// a reader that is gone ends the command in order.
func TestTailWithoutServer(t *testing.T) {
	t.Parallel()
	in := install(t, openShop(t))
	in.add(t, 5)
	p, lines, out := startTail(t, in.dir, "--limit", "1", "-o", "json")
	if !lines.Scan() {
		t.Fatalf("nothing came\n%s", p.stderr)
	}
	in.add(t, 1, "--content", "<b>&")
	var one struct {
		ID      string
		Amount  int64
		Content string
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &one) != nil || one.ID != "2" || one.Amount != 1 || one.Content != "<b>&" {
		t.Fatalf("%q\n%s", lines.Text(), p.stderr)
	}
	must(t, out.Close())
	in.add(t, 2)
	if err := p.Wait(); err != nil || p.stderr.String() != "" {
		t.Errorf("without a reader: %v, %q", err, p.stderr)
	}
}
