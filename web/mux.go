package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"baoco/app"
	"baoco/web/wire"
)

// newMux makes the mux of the routes. refuse answers requests without a route: 404, or 405 if
// the path has a route of another method. A route of GET answers HEAD too. newMux panics if
// two routes have the same method and path.
func newMux(routes []wire.Route, refuse func(http.ResponseWriter, *http.Request, error)) *http.ServeMux {
	mux := http.NewServeMux()
	served := map[string]bool{} // by pattern; false: the pattern is refused
	for _, route := range routes {
		handle := func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, route.MaxBody)
			route.Handler(w, r)
		}
		if !route.Lasts {
			handle = timed(handle)
		}
		pattern := route.Method + " " + route.Path
		served[pattern] = true
		mux.HandleFunc(pattern, handle)
	}
	others := timed(func(w http.ResponseWriter, r *http.Request) {
		allow := strings.Join(allowed(mux, served, r), ", ")
		if allow == "" {
			refuse(w, r, wire.ErrNothingHere())
			return
		}
		w.Header().Set("Allow", allow)
		refuse(w, r, app.Refused(app.CodeMethodNotAllowed, app.Textf(
			"This address answers to %s only.", "Địa chỉ này chỉ nhận %s.", allow)))
	})
	mux.HandleFunc("/", others)
	for _, route := range routes {
		if strings.Contains(route.Path, "{") {
			continue
		}
		// Without these patterns a route with {id} would take the last part of the path for an id.
		for _, method := range methods {
			pattern := method + " " + route.Path
			if _, found := served[pattern]; !found && method != http.MethodHead {
				served[pattern] = false
				mux.HandleFunc(pattern, others)
			}
		}
	}
	return mux
}

// methods are the methods of all routes, in their order in the header Allow.
var methods = []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut}

// allowed are the methods with which the path of r has a route.
func allowed(mux *http.ServeMux, served map[string]bool, r *http.Request) (list []string) {
	for _, method := range methods {
		if _, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); served[pattern] {
			list = append(list, method)
		}
	}
	return list
}

// timed makes a handler that ends requests after wire.RequestTimeout.
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

// untimedBody stops the timer of a request while it waits for the body. The server's own
// deadline bounds that wait.
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
