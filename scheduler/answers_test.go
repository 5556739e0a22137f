package scheduler_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"baoco/app"
	"baoco/app/delivery"
)

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// secondAnswers is a receiver that says more than it was asked. To /good it
// sends an answer, and what follows it, at once and again as soon as another
// request comes over the same connection; to anything else it answers 500.
type secondAnswers struct {
	net.Listener
	answer, more string
	accepted     atomic.Int64
	ended        atomic.Int64 // connections that baoco closed
}

func startSecondAnswers(t *testing.T, answer, more string) *secondAnswers {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &secondAnswers{Listener: l, answer: answer, more: more}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.accepted.Add(1)
			go r.serve(conn)
		}
	}()
	return r
}

func (r *secondAnswers) serve(conn net.Conn) {
	defer r.ended.Add(1)
	defer conn.Close()
	in, late := bufio.NewReader(conn), ""
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		said := late + "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno"
		if request.URL.Path == "/good" {
			said, late = r.answer+r.more, okAnswer
		}
		if _, err := io.WriteString(conn, said); err != nil {
			return
		}
	}
}

func (r *secondAnswers) url(path string) string { return "http://" + r.Addr().String() + path }

// An attempt takes nothing for its answer that was sent for another attempt,
// of another webhook at the same host or of its own, whatever the receiver
// writes behind its answers and whenever.
func TestSecondAnswers(t *testing.T) {
	t.Parallel()
	const continued = "HTTP/1.1 100 Continue\r\n\r\n"
	for _, c := range []struct{ name, answer, more string }{
		{"one answer, the second late", okAnswer, ""},
		{"two at once", okAnswer, okAnswer},
		{"a length that is too short", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", okAnswer},
		{"no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
		{"chunks, and an answer behind the last", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", okAnswer},
		{"after 100 Continue", continued + okAnswer, continued + okAnswer},
		{"after many 1xx", strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 4) + okAnswer, strings.Repeat(continued, 100) + okAnswer},
		{"the connection is to be kept", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", okAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rounds = 20
			r, sender := startSecondAnswers(t, c.answer, c.more), senderAllowing(t, "127.0.0.1/32")
			for round := range rounds {
				good := sender.Send(t.Context(), outgoing(r.url("/good")))
				if !good.OK() {
					t.Fatalf("round %d: %d, %q (%s); want 200", round, good.StatusCode, good.Error, good.Detail)
				}
				another := outgoing(r.url("/bad"))
				another.WebhookID, another.AccountID = 2, 2
				for _, o := range []delivery.Outgoing{another, outgoing(r.url("/bad"))} {
					if bad := sender.Send(t.Context(), o); bad.StatusCode != 500 || bad.OK() {
						t.Fatalf("round %d, webhook %d: %d, ok %v; its receiver answers 500", round, o.WebhookID, bad.StatusCode, bad.OK())
					}
				}
			}
			want := int64(3 * rounds)
			if c.more == "" { // the connection to /good is kept
				want = 2*rounds + 1
			}
			if n := r.accepted.Load(); n != want {
				t.Errorf("%d attempts were made over %d connections, want %d", 3*rounds, n, want)
			}
			eventually(t, "every connection that isn't kept ends with its attempt", func() bool { return r.ended.Load() >= 2*rounds })
		})
	}
}

// What is recorded is what the receiver of each webhook answered.
func TestSecondAnswersAreRecordedForNobody(t *testing.T) {
	t.Parallel()
	r := startSecondAnswers(t, okAnswer, "")
	s := open(t, newFile(t), nil)
	good, bad := s.webhook(t, r.url("/good")), s.webhook(t, r.url("/bad"))
	s.start(t)
	const transactions = 25
	for i := range transactions {
		s.Record("FT" + string(rune('A'+i)))
	}
	attempts := func(webhook delivery.Webhook, ok bool) int64 {
		_, n, err := s.Services.Deliveries.History(context.Background(), 1,
			delivery.HistoryFilter{WebhookID: webhook.ID, OK: &ok, Page: app.Page{Number: 1, Size: 1}})
		must(t, err)
		return n
	}
	s.Until("everything is attempted once", func() bool {
		return attempts(good, true) == transactions && attempts(bad, false) == transactions
	})
	if n := attempts(bad, true); n > 0 {
		t.Errorf("%d deliveries that their receiver answered with 500 are delivered", n)
	}
	s.close(t)
}

// An attempt ends a connection that isn't kept itself: nothing is left to the
// collection of garbage, which may come late.
func TestConnectionsEnd(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, answer := range map[string]string{"a refusal": "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno",
		"its last answer": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "no HTTP": "hello\r\n\r\n"} {
		r, sender := startSecondAnswers(t, answer, ""), senderAllowing(t, "127.0.0.1/32")
		const attempts = 20
		for range attempts {
			sender.Send(t.Context(), outgoing(r.url("/good")))
		}
		eventually(t, "every connection ends after "+name, func() bool { return r.ended.Load() == attempts })
	}
}
