package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"baoco/app"
	"baoco/web/wire"
)

// member is a member of the JSON object that an answer is.
type member struct {
	key   string
	value any
}

// answer writes a success: status true, the message in the caller's language,
// and the members in their order. The error is always nil, so that a handler can
// end with the call.
func (q *Request) answer(status int, en, vi string, members ...member) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	body.WriteString(`{"status":true`)
	for _, m := range append([]member{{"messages", app.Text{EN: en, VI: vi}.In(wire.Lang(q.Request))}}, members...) {
		body.WriteString("," + strconv.Quote(m.key) + ":")
		if err := encoder.Encode(m.value); err != nil {
			panic(err) // only the types of this package come here
		}
		body.Truncate(body.Len() - 1) // the line break that Encode adds
	}
	body.WriteString("}\n")
	wire.WriteBody(q.writer, status, body.Bytes())
	return nil
}

// ok answers with the members where err is nil, and returns err otherwise. The members
// are made before it looks, of zero values where there is an error.
func (q *Request) ok(err error, en, vi string, members ...member) error {
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, en, vi, members...)
}

// All is what encode makes of each element of list.
func All[T, J any](list []T, encode func(T) J) []J {
	encoded := make([]J, len(list))
	for i, element := range list {
		encoded[i] = encode(element)
	}
	return encoded
}
