package web

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/provider"
	"baoco/web/dashboard"
	"baoco/web/wire"
)

// Verify is what the adapter of a source says of a call, without the limit on
// failing calls that the way over HTTP has.
func Verify(source app.Source, body []byte, h http.Header, at time.Time) app.Refusal {
	a, found := provider.Find(source.Provider)
	if !found {
		panic("unknown provider " + source.Provider)
	}
	return a.Verify(provider.Call{Source: source, Body: body, At: at}, h)
}

// SignedJSON is what a Casso V2 call with this body signs after its timestamp.
func SignedJSON(body []byte) ([]byte, app.Refusal) {
	v, why := provider.ParseSigned(body)
	return exactjson.AppendJS(nil, exactjson.SortedMembers(exactjson.WithJSNumbers(v), true)), why
}

// SignedPayOS is what a payOS call with this body signs; ok is false where
// payOS's libraries would sign nothing.
func SignedPayOS(body []byte) (text []byte, ok bool) {
	v, why := provider.ParseSigned(body)
	fields, ok := provider.PayOSFields(v.Get("data"))
	return fields.Signed(), ok && why.Code == ""
}

// Outermost is the safety net of every request around a handler.
func Outermost(next http.Handler) http.Handler {
	return outermost(&wire.Responder{Log: slog.New(slog.DiscardHandler)}, next)
}

// Routes lists the method and path of every route.
func Routes(service *app.Service) (list []string) {
	routes, _ := houses(&wire.Responder{}, Config{Service: service})
	for _, r := range routes {
		list = append(list, r.Method+" "+r.Path)
	}
	return list
}

// MuxOf makes a mux of routes that answer nothing, of a method and a path each.
func MuxOf(routes ...string) {
	var list []wire.Route
	for _, r := range routes {
		method, path, _ := strings.Cut(r, " ")
		list = append(list, wire.Route{Method: method, Path: path})
	}
	newMux(list, nil)
}

// DashboardPage is a line of the dashboard's table.
type DashboardPage struct {
	Method, Path string
	Role         app.Role
}

// DashboardPages is the dashboard's table.
func DashboardPages() (list []DashboardPage) {
	for _, p := range dashboard.DashboardPages {
		list = append(list, DashboardPage{p.Method, p.Path, p.Role})
	}
	return list
}
