package nats_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/stream"
	"baoco/scheduler/broker"
	"baoco/scheduler/broker/brokertest"
	"baoco/scheduler/broker/nats"
)

const natsHello = `INFO {"headers":true,"max_payload":1048576}` + "\r\nPONG\r\n"

// FuzzNATS publishes to a server that says anything.
func FuzzNATS(f *testing.F) {
	for _, seed := range []string{
		"", "PING\r\n", "INFO {}\r\nPONG\r\n", "INFO [\r\n", "-ERR 'no'\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
		natsHello + "MSG @0 1 25\r\n" + `{"stream":"S", "seq": 1 }` + "\r\nMSG @1 1 23\r\n" + `{"stream":"S", "seq":2}` + "\r\nMSG @2 1 23\r\n" +
			`{"stream":"S", "seq":3}` + "\r\n",
		natsHello + "MSG @0 1 0\r\n\r\nMSG @1 1 43\r\n" + `{"stream":"S","seq":2,"batch":"x","count":3}` + "\r\n",
		natsHello + "HMSG @0 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n",
		natsHello + "MSG @0 1 99999999999999999999\r\n", natsHello + "MSG @0 1 9223372036854775807\r\n", natsHello + "MSG @0 1 -1\r\n",
		natsHello + "HMSG @0 1 16 2\r\n", natsHello + "HMSG @0 1 -5 2\r\nab\r\n", natsHello + "HMSG @0 1 16 2\r\nab\r\n", natsHello + "MSG\r\n",
		natsHello + "HMSG a\r\n",
		natsHello + "MSG @0 1 2\r\nabcd\r\n", natsHello + "MSG @7 1 2\r\n{}\r\n", natsHello + "MSG @0 1 2\r\n{}\r\nMSG @1 1 4\r\nnull\r\n",
		natsHello + "MSG other 1 2\r\n{}\r\n", natsHello + "-ERR 'Authorization Violation'\r\n",
		natsHello + strings.Repeat("PING\r\n", 50) + strings.Repeat("x", 70_000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, says []byte) {
		s := &brokertest.Scripted{Says: says}
		p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments"}, s.Dial, &tls.Config{})
		kept, err := p.Publish(t.Context(), brokertest.Messages(1, 3, 1))
		if kept > bytes.Count(says, []byte("seq")) || (kept == 3) != (err == nil) {
			t.Errorf("kept %d, %v", kept, err)
		}
	})
}

// msg is what a server of NATS sends to a reply subject.
func msg(number int, body string) string {
	return fmt.Sprintf("MSG @%d 1 %d\r\n%s\r\n", number, len(body), body)
}

const (
	natsKeeps = `{"stream":"S","seq":7}`
	natsFull  = `{"stream":"S","error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}`
	noBatches = `{"stream":"S","error":{"code":400,"err_code":10174,"description":"atomic publish is disabled"}}`
)

// natsBatch is the acknowledgement of a batch with so many messages.
func natsBatch(count int) string {
	return fmt.Sprintf(`{"stream":"S","seq":7,"batch":"%s","count":%d}`, brokertest.BatchID, count)
}

