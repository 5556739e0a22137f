//go:build unix

package scheduler_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"baoco/app/delivery"
)

const withoutFilesEnv = "BAOCO_TEST_WITHOUT_FILES"

// With no file left, neither a look-up nor a connection is an attempt; with one
// they are again. The limit is that of a process, so the test runs in one of
// its own.
func TestNoFilesLeft(t *testing.T) {
	if os.Getenv(withoutFilesEnv) == "" {
		t.Parallel()
		child := exec.Command(os.Args[0], "-test.run=^TestNoFilesLeft$", "-test.v")
		child.Env = append(os.Environ(), withoutFilesEnv+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	// A connection that waits to be used again is a file that is closed half a minute later.
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }))
	defer receiver.Close()
	names := startNameServer(t)
	names.set("shop.example.vn", "127.0.0.1")
	_, port, err := net.SplitHostPort(receiver.Listener.Addr().String())
	must(t, err)
	sender := senderByName(t, names, "127.0.0.1/32")
	urls := map[string]string{"by address": receiver.URL, "by name": "http://shop.example.vn:" + port}
	attempt := func(when string, class delivery.ErrorClass, cause delivery.Cause) {
		t.Helper()
		for how, url := range urls {
			if r := sender.Send(t.Context(), outgoing(url)); r.Error != class || r.Detail.Cause != cause || r.Detail.Text != "" {
				t.Errorf("%s, %s: %q (%s), want %q (%s)", when, how, r.Error, r.Detail, class, cause)
			}
		}
	}
	openFiles := func() int {
		list, err := os.ReadDir("/dev/fd")
		must(t, err)
		return len(list)
	}
	before := openFiles()
	attempt("with files", delivery.ErrorNone, "")
	// A file that is closed only after the limit is set would be one left.
	eventually(t, "the connections are closed", func() bool { return openFiles() == before })

	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}))
	var taken []*os.File
	for {
		file, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, file)
	}
	attempt("without files", delivery.ErrorShortage, delivery.CauseFiles)
	for _, file := range taken {
		file.Close()
	}
	attempt("with files again", delivery.ErrorNone, "")
}
