package delivery_test

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

var (
	classes = []delivery.ErrorClass{
		delivery.ErrorNone, delivery.ErrorTimeout, delivery.ErrorDNS, delivery.ErrorRefused, delivery.ErrorReset, delivery.ErrorConnection,
		delivery.ErrorTLS, delivery.ErrorBlocked,
		delivery.ErrorRedirect, delivery.ErrorHTTPStatus, delivery.ErrorProtocol, delivery.ErrorInternal, delivery.ErrorShortage,
		"a class of a later version",
	}
	causes = []delivery.Cause{
		"", delivery.CauseDNS, delivery.CauseConnect, delivery.CauseTLS, delivery.CauseResponse, delivery.CauseNoSuchName,
		delivery.CauseLookupFailed, delivery.CauseUnreachable,
		delivery.CauseExpired, delivery.CauseNotYetValid, delivery.CauseWrongName, delivery.CauseSelfSigned, delivery.CauseUnknownAuthority,
		delivery.CauseBadCertificate,
		delivery.CauseNotTLS, delivery.CauseOldTLS, delivery.CauseClientCertificate, delivery.CauseHandshake, "a cause of a later version",
	}
)

// Whatever an attempt came to, there is a sentence or two about it in both
// languages, and nothing in them that could be secret.
func TestEveryFailureIsExplained(t *testing.T) {
	secrets := []string{"tell-nobody", "whsec_", "pass"}
	details := []string{
		"https://shop.vn/login?token=tell-nobody", "https://user:pass@shop.vn/?whsec_", "/relative?tell-nobody", "http://[::1", "tell-nobody",
		"10.0.0.1 is not a public address; tell-nobody", "169.254.169.254 tell-nobody", "::ffff:10.0.0.1",
		strings.Repeat("tell-nobody ", 100), "\x00\xff",
	}
	for _, cause := range causes {
		details = append(details, string(cause), delivery.Detail{Cause: cause, Text: "x509: tell-nobody"}.String())
	}
	statuses := []int{0, 99, 600}
	for status := 100; status < 600; status++ {
		statuses = append(statuses, status)
	}
	for _, class := range classes {
		for i, status := range statuses {
			few := details
			if i > 10 {
				few = details[:3]
			}
			for _, detail := range few {
				r := delivery.Result{Error: class, StatusCode: status, Detail: delivery.ParseDetail(detail), Body: []byte("tell-nobody")}
				if r.OK() {
					continue
				}
				checkExplanation(t, fmt.Sprintf("%q, %d, %.40q", class, status, detail), r.Explanation(), secrets)
			}
		}
	}
	if text := (delivery.Result{StatusCode: 200}).Explanation(); text != (app.Text{}) {
		t.Errorf("a success is explained: %q", text)
	}
}

var sentenceEnd = regexp.MustCompile(`[.!?](\s|$)`)

func checkExplanation(t *testing.T, what string, text app.Text, secrets []string) {
	t.Helper()
	for _, s := range []string{text.EN, text.VI} {
		if n := len(sentenceEnd.FindAllString(s, -1)); !strings.HasSuffix(s, ".") || n < 1 || n > 2 || utf8.RuneCountInString(s) > 500 ||
			!utf8.ValidString(s) {
			t.Fatalf("%s: %d sentences: %q", what, n, s)
		}
		if strings.ContainsAny(s, "?\n\r\t\x00") || strings.Contains(s, "%!") || strings.Contains(s, "  ") {
			t.Fatalf("%s: %q", what, s)
		}
		for _, secret := range secrets {
			if strings.Contains(s, secret) {
				t.Fatalf("%s: tells %q: %q", what, secret, s)
			}
		}
	}
	if text.EN == text.VI {
		t.Fatalf("%s: the same in both languages: %q", what, text.EN)
	}
}

