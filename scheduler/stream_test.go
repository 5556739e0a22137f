package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/app/target"
	"baoco/scheduler"
	"baoco/scheduler/courier"
	"baoco/sqlitestore"
)

// broker keeps what is published to it, as answer says.
type broker struct {
	mu     sync.Mutex
	opened []stream.Broker
	closed int
	at     []time.Time      // of the calls
	kept   []stream.Message // repeats included
	answer func(messages []stream.Message) (kept int, err error)
}

func keepAll(messages []stream.Message) (int, error) { return len(messages), nil }

func (b *broker) open(to stream.Broker) stream.Publisher {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, to)
	return b
}

func (b *broker) Publish(ctx context.Context, messages []stream.Message) (int, error) {
	b.mu.Lock()
	b.at = append(b.at, time.Now())
	answer := b.answer
	b.mu.Unlock()
	if answer == nil { // it hangs
		<-ctx.Done()
		return 0, ctx.Err()
	}
	kept, err := answer(messages)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = append(b.kept, messages[:kept]...)
	return kept, err
}

func (b *broker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
}

func (b *broker) answerBy(f func(messages []stream.Message) (int, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = f
}

// ids are the ids of the transactions of all messages that were kept, after n.
func (b *broker) ids(n int) (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.kept[n:] {
		list = append(list, m.ID[strings.LastIndexByte(m.ID, '_')+1:])
	}
	return list
}

func (b *broker) calls() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.at)
}

// streaming is an installation whose streams go to a broker.
func streaming(t *testing.T, path string, b *broker) *installation {
	t.Helper()
	targets := apptest.Targets(t)
	sender := courier.NewSender(targets, "test", nil)
	s := &installation{World: apptest.Open(t, path, services.Config{Targets: targets, Send: sender.Send, OpenBroker: b.open}), sender: sender,
		log: &apptest.Output{}}
	s.start(t)
	return s
}

func (s *installation) stream(t *testing.T, in stream.Create) stream.Stream {
	t.Helper()
	in.Name, in.URL, in.Topic = "ledger", "nats://nats.shop.vn", "shop.transactions"
	st, secret, err := s.Services.Streams.CreateStream(context.Background(), 1, in, time.Now())
	must(t, err)
	if !delivery.IsSecret(secret) {
		t.Errorf("its secret is %q", secret)
	}
	return st
}

// state is a stream as the file has it.
func (s *installation) state(t *testing.T, id int64) stream.Stream {
	t.Helper()
	st, err := s.Services.Streams.Stream(context.Background(), 1, id)
	must(t, err)
	return st
}

// from are the ids from first to last.
func from(first, last int) (list []string) {
	for i := first; i <= last; i++ {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

func wantIDs(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("the broker has %v, want %v", got, want)
	}
}

// Everything after the position is published in order; what comes in is published at
// once; after a crash what wasn't settled is published again, under the same ids.
func TestStream(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: keepAll}
		s := streaming(t, path, b)
		for i := range 601 {
			s.pay(t, i+1, inbound.Incoming{})
		}
		since := int64(0)
		st := s.stream(t, stream.Create{SinceID: &since, Credentials: stream.BrokerCredentials{Username: "shop", Password: "s3cret"}})
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		wantIDs(t, b.ids(0), from(1, 601))
		if to := b.opened[0]; to.Kind != stream.NATS || !slices.Equal(to.Hosts, []string{"nats.shop.vn:4222"}) ||
			to.Topic != "shop.transactions" || to.Username != "shop" || to.Password != "s3cret" {
			t.Errorf("the broker is %+v", to)
		}
		began := time.Now()
		s.pay(t, 602, inbound.Incoming{Type: app.Out})
		synctest.Wait()
		wantIDs(t, b.ids(601), from(602, 602))
		if took := time.Since(began); took != 0 {
			t.Errorf("it was published after %v", took)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if st = s.state(t, st.ID); st.Position != 602 || st.Sent != 602 || !st.SentAt.Equal(began) || !st.FailingSince.IsZero() {
			t.Errorf("it is %+v", st)
		}

		// A stop settles what was published a moment before.
		s.pay(t, 603, inbound.Incoming{})
		s.pay(t, 604, inbound.Incoming{})
		synctest.Wait()
		s.close(t)
		s = streaming(t, path, b)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(602), from(603, 604))
		s.close(t)
		if b.closed != len(b.opened) {
			t.Errorf("%d of %d publishers were closed", b.closed, len(b.opened))
		}
		if said := s.log.String(); said != "" {
			t.Errorf("of a stream that goes well the log says:\n%s", said)
		}
	})
}

