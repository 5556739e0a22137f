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
func (q *Request) answer(w http.ResponseWriter, status int, en, vi string, members ...member) error {
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
	wire.WriteBody(w, status, body.Bytes())
	return nil
}
