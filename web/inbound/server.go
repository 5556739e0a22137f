// Package inbound takes the calls of providers: it finds the source that a call names, verifies
// the call, reads its transactions, records them, and answers.
package inbound

import (
	"net/http"

	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/services"
	"baoco/web/wire"
)

// Server takes the providers' calls.
type Server struct {
	*wire.Responder
	service  *services.All
	called   func(source inbound.Source, err error)
	held     heldBodies
	arriving arrivals
}

// New makes the server of the providers' calls. It calls called, which may be nil, for each
// call, with the error of its answer.
func New(responder *wire.Responder, service *services.All, called func(source inbound.Source, err error)) *Server {
	if called == nil {
		called = func(inbound.Source, error) {}
	}
	return &Server{Responder: responder, service: service, called: called}
}

// Routes are the routes that providers call.
func (s *Server) Routes() []wire.Route {
	post := func(path string, maxBody int64, handle http.HandlerFunc) wire.Route {
		return wire.Route{Method: "POST", Path: path, MaxBody: maxBody, Handler: handle}
	}
	return []wire.Route{
		post("/api/webhooks/provider", provider.MaxBodyOfMany, s.call),
		post("/api/webhooks/provider/{token}", provider.MaxBodyOfMany, s.call),
		post("/api/token_generate", 0, s.vietQRToken),
		post("/bank/api/transaction-sync", provider.MaxBodyOfMany, s.vietQRCall),
		post("/api/webhooks/provider/{token}/api/token_generate", 0, s.vietQRToken),
		post("/api/webhooks/provider/{token}/bank/api/transaction-sync", provider.MaxBodyOfMany, s.vietQRCall),
	}
}
