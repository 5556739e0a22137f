package alert_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
)

// A feed waits after each message and after each failure; a clock that was set back doesn't
// silence it.
func TestPaymentFeedWaits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var fails error
	w := apptest.Open(t, apptest.NewFile(t),
		services.Config{Alert: func(context.Context, alert.Channel, alert.Message) error { return fails }})
	t.Cleanup(w.Close)
	now := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	_, err := w.Services.Alerts.SetAlertChannel(ctx, alert.Channel{
		AccountID: 1, Medium: alert.Telegram,
		Telegram: alert.TelegramSettings{Token: "123456:" + "abcdefghijklmnopqrstuvwxyzABCDEFGHI", Chat: "5"},
	}, now)
	apptest.Must(t, err)
	apptest.Must(t, w.Services.Alerts.SetPaymentFeed(ctx, 1, alert.Telegram, alert.PaymentFeed{On: true}))
	w.Link("ACB", apptest.SomeAccount)
	may := func(at time.Time, want bool) {
		t.Helper()
		channels, err := w.Services.Alerts.PaymentChannels(ctx, at)
		if err != nil || len(channels) > 0 != want {
			t.Errorf("%v after the message: %d channels may send, %v", at.Sub(now), len(channels), err)
		}
	}
	tell := func(id string) {
		t.Helper()
		e := inbound.Incoming{EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: 5000, Time: now}
		_, _, err := w.Services.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{Incoming: e}, now)
		apptest.Must(t, err)
		channels, err := w.Services.Alerts.PaymentChannels(ctx, now)
		apptest.Must(t, err)
		if len(channels) != 1 {
			t.Fatalf("%d channels may send", len(channels))
		}
		if _, told := w.Services.Alerts.SendPayments(ctx, channels[0], now); !told {
			t.Fatal("nothing was told")
		}
	}
	tell("1")
	may(now, false)
	may(now.Add(3499*time.Millisecond), false)
	may(now.Add(3500*time.Millisecond), true)
	may(now.Add(-time.Second), true)
	now, fails = now.Add(time.Minute), errors.New("away")
	tell("2")
	may(now.Add(9*time.Second), false)
	may(now.Add(10*time.Second), true)
	may(now.Add(-time.Minute), false)
	may(now.Add(-time.Hour-time.Second), true) // a wait that long was never asked for
	now = now.Add(time.Minute)
	tell("3")
	may(now.Add(29*time.Second), false)
	now, fails = now.Add(time.Minute), nil
	tell("4")
	now, fails = now.Add(time.Minute), errors.New("away")
	tell("5")
	may(now.Add(10*time.Second), true) // the first in a row again
}
