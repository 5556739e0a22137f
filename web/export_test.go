package web

import (
	"log/slog"
	"net/http"
	"strings"

	"baoco/app/services"
	"baoco/web/wire"
)

// Outermost is the safety net of every request around a handler.
func Outermost(next http.Handler) http.Handler {
	return outermost(&wire.Responder{Log: slog.New(slog.DiscardHandler)}, next, nil)
}

// Routes lists the method and path of every route.
func Routes(service *services.All) (list []string) {
	routes, _ := houses(&wire.Responder{}, Config{Services: service})
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