// A broker that is away for ten minutes gets everything afterwards, and is asked every 30
// seconds until then. The file says since when it fails, and why.
func TestStreamBrokerAway(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		refused := &stream.BrokerError{Text: app.Text{EN: "No stream takes it.", VI: "Không có."}}
		b := &broker{answer: func([]stream.Message) (int, error) { return 0, refused }}
		s := streaming(t, path, b)
		st := s.stream(t, stream.Create{})
		began := time.Now()
		s.pay(t, 1, inbound.Incoming{})
		for i := range 600 {
			time.Sleep(time.Second)
			synctest.Wait()
			if i%100 == 0 {
				s.pay(t, 100+i, inbound.Incoming{})
			}
		}
		synctest.Wait()
		var waits []time.Duration
		for i, at := range b.at[1:] {
			waits = append(waits, at.Sub(b.at[i]))
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
			30 * time.Second}; !slices.Equal(waits[:6], want) || waits[len(waits)-1] != 30*time.Second {
			t.Errorf("the waits were %v", waits)
		}
		if st = s.state(t, st.ID); st.Position != 0 || st.Sent != 0 || st.Problem != refused.Text || st.FailingSince.Sub(began) > time.Second {
			t.Errorf("it is %+v", st)
		}
		b.answerBy(nil) // it hangs
		before := b.calls()
		time.Sleep(65 * time.Second)
		synctest.Wait()
		if st = s.state(t, st.ID); b.calls()-before > 3 || !strings.Contains(st.Problem.EN, "within 8 seconds") {
			t.Errorf("in a minute it was asked %d times, and %q", b.calls()-before, st.Problem.EN)
		}
		b.answerBy(func([]stream.Message) (int, error) { panic("of a broker") })
		time.Sleep(45 * time.Second)
		synctest.Wait()
		if st = s.state(t, st.ID); !strings.Contains(st.Problem.EN, "can’t be reached") {
			t.Errorf("of a panic it says %q", st.Problem.EN)
		}
		b.answerBy(keepAll)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(0), from(1, 7))
		if st = s.state(t, st.ID); st.Position != 7 || st.Problem != (app.Text{}) || !st.FailingSince.IsZero() {
			t.Errorf("it is %+v", st)
		}
		if said := s.log.String(); strings.Count(said, "a stream can't be sent") != 1 || strings.Count(said, "the stream is sent again") != 1 {
			t.Errorf("the log says:\n%s", said)
		}
		s.close(t)
	})
}

// What a broker kept before it failed isn't published again.
func TestStreamKeptInPart(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		n := 0
		b := &broker{answer: func(messages []stream.Message) (int, error) {
			if n++; n%2 == 1 {
				return min(3, len(messages)-1), errors.New("it broke")
			}
			return min(2, len(messages)), nil
		}}
		s := streaming(t, path, b)
		for i := range 20 {
			s.pay(t, i+1, inbound.Incoming{})
		}
		since := int64(0)
		st := s.stream(t, stream.Create{SinceID: &since})
		time.Sleep(time.Minute)
		synctest.Wait()
		wantIDs(t, b.ids(0), from(1, 20))
		if st = s.state(t, st.ID); st.Position != 20 || st.Sent != 20 {
			t.Errorf("it is %+v", st)
		}
		// One that keeps something each time isn't waited for longer and longer.
		b.answerBy(func([]stream.Message) (int, error) { return 1, errors.New("it broke") })
		for i := range 10 {
			s.pay(t, 21+i, inbound.Incoming{})
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(20), from(21, 30))
		s.close(t)
	})
}

