// Package web is HTTP in: it translates requests into use cases of app and
// their results into answers. It decides nothing.
//
// routes.go is the table of the management API; provider.go is the way in for
// the providers' calls, with one provider_<name>.go for each format.
package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"

	"github.com/alexedwards/scs/v2"
)

// requestTimeout is how long a request may wait for the storage. The time that
// its body takes to arrive doesn't count.
const requestTimeout = 10 * time.Second

// Config is what a Server works with.
type Config struct {
	Service      *app.Service
	Logger       *slog.Logger // nil discards
	Limit        int          // the general limit, requests a minute; 0: 300
	ListingLimit int          // that of the two listings which the interface limits; 0: 60
	Secure       bool         // browsers reach the dashboard over HTTPS
	Version      string
	Closing      <-chan struct{}  // closed when the server stops: live pages end
	Installation app.Installation // how serve was started, for the operator to read
	RecentLog    *RecentLog       // that Logger writes to, for the operator to read; nil: none is shown
	Lang         app.Lang         // of the dashboard where neither the visitor nor the browser names one; empty: English

	// TrustedProxies are the networks of the proxies whose X-Forwarded-For says
	// whom a request comes from.
	TrustedProxies []netip.Prefix
}

// Server answers HTTP.
type Server struct {
	service  *app.Service
	log      *slog.Logger
	perClass [2]int // limits by class
	limits   buckets[keyRoute]
	failures buckets[netip.Prefix]
	held     heldBodies
	arriving arrivals

	trustedProxies []netip.Prefix

	// Of the dashboard.
	sessions     *scs.SessionManager
	guesses      guesses
	secure       bool
	version      string
	watchers     watchers
	streams      streamCounts
	bulletins    bulletins
	closing      <-chan struct{}
	installation app.Installation
	recentLog    *RecentLog
	lang         app.Lang
}

