package provider

import (
	"maps"
	"net/http"
	"slices"

	"baoco/app"
	"baoco/app/exactjson"
)

// generic reads any JSON: where its fields stand is said when the
// source is added.
var generic = Kind{
	kind: app.ProviderKind{
		Provider: "generic", Auths: []app.Auth{app.AuthBearer, app.AuthToken}, DefaultAuth: app.AuthBearer,
		Options: []app.SourceOption{app.OptionMap, app.OptionHeader}, Check: checkGeneric,
		Setup: app.Text{
			EN: "1. Have the sender POST its JSON to this URL. 2. Have it send the header Authorization: Bearer with the secret, or the secret alone in the header that you set for this source. 3. Send a test call and check it in the inbound log.",
			VI: "1. Cho bên gửi POST JSON tới URL này. 2. Gửi kèm header Authorization: Bearer và secret, hoặc chỉ secret trong header bạn đã đặt cho nguồn này. 3. Gửi thử một lượt gọi rồi xem lại trong lịch sử nhận.",
		},
	},
	Verify: verifySecretHeader,
	read:   readGeneric,
	many:   true,
}

// verifySecretHeader is for what can send a header that doesn't change: the
// secret as a Bearer token, or alone in the header of the source's choice.
func verifySecretHeader(in Call, h http.Header) app.Refusal {
	if in.Source.Auth == app.AuthToken {
		return checkHeader(h, in.Source.Options.Header, in.Source.Secret)
	}
	return checkCredential(h, "Bearer", in.Source.Secret)
}

// checkSecretHeader is the Check of what verifySecretHeader verifies.
func checkSecretHeader(in app.SourceAdd) error {
	if in.Auth == app.AuthToken && in.Options.Header == "" {
		return app.InvalidField("header", "is required with auth token", "là bắt buộc với auth token")
	}
	return nil
}

// genericFields are the names under which a field can be mapped: its own, and
// those of the native format and of the API.
var genericFields = map[string]string{
	"list": "list", "id": "id",
	"amount": "amount", "transferAmount": "amount",
	"account": "account", "accountNumber": "account",
	"type": "type", "transferType": "type", "direction": "type",
	"number": "number", "transactionNumber": "number",
	"gateway": "gateway", "bank": "gateway",
	"content": "content",
	"time":    "time", "transactionDate": "time", "date": "time",
}

// mapping reads what is mapped, by field.
func mapping(fields map[string]string) (map[string]exactjson.Path, error) {
	var v app.Invalid
	paths := map[string]exactjson.Path{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, known := genericFields[name]
		p, ok := exactjson.ParsePath(fields[name])
		switch {
		case !known:
			v.Merge(mapFault("%s is no field; there are id, amount, account, type, content, number, time, gateway and list",
				"không có trường %s; chỉ có id, amount, account, type, content, number, time, gateway và list", name))
		case !ok:
			v.Merge(mapFault(`%s is no path; one is data.sum, items.0.sum, items[0].sum or "a.b".sum`,
				`%s không phải đường dẫn; ví dụ data.sum, items.0.sum, items[0].sum hoặc "a.b".sum`, fields[name]))
		case paths[field] != nil:
			v.Merge(mapFault("%s is given twice, under two names", "%s bị nêu hai lần dưới hai tên", field))
		}
		paths[field] = p
	}
	return paths, v.Err()
}

func mapFault(en, vi string, args ...any) error {
	text := app.Textf(en, vi, args...)
	return app.InvalidField("map", text.EN, text.VI)
}

func checkGeneric(in app.SourceAdd) error {
	paths, err := mapping(in.Options.Map)
	switch {
	case err != nil:
	case paths["amount"] == nil:
		err = mapFault("needs amount", "phải có amount")
	case paths["id"] == nil && paths["number"] == nil:
		err = mapFault("needs id, or number where each has its own", "phải có id, hoặc number nếu mỗi giao dịch có một mã riêng")
	case paths["account"] == nil && in.BankAccountID == 0:
		err = mapFault("needs account, unless the source is for one bank account", "phải có account, trừ khi nguồn chỉ dành cho một tài khoản")
	}
	var v app.Invalid
	v.Merge(checkSecretHeader(in))
	v.Merge(err)
	return v.Err()
}

func readGeneric(in Call) Reading {
	paths, err := mapping(in.Source.Options.Map)
	if err != nil {
		return Reading{Elements: []app.Incoming{unreadable("map", "can't be read", "không đọc được")}}
	}
	body, err := exactjson.Parse(in.Body)
	if err != nil {
		return Reading{Elements: notJSON()}
	}
	items := []exactjson.Value{body}
	if p := paths["list"]; p != nil {
		list, once := body.At(p)
		if list.Kind != exactjson.Array || !once {
			return Reading{Elements: []app.Incoming{unreadable(in.Source.Options.Map["list"], "must be an array, given once", "phải là một mảng, chỉ xuất hiện một lần")}}
		}
		items = list.Items
	} else if body.Kind == exactjson.Array {
		items = body.Items
	}
	elements := make([]app.Incoming, len(items))
	for i, item := range items {
		elements[i] = readGenericElement(item, paths, in.Zone)
	}
	return Reading{Elements: elements}
}
