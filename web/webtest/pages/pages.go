// Package pages finds the pages of the dashboard that a test doesn't visit. It isn't part of
// webtest, because each test process takes 6 ms to load webtest's contract.
package pages

import (
	"net/http"
	"net/http/httptest"

	"baoco/web/dashboard"
	"baoco/web/wire"
)

// Without returns the pages of the dashboard that none of the paths leads to, but for
// those in except.
func Without(paths []string, except ...string) (pages []string) {
	mux, visited := http.NewServeMux(), map[string]bool{}
	for _, path := range except {
		visited["GET "+path] = true
	}
	routes := dashboard.New(&wire.Responder{}, dashboard.Config{}).Routes()
	for _, r := range routes {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	for _, path := range paths {
		_, pattern := mux.Handler(httptest.NewRequest(http.MethodGet, path, nil))
		visited[pattern] = true
	}
	for _, r := range routes {
		if pattern := r.Method + " " + r.Path; r.Method == http.MethodGet && !r.Lasts && r.Path != "/static/{name}" && !visited[pattern] {
			pages = append(pages, r.Path)
		}
	}
	return pages
}
