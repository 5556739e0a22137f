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
// and the members in their order. A handler ends with it: where there is an err, it only
// returns that. The members are made before, of zero values then.
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
			panic(err) // only the types of this package come here
		}
		body.Truncate(body.Len() - 1) // the line break that Encode adds
	}
	body.WriteString("}\n")
	wire.WriteBody(q.writer, status, body.Bytes())
	return nil
}

// ok is answer with the usual status.
func (q *Request) ok(err error, en, vi string, members ...member) error {
	return q.answer(err, http.StatusOK, en, vi, members...)
}

// All is what encode makes of each element of list.
func All[T, J any](list []T, encode func(T) J) []J {
	encoded := make([]J, len(list))
	for i, element := range list {
		encoded[i] = encode(element)
	}
	return encoded
}
