package web

import (
	"net/http"

	"baoco/app"
	"baoco/app/provider"
)

// Server takes the providers' calls.
type Server struct {
	*Responder
	service  *app.Service
	held     heldBodies
	arriving arrivals
}

func newInboundServer(responder *Responder, service *app.Service) *Server {
	return &Server{Responder: responder, service: service}
}

// routes is THE table of what the providers call.
func (s *Server) routes() []Route {
	post := func(path string, maxBody int64, handle http.HandlerFunc) Route {
		return Route{Method: "POST", Path: path, MaxBody: maxBody, Handler: handle}
	}
	return []Route{
		post("/api/webhooks/provider", provider.MaxBodyOfMany, s.call),
		post("/api/webhooks/provider/{token}", provider.MaxBodyOfMany, s.call),
		post("/api/token_generate", 0, s.vietQRToken),
		post("/bank/api/transaction-sync", provider.MaxBodyOfMany, s.vietQRCall),
		post("/api/webhooks/provider/{token}/api/token_generate", 0, s.vietQRToken),
		post("/api/webhooks/provider/{token}/bank/api/transaction-sync", provider.MaxBodyOfMany, s.vietQRCall),
	}
}
