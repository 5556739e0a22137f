package dashboard_test

import (
	"context"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/verify"
	"baoco/web/webtest"
)

// noSecret is written as secrets are, and no webhook's.
const noSecret = "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="

// What the account knows tells more than what was entered: which webhook signed
// a call, which secret was meant, and what was sent.
func TestSignatureTool(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 401, "wrong signature")
	create := func(name string) (delivery.Webhook, string) {
		hook, secret, err := w.Services.Deliveries.CreateWebhook(ctx, 1,
			delivery.WebhookCreate{Name: name, URL: receiver.url, Type: delivery.WebhookAll}, time.Now())
		apptest.Must(t, err)
		return hook, secret
	}
	shop, secret := create("shop")
	w.Pay(1, "1", "Đơn hàng a/b")
	w.Attempts(1, 1)
	call := receiver.calls()[0]
	books, booksSecret := create("books")
	turned, former := create("turned")
	after := func() time.Time { return time.Now().Add(2 * time.Millisecond) } // a change in the same millisecond is none
	latter, err := w.Services.Deliveries.RotateSecret(ctx, 1, turned.ID, delivery.SecretRotate{Overlap: time.Hour}, after())
	apptest.Must(t, err)
	_, foreign, err := w.Services.Deliveries.CreateWebhook(ctx, w.SecondAccount(),
		delivery.WebhookCreate{Name: "foreign", URL: receiver.url, Type: delivery.WebhookAll}, time.Now())
	apptest.Must(t, err)

	signature := call.header.Get("X-Webhook-Signature")
	sent := call.body
	changed := strings.Replace(sent, "Đơn", "Don", 1)
	const matches, differs = "The signature matches", "The signature does not match"
	known := []string{"webhook_id", itoa(shop.ID), "delivery_id", "1"}
	b := w.Browser().SignIn("lan")
	for _, c := range []struct {
		name, body, signature, secret string
		more                          []string
		want                          []string
	}{
		{"right", sent, signature, secret, nil, []string{matches}},
		{"without a secret", sent, signature, "", known, []string{matches}},
		{"without a signature", sent, "", secret, known, []string{matches}},
		{"with the standard headers", sent, call.header.Get("Webhook-Signature"), secret,
			[]string{"message_id", call.header.Get("Webhook-Id"), "timestamp", call.header.Get("Webhook-Timestamp")}, []string{matches}},
		{"prefix", sent, "sha256=" + signature, secret, nil, []string{matches, "begins with sha256="}},
		{"line break in the secret", sent, signature, secret + " ", known, []string{differs, "has spaces, a line break or quotes"}},
		{"line break in the body", sent + "\n", signature, secret, nil,
			[]string{differs, "The JSON was written again", "seen by your server", "‹U+000A›"}},
		{"json_encode", strings.ReplaceAll(sent, "/", `\/`), signature, secret, nil,
			[]string{differs, "The JSON was written again", `b","transferTy`}},
		{"changed", changed, signature, secret, known,
			[]string{differs, "is not the one that was sent", `content":"<mark class="in">Đơn`, `content":"<mark>Don`}},
		{"changed, the transaction by the body", changed, signature, secret, nil, []string{differs, "is not the one that was sent"}},
		{"changed, without a signature", changed, "", secret, known, []string{differs, "is not the one that was sent"}},
		{"cut", sent[:len(sent)-5], signature, secret, known, []string{differs, "is not the one that was sent", "(end)"}},
		{"another secret", sent, signature, noSecret, known, []string{differs, "signed with a secret of the webhook “\u2068shop\u2069”"}},
		{"another webhook's secret", sent, signature, booksSecret, known,
			[]string{differs, "signed with a secret of the webhook “\u2068shop\u2069”"}},
		{"another webhook chosen", sent, signature, noSecret, []string{"webhook_id", itoa(books.ID)},
			[]string{differs, "signed with a secret of the webhook “\u2068shop\u2069”"}},
		{"another webhook chosen than the delivery's", sent, "", secret,
			[]string{"webhook_id", itoa(books.ID), "delivery_id", "1"}, []string{matches}},
		{"the new secret too early", "{}", delivery.Signature(former, []byte("{}")), latter, []string{"webhook_id", itoa(turned.ID)},
			[]string{differs, "the other secret of a rotation"}},
		{"a signature that nobody made", sent, strings.Repeat("0", 64), secret, known, []string{differs, "None of the usual mistakes"}},
		{"a secret of another account", sent, delivery.Signature(foreign, []byte(sent)), noSecret, nil,
			[]string{differs, "None of the usual mistakes"}},
	} {
		a := checkSignature(b, nil,
			append([]string{"body", strings.ReplaceAll(c.body, "\n", "\r\n"), "signature", c.signature, "secret", c.secret}, c.more...)...)
		a.WantStatus(t, http.StatusOK)
		for _, part := range c.want {
			if !strings.Contains(strings.ToLower(a.Body), strings.ToLower(part)) {
				_, result, _ := strings.Cut(a.Body, `id="outcome"`)
				result, _, _ = strings.Cut(result, "</section>")
				t.Errorf("%s: no %q\n%s", c.name, part, result)
			}
		}
		for _, s := range []string{secret, booksSecret, former, latter, foreign, noSecret} {
			if strings.Contains(a.Body, s[6:]) {
				t.Errorf("%s: the page repeats a secret", c.name)
			}
		}
		// No page shows a signature that wasn't entered.
		if strings.Contains(strings.ReplaceAll(a.Body, c.signature+`"`, ""), signature) && c.signature != "" {
			t.Errorf("%s: the page shows a signature", c.name)
		}
	}

	// A file is taken as it is.
	if a := checkSignature(b, []byte("\ufeff"+sent+"\r\n"), "body", "ignored", "signature", signature, "secret",
		secret); !strings.Contains(a.Body, "‹U+FEFF›") {
		t.Error(a.Body)
	}
	b.Header.Set("Accept-Language", "vi")
	if a := b.Get("/tools/signature?webhook_id=1&delivery_id=1"); !strings.Contains(a.Body, "Kiểm tra chữ ký") ||
		!strings.Contains(a.Body, `value="1" selected`) || !strings.Contains(a.Body, `name="delivery_id" value="1"`) {
		t.Error(a.Body)
	}
	b.Header.Del("Accept-Language")

	// After the overlap the new secret is the only one that signs.
	for _, c := range []struct{ signed, entered, want string }{
		{latter, former, "secret_rotated"}, {former, latter, "secret_rotated"}, {former, "", "secret_rotated"},
		{latter, latter, ""}, {latter, "", ""},
	} {
		claim := verify.Claim{Body: []byte("{}"), Signature: delivery.Signature(c.signed, []byte("{}")), Secret: c.entered}
		claim.WebhookID = turned.ID
		later := time.Now().Add(2 * time.Hour)
		facts, err := w.Services.Deliveries.SignatureFacts(ctx, 1, claim.Reference(), later)
		apptest.Must(t, err)
		r, err := verify.Check(claim, facts, later)
		apptest.Must(t, err)
		if r.Matches != (c.want == "") || !r.Matches && r.Mistakes[0].Code != c.want {
			t.Errorf("after the overlap: %+v, want %q", r, c.want)
		}
	}

	// The pages of what was refused lead here, and to the help.
	exhaust(w, shop.ID, delivery.Result{StatusCode: 401, Error: delivery.ErrorHTTPStatus})
	for _, path := range []string{"/deliveries/1", "/webhooks/1"} {
		b.Get(path).Shows(t, `href="/help/receiver-401"`)
		if n := strings.Count(b.Get(path).Body, `href="/tools/signature?webhook_id=1`); n != 2 {
			t.Errorf("%s leads to the tool %d times, want 2", path, n)
		}
	}

	// After a rotation without an overlap, and after it was deleted, what was
	// sent can't be made anew.
	if latter, err = w.Services.Deliveries.RotateSecret(ctx, 1, shop.ID, delivery.SecretRotate{}, after()); err != nil {
		t.Fatal(err)
	}
	ask := func(secret string) webtest.Answer {
		return checkSignature(b, nil, append([]string{"body", sent, "signature", signature, "secret", secret}, known...)...)
	}
	if a := ask(secret); !strings.Contains(a.Body, matches) {
		t.Error(a.Body)
	}
	if a := ask(latter); !strings.Contains(a.Body, differs) || !strings.Contains(a.Body, "None of the usual mistakes") {
		t.Error(a.Body)
	}
	apptest.Must(t, w.Services.Deliveries.DeleteWebhook(ctx, 1, shop.ID, time.Now()))
	if a := checkSignature(b, nil, "body", sent, "delivery_id", "1", "secret", latter); !strings.Contains(a.Body, differs) ||
		!strings.Contains(a.Body, "no longer has the secret") {
		t.Error(a.Body)
	}
}