// attempting is a stream whose first attempt hangs.
func attempting(t *testing.T, path string) (*broker, *installation, stream.Stream) {
	t.Helper()
	b := &broker{}
	s := streaming(t, path, b)
	st := s.stream(t, stream.Create{})
	s.pay(t, 1, inbound.Incoming{})
	time.Sleep(2 * time.Second)
	if b.calls() != 1 {
		t.Fatalf("%d attempts", b.calls())
	}
	return b, s, st
}

// A stream that is turned off during an attempt has no problem when that ends.
func TestStreamTurnedOffInAnAttempt(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		_, s, st := attempting(t, path)
		must(t, second(s.Services.Streams.ToggleStream(context.Background(), 1, st.ID, time.Now())))
		time.Sleep(stream.Timeout + time.Second)
		synctest.Wait()
		if st = s.state(t, st.ID); st.Problem != (app.Text{}) || !st.FailingSince.IsZero() {
			t.Errorf("it is %+v", st)
		}
		s.close(t)
	})
}

// A server that is stopped during an attempt doesn't say that the broker failed.
func TestStreamStoppedInAnAttempt(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		b, s, st := attempting(t, path)
		s.crash(t)
		after := apptest.Open(t, path, services.Config{})
		defer after.Close()
		st, err := after.Services.Streams.Stream(context.Background(), 1, st.ID)
		must(t, err)
		if b.calls() != 1 || st.Position != 0 || st.Problem != (app.Text{}) || !st.FailingSince.IsZero() {
			t.Errorf("after %d attempts it is %+v", b.calls(), st)
		}
	})
}

// Brokers are connected to only where the rules for addresses allow it.
func TestBrokersWhereThePolicyAllows(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	message := []stream.Message{{ID: "1", BankAccount: "ACB:1", Body: []byte("{}")}}
	ctx, cancel := context.WithTimeout(t.Context(), stream.Timeout)
	defer cancel()
	for _, kind := range []stream.BrokerKind{stream.NATS, stream.Kafka} {
		forbidding, err := target.ParsePolicy(nil)
		must(t, err)
		p := scheduler.BrokersOf(forbidding)(stream.Broker{Kind: kind, Hosts: []string{l.Addr().String()}, Topic: "t"})
		kept, err := p.Publish(ctx, message)
		p.Close()
		var blocked *target.BlockedAddressError
		if kept != 0 || !errors.As(err, &blocked) {
			t.Errorf("%s: kept %d, %v", kind, kept, err)
		}
	}
	must(t, l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Millisecond)))
	if _, err := l.Accept(); err == nil {
		t.Error("a connection was made")
	}
}

// A broker is spoken to in the protocol of its kind: a client of Kafka speaks first, one of
// NATS waits for the server's words.
func TestBrokersByKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []stream.BrokerKind{stream.NATS, stream.Kafka} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		first := make(chan string, 1)
		ctx, cancel := context.WithTimeout(t.Context(), stream.Timeout)
		go func() {
			defer cancel()
			conn, err := l.Accept()
			if err != nil {
				first <- err.Error()
				return
			}
			defer conn.Close()
			if kind == stream.NATS {
				fmt.Fprint(conn, "INFO {\"headers\":true}\r\n")
			}
			word := make([]byte, 7)
			n, _ := io.ReadFull(conn, word)
			first <- string(word[:n])
		}()
		p := scheduler.BrokersOf(apptest.Targets(t, "127.0.0.1/32"))(stream.Broker{Kind: kind, Hosts: []string{l.Addr().String()}, Topic: "t"})
		kept, err := p.Publish(ctx, []stream.Message{{ID: "1", BankAccount: "ACB:1", Body: []byte("{}")}})
		p.Close()
		if kept != 0 || err == nil {
			t.Errorf("%s: kept %d, %v", kind, kept, err)
		}
		if word := apptest.Receive(t, "the first bytes", first); strings.HasPrefix(word, "CONNECT") != (kind == stream.NATS) || len(word) != 7 {
			t.Errorf("%s: the client began with %q", kind, word)
		}
	}
}

