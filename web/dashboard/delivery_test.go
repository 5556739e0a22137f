package dashboard_test

import (
	"context"
	"html"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// A delivery's page tells of every attempt, what it waits for, why it failed
// and what to do.
func TestDeliveryPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 500, "Fatal error: Uncaught Exception")
	hook, secret := w.Webhook(receiver.url+"/a", delivery.WebhookAll)
	w.Pay(1, "1", "DH10293 thanh toan")
	w.Attempts(1, 1)
	b := w.Browser().SignIn("lan")
	page := b.Get("/deliveries/1")
	page.WantStatus(t, http.StatusOK)
	for _, part := range []string{
		"Delivery #1", "+1,549,000", "DH10293 thanh toan", "Will notify again at ", "(2/6)", receiver.url + "/a", "500 · ", "attempt\u00a01/6",
		"The program behind the URL failed (500)", "Fatal error: Uncaught Exception", "scheduled for", "attempt\u00a02/6", `data-until="`,
		"X-Webhook-Signature: ", "Webhook-Id: dlv_1_", "Content-Length: ", "User-Agent: baoco/", `"transferAmount": 1549000`,
	} {
		if !strings.Contains(html.UnescapeString(page.Body), part) {
			t.Errorf("the page has no %q", part)
		}
	}
	if strings.Contains(page.Body, `action="/deliveries/1/resend"`) || strings.Contains(page.Body, secret) ||
		strings.Contains(page.Body, strings.TrimPrefix(secret, "whsec_")) {
		t.Error("a resend of what is still being tried, or the secret itself")
	}
	// What is shown is what was sent.
	got := receiver.calls()[0]
	for _, name := range []string{"Content-Type", "User-Agent", "X-Webhook-Signature", "Webhook-Id", "Webhook-Timestamp",
		"Webhook-Signature", "Content-Length"} {
		if line := name + ": " + got.header.Get(name) + "\n"; !strings.Contains(html.UnescapeString(page.Body), line) {
			t.Errorf("the page doesn't show %q", line)
		}
	}
	// A webhook that is switched off has nothing planned.
	_, err := w.Services.Deliveries.ToggleWebhook(context.Background(), 1, hook.ID, time.Now())
	apptest.Must(t, err)
	if page := b.Get("/deliveries/1"); !strings.Contains(page.Body, "until the webhook is turned on") ||
		strings.Contains(page.Body, "scheduled for") {
		t.Error("something is planned for a webhook that is off")
	}
	_, err = w.Services.Deliveries.ToggleWebhook(context.Background(), 1, hook.ID, time.Now())
	apptest.Must(t, err)
	exhaust(w, hook.ID, serverError)
	page = b.Get("/deliveries/1")
	for _, part := range []string{`<span class="pill failed">Could not notify</span>`, "⑥", "attempt\u00a06/6", "500 · 142\u00a0ms",
		`action="/deliveries/1/resend"`, "DNS lookup 2\u00a0ms", `<rect class="wait"`} {
		if !strings.Contains(html.UnescapeString(page.Body), part) {
			t.Errorf("the page has no %q", part)
		}
	}
	if strings.Contains(page.Body, "scheduled for") {
		t.Error("a seventh attempt is planned")
	}
	b.Header.Set("Accept-Language", "vi")
	if page := b.Get("/deliveries/1"); !strings.Contains(page.Body, "Chương trình xử lý tại URL bị lỗi (500)") ||
		!strings.Contains(page.Body, "Diễn biến") {
		t.Error("not in Vietnamese")
	}
}

// After its secret was changed, the signatures of an attempt are no longer
// those that it carried, and the page says so. Without a webhook there is
// nothing to sign with.
func TestDeliveryPageAfterRotation(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 200, "")
	hook, secret := w.Webhook(receiver.url, delivery.WebhookAll)
	w.Pay(1, "1", "a")
	w.Attempts(1, 1)
	b := w.Browser().SignIn("lan")
	const changed = "The secret was changed after this attempt."
	if page := b.Get("/deliveries/1"); strings.Contains(page.Body, changed) ||
		!strings.Contains(page.Body, delivery.Signature(secret, []byte(receiver.calls()[0].body))) {
		t.Error("before the rotation")
	}
	attempted := time.Now() // a change in the same millisecond is none
	_, err := w.Services.Deliveries.RotateSecret(ctx, 1, hook.ID, delivery.SecretRotate{Overlap: time.Hour}, attempted.Add(2*time.Millisecond))
	apptest.Must(t, err)
	// As long as the old secret signs, what is shown is what was sent.
	for _, name := range []string{"X-Webhook-Signature", "Webhook-Signature"} {
		if line := name + ": " + receiver.calls()[0].header.Get(name) +
			"\n"; !strings.Contains(html.UnescapeString(b.Get("/deliveries/1").Body), line) {
			t.Errorf("during the overlap the page doesn't show %q", line)
		}
	}
	next, err := w.Services.Deliveries.RotateSecret(ctx, 1, hook.ID, delivery.SecretRotate{}, attempted.Add(4*time.Millisecond))
	apptest.Must(t, err)
	page := b.Get("/deliveries/1").Body
	if !strings.Contains(page, changed) || strings.Contains(page, delivery.Signature(secret, []byte(receiver.calls()[0].body))) {
		t.Error("after the rotation")
	}
	if body := regexp.MustCompile(`--data-raw '(.*)'$`).FindStringSubmatch(preText(t, page, "curl")); body == nil ||
		!strings.Contains(page, "X-Webhook-Signature: "+delivery.Signature(next, []byte(body[1]))) {
		t.Error("the signature is not the present secret's")
	}
	w.Pay(1, "2", "b")
	w.Attempts(1, 2)
	if page := b.Get("/deliveries/2"); strings.Contains(page.Body, changed) {
		t.Error("an attempt after the rotation")
	}
	apptest.Must(t, w.Services.Deliveries.DeleteWebhook(ctx, 1, hook.ID, time.Now()))
	page = b.Get("/deliveries/1").Body
	if !strings.Contains(page, "The webhook and its secret were deleted") || strings.Contains(page, "X-Webhook-Signature") ||
		strings.Contains(page, `id="curl"`) {
		t.Error("after the webhook was deleted")
	}
}

