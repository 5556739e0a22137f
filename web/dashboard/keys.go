package dashboard

import (
	"slices"
	"strconv"

	"baoco/app"
	"baoco/app/access"
)

type keyForm struct {
	Name    string
	Scope   access.Scope
	Expires string // Y-m-d; empty: never
}

type keysData struct {
	Form   keyForm
	Scopes []access.Scope // of the keys that the visitor may make
	Today  string         // the first day on which a key may expire
	Rows   []keyRow
}

type keyRow struct {
	access.APIKey
	State app.Text
	Class string // CSS class of the state
	Ask   confirmation
}

// keys are the keys that the visitor may make and revoke: owners all keys, developers the keys
// that change nothing.
func (s *Server) keys(v *visit) ([]access.APIKey, error) {
	keys, err := s.Services.Access.APIKeys(v.Context(), v.account.ID)
	if !v.may(ownerOnly) {
		keys = slices.DeleteFunc(keys, func(k access.APIKey) bool { return k.Scope == access.ScopeFull })
	}
	return keys, err
}

func (s *Server) showKeys(v *visit, form keyForm, wrong error) error {
	keys, err := s.keys(v)
	if err != nil {
		return err
	}
	data := keysData{Form: form, Scopes: []access.Scope{access.ScopeRead, access.ScopeListen}, Today: app.DayOf(v.now, v.zone).String()}
	if v.may(ownerOnly) {
		data.Scopes = slices.Insert(data.Scopes, 0, access.ScopeFull)
	}
	for i := len(keys) - 1; i >= 0; i-- { // newest first
		data.Rows = append(data.Rows, s.keyRow(v, keys[i]))
	}
	return s.render(v, wrong, pageHead{"keys", "keys", app.Text{EN: "API keys", VI: "Khoá API"}}, data)
}

func (s *Server) keyRow(v *visit, k access.APIKey) keyRow {
	row := keyRow{APIKey: k, State: app.Text{EN: "Active", VI: "Đang hoạt động"}, Class: "active", Ask: s.keyRevocation(v, k)}
	switch {
	case !k.RevokedAt.IsZero():
		row.State, row.Class = app.Text{EN: "Revoked", VI: "Đã thu hồi"}, "cancelled"
	case !k.Valid(v.now):
		row.State, row.Class = app.Text{EN: "Expired", VI: "Đã hết hạn"}, "failed"
	}
	return row
}

func (s *Server) keyRevocation(v *visit, k access.APIKey) confirmation {
	used := v.T("This key has never been used.", "Khoá này chưa được dùng lần nào.")
	if !k.LastUsedAt.IsZero() {
		used = v.T("Last used: ", "Dùng gần nhất: ") + v.When(k.LastUsedAt) + "."
	}
	return confirmation{
		Path: "/keys/" + strconv.FormatInt(k.ID, 10) + "/revoke", Back: "/keys", section: "keys",
		Title: v.T("Revoke the key “", "Thu hồi khoá “") + k.Name + "”?", Button: v.T("Revoke", "Thu hồi"),
		Texts: []string{
			v.T("Every program that calls the API with "+k.Hint+
				" is refused from now on, with 401. Transactions are recorded and webhooks sent as before.",
				"Mọi chương trình gọi API bằng "+k.Hint+" sẽ bị từ chối ngay (lỗi 401). Việc ghi nhận giao dịch và gửi webhook không bị ảnh hưởng."),
			used,
			v.T("This can’t be undone.", "Thao tác này không thể hoàn tác."),
		},
		do:   func() error { return s.Services.Access.RevokeAPIKey(v.Context(), v.account.ID, k.ID, v.now) },
		done: app.Textf("API key “%s” revoked.", "Đã thu hồi khoá API “%s”.", k.Name),
	}
}

func (s *Server) createKey(v *visit) (err error) {
	form := keyForm{Name: v.PostFormValue("name"), Scope: access.Scope(v.PostFormValue("scope")), Expires: v.PostFormValue("expires")}
	if form.Scope != access.ScopeRead && form.Scope != access.ScopeListen && !v.may(ownerOnly) {
		return errNotYours
	}
	in := access.APIKeyCreate{Name: form.Name, Scope: form.Scope, Key: v.form.key}
	if form.Expires != "" {
		if in.ExpiresAt, err = app.ParseExpiry(form.Expires, v.zone); err != nil {
			err = app.InvalidField("expires_at", "must be a date", "phải là ngày hợp lệ")
		}
	}
	var k access.APIKey
	var key string
	if err == nil {
		k, key, err = s.Services.Access.CreateAPIKey(v.Context(), v.account.ID, in, v.now)
	}
	if err != nil {
		return s.showKeys(v, form, err)
	}
	lead := app.Text{EN: "Store this key where your program keeps its secrets. Anyone who has it can use the API of this account.",
		VI: "Hãy lưu khoá này ở nơi an toàn trong chương trình của bạn. Ai có khoá đều dùng được API của tài khoản này."}
	example := "curl -H 'Authorization: Bearer " + key + "' " + s.address(v, "/api/v1/transactions")
	if k.Scope == access.ScopeListen { // the API refuses the key on all other routes
		lead.EN = "Store this key where baoco listen finds it. Anyone who has it can follow the transactions of this account."
		lead.VI = "Hãy lưu khoá này ở nơi baoco listen đọc được. Ai có khoá đều theo dõi được giao dịch của tài khoản này."
		example = "BAOCO_API_KEY=" + key + " baoco listen --server " + s.address(v, "") + " --forward-to http://localhost:3000/hook"
	}
	return s.showOnce(v, "keys", app.Textf("API key “%s”", "Khoá API “%s”", k.Name), secretPage{
		Lead:  lead.In(v.Lang),
		Label: app.Text{EN: "API key", VI: "Khoá API"}.In(v.Lang), Secret: key, Back: "/keys",
		Example: example,
	})
}

func (s *Server) pageKey(v *visit) (access.APIKey, error) {
	keys, err := s.keys(v)
	return named(v, keys, err, func(k access.APIKey) int64 { return k.ID }, access.ErrNoAPIKey)
}