// The next step that matters, by what happened.
func TestExplanations(t *testing.T) {
	for _, c := range []struct {
		class  delivery.ErrorClass
		status int
		detail string
		en, vi string // parts
	}{
		{delivery.ErrorHTTPStatus, 201, "", "returned 201, but only 200 counts", "chỉ mã 200"},
		{delivery.ErrorHTTPStatus, 204, "", "returned 204, but only 200 counts", "chỉ mã 200"},
		{delivery.ErrorHTTPStatus, 401, "", "the raw body with this webhook’s secret", "khoá bí mật của webhook này"},
		{delivery.ErrorHTTPStatus, 403, "", "without a login, CSRF check", "tường lửa"},
		{delivery.ErrorHTTPStatus, 404, "", "Check the path", "kiểm tra đường dẫn"},
		{delivery.ErrorHTTPStatus, 405, "", "Add a POST route", "route POST"},
		{delivery.ErrorHTTPStatus, 410, "", "Enter the current URL", "URL hiện tại"},
		{delivery.ErrorHTTPStatus, 413, "", "client_max_body_size", "client_max_body_size"},
		{delivery.ErrorHTTPStatus, 415, "", "application/json", "application/json"},
		{delivery.ErrorHTTPStatus, 419, "", "CSRF", "Laravel"},
		{delivery.ErrorHTTPStatus, 422, "", "validation", "các trường"},
		{delivery.ErrorHTTPStatus, 429, "", "Exempt this URL", "loại trừ URL"},
		{delivery.ErrorHTTPStatus, 499, "", "rejected the request (499)", "từ chối yêu cầu (499)"},
		{delivery.ErrorHTTPStatus, 500, "", "Check its error log", "nhật ký"},
		{delivery.ErrorHTTPStatus, 502, "", "PHP-FPM", "PHP-FPM"},
		{delivery.ErrorHTTPStatus, 503, "", "overloaded or in maintenance", "bảo trì"},
		{delivery.ErrorHTTPStatus, 504, "", "Return 200 before", "trả về 200 trước"},
		{delivery.ErrorHTTPStatus, 522, "", "Cloudflare returned 522", "Cloudflare"},
		{delivery.ErrorHTTPStatus, 599, "", "failed (599)", "bị lỗi (599)"},
		{delivery.ErrorRedirect, 301, "https://shop.vn/hook/?key=1", "redirects to https://shop.vn/hook/, ", "đến https://shop.vn/hook/, "},
		{delivery.ErrorRedirect, 302, "", "the one that returns 200", "URL trả về 200"},
		{delivery.ErrorRedirect, 302, "javascript:alert(1)", "the one that returns 200", "URL trả về 200"},
		{delivery.ErrorRedirect, 304, "", "304 (not modified)", "304"},
		{delivery.ErrorTimeout, 0, "dns", "resolved in time", "phân giải"},
		{delivery.ErrorTimeout, 0, "connect", "firewall", "tường lửa"},
		{delivery.ErrorTimeout, 0, "tls", "TLS handshake within 10 seconds", "bắt tay TLS"},
		{delivery.ErrorTimeout, 0, "response", "Return 200 before doing any further processing", "trả về 200 trước"},
		{delivery.ErrorTimeout, 200, "response", "Return 200 before doing any further processing", "trả về 200 trước"},
		{delivery.ErrorTimeout, 0, "", "return 200 before", "trả về 200 trước"},
		{delivery.ErrorDNS, 0, "no_such_name: no such host", "does not exist", "không tồn tại"},
		{delivery.ErrorDNS, 0, "lookup_failed: server misbehaving", "domain’s name servers", "máy chủ DNS"},
		{delivery.ErrorRefused, 0, "", "Start your web server", "khởi động máy chủ web"},
		{delivery.ErrorReset, 0, "response", "error log", "nhật ký lỗi"},
		{delivery.ErrorReset, 0, "tls", "uses HTTPS", "HTTPS"},
		{delivery.ErrorConnection, 0, "unreachable: no route to host", "no route", "IPv4"},
		{delivery.ErrorTLS, 0, "expired: x509: certificate has expired", "has expired. Renew it", "gia hạn"},
		{delivery.ErrorTLS, 0, "not_yet_valid", "clock", "đồng hồ"},
		{delivery.ErrorTLS, 0, "wrong_name", "a different domain", "tên miền khác"},
		{delivery.ErrorTLS, 0, "self_signed", "self-signed", "tự ký"},
		{delivery.ErrorTLS, 0, "unknown_authority", "fullchain.pem", "chứng chỉ trung gian"},
		{delivery.ErrorTLS, 0, "not_tls", "does not use HTTPS", "443"},
		{delivery.ErrorTLS, 0, "old_tls", "TLS 1.2 or 1.3", "TLS 1.2"},
		{delivery.ErrorTLS, 0, "x509: of an older record", "certificate and HTTPS configuration", "chứng chỉ"},
		{delivery.ErrorBlocked, 0, "10.1.2.3 is not a public address (…)", "serve --allow-target 10.1.2.3/32)", "10.1.2.3/32"},
		{delivery.ErrorBlocked, 0, (&target.BlockedAddressError{Addr: netip.MustParseAddr("10.1.2.3"), Port: 81}).Error(),
			"serve --allow-target 10.1.2.3/32@81)", "--allow-target 10.1.2.3/32@81)"},
		{delivery.ErrorBlocked, 0, "fd00::1 is not a public address (…)", "serve --allow-target fd00::1/128)", "fd00::1/128"},
		{delivery.ErrorBlocked, 0, "169.254.169.254 is a cloud metadata address", "never allowed", "không bao giờ được phép"},
		{delivery.ErrorBlocked, 0, "64:ff9b::a9fe:a9fe is a cloud metadata address", "never allowed", "không bao giờ được phép"},
		{delivery.ErrorProtocol, 0, "malformed", "https://", "https://"},
		{delivery.ErrorInternal, 0, "", "not on your server", "không phải do máy chủ của bạn"},
	} {
		text := delivery.Result{Error: c.class, StatusCode: c.status, Detail: delivery.ParseDetail(c.detail)}.Explanation()
		if !strings.Contains(text.EN, c.en) || !strings.Contains(text.VI, c.vi) {
			t.Errorf("%s %d %q: %q, %q; want parts %q, %q", c.class, c.status, c.detail, text.EN, text.VI, c.en, c.vi)
		}
	}
}

// A detail is read as it was written, also one that an earlier version wrote.
func TestDetail(t *testing.T) {
	for stored, want := range map[string]delivery.Detail{
		"":                                {},
		"response":                        {Cause: delivery.CauseResponse},
		"expired: x509: certificate: old": {Cause: delivery.CauseExpired, Text: "x509: certificate: old"},
		"x509: of an older record":        {Text: "x509: of an older record"},
		"https://shop.vn/hook":            {Text: "https://shop.vn/hook"},
		"malformed":                       {Text: "malformed"},
	} {
		if got := delivery.ParseDetail(stored); got != want || got.String() != stored {
			t.Errorf("%q: %+v, which is written %q", stored, got, got.String())
		}
	}
	for _, cause := range causes[:len(causes)-1] {
		if got := delivery.ParseDetail(string(cause)); got.Cause != cause {
			t.Errorf("the cause %q is read as %+v", cause, got)
		}
	}
}
