package scheduler_test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// sampleReceivers are the programs of testdata/receivers that a shop copies,
// with the command that runs each on a free port.
var sampleReceivers = []struct {
	name        string
	interpreter string
	source      string
	args        []string
}{
	{"php", "php", "receiver.php", []string{"-S", "127.0.0.1:0", "../testdata/receivers/receiver.php"}},
	{"node", "node", "receiver.mjs", []string{"../testdata/receivers/receiver.mjs"}},
	{"python", "python3", "receiver.py", []string{"../testdata/receivers/receiver.py"}},
	{"go", "go", "go/main.go", nil}, // built first
}

const receiverSecret = "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="

// runningReceiver is a sample receiver's process.
type runningReceiver struct {
	url     string
	command *exec.Cmd
	output  <-chan string // the whole of it, at the end
}

var receiverAddress = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// startReceiver runs a receiver under secret. It is nil where the program ends
// by itself before it listens.
func startReceiver(t *testing.T, program string, args []string, secret string) *runningReceiver {
	t.Helper()
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "BAOCO_SECRET="+secret, "BAOCO_SEEN="+filepath.Join(t.TempDir(), "seen.txt"), "PORT=0")
	reader, writer, err := os.Pipe()
	must(t, err)
	command.Stdout, command.Stderr = writer, writer
	must(t, command.Start())
	must(t, writer.Close())
	limit := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })

	address, output := make(chan string, 1), make(chan string, 1)
	go func() {
		var all strings.Builder
		listening := false
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			fmt.Fprintln(&all, lines.Text())
			if found := receiverAddress.FindString(lines.Text()); found != "" && !listening {
				listening = true
				address <- found
			}
		}
		_ = reader.Close()
		close(address)
		output <- all.String()
	}()
	r := &runningReceiver{url: <-address, command: command, output: output}
	t.Cleanup(func() {
		limit.Stop()
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	if r.url == "" {
		t.Logf("%s ended: %s", program, <-output)
		return nil
	}
	if strings.HasSuffix(r.url, ":0") {
		t.Skipf("this %s does not tell which free port it took", program)
	}
	return r
}

// stop ends the receiver and gives all that it printed.
func (r *runningReceiver) stop() string {
	_ = r.command.Process.Kill()
	return <-r.output
}

// nastyDeliveries are deliveries with every content of testdata/payload, and a
// sample.
func nastyDeliveries(t *testing.T) []delivery.Outgoing {
	t.Helper()
	data, err := os.ReadFile("../testdata/payload/vectors.json")
	must(t, err)
	var vectors []struct {
		Transaction struct {
			ID, Gateway, TransactionDate, TransactionNumber, AccountNumber, Content string
			TransferType                                                            app.Direction
			TransferAmount                                                          int64
			Code                                                                    *string
			PaymentRequest                                                          app.PaymentState `json:"payment_request"`
		}
		Test bool
	}
	must(t, json.Unmarshal(data, &vectors))
	var deliveries []delivery.Outgoing
	for i, v := range vectors {
		p := v.Transaction
		deliveries = append(deliveries, delivery.Outgoing{
			Delivery: delivery.Delivery{ID: int64(i + 1), CreatedAt: time.Unix(1760414370, 0)},
			Secrets:  delivery.Secrets{Current: receiverSecret},
			Payload: delivery.Payload{
				ID: p.ID, Gateway: p.Gateway, TransactionDate: p.TransactionDate, TransactionNumber: p.TransactionNumber,
				AccountNumber: p.AccountNumber, Content: p.Content, TransferType: p.TransferType, TransferAmount: p.TransferAmount,
				PaymentRequest: p.PaymentRequest, Test: v.Test,
			},
		})
		if p.Code != nil {
			deliveries[i].Payload.Code = app.PaymentCode{Text: *p.Code, Read: true}
		}
	}
	return deliveries
}

func TestReceivers(t *testing.T) {
	for _, receiver := range sampleReceivers {
		t.Run(receiver.name, func(t *testing.T) {
			t.Parallel()
			// Go repeats a result from its cache unless a file changed that the
			// test itself looked at.
			if _, err := os.Stat("../testdata/receivers/" + receiver.source); err != nil {
				t.Fatal(err)
			}
			program, err := exec.LookPath(receiver.interpreter)
			if err != nil {
				t.Skipf("%s is not installed: its sample receiver was not run", receiver.interpreter)
			}
			if receiver.name == "go" {
				binary := filepath.Join(t.TempDir(), "receiver")
				if out, err := exec.Command(program, "build", "-o", binary, "../testdata/receivers/go/main.go").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				program = binary
			}
			t.Run("accepts", func(t *testing.T) { receiverAccepts(t, startReceiver(t, program, receiver.args, receiverSecret)) })
			t.Run("refuses", func(t *testing.T) { receiverRefuses(t, startReceiver(t, program, receiver.args, receiverSecret)) })
			t.Run("without a secret", func(t *testing.T) {
				r := startReceiver(t, program, receiver.args, "")
				if r == nil {
					return // it says so and ends
				}
				o := nastyDeliveries(t)[0]
				o.URL, o.Secrets.Current = r.url, ""
				if result := senderAllowing(t, "127.0.0.1/32").Send(t.Context(), o); result.StatusCode < 400 {
					t.Errorf("a receiver that has no secret answers %d: anybody can sign under the empty one", result.StatusCode)
				}
			})
		})
	}
}

// receiverAccepts sends every delivery, and again, some of them at once, and
// finds each transaction credited once.
func receiverAccepts(t *testing.T, r *runningReceiver) {
	if r == nil {
		t.Fatal("the receiver did not start")
	}
	sender := senderAllowing(t, "127.0.0.1/32")
	deliver := func(o delivery.Outgoing) {
		o.URL = r.url + "/hook"
		result := sender.Send(t.Context(), o)
		if !result.OK() {
			t.Errorf("%q: %d %s %s %s", o.Payload.Content, result.StatusCode, result.Error, result.Detail, result.Body)
			return
		}
		var answer struct{ Success bool }
		if err := json.Unmarshal(result.Body, &answer); err != nil || !answer.Success {
			t.Errorf("the answer is %q; want success true", result.Body)
		}
	}
	deliveries := nastyDeliveries(t)
	for range 2 {
		for _, o := range deliveries {
			deliver(o)
		}
	}
	// In the overlap of a rotation the receiver's secret signs.
	rotating := deliveries[0]
	rotating.Secrets = delivery.Secrets{Current: receiverSecret, Next: "whsec_bmV3", OverlapTo: time.Now().Add(time.Hour)}
	deliver(rotating)

	// After a rotation it has another checksum, as it has here by its content.
	resent := deliveries[0]
	resent.Payload.Content += "."
	deliver(resent)

	another := deliveries[0]
	another.Payload.ID = "99999"
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { deliver(another) })
	}
	group.Wait()

	output := r.stop()
	credits := map[string]int{}
	for line := range strings.Lines(output) {
		if _, credit, found := strings.Cut(strings.ReplaceAll(line, `"`, ""), "credit "); found {
			id, _, _ := strings.Cut(credit, ":")
			credits[id]++
		}
	}
	for _, o := range append(deliveries, another) {
		want := 1
		if o.Payload.Test {
			want = 0
		}
		if got := credits[o.Payload.ID]; got != want {
			t.Errorf("transaction %s (%q) was credited %d times, want %d", o.Payload.ID, o.Payload.Content, got, want)
		}
	}
	if t.Failed() {
		t.Logf("the receiver printed:\n%s", output)
	}
}

