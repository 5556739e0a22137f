package inbound_test

import (
	"context"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/web/webtest"
)

// TestKeptForm: a kept form is read again, without its headers, when its account
// is linked.
func TestKeptForm(t *testing.T) {
	t.Parallel()
	form, multipart := apptest.Forms(map[string]string{
		"id": "7", "gateway": "ACB", "transactionDate": apptest.SomeDate, "accountNumber": "0019354957", "content": "Đơn = 7 & 8 + 100%\r\n;\x00",
		"transferType": "in", "transferAmount": "5000", "referenceCode": "FT7",
	})
	w := webtest.NewWorld(t)
	source := w.Sepay()
	w.Wants(webtest.Unassigned, source, multipart)
	w.Wants(webtest.Duplicate, source, form)
	w.Link("ACB", "0019354957")
	if x := w.WantTransactions(1)[0]; x.Amount != 5000 {
		t.Errorf("%+v", x)
	}
	w.Wants(webtest.Rejected, source, multipart[:200])
	if _, err := w.Services.Inbound.RetryInbound(context.Background(), 1, w.NewestEvent().ID, time.Now()); err != nil {
		t.Error(err)
	}
}
