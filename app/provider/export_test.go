package provider

import (
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// SignedJSON is what a Casso V2 call with this body signs after its timestamp.
func SignedJSON(body []byte) ([]byte, inbound.Refusal) {
	v, why := parseSigned(body)
	return exactjson.AppendJS(nil, exactjson.SortedMembers(exactjson.WithJSNumbers(v), true)), why
}

// SignedPayOS is what a payOS call with this body signs; ok is false where
// payOS's libraries would sign nothing.
func SignedPayOS(body []byte) (text []byte, ok bool) {
	v, why := parseSigned(body)
	fields, ok := payOSFields(v.Get("data"))
	return fields.signedText(), ok && why.Code == ""
}
