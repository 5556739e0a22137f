package sqlitestore_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/app/upkeep"
	"baoco/sqlitestore"

	"github.com/google/go-cmp/cmp"
)

// secretsOf are all that a file has under its key.
type secretsOf struct {
	Webhooks map[int64]delivery.Secrets
	Sources  []inbound.Source
	Alerts   []alert.Channel
	Stream   stream.Work
}

func readSecrets(t *testing.T, path string) (all secretsOf) {
	t.Helper()
	store := open(t, path, false)
	defer store.Close()
	var err error
	all.Webhooks, err = store.WebhookSecrets(t.Context(), 1)
	must(t, err)
	all.Sources, err = store.Sources(t.Context(), 1)
	must(t, err)
	all.Alerts, err = store.AlertChannels(t.Context(), 1)
	must(t, err)
	all.Stream, err = store.StreamWork(t.Context(), 1, 1)
	must(t, err)
	return all
}

// A new key seals every secret that the old one opens, as it was. Where the old
// one is lost every secret is dropped, and named until it is made anew.
func TestNewKeySealsEverySecret(t *testing.T) {
	t.Parallel()
	ctx, path, now := context.Background(), create(t), time.Now()
	w := apptest.Open(t, path, services.Config{})
	hook, _ := w.Webhook("https://shop.vn/w", delivery.WebhookAll)
	_, err := w.Services.Deliveries.RotateSecret(ctx, 1, hook.ID, delivery.SecretRotate{Overlap: time.Hour}, now)
	must(t, err)
	w.Webhook("https://shop.vn/other", delivery.WebhookAll)
	src := w.AddSource(inbound.SourceAdd{Provider: "casso", APIKey: "key of the list"})
	_, err = w.Store.AddSourceSenders(ctx, 1, src.ID, []string{"ACB"})
	must(t, err)
	removed := w.Source("native", inbound.AuthBearer, "")
	must(t, w.Store.RemoveSource(ctx, 1, removed.ID, now))
	_, err = w.Store.SetAlertChannel(ctx,
		alert.Channel{AccountID: 1, Medium: alert.Telegram, SetAt: now, Telegram: alert.TelegramSettings{Token: "1:A", Chat: "5"}})
	must(t, err)
	_, _, err = w.Services.Streams.CreateStream(ctx, 1,
		stream.Create{Name: "ledger", URL: "nats://nats.shop.vn", Topic: "shop",
			Credentials: stream.BrokerCredentials{Username: "shop", Password: "s3cret"}}, now)
	must(t, err)
	must(t, second(w.Services.Streams.RotateStreamSecret(ctx, 1, 1, app.IdempotencyKey{}, now)))
	w.Close()

	before := readSecrets(t, path)
	if before.Stream.Password != "s3cret" {
		t.Errorf("with a new secret of the stream its password is %q", before.Stream.Password)
	}
	r, err := sqlitestore.ReplaceKey(acting(ctx), path, now)
	must(t, err)
	if len(r.Lost) != 0 {
		t.Errorf("lost: %+v", r.Lost)
	}
	if d := cmp.Diff(before, readSecrets(t, path)); d != "" {
		t.Errorf("under the new key (-before +after):\n%s", d)
	}

	must(t, os.Remove(path+".key"))
	must(t, os.Remove(r.Aside))
	for range 2 { // the second time the new key opens all that is left
		r, err = sqlitestore.ReplaceKey(acting(ctx), path, now)
		must(t, err)
		want := []upkeep.LostSecret{
			{ID: 1, AccountID: 1, Name: "shop", Dropped: true}, {ID: 2, AccountID: 1, Name: "shop", Dropped: true},
			{ID: 1, AccountID: 1, Name: "till", Provider: "casso", Dropped: true},
			{ID: 1, AccountID: 1, Name: "ledger", Stream: true, Dropped: true},
			{ID: 1, AccountID: 1, Name: "telegram", Medium: string(alert.Telegram), Dropped: true},
		}
		if d := cmp.Diff(want, r.Lost); d != "" {
			t.Errorf("with the old key lost (-want +got):\n%s", d)
		}
	}
	after := readSecrets(t, path)
	till, alert := after.Sources[0], after.Alerts[0]
	if after.Webhooks[1] != (delivery.Secrets{ChangedAt: before.Webhooks[1].ChangedAt}) || !after.Stream.SecretLost ||
		after.Stream.Secrets != (stream.Secrets{}) || !till.SecretLost || till.APIKey != "" || till.Options.Senders != nil ||
		!alert.SettingsLost {
		t.Errorf("what is left: %+v", after)
	}
	if bearers := peek(t, path, `SELECT count(*) FROM sources WHERE bearer_hash IS NOT NULL`)[0][0]; bearers != int64(0) {
		t.Errorf("%v bearer secrets are still known", bearers)
	}

	w = apptest.Open(t, path, services.Config{})
	secret, err := w.Services.Streams.RotateStreamSecret(acting(ctx), 1, 1, app.IdempotencyKey{}, now)
	must(t, err)
	w.Close()
	if made := readSecrets(t, path).Stream; made.SecretLost || made.Secrets != (stream.Secrets{Secret: secret}) {
		t.Errorf("with a secret made anew the stream has %+v", made.Secrets)
	}
}

