package scheduler_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/delivery"
)

// Shops that were made for SePay, in PHP and in Node, take what a webhook of that kind sends
// them, once, and are heard where they refuse.
func TestSepayShops(t *testing.T) {
	const key = "abcdefghij0123456789KLMNOPQRSTUV"
	for _, shop := range []struct {
		program, source string
		args            []string
		auth            delivery.SepayAuth
		refused         delivery.ErrorClass // of an order that the shop doesn't have
	}{
		{"php", "sepay.php", []string{"-S", "127.0.0.1:0"}, delivery.SepayAPIKey, delivery.ErrorAnswer},
		{"node", "sepay.mjs", nil, delivery.SepayHMAC, delivery.ErrorHTTPStatus},
	} {
		t.Run(shop.program, func(t *testing.T) {
			t.Parallel()
			file := "../testdata/receivers/" + shop.source
			if _, err := os.Stat(file); err != nil { // for Go's cache of results
				t.Fatal(err)
			}
			program, err := exec.LookPath(shop.program)
			if err != nil {
				t.Skipf("%s is not installed", shop.program)
			}
			r := startReceiver(t, program, append(shop.args, file), key)
			if r == nil {
				t.Fatal("the shop did not start")
			}
			sender := senderAllowing(t, "127.0.0.1/32")
			send := func(change func(*delivery.Outgoing)) delivery.Result {
				o := nastyDeliveries(t)[0]
				o.URL, o.Kind, o.Auth, o.Secrets.Current = r.url, delivery.WebhookSepay, shop.auth, key
				o.Payload.Code = app.PaymentCode{Text: "DH12", Read: true}
				o.Payload.Test, o.Payload.TransferType, o.Payload.TransferAmount = false, app.In, 200_000
				change(&o)
				return sender.Send(t.Context(), o)
			}
			taken := 0
			for _, nasty := range nastyDeliveries(t) {
				p := nasty.Payload
				if p.Test {
					continue
				}
				taken++
				for range 2 {
					if result := send(func(o *delivery.Outgoing) {
						o.Payload.ID, o.Payload.Content, o.Payload.TransactionNumber = p.ID, p.Content, p.TransactionNumber
					}); !result.OK() {
						t.Errorf("%q: %d %s %s", p.Content, result.StatusCode, result.Error, result.Body)
					}
				}
			}
			for words, change := range map[string]func(*delivery.Outgoing){
				"wrong key":     func(o *delivery.Outgoing) { o.Secrets.Current = "another" + key },
				"wrong fields":  func(o *delivery.Outgoing) { o.Payload.Code = app.PaymentCode{} },
				"no such order": func(o *delivery.Outgoing) { o.Payload.TransferAmount++ },
			} {
				result := send(change)
				if result.OK() || !strings.Contains(string(result.Body), words) || words == "no such order" && result.Error != shop.refused {
					t.Errorf("%s: %d %s %s", words, result.StatusCode, result.Error, result.Body)
				}
			}
			if output := r.stop(); strings.Count(output, "credit ") != taken {
				t.Errorf("want %d credits; the shop printed:\n%s", taken, output)
			}
		})
	}
}