// New makes the handler of everything that baoco serves.
func New(c Config) http.Handler {
	s := &Server{service: c.Service, log: c.Logger, perClass: [2]int{
		generalLimit: cmp.Or(c.Limit, defaultLimit), listingLimit: cmp.Or(c.ListingLimit, defaultListingLimit),
	}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.trustedProxies = c.TrustedProxies
	s.secure, s.version, s.closing, s.installation, s.recentLog = c.Secure, c.Version, c.Closing, c.Installation, c.RecentLog
	s.lang = cmp.Or(c.Lang, app.English)
	s.sessions = newSessions(c.Service, c.Secure, s.writeError)
	return s.handler()
}

// query is one authenticated request of the management API.
type query struct {
	*http.Request
	key  app.APIKey
	body jsonValue // null where none was sent
	raw  []byte
	now  time.Time
}

func (q *query) account() int64 { return q.key.AccountID }

// keyRequestID is where a request's context holds its id.
type keyRequestID struct{}

// outermost gives every request its id, its deadline and its safety net.
func (s *Server) outermost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var id [12]byte
		rand.Read(id[:])
		ctx := context.WithValue(r.Context(), keyRequestID{}, hex.EncodeToString(id[:]))
		if !strings.HasPrefix(r.URL.Path, livePrefix) && r.URL.Path != exportPath {
			var end context.CancelFunc
			ctx, end = context.WithCancel(ctx)
			defer end()
			timer := time.AfterFunc(requestTimeout, end)
			defer timer.Stop()
			r.Body = untimedBody{r.Body, timer}
		}
		r = r.WithContext(ctx)
		w.Header().Set("X-Request-Id", requestID(r))
		out := &startedWriter{ResponseWriter: w}
		w = out
		defer func() {
			value := recover()
			switch {
			case value == nil:
				return
			case value != http.ErrAbortHandler:
				s.logPanic(r, value, debug.Stack())
				if !out.started {
					s.writeError(w, r, errors.New("panic"))
					return
				}
			}
			// A part of an answer must not look like a whole one.
			panic(http.ErrAbortHandler)
		}()
		// The mux would answer an unclean path with a redirect.
		if p := r.URL.Path; p != "/" && (path.Clean(p) != p || p[0] != '/') {
			s.writeError(w, r, errNothingHere())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// untimedBody stops the time of a request while it waits for the body, which the
// server's own deadline bounds.
type untimedBody struct {
	io.ReadCloser
	timer *time.Timer
}

func (b untimedBody) Read(p []byte) (int, error) {
	if b.timer.Stop() {
		defer b.timer.Reset(requestTimeout)
	}
	return b.ReadCloser.Read(p)
}

// startedWriter knows whether an answer has begun.
type startedWriter struct {
	http.ResponseWriter
	started bool
}

func (w *startedWriter) WriteHeader(status int) {
	w.started = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *startedWriter) Write(p []byte) (int, error) {
	w.started = true
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *startedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func requestID(r *http.Request) string {
	id, _ := r.Context().Value(keyRequestID{}).(string)
	return id
}

// routeOf names the request for the log, without ids, tokens or query.
func routeOf(r *http.Request) string {
	if r.Pattern == "" {
		return "-"
	}
	return r.Pattern
}

// methods are what one path answers to.
type methods map[string]endpoint

// endpoint answers one method of a path. Of the body it can read maxBody bytes,
// whatever it reads it with.
type endpoint struct {
	maxBody int64
	handle  http.HandlerFunc
}

// dispatch answers 405, with what is allowed, to any other method.
func (s *Server) dispatch(m methods) http.HandlerFunc {
	var allowed []string
	for method := range m {
		allowed = append(allowed, method)
		if method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if e, found := m[method]; found {
			r.Body = http.MaxBytesReader(w, r.Body, e.maxBody)
			e.handle(w, r)
			return
		}
		w.Header().Set("Allow", allow)
		s.refuse(w, r, app.Refused(app.CodeMethodNotAllowed, app.Textf(
			"This address answers to %s only.", "Địa chỉ này chỉ nhận %s.", allow)))
	}
}

// management wraps a route of the management API: authentication, limit,
// scope, body, handler, in this order.
func (s *Server) management(rt route) http.HandlerFunc {
	limit := s.perClass[rt.limit]
	name := rt.method + " " + rt.path
	return func(w http.ResponseWriter, r *http.Request) {
		q := &query{Request: r, now: time.Now()}
		var err error
		if q.key, err = s.service.Authenticate(r.Context(), bearer(r.Header), q.now); err != nil {
			status, body := s.refused(w, r, err, q.now)
			writeJSON(w, status, body)
			return
		}
		remaining, wait, allowed := s.limits.take(keyRoute{q.key.ID, name}, pace{limit, limit}, q.now)
		if !allowed {
			status, body := rateLimited(w, r, limit, wait)
			writeJSON(w, status, body)
			return
		}
		w.Header().Set("X-RateLimit-Limit", strconv.Itoa(limit))
		w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
		if rt.writes && q.key.Scope != app.ScopeFull {
			err = app.Refused(app.CodeForbidden, app.Text{EN: "This API key may only read.", VI: "Khoá API này chỉ có quyền đọc."})
		}
		if err == nil {
			err = q.readBody(rt.body)
		}
		if err == nil {
			err = rt.handle(s, w, q)
		}
		if err != nil {
			s.writeError(w, r, err)
		}
	}
}

// refused is failed for a failed authentication: 401, or 429 once the address
// has failed too often. A valid credential never comes here.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, err error, now time.Time) (int, failure) {
	if app.CodeOf(err) == app.CodeUnauthorized {
		if _, wait, ok := s.failures.take(s.client(r), failurePace, now); !ok {
			return rateLimited(w, r, failurePace.perMinute, wait)
		}
	}
	return s.failed(w, r, err)
}

// cutScheme gives what follows an authentication scheme, whose case doesn't
// count (RFC 9110, 11.1), and a space.
func cutScheme(value, scheme string) (rest string, found bool) {
	named, rest, found := strings.Cut(value, " ")
	return rest, found && strings.EqualFold(named, scheme)
}

// bearer is the token of the one Authorization header; "" where there is none
// or more than one.
func bearer(h http.Header) string {
	values := h["Authorization"]
	if len(values) != 1 {
		return ""
	}
	token, found := cutScheme(values[0], "Bearer")
	if !found {
		return ""
	}
	return token
}

// readBody reads the JSON of a request, refusing in the order 413, 415, 400.
// What kind of value it is, the handler looks at.
func (q *query) readBody(rule bodyRule) error {
	if rule == noBody {
		return nil
	}
	raw, err := io.ReadAll(q.Body)
	if err != nil {
		return bodyError(err)
	}
	if countValues(raw) > maxManagementValues {
		return app.Refused(app.CodePayloadTooLarge, app.Textf(
			"The request body has more than %d values.", "Nội dung yêu cầu có hơn %d giá trị.", maxManagementValues))
	}
	q.raw = raw
	if len(raw) == 0 && rule == mayHaveBody {
		return nil
	}
	if err := checkMediaType(q.Header); err != nil {
		return err
	}
	if q.body, err = parseJSON(raw); err != nil {
		return app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body is not valid JSON.", VI: "Nội dung yêu cầu không phải JSON hợp lệ."})
	}
	return nil
}

// bodyError refuses a body that could not be read, which err says why.
func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return app.Refused(app.CodePayloadTooLarge, app.Textf(
			"The request body is larger than %d bytes.", "Nội dung yêu cầu lớn hơn %d byte.", tooLarge.Limit))
	}
	return app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body could not be read.", VI: "Không đọc được nội dung yêu cầu."})
}

func checkMediaType(h http.Header) error {
	encoding := h.Get("Content-Encoding")
	contentType := h.Get("Content-Type")
	if contentType != "" {
		media, _, err := mime.ParseMediaType(contentType)
		if err != nil || media != "application/json" {
			encoding = "other"
		}
	}
	if encoding != "" && encoding != "identity" {
		return app.Refused(app.CodeUnsupportedMedia, app.Text{
			EN: "The request body must be plain application/json.",
			VI: "Nội dung yêu cầu phải là application/json, không nén.",
		})
	}
	return nil
}

// pathID is the id in the path; anything but its canonical decimal form names
// nothing.
func (q *query) pathID() (int64, bool) {
	return parseID(q.PathValue("id"))
}

func parseID(s string) (int64, bool) {
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == s
}

func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, envelope{true, "ok"})
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if err := s.service.Ready(time.Now()); err != nil {
		s.writeError(w, r, app.Unavailable(err))
		return
	}
	writeJSON(w, http.StatusOK, envelope{true, "ready"})
}
