package web

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/web/wire"
)

// methods are the routes of one path, by method.
type methods map[string]wire.Route

// newMux answers the routes. refuse answers what none of them is for: 404, and
// 405 where the path has a route of another method. Two routes of one method
// and path panic.
func newMux(routes []wire.Route, refuse func(http.ResponseWriter, *http.Request, error)) *http.ServeMux {
	byPath := map[string]methods{}
	for _, route := range routes {
		if byPath[route.Path] == nil {
			byPath[route.Path] = methods{}
		}
		if _, twice := byPath[route.Path][route.Method]; twice {
			panic("two routes for " + route.Method + " " + route.Path)
		}
		byPath[route.Path][route.Method] = route
	}
	mux := http.NewServeMux()
	for path, m := range byPath {
		mux.HandleFunc(path, m.dispatch(refuse))
	}
	mux.HandleFunc("/", timed(func(w http.ResponseWriter, r *http.Request) { refuse(w, r, wire.ErrNothingHere()) }))
	return mux
}

// dispatch answers 405, with what is allowed, to any other method. A route of
// GET answers HEAD too.
func (m methods) dispatch(refuse func(http.ResponseWriter, *http.Request, error)) http.HandlerFunc {
	var allowed []string
	for method := range m {
		allowed = append(allowed, method)
		if method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	notAllowed := wire.Route{Handler: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		refuse(w, r, app.Refused(app.CodeMethodNotAllowed, app.Textf(
			"This address answers to %s only.", "Địa chỉ này chỉ nhận %s.", allow)))
	}}
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		route, found := m[method]
		if !found {
			route = notAllowed
		}
		handle := func(w http.ResponseWriter, r *http.Request) {
			if found {
				r.Body = http.MaxBytesReader(w, r.Body, route.MaxBody)
			}
			route.Handler(w, r)
		}
		if !route.Lasts {
			handle = timed(handle)
		}
		handle(w, r)
	}
}

// timed gives requests their deadline.
func timed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancelCause(r.Context())
		defer end(nil)
		timer := time.AfterFunc(wire.RequestTimeout, func() { end(context.DeadlineExceeded) })
		defer timer.Stop()
		r.Body = untimedBody{r.Body, timer}
		next(w, r.WithContext(ctx))
	}
}

// untimedBody stops the time of a request while it waits for the body, which the
// server's own deadline bounds.
type untimedBody struct {
	io.ReadCloser
	timer *time.Timer
}

func (b untimedBody) Read(p []byte) (int, error) {
	if b.timer.Stop() {
		defer b.timer.Reset(wire.RequestTimeout)
	}
	return b.ReadCloser.Read(p)
}
