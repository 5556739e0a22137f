package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/web/wire"
)

// noteRefused keeps a refused call for the operator, unless its address has
// failed too often already.
func (s *Server) noteRefused(r *http.Request, in provider.Call, why inbound.Refusal) {
	if s.Failures.Exhausted(s.Client(r), in.At) {
		return
	}
	s.service.Inbound.NoteRefusedCall(inbound.RefusedCall{SourceID: in.Source.ID, ReceivedAt: in.At,
		Remote: s.ClientAddr(r).String(), Refusal: why})
}

// noteUnread keeps a call whose body is too large, or for which there is no room now, for the
// operator, and returns err. Of one client it keeps no more such calls than calls that
// fail to authenticate.
func (s *Server) noteUnread(r *http.Request, in provider.Call, err error) error {
	codes := map[app.Code]inbound.RefusalCode{app.CodePayloadTooLarge: inbound.RefusalTooLarge, app.CodeUnavailable: inbound.RefusalBusy}
	var refused *app.Error
	if !errors.As(err, &refused) || codes[refused.Code] == "" {
		return err
	}
	s.noteRefused(r, in, inbound.Refusal{Code: codes[refused.Code], Text: refused.Text})
	s.Failures.Take(s.Client(r), wire.FailurePace, in.At)
	return err
}

// These bound the search for the reason of a refusal: hardly any call of a provider is larger,
// and every guess costs a verification.
const (
	maxExplained       = 8 << 10 // bytes of a body
	maxExplainedValues = 128     // JSON values in a body
	maxOthers          = 10      // other sources whose secrets are tried
)

// explainRefusal looks for the most frequent causes when a credential or a signature doesn't
// match: the secret of another source of the merchant, a secret with blanks or quotation
// marks around it, and a body that a proxy or a framework has rewritten. It doesn't accept
// a call with one of these causes; only the reason of the refusal becomes clearer.
func (s *Server) explainRefusal(r *http.Request, check provider.Verifier, in provider.Call, why inbound.Refusal) inbound.Refusal {
	if why.Code != inbound.RefusalKey && why.Code != inbound.RefusalSignature || s.Failures.Exhausted(s.Client(r), in.At) {
		return why
	}
	if len(in.Body) > maxExplained || exactjson.Count(in.Body) > maxExplainedValues {
		return why
	}
	if in.Source.SecretLost {
		return inbound.Refusal{Code: inbound.RefusalKey, Text: app.Text{
			EN: "The secret of this source is lost, so no call can be verified. Rotate the secret.",
			VI: "Khoá bí mật của nguồn này đã mất nên không xác thực được lần gọi. Hãy đổi khoá bí mật.",
		}}
	}
	accepted := func(in provider.Call) bool { return check(in, r.Header).Code == "" }
	others, err := s.service.Inbound.Sources(r.Context(), in.Source.AccountID)
	if err != nil {
		return why
	}
	for _, other := range others[:min(len(others), maxOthers)] {
		tried := in
		tried.Source.Secret = other.Secret
		if other.Provider == in.Source.Provider {
			tried.Source.Options = other.Options
		}
		if other.ID != in.Source.ID && accepted(tried) {
			return inbound.Refusal{Code: inbound.RefusalKey,
				Text: app.Textf("This secret belongs to source %[1]d (%[2]s).", "Khoá bí mật này thuộc nguồn %[1]d (%[2]s).", other.ID, other.Name)}
		}
	}
	for _, secret := range []string{in.Source.Secret + "\n", in.Source.Secret + "\r\n", in.Source.Secret + " ", " " + in.Source.Secret,
		`"` + in.Source.Secret + `"`} {
		tried := in
		if tried.Source.Secret = secret; accepted(tried) {
			return inbound.Refusal{Code: inbound.RefusalKey, Text: app.Text{
				EN: "The secret was entered with an extra line break, space or quotation marks.",
				VI: "Khoá bí mật nhập bên nhà cung cấp bị thừa dấu xuống dòng, khoảng trắng hoặc dấu ngoặc kép.",
			}}
		}
	}
	for _, body := range rewritten(in.Body) {
		tried := in
		if tried.Body = body; accepted(tried) {
			return inbound.Refusal{Code: inbound.RefusalBody, Text: app.Text{
				EN: "The secret is correct, but the body was changed on the way: its whitespace is different. A proxy or a framework rewrote the JSON.",
				VI: "Khoá bí mật đúng, nhưng nội dung đã bị thay đổi trên đường truyền: khoảng trắng không còn như lúc ký. " +
					"Có thể proxy hoặc framework đã ghi lại JSON.",
			}}
		}
	}
	return why
}

// rewritten returns the forms in which a JSON body may have been signed before a proxy or a
// framework rewrote it.
func rewritten(body []byte) [][]byte {
	trimmed := bytes.TrimSpace(body)
	forms := [][]byte{trimmed, append(bytes.Clone(trimmed), '\n')}
	var compact, indented bytes.Buffer
	if json.Compact(&compact, trimmed) == nil && json.Indent(&indented, trimmed, "", "  ") == nil {
		forms = append(forms, compact.Bytes(), indented.Bytes())
	}
	return forms
}
