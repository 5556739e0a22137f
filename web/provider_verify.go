package web

import (
	"bytes"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// This file has what the adapters verify calls with, and what is found out
// about a call that isn't the source's.

func refusal(code app.RefusalCode, en, vi string) app.Refusal {
	return app.Refusal{Code: code, Text: app.Text{EN: en, VI: vi}}
}

func refusalf(code app.RefusalCode, en, vi string, args ...any) app.Refusal {
	return app.Refusal{Code: code, Text: app.Textf(en, vi, args...)}
}

// oneHeader is the value of a header that comes exactly once.
func oneHeader(h http.Header, name string) (string, app.Refusal) {
	switch values := h.Values(name); len(values) {
	case 0:
		return "", refusalf(app.RefusalMissing, "The %s header is missing.", "Thiếu header %s.", name)
	case 1:
		return values[0], app.Refusal{}
	default:
		return "", refusalf(app.RefusalRepeated, "The %s header appears more than once.", "Header %s xuất hiện nhiều lần.", name)
	}
}

// checkCredential compares the Authorization header, "<scheme> <secret>".
func checkCredential(h http.Header, scheme, secret string) app.Refusal {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return why
	}
	token, found := cutScheme(value, scheme)
	if !found {
		return refusalf(app.RefusalMalformed, "The Authorization header does not start with %s and a space.",
			"Header Authorization không bắt đầu bằng %s và một khoảng trắng.", scheme)
	}
	if !hmac.Equal([]byte(token), []byte(secret)) {
		return refusalf(app.RefusalKey, "The %s token is not this source’s secret.", "Token %s không phải là secret của nguồn này.", scheme)
	}
	return app.Refusal{}
}

// checkHeader compares a header that holds nothing but the secret.
func checkHeader(h http.Header, name, secret string) app.Refusal {
	value, why := oneHeader(h, name)
	if why.Code == "" && !hmac.Equal([]byte(value), []byte(secret)) {
		why = refusalf(app.RefusalKey, "The %s header does not contain this source’s secret.", "Header %s không chứa secret của nguồn này.", name)
	}
	return why
}

// checkHexHMAC compares a signature in bare lower-case hexadecimal digits with
// the HMAC of parts, in constant time. name is where the signature stood.
func checkHexHMAC(name, signature string, algorithm func() hash.Hash, secret string, parts ...[]byte) app.Refusal {
	mac := hmac.New(algorithm, []byte(secret))
	for _, part := range parts {
		mac.Write(part)
	}
	if hmac.Equal([]byte(signature), []byte(hex.EncodeToString(mac.Sum(nil)))) {
		return app.Refusal{}
	}
	if digits := hex.EncodedLen(mac.Size()); len(signature) != digits || strings.Trim(signature, "0123456789abcdef") != "" {
		return refusalf(app.RefusalMalformed, "%[1]s is not %[2]d lowercase hexadecimal digits.", "%[1]s không phải là %[2]d chữ số thập lục phân viết thường.", name, digits)
	}
	return refusalf(app.RefusalSignature, "%s does not match: the call was signed with a different secret, or its body was changed on the way.",
		"%s không khớp: lượt gọi được ký bằng secret khác, hoặc nội dung đã bị thay đổi trên đường truyền.", name)
}

// checkStamp refuses a time, in units since 1970, that is further than window
// away from the time of receipt. It is for providers that document a window:
// elsewhere an old call may be one that is tried again.
func checkStamp(name, stamp string, unit time.Duration, at time.Time, window time.Duration) app.Refusal {
	n, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return refusalf(app.RefusalMalformed, "%s is not a timestamp in digits.", "%s không phải là mốc thời gian bằng chữ số.", name)
	}
	if off := at.Sub(time.Unix(0, n*int64(unit))); off.Abs() > window {
		return refusalf(app.RefusalTime, "%[1]s is %[2]s off this server’s clock; at most %[3]s is allowed. Check the clocks on both sides.",
			"%[1]s lệch %[2]s so với đồng hồ của máy chủ này; chỉ cho phép lệch tối đa %[3]s. Hãy kiểm tra đồng hồ hai bên.", name, off.Round(time.Second), window)
	}
	return app.Refusal{}
}

