package webtest

import (
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/provider"
)

// RefusalOf is the refusal of a call by the kind of its source, without the limit on
// failing calls that the way over HTTP has.
func RefusalOf(source app.Source, body []byte, h http.Header, at time.Time) app.Refusal {
	a, found := provider.Find(source.Provider)
	if !found {
		panic("unknown provider " + source.Provider)
	}
	return a.Verify(provider.Call{Source: source, Body: body, At: at}, h)
}

// SignedJSON is what a Casso V2 call with this body signs after its timestamp.
func SignedJSON(body []byte) ([]byte, app.Refusal) {
	v, why := provider.ParseSigned(body)
	return exactjson.AppendJS(nil, exactjson.SortedMembers(exactjson.WithJSNumbers(v), true)), why
}

// SignedPayOS is what a payOS call with this body signs; ok is false where
// payOS's libraries would sign nothing.
func SignedPayOS(body []byte) (text []byte, ok bool) {
	v, why := provider.ParseSigned(body)
	fields, ok := provider.PayOSFields(v.Get("data"))
	return fields.Signed(), ok && why.Code == ""
}
