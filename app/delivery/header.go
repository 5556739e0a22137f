package delivery

import (
	"regexp"
	"slices"
	"strings"

	"baoco/app"
)

// A webhook may have headers of its own, for a firewall or a password in front of the shop.
const (
	maxHeaders     = 5
	maxHeaderName  = 100
	maxHeaderValue = 1000
)

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// checkHeaders refuses headers that baoco sends itself, or that say how a call is sent.
func checkHeaders(kind WebhookKind, headers []Header) error {
	var v app.Invalid
	if len(headers) > maxHeaders {
		v.Add("headers", "must be at most 5", "tối đa 5 header")
	}
	seen := map[string]bool{}
	for _, h := range headers {
		name := strings.ToLower(h.Name)
		switch {
		case !headerName.MatchString(h.Name) || len(name) > maxHeaderName || seen[name]:
			v.Add("headers", "must have names of letters, digits and hyphens, each once",
				"phải có tên chỉ gồm chữ không dấu, số và gạch nối, không trùng nhau")
		case strings.Trim(h.Value, " ") != h.Value || h.Value == "" || len(h.Value) > maxHeaderValue || !isPrintable(h.Value):
			v.Add("headers", "must have values of 1 to 1000 printable ASCII characters", "phải có giá trị dài 1 đến 1000 ký tự ASCII in được")
		case kind == WebhookSepay && name == "authorization", ownHeader(name):
			v.Add("headers", "must not be "+h.Name+": baoco sends it itself, or it says how the call is sent",
				"không được là "+h.Name+": baoco tự gửi header này, hoặc nó quy định cách gửi")
		}
		seen[name] = true
	}
	return v.Err()
}

// ownHeader reports whether a header, in lower case, is set by baoco or by the connection.
func ownHeader(name string) bool {
	if slices.ContainsFunc([]string{"content-", "webhook-", "x-webhook-", "x-sepay-", "proxy", "sec-"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return true
	}
	return slices.Contains([]string{"host", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect",
		"user-agent", "accept-encoding"}, name)
}

func isPrintable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
