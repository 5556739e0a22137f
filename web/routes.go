package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"baoco/app"
)

// route is one line of the surface.
type route struct {
	method string
	path   string
	limit  limitClass
	writes bool // needs a key of full scope
	body   bodyRule
	handle func(s *Server, w http.ResponseWriter, q *query) error
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

// How many bytes of a body are read. Every other request has none.
const (
	maxManagementBody = 64 << 10
	maxForm           = 64 << 10
	maxOpenForm       = 8 << 10 // of pages for which nobody has to be signed in
	maxInboundBody    = 1 << 20 // of calls with several transactions; see adapter.maxBody
)

// maxManagementValues is how many JSON values a body of the management API has
// at most.
const maxManagementValues = 2000

type bodyRule byte

const (
	noBody bodyRule = iota // what is sent is ignored
	needsBody
	mayHaveBody
)

// routes is THE table of the management API.
var routes = []route{
	{"GET", "/api/v1/analytics/overview", generalLimit, false, noBody, (*Server).overview},
	{"GET", "/api/v1/analytics/period", generalLimit, false, noBody, (*Server).period},
	{"GET", "/api/v1/analytics/status", generalLimit, false, noBody, (*Server).accountStatus},

	{"GET", "/api/v1/bank-accounts", listingLimit, false, noBody, (*Server).listBankAccounts},
	{"GET", "/api/v1/bank-accounts/summary", generalLimit, false, noBody, (*Server).bankAccountSummary},
	{"PATCH", "/api/v1/bank-accounts/{id}/toggle", generalLimit, true, noBody, (*Server).toggleBankAccount},

	{"GET", "/api/v1/transactions", listingLimit, false, noBody, (*Server).listTransactions},
	{"POST", "/api/v1/transactions", generalLimit, true, needsBody, (*Server).addTransaction},

	{"GET", "/api/v1/sources", generalLimit, false, noBody, (*Server).listSources},
	{"GET", "/api/v1/inbound", generalLimit, false, noBody, (*Server).listInbound},
	{"GET", "/api/v1/inbound/refused", generalLimit, false, noBody, (*Server).listRefused},
	{"GET", "/api/v1/inbound/{id}", generalLimit, false, noBody, (*Server).showInbound},
	{"POST", "/api/v1/inbound/{id}/link", generalLimit, true, mayHaveBody, (*Server).linkInbound},
	{"POST", "/api/v1/inbound/{id}/retry", generalLimit, true, noBody, (*Server).retryInbound},
	{"POST", "/api/v1/inbound/{id}/discard", generalLimit, true, mayHaveBody, (*Server).discardInbound},

	{"GET", "/api/v1/webhooks", generalLimit, false, noBody, (*Server).listWebhooks},
	{"POST", "/api/v1/webhooks", generalLimit, true, needsBody, (*Server).createWebhook},
	{"PUT", "/api/v1/webhooks/{id}", generalLimit, true, mayHaveBody, (*Server).updateWebhook},
	{"DELETE", "/api/v1/webhooks/{id}", generalLimit, true, noBody, (*Server).deleteWebhook},
	{"PATCH", "/api/v1/webhooks/{id}/toggle", generalLimit, true, noBody, (*Server).toggleWebhook},
	{"POST", "/api/v1/webhooks/{id}/test", generalLimit, true, noBody, (*Server).testWebhook},
	{"POST", "/api/v1/webhooks/{id}/rotate-secret", generalLimit, true, mayHaveBody, (*Server).rotateSecret},
	{"POST", "/api/v1/webhooks/{id}/activate-secret", generalLimit, true, noBody, (*Server).activateSecret},
	{"POST", "/api/v1/webhooks/{id}/replay", generalLimit, true, mayHaveBody, (*Server).replay},
	{"GET", "/api/v1/webhooks/history", generalLimit, false, noBody, (*Server).history},
	{"POST", "/api/v1/webhooks/{id}/resend", generalLimit, true, noBody, (*Server).resend},
}

// openRoute is a line of the surface that no API key guards.
type openRoute struct {
	method  string
	path    string
	maxBody int64
	handler func(s *Server) http.HandlerFunc
}

// openRoutes is THE table of what the providers call, and of the probes.
var openRoutes = []openRoute{
	{"POST", "/api/webhooks/provider", maxInboundBody, calls(ownEntrance)},
	{"POST", "/api/webhooks/provider/{token}", maxInboundBody, calls(ownEntrance)},
	{"POST", "/api/token_generate", 0, vietQRTokens},
	{"POST", "/bank/api/transaction-sync", maxInboundBody, calls(vietQREntrance)},
	{"POST", "/api/webhooks/provider/{token}/api/token_generate", 0, vietQRTokens},
	{"POST", "/api/webhooks/provider/{token}/bank/api/transaction-sync", maxInboundBody, calls(vietQREntrance)},
	{"GET", "/healthz", 0, func(s *Server) http.HandlerFunc { return s.healthz }},
	{"GET", "/readyz", 0, func(s *Server) http.HandlerFunc { return s.readyz }},
}

func calls(at entrance) func(*Server) http.HandlerFunc {
	return func(s *Server) http.HandlerFunc { return s.provider(at) }
}

func vietQRTokens(s *Server) http.HandlerFunc { return s.vietQRToken }

// livePrefix begins the addresses whose answers don't end.
const livePrefix = "/live/"

// dashboardPages is THE table of the dashboard.
var dashboardPages = []page{
	{"GET", "/login", "", (*Server).signInPage},
	{"POST", "/login", "", (*Server).signIn},
	{"POST", "/logout", "", (*Server).signOut},
	{"GET", "/setup/{token}", "", (*Server).setUpPage},
	{"POST", "/setup/{token}", "", (*Server).setUp},
	{"POST", "/look", "", (*Server).switchLook},

	{"GET", "/{$}", app.RoleViewer, (*Server).overviewPage},
	{"GET", "/transactions", app.RoleViewer, (*Server).transactionsPage},
	{"GET", exportPath, app.RoleOwner, (*Server).exportTransactions},
	{"GET", "/transactions/import", app.RoleOwner, (*Server).importPage},
	{"POST", "/transactions/import", app.RoleOwner, (*Server).importStatement},
	{"GET", "/transactions/import/{id}/undo", app.RoleOwner, (*Server).undoImportPage},
	{"POST", "/transactions/import/{id}/undo", app.RoleOwner, (*Server).undoImport},
	{"GET", "/transactions/{id}", app.RoleViewer, (*Server).transactionPage},
	{"GET", "/webhooks", app.RoleOwner, (*Server).webhooksPage},
	{"POST", "/webhooks", app.RoleOwner, (*Server).addWebhook},
	{"GET", "/webhooks/new", app.RoleOwner, (*Server).newWebhookPage},
	{"GET", "/webhooks/{id}", app.RoleOwner, (*Server).webhookPage},
	{"GET", "/webhooks/{id}/edit", app.RoleOwner, (*Server).editWebhookPage},
	{"POST", "/webhooks/{id}/edit", app.RoleOwner, (*Server).editWebhook},
	{"POST", "/webhooks/{id}/toggle", app.RoleOwner, (*Server).switchWebhook},
	{"POST", "/webhooks/{id}/test", app.RoleOwner, (*Server).tryWebhook},
	{"GET", "/webhooks/{id}/rotate", app.RoleOwner, (*Server).rotatePage},
	{"POST", "/webhooks/{id}/rotate", app.RoleOwner, (*Server).rotateWebhook},
	{"POST", "/webhooks/{id}/activate", app.RoleOwner, (*Server).activateWebhook},
	{"POST", "/webhooks/{id}/env", app.RoleOwner, (*Server).secretFile},
	{"GET", "/webhooks/{id}/replay", app.RoleOwner, (*Server).replayPage},
	{"POST", "/webhooks/{id}/replay", app.RoleOwner, (*Server).replayWebhook},
	{"GET", "/webhooks/{id}/delete", app.RoleOwner, (*Server).deletePage},
	{"POST", "/webhooks/{id}/delete", app.RoleOwner, (*Server).removeWebhook},
	{"GET", "/tools/signature", app.RoleOwner, (*Server).signaturePage},
	{"POST", "/tools/signature", app.RoleOwner, (*Server).checkSignature},
	{"GET", "/banks", app.RoleOwner, (*Server).banksPage},
	{"POST", "/banks", app.RoleOwner, (*Server).linkBank},
	{"GET", "/banks/new", app.RoleOwner, (*Server).newBankPage},
	{"GET", "/banks/{id}", app.RoleOwner, (*Server).bankPage},
	{"GET", "/banks/{id}/qr.png", app.RoleOwner, (*Server).bankQR},
	{"POST", "/banks/{id}/toggle", app.RoleOwner, (*Server).switchBank},
	{"GET", "/banks/{id}/unlink", app.RoleOwner, (*Server).unlinkPage},
	{"POST", "/banks/{id}/unlink", app.RoleOwner, (*Server).unlinkBank},

	{"GET", "/inbound", app.RoleOwner, (*Server).sourcesPage},
	{"POST", "/inbound/sources", app.RoleOwner, (*Server).addSource},
	{"GET", "/inbound/sources/new", app.RoleOwner, (*Server).newSourcePage},
	{"GET", "/inbound/sources/{id}", app.RoleOwner, (*Server).sourcePage},
	{"GET", "/inbound/sources/{id}/rotate", app.RoleOwner, (*Server).rotateSourcePage},
	{"POST", "/inbound/sources/{id}/rotate", app.RoleOwner, (*Server).rotateSource},
	{"POST", "/inbound/sources/{id}/senders", app.RoleOwner, (*Server).allowSender},
	{"POST", "/inbound/sources/{id}/key", app.RoleOwner, (*Server).setSourceKey},
	{"POST", "/inbound/sources/{id}/catch-up", app.RoleOwner, (*Server).catchUpSource},
	{"GET", "/inbound/sources/{id}/remove", app.RoleOwner, (*Server).removeSourcePage},
	{"POST", "/inbound/sources/{id}/remove", app.RoleOwner, (*Server).removeSource},
	{"GET", "/inbound/events", app.RoleOwner, (*Server).eventsPage},
	{"GET", "/inbound/events/{id}", app.RoleOwner, (*Server).eventPage},
	{"POST", "/inbound/events/{id}/link", app.RoleOwner, (*Server).linkEvent},
	{"POST", "/inbound/events/{id}/retry", app.RoleOwner, (*Server).retryEvent},
	{"POST", "/inbound/events/{id}/discard", app.RoleOwner, (*Server).discardEvent},
	{"GET", "/inbound/refused", app.RoleOwner, (*Server).refusedPage},

	{"GET", "/live/transactions", app.RoleViewer, (*Server).liveTransactions},
	{"GET", "/live/transactions/new", app.RoleViewer, (*Server).liveNewTransactions},

	{"GET", "/deliveries", app.RoleOwner, (*Server).deliveriesPage},
	{"GET", "/deliveries/resend", app.RoleOwner, (*Server).resendPage},
	{"POST", "/deliveries/resend", app.RoleOwner, (*Server).resendDeliveries},
	{"GET", "/deliveries/{id}", app.RoleOwner, (*Server).deliveryPage},
	{"POST", "/deliveries/{id}/resend", app.RoleOwner, (*Server).resendDelivery},
	{"GET", "/live/deliveries", app.RoleOwner, (*Server).liveDeliveries},
	{"GET", "/keys", app.RoleOwner, (*Server).keysPage},
	{"POST", "/keys", app.RoleOwner, (*Server).createKey},
	{"GET", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKeyPage},
	{"POST", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKey},

	{"GET", "/settings", app.RoleViewer, (*Server).settingsPage},
	{"POST", "/settings/password", app.RoleViewer, (*Server).changeOwnPassword},
	{"POST", "/settings/sign-out", app.RoleViewer, (*Server).signOutEverywhere},
	{"POST", "/settings/users", app.RoleOwner, (*Server).createUser},
	{"GET", "/settings/users/{id}", app.RoleOwner, (*Server).userPage},
	{"POST", "/settings/users/{id}/password", app.RoleOwner, (*Server).setUserPassword},
	{"POST", "/settings/users/{id}/role", app.RoleOwner, (*Server).setUserRole},
	{"GET", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUserPage},
	{"POST", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUser},
	{"POST", "/settings/counters", app.RoleOwner, (*Server).createCounterLink},
	{"GET", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounterPage},
	{"POST", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounter},
	{"GET", "/settings/alerts", app.RoleOwner, (*Server).alertsPage},
	{"POST", "/settings/alerts", app.RoleOwner, (*Server).setAlertPreferences},
	{"POST", "/settings/alerts/telegram", app.RoleOwner, (*Server).setAlertTelegram},
	{"POST", "/settings/alerts/email", app.RoleOwner, (*Server).setAlertEmail},
	{"POST", "/settings/alerts/{medium}/test", app.RoleOwner, (*Server).testAlert},
	{"GET", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlertPage},
	{"POST", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlert},

	{"GET", "/system", app.RoleOwner, (*Server).systemPage},

	{"GET", "/counter", app.RoleViewer, (*Server).counterPage},
	{"GET", "/counter/{token}", "", (*Server).counterLinkPage},
	{"GET", "/live/counter", app.RoleViewer, (*Server).liveCounter},
	{"GET", "/live/counter/{token}", "", (*Server).liveCounterLink},
}

// ownForms are the forms that their handlers read themselves, since a file is in
// them, with the most bytes that they may be.
var ownForms = map[string]int64{"/transactions/import": maxStatement, "/tools/signature": maxSignatureForm}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	byPath := map[string]methods{}
	for _, rt := range routes {
		if byPath[rt.path] == nil {
			byPath[rt.path] = methods{}
		}
		e := endpoint{handle: s.management(rt)}
		if rt.body != noBody {
			e.maxBody = maxManagementBody
		}
		byPath[rt.path][rt.method] = e
	}
	for _, rt := range openRoutes {
		byPath[rt.path] = methods{rt.method: {rt.maxBody, rt.handler(s)}}
	}
	for path, m := range byPath {
		mux.HandleFunc(path, s.dispatch(m))
	}
	s.dashboard(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, errNothingHere()) })
	return s.outermost(mux)
}

