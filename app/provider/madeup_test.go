package provider

import (
	"net/http"
	"net/url"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// MadeUp is a provider as its file would have it. Its line in Kinds is in
// TestProviderIsOneFile.
var MadeUp = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "made-up", Name: "Made-Up Pay", Group: inbound.Gateways,
		About: app.Text{EN: "made-up.example, all accounts", VI: "made-up.example, mọi tài khoản"},
		Auths: []inbound.Auth{inbound.AuthBearer, inbound.AuthAPIKey}, DefaultAuth: inbound.AuthBearer,
		Setup: always(app.Text{EN: "1. Open made-up.example. 2. Enter this URL.", VI: "1. Mở made-up.example. 2. Nhập URL này."}),
	},
	Verify: func(in Call, h http.Header) inbound.Refusal { return checkCredential(h, "Bearer", in.Source.Secret) },
	read: func(in Call) inbound.Reading {
		return inbound.Reading{Elements: readList(in, "paid", readMadeUp)}
	},
	List: &List{
		Base: "https://made-up.example", Path: "/v9/list", Scheme: "Key",
		Ask: func(_ inbound.Source, progress string, _ time.Time, zone *time.Location) Question {
			return Question{Query: url.Values{"after": {progress}}, Read: func(body []byte) (inbound.PolledPage, error) {
				elements, err := readMadeUpPage(body, zone)
				return inbound.PolledPage{Body: body, Elements: elements, Progress: "L2"}, err
			}}
		},
		read: readMadeUpPage,
	},
	many: true,
}

func readMadeUpPage(body []byte, zone *time.Location) ([]inbound.Incoming, error) {
	page, err := parsePage(body)
	if err != nil {
		return nil, err
	}
	return readRecords(page, "paid", zone, readMadeUp)
}

func readMadeUp(v exactjson.Value, zone *time.Location) inbound.Incoming {
	e := inbound.Incoming{Type: app.In, Gateway: v.Get("bank").Str(), AccountNumber: v.Get("account").Word(), EventIDChannel: app.ChannelCall}
	setDate(&e, v.Get("at"), zone)
	e.Fault = firstFault(readWord("id", v.Get("id"), &e.EventID), readAmountWord("vnd", v.Get("vnd"), &e.Amount))
	return e
}
