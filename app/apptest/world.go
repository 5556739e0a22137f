// Package apptest is the test kit of all rooms: a database in a directory of its
// own, the services over it, the things that a shop sets up (bank account, webhook,
// source, API key, transaction), and the calls of providers. Only tests import it.
//
// Code that the tests of two rooms need belongs here. The ways to reach one room stay
// with that room: HTTP and the browser in web/webtest, the network of deliveries in
// scheduler, processes in app/acceptance.
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
	// A test that sends a request to a server of this machine must not wait for ever.
	http.DefaultClient.Timeout = time.Minute
	// A small disk under the tests must not cause a warning.
	upkeep.LittleRoom = 0
}

// Must ends the test if err isn't nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually polls until truth returns true, and ends the test if it doesn't within a
// minute. It is for events in another process or in the kernel. In this process a test waits
// for an event, such as a commit (World.Until), or for the clock of a synctest bubble.
func Eventually(t testing.TB, what string, truth func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if truth() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

// Receive receives a value from a channel, and ends the test if none comes within a minute.
func Receive[T any](t testing.TB, what string, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(time.Minute):
		t.Fatalf("not within a minute: %s", what)
	}
	return got
}

// NewFile makes an empty database, as the first serve does, in a directory of its own. It is
// a copy of the first database of this process, with the same key, since a new one takes
// ten times as long.
func NewFile(t testing.TB) string {
	t.Helper()
	path := newPath(t)
	NewFileAt(t, path)
	return path
}

// NewFileAt is NewFile at a path.
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

// newPath returns the path of a new database, in a directory that only its owner may
// change, also with another umask.
func newPath(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Must(t, os.Chmod(dir, 0o700))
	return filepath.Join(dir, "baoco.db")
}

// emptyFile is the content of an empty database and of its key file.
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

// OpenStore opens a database. With serve it opens it like the server: it checks the file,
// and no other server may have it open.
func OpenStore(t testing.TB, path string, serve bool) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(context.Background(), path, sqlitestore.Options{Serve: serve, Unnamed: Unnamed})
	Must(t, err)
	return store
}

// Unnamed returns the actor for tests whose rule isn't about actors.
func Unnamed() app.Actor { return app.Actor{Way: app.WayServer, At: time.Now()} }

// Acting returns ctx with Unnamed as the actor.
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

// Until waits until truth returns true, and ends the test if it doesn't within a minute. It
// calls truth after each commit of the world's own store.
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

// Over makes the services over a store. It sets the zone in config and, if they are missing,
// the store, the targets (127.0.0.1), the providers and their reader.
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

// Admin returns services over the same file with a store of their own, like another process.
func (w *World) Admin() *services.All {
	w.T.Helper()
	store := OpenStore(w.T, w.Path, false)
	w.T.Cleanup(func() { Must(w.T, store.Close()) })
	return Over(w.T, store, services.Config{})
}

// Targets returns a policy that allows addresses which are otherwise forbidden for webhooks.
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

// SecondAccount makes a second account.
func (w *World) SecondAccount() int64 {
	w.T.Helper()
	a, err := w.Services.Ledger.CreateAccount(context.Background(), "second", time.Now())
	Must(w.T, err)
	return a.ID
}

const SomePassword = "mật khẩu rất dài"

// someHash is a hash of SomePassword with the least allowed work: a real hash takes 40 ms at
// each sign-in of a test.
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
