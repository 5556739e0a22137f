package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/paymentcode"
	"baoco/app/services"

	"github.com/google/go-cmp/cmp"
)

// Whatever changes a bank account or a webhook, in whatever way and by whatever
// process, the next transaction is recorded and told of by what stands in the
// file then.
func TestRecordingFollowsTheFile(t *testing.T) {
	t.Parallel()
	t.Run("by the server", func(t *testing.T) { recordingFollows(t, false) })
	t.Run("by a command", func(t *testing.T) { recordingFollows(t, true) })
}

func recordingFollows(t *testing.T, byCommand bool) {
	ctx := t.Context()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	other := open(t, h.store.Path(), false) // as a command beside the server
	defer other.Close()
	command := apptest.Over(t, other, services.Config{})

	// told is what the next transaction on ACB 1000 comes to: its outcome, and
	// the webhooks that are told of it with the address and the secret of each.
	told := func() (s []string) {
		t.Helper()
		r := h.record(h.elements(1, "1000"))
		s = append(s, string(r.Outcomes[0]))
		for _, o := range r.Ready {
			s = append(s, fmt.Sprint(o.WebhookID, o.URL, o.Secrets.Current, o.Payload.Code.Read))
		}
		return s
	}
	// inFile is what the file says that it should come to.
	inFile := func() []string {
		t.Helper()
		var linked, silent bool
		banks, err := other.BankAccounts(ctx, 1)
		must(t, err)
		for _, b := range banks {
			if b.AccountNumber == "1000" {
				linked, silent = true, b.Status == app.BankAccountInactive
			}
		}
		if !linked {
			return []string{string(inbound.OutcomeUnassigned)}
		}
		s := []string{string(inbound.OutcomeRecorded)}
		hooks, err := other.Webhooks(ctx, 1)
		must(t, err)
		patterns, err := other.CodePatterns(ctx, 1)
		must(t, err)
		secrets, err := other.WebhookSecrets(ctx, 1)
		must(t, err)
		for _, w := range hooks {
			if w.IsActive && w.Type.Takes(app.In) && (w.BankAccountIDs == nil || w.BankAccountIDs[0] == 1) && w.CodePrefixes == nil && !silent {
				s = append(s, fmt.Sprint(w.ID, w.URL, secrets[w.ID].Current, len(patterns) > 0))
			}
		}
		return s
	}
	url, out, all := "https://shop.vn/new", delivery.WebhookOut, delivery.WebhookAll
	changes := []struct {
		name string
		do   func(s *services.All) error
	}{
		{"another URL", func(s *services.All) error {
			_, err := s.Deliveries.UpdateWebhook(ctx, 1, 1, delivery.WebhookUpdate{URL: &url}, time.Now())
			return err
		}},
		{"another type", func(s *services.All) error {
			_, err := s.Deliveries.UpdateWebhook(ctx, 1, 2, delivery.WebhookUpdate{Type: &out}, time.Now())
			return err
		}},
		{"and back", func(s *services.All) error {
			_, err := s.Deliveries.UpdateWebhook(ctx, 1, 2, delivery.WebhookUpdate{Type: &all}, time.Now())
			return err
		}},
		{"a webhook off", func(s *services.All) error { _, err := s.Deliveries.ToggleWebhook(ctx, 1, 1, h.now); return err }},
		{"a webhook on", func(s *services.All) error { _, err := s.Deliveries.ToggleWebhook(ctx, 1, 1, h.now); return err }},
		{"a new webhook", func(s *services.All) error {
			_, _, err := s.Deliveries.CreateWebhook(ctx, 1,
				delivery.WebhookCreate{Name: "n", URL: "https://shop.vn/n", Type: delivery.WebhookAll, BankAccountIDs: []int64{1}}, h.now)
			return err
		}},
		{"a webhook deleted", func(s *services.All) error { return s.Deliveries.DeleteWebhook(ctx, 1, 2, h.now) }},
		{"another secret", func(s *services.All) error {
			_, err := s.Deliveries.RotateSecret(ctx, 1, 1, delivery.SecretRotate{}, h.now)
			return err
		}},
		{"a bank account off", func(s *services.All) error { _, err := s.Ledger.ToggleBankAccount(ctx, 1, 1, h.now); return err }},
		{"a bank account on", func(s *services.All) error { _, err := s.Ledger.ToggleBankAccount(ctx, 1, 1, h.now); return err }},
		{"a code pattern", func(s *services.All) error {
			_, err := s.Ledger.CreateCodePattern(ctx, 1, paymentcode.Pattern{Prefix: "DH", Least: 6, Most: 6, Alphabet: paymentcode.Digits}, h.now)
			return err
		}},
		{"no code pattern", func(s *services.All) error { return s.Ledger.DeleteCodePattern(ctx, 1, 1, time.Now()) }},
		{"unlinked", func(s *services.All) error { return s.Ledger.UnlinkBankAccount(ctx, 1, 1, h.now) }},
		{"linked", func(s *services.All) error {
			_, err := s.Inbound.LinkBankAccount(ctx, 1,
				inbound.BankAccountLink{Bank: "ACB", AccountNumber: "1000", AccountName: "A", Notify: inbound.NotifyNone}, h.now)
			return err
		}},
	}
	check := func(what string, changed bool, before []string) []string {
		t.Helper()
		want, got := inFile(), told()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-in the file +told):\n%s", what, diff)
		}
		if changed && cmp.Equal(before, got) {
			t.Errorf("%s changed nothing: %q", what, got)
		}
		return got
	}
	last := check("in the beginning", false, nil)
	by, store := h.service, h.store
	if byCommand {
		by, store = command, other
	}
	for _, c := range changes {
		must(t, c.do(by))
		last = check(c.name, true, last)
	}

	// Other ways of writing.
	for _, query := range []string{
		`UPDATE OR IGNORE webhooks SET url = 'https://shop.vn/1' WHERE id = 1`,
		`WITH x(u) AS (VALUES ('https://shop.vn/2')) UPDATE webhooks SET url = (SELECT u FROM x) WHERE id = 1`,
		`REPLACE INTO webhooks (id, account_id, name, url, type, bank_account_id, is_active, created_at, secret, kind)
			SELECT id, account_id, name, 'https://shop.vn/3', type, bank_account_id, is_active, created_at, secret, kind FROM webhooks WHERE id = 1`,
	} {
		must(t, store.Write(ctx, func(exec func(string, ...any) error) error { return exec(query) }))
		last = check(query, true, last)
	}

	// What was undone is forgotten, where the failure is alone and where it
	// shares its commit.
	mine := errors.New("mine")
	for _, others := range []int{0, 1} {
		call := h.normal(h.elements(1, "1000"))
		errs := h.together([]func() error{func() error {
			return h.store.Fail(ctx, `UPDATE webhooks SET url = 'https://shop.vn/never' WHERE id = 1`, call, mine)
		}, func() error {
			if others == 0 {
				return nil
			}
			_, err := h.service.Inbound.RecordTransactions(ctx, h.callOf(h.elements(1, "1001")))
			return err
		}})
		if !errors.Is(errs[0], mine) || errs[1] != nil {
			t.Errorf("%v", errs)
		}
		last = check(fmt.Sprintf("a failure beside %d", others), false, last)
	}
}

