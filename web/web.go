// Package web is HTTP in: it translates requests into use cases of app and
// their results into answers. It decides nothing.
//
// Three houses stand side by side behind one mux and don't know each other: the
// management API, the way in for providers' calls, and the dashboard. Each has
// a table of its routes.
package web

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"baoco/app"
)

// Config is what New works with.
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

// New makes the handler of everything that baoco serves.
func New(c Config) http.Handler {
	responder := &Responder{log: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)), trustedProxies: c.TrustedProxies}
	routes, refuse := houses(responder, c)
	return outermost(responder, newMux(routes, refuse))
}

// houses gives the routes of all houses, and what answers requests that none of
// them is for.
func houses(responder *Responder, c Config) (routes []Route, refuse func(http.ResponseWriter, *http.Request, error)) {
	pages := newDashboardServer(responder, dashboardConfig{
		Service: c.Service, Secure: c.Secure, Version: c.Version, Closing: c.Closing, Installation: c.Installation, RecentLog: c.RecentLog, Lang: c.Lang,
		EncodeTransaction: func(t app.Transaction, zone *time.Location) any { return EncodeTransaction(t, zone) },
	})
	refuse = func(w http.ResponseWriter, r *http.Request, err error) {
		if strings.HasPrefix(r.URL.Path, "/api/") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
			responder.writeError(w, r, err)
			return
		}
		pages.refuse(w, r, err)
	}
	routes = slices.Concat(
		probes(responder, c.Service), newAPIServer(responder, c.Service, c.Limit, c.ListingLimit).routes(), newInboundServer(responder, c.Service).routes(), pages.routes())
	return routes, refuse
}

// probes are for whoever watches over the server.
func probes(responder *Responder, service *app.Service) []Route {
	return []Route{
		{Method: "GET", Path: "/healthz", Handler: func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, http.StatusOK, envelope{Status: true, Messages: "ok"})
		}},
		{Method: "GET", Path: "/readyz", Handler: func(w http.ResponseWriter, r *http.Request) {
			if err := service.Ready(time.Now()); err != nil {
				responder.writeError(w, r, app.Unavailable(err))
				return
			}
			writeJSON(w, http.StatusOK, envelope{Status: true, Messages: "ready"})
		}},
	}
}

// outermost gives every request its id and its safety net.
func outermost(responder *Responder, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var id [12]byte
		rand.Read(id[:])
		r = withRequestID(r, hex.EncodeToString(id[:]))
		w.Header().Set("X-Request-Id", requestID(r))
		out := &startedWriter{ResponseWriter: w}
		w = out
		defer func() {
			value := recover()
			switch {
			case value == nil:
				return
			case value != http.ErrAbortHandler:
				responder.logPanic(r, value, debug.Stack())
				if !out.started {
					responder.writeError(w, r, errors.New("panic"))
					return
				}
			}
			// A part of an answer must not look like a whole one.
			panic(http.ErrAbortHandler)
		}()
		// The mux would answer an unclean path with a redirect.
		if p := r.URL.Path; p != "/" && (path.Clean(p) != p || p[0] != '/') {
			responder.writeError(w, r, errNothingHere())
			return
		}
		next.ServeHTTP(w, r)
	})
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