// What is entered is checked, never repeated where it is a secret, and nothing
// of another account is found.
func TestSignatureToolRefuses(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	other := w.SecondAccount()
	w.User(1, "lan", access.RoleOwner)
	w.User(other, "minh", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 401, "")
	_, secret := w.Webhook(receiver.url, delivery.WebhookAll)
	id := w.Pay(1, "1", "a")
	w.Attempts(1, 1)
	call := receiver.calls()[0]
	lan, minh := w.Browser().SignIn("lan"), w.Browser().SignIn("minh")
	for _, c := range []struct {
		name string
		form []string
		want string
	}{
		{"nothing", nil, "Signature is required"},
		{"no secret", []string{"signature", "x"}, "Secret is required"},
		{"no such webhook", []string{"signature", "x", "webhook_id", "99"}, "Webhook names nothing"},
		{"no id of a webhook", []string{"signature", "x", "webhook_id", "x"}, "Webhook names nothing"},
		{"no such delivery", []string{"signature", "x", "secret", "x", "delivery_id", "99"}, "Delivery names nothing"},
		{"no id of a delivery", []string{"signature", "x", "secret", "x", "delivery_id", "-1"}, "Delivery names nothing"},
		{"too long", []string{"signature", "x", "secret", "x", "body", strings.Repeat("x", verify.MaxBody+1)}, "must be at most 64 KiB"},
		{"far too long", []string{"signature", "x", "secret", "x", "body", strings.Repeat("x", 1<<20)}, "must be at most 64 KiB"},
	} {
		if a := checkSignature(lan, nil, c.form...); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, c.want) {
			t.Errorf("%s: %d without %q", c.name, a.Status, c.want)
		}
		if a := lan.Post("/tools/signature", c.form...); a.Status != http.StatusUnprocessableEntity ||
			!strings.Contains(html.UnescapeString(a.Body), c.want) {
			t.Errorf("%s, as a plain form: %d without %q", c.name, a.Status, c.want)
		}
	}
	for _, field := range []string{"webhook_id", "delivery_id"} {
		if a := checkSignature(minh, nil, "body", call.body, "signature", call.header.Get("X-Webhook-Signature"), "secret", "x", field,
			"1"); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "names nothing in this account") {
			t.Errorf("%s of another account: %d", field, a.Status)
		}
	}
	changed := strings.Replace(call.body, `"content":"a"`, `"content":"b"`, 1)
	a := checkSignature(minh, nil, "body", changed, "signature", call.header.Get("X-Webhook-Signature"), "secret", secret, "message_id",
		call.header.Get("Webhook-Id"))
	if a.Status != http.StatusOK || strings.Contains(a.Body, "First difference") || strings.Contains(a.Body, "The secret is right") {
		t.Errorf("transaction %d of another account: %d\n%s", id, a.Status, a.Body)
	}
	// A secret that was entered into another field isn't repeated either.
	for _, field := range []string{"body", "signature", "message_id", "timestamp", "delivery_id", "webhook_id"} {
		form := []string{field, "x " + secret + " x", "secret", secret}
		if field != "signature" {
			form = append(form, "signature", call.header.Get("X-Webhook-Signature"))
		}
		if a := checkSignature(lan, nil, form...); strings.Contains(a.Body, secret) || strings.Contains(a.Body, secret[6:30]) {
			t.Errorf("the page repeats a secret that was entered as %s", field)
		}
	}
}

// checkSignature sends the form of the signature tool as a browser does.
func checkSignature(b *webtest.Browser, file []byte, pairs ...string) webtest.Answer {
	name := ""
	if file != nil {
		name = "body.bin"
	}
	a := b.Upload("/tools/signature", name, string(file), pairs...)
	a.Body = html.UnescapeString(a.Body)
	return a
}
