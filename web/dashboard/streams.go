package dashboard

import (
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/stream"
	"baoco/web/wire"
)

func streamPath(id int64) string { return "/streams/" + strconv.FormatInt(id, 10) }

// streamRow is a stream with its progress.
type streamRow struct {
	stream.Stream
	Only   string // bank account and codes that it is limited to; empty: no limit
	Broker stream.Broker
	Behind time.Time // when the first transaction that isn't sent was recorded; zero: all are sent
}

// Failing reports whether an active stream can't publish to its broker.
func (r streamRow) Failing() bool { return r.IsActive && !r.SecretLost && !r.FailingSince.IsZero() }

// Hosts names the first host of the broker, and how many others there are.
func (r streamRow) Hosts() string {
	if n := len(r.Broker.Hosts); n > 1 {
		return r.Broker.Hosts[0] + " +" + strconv.Itoa(n-1)
	}
	return r.Broker.Hosts[0]
}

func (s *Server) streamRow(v *visit, st stream.Stream, banks []app.BankAccount) (row streamRow, err error) {
	row = streamRow{Stream: st}
	var of []int64
	if st.BankAccountID != 0 {
		of = []int64{st.BankAccountID}
	}
	row.Only = v.onlyOf(of, st.CodePrefix, "", banks)
	row.Broker, _ = stream.ParseBroker(st.URL) // it was checked when it was set
	row.Behind, err = s.Services.Streams.StreamBehind(v.Context(), st)
	return row, err
}

func (s *Server) streamsPage(v *visit) error {
	list, err := s.Services.Streams.Streams(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	var data struct{ Rows []streamRow }
	for _, st := range list {
		row, err := s.streamRow(v, st, banks)
		if err != nil {
			return err
		}
		data.Rows = append(data.Rows, row)
	}
	return s.render(v, nil, pageHead{"streams", "webhooks", app.Text{EN: "Streams", VI: "Luồng giao dịch"}}, data)
}

// streamForm is the form of a stream as it was entered, without the password.
type streamForm struct {
	ID                                              int64 // 0: a new one
	Name, URL, Topic, Username, Type, BankAccountID string
	Start, SinceID                                  string // see readSince
	Position                                        int64  // of a stream that is edited
	Banks                                           []app.BankAccount
	CodePrefix                                      string
	Prefixes                                        []string
}

func readStreamForm(v *visit) (form streamForm, in stream.Create, err error) {
	form = streamForm{
		Name: v.PostFormValue("name"), URL: strings.TrimSpace(v.PostFormValue("url")), Topic: strings.TrimSpace(v.PostFormValue("topic")),
		Username: v.PostFormValue("username"), Type: v.PostFormValue("type"), BankAccountID: v.PostFormValue("bank_account_id"),
		CodePrefix: v.PostFormValue("code_prefix"),
		Start:      v.PostFormValue("start"), SinceID: strings.TrimSpace(v.PostFormValue("since_id")),
	}
	in = stream.Create{
		Name: form.Name, URL: form.URL, Topic: form.Topic, Type: delivery.WebhookType(form.Type), CodePrefix: form.CodePrefix, Key: v.form.key,
		Credentials: stream.BrokerCredentials{Username: form.Username, Password: v.PostFormValue("password")},
	}
	var bad app.Invalid
	if file := strings.TrimSpace(v.PostFormValue("credentials")); file != "" {
		if in.Credentials != (stream.BrokerCredentials{}) {
			bad.Add("password", "and user name must be empty with a credentials file", "và tên đăng nhập phải để trống khi dùng tệp credentials")
		}
		in.Credentials.Password = strings.ReplaceAll(file, "\r\n", "\n") + "\n"
	}
	in.BankAccountID = readBankAccountID(form.BankAccountID, &bad)
	in.SinceID, err = form.readSince()
	bad.Merge(err)
	return form, in, bad.Err()
}

// readSince reads after which transaction a stream begins; nil: after the newest, or, if the
// stream is edited, at its present position.
func (f streamForm) readSince() (*int64, error) {
	switch f.Start {
	case "now":
		return nil, nil
	case "first":
		return new(int64), nil
	}
	id, found := wire.ParseID(f.SinceID)
	if !found {
		return nil, app.InvalidField("since_id", "must be the id of a transaction", "phải là mã của một giao dịch")
	}
	return &id, nil
}

func (s *Server) showNewStream(v *visit, form streamForm, wrong error) (err error) {
	if form.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	if form.Prefixes, err = s.codePrefixes(v); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"stream_new", "webhooks", app.Text{EN: "Create stream", VI: "Tạo luồng"}}, form)
}

