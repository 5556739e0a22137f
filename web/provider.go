package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"baoco/app"
)

// adapter is one inbound format: how its calls are verified and how their
// bytes become transactions. An adapter never falls back to a weaker way of
// authenticating than its source has.
type adapter struct {
	kind app.ProviderKind
	// verify gives the reason, for the operator only, why a call is refused;
	// "" accepts it.
	verify func(source app.Source, h http.Header, body []byte, now time.Time) string
	// read never fails: what it can't read becomes an element with a fault.
	read func(body []byte, zone *time.Location) []app.Incoming
	// strict formats are answered 4xx when nothing of a body can be read; to
	// the others the provider would only give up.
	strict bool
}

// adapters is the table of the inbound formats.
var adapters = []adapter{nativeAdapter, sepayAdapter}

func adapterOf(p app.Provider) (adapter, bool) {
	for _, a := range adapters {
		if a.kind.Provider == p {
			return a, true
		}
	}
	return adapter{}, false
}

// Providers lists the kinds of sources that there are adapters for.
func Providers() []app.ProviderKind {
	kinds := make([]app.ProviderKind, len(adapters))
	for i, a := range adapters {
		kinds[i] = a.kind
	}
	return kinds
}

// ReadInbound reads a body as the source's adapter does.
func ReadInbound(source app.Source, body []byte, zone *time.Location) []app.Incoming {
	a, found := adapterOf(source.Provider)
	if !found {
		return []app.Incoming{unreadable("body", "is of a format that is no longer known", "thuộc định dạng không còn được hỗ trợ")}
	}
	return a.read(body, zone)
}

func unreadable(field, en, vi string) app.Incoming {
	return app.Incoming{Fault: &app.FieldError{Field: field, Text: app.Text{EN: en, VI: vi}}}
}

// Faults that no field has: a body that isn't JSON at all, and an element of
// the array that isn't an object.
const (
	faultNotJSON = "json"
	faultElement = "element"
)

func notJSON() []app.Incoming {
	return []app.Incoming{unreadable(faultNotJSON, "is not valid JSON", "không phải JSON hợp lệ")}
}

// provider takes a provider's call: find the source, verify, read, record,
// and only then answer.
func (s *Server) provider(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	source, adapter, body, err := s.verified(w, r, now)
	if err != nil {
		s.refuse(w, r, err, now)
		return
	}
	call := app.InboundCall{
		AccountID: source.AccountID, Source: source, Channel: app.ChannelCall, Body: body, ReceivedAt: now,
		Elements: adapter.read(body, s.service.Zone()),
	}
	// A provider that hangs up early has told of its transaction all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), requestTimeout)
	defer cancel()
	recording, err := s.service.RecordTransactions(ctx, call)
	if err == nil && adapter.strict {
		err = nothingReadable(call.Elements, recording)
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Success bool `json:"success"`
		envelope
		Recorded   int `json:"recorded"`
		Duplicates int `json:"duplicates"`
		Unassigned int `json:"unassigned"`
		Conflicts  int `json:"conflicts"`
		Rejected   int `json:"rejected"`
	}{
		true, ok(r, "The call was recorded.", "Đã ghi nhận."),
		recording.Recorded, recording.Duplicates, recording.Unassigned, recording.Conflicts, recording.Rejected,
	})
}

// verified finds the source that a call names, reads its body and checks that
// the call is the source's. Why not is noted for the operator; the answer is
// the same for every reason.
func (s *Server) verified(w http.ResponseWriter, r *http.Request, now time.Time) (app.Source, adapter, []byte, error) {
	token := r.PathValue("token")
	find := func() (app.Source, adapter, bool, error) {
		source, found, err := s.service.FindSource(r.Context(), token, bearer(r.Header))
		if err != nil || !found {
			return source, adapter{}, false, err
		}
		a, known := adapterOf(source.Provider)
		// The bare path is for native sources alone.
		return source, a, known && (token != "" || source.Provider == providerNative), nil
	}
	source, adapter, found, err := find()
	if err != nil {
		return source, adapter, nil, err
	}
	if !found {
		s.noteRefused(r, 0, "unknown source: neither the path nor a Bearer token names one", now)
		return source, adapter, nil, app.ErrUnauthorized()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInboundBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return source, adapter, nil, errTooLarge(maxInboundBody)
	} else if err != nil {
		return source, adapter, nil, app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body could not be read.", VI: "Không đọc được nội dung yêu cầu."})
	}
	reason := adapter.verify(source, r.Header, body, now)
	if reason == "" {
		return source, adapter, body, nil
	}
	// Another process may have given the source a new secret just now.
	if err := s.service.RefreshSources(r.Context()); err != nil {
		return source, adapter, nil, err
	}
	if again, a, found, err := find(); err == nil && found && again.Secret != source.Secret {
		if source, adapter = again, a; adapter.verify(source, r.Header, body, now) == "" {
			return source, adapter, body, nil
		}
	}
	s.noteRefused(r, source.ID, reason, now)
	return source, adapter, nil, app.ErrUnauthorized()
}

// noteRefused keeps a refused call for the operator, as long as its address
// may still fail.
func (s *Server) noteRefused(r *http.Request, sourceID int64, reason string, now time.Time) {
	if s.failures.exhausted(clientAddr(r), now) {
		return
	}
	s.service.NoteRefusedCall(app.RefusedCall{SourceID: sourceID, ReceivedAt: now, Remote: clientAddr(r).Addr().String(), Reason: reason})
}

// nothingReadable is the answer to a native call of which nothing could be
// read. The body is kept all the same.
func nothingReadable(elements []app.Incoming, recording app.Recording) error {
	if len(elements) == 0 || recording.Rejected < len(elements) {
		return nil
	}
	if fault := elements[0].Fault; len(elements) == 1 && fault != nil && fault.Field == faultNotJSON {
		return app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body is not valid JSON.", VI: "Nội dung yêu cầu không phải JSON hợp lệ."})
	}
	var v app.Invalid
	for i, e := range elements {
		if i == 20 {
			break // enough to see the pattern
		}
		field := e.Fault.Field
		switch field {
		case "body", "transactions":
		case faultElement:
			field = fmt.Sprintf("transactions[%d]", i)
		default:
			field = fmt.Sprintf("transactions[%d].%s", i, field)
		}
		v.Add(field, e.Fault.Text.EN, e.Fault.Text.VI)
	}
	return v.Err()
}

// oneHeader is the value of a header that comes exactly once.
func oneHeader(h http.Header, name string) (value, fault string) {
	switch values := h.Values(name); len(values) {
	case 0:
		return "", "the header " + name + " is missing"
	case 1:
		return values[0], ""
	default:
		return "", "the header " + name + " comes more than once"
	}
}

// checkToken compares a credential of the form "<scheme> <token>".
func checkToken(h http.Header, scheme, secret string) string {
	value, fault := oneHeader(h, "Authorization")
	if fault != "" {
		return fault
	}
	token, found := strings.CutPrefix(value, scheme+" ")
	if !found {
		return "the Authorization header does not begin with " + scheme
	}
	if !hmac.Equal([]byte(token), []byte(secret)) {
		return "the " + scheme + " token is not this source's"
	}
	return ""
}

// signedBy compares a signature in bare lower-case hexadecimal digits with the
// HMAC-SHA256 of parts, in constant time.
func signedBy(signature, secret string, parts ...[]byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		mac.Write(part)
	}
	return hmac.Equal([]byte(signature), []byte(hex.EncodeToString(mac.Sum(nil))))
}