// together has works of the writer share a commit: they queue while it is held.
func (h *history) together(works []func() error) []error {
	h.t.Helper()
	busy, free, held := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		held <- h.store.Write(context.Background(), func(func(string, ...any) error) error {
			close(busy)
			<-free
			return nil
		})
	}()
	apptest.Receive(h.t, "the writer is busy", busy)
	errs := make([]error, len(works))
	var all sync.WaitGroup
	for i, work := range works {
		ended := make(chan struct{})
		queued := h.store.Queued()
		all.Go(func() {
			defer close(ended)
			errs[i] = work()
		})
		for waiting := true; waiting && h.store.Queued() == queued; {
			select {
			case <-ended: // it writes nothing
				waiting = false
			case <-time.After(time.Millisecond):
			}
		}
	}
	close(free)
	all.Wait()
	must(h.t, apptest.Receive(h.t, "the writer is free", held))
	return errs
}

// A key whose hash isn't one is nobody's, and a caller who has gone is an
// error: neither ends the process.
func TestCredentialsThatAreNone(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	change := func(query string) {
		t.Helper()
		must(t, h.store.Write(t.Context(), func(exec func(string, ...any) error) error {
			if err := exec(query); err != nil {
				return err
			}
			return exec(`UPDATE settings SET value = CAST(value AS INTEGER) + 1 WHERE name = 'directory'`)
		}))
	}
	change(`INSERT INTO api_keys (account_id, name, scope, hint, hash, created_at) VALUES (1, 'short', 'full', '', x'01', 0)`)
	must(t, h.store.RefreshCredentials(t.Context()))
	change(`INSERT INTO counter_links (account_id, name, hash, shows_total, created_at) VALUES (1, 'short', x'', 0, 0)`)
	must(t, h.store.RefreshCredentials(t.Context()))
	for range 200 {
		change(`UPDATE api_keys SET name = 'again'`)
		ctx, leave := context.WithCancel(t.Context())
		go leave()
		_ = h.store.RefreshCredentials(ctx)
	}
	must(t, h.store.RefreshCredentials(t.Context()))
	if s, found, err := h.store.SourceByID(t.Context(), 0); found || err != nil {
		t.Errorf("the source without an id: %+v, %v", s, err)
	}
}
