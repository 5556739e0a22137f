package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

func refusal(code inbound.RefusalCode, en, vi string) inbound.Refusal {
	return inbound.Refusal{Code: code, Text: app.Text{EN: en, VI: vi}}
}

func refusalf(code inbound.RefusalCode, en, vi string, args ...any) inbound.Refusal {
	return inbound.Refusal{Code: code, Text: app.Textf(en, vi, args...)}
}

// oneHeader is the value of a header that comes exactly once.
func oneHeader(h http.Header, name string) (string, inbound.Refusal) {
	switch values := h.Values(name); len(values) {
	case 0:
		return "", refusalf(inbound.RefusalMissing, "The %s header is missing.", "Thiếu header %s.", name)
	case 1:
		return values[0], inbound.Refusal{}
	default:
		return "", refusalf(inbound.RefusalRepeated, "The %s header appears more than once.", "Header %s xuất hiện nhiều lần.", name)
	}
}

// cutScheme gives what follows an authentication scheme, whose case doesn't
// count (RFC 9110, 11.1), and a space.
func cutScheme(value, scheme string) (rest string, found bool) {
	named, rest, found := strings.Cut(value, " ")
	return rest, found && strings.EqualFold(named, scheme)
}

// checkCredential compares the Authorization header, "<scheme> <secret>".
func checkCredential(h http.Header, scheme, secret string) inbound.Refusal {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return why
	}
	token, found := cutScheme(value, scheme)
	if !found {
		return refusalf(inbound.RefusalMalformed, "The Authorization header does not start with %s and a space.",
			"Header Authorization không bắt đầu bằng %s và một khoảng trắng.", scheme)
	}
	if !hmac.Equal([]byte(token), []byte(secret)) {
		return refusalf(inbound.RefusalKey, "The %s token is not this source’s secret.",
			"Token %s không phải là khoá bí mật của nguồn này.", scheme)
	}
	return inbound.Refusal{}
}

// checkHeader compares a header that holds nothing but the secret.
func checkHeader(h http.Header, name, secret string) inbound.Refusal {
	value, why := oneHeader(h, name)
	if why.Code == "" && !hmac.Equal([]byte(value), []byte(secret)) {
		why = refusalf(inbound.RefusalKey, "The %s header does not contain this source’s secret.",
			"Header %s không chứa khoá bí mật của nguồn này.", name)
	}
	return why
}

// checkSignature compares the one header of a name with the HMAC-SHA256 of the body.
func checkSignature(h http.Header, name string, in Call) inbound.Refusal {
	signature, why := oneHeader(h, name)
	if why.Code == "" {
		why = checkHexHMAC(name, signature, sha256.New, in.Source.Secret, in.Body)
	}
	return why
}

// checkHexHMAC compares a signature in bare lower-case hexadecimal digits with
// the HMAC of parts, in constant time. name is where the signature stood.
func checkHexHMAC(name, signature string, algorithm func() hash.Hash, secret string, parts ...[]byte) inbound.Refusal {
	mac := hmac.New(algorithm, []byte(secret))
	for _, part := range parts {
		mac.Write(part)
	}
	if hmac.Equal([]byte(signature), []byte(hex.EncodeToString(mac.Sum(nil)))) {
		return inbound.Refusal{}
	}
	if digits := hex.EncodedLen(mac.Size()); len(signature) != digits || strings.Trim(signature, "0123456789abcdef") != "" {
		return refusalf(inbound.RefusalMalformed, "%[1]s is not %[2]d lowercase hexadecimal digits.",
			"%[1]s không phải là %[2]d chữ số thập lục phân viết thường.", name, digits)
	}
	return refusalf(inbound.RefusalSignature,
		"%s does not match: the call was signed with a different secret, or its body was changed on the way.",
		"%s không khớp: lần gọi được ký bằng khoá bí mật khác, hoặc nội dung đã bị thay đổi trên đường truyền.", name)
}

// checkStamp refuses a time, in units since 1970, that is further than window
// away from the time of receipt. It is for providers that document a window:
// elsewhere an old call may be one that is tried again.
func checkStamp(name, stamp string, unit time.Duration, at time.Time, window time.Duration) inbound.Refusal {
	n, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return refusalf(inbound.RefusalMalformed, "%s is not a timestamp in digits.", "%s không phải là mốc thời gian bằng chữ số.", name)
	}
	if off := at.Sub(time.Unix(0, n*int64(unit))); off.Abs() > window {
		return refusalf(inbound.RefusalTime, "%[1]s is %[2]s off this server’s clock; at most %[3]s is allowed. Check the clocks on both sides.",
			"%[1]s lệch %[2]s so với đồng hồ của máy chủ này; chỉ cho phép lệch tối đa %[3]s. Hãy kiểm tra đồng hồ hai bên.", name,
			off.Round(time.Second), window)
	}
	return inbound.Refusal{}
}
