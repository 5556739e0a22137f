package api

import (
	"net/http"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/inbound"
	"baoco/web/wire"
)

// SourceJSON is a source and its health, without its secret.
type SourceJSON struct {
	ID                int64                `json:"id"`
	Name              string               `json:"name"`
	Provider          app.Provider         `json:"provider"`
	Auth              inbound.Auth         `json:"auth"`
	URLPath           *string              `json:"url_path"`        // null for a key that may only read
	BankAccountID     *int64               `json:"bank_account_id"` // null: all
	CreatedAt         string               `json:"created_at"`
	LastCallAt        *string              `json:"last_call_at"`
	LastTransactionAt *string              `json:"last_transaction_at"`
	LastPollAt        *string              `json:"last_poll_at"`  // when its list was last read completely
	PollError         *inbound.PollFault   `json:"poll_error"`    // why the list couldn't be read since then
	RefusedCalls      int                  `json:"refused_calls"` // of the refused calls that are kept
	LastRefusedAt     *string              `json:"last_refused_at"`
	LastRefusedCode   *inbound.RefusalCode `json:"last_refused_code"`
	LastRefusedReason *string              `json:"last_refused_reason"`   // in the reader's language
	SecretLost        bool                 `json:"secret_lost,omitempty"` // it must be rotated before a call is accepted
}

// EncodeSource writes src with its times in zone, for a reader of lang.
func EncodeSource(src inbound.SourceHealth, zone *time.Location, lang app.Lang) SourceJSON {
	return SourceJSON{
		ID: src.ID, Name: src.Name, Provider: src.Provider, Auth: src.Auth, URLPath: OrNull(src.URLPath()),
		BankAccountID: OrNull(src.BankAccountID),
		CreatedAt:     app.FormatTime(src.CreatedAt, zone), LastCallAt: TimeOrNull(src.LastCallAt, zone),
		LastTransactionAt: TimeOrNull(src.LastTransactionAt, zone),
		LastPollAt:        TimeOrNull(src.PolledAt, zone), PollError: OrNull(src.PollError),
		RefusedCalls: src.RefusedCalls, LastRefusedAt: TimeOrNull(src.LastRefused.ReceivedAt, zone),
		LastRefusedCode: OrNull(src.LastRefused.Code), LastRefusedReason: OrNull(src.LastRefused.Text.In(lang)),
		SecretLost: src.SecretLost,
	}
}

// TimeOrNull is t in zone, or null for the zero time.
func TimeOrNull(t time.Time, zone *time.Location) *string {
	if t.IsZero() {
		return nil
	}
	return new(app.FormatTime(t, zone))
}

// RefusedCallJSON is a refused call. Its source is null if the call named none.
type RefusedCallJSON struct {
	ID         int64               `json:"id"`
	SourceID   *int64              `json:"source_id"`
	Source     *string             `json:"source"`
	ReceivedAt string              `json:"received_at"`
	Remote     string              `json:"remote"`
	Code       inbound.RefusalCode `json:"code"`
	Reason     string              `json:"reason"` // in the reader's language
}

// EncodeRefusedCall writes c with its times in zone, for a reader of lang.
func EncodeRefusedCall(c inbound.RefusedCall, zone *time.Location, lang app.Lang) RefusedCallJSON {
	return RefusedCallJSON{c.ID, OrNull(c.SourceID), OrNull(c.SourceName), app.FormatTime(c.ReceivedAt, zone), c.Remote,
		c.Code, c.Text.In(lang)}
}

// encodeSource writes src, without its address if the key may only read.
func (s *Server) encodeSource(src inbound.SourceHealth, q *Request) SourceJSON {
	encoded := EncodeSource(src, s.zone, wire.Lang(q.Request))
	if q.key.Scope != access.ScopeFull {
		encoded.URLPath = nil
	}
	return encoded
}

