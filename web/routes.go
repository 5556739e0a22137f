package web

import (
	"cmp"
	"net/http"

	"baoco/app"
)

// apiServer answers the management API.
type apiServer struct {
	*Responder
	service  *app.Service
	perClass [2]int // limits by class
	limits   buckets[keyRoute]
}

// newAPIServer limits each key to so many requests a minute; 0: as the interface
// says.
func newAPIServer(responder *Responder, service *app.Service, general, listing int) *apiServer {
	return &apiServer{Responder: responder, service: service, perClass: [2]int{
		generalLimit: cmp.Or(general, defaultLimit), listingLimit: cmp.Or(listing, defaultListingLimit),
	}}
}

// keyRoute is what a limit counts.
type keyRoute struct {
	apiKey int64
	route  string
}

func (s *apiServer) routes() (list []Route) {
	for _, rt := range apiRoutes {
		route := Route{Method: rt.method, Path: rt.path, Handler: s.management(rt)}
		if rt.body != noBody {
			route.MaxBody = maxManagementBody
		}
		list = append(list, route)
	}
	return list
}

// route is one line of the surface.
type route struct {
	method string
	path   string
	limit  limitClass
	writes bool // needs a key of full scope
	body   bodyRule
	handle func(s *apiServer, w http.ResponseWriter, q *query) error
}

// limitClass says which limit holds, in requests a minute and API key.
type limitClass byte

const (
	generalLimit limitClass = iota
	listingLimit
)

// The limits of the interface.
const (
	defaultLimit        = 300
	defaultListingLimit = 60
)

// maxManagementBody is how many bytes of a body are read.
const maxManagementBody = 64 << 10

// maxManagementValues is how many JSON values a body of the management API has
// at most.
const maxManagementValues = 2000

type bodyRule byte

const (
	noBody bodyRule = iota // what is sent is ignored
	needsBody
	mayHaveBody
)

// apiRoutes is THE table of the management API.
var apiRoutes = []route{
	{"GET", "/api/v1/analytics/overview", generalLimit, false, noBody, (*apiServer).overview},
	{"GET", "/api/v1/analytics/period", generalLimit, false, noBody, (*apiServer).period},
	{"GET", "/api/v1/analytics/status", generalLimit, false, noBody, (*apiServer).accountStatus},

	{"GET", "/api/v1/bank-accounts", listingLimit, false, noBody, (*apiServer).listBankAccounts},
	{"GET", "/api/v1/bank-accounts/summary", generalLimit, false, noBody, (*apiServer).bankAccountSummary},
	{"PATCH", "/api/v1/bank-accounts/{id}/toggle", generalLimit, true, noBody, (*apiServer).toggleBankAccount},

	{"GET", "/api/v1/transactions", listingLimit, false, noBody, (*apiServer).listTransactions},
	{"POST", "/api/v1/transactions", generalLimit, true, needsBody, (*apiServer).addTransaction},

	{"GET", "/api/v1/sources", generalLimit, false, noBody, (*apiServer).listSources},
	{"GET", "/api/v1/inbound", generalLimit, false, noBody, (*apiServer).listInbound},
	{"GET", "/api/v1/inbound/refused", generalLimit, false, noBody, (*apiServer).listRefused},
	{"GET", "/api/v1/inbound/{id}", generalLimit, false, noBody, (*apiServer).showInbound},
	{"POST", "/api/v1/inbound/{id}/link", generalLimit, true, mayHaveBody, (*apiServer).linkInbound},
	{"POST", "/api/v1/inbound/{id}/retry", generalLimit, true, noBody, (*apiServer).retryInbound},
	{"POST", "/api/v1/inbound/{id}/discard", generalLimit, true, mayHaveBody, (*apiServer).discardInbound},

	{"GET", "/api/v1/webhooks", generalLimit, false, noBody, (*apiServer).listWebhooks},
	{"POST", "/api/v1/webhooks", generalLimit, true, needsBody, (*apiServer).createWebhook},
	{"PUT", "/api/v1/webhooks/{id}", generalLimit, true, mayHaveBody, (*apiServer).updateWebhook},
	{"DELETE", "/api/v1/webhooks/{id}", generalLimit, true, noBody, (*apiServer).deleteWebhook},
	{"PATCH", "/api/v1/webhooks/{id}/toggle", generalLimit, true, noBody, (*apiServer).toggleWebhook},
	{"POST", "/api/v1/webhooks/{id}/test", generalLimit, true, noBody, (*apiServer).testWebhook},
	{"POST", "/api/v1/webhooks/{id}/rotate-secret", generalLimit, true, mayHaveBody, (*apiServer).rotateSecret},
	{"POST", "/api/v1/webhooks/{id}/activate-secret", generalLimit, true, noBody, (*apiServer).activateSecret},
	{"POST", "/api/v1/webhooks/{id}/replay", generalLimit, true, mayHaveBody, (*apiServer).replay},
	{"GET", "/api/v1/webhooks/history", generalLimit, false, noBody, (*apiServer).history},
	{"POST", "/api/v1/webhooks/{id}/resend", generalLimit, true, noBody, (*apiServer).resend},
}
