package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"baoco/app"
	"baoco/web/wire"
)

// chosenLang is the language that the visitor chose, else the browser's, else the
// installation's.
func (s *Server) chosenLang(r *http.Request) app.Lang {
	if c, err := r.Cookie("lang"); err == nil && (app.Lang(c.Value) == app.Vietnamese || app.Lang(c.Value) == app.English) {
		return app.Lang(c.Value)
	}
	return wire.AcceptedLang(r, s.Lang)
}

func chosenTheme(r *http.Request) string {
	if c, err := r.Cookie("theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// switchLook keeps the language or the theme that a visitor chose.
func (s *Server) switchLook(v *visit) error {
	set := func(name, value string) {
		http.SetCookie(v.w, &http.Cookie{
			Name: name, Value: value, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, Secure: wire.Secure(v.Request), SameSite: http.SameSiteLaxMode,
		})
	}
	switch l := v.PostFormValue("lang"); app.Lang(l) {
	case app.Vietnamese, app.English:
		set("lang", l)
	}
	switch theme := v.PostFormValue("theme"); theme {
	case "light", "dark", "auto":
		set("theme", theme)
	}
	return s.redirect(v, localPath(v.PostFormValue("back")), app.Text{})
}

// pathBack is the page to show again after a visitor changed the language or the
// theme. The answer to a POST can't be shown again: for one it is the nearest
// page above its path.
func (v *visit) pathBack() string {
	if v.Method == http.MethodGet || v.Method == http.MethodHead {
		return v.URL.RequestURI()
	}
	to := v.URL.EscapedPath()
	for range v.backDepth {
		to = to[:strings.LastIndexByte(to, '/')]
	}
	return cmp.Or(to, "/")
}

// localPath is the path to go back to; "/" if to could lead to another host.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") {
		return "/"
	}
	return to
}