// Only what is certainly an acknowledgement counts as one. Of one bank account only one
// message is on its way.
func TestNATSAnswers(t *testing.T) {
	for _, c := range []struct {
		name, says   string
		kept, asked  int
		count, banks int
	}{
		{"kept", msg(0, natsKeeps), 1, 1, 1, 1},
		{"no stream", msg(0, `{"seq":7}`), 0, 1, 1, 1},
		{"no number", msg(0, `{"stream":"S"}`), 0, 1, 1, 1},
		{"an older answer", msg(7, natsKeeps), 0, 1, 1, 1},
		{"another subject", strings.Replace(msg(0, natsKeeps), "@", "other.", 1), 0, 1, 1, 1},
		{"a subject that is a number", strings.Replace(msg(0, natsKeeps), "@", "", 1), 0, 1, 1, 1},
		{"longer than it says", strings.Replace(msg(0, natsKeeps), "}", "} ", 1), 0, 1, 1, 1},
		{"part of a batch where none was begun", msg(0, ""), 0, 1, 1, 1},
		{"batch without its id", msg(0, "") + msg(1, natsKeeps), 0, 4, 3, 1},
		{"batch with another id", msg(0, "") + msg(1, `{"stream":"S","seq":7,"batch":"x","count":3}`), 0, 4, 3, 1},
		{"batch with fewer", msg(0, "") + msg(1, natsBatch(2)), 0, 4, 3, 1},
		{"batch", msg(0, "") + msg(1, natsBatch(3)), 3, 3, 3, 1},
		{"no batches", msg(0, noBatches) + msg(1, natsKeeps) + msg(2, natsKeeps) + msg(3, natsKeeps), 3, 4, 3, 1},
		{"an answer twice", msg(0, noBatches) + msg(0, natsKeeps) + msg(1, natsKeeps) + msg(1, natsKeeps), 1, 3, 3, 1},
		{"an answer twice instead of another", msg(0, noBatches) + msg(1, natsKeeps) + msg(1, natsKeeps), 1, 3, 2, 2},
		{"the first is lost", msg(0, noBatches) + msg(2, natsKeeps), 0, 2, 3, 1},
		{"the second is refused", msg(0, noBatches) + msg(2, natsFull) + msg(1, natsKeeps), 1, 3, 6, 2},
		{"the first is refused", msg(0, noBatches) + msg(1, natsFull) + msg(2, natsKeeps), 0, 3, 6, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &brokertest.Scripted{Says: []byte(natsHello + c.says)}
			p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments"}, s.Dial, &tls.Config{})
			kept, err := p.Publish(t.Context(), brokertest.Messages(1, c.count, c.banks))
			if kept != c.kept || (kept == c.count) != (err == nil) {
				t.Errorf("kept %d, %v", kept, err)
			}
			if asked := strings.Count(s.Heard.String(), "HPUB shop.payments "); asked != c.asked {
				t.Errorf("asked %d times: %.3000s", asked, s.Heard.String())
			}
		})
	}
}

// What is kept isn't sent again, not in a batch either, because a message before it was
// refused.
func TestNATSKeptIsNotSentAgain(t *testing.T) {
	says := []string{
		msg(0, noBatches) + msg(1, natsFull) + msg(2, natsKeeps),  // 1 and 2
		msg(0, natsKeeps) + msg(1, natsKeeps) + msg(2, natsKeeps), // 1, 4 and 3
	}
	var heard []*brokertest.Scripted
	p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments"},
		func(context.Context, string, string) (net.Conn, error) {
			heard = append(heard, &brokertest.Scripted{Says: []byte(natsHello + says[len(heard)])})
			return heard[len(heard)-1], nil
		}, &tls.Config{})
	sent := brokertest.Messages(1, 4, 2)
	if kept, err := p.Publish(t.Context(), sent); kept != 0 || err == nil {
		t.Errorf("first kept %d, %v", kept, err)
	}
	if kept, err := p.Publish(t.Context(), sent); kept != 4 || err != nil || strings.Contains(heard[1].Heard.String(), "mark_2\r\n") {
		t.Errorf("then kept %d, %v, of\n%s", kept, err, heard[1].Heard.String())
	}
}

// A host that doesn't answer takes its share of the time, and not that of the others.
func TestNATSHostHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"a.shop.vn:4222", "b.shop.vn:4222"}, Topic: "shop.payments"},
			func(ctx context.Context, _, address string) (net.Conn, error) {
				if address == "a.shop.vn:4222" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return &brokertest.Scripted{Says: []byte(natsHello + msg(0, natsKeeps))}, nil
			}, &tls.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), stream.Timeout)
		defer cancel()
		if kept, err := p.Publish(ctx, brokertest.Messages(1, 1, 1)); kept != 1 || err != nil {
			t.Errorf("kept %d, %v", kept, err)
		}
	})
}