func (s *Server) showSource(q *Request) error {
	src, err := s.service.Inbound.SourceHealth(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The source.", "Nguồn giao dịch.", member{"source", s.encodeSource(src, q)})
}

func (s *Server) listSources(q *Request) error {
	return listed(q, s.service.Inbound.SourcesHealth, func(src inbound.SourceHealth) SourceJSON { return s.encodeSource(src, q) },
		"sources", app.Text{EN: "Sources.", VI: "Danh sách nguồn giao dịch."})
}

// CreatedSource is a source that was added or rotated. It has the secret only if it was
// generated: a secret that was given isn't repeated.
type CreatedSource struct {
	ID       int64        `json:"id"`
	Name     string       `json:"name"`
	Provider app.Provider `json:"provider"`
	Auth     inbound.Auth `json:"auth"`
	URLPath  string       `json:"url_path"`
	Username string       `json:"username,omitempty"`
	Secret   string       `json:"secret,omitempty"`
}

// EncodeCreatedSource writes src, with its secret if it was generated.
func EncodeCreatedSource(src inbound.Source, generated bool) CreatedSource {
	created := CreatedSource{src.ID, src.Name, src.Provider, src.Auth, src.URLPath(), src.Options.Username, ""}
	if generated {
		created.Secret = src.Secret
	}
	return created
}

// madeSource is the members of an answer about a new source or secret. A generated secret is
// also a member of its own, as in the answers about webhooks and streams.
func madeSource(src inbound.Source, generated bool) []member {
	created := EncodeCreatedSource(src, generated)
	members := []member{{"source", created}}
	if created.Secret != "" {
		members = append(members, member{"secret", created.Secret})
	}
	return members
}

// addSource makes a source, and answers also with the steps that the owner does at the provider.
func (s *Server) addSource(q *Request) error {
	f, err := q.fields("provider", "auth", "name", "secret", "bank_account_id", "header", "map", "senders", "access_key", "username",
		"api_key", "api_url")
	if err != nil {
		return err
	}
	in := inbound.SourceAdd{
		Provider: app.Provider(f.required("provider")), Auth: inbound.Auth(f.given("auth")), Name: f.required("name"), Secret: f.given("secret"),
		BankAccountID: f.reference("bank_account_id"),
		Options: inbound.SourceOptions{Header: f.given("header"), Map: f.textsByName("map"), Senders: f.texts("senders"),
			AccessKey: f.given("access_key"), Username: f.given("username")},
		APIKey: f.given("api_key"), APIURL: strings.TrimSuffix(f.given("api_url"), "/"),
	}
	in.Key, err = q.idempotencyKey()
	f.bad.Merge(err)
	if err := f.bad.Err(); err != nil {
		return err
	}
	src, err := s.service.Inbound.AddSource(q.Context(), q.account(), in, q.now)
	if err != nil {
		return f.asSent(err)
	}
	if src.Secret == "" {
		return q.ok(nil, "The source was added before; its secret is not shown again.",
			"Nguồn đã được thêm trước đó; khoá bí mật sẽ không hiển thị lại.", member{"source", EncodeCreatedSource(src, false)})
	}
	kind, _ := s.service.Inbound.ProviderKind(src.Provider)
	return q.answer(nil, http.StatusCreated, "The source was added. Store the secret now: it is not shown again.",
		"Đã thêm nguồn. Hãy lưu khoá bí mật ngay: khoá bí mật sẽ không hiển thị lại.",
		append(madeSource(src, in.Secret == ""), member{"setup", kind.Setup(src).In(wire.Lang(q.Request))})...)
}

func (s *Server) rotateSourceSecret(q *Request) error {
	before, f, err := found(q, s.service.Inbound.SourceHealth, "secret")
	if err != nil {
		return err
	}
	secret := f.given("secret")
	if err := f.bad.Err(); err != nil {
		return err
	}
	src, err := s.service.Inbound.RotateSource(q.Context(), q.account(), before.ID, inbound.SourceRotate{Secret: secret}, q.now)
	return q.ok(err, "The source has a new secret; calls with the old one are refused. Store it now: it is not shown again.",
		"Nguồn đã có khoá bí mật mới; lần gọi dùng khoá cũ sẽ bị từ chối. Hãy lưu ngay: khoá bí mật sẽ không hiển thị lại.",
		madeSource(src, secret == "")...)
}

func (s *Server) removeSource(q *Request) error {
	return q.ok(s.service.Inbound.RemoveSource(q.Context(), q.account(), q.pathID(), q.now),
		"The source was removed: its calls are refused from now on. Its transactions stay.",
		"Đã xoá nguồn: lần gọi đến nguồn này sẽ bị từ chối. Các giao dịch vẫn được giữ.")
}

// listRefused lists the refused calls: all that are kept, or a page of them.
func (s *Server) listRefused(q *Request) error {
	p := wire.ParamsOf(q.Request, s.zone)
	source, page := p.ID("source_id"), p.ListPage(inbound.KeptRefusedCalls)
	if err := p.Bad.Err(); err != nil {
		return err
	}
	list, err := s.service.Inbound.RefusedCalls(q.Context(), q.account(), source, inbound.KeptRefusedCalls)
	list, pages := paged(list, page)
	encoded := All(list, func(c inbound.RefusedCall) RefusedCallJSON { return EncodeRefusedCall(c, s.zone, wire.Lang(q.Request)) })
	return q.ok(err, "Refused calls.", "Các lần gọi bị từ chối.", member{"refused", encoded}, member{"pagination", pages})
}

func (s *Server) showRefused(q *Request) error {
	c, err := s.service.Inbound.RefusedCall(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The refused call.", "Lần gọi bị từ chối.",
		member{"refused_call", EncodeRefusedCall(c, s.zone, wire.Lang(q.Request))})
}
