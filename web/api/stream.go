package api

import (
	"net/http"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/exactjson"
	"baoco/app/stream"
	"baoco/web/wire"
)

// StreamJSON is the schema Stream of openapi.yaml.
type StreamJSON struct {
	ID            int64                `json:"id"`
	Name          string               `json:"name"`
	URL           string               `json:"url"`
	Topic         string               `json:"topic"`
	Username      string               `json:"username"`        // empty: it has none
	BankAccountID *int64               `json:"bank_account_id"` // null: all
	Type          delivery.WebhookType `json:"type"`
	CodePrefix    string               `json:"code_prefix,omitempty"` // missing: all transactions
	IsActive      bool                 `json:"is_active"`
	CreatedAt     string               `json:"created_at"`
	SinceID       string               `json:"since_id"` // transactions up to this id are sent
	Sent          int64                `json:"sent"`
	LastSentAt    *string              `json:"last_sent_at"`
	FailingSince  *string              `json:"failing_since"`
	Problem       *string              `json:"problem"`               // in the reader's language
	SecretLost    bool                 `json:"secret_lost,omitempty"` // it must be rotated before anything is sent
}

// EncodeStream writes st with its times in zone, for a reader of lang.
func EncodeStream(st stream.Stream, zone *time.Location, lang app.Lang) StreamJSON {
	return StreamJSON{
		ID: st.ID, Name: st.Name, URL: st.URL, Topic: st.Topic, Username: st.Username, BankAccountID: OrNull(st.BankAccountID), Type: st.Type,
		CodePrefix: st.CodePrefix, IsActive: st.IsActive,
		CreatedAt: app.FormatTime(st.CreatedAt, zone), SinceID: strconv.FormatInt(st.Position, 10), Sent: st.Sent,
		LastSentAt:   TimeOrNull(st.SentAt, zone),
		FailingSince: TimeOrNull(st.FailingSince, zone), Problem: OrNull(st.Problem.In(lang)), SecretLost: st.SecretLost,
	}
}

func (s *Server) encodeStream(st stream.Stream, q *Request) StreamJSON {
	return EncodeStream(st, s.zone, wire.Lang(q.Request))
}

func (s *Server) listStreams(q *Request) error {
	return listed(q, s.service.Streams.Streams, func(st stream.Stream) StreamJSON { return s.encodeStream(st, q) },
		"streams", app.Text{EN: "Streams.", VI: "Danh sách luồng."})
}

func (s *Server) createStream(q *Request) error {
	f, err := q.fields("name", "url", "topic", "username", "password", "type", "bank_account_id", "code_prefix", "since_id")
	if err != nil {
		return err
	}
	in := stream.Create{
		Name: f.required("name"), URL: f.required("url"), Topic: f.required("topic"), BankAccountID: f.reference("bank_account_id"),
		CodePrefix: f.given("code_prefix"), SinceID: f.sinceID(),
		Credentials: stream.BrokerCredentials{Username: f.given("username"), Password: f.given("password")},
	}
	if t := f.optional("type"); t != nil {
		in.Type = delivery.WebhookType(*t)
		if *t == "" { // an empty type isn't a missing one
			f.bad.Add("type", "must be IN, OUT or ALL", "phải là IN, OUT hoặc ALL")
		}
	}
	in.Key, err = q.idempotencyKey()
	f.bad.Merge(err)
	f.bad.Merge(s.service.Streams.CheckStream(in))
	if err := f.bad.Err(); err != nil {
		return err
	}
	st, secret, err := s.service.Streams.CreateStream(q.Context(), q.account(), in, q.now)
	if err != nil {
		return err
	}
	if secret == "" {
		return q.ok(nil, "The stream was created before; its secret is not shown again.",
			"Luồng đã được tạo trước đó; khoá bí mật sẽ không hiển thị lại.", member{"stream", s.encodeStream(st, q)})
	}
	warning := st.PlainWarning(in.Credentials.Password != "")
	return q.answer(nil, http.StatusCreated, "The stream was created. Store the secret now: it is not shown again."+warning.EN,
		"Đã tạo luồng. Hãy lưu khoá bí mật ngay: khoá bí mật sẽ không hiển thị lại."+warning.VI,
		member{"stream", s.encodeStream(st, q)}, member{"secret", secret})
}

// sinceID reads since_id, a string of digits or a number; nil: it is missing or null.
func (f *fields) sinceID() *int64 {
	v := f.body.Get("since_id")
	if v.Kind == exactjson.Null {
		return nil
	}
	if v.Kind != exactjson.String && v.Kind != exactjson.Number {
		v.Text = ""
	}
	return new(readSinceID("since_id", v.Text, &f.bad))
}

