package dashboard

import (
	"context"
	"encoding/gob"
	"net/http"
	"time"

	"baoco/app"
	"baoco/web/wire"

	"github.com/alexedwards/scs/v2"
)

// sessionLifetime is how long a browser stays signed in.
const sessionLifetime = 14 * 24 * time.Hour

// newSessions keeps sessions in the store, by the hash of their token.
func newSessions(service *app.Service, failed func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	// scs.New would start a goroutine that never ends, for a store of its own.
	m := &scs.SessionManager{Store: sessionStore{service}, HashTokenInStore: true, Lifetime: sessionLifetime, Codec: scs.GobCodec{}, ErrorFunc: failed}
	m.Cookie = scs.SessionCookie{Name: "baoco", Path: "/", HttpOnly: true, Persist: true, SameSite: http.SameSiteLaxMode}
	return m
}

// withSession gives a handler the session of the browser. Its cookie is for HTTPS
// only where the browser came over HTTPS.
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

// sessionStore implements the interface that scs asks for.
type sessionStore struct{ Service *app.Service }

func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	return s.Service.Session(ctx, token, time.Now())
}

func (s sessionStore) CommitCtx(ctx context.Context, token string, data []byte, end time.Time) error {
	_, values, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return err
	}
	session := app.Session{EndAt: end}
	session.UserID, _ = values["user"].(int64)
	session.Generation, _ = values["generation"].(int64)
	session.Agent, _ = values["agent"].(string)
	session.Address, _ = values["address"].(string)
	started, _ := values["started"].(int64)
	session.StartedAt = time.Unix(started, 0)
	return s.Service.SetSession(ctx, token, session, data)
}

func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.Service.RemoveSession(ctx, token)
}

// scs calls none of these methods without a context, since it finds those above.
func (s sessionStore) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s sessionStore) Commit(token string, data []byte, end time.Time) error {
	return s.CommitCtx(context.Background(), token, data, end)
}

func (s sessionStore) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// signedIn reads the user of the session from the storage. It is zero if the
// session has none, or if the user has signed out everywhere since.
func (s *Server) signedIn(ctx context.Context) (app.User, error) {
	id := s.sessions.GetInt64(ctx, "user")
	if id == 0 {
		return app.User{}, nil
	}
	u, found, err := s.Service.User(ctx, id)
	if err != nil || !found || u.Generation != s.sessions.GetInt64(ctx, "generation") {
		return app.User{}, err
	}
	return u, nil
}
