package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// The owner enters how the shop's codes look, tries a content, and finds the code at
// the transactions, in the search and in the forms of webhooks and streams.
func TestCodesPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Get("/settings/codes").Shows(t, "No codes yet: nothing is read.")
	if strings.Contains(b.Get("/webhooks/new").Body, "code_prefix") {
		t.Error("a webhook can be limited to codes although there are none")
	}
	for _, c := range []struct{ prefix, least, most, alphabet, field, why string }{
		{"D", "6", "", "digits", "prefix", "must be 2 to 10 letters"},
		{"CK", "6", "", "digits", "prefix", "is a word that banks write themselves"},
		{"CKN", "6", "", "digits", "prefix", "is a word that banks write themselves"},
		{"DH", "", "", "digits", "min_length", "must be from 3 to 23"},
		{"DH", "six", "", "digits", "min_length", "must be from 3 to 23"},
		{"DH", "3", "", "letters_and_digits", "min_length", "must be from 4 to 23"},
		{"DH", "6", "5", "digits", "max_length", "must be from 6 to 23"},
		{"DH", "6", "", "words", "alphabet", "must be digits or"},
	} {
		a := b.Post("/settings/codes", "prefix", c.prefix, "min_length", c.least, "max_length", c.most, "alphabet", c.alphabet)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, `id="`+c.field+`-problem"`, c.why)
	}
	b.Post("/settings/codes", "prefix", " dh ", "min_length", "6", "max_length", "", "alphabet", "digits").Goes(t, "/settings/codes")
	b.Post("/settings/codes", "prefix", "SHOP", "min_length", "5", "max_length", "8", "alphabet",
		"letters_and_digits").Goes(t, "/settings/codes")
	again := b.Post("/settings/codes", "prefix", "DH", "min_length", "7", "alphabet", "digits")
	again.WantStatus(t, http.StatusConflict)
	again.Shows(t, "A code pattern with this prefix exists.", `value="DH"`, `value="7"`)
	b.Get("/settings/codes").Shows(t, "6 digits", "DH123456", "5–8 letters and digits", "SHOPA1B2C")
	b.Get("/settings/codes?content=ck+dh-001234").Shows(t, "<code>DH001234</code>")
	b.Get("/settings/codes?content=DH001234+DH001235").Shows(t, "No code can be read for sure:")
	b.Get("/settings/codes?content=ck+shopx9y8z7").Shows(t, "<code>SHOPX9Y8Z7</code>")

	w.Pay(1, "1", "ck dh-001234 cam on")
	b.Get("/transactions").Shows(t, `<span class="chip">DH001234</span>`)
	b.Get("/transactions/1").Shows(t, `<a href="/transactions?payment_code=DH001234"><code>DH001234</code></a>`)
	b.Get("/transactions?q=DH001234").Shows(t, "the payment code <code>DH001234</code>", "ck dh-001234 cam on")
	b.Get("/transactions?payment_code=DH001234").Shows(t, "1 transaction", "DH001234")
	b.Get("/transactions?payment_code=DH001235").Shows(t, "0 transactions")
	b.Get("/transactions?payment_code=x").WantStatus(t, http.StatusUnprocessableEntity)
	b.Get("/transactions?q=DH001235").Shows(t, "0 transactions")

	b.Get("/webhooks/new").Shows(t, `name="code_prefix" value="DH"`)
	b.Post("/webhooks", "once", webtest.FormKey(), "name", "orders", "webhook_url", "https://shop.vn/", "type", "IN", "bank_account_id", "1",
		"code_prefix", "DH").WantStatus(t, http.StatusOK)
	b.Get("/webhooks").Shows(t, "; codes that begin with DH")
	b.Get("/webhooks/1").Shows(t, "codes that begin with DH")
	b.Get("/streams/new").Shows(t, `<option value="SHOP">`)
	b.Post("/streams", "once", webtest.FormKey(), "name", "kho", "url", "kafka://kafka.shop.vn", "topic", "shop", "type", "ALL", "start",
		"now", "code_prefix", "SHOP").WantStatus(t, http.StatusOK)
	b.Get("/streams").Shows(t, "codes that begin with SHOP")
	b.Get("/streams/1").Shows(t, "codes that begin with SHOP")

	b.Get("/settings/codes/1/delete").Shows(t, "Delete the pattern “DH”?", "without new transactions from then on: “\u2068orders\u2069”.")
	b.Post("/settings/codes/1/delete").Goes(t, "/settings/codes")
	b.Get("/settings/codes/1/delete").WantStatus(t, http.StatusNotFound)
	b.Get("/transactions/1").Shows(t, "<code>DH001234</code>")
}
