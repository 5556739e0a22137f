package delivery

import (
	_ "embed"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"baoco/app"
	"baoco/app/appsscript"
	"baoco/app/target"
)

// explanations.tsv says why an attempt failed and what to do next: by the class of the error or
// the status of the answer, and by the cause. A line without a cause is for all other causes.
//
//go:embed explanations.tsv
var explanationsTSV string

type failure struct{ what, cause string }

var explanations = sync.OnceValue(func() map[failure]app.Text {
	texts := map[failure]app.Text{}
	for line := range strings.Lines(explanationsTSV) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		texts[failure{columns[0], columns[1]}] = app.Text{EN: columns[2], VI: columns[3]}
	}
	return texts
})

// explain returns an explanation with the inserted values.
func explain(what, cause string, inserted ...any) app.Text {
	text := explanations()[failure{what, cause}]
	return app.Textf(text.EN, text.VI, inserted...)
}

// Explanation says in a sentence or two why an attempt failed and what to do
// next; empty after a success. It shows nothing that could be secret: no query
// of a URL, nothing of the answer's body.
func (r Result) Explanation() app.Text {
	if r.OK() {
		return app.Text{}
	}
	switch r.Error {
	case ErrorHTTPStatus, ErrorNone:
		return explainStatus(r.StatusCode)
	case ErrorRedirect:
		return explainRedirect(r.StatusCode, r.Detail.Text)
	case ErrorBlocked:
		return explainBlocked(r.Detail.Text)
	}
	class := string(r.Error)
	if _, known := explanations()[failure{what: class}]; !known {
		class = string(ErrorInternal)
	}
	if text, found := explanations()[failure{class, string(r.Detail.Cause)}]; found {
		return text
	}
	return explain(class, "")
}

var shortages = map[Cause]app.Text{
	CauseFiles:  {EN: "waiting: baoco’s server has no free file handles", VI: "đang chờ: máy chủ chạy baoco hết số tệp được mở"},
	CauseMemory: {EN: "waiting: baoco’s server has no free memory", VI: "đang chờ: máy chủ chạy baoco hết bộ nhớ"},
	CausePorts:  {EN: "waiting: baoco’s server has no free network ports", VI: "đang chờ: máy chủ chạy baoco hết cổng mạng"},
}

// Shortage says in a few words what this machine is short of for an attempt; it is
// empty for other causes.
func (c Cause) Shortage() app.Text { return shortages[c] }

// explainRedirect explains a redirect; of the target it shows what shownURL
// allows.
func explainRedirect(status int, location string) app.Text {
	to := shownURL(location)
	switch {
	case status == 304:
		return explain("redirect", "304")
	case appsscript.Ran(status, location):
		return explain("redirect", "script")
	case appsscript.AsksForLogin(location):
		return explain("redirect", "login")
	case to == "":
		return explain("redirect", "", status)
	}
	return explain("redirect", "shown", status, to)
}

// shownURL is a URL without its query; "" if it isn't an http or https URL, is
// long or has unusual characters.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	shown := u.Scheme + "://" + u.Host + u.EscapedPath()
	if len(shown) > 200 || strings.IndexFunc(shown, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return ""
	}
	return shown
}

// explainBlocked names the refused address and what would allow it.
func explainBlocked(detail string) app.Text {
	first, _, _ := strings.Cut(detail, " ")
	addr, err := netip.ParseAddr(first)
	if err != nil {
		return explain("blocked_address", "")
	}
	addr = addr.WithZone("").Unmap()
	if target.IsMetadata(addr) {
		return explain("blocked_address", "metadata", addr)
	}
	setting := netip.PrefixFrom(addr, addr.BitLen()).String()
	if _, said, found := strings.Cut(detail, "--allow-target "); found { // with the port
		setting, _, _ = strings.Cut(said, " ")
	}
	return explain("blocked_address", "private", addr, setting)
}

// explainStatus says what the status of a failed attempt means in practice. 200 is a failure of
// WebhookSheet only.
func explainStatus(status int) app.Text {
	if text, found := explanations()[failure{what: strconv.Itoa(status)}]; found {
		return text
	}
	switch {
	case status > 200 && status < 300:
		return explain("2xx", "", status)
	case status >= 400 && status < 500:
		return explain("4xx", "", status)
	case status >= 520 && status <= 530:
		return explain("5xx", "cloudflare", status)
	case status >= 500 && status < 600:
		return explain("5xx", "", status)
	}
	return explain("http_status", "", status)
}