// What somebody changes of a stream counts at its next step.
func TestStreamChanged(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		b := &broker{answer: keepAll}
		s := streaming(t, path, b)
		other := s.Link("VCB", "0011002200")
		all := s.stream(t, stream.Create{})
		s.stream(t, stream.Create{Type: delivery.WebhookOut})
		s.stream(t, stream.Create{BankAccountID: other.ID})
		for i := range 5 {
			s.pay(t, i+1, inbound.Incoming{})
		}
		s.pay(t, 6, inbound.Incoming{Type: app.Out})
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if got := b.ids(0); len(got) != 7 || got[6] != "6" {
			t.Fatalf("the broker has %v", got)
		}
		ids := map[string]bool{} // the same transaction of two streams isn't a repeat
		for _, m := range b.kept {
			if ids[m.ID] = true; m.BankAccount != "ACB:19354957" {
				t.Errorf("message %s is of the bank account %q", m.ID, m.BankAccount)
			}
		}
		if len(ids) != 7 {
			t.Errorf("the ids are %v", ids)
		}
		time.Sleep(2 * time.Second) // settled
		synctest.Wait()
		must(t, second(s.Services.Streams.ToggleStream(ctx, 1, all.ID, time.Now())))
		s.pay(t, 7, inbound.Incoming{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := b.ids(7); len(got) != 0 {
			t.Errorf("while it was off the broker got %v", got)
		}
		must(t, second(s.Services.Streams.ToggleStream(ctx, 1, all.ID, time.Now())))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(7), from(7, 7))

		since := int64(4)
		opened := len(b.opened)
		must(t, second(s.Services.Streams.UpdateStream(ctx, 1, all.ID, stream.Update{SinceID: &since}, time.Now())))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(8), from(5, 7))
		if len(b.opened) != opened+1 { // the one before knows what its broker has kept, and skips that
			t.Errorf("%d publishers were opened for what is sent again", len(b.opened)-opened)
		}

		opened = len(b.opened)
		url, topic := "kafka+tls://k.shop.vn", "t"
		must(t, second(s.Services.Streams.UpdateStream(ctx, 1, all.ID,
			stream.Update{URL: &url, Topic: &topic, Credentials: &stream.BrokerCredentials{Username: "u", Password: "p"}}, time.Now())))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if to := b.opened[len(b.opened)-1]; len(b.opened) != opened+1 || to.Kind != stream.Kafka || !to.TLS || to.Hosts[0] != "k.shop.vn:9092" ||
			to.Topic != "t" || to.Password != "p" {
			t.Errorf("%d were opened, the last %+v", len(b.opened)-opened, to)
		}
		for _, change := range []stream.Update{ // one field each
			{URL: new("kafka+tls://k2.shop.vn"), Credentials: &stream.BrokerCredentials{Username: "u", Password: "p"}}, {Topic: new("t2")},
			{Credentials: &stream.BrokerCredentials{Username: "u2", Password: "p"}},
			{Credentials: &stream.BrokerCredentials{Username: "u2", Password: "p2"}},
		} {
			opened = len(b.opened)
			must(t, second(s.Services.Streams.UpdateStream(ctx, 1, all.ID, change, time.Now())))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if len(b.opened) != opened+1 {
				t.Errorf("%d publishers were opened for %+v", len(b.opened)-opened, change)
			}
		}
		_, _, err := s.Services.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{
			Incoming: inbound.Incoming{EventID: "other", Gateway: "VCB", AccountNumber: "0011002200", Type: app.In, Amount: 8},
		}, time.Now())
		must(t, err)
		synctest.Wait()
		wantIDs(t, b.ids(11), []string{"8", "8"})
		if at := b.kept[11].BankAccount; at != "VCB:0011002200" {
			t.Errorf("of the other bank account: %q", at)
		}
		must(t, s.Services.Streams.DeleteStream(ctx, 1, all.ID, time.Now()))
		s.pay(t, 9, inbound.Incoming{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := b.ids(13); len(got) != 0 {
			t.Errorf("of a deleted stream the broker got %v", got)
		}
		if st := s.state(t, 2); st.Position != 9 || st.Sent != 1 { // what isn't its own has passed, too
			t.Errorf("the stream of money out is %+v", st)
		}
		if said := s.log.String(); said != "" {
			t.Errorf("the log says:\n%s", said)
		}
		s.close(t)
	})
}

