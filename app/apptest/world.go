// Package apptest builds what the tests of every room begin with: a database
// in a directory of its own, the service over it, what a shop sets up there
// (bank account, webhook, source, API key, transaction), and the calls that
// providers make. Only tests import it.
//
// What the tests of two rooms need belongs here. How a room is reached stays
// with that room: HTTP and the browser with web/webtest, the network of
// deliveries with scheduler, processes with app/acceptance.
package apptest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/paymentcode"
	"baoco/app/provider"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/app/target"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

func init() {
	// A test that asks a server of this machine doesn't wait for ever.
	http.DefaultClient.Timeout = time.Minute
	// However small the disk is on which the tests run, nobody is warned of it.
	upkeep.LittleRoom = 0
}

// Must ends the test with an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually polls until something is true, and ends the test when it is not
// within a minute. It is for what happens in another process, or in the kernel; within
// this process an event tells, such as a commit (World.Until), or the clock of a synctest
// bubble.
func Eventually(t testing.TB, what string, truth func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if truth() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

// Receive takes what comes from a channel, and ends the test when nothing does within a
// minute.
func Receive[T any](t testing.TB, what string, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(time.Minute):
		t.Fatalf("not within a minute: %s", what)
	}
	return got
}

// NewFile makes an empty database, as the first serve does, in a directory of
// its own. It is a copy of the first that this process made, with the same key,
// since making one takes ten times as long.
func NewFile(t testing.TB) string {
	t.Helper()
	path := newPath(t)
	NewFileAt(t, path)
	return path
}

// NewFileAt is NewFile in a place of the test's own.
func NewFileAt(t testing.TB, path string) {
	t.Helper()
	template, err := newFile(time.Now().Year()) // a synctest bubble has a year of its own
	Must(t, err)
	Must(t, os.WriteFile(path, template.database, 0o600))
	Must(t, os.WriteFile(path+".key", template.key, 0o600))
	Must(t, os.WriteFile(path+".lock", nil, 0o600))
}

// NewFileOfOwnKey is NewFile with a key that no other file has.
func NewFileOfOwnKey(t testing.TB) string {
	t.Helper()
	path := newPath(t)
	Must(t, sqlitestore.Create(context.Background(), path, app.DefaultZone, time.Now()))
	return path
}

// newPath is where a database is made: in a directory that nobody else may change,
// whatever the umask is.
func newPath(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Must(t, os.Chmod(dir, 0o700))
	return filepath.Join(dir, "baoco.db")
}

// emptyFile is what an empty database and its key file hold.
type emptyFile struct{ database, key []byte }

var emptyFiles = struct {
	sync.Mutex
	byYear map[int]emptyFile
}{byYear: map[int]emptyFile{}}

func newFile(year int) (f emptyFile, err error) {
	emptyFiles.Lock()
	defer emptyFiles.Unlock()
	if f, made := emptyFiles.byYear[year]; made {
		return f, nil
	}
	dir, err := os.MkdirTemp("", "baoco-empty-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "baoco.db")
	if err := sqlitestore.Create(context.Background(), path, app.DefaultZone, time.Now()); err != nil {
		return f, err
	}
	var e2 error
	f.database, err = os.ReadFile(path)
	f.key, e2 = os.ReadFile(path + ".key")
	if err = errors.Join(err, e2); err == nil {
		emptyFiles.byYear[year] = f
	}
	return f, err
}

// OpenStore opens a database. With serve it does so as the server does: it
// checks the file, and no other server may have it.
func OpenStore(t testing.TB, path string, serve bool) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(context.Background(), path, sqlitestore.Options{Serve: serve, Unnamed: Unnamed})
	Must(t, err)
	return store
}

// Unnamed acts in tests whose rule isn't who acts.
func Unnamed() app.Actor { return app.Actor{Way: app.WayServer, At: time.Now()} }

// Acting is a context in which Unnamed acts.
func Acting(ctx context.Context) context.Context { return app.ActingAs(ctx, Unnamed()) }

// World is the service over a database, without a server and without a
// scheduler.
type World struct {
	T        testing.TB
	Path     string // of the database
	Store    *sqlitestore.Store
	Services *services.All
	commits  *bell // rings at each commit of Store
}

// Open opens a database as the server does and makes the service over it. The
// test closes the world.
func Open(t testing.TB, path string, config services.Config) *World {
	t.Helper()
	commits := &bell{}
	store, err := sqlitestore.Open(context.Background(), path, sqlitestore.Options{Serve: true, Unnamed: Unnamed,
		Committed: func(time.Duration, int) { commits.ring() }})
	Must(t, err)
	return &World{T: t, Path: path, Store: store, Services: Over(t, store, config), commits: commits}
}

// Until waits until something is true of what the file holds, and ends the test when it
// is not within a minute. It looks after each commit of the world's own store.
func (w *World) Until(what string, truth func() bool) {
	w.T.Helper()
	late := time.After(time.Minute)
	for {
		committed := w.commits.next()
		if truth() {
			return
		}
		select {
		case <-committed:
		case <-late:
			w.T.Fatalf("not within a minute: %s", what)
		}
	}
}

