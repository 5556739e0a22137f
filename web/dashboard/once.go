package dashboard

import (
	"crypto/rand"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// What is shown once, such as an API key, stands in the answer to the POST that
// made it: never in an address, which browsers and proxies remember, and never
// in the session, which is on disk. A browser that loads such an answer again
// sends the form again; so every form that makes a secret carries a key, and
// the second time it is sent it makes nothing and shows nothing.

// formLifetime is how long such a form may lie open before it is sent. It is
// shorter than the time for which keys are remembered.
const formLifetime = app.IdempotencyWindow / 2

// newFormKey makes the key of a form that is shown at now.
func newFormKey(now time.Time) string {
	return strconv.FormatInt(now.Unix(), 10) + "-" + rand.Text()
}

// firstUse tells whether the form of this visit is sent for the first time.
// Where it isn't, the visitor is on their way to another page.
func (s *Server) firstUse(v *visit, otherwise string) (bool, error) {
	key := v.PostFormValue("once")
	shown, _, _ := strings.Cut(key, "-")
	seconds, err := strconv.ParseInt(shown, 10, 64)
	if age := v.now.Sub(time.Unix(seconds, 0)); err != nil || len(key) > 60 || age > formLifetime || age < -time.Minute {
		return false, s.redirect(v, otherwise, app.Text{
			EN: "This form has expired, so nothing was done. Please fill it in again.",
			VI: "Biểu mẫu đã hết hạn nên chưa có gì được thực hiện. Vui lòng điền lại.",
		})
	}
	first, err := s.Service.FirstUse(v.Context(), v.account.ID, "form "+key, v.now)
	if err != nil || first {
		return first, err
	}
	return false, s.redirect(v, otherwise, app.Text{
		EN: "This form was already submitted, so nothing was done again. Secrets are shown only once.",
		VI: "Biểu mẫu này đã được gửi trước đó nên không thực hiện lại. Nội dung chỉ hiển thị một lần sẽ không hiện lại.",
	})
}

// secretPage shows something this once.
type secretPage struct {
	Lead    string // what it is, and what to do with it now
	Label   string
	Secret  string
	Example string       // a command line; empty: none
	Link    bool         // Secret is an address to open
	QR      template.URL // of the address, for the camera of another device; empty: none
	Back    string
}

func (s *Server) showOnce(v *visit, section string, title app.Text, page secretPage) error {
	return s.render(v, http.StatusOK, "secret", section, title, page)
}

// confirmation is a question before something that can't be undone: in a
// dialog, or on a page of its own where there are no scripts.
type confirmation struct {
	ID       string // of the dialog
	Title    string
	Texts    []string // what will happen
	Question string   // address of the page
	Action   string   // address of the POST
	Button   string
	Back     string
}

func (s *Server) ask(v *visit, section string, c confirmation) error {
	return s.render(v, http.StatusOK, "confirm", section, app.Text{EN: c.Title, VI: c.Title}, c)
}

// address is that of a path as others reach it: as the operator said, else as
// this browser does where it names an address of a network. A name in the
// request may be one that somebody else has pointed here: then only the path is
// given.
func (s *Server) address(v *visit, path string) string {
	if s.Installation.BaseURL != "" {
		return s.Installation.BaseURL + path
	}
	host := v.Request.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && host != "localhost" {
		return path
	}
	scheme := "http://"
	if s.Secure || v.TLS != nil {
		scheme = "https://"
	}
	return scheme + v.Request.Host + path
}
