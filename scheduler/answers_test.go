package scheduler_test

import (
	"context"
	"net/http"
	"runtime/debug"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/scheduler/courier"
)

const (
	okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	noAnswer = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno"
)

// startSecondAnswers starts a receiver that says more than it was asked. To /good it sends
// what is said, and a 200 more as soon as another request comes over the same connection;
// to anything else it answers 500.
func startSecondAnswers(t *testing.T, scheme, said string) (*keeper, *courier.Sender) {
	return startKeeper(t, scheme, func(request int, r *http.Request) string {
		switch {
		case r.URL.Path == "/good":
			return said
		case request > 1:
			return okAnswer + noAnswer
		}
		return noAnswer
	})
}

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
			bothSchemes(t, func(t *testing.T, scheme string) {
				const rounds = 20
				k, sender := startSecondAnswers(t, scheme, c.answer+c.more)
				for round := range rounds {
					good := sender.Send(t.Context(), outgoing(k.url+"/good"))
					if !good.OK() {
						t.Fatalf("round %d: %d, %q (%s); want 200", round, good.StatusCode, good.Error, good.Detail)
					}
					another := outgoing(k.url + "/bad")
					another.WebhookID, another.AccountID = 2, 2
					for _, o := range []delivery.Outgoing{another, outgoing(k.url + "/bad")} {
						if bad := sender.Send(t.Context(), o); bad.StatusCode != 500 || bad.OK() {
							t.Fatalf("round %d, webhook %d: %d, ok %v; its receiver answers 500", round, o.WebhookID, bad.StatusCode, bad.OK())
						}
					}
				}
				want := int64(3 * rounds)
				if c.more == "" { // the connection to /good is kept
					want = 2*rounds + 1
				}
				if n := k.accepted.Load(); n != want {
					t.Errorf("%d attempts were made over %d connections, want %d", 3*rounds, n, want)
				}
				eventually(t, "every connection that isn't kept ends with its attempt", func() bool { return k.ended.Load() >= 2*rounds })
			})
		})
	}
}

// Nor does the next attempt of the same webhook take an answer too many: http.Transport
// took one in some thousands.
func TestAnswerTooMany(t *testing.T) {
	t.Parallel()
	bothSchemes(t, func(t *testing.T, scheme string) {
		const empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
		filled := empty + "X: " + strings.Repeat("x", 4096-len(empty)-7) + "\r\n\r\n" // a reader's buffer: what follows stays in that of TLS
		for _, answer := range []string{okAnswer, empty + "\r\n", filled} {
			k, sender := startKeeper(t, scheme, nil)
			k.answer = func(int, *http.Request) string {
				if k.requests.Load()%2 == 1 {
					return answer + okAnswer
				}
				return noAnswer
			}
			for round := range apptest.Rounds(100, 2_000) {
				for _, want := range []int{200, 500} {
					if r := sender.Send(t.Context(), outgoing(k.url)); r.StatusCode != want {
						t.Fatalf("round %d: %d, want %d", round, r.StatusCode, want)
					}
				}
			}
		}
	})
}

// What is recorded is what the receiver of each webhook answered.
func TestSecondAnswersAreRecordedForNobody(t *testing.T) {
	t.Parallel()
	k, _ := startSecondAnswers(t, "http", okAnswer)
	s := open(t, newFile(t), nil)
	good, bad := s.webhook(t, "http://"+k.address+"/good"), s.webhook(t, "http://"+k.address+"/bad")
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
	for name, answer := range map[string]string{"a refusal": noAnswer,
		"its last answer": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "no HTTP": "hello\r\n\r\n"} {
		for _, scheme := range schemes {
			k, sender := startSecondAnswers(t, scheme, answer)
			const attempts = 20
			for range attempts {
				sender.Send(t.Context(), outgoing(k.url+"/good"))
			}
			eventually(t, "every connection ends after "+name, func() bool { return k.ended.Load() == attempts })
		}
	}
}
