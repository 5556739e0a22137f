package sqlitestore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/paymentcode"
	"baoco/app/stream"

	"github.com/google/go-cmp/cmp"
)

// orders are the patterns of the tests: DH and six digits.
func (h *history) orders() {
	h.t.Helper()
	_, err := h.service.Ledger.CreateCodePattern(h.t.Context(), 1,
		paymentcode.Pattern{Prefix: "DH", Least: 6, Most: 6, Alphabet: paymentcode.Digits}, h.now)
	must(h.t, err)
}

// paid is a transaction on a bank account with a content.
func (h *history) paid(account, content string) inbound.Incoming {
	e := h.elements(1, account)[0]
	e.Content = content
	return e
}

// What was read when a transaction was recorded is what every delivery of it says,
// whether it is sent at once or read from the file, also after the patterns have changed.
func TestCodeStays(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	ctx := t.Context()
	bodies := func(r inbound.Recording) (list []string) {
		for _, o := range r.Ready {
			list = append(list, string(o.Payload.Unsigned()))
		}
		return list
	}
	before := bodies(h.record([]inbound.Incoming{h.paid("1000", "DH001233")}))
	h.orders()
	with := bodies(h.record([]inbound.Incoming{h.paid("1000", "ck dh-001234")}))
	without := bodies(h.record([]inbound.Incoming{h.paid("1000", "DH001234 DH001235")}))
	must(t, h.service.Ledger.DeleteCodePattern(ctx, 1, 1, time.Now()))
	after := bodies(h.record([]inbound.Incoming{h.paid("1000", "DH001236")}))
	for i, c := range []struct {
		bodies []string
		end    string
	}{{before, `"transferAmount":1001}]}`}, {with, `"transferAmount":1002,"code":"DH001234"}]}`},
		{without, `"transferAmount":1003,"code":""}]}`}, {after, `"transferAmount":1004}]}`}} {
		if len(c.bodies) != 2 || c.bodies[0] != c.bodies[1] || len(c.bodies[0]) < len(c.end) ||
			c.bodies[0][len(c.bodies[0])-len(c.end):] != c.end {
			t.Errorf("transaction %d is sent as %q, want … %s", i+1, c.bodies, c.end)
		}
	}
	due, err := h.store.Due(ctx, delivery.DueFilter{WebhookID: h.hooks[0].ID, Limit: 10}, h.now)
	must(t, err)
	var read []string
	for _, o := range due {
		read = append(read, string(o.Payload.Unsigned()))
	}
	if diff := cmp.Diff([]string{before[0], with[0], without[0], after[0]}, read); diff != "" {
		t.Errorf("read from the file (-at once +later):\n%s", diff)
	}
	sent, err := h.service.Deliveries.TestWebhook(ctx, 1, h.hooks[0].ID, h.now)
	must(t, err)
	if sent.Payload.Code.Read {
		t.Error("a test has a code although there is no pattern")
	}
	h.orders()
	if sent, err = h.service.Deliveries.TestWebhook(ctx, 1, h.hooks[0].ID, h.now); err != nil ||
		sent.Payload.Code != (app.PaymentCode{Read: true}) {
		t.Errorf("a test of an account with patterns: %+v, %v", sent.Payload, err)
	}
	whole(t, h.store.Path(), h.now)
}

// A content that baoco itself has cut has no code: what is left of a longer number would
// be another order.
func TestCodeOfCutContent(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	h.orders()
	for content, want := range map[string]string{
		strings.Repeat("a ", 996) + "DH001234567": "", // 2,003 characters: cut after DH001234
		strings.Repeat("đ ", 996) + "DH001234567": "",
		strings.Repeat("a ", 995) + "DH001234":    "DH001234",
	} {
		r := h.record([]inbound.Incoming{h.paid("1000", content)})
		if got := r.Ready[0].Payload.Code; got != (app.PaymentCode{Text: want, Read: true}) {
			t.Errorf("a content of %d bytes: %+v, want %q", len(content), got, want)
		}
	}
}

