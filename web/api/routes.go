// Package api is the management API: its table of routes, its handlers, and the types of its
// JSON, which the command line prints too. openapi.yaml describes the API: a type whose name
// ends in JSON is a schema there, and a function Encode… makes it, with times in a zone.
package api

import (
	"cmp"
	"time"

	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/web/wire"
)

// Config is what a Server needs.
type Config struct {
	Services     *services.All
	Limit        int // the general limit of each key, requests a minute; 0: defaultLimit
	ListingLimit int // the limit of the two listings with a limit of their own; 0: defaultListingLimit
	Version      string
	Closing      <-chan struct{} // closed when the server stops; then event streams end
}

// Server answers the management API.
type Server struct {
	*wire.Responder
	service   *services.All
	zone      *time.Location // of the times in answers
	perClass  [2]int         // limits, by limit of a route
	limits    wire.Buckets[keyRoute]
	userAgent string // of calls that a request causes

	closing      <-chan struct{}
	eventStreams wire.Lasting
	newest       *wire.Feed[delivery.NewestIDs] // see newestEvents
	reading      chan struct{}                  // has one place, for the event stream that reads
}

// New makes the server of the management API.
func New(responder *wire.Responder, c Config) *Server {
	s := &Server{
		Responder: responder, service: c.Services, zone: c.Services.Ledger.Zone(),
		userAgent: delivery.UserAgent(c.Version), closing: c.Closing, reading: make(chan struct{}, 1),
		perClass: [2]int{generalLimit: cmp.Or(c.Limit, defaultLimit), listingLimit: cmp.Or(c.ListingLimit, defaultListingLimit)},
	}
	s.newest = wire.NewFeed(s.newestEvents, eventsPoll, c.Services.Inbound.Recorded, s.Log)
	return s
}

type keyRoute struct {
	apiKey int64
	route  string
}

// Routes are the routes of the table.
func (s *Server) Routes() (list []wire.Route) {
	for _, rt := range table {
		route := wire.Route{Method: rt.method, Path: rt.path, Lasts: rt.path == eventStreamPath, Handler: s.management(rt)}
		if rt.body != noBody {
			route.MaxBody = maxManagementBody
		}
		list = append(list, route)
	}
	return list
}

// route is one row of the table.
type route struct {
	method string
	path   string
	limit  int // generalLimit or listingLimit
	access keys
	body   bodyRule
	handle func(s *Server, q *Request) error
}

// keys is the keys that may call a route.
type keys byte

const (
	reads   keys = iota // a key of full or read scope
	writes              // a key of full scope
	listens             // any key
)

// These are the limits of routes, each of requests a minute with one API key.
const (
	generalLimit = iota
	listingLimit
)

// These are the limits if Config sets none, in requests a minute.
const (
	defaultLimit        = 300
	defaultListingLimit = 60
)

const maxManagementBody = 64 << 10

// maxManagementValues is the largest number of JSON values in a body.
const maxManagementValues = 2000

type bodyRule byte

const (
	noBody bodyRule = iota // a body is ignored
	needsBody
	mayHaveBody
)