// noteRefused keeps a refused call for the operator, as long as its address
// may still fail.
func (s *Server) noteRefused(r *http.Request, in inbound, why app.Refusal) {
	if s.failures.exhausted(s.client(r), in.at) {
		return
	}
	s.service.NoteRefusedCall(app.RefusedCall{SourceID: in.source.ID, ReceivedAt: in.at, Remote: s.clientAddr(r).String(), Refusal: why})
}

// Up to which length in bytes, with how many values, it is looked for why the
// signature of a body doesn't match, and against the secrets of how many other
// sources: hardly a notice is larger, and every guess costs a verification.
const (
	maxExplained       = 8 << 10
	maxExplainedValues = 128
	maxOthers          = 10
)

// explainRefusal looks for what a merchant gets wrong most often, when a
// credential or a signature doesn't match: the secret of another of their
// sources, a secret with something around it, and a body that a proxy or a
// framework has written anew. A call that would be right with one of these is
// refused all the same; only its reason becomes clearer.
func (s *Server) explainRefusal(r *http.Request, a adapter, in inbound, why app.Refusal) app.Refusal {
	if why.Code != app.RefusalKey && why.Code != app.RefusalSignature || s.failures.exhausted(s.client(r), in.at) {
		return why
	}
	if len(in.body) > maxExplained || countValues(in.body) > maxExplainedValues {
		return why
	}
	if in.source.SecretLost {
		return refusal(app.RefusalKey, "The secret of this source is lost, so no call can be verified. Rotate the secret.",
			"Secret của nguồn này đã mất nên không xác thực được lượt gọi. Hãy đổi secret.")
	}
	accepted := func(in inbound) bool { return a.verify(in, r.Header).Code == "" }
	others, err := s.service.Sources(r.Context(), in.source.AccountID)
	if err != nil {
		return why
	}
	for _, other := range others[:min(len(others), maxOthers)] {
		tried := in
		tried.source.Secret = other.Secret
		if other.Provider == in.source.Provider {
			tried.source.Options = other.Options
		}
		if other.ID != in.source.ID && accepted(tried) {
			return refusalf(app.RefusalKey, "This secret belongs to source %[1]d (%[2]s).", "Secret này thuộc nguồn %[1]d (%[2]s).", other.ID, other.Name)
		}
	}
	for _, secret := range []string{in.source.Secret + "\n", in.source.Secret + "\r\n", in.source.Secret + " ", " " + in.source.Secret, `"` + in.source.Secret + `"`} {
		tried := in
		if tried.source.Secret = secret; accepted(tried) {
			return refusal(app.RefusalKey, "The secret was entered with an extra line break, space or quotation marks.",
				"Secret nhập bên nhà cung cấp bị thừa dấu xuống dòng, khoảng trắng hoặc dấu ngoặc kép.")
		}
	}
	for _, body := range rewritten(in.body) {
		tried := in
		if tried.body = body; accepted(tried) {
			return refusal(app.RefusalBody, "The secret is correct, but the body was changed on the way: its whitespace is different. A proxy or a framework rewrote the JSON.",
				"Secret đúng, nhưng nội dung đã bị thay đổi trên đường truyền: khoảng trắng không còn như lúc ký. Có thể proxy hoặc framework đã ghi lại JSON.")
		}
	}
	return why
}

// rewritten are forms in which a JSON body may have been signed before
// something between wrote it anew.
func rewritten(body []byte) [][]byte {
	trimmed := bytes.TrimSpace(body)
	forms := [][]byte{trimmed, append(bytes.Clone(trimmed), '\n'), append(bytes.Clone(trimmed), '\r', '\n')}
	var compact, indented2, indented4 bytes.Buffer
	if json.Compact(&compact, trimmed) == nil {
		forms = append(forms, compact.Bytes())
	}
	if json.Indent(&indented2, trimmed, "", "  ") == nil && json.Indent(&indented4, trimmed, "", "    ") == nil {
		forms = append(forms, indented2.Bytes(), indented4.Bytes())
	}
	return forms
}