// dashboard registers the pages. An action from another site is refused, and
// so is one from a browser too old to say where it comes from, unless it comes
// from here.
func (s *Server) dashboard(mux *http.ServeMux) {
	protection := http.NewCrossOriginProtection()
	byPath := map[string]methods{}
	for _, p := range dashboardPages {
		if byPath[p.path] == nil {
			byPath[p.path] = methods{}
		}
		e := endpoint{handle: protection.Handler(s.sessions.LoadAndSave(s.visiting(p, segmentsAbove(p.path)))).ServeHTTP}
		switch {
		case p.method != http.MethodPost:
		case p.role == "":
			e.maxBody = maxOpenForm
		default:
			e.maxBody = cmp.Or(ownForms[p.path], maxForm)
		}
		byPath[p.path][p.method] = e
	}
	for path, m := range byPath {
		mux.HandleFunc(path, s.dispatch(m))
	}
	mux.HandleFunc("/static/{name}", s.dispatch(methods{"GET": {0, s.static}}))
}

// segmentsAbove is how many segments a path of the dashboard has beyond the
// nearest that can be looked at.
func segmentsAbove(path string) (n int) {
	for path != "" && !slices.ContainsFunc(dashboardPages, func(p page) bool { return p.method == http.MethodGet && p.path == path }) {
		path = path[:strings.LastIndexByte(path, '/')]
		n++
	}
	return n
}

func errNothingHere() error {
	return app.NotFound("There is nothing at this address.", "Không có gì ở địa chỉ này.")
}