// addStream makes a stream and answers with the page that shows its secret.
func (s *Server) addStream(v *visit) error {
	form, in, bad := readStreamForm(v)
	var all app.Invalid
	all.Merge(s.Services.Streams.CheckStream(in))
	all.Merge(bad)
	st, secret, err := stream.Stream{}, "", all.Err()
	if err == nil {
		st, secret, err = s.Services.Streams.CreateStream(v.Context(), v.account.ID, in, v.now)
	}
	if err != nil {
		return s.showNewStream(v, form, err)
	}
	return s.showStreamSecret(v, st, secret, true)
}

// showStreamSecret shows a new secret; made: the stream is new too.
func (s *Server) showStreamSecret(v *visit, st stream.Stream, secret string, made bool) error {
	name := app.Isolated(st.Name)
	lead := app.Textf("Stream “%s” has a new secret.", "Luồng “%s” đã có khoá bí mật mới.", name)
	if made {
		lead = app.Textf("Created stream “%s”.", "Đã tạo luồng “%s”.", name)
	}
	return s.showSigningSecret(v, secretData{
		Path: streamPath(st.ID), Secret: secret, New: made, Lead: lead,
		Use: app.Text{EN: "Your programs use this secret to verify that messages come from baoco.",
			VI: "Các chương trình của bạn dùng khoá bí mật này để xác thực từng tin do baoco gửi."},
	})
}

func (s *Server) pageStream(v *visit) (stream.Stream, error) {
	return s.Services.Streams.Stream(v.Context(), v.account.ID, v.pathID())
}

func (s *Server) streamSecretFile(v *visit, st stream.Stream) error {
	return v.sendSecret("stream", st.ID)
}

func (s *Server) showStream(v *visit, st stream.Stream, refused error) error {
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := struct {
		streamRow
		Remove confirmation
	}{Remove: s.streamRemoval(v, st)}
	if data.streamRow, err = s.streamRow(v, st, banks); err != nil {
		return err
	}
	return s.render(v, refused, pageHead{"stream", "webhooks", app.Text{EN: app.Isolated(st.Name), VI: app.Isolated(st.Name)}}, data)
}

// tryStream publishes a test and says how the broker answered.
func (s *Server) tryStream(v *visit, st *stream.Stream) error {
	problem, err := s.Services.Streams.TestStream(v.Context(), v.account.ID, st.ID, delivery.UserAgent(s.Version), v.now)
	if err == nil && problem != (app.Text{}) {
		err = app.Refused(app.CodeConflict, app.Text{EN: "The test was not sent.", VI: "Chưa gửi thử được."}.And(problem))
	}
	return s.done(v, err, streamPath(st.ID), app.Text{EN: "The broker has kept the test message.", VI: "Máy chủ nhận luồng đã lưu tin thử."})
}