// A stream is moved to the position that its page shows also while what was sent since
// isn't settled: that is sent again.
func TestStreamMovedToWhereItIs(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: keepAll}
		s := streaming(t, path, b)
		st := s.stream(t, stream.Create{})
		time.Sleep(2 * time.Second)
		for id := range 2 { // the first is settled at once, the second within a second
			s.pay(t, id+1, inbound.Incoming{})
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		wantIDs(t, b.ids(0), from(1, 2))
		shown := s.state(t, st.ID).Position
		if shown != 1 {
			t.Fatalf("the position is %d", shown)
		}
		must(t, second(s.Services.Streams.UpdateStream(t.Context(), 1, st.ID, stream.Update{SinceID: &shown}, time.Now())))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(2), from(2, 2))
		if position := s.state(t, st.ID).Position; position != 2 {
			t.Errorf("at the end the position is %d", position)
		}
		must(t, second(s.Services.Streams.UpdateStream(t.Context(), 1, st.ID, stream.Update{SinceID: new(int64(2))}, time.Now())))
		s.pay(t, 3, inbound.Incoming{})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(3), from(3, 3)) // once
		s.close(t)
	})
}

// What the broker has kept is settled within a second, also while there is more to send
// than a slow broker takes.
func TestStreamSettledEachSecond(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: func(messages []stream.Message) (int, error) {
			time.Sleep(700 * time.Millisecond)
			return len(messages), nil
		}}
		s := streaming(t, path, b)
		im, err := s.Services.Inbound.NewImport(t.Context(), inbound.ImportOptions{AccountID: 1, File: "a.csv"})
		must(t, err)
		for batch := range 5 {
			var rows []inbound.Incoming
			for i := range stream.MaxBatch {
				rows = append(rows, inbound.Incoming{EventID: fmt.Sprint(batch, "-", i), Gateway: "ACB", AccountNumber: "19354957", Type: app.In,
					Amount: int64(1 + i), Time: time.Now()})
			}
			must(t, second(im.Add(t.Context(), rows, time.Now())))
		}
		since := int64(0)
		st := s.stream(t, stream.Create{SinceID: &since})
		for b.calls() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(2200 * time.Millisecond) // the fourth attempt is on its way
		if position := s.state(t, st.ID).Position; b.calls() != 4 || position != 3*stream.MaxBatch {
			t.Errorf("in the attempt %d the position is %d", b.calls(), position)
		}
		time.Sleep(3 * time.Second)
		b.answerBy(keepAll)
		for id := range 2 { // the first is settled at once
			s.pay(t, id+1, inbound.Incoming{})
			time.Sleep(550 * time.Millisecond)
			synctest.Wait()
		}
		if position := s.state(t, st.ID).Position; position != 5*stream.MaxBatch+2 {
			t.Errorf("a second later the position is %d", position)
		}
		s.close(t)
	})
}

// A server that is killed in an attempt has settled what the broker kept before.
func TestStreamSettledAtTheEnd(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: keepAll}
		s := streaming(t, path, b)
		st := s.stream(t, stream.Create{})
		time.Sleep(2 * time.Second)
		for id := range 2 {
			s.pay(t, id+1, inbound.Incoming{})
			synctest.Wait()
		}
		b.answerBy(nil) // it hangs
		s.pay(t, 3, inbound.Incoming{})
		synctest.Wait()
		if position := s.state(t, st.ID).Position; b.calls() != 3 || position != 1 {
			t.Fatalf("after %d attempts the position is %d", b.calls(), position)
		}
		s.crash(t)
		after := apptest.Open(t, path, services.Config{})
		defer after.Close()
		st, err := after.Services.Streams.Stream(t.Context(), 1, st.ID)
		must(t, err)
		if st.Position != 2 || st.Sent != 2 {
			t.Errorf("it is %+v", st)
		}
	})
}

