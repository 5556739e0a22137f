// Package web takes HTTP requests: it translates them into use cases of app, and their results
// into answers. It decides nothing.
//
// Five houses are behind one mux and don't know each other: the management API (api), the
// providers' calls (inbound), the pages of payment requests for payers (pay), the
// description of the API (docs), and the dashboard. Each has a table of its routes.
package web

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"baoco/app"
	appinbound "baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/web/api"
	"baoco/web/dashboard"
	"baoco/web/docs"
	"baoco/web/inbound"
	"baoco/web/pay"
	"baoco/web/wire"
)

// Config is what New needs.
type Config struct {
	Services     *services.All
	Logger       *slog.Logger // nil: nothing is logged
	Limit        int          // the general limit, requests a minute; 0: 300
	ListingLimit int          // the limit of the two listings with a limit of their own; 0: 60
	Secure       bool         // clients use HTTPS, at the base URL of Installation
	Version      string
	Closing      <-chan struct{}      // closed when the server stops; then answers that stay open end
	Installation upkeep.Installation  // how serve was started, to show the operator
	RecentLog    *dashboard.RecentLog // the log that Logger writes to, to show the operator; nil: none is shown
	Lang         app.Lang             // of pages if neither the visitor nor the browser names a language; empty: English

	// Metrics answers GET /metrics of callers with MetricsToken (empty: of everybody); nil: nothing does.
	Metrics      http.Handler
	MetricsToken string
	// Requested and Called may be nil. Requested is called for each answered request,
	// with the house that answered it, and Called for each provider's call.
	Requested func(house string, status int)
	Called    func(source appinbound.Source, err error)

	Connections int // of clients that may be open; answers that stay open get a part of them; 0: not known

	// TrustedProxies are the networks of proxies whose headers are used: X-Forwarded-For for
	// the client of a request, X-Forwarded-Proto and X-Forwarded-Host for its scheme and
	// host.
	TrustedProxies []netip.Prefix
}

// New makes the handler of everything that baoco serves.
func New(c Config) http.Handler {
	responder := &wire.Responder{Log: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)), TrustedProxies: c.TrustedProxies,
		Connections: c.Connections}
	if u, err := url.Parse(c.Installation.BaseURL); err == nil && c.Secure {
		responder.SecureHost = u.Host
	}
	routes, refuse := houses(responder, c)
	return outermost(responder, newMux(routes, refuse), c.Requested)
}

// houses returns the routes of all houses, and the function that answers requests without a
// route.
func houses(responder *wire.Responder, c Config) (routes []wire.Route, refuse func(http.ResponseWriter, *http.Request, error)) {
	pages := dashboard.New(responder, dashboard.Config{
		Services: c.Services, Version: c.Version, Closing: c.Closing, Installation: c.Installation, RecentLog: c.RecentLog, Lang: c.Lang,
		EncodeTransaction: func(t app.Transaction, zone *time.Location) any { return api.EncodeTransaction(t, zone) },
	})
	refuse = func(w http.ResponseWriter, r *http.Request, err error) {
		if strings.HasPrefix(r.URL.Path, "/api/") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
			responder.WriteError(w, r, err)
			return
		}
		pages.Refuse(w, r, err)
	}
	calls := api.New(responder, api.Config{
		Services: c.Services, Limit: c.Limit, ListingLimit: c.ListingLimit, Version: c.Version, Closing: c.Closing,
	})
	return slices.Concat(
		inHouse("probes", probes(responder, c, refuse)), inHouse("api", calls.Routes()),
		inHouse("inbound", inbound.New(responder, c.Services, c.Called).Routes()),
		inHouse("pay", pay.New(responder, pay.Config{Services: c.Services, Closing: c.Closing, Lang: c.Lang}).Routes()),
		inHouse("docs", docs.New(responder, api.OpenAPIJSON(c.Version), cmp.Or(c.Lang, app.English)).Routes()),
		inHouse("dashboard", pages.Routes()),
	), refuse
}

// inHouse makes routes note their house in the startedWriter of each request.
func inHouse(house string, routes []wire.Route) []wire.Route {
	for i := range routes {
		next := routes[i].Handler
		routes[i].Handler = func(w http.ResponseWriter, r *http.Request) {
			if out, ok := w.(*startedWriter); ok {
				out.house = house
			}
			next(w, r)
		}
	}
	return routes
}

// probes are the routes for programs that monitor the server.
func probes(responder *wire.Responder, c Config, refuse func(http.ResponseWriter, *http.Request, error)) []wire.Route {
	list := []wire.Route{
		{Method: "GET", Path: "/healthz", Handler: func(w http.ResponseWriter, r *http.Request) {
			wire.WriteJSON(w, http.StatusOK, wire.Envelope{Status: true, Messages: "ok"})
		}},
		{Method: "GET", Path: "/readyz", Handler: func(w http.ResponseWriter, r *http.Request) {
			if err := c.Services.Upkeep.Ready(time.Now()); err != nil {
				responder.WriteError(w, r, app.Unavailable(err))
				return
			}
			wire.WriteJSON(w, http.StatusOK, wire.Envelope{Status: true, Messages: "ready"})
		}},
	}
	if c.Metrics != nil {
		nothing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { refuse(w, r, wire.ErrNothingHere()) })
		list = append(list, wire.Route{Method: "GET", Path: "/metrics", Handler: Guarded(c.MetricsToken, c.Metrics, nothing).ServeHTTP})
	}
	return list
}

// Guarded calls next for requests with the Bearer token, and nothing for all others. With an
// empty token it calls next for all requests.
func Guarded(token string, next, nothing http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(wire.Bearer(r.Header)))
		if token != "" && subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			nothing.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hsts makes a browser that came over HTTPS use only HTTPS, for 30 days from its last visit on
// (RFC 6797).
const hsts = "max-age=2592000"

// outermost gives every request its id, finds out how its client sent it, and answers if a
// handler panics.
func outermost(responder *wire.Responder, next http.Handler, requested func(house string, status int)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var id [12]byte
		rand.Read(id[:])
		r = responder.Arrived(r, hex.EncodeToString(id[:]))
		w.Header().Set("X-Request-Id", wire.RequestID(r))
		if wire.Secure(r) {
			w.Header().Set("Strict-Transport-Security", hsts)
		}
		out := &startedWriter{ResponseWriter: w}
		w = out
		if requested != nil {
			defer func() { requested(cmp.Or(out.house, "none"), cmp.Or(out.status, http.StatusOK)) }()
		}
		defer func() {
			value := recover()
			switch {
			case value == nil:
				return
			case value != http.ErrAbortHandler:
				responder.LogPanic(r, value, debug.Stack())
				if !out.started {
					responder.WriteError(w, r, errors.New("panic"))
					return
				}
			}
			// A part of an answer must not look like a complete answer.
			panic(http.ErrAbortHandler)
		}()
		// The mux would answer an unclean path with a redirect.
		if p := r.URL.Path; p != "/" && (path.Clean(p) != p || p[0] != '/') {
			responder.WriteError(w, r, wire.ErrNothingHere())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// startedWriter keeps whether an answer has begun, its status, and the house that answers.
type startedWriter struct {
	http.ResponseWriter
	started bool
	status  int
	house   string // the house that answers; empty: none
}

func (w *startedWriter) WriteHeader(status int) {
	w.started = true
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *startedWriter) Write(p []byte) (int, error) {
	w.started = true
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the writer for http.ResponseController.
func (w *startedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