// A server that doesn't answer takes MaxSilence, and not longer than its caller waits.
func TestNATSSilentServer(t *testing.T) {
	for _, c := range []struct {
		says   string
		caller time.Duration
		took   time.Duration
		want   string
	}{
		{natsHello, stream.Timeout, broker.MaxSilence, broker.ErrSilent.Error()},
		{natsHello, time.Second, time.Second, context.DeadlineExceeded.Error()},
		{"", time.Second, time.Second, context.DeadlineExceeded.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments"},
				func(context.Context, string, string) (net.Conn, error) {
					conn, server := net.Pipe()
					go func() {
						fmt.Fprint(server, c.says)
						_, _ = io.Copy(io.Discard, server)
					}()
					return conn, nil
				}, &tls.Config{})
			ctx, cancel := context.WithTimeout(t.Context(), c.caller)
			defer cancel()
			began := time.Now()
			kept, err := p.Publish(ctx, brokertest.Messages(1, 3, 1))
			if took := time.Since(began); kept != 0 || fmt.Sprint(err) != c.want || took != c.took {
				t.Errorf("%q: kept %d, %v, after %v", c.says, kept, err, took)
			}
		})
	}
}

// A connection that was unused for half a minute may be forgotten on its way: another one
// is opened.
func TestNATSIdleConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialed := 0
		p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments"},
			func(context.Context, string, string) (net.Conn, error) {
				dialed++
				return &brokertest.Scripted{Says: []byte(natsHello + msg(0, natsKeeps) + msg(1, natsKeeps) + msg(2, natsKeeps))}, nil
			}, &tls.Config{})
		for i, want := range []int{1, 1, 2} {
			if kept, err := p.Publish(t.Context(), brokertest.Messages(i+1, 1, 1)); kept != 1 || err != nil || dialed != want {
				t.Errorf("message %d: kept %d, %v, after %d connections instead of %d", i+1, kept, err, dialed, want)
			}
			time.Sleep(time.Duration(29+2*i) * time.Second)
		}
	})
}

// A password of a broker with TLS is never sent without it.
func TestNATSPasswordNeedsTLS(t *testing.T) {
	for says, want := range map[string]string{
		natsHello: "has no TLS",
		`INFO {"headers":true,"tls_available":true}` + "\r\nPONG\r\n": "No TLS connection",
		`INFO {"headers":true,"tls_required":true}` + "\r\nPING\r\n":  "No TLS connection",
	} {
		s := &brokertest.Scripted{Says: []byte(says)}
		p := nats.Open(stream.Broker{Kind: stream.NATS, TLS: true, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments", Username: "shop",
			Password: "s3cret"}, s.Dial, &tls.Config{})
		kept, err := p.Publish(t.Context(), brokertest.Messages(1, 1, 1))
		brokertest.RefusedAs(t, stream.Broker{Password: "s3cret"}, kept, err, want)
		if heard := s.Heard.String(); strings.Contains(heard, "CONNECT") || strings.Contains(heard, "s3cret") {
			t.Errorf("%s: sent %q", says, heard)
		}
		if !s.Closed {
			t.Errorf("%s: the connection is still open", says)
		}
	}
}

// Servers that a server names are not connected to: the shop names those.
func TestNATSGoesWhereTheShopSays(t *testing.T) {
	var dialed []string
	p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"a.shop.vn:4222", "b.shop.vn:4222"}, Topic: "shop.payments"},
		func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = append(dialed, address)
			return &brokertest.Scripted{Says: []byte(`INFO {"headers":true,"connect_urls":["169.254.169.254:80"],"ldm":true}` + "\r\nPONG\r\n")}, nil
		}, &tls.Config{})
	for range 3 {
		if kept, err := p.Publish(t.Context(), brokertest.Messages(1, 1, 1)); kept != 0 || err == nil {
			t.Errorf("kept %d, %v", kept, err)
		}
	}
	if got := strings.Join(dialed, " "); got != "a.shop.vn:4222 b.shop.vn:4222 a.shop.vn:4222" {
		t.Errorf("dialed %s", got)
	}
}

// A server that repeats the password can't bring it into an error.
func TestPasswordsAreNotQuoted(t *testing.T) {
	s := &brokertest.Scripted{Says: []byte(`INFO {"headers":true}` + "\r\n-ERR 's3cret-s3cret, says shop'\r\n")}
	p := nats.Open(stream.Broker{Kind: stream.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments", Username: "shop",
		Password: "s3cret-s3cret"}, s.Dial, &tls.Config{})
	_, err := p.Publish(t.Context(), brokertest.Messages(1, 1, 1))
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "says shop") {
		t.Errorf("%v", err)
	}
}