// faultyStreaming is streaming over a store with faults, and its stream.
func faultyStreaming(t *testing.T, path string) (*broker, *installation, *faultyStore, stream.Stream) {
	t.Helper()
	b := &broker{answer: keepAll}
	s := open(t, path, nil)
	faulty := &faultyStore{Store: s.Store}
	s.Services = apptest.Over(t, s.Store, services.Config{Store: faulty, Targets: apptest.Targets(t), OpenBroker: b.open})
	s.start(t)
	return b, s, faulty, s.stream(t, stream.Create{})
}

// While the storage is away a stream asks for its work once a second.
func TestStreamStorageAway(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		b, s, faulty, _ := faultyStreaming(t, path)
		time.Sleep(2 * time.Second)
		faulty.away.Store(true)
		before := faulty.asked.Load()
		s.pay(t, 1, inbound.Incoming{})
		time.Sleep(10 * time.Second)
		if asked := faulty.asked.Load() - before; asked < 9 || asked > 12 || b.calls() != 0 || s.log.String() != "" {
			t.Errorf("in ten seconds it asked %d times, and the log says:\n%s", asked, s.log)
		}
		faulty.away.Store(false)
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		wantIDs(t, b.ids(0), from(1, 1))
		s.close(t)
	})
}

// A settlement that fails is made again. Where the file kept the position and the answer was
// lost, the stream goes on from what the file says.
func TestStreamSettlementFails(t *testing.T) {
	for _, inDoubt := range []bool{false, true} {
		path := newFile(t)
		synctest.Test(t, func(t *testing.T) {
			b, s, faulty, st := faultyStreaming(t, path)
			time.Sleep(2 * time.Second)
			faulty.refused.Store(!inDoubt)
			faulty.inDoubt.Store(inDoubt)
			for id, pause := range []time.Duration{0, 3 * time.Second, 3 * time.Second} {
				s.pay(t, id+1, inbound.Incoming{})
				time.Sleep(pause)
				synctest.Wait()
			}
			wantIDs(t, b.ids(0), from(1, 3))
			if st = s.state(t, st.ID); st.Position != 3 || faulty.refused.Load() || faulty.inDoubt.Load() {
				t.Errorf("in doubt %v: it is %+v", inDoubt, st)
			}
			if said := s.log.String(); strings.Contains(said, "settle a stream") != inDoubt { // a storage that is away is logged elsewhere
				t.Errorf("in doubt %v: the log says:\n%s", inDoubt, said)
			}
			faulty.refused.Store(true)
			time.Sleep(5 * time.Second)
			if !faulty.refused.Load() {
				t.Error("a stream without news was settled")
			}
			s.close(t)
		})
	}
}

// What the file says of a failing stream outlives the server, and an attempt that a stop
// cuts off. After a change of the stream the waits begin anew.
func TestStreamFailsAcrossRestart(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		refused := &stream.BrokerError{Text: app.Text{EN: "No stream takes it.", VI: "Không có."}}
		refuse := func([]stream.Message) (int, error) { return 0, refused }
		b := &broker{answer: refuse}
		s := streaming(t, path, b)
		st := s.stream(t, stream.Create{})
		s.pay(t, 1, inbound.Incoming{})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		st = s.state(t, st.ID)
		s.close(t)
		b.answerBy(nil) // it hangs
		s = streaming(t, path, b)
		time.Sleep(2 * time.Second)
		s.crash(t)
		b.answerBy(refuse)
		s = streaming(t, path, b)
		time.Sleep(100 * time.Millisecond)
		if after := s.state(t, st.ID); st.FailingSince.IsZero() || !after.FailingSince.Equal(st.FailingSince) || after.Problem != refused.Text {
			t.Errorf("before it was %+v, then %+v", st, after)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		n := b.calls()
		must(t, second(s.Services.Streams.UpdateStream(t.Context(), 1, st.ID, stream.Update{Topic: new("t2")}, time.Now())))
		time.Sleep(time.Minute)
		synctest.Wait()
		if first, next := b.at[n], b.at[n+1]; next.Sub(first) != time.Second {
			t.Errorf("after the change the first wait is %v", next.Sub(first))
		}
		if after := s.state(t, st.ID); !after.FailingSince.Equal(st.FailingSince) {
			t.Errorf("at last it is %+v", after)
		}
		s.close(t)
	})
}

