package dashboard_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// TestReceiverCode runs the code that the page of a webhook shows, in both
// languages of the page, and sends it what is the service's and what isn't.
func TestReceiverCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, program, file, args string
	}{
		{"php", "php", "receiver.php", "-S 127.0.0.1:PORT receiver.php"},
		{"node", "node", "receiver.mjs", "receiver.mjs"},
		{"python", "python3", "receiver.py", "receiver.py"},
		{"go", "go", "receiver.go", ""}, // built first
	} {
		for _, lang := range []string{"en", "vi"} {
			t.Run(c.id+" "+lang, func(t *testing.T) {
				t.Parallel()
				program, err := exec.LookPath(c.program)
				if err != nil {
					t.Skipf("%s is not installed: its receiver was not run", c.program)
				}
				w := webtest.NewWorld(t)
				w.User(1, "lan", access.RoleOwner)
				w.Link("ACB", "1234567")
				port := freePort(t)
				base := "http://127.0.0.1:" + port
				// A path with all that could end a string or a comment.
				hook, secret := w.Webhook(base+"/b%C3%A1o-c%C3%B3/a'*/$%7Bx%7D%22%3F%3E", delivery.WebhookIn)
				b := w.Browser().SignIn("lan")
				b.Header.Set("Accept-Language", lang)
				dir := t.TempDir()
				code := codeShown(t, b.Get(fmt.Sprintf("/webhooks/%d", hook.ID)), c.id)
				apptest.Must(t, os.WriteFile(filepath.Join(dir, c.file), []byte(code), 0o600))
				if c.id == "go" {
					build := exec.Command(program, "build", "-o", "receiver", c.file)
					build.Dir = dir
					if out, err := build.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					program = filepath.Join(dir, "receiver")
				}
				args := strings.Fields(strings.Replace(c.args, "PORT", port, 1))
				receiver := exec.Command(program, args...)
				receiver.Dir, receiver.Env = dir, append(os.Environ(), "BAOCO_SECRET="+secret, "PORT="+port)
				printed := runReceiver(t, receiver, port)

				if a, err := w.Services.Deliveries.TestWebhook(t.Context(), 1, hook.ID, time.Now()); err != nil || !a.Result.OK() {
					t.Errorf("a test: %+v %v", a.Result, err)
				}
				content := `Đơn hàng "12" <b>\ ` + lang
				_, _, err = w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
					EventID: "1", Gateway: "ACB", AccountNumber: "1234567", Type: app.In, Amount: 1549000, Content: content,
				}}, time.Now())
				apptest.Must(t, err)
				apptest.Must(t, w.WaitHistory(2))
				list, _, err := w.Services.Deliveries.History(t.Context(), 1, delivery.HistoryFilter{Page: app.Page{Number: 1, Size: 10}})
				apptest.Must(t, err)
				if !list[0].Result.OK() {
					t.Errorf("a delivery: %+v %s", list[0].Result, list[0].Result.Body)
				}
				printed.Await(regexp.MustCompile("paid .*\n"), time.Minute)
				if out := printed.String(); strings.Count(out, "paid ") != 1 || !strings.Contains(out, "paid 1: 1549000 VND, "+content) {
					t.Errorf("it printed:\n%s", out)
				}
				_, err = w.Services.Deliveries.RotateSecret(t.Context(), 1, hook.ID, delivery.SecretRotate{}, time.Now())
				apptest.Must(t, err)
				if a, err := w.Services.Deliveries.TestWebhook(t.Context(), 1, hook.ID, time.Now()); err != nil ||
					a.Result.StatusCode != http.StatusUnauthorized {
					t.Errorf("under another secret: %+v %v", a.Result, err)
				}
			})
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	apptest.Must(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	apptest.Must(t, err)
	return port
}

// runReceiver starts a receiver and waits until it listens.
func runReceiver(t *testing.T, command *exec.Cmd, port string) *apptest.Output {
	t.Helper()
	printed := &apptest.Output{}
	command.Stdout, command.Stderr = printed, printed
	apptest.Must(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s printed:\n%s", command.Path, printed)
		}
	})
	apptest.Eventually(t, command.Path+" listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return printed
}
