package provider

import (
	"net/http"
	"net/url"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

// MadeUp is a provider as its file would have it. Its line in Kinds is in
// TestProviderIsOneFile.
var MadeUp = Kind{
	ProviderKind: app.ProviderKind{
		Provider: "made-up", Name: "Made-Up Pay", Group: app.Gateways,
		About: app.Text{EN: "made-up.example, all accounts", VI: "made-up.example, mọi tài khoản"},
		Auths: []app.Auth{app.AuthBearer, app.AuthAPIKey}, DefaultAuth: app.AuthBearer,
		Setup: always(app.Text{EN: "1. Open made-up.example. 2. Enter this URL.", VI: "1. Mở made-up.example. 2. Nhập URL này."}),
	},
	Verify: func(in Call, h http.Header) app.Refusal { return checkCredential(h, "Bearer", in.Source.Secret) },
	read: func(in Call) Reading {
		return Reading{Elements: readList(in, "paid", readMadeUp)}
	},
	List: &List{
		Base: "https://made-up.example", Path: "/v9/list", Scheme: "Key",
		Ask: func(_ app.Source, progress string, _ time.Time, zone *time.Location) Question {
			return Question{Query: url.Values{"after": {progress}}, Read: func(body []byte) (app.PolledPage, error) {
				elements, err := readMadeUpPage(body, zone)
				return app.PolledPage{Body: body, Elements: elements, Progress: "L2"}, err
			}}
		},
		read: readMadeUpPage,
	},
	many: true,
}

func readMadeUpPage(body []byte, zone *time.Location) ([]app.Incoming, error) {
	page, err := parsePage(body)
	if err != nil {
		return nil, err
	}
	return readRecords(page, "paid", zone, readMadeUp)
}

func readMadeUp(v exactjson.Value, zone *time.Location) app.Incoming {
	e := app.Incoming{Type: app.In, Gateway: v.Get("bank").Str(), AccountNumber: v.Get("account").Word(), EventIDChannel: app.ChannelCall}
	setDate(&e, v.Get("at"), zone)
	e.Fault = firstFault(readWord(v, "id", &e.EventID), readAmountWord(v, "vnd", &e.Amount))
	return e
}