// A stream whose secret is lost sends nothing: its messages could not be verified.
func TestStreamWithoutItsSecret(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: keepAll}
		s := streaming(t, path, b)
		st := s.stream(t, stream.Create{})
		s.close(t)
		must(t, os.Remove(path+".key"))
		now := app.ActingAs(t.Context(), apptest.Unnamed())
		must(t, second(sqlitestore.ReplaceKey(now, path, time.Now())))
		s = streaming(t, path, b)
		s.pay(t, 1, inbound.Incoming{})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if st = s.state(t, st.ID); !st.SecretLost || len(b.opened) != 0 {
			t.Errorf("%d publishers were opened of %+v", len(b.opened), st)
		}
		must(t, second(s.Services.Streams.RotateStreamSecret(now, 1, st.ID, app.IdempotencyKey{}, time.Now())))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantIDs(t, b.ids(0), from(1, 1))
		s.close(t)
	})
}

// What was sent a moment before a stream is moved and turned off is in its broker, and
// so are messages whose answer was lost: an import of them isn't taken back.
func TestStreamMovedAtOnce(t *testing.T) {
	for name, answer := range map[string]func([]stream.Message) (int, error){
		"kept": keepAll, "answer lost": func([]stream.Message) (int, error) { return 0, errors.New("the connection broke") },
	} {
		path := newFile(t)
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			b := &broker{answer: keepAll}
			s := streaming(t, path, b)
			st := s.stream(t, stream.Create{})
			for i := range stream.MaxBatch { // more than is sent again in one attempt
				s.pay(t, i+1, inbound.Incoming{})
			}
			time.Sleep(2 * time.Second)
			s.pay(t, stream.MaxBatch+1, inbound.Incoming{})
			synctest.Wait() // settled; what follows within a second isn't
			b.answerBy(answer)
			row := func(id string, amount int64) inbound.Incoming {
				return inbound.Incoming{EventID: id, Gateway: "ACB", AccountNumber: "19354957", Type: app.In, Amount: amount, Time: time.Now()}
			}
			im, err := s.Services.Inbound.NewImport(ctx, inbound.ImportOptions{AccountID: 1, File: "a.csv"})
			must(t, err)
			r, err := im.Add(ctx, []inbound.Incoming{row("i1", 5), row("i2", 6)}, time.Now())
			if must(t, err); r.Recorded != 2 {
				t.Fatalf("of the file %+v", r)
			}
			synctest.Wait() // sent
			since := int64(0)
			must(t, second(s.Services.Streams.UpdateStream(ctx, 1, st.ID, stream.Update{SinceID: &since}, time.Now())))
			b.answerBy(func([]stream.Message) (int, error) { return 0, errors.New("away") })
			time.Sleep(time.Minute)
			synctest.Wait()
			must(t, second(s.Services.Streams.ToggleStream(ctx, 1, st.ID, time.Now())))
			time.Sleep(time.Minute)
			synctest.Wait()
			u, err := s.Services.Inbound.Undoable(ctx, 1, im.ID(), time.Now())
			if err != nil || u.NotifiedCount != 2 {
				t.Errorf("%s: %d of 2 count as told, %v", name, u.NotifiedCount, err)
			}
			s.close(t)
		})
	}
}

// second is the error of a call that also gives something.
func second[T any](_ T, err error) error { return err }
