package web

import (
	"net/http"

	"baoco/app"
)

// route is one line of the surface.
type route struct {
	method string
	path   string
	limit  int  // requests a minute and API key; 0: the general limit
	writes bool // needs a key of full scope
	body   bodyRule
	handle func(s *Server, w http.ResponseWriter, q *query) error
}

type bodyRule byte

const (
	noBody bodyRule = iota // what is sent is ignored
	needsBody
	mayHaveBody
)

// routes is THE table of the management API.
var routes = []route{
	{"GET", "/api/v1/analytics/overview", 0, false, noBody, (*Server).overview},
	{"GET", "/api/v1/analytics/period", 0, false, noBody, (*Server).period},
	{"GET", "/api/v1/analytics/status", 0, false, noBody, (*Server).accountStatus},

	{"GET", "/api/v1/bank-accounts", 60, false, noBody, (*Server).listBankAccounts},
	{"GET", "/api/v1/bank-accounts/summary", 0, false, noBody, (*Server).bankAccountSummary},
	{"PATCH", "/api/v1/bank-accounts/{id}/toggle", 0, true, noBody, (*Server).toggleBankAccount},

	{"GET", "/api/v1/transactions", 60, false, noBody, (*Server).listTransactions},
	{"POST", "/api/v1/transactions", 0, true, needsBody, (*Server).addTransaction},

	{"GET", "/api/v1/webhooks", 0, false, noBody, (*Server).listWebhooks},
	{"POST", "/api/v1/webhooks", 0, true, needsBody, (*Server).createWebhook},
	{"PUT", "/api/v1/webhooks/{id}", 0, true, mayHaveBody, (*Server).updateWebhook},
	{"DELETE", "/api/v1/webhooks/{id}", 0, true, noBody, (*Server).deleteWebhook},
	{"PATCH", "/api/v1/webhooks/{id}/toggle", 0, true, noBody, (*Server).toggleWebhook},
	{"POST", "/api/v1/webhooks/{id}/test", 0, true, noBody, (*Server).testWebhook},
	{"POST", "/api/v1/webhooks/{id}/rotate-secret", 0, true, mayHaveBody, (*Server).rotateSecret},
	{"POST", "/api/v1/webhooks/{id}/activate-secret", 0, true, noBody, (*Server).activateSecret},
	{"POST", "/api/v1/webhooks/{id}/replay", 0, true, mayHaveBody, (*Server).replay},
	{"GET", "/api/v1/webhooks/history", 0, false, noBody, (*Server).history},
	{"POST", "/api/v1/webhooks/{id}/resend", 0, true, noBody, (*Server).resend},
}

// defaultLimit is the general limit, requests a minute.
const defaultLimit = 300

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	byPath := map[string]methods{}
	for _, rt := range routes {
		if byPath[rt.path] == nil {
			byPath[rt.path] = methods{}
		}
		byPath[rt.path][rt.method] = s.management(rt)
	}
	byPath["/api/webhooks/provider"] = methods{"POST": s.provider}
	byPath["/api/webhooks/provider/{token}"] = methods{"POST": s.provider}
	byPath["/healthz"] = methods{"GET": s.healthz}
	byPath["/readyz"] = methods{"GET": s.readyz}
	for path, m := range byPath {
		mux.HandleFunc(path, s.dispatch(m))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.writeError(w, r, app.NotFound("There is nothing at this address.", "Không có gì ở địa chỉ này."))
	})
	return s.outermost(mux)
}