// switchStream sets the status that the form names, as switchWebhook does.
func (s *Server) switchStream(v *visit, st stream.Stream) error {
	if on := v.PostFormValue("active") == "1"; on != st.IsActive {
		switched, err := s.Services.Streams.ToggleStream(v.Context(), v.account.ID, st.ID, v.now)
		if err != nil {
			return s.showStream(v, st, err)
		}
		st = switched
	}
	flash := app.Text{EN: "Stream turned on. It continues from where it was.", VI: "Đã bật luồng. Luồng gửi tiếp từ chỗ đã dừng."}
	switch {
	case st.IsActive && st.SecretLost:
		flash = app.Text{EN: "Stream turned on. Nothing is sent until you rotate its secret.",
			VI: "Đã bật luồng. Chưa gửi được gì cho đến khi bạn đổi khoá bí mật."}
	case !st.IsActive:
		flash = app.Text{EN: "Stream turned off. It keeps its position.", VI: "Đã tắt luồng. Luồng giữ nguyên vị trí."}
	}
	return s.redirect(v, streamPath(st.ID), flash)
}

func (s *Server) editStreamPage(v *visit, st stream.Stream) error {
	return s.showEditStream(v, streamForm{
		ID: st.ID, Name: st.Name, URL: st.URL, Topic: st.Topic, Username: st.Username, Type: string(st.Type), Start: "now", Position: st.Position,
	}, nil)
}

func (s *Server) showEditStream(v *visit, form streamForm, wrong error) error {
	return s.render(v, wrong, pageHead{"stream_edit", "webhooks", app.Text{EN: "Edit stream", VI: "Sửa luồng"}}, form)
}

func (s *Server) editStream(v *visit, st stream.Stream) error {
	form, in, err := readStreamForm(v)
	form.ID, form.Position = st.ID, st.Position
	if err == nil {
		err = v.unchanged(st.Name, st.URL, st.Topic, st.Username, st.Type)
	}
	if err != nil {
		return s.showEditStream(v, form, err)
	}
	u := stream.Update{Name: &in.Name, URL: &in.URL, Topic: &in.Topic, Type: &in.Type, SinceID: in.SinceID}
	// An empty field keeps the password, but not for another broker or another user: the
	// visitor may not know the password, and must not be able to send it elsewhere.
	if in.Credentials.Password != "" || in.URL != st.URL || in.Credentials.Username != st.Username {
		u.Credentials = &in.Credentials
	}
	if st, err = s.Services.Streams.UpdateStream(v.Context(), v.account.ID, st.ID, u, v.now); err != nil {
		return s.showEditStream(v, form, err)
	}
	return s.redirect(v, streamPath(st.ID), app.Text{EN: "Saved.", VI: "Đã lưu."})
}

func (s *Server) rotateStreamPage(v *visit, st stream.Stream) error {
	return s.render(v, nil, pageHead{"stream_rotate", "webhooks", app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"}}, st)
}

// rotateStream answers with the page of the new secret.
func (s *Server) rotateStream(v *visit, st stream.Stream) error {
	secret, err := s.Services.Streams.RotateStreamSecret(v.Context(), v.account.ID, st.ID, v.form.key, v.now)
	if err != nil {
		return err
	}
	return s.showStreamSecret(v, st, secret, false)
}

func (s *Server) streamRemoval(v *visit, st stream.Stream) confirmation {
	return confirmation{
		Path: streamPath(st.ID) + "/delete", Back: streamPath(st.ID), section: "webhooks", to: "/streams",
		Title: v.T("Delete stream", "Xoá luồng"), Button: v.T("Delete permanently", "Xoá vĩnh viễn"),
		Texts: []string{
			v.T("No more transactions are sent to this stream. What the broker has already stays there.",
				"Giao dịch không được gửi đến luồng này nữa. Những tin máy chủ nhận luồng đã lưu vẫn còn ở đó."),
			v.T("Its position, secret and password are permanently deleted.", "Vị trí, khoá bí mật và mật khẩu của luồng bị xoá vĩnh viễn."),
		},
		do:   func() error { return s.Services.Streams.DeleteStream(v.Context(), v.account.ID, st.ID, v.now) },
		done: app.Text{EN: "The stream was deleted.", VI: "Đã xoá luồng."},
	}.typeName(v, st.Name)
}