// What a receiver answers is a text, whatever it is.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	for i, c := range []struct{ name, body, want string }{
		{"a script", `</pre><script>alert(1)</script>`, `&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;`},
		{"NUL", "a\x00b", "a‹U+0000›b"},
		{"colours of a terminal", "\x1b[31mred\x1b[0m\x07", "‹U+001B›[31mred‹U+001B›[0m‹U+0007›"},
		{"not UTF-8", "caf\xe9 \xff", "caf\ufffd \ufffd"},
		{"turned around", "\u202egnp.exe\u2066", "‹U+202E›gnp.exe‹U+2066›"},
		{"C1 and DEL", "a\u009b31m\x7f", "a‹U+009B›31m‹U+007F›"},
		{"lines", "one\r\ntwo\tx\rthree", "one\ntwo\tx‹U+000D›three"},
		{"4 KiB without a space", strings.Repeat("x", 5000), strings.Repeat("x", 4096) + "<"},
		{"4 KiB that end within a letter", strings.Repeat("ộ", 2000), strings.Repeat("ộ", 1365) + "\ufffd<"},
		{"a template", "{{.Data.Secrets}}", "{{.Data.Secrets}}"},
	} {
		receiver := newMoody(t, 500, c.body)
		hook, _ := w.Webhook(receiver.url, delivery.WebhookAll)
		w.Pay(1, c.name, "a")
		w.Attempts(1, i+1)
		page := b.Get("/deliveries/" + itoa(int64(i+1)))
		if page.Body = strings.ReplaceAll(page.Body, "&#43;", "+"); page.Status != http.StatusOK || !strings.Contains(page.Body, c.want) ||
			strings.ContainsAny(page.Body, "\x00\x1b\x07\x7f\u202e") || strings.Contains(page.Body, "<script>") {
			t.Errorf("%s: %d\n%s", c.name, page.Status, page.Body)
		}
		apptest.Must(t, w.Services.Deliveries.DeleteWebhook(context.Background(), 1, hook.ID, time.Now()))
	}
}

// The curl command makes the very call that the service makes, whatever stands
// in the transaction: the shell takes it as text.
func TestCurl(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 200, "")
	w.Webhook(receiver.url+"/a/../{b}/[1-3]?key='k'&x=$(id)`id`%20", delivery.WebhookAll)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("skipped: there is no curl here")
	}
	b := w.Browser().SignIn("lan")
	for i, content := range []string{
		"plain", "it's 'quoted' \"twice\"", "$(touch /tmp/harmed) `id` $HOME ${IFS} !! ~ \\ \\' ; rm -rf x & | > <", "@/etc/passwd",
		"dòng\nmới\ttab \r %s %n",
		"\u202egnp.exe \u2028 \x7f 😀", "''''", "'; echo harmed; '", strings.Repeat("'", 500),
	} {
		w.Pay(1, content, content)
		w.Attempts(1, i+1)
		before := receiver.calls()
		sent := before[len(before)-1]
		id := w.Attempts(1, i+1)[0].Delivery.ID
		command := preText(t, b.Get("/deliveries/"+itoa(id)).Body, "curl")
		out, err := exec.Command("sh", "-c", command+" --silent --show-error --max-time 60 --noproxy '*'").CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%q: %v %s\n%s", content, err, out, command)
		}
		calls := receiver.calls()
		if len(calls) != len(before)+1 {
			t.Fatalf("%q: %d calls\n%s", content, len(calls)-len(before), command)
		}
		made := calls[len(calls)-1]
		if diff := cmp.Diff(sent.body, made.body); diff != "" || made.path != sent.path {
			t.Errorf("%q: %s instead of %s\n%s", content, made.path, sent.path, diff)
		}
		for _, name := range []string{"Content-Type", "User-Agent", "X-Webhook-Signature", "Webhook-Id", "Content-Length"} {
			if made.header.Get(name) != sent.header.Get(name) {
				t.Errorf("%q: %s %q, want %q", content, name, made.header.Get(name), sent.header.Get(name))
			}
		}
	}
}
