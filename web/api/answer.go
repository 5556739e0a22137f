package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"baoco/app"
	"baoco/web/wire"
)

// member is a member of the JSON object of an answer.
type member struct {
	key   string
	value any
}

// answer writes a success: status true, the message in the caller's language, and the
// members in their order. A handler ends with it. With an err, answer only returns err; the
// caller has then made the members from zero values.
func (q *Request) answer(err error, status int, en, vi string, members ...member) error {
	if err != nil {
		return err
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	body.WriteString(`{"status":true`)
	for _, m := range append([]member{{"messages", app.Text{EN: en, VI: vi}.In(wire.Lang(q.Request))}}, members...) {
		body.WriteString("," + strconv.Quote(m.key) + ":")
		if err := encoder.Encode(m.value); err != nil {
			panic(err) // the types of this package can be encoded
		}
		body.Truncate(body.Len() - 1) // the line break that Encode adds
	}
	body.WriteString("}\n")
	wire.WriteBody(q.writer, status, body.Bytes())
	return nil
}

// ok is answer with status 200.
func (q *Request) ok(err error, en, vi string, members ...member) error {
	return q.answer(err, http.StatusOK, en, vi, members...)
}

// All encodes each element of list.
func All[T, J any](list []T, encode func(T) J) []J {
	encoded := make([]J, len(list))
	for i, element := range list {
		encoded[i] = encode(element)
	}
	return encoded
}