func (s *Server) showStream(q *Request) error {
	st, err := s.service.Streams.Stream(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The stream.", "Luồng giao dịch.", member{"stream", s.encodeStream(st, q)})
}

func (s *Server) updateStream(q *Request) error {
	before, f, err := found(q, s.service.Streams.Stream, "name", "url", "topic", "username", "password", "type", "is_active", "since_id")
	if err != nil {
		return err
	}
	u := stream.Update{
		Name: f.optional("name"), URL: f.optional("url"), Topic: f.optional("topic"), Credentials: f.credentials(), SinceID: f.sinceID(),
		Type:     (*delivery.WebhookType)(f.optional("type")),
		IsActive: f.state("is_active"),
	}
	f.bad.Merge(s.service.Streams.CheckStreamUpdate(before, u))
	if f.bad.Err() == nil && u == (stream.Update{}) {
		f.bad.Add("body", "must have at least one of name, url, topic, username with password, type, is_active and since_id",
			"phải có ít nhất một trong name, url, topic, username kèm password, type, is_active và since_id")
	}
	if err := f.bad.Err(); err != nil {
		return err
	}
	st, err := s.service.Streams.UpdateStream(q.Context(), q.account(), before.ID, u, q.now)
	warning := st.PlainWarning(u.Credentials != nil && u.Credentials.Password != "")
	return q.ok(err, "The stream was updated."+warning.EN, "Đã cập nhật luồng."+warning.VI,
		member{"stream", s.encodeStream(st, q)})
}

// credentials reads username and password, which must be changed together: one alone may not
// fit the stored other. nil: both are missing.
func (f *fields) credentials() *stream.BrokerCredentials {
	username, password := f.optional("username"), f.optional("password")
	switch named := f.body.Get("username").Kind != exactjson.Null; {
	case username != nil && password != nil:
		return &stream.BrokerCredentials{Username: *username, Password: *password}
	case username != nil:
		f.bad.Merge(app.InvalidField("password", "is needed with username; both are empty where the broker asks for none",
			"cần có cùng username; để trống cả hai nếu máy chủ nhận không yêu cầu"))
	case password != nil && !named:
		f.bad.Add("username", "is needed with password; it is empty for a token", "cần có cùng password; để trống nếu dùng token")
	}
	return nil
}

func (s *Server) toggleStream(q *Request) error {
	st, err := s.service.Streams.ToggleStream(q.Context(), q.account(), q.pathID(), q.now)
	message := app.Text{EN: "The stream was enabled.", VI: "Đã bật luồng."}
	if !st.IsActive {
		message = app.Text{EN: "The stream was disabled.", VI: "Đã tắt luồng."}
	}
	return q.ok(err, message.EN, message.VI, member{"stream", s.encodeStream(st, q)})
}

func (s *Server) deleteStream(q *Request) error {
	return q.ok(s.service.Streams.DeleteStream(q.Context(), q.account(), q.pathID(), q.now),
		"The stream was deleted.", "Đã xoá luồng.")
}

// testStream publishes one test message. If the broker doesn't take the message, that is an
// outcome, not an error of the request.
func (s *Server) testStream(q *Request) error {
	problem, err := s.service.Streams.TestStream(q.Context(), q.account(), q.pathID(), s.userAgent, q.now)
	ok := problem == (app.Text{})
	message := app.Text{EN: "The broker has kept the test message.", VI: "Máy chủ nhận luồng đã lưu tin thử."}
	if !ok {
		message = app.Text{EN: "The broker has not kept the test message.", VI: "Máy chủ nhận luồng chưa lưu tin thử."}
	}
	return q.ok(err, message.EN, message.VI, member{"success", ok},
		member{"problem", OrNull(problem.In(wire.Lang(q.Request)))})
}

func (s *Server) rotateStreamSecret(q *Request) error {
	before, err := s.service.Streams.Stream(q.Context(), q.account(), q.pathID())
	if err != nil {
		return err
	}
	secret, err := s.service.Streams.RotateStreamSecret(q.Context(), q.account(), before.ID, app.IdempotencyKey{}, q.now)
	message := app.Text{EN: "The stream has a new secret. Store it now: it is not shown again.",
		VI: "Luồng đã có khoá bí mật mới. Hãy lưu ngay: khoá bí mật sẽ không hiển thị lại."}
	if before.SecretLost {
		message = message.And(stream.PasswordLost)
	}
	return q.ok(err, message.EN, message.VI, member{"secret", secret})
}