// A webhook and a stream that are limited get what is within every limit of theirs.
func TestLimitedToCodes(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	ctx := t.Context()
	h.orders()
	names := map[int64]string{}
	for name, in := range map[string]delivery.WebhookCreate{
		"codes": {CodePrefixes: []string{"DH"}}, "other codes": {CodePrefixes: []string{"DHX"}},
		"longer codes":         {CodePrefixes: []string{"DH0012"}},
		"two accounts":         {BankAccountIDs: []int64{h.banks[2].ID, h.banks[0].ID, h.banks[2].ID}},
		"codes of one account": {BankAccountIDs: []int64{h.banks[0].ID}, CodePrefixes: []string{"DH"}},
	} {
		in.Name, in.URL, in.Type = name, "https://shop.vn/", delivery.WebhookIn
		w, _, err := h.service.Deliveries.CreateWebhook(ctx, 1, in, h.now)
		must(t, err)
		names[w.ID] = name
	}
	lines, err := h.service.Ledger.AuditLines(ctx, 1, app.AuditFilter{Deed: app.DeedWebhookCreate}, 10)
	must(t, err)
	noted := map[string]string{}
	for _, line := range lines {
		for _, change := range line.Changes {
			noted[line.Name+" "+change.Field] = change.To
		}
	}
	if noted["codes code_prefix"] != "DH" || noted["two accounts bank_accounts"] != "ACB 1000, ACB 1002" ||
		noted["codes bank_accounts"] != "" {
		t.Errorf("the audit log has %v", noted)
	}
	orders, err := ledger(t, h.service, 1, func(c *stream.Create) { c.CodePrefix = "DH" }, h.now)
	must(t, err)
	for _, c := range []struct {
		account, content string
		want             []string
	}{
		{"1000", "DH001234", []string{"codes", "codes of one account", "longer codes", "two accounts"}},
		{"1001", "dh 501234", []string{"codes"}},
		{"1002", "XDH001234", []string{"two accounts"}},
		{"1001", "", nil},
	} {
		r := h.record([]inbound.Incoming{h.paid(c.account, c.content)})
		got := map[string]bool{}
		for _, o := range r.Ready {
			if name := names[o.WebhookID]; name != "" {
				got[name] = true
			}
		}
		want := map[string]bool{}
		for _, name := range c.want {
			want[name] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", c.content, c.account, diff)
		}
	}
	list, passed, err := h.service.Streams.StreamTransactions(ctx, orders, 0, 10)
	must(t, err)
	if len(list) != 2 || list[0].Code.Text != "DH001234" || list[1].Code.Text != "DH501234" || passed != 4 {
		t.Errorf("the stream has %+v up to %d", list, passed)
	}
	// An import is taken back but for what the stream sends.
	id, _ := h.imports("a.csv", false, []inbound.Incoming{h.paid("1000", "DH001299"), h.paid("1000", "none"), h.paid("1000", "DH00129")})
	if u, err := h.service.Inbound.Undoable(ctx, 1, id, h.now); err != nil || u.NotifiedCount != 1 {
		t.Errorf("%d of the import count as sent, want 1; %v", u.NotifiedCount, err)
	}
}

// An account has at most so many patterns, and each prefix once; another account has
// its own.
func TestCodePatternBounds(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	ctx := t.Context()
	add := func(account int64, prefix string) error {
		_, err := h.service.Ledger.CreateCodePattern(ctx, account,
			paymentcode.Pattern{Prefix: prefix, Least: 6, Most: 8, Alphabet: paymentcode.Digits}, h.now)
		return err
	}
	for i := range app.MaxCodePatterns {
		must(t, add(1, fmt.Sprint("DH", i)))
	}
	if err := add(1, "DH7"); err != app.ErrSamePrefix {
		t.Errorf("the same prefix again: %v", err)
	}
	if err := add(1, "MORE"); err != app.ErrTooManyCodePatterns {
		t.Errorf("one pattern more: %v", err)
	}
	must(t, add(2, "DH7"))
	if err := h.service.Ledger.DeleteCodePattern(ctx, 2, 1, time.Now()); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("the pattern of another account: %v", err)
	}
	must(t, h.service.Ledger.DeleteCodePattern(ctx, 1, 1, time.Now()))
	if lines, err := h.service.Ledger.AuditLines(ctx, 1, app.AuditFilter{}, 1); err != nil || lines[0].Deed != app.DeedCodePatternDelete ||
		lines[0].Name != "DH0" {
		t.Errorf("the audit log has %+v, %v", lines, err)
	}
	must(t, add(1, "MORE"))
}
