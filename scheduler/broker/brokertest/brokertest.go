// Package brokertest has what the tests of the kinds of brokers have in common.
package brokertest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app/delivery"
	"baoco/app/stream"
)

// Messages are count messages, of so many bank accounts in turn. They are numbered from
// first on.
func Messages(first, count, accounts int) []stream.Message {
	list := make([]stream.Message, count)
	for i := range list {
		number := strconv.Itoa(first + i)
		list[i] = stream.Message{
			ID: "mark_" + number, BankAccount: "ACB:" + strconv.Itoa((first+i)%accounts),
			Headers: []delivery.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Webhook-Id", Value: "mark_" + number}},
			Body:    []byte(`{"number":` + number + `,"padding":"` + strings.Repeat("x", 600) + `"}`),
		}
	}
	return list
}

// RefusedAs checks that nothing was kept, that people are told why in both languages,
// and that the password isn't among it.
func RefusedAs(t *testing.T, b stream.Broker, kept int, err error, want string) {
	t.Helper()
	var problem *stream.BrokerError
	switch {
	case kept != 0 || !errors.As(err, &problem) || !strings.Contains(problem.Text.EN, want):
		t.Errorf("kept %d, %v; want an error about %q", kept, err, want)
	case problem.Text.VI == "" || problem.Text.VI == problem.Text.EN:
		t.Errorf("no Vietnamese: %v", problem.Text)
	}
	if b.Password != "" && strings.Contains(fmt.Sprint(err), b.Password) {
		t.Errorf("the password is in %v", err)
	}
}

// Certificate is one for 127.0.0.1, and what trusts it.
func Certificate(t *testing.T) (tls.Certificate, *tls.Config) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server.TLS.Certificates[0], &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// InOrder checks that messages 1 to count are there, each for the first time after the
// one before of its bank account, and returns how many are repeats.
func InOrder(t testing.TB, found map[int][]int, accounts, count int) (repeats int) {
	t.Helper()
	total := 0
	for account, numbers := range found {
		last := account
		if account > 0 {
			last -= accounts
		}
		for _, number := range numbers {
			switch {
			case number <= last:
				repeats++
			case number == last+accounts:
				last = number
				total++
			default:
				t.Fatalf("bank account %d: %d came after %d", account, number, last)
			}
		}
	}
	if total != count {
		t.Errorf("%d of %d messages are there", total, count)
	}
	return repeats
}

// PublishAll publishes messages 1 to count in pieces as a stream does, and tries again
// until they are kept. Each time it calls before first, with the number of messages that
// are kept.
func PublishAll(t testing.TB, p stream.Publisher, count, accounts int, before func(kept int)) (errors []error) {
	t.Helper()
	progress := time.Now()
	for sent := Messages(1, count, accounts); len(sent) > 0; {
		before(count - len(sent))
		ctx, cancel := context.WithTimeout(t.Context(), stream.Timeout)
		kept, err := p.Publish(ctx, sent[:min(len(sent), stream.MaxBatch)])
		cancel()
		sent = sent[kept:]
		if kept > 0 {
			progress = time.Now()
		}
		if err == nil {
			continue
		}
		errors = append(errors, err)
		if time.Since(progress) > 2*time.Minute {
			t.Fatalf("gave up: %v", err)
		}
		time.Sleep(20 * time.Millisecond) // a stream waits longer before it tries again
	}
	return errors
}

// Scripted is a connection to a broker that says what it says whatever it hears. In
// what a server of NATS says, @ stands for the inbox of its client, and BatchID for the
// id of the batch that it hears.
type Scripted struct {
	Says   []byte
	Heard  strings.Builder
	Closed bool
}

// BatchID is as long as the id of a batch.
const BatchID = "(the id of the batch here)"

var (
	inbox = regexp.MustCompile(`SUB (_INBOX\.\w+\.)\* 1`)
	batch = regexp.MustCompile(`Nats-Batch-Id: (\w+)`)
)

func (s *Scripted) Read(b []byte) (int, error) {
	if len(s.Says) == 0 {
		return 0, io.EOF
	}
	// Line by line: what follows may depend on what it will hear.
	line := len(s.Says)
	if end := bytes.IndexByte(s.Says, '\n'); end >= 0 {
		line = end + 1
	}
	n := copy(b, s.Says[:line])
	s.Says = s.Says[n:]
	return n, nil
}

func (s *Scripted) Write(b []byte) (int, error) {
	if found := inbox.FindSubmatch(b); found != nil {
		s.Says = bytes.ReplaceAll(s.Says, []byte("@"), found[1])
	}
	if found := batch.FindSubmatch(b); found != nil {
		s.Says = bytes.ReplaceAll(s.Says, []byte(BatchID), found[1])
	}
	return s.Heard.Write(b)
}

func (s *Scripted) Close() error                     { s.Closed = true; return nil }
func (s *Scripted) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *Scripted) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *Scripted) SetDeadline(time.Time) error      { return nil }
func (s *Scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *Scripted) SetWriteDeadline(time.Time) error { return nil }

// Dial returns s for every address.
func (s *Scripted) Dial(context.Context, string, string) (net.Conn, error) { return s, nil }