var table = []route{
	{"GET", "/api/v1/analytics/overview", generalLimit, reads, noBody, (*Server).overview},
	{"GET", "/api/v1/analytics/period", generalLimit, reads, noBody, (*Server).period},
	{"GET", "/api/v1/reports/period", generalLimit, reads, noBody, (*Server).report},
	{"GET", "/api/v1/analytics/status", generalLimit, reads, noBody, (*Server).accountStatus},

	{"GET", "/api/v1/bank-accounts", listingLimit, reads, noBody, (*Server).listBankAccounts},
	{"GET", "/api/v1/bank-accounts/summary", generalLimit, reads, noBody, (*Server).bankAccountSummary},
	{"POST", "/api/v1/bank-accounts", generalLimit, writes, needsBody, (*Server).linkBankAccount},
	{"GET", "/api/v1/bank-accounts/{id}", generalLimit, reads, noBody, (*Server).showBankAccount},
	{"PUT", "/api/v1/bank-accounts/{id}", generalLimit, writes, needsBody, (*Server).updateBankAccount},
	{"DELETE", "/api/v1/bank-accounts/{id}", generalLimit, writes, noBody, (*Server).unlinkBankAccount},
	{"GET", "/api/v1/bank-accounts/{id}/qr", generalLimit, reads, noBody, (*Server).bankAccountQR},
	{"PATCH", "/api/v1/bank-accounts/{id}/toggle", generalLimit, writes, noBody, (*Server).toggleBankAccount},

	{"GET", "/api/v1/transactions", listingLimit, reads, noBody, (*Server).listTransactions},
	{"POST", "/api/v1/transactions", generalLimit, writes, needsBody, (*Server).addTransaction},
	{"GET", eventStreamPath, generalLimit, listens, noBody, (*Server).streamTransactions},
	{"GET", "/api/v1/transactions/{id}", generalLimit, reads, noBody, (*Server).showTransaction},
	{"PUT", "/api/v1/transactions/{id}", generalLimit, writes, needsBody, (*Server).markTransaction},

	{"GET", "/api/v1/sources", generalLimit, reads, noBody, (*Server).listSources},
	{"POST", "/api/v1/sources", generalLimit, writes, needsBody, (*Server).addSource},
	{"GET", "/api/v1/sources/{id}", generalLimit, reads, noBody, (*Server).showSource},
	{"DELETE", "/api/v1/sources/{id}", generalLimit, writes, noBody, (*Server).removeSource},
	{"POST", "/api/v1/sources/{id}/rotate-secret", generalLimit, writes, mayHaveBody, (*Server).rotateSourceSecret},
	{"GET", "/api/v1/inbound", generalLimit, reads, noBody, (*Server).listInbound},
	{"GET", "/api/v1/inbound/refused", generalLimit, reads, noBody, (*Server).listRefused},
	{"GET", "/api/v1/inbound/refused/{id}", generalLimit, reads, noBody, (*Server).showRefused},
	{"GET", "/api/v1/inbound/{id}", generalLimit, reads, noBody, (*Server).showInbound},
	{"POST", "/api/v1/inbound/{id}/link", generalLimit, writes, mayHaveBody, (*Server).linkInbound},
	{"POST", "/api/v1/inbound/{id}/retry", generalLimit, writes, noBody, (*Server).retryInbound},
	{"POST", "/api/v1/inbound/{id}/settle", generalLimit, writes, needsBody, (*Server).settleInbound},
	{"POST", "/api/v1/inbound/{id}/discard", generalLimit, writes, mayHaveBody, (*Server).discardInbound},

	{"GET", "/api/v1/webhooks", generalLimit, reads, noBody, (*Server).listWebhooks},
	{"POST", "/api/v1/webhooks", generalLimit, writes, needsBody, (*Server).createWebhook},
	{"GET", "/api/v1/webhooks/{id}", generalLimit, reads, noBody, (*Server).showWebhook},
	{"PUT", "/api/v1/webhooks/{id}", generalLimit, writes, mayHaveBody, (*Server).updateWebhook},
	{"DELETE", "/api/v1/webhooks/{id}", generalLimit, writes, noBody, (*Server).deleteWebhook},
	{"PATCH", "/api/v1/webhooks/{id}/toggle", generalLimit, writes, noBody, (*Server).toggleWebhook},
	{"POST", "/api/v1/webhooks/{id}/test", generalLimit, writes, noBody, (*Server).testWebhook},
	{"POST", "/api/v1/webhooks/{id}/rotate-secret", generalLimit, writes, mayHaveBody, (*Server).rotateSecret},
	{"POST", "/api/v1/webhooks/{id}/activate-secret", generalLimit, writes, noBody, (*Server).activateSecret},
	{"POST", "/api/v1/webhooks/{id}/replay", generalLimit, writes, mayHaveBody, (*Server).replay},
	{"GET", "/api/v1/webhooks/history", generalLimit, reads, noBody, (*Server).history},
	{"GET", "/api/v1/webhooks/history/{id}", generalLimit, reads, noBody, (*Server).showHistory},
	{"POST", "/api/v1/webhooks/{id}/resend", generalLimit, writes, noBody, (*Server).resend},

	{"GET", "/api/v1/code-patterns", generalLimit, reads, noBody, (*Server).listCodePatterns},
	{"POST", "/api/v1/code-patterns", generalLimit, writes, needsBody, (*Server).createCodePattern},
	{"GET", "/api/v1/code-patterns/{id}", generalLimit, reads, noBody, (*Server).showCodePattern},
	{"DELETE", "/api/v1/code-patterns/{id}", generalLimit, writes, noBody, (*Server).deleteCodePattern},

	{"GET", "/api/v1/payment-requests", generalLimit, reads, noBody, (*Server).listPaymentRequests},
	{"POST", "/api/v1/payment-requests", generalLimit, writes, needsBody, (*Server).createPaymentRequest},
	{"GET", "/api/v1/payment-requests/unmatched", generalLimit, reads, noBody, (*Server).listUnmatched},
	{"PUT", "/api/v1/payment-requests/unmatched/{id}", generalLimit, writes, needsBody, (*Server).putAside},
	{"GET", "/api/v1/payment-requests/{id}", generalLimit, reads, noBody, (*Server).showPaymentRequest},
	{"GET", "/api/v1/payment-requests/{id}/qr", generalLimit, reads, noBody, (*Server).paymentRequestQR},
	{"POST", "/api/v1/payment-requests/{id}/cancel", generalLimit, writes, noBody, (*Server).cancelPaymentRequest},
	{"POST", "/api/v1/payment-requests/{id}/match", generalLimit, writes, needsBody, (*Server).matchTransaction},
	{"POST", "/api/v1/payment-requests/{id}/unmatch", generalLimit, writes, needsBody, (*Server).unmatchTransaction},

	{"GET", "/api/v1/streams", generalLimit, reads, noBody, (*Server).listStreams},
	{"POST", "/api/v1/streams", generalLimit, writes, needsBody, (*Server).createStream},
	{"GET", "/api/v1/streams/{id}", generalLimit, reads, noBody, (*Server).showStream},
	{"PUT", "/api/v1/streams/{id}", generalLimit, writes, mayHaveBody, (*Server).updateStream},
	{"DELETE", "/api/v1/streams/{id}", generalLimit, writes, noBody, (*Server).deleteStream},
	{"PATCH", "/api/v1/streams/{id}/toggle", generalLimit, writes, noBody, (*Server).toggleStream},
	{"POST", "/api/v1/streams/{id}/test", generalLimit, writes, noBody, (*Server).testStream},
	{"POST", "/api/v1/streams/{id}/rotate-secret", generalLimit, writes, noBody, (*Server).rotateStreamSecret},

	{"POST", "/api/v1/deliveries/{id}/send-now", generalLimit, writes, noBody, (*Server).sendNow},
}
