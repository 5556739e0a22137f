package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/gob"
	"net/http"
	"net/url"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/services"
	"baoco/web/wire"

	"github.com/alexedwards/scs/v2"
)

// sessionLifetime is how long a browser stays signed in.
const sessionLifetime = 14 * 24 * time.Hour

// newSessions makes the manager of sessions, which stores them by the hash of their token.
func newSessions(all *services.All, failed func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	// scs.New would start a goroutine that never ends, for a store of its own.
	m := &scs.SessionManager{
		Store: sessionStore{Services: all}, HashTokenInStore: true, Lifetime: sessionLifetime, Codec: scs.GobCodec{}, ErrorFunc: failed,
	}
	m.Cookie = scs.SessionCookie{Name: "baoco", Path: "/", HttpOnly: true, Persist: true, SameSite: http.SameSiteLaxMode}
	return m
}

// withSession gives a handler the session of the browser. If the browser came over HTTPS,
// the cookie is for HTTPS only.
func (s *Server) withSession(next http.Handler) http.Handler {
	secured := *s.sessions
	secured.Cookie.Name, secured.Cookie.Secure = "__Host-"+secured.Cookie.Name, true
	plain, secure := s.sessions.LoadAndSave(next), secured.LoadAndSave(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wire.Secure(r) {
			secure.ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

func init() { gob.Register(int64(0)) }

// sessionStore implements the interfaces of scs. scs calls no method of Store, since it finds the
// methods with a context.
type sessionStore struct {
	scs.Store
	Services *services.All
}

func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	return s.Services.Access.Session(ctx, token, time.Now())
}

func (s sessionStore) CommitCtx(ctx context.Context, token string, data []byte, end time.Time) error {
	_, values, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return err
	}
	session := access.Session{EndAt: end}
	if session.UserID, _ = values["user"].(int64); session.UserID == 0 {
		session.UserID, session.Halfway = values["halfway"].(int64)
	}
	session.Generation, _ = values["generation"].(int64)
	session.Agent, _ = values["agent"].(string)
	session.Address, _ = values["address"].(string)
	started, _ := values["started"].(int64)
	session.StartedAt = time.Unix(started, 0)
	return s.Services.Access.SetSession(ctx, token, session, data)
}

func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.Services.Access.RemoveSession(ctx, token)
}

// signedIn reads the user of the session from the storage. It is zero if the session has no
// user, or if the user has signed out everywhere meanwhile.
func (s *Server) signedIn(ctx context.Context) (access.User, error) {
	id := s.sessions.GetInt64(ctx, "user")
	if id == 0 {
		return access.User{}, nil
	}
	u, found, err := s.Services.Access.User(ctx, id)
	if err != nil || !found || u.Generation != s.sessions.GetInt64(ctx, "generation") {
		return access.User{}, err
	}
	return u, nil
}

// askToSignIn sends a visitor to the sign-in page, which leads back to the requested page, or to
// the page of the form that was sent. An event stream can't show another page: it answers 401,
// and its page reloads itself.
func (s *Server) askToSignIn(v *visit, p page) {
	if strings.HasPrefix(v.URL.Path, livePath) {
		v.w.WriteHeader(http.StatusUnauthorized)
		return
	}
	query := url.Values{}
	if back := s.formPage(v, p); back != "/" {
		query.Set("back", back)
	}
	if v.Method == http.MethodPost {
		query.Set("unsaved", "1")
	}
	to := url.URL{Path: "/login", RawQuery: query.Encode()}
	http.Redirect(v.w, v.Request, to.String(), http.StatusSeeOther)
}

// signInPath is where a user sets up the second factor and ends sessions. A user who must
// set up a second factor gets no other page.
const signInPath = "/settings/sign-in"

// leadToEnrol redirects a user who must set up a second factor to the page for it. It returns
// false if the visitor needn't set it up, or if the page is for setting it up.
func (s *Server) leadToEnrol(v *visit, p page) bool {
	if !v.user.MustEnrol || p.Takes == open || strings.HasPrefix(p.Path, signInPath) {
		return false
	}
	if strings.HasPrefix(v.URL.Path, livePath) {
		v.w.WriteHeader(http.StatusUnauthorized)
	} else {
		http.Redirect(v.w, v.Request, signInPath, http.StatusSeeOther)
	}
	return true
}

// describeSession stores in the session what the list of sessions shows.
func (s *Server) describeSession(v *visit, u access.User) {
	agent := v.UserAgent()
	s.sessions.Put(v.Context(), "generation", u.Generation)
	s.sessions.Put(v.Context(), "agent", strings.ToValidUTF8(agent[:min(len(agent), access.MaxAgent)], ""))
	s.sessions.Put(v.Context(), "address", s.ClientAddr(v.Request).String())
	s.sessions.Put(v.Context(), "started", v.now.Unix())
}

// storedToken is the token of the visit's session as scs passes it to the store.
func (s *Server) storedToken(v *visit) string {
	sum := sha256.Sum256([]byte(s.sessions.Token(v.Context())))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s *Server) endSession(v *visit, userID int64, session, back string) error {
	id, _ := wire.ParseID(session)
	return s.done(v, s.Services.Access.EndSession(v.Context(), v.account.ID, userID, id, v.now), back,
		app.Text{EN: "Session ended.", VI: "Đã kết thúc phiên đăng nhập."})
}

// Browser names the browser and the system of a User-Agent, as far as it shows them.
func (w words) Browser(agent string) string {
	browser, system := "", ""
	// The order matters: Chrome also calls itself Safari, and Edge calls itself Chrome.
	for _, b := range [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"coc_coc", "Cốc Cốc"}, {"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if browser == "" && strings.Contains(agent, b[0]) {
			browser = b[1]
		}
	}
	for _, b := range [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"},
		{"CrOS", "ChromeOS"}, {"Linux", "Linux"}} {
		if system == "" && strings.Contains(agent, b[0]) {
			system = b[1]
		}
	}
	switch {
	case browser == "" && system == "":
		return w.T("Unknown browser", "Trình duyệt không rõ")
	case browser == "" || system == "":
		return browser + system
	}
	return browser + ", " + system
}