// receiverRefuses tries what is not the service's.
func receiverRefuses(t *testing.T, r *runningReceiver) {
	if r == nil {
		t.Fatal("the receiver did not start")
	}
	for _, o := range nastyDeliveries(t)[:3] {
		o.URL, o.Secrets.Current = r.url, "whsec_YW5vdGhlcg=="
		result := senderAllowing(t, "127.0.0.1/32").Send(t.Context(), o)
		if result.StatusCode != http.StatusUnauthorized || result.Error != delivery.ErrorHTTPStatus || result.OK() {
			t.Errorf("under another secret: %d %s; want 401", result.StatusCode, result.Error)
		}
	}

	body := nastyDeliveries(t)[0].Payload.Body(receiverSecret)
	signed := digestOf(receiverSecret, body)
	altered := bytes.Replace(body, []byte(`"transferAmount":200000`), []byte(`"transferAmount":900000`), 1)
	if bytes.Equal(altered, body) {
		t.Fatal("nothing is altered")
	}
	for _, test := range []struct {
		name      string
		body      []byte
		signature string
		status    int
	}{
		{"as it is sent", body, signed, 200},
		{"altered body", altered, signed, 401},
		{"a byte more", append(bytes.Clone(body), '\n'), signed, 401},
		{"no signature", body, "", 401},
		{"half a signature", body, signed[:32], 401},
		{"a prefix", body, "sha256=" + signed, 401},
		{"another digit", body, flipDigit(signed), 401},
		{"signed with the empty secret", body, digestOf("", body), 401},
		{"no body", nil, signed, 401},
		{"signed, with the checksum of another transaction", altered, digestOf(receiverSecret, altered), 401},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/hook", bytes.NewReader(test.body))
		must(t, err)
		request.Header.Set("Content-Type", "application/json")
		if test.signature != "" {
			request.Header.Set("X-Webhook-Signature", test.signature)
		}
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		answer, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%s: %d %s; want %d", test.name, response.StatusCode, answer, test.status)
		}
	}
	if output := r.stop(); strings.Count(output, "credit ") != 1 {
		t.Errorf("want one credit; the receiver printed:\n%s", output)
	}
}

func digestOf(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func flipDigit(digest string) string {
	if digest[0] == '0' {
		return "1" + digest[1:]
	}
	return "0" + digest[1:]
}