// An account has so many valid keys, sources and counter links; what has ended doesn't
// count, nor do those of other accounts.
func TestCredentialsAreBounded(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	ctx, now := t.Context(), time.Now()
	_, err := w.Services.Ledger.CreateAccount(ctx, "other", now)
	must(t, err)
	key := func(account int64, expires time.Time) (access.APIKey, error) {
		k, _, err := w.Services.Access.CreateAPIKey(ctx, account, access.APIKeyCreate{
			Name: "key", Scope: access.ScopeRead, ExpiresAt: expires,
		}, now)
		return k, err
	}
	source := func(account int64) (inbound.Source, error) {
		return w.Services.Inbound.AddSource(ctx, account, inbound.SourceAdd{Provider: "native", Name: "source"}, now)
	}
	_, err = key(1, now.Add(-time.Hour))
	must(t, err)
	var lastKey access.APIKey
	var lastSource inbound.Source
	for range access.MaxAPIKeys {
		lastKey, err = key(1, time.Time{})
		must(t, err)
	}
	for range inbound.MaxSources {
		lastSource, err = source(1)
		must(t, err)
	}
	if _, err := key(1, time.Time{}); !errors.Is(err, access.ErrTooManyAPIKeys) {
		t.Errorf("one key more: %v", err)
	}
	if _, err := source(1); !errors.Is(err, inbound.ErrTooManySources) {
		t.Errorf("one source more: %v", err)
	}
	_, err = key(2, time.Time{})
	must(t, err)
	_, err = source(2)
	must(t, err)
	must(t, w.Store.RevokeAPIKey(ctx, 1, lastKey.ID, now))
	must(t, w.Store.RemoveSource(ctx, 1, lastSource.ID, now))
	// A key counts through the second at which it ends.
	_, err = key(1, now)
	must(t, err)
	if _, err := key(1, time.Time{}); !errors.Is(err, access.ErrTooManyAPIKeys) {
		t.Errorf("one key more in the last second of another: %v", err)
	}
	now = now.Add(time.Second)
	_, err = key(1, time.Time{})
	must(t, err)
	_, err = source(1)
	must(t, err)
	counter := func(account int64) (payment.CounterLink, error) {
		l, _, err := w.Services.Payments.CreateCounterLink(ctx, account, payment.CounterLinkCreate{Name: "counter"}, now)
		return l, err
	}
	var lastCounter payment.CounterLink
	for range payment.MaxCounterLinks {
		lastCounter, err = counter(1)
		must(t, err)
	}
	if _, err := counter(1); app.CodeOf(err) != app.CodeLimitReached {
		t.Errorf("one counter link more: %v", err)
	}
	_, err = counter(2)
	must(t, err)
	must(t, w.Store.RevokeCounterLink(ctx, 1, lastCounter.ID, now))
	_, err = counter(1)
	must(t, err)
}