// Over makes the service over a store. Of config it sets the zone and, where there
// are none, the store, the targets (127.0.0.1), the providers and their reader.
func Over(t testing.TB, store *sqlitestore.Store, config services.Config) *services.All {
	t.Helper()
	var err error
	if config.Store == nil {
		config.Store = store
	}
	config.Zone, err = store.Zone(context.Background())
	Must(t, err)
	if config.Targets == nil {
		config.Targets = Targets(t, "127.0.0.1/32")
	}
	if config.Providers == nil {
		config.Providers = provider.Facts()
	}
	if config.Read == nil {
		config.Read = provider.Read
	}
	return services.New(config)
}

// Admin is another process on the same file.
func (w *World) Admin() *services.All {
	w.T.Helper()
	store := OpenStore(w.T, w.Path, false)
	w.T.Cleanup(func() { Must(w.T, store.Close()) })
	return Over(w.T, store, services.Config{})
}

// Targets allows webhooks to go to addresses that are forbidden otherwise.
func Targets(t testing.TB, allow ...string) *target.Policy {
	t.Helper()
	targets, err := target.ParsePolicy(allow)
	Must(t, err)
	return targets
}

// Close closes the store.
func (w *World) Close() {
	w.T.Helper()
	Must(w.T, w.Store.Close())
}

// Link links a bank account to account 1.
func (w *World) Link(bank, number string) app.BankAccount {
	w.T.Helper()
	r, err := w.Services.Inbound.LinkBankAccount(context.Background(), 1,
		inbound.BankAccountLink{Bank: bank, AccountNumber: number, AccountName: "NGUYEN VAN A"}, time.Now())
	Must(w.T, err)
	return r.BankAccount
}

// Webhook makes a webhook of account 1, and returns its secret too.
func (w *World) Webhook(url string, hookType delivery.WebhookType) (delivery.Webhook, string) {
	w.T.Helper()
	hook, secret, err := w.Services.Deliveries.CreateWebhook(context.Background(), 1,
		delivery.WebhookCreate{Name: "shop", URL: url, Type: hookType}, time.Now())
	Must(w.T, err)
	return hook, secret
}

// Stream makes a stream of account 1, and returns its secret too.
func (w *World) Stream(in stream.Create) (stream.Stream, string) {
	w.T.Helper()
	in.Name, in.URL, in.Topic = "ledger", "nats://nats.shop.vn", "shop.transactions"
	st, secret, err := w.Services.Streams.CreateStream(context.Background(), 1, in, time.Now())
	Must(w.T, err)
	return st, secret
}

// APIKey makes an API key of account 1.
func (w *World) APIKey(scope access.Scope) string {
	w.T.Helper()
	_, key, err := w.Services.Access.CreateAPIKey(context.Background(), 1, access.APIKeyCreate{Name: "test", Scope: scope}, time.Now())
	Must(w.T, err)
	return key
}

// Record records a transaction of account 1 on ACB 19354957 by hand.
func (w *World) Record(number string) app.Transaction {
	w.T.Helper()
	return w.byHand(1, inbound.TransactionCreate{
		Incoming: inbound.Incoming{EventID: number, Number: number, Amount: 200000, Content: "DH " + number}})
}

// byHand records money in on ACB 19354957.
func (w *World) byHand(accountID int64, in inbound.TransactionCreate) app.Transaction {
	w.T.Helper()
	in.Gateway, in.AccountNumber, in.Type, in.Time = "ACB", SomeAccount, app.In, time.Now()
	transaction, _, err := w.Services.Inbound.RecordByHand(context.Background(), accountID, in, time.Now())
	Must(w.T, err)
	return transaction
}

func (w *World) User(accountID int64, name string, role access.Role) access.User {
	w.T.Helper()
	u, err := w.Store.CreateUser(context.Background(), access.User{AccountID: accountID, Name: name, Role: role, CreatedAt: time.Now()},
		someHash, app.IdempotencyKey{})
	Must(w.T, err)
	return u
}

// SecondAccount makes another customer.
func (w *World) SecondAccount() int64 {
	w.T.Helper()
	a, err := w.Services.Ledger.CreateAccount(context.Background(), "second", time.Now())
	Must(w.T, err)
	return a.ID
}

const SomePassword = "mật khẩu rất dài"

// someHash is of SomePassword, with the least work that may be asked for: that of a real
// one takes 40 ms at each sign-in of a test.
const someHash = "$argon2id$v=19$m=8,t=1,p=1$c2FsdCBvZiBhIHRlc3Q$Tq29hzPlxU/YT3nueTvFTBvWHknl1Hzkb67IfWElA04"

// CodePattern makes the pattern of codes with eight digits after a prefix.
func (w *World) CodePattern(prefix string) { w.T.Helper(); w.Pattern(prefix, 8, 8) }

// Pattern makes a pattern of codes.
func (w *World) Pattern(prefix string, least, most int) {
	w.T.Helper()
	_, err := w.Services.Ledger.CreateCodePattern(context.Background(), 1,
		paymentcode.Pattern{Prefix: prefix, Least: least, Most: most, Alphabet: paymentcode.Digits}, time.Now())
	Must(w.T, err)
}

// PaymentRequest makes a payment request of account 1.
func (w *World) PaymentRequest(in payment.RequestCreate) payment.Request {
	w.T.Helper()
	r, err := w.Services.Payments.CreatePaymentRequest(context.Background(), 1, in, app.IdempotencyKey{}, time.Now())
	Must(w.T, err)
	return r
}
