package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"baoco/app"
	"baoco/web/wire"
)

// page is one line of the table.
type page struct {
	Method string
	Path   string
	Role   app.Role // the lowest role that may see it; empty: nobody has to be signed in
	handle func(s *Server, v *visit) error
	stream bool // see Route
}

// livePrefix begins the addresses of the live pages' streams.
const livePrefix = "/live/"

// table is THE table of the dashboard.
var table = []page{
	{"GET", "/login", "", (*Server).signInPage, false},
	{"POST", "/login", "", (*Server).signIn, false},
	{"POST", "/logout", "", (*Server).signOut, false},
	{"GET", "/setup/{token}", "", (*Server).setUpPage, false},
	{"POST", "/setup/{token}", "", (*Server).setUp, false},
	{"POST", "/look", "", (*Server).switchLook, false},

	{"GET", "/{$}", app.RoleViewer, (*Server).overviewPage, false},
	{"GET", "/transactions", app.RoleViewer, (*Server).transactionsPage, false},
	{"GET", exportPath, app.RoleOwner, (*Server).exportTransactions, true},
	{"GET", "/transactions/import", app.RoleOwner, (*Server).importPage, false},
	{"POST", "/transactions/import", app.RoleOwner, (*Server).importStatement, false},
	{"GET", "/transactions/import/{id}/undo", app.RoleOwner, (*Server).undoImport, false},
	{"POST", "/transactions/import/{id}/undo", app.RoleOwner, (*Server).undoImport, false},
	{"GET", "/transactions/{id}", app.RoleViewer, (*Server).transactionPage, false},
	{"GET", "/webhooks", app.RoleOwner, (*Server).webhooksPage, false},
	{"POST", "/webhooks", app.RoleOwner, (*Server).addWebhook, false},
	{"GET", "/webhooks/new", app.RoleOwner, (*Server).newWebhookPage, false},
	{"GET", "/webhooks/{id}", app.RoleOwner, (*Server).webhookPage, false},
	{"GET", "/webhooks/{id}/edit", app.RoleOwner, (*Server).editWebhookPage, false},
	{"POST", "/webhooks/{id}/edit", app.RoleOwner, (*Server).editWebhook, false},
	{"POST", "/webhooks/{id}/toggle", app.RoleOwner, (*Server).switchWebhook, false},
	{"POST", "/webhooks/{id}/test", app.RoleOwner, (*Server).tryWebhook, false},
	{"GET", "/webhooks/{id}/rotate", app.RoleOwner, (*Server).rotatePage, false},
	{"POST", "/webhooks/{id}/rotate", app.RoleOwner, (*Server).rotateWebhook, false},
	{"POST", "/webhooks/{id}/activate", app.RoleOwner, (*Server).activateWebhook, false},
	{"POST", "/webhooks/{id}/env", app.RoleOwner, (*Server).secretFile, false},
	{"GET", "/webhooks/{id}/replay", app.RoleOwner, (*Server).replayPage, false},
	{"POST", "/webhooks/{id}/replay", app.RoleOwner, (*Server).replayWebhook, false},
	{"GET", "/webhooks/{id}/delete", app.RoleOwner, (*Server).removeWebhook, false},
	{"POST", "/webhooks/{id}/delete", app.RoleOwner, (*Server).removeWebhook, false},
	{"GET", "/tools/signature", app.RoleOwner, (*Server).signaturePage, false},
	{"POST", "/tools/signature", app.RoleOwner, (*Server).checkSignature, false},
	{"GET", "/banks", app.RoleOwner, (*Server).banksPage, false},
	{"POST", "/banks", app.RoleOwner, (*Server).linkBank, false},
	{"GET", "/banks/new", app.RoleOwner, (*Server).newBankPage, false},
	{"GET", "/banks/{id}", app.RoleOwner, (*Server).bankPage, false},
	{"GET", "/banks/{id}/qr.png", app.RoleOwner, (*Server).bankQR, false},
	{"POST", "/banks/{id}/toggle", app.RoleOwner, (*Server).switchBank, false},
	{"GET", "/banks/{id}/unlink", app.RoleOwner, (*Server).unlinkBank, false},
	{"POST", "/banks/{id}/unlink", app.RoleOwner, (*Server).unlinkBank, false},

	{"GET", "/inbound", app.RoleOwner, (*Server).sourcesPage, false},
	{"POST", "/inbound/sources", app.RoleOwner, (*Server).addSource, false},
	{"GET", "/inbound/sources/new", app.RoleOwner, (*Server).newSourcePage, false},
	{"GET", "/inbound/sources/{id}", app.RoleOwner, (*Server).sourcePage, false},
	{"GET", "/inbound/sources/{id}/rotate", app.RoleOwner, (*Server).rotateSourcePage, false},
	{"POST", "/inbound/sources/{id}/rotate", app.RoleOwner, (*Server).rotateSource, false},
	{"POST", "/inbound/sources/{id}/senders", app.RoleOwner, (*Server).allowSender, false},
	{"POST", "/inbound/sources/{id}/key", app.RoleOwner, (*Server).setSourceKey, false},
	{"POST", "/inbound/sources/{id}/catch-up", app.RoleOwner, (*Server).catchUpSource, false},
	{"GET", "/inbound/sources/{id}/remove", app.RoleOwner, (*Server).removeSource, false},
	{"POST", "/inbound/sources/{id}/remove", app.RoleOwner, (*Server).removeSource, false},
	{"GET", "/inbound/events", app.RoleOwner, (*Server).eventsPage, false},
	{"GET", "/inbound/events/{id}", app.RoleOwner, (*Server).eventPage, false},
	{"POST", "/inbound/events/{id}/link", app.RoleOwner, (*Server).linkEvent, false},
	{"POST", "/inbound/events/{id}/retry", app.RoleOwner, (*Server).retryEvent, false},
	{"POST", "/inbound/events/{id}/discard", app.RoleOwner, (*Server).discardEvent, false},
	{"GET", "/inbound/refused", app.RoleOwner, (*Server).refusedPage, false},

	{"GET", "/live/transactions", app.RoleViewer, (*Server).liveTransactions, true},
	{"GET", "/live/transactions/new", app.RoleViewer, (*Server).liveNewTransactions, true},

	{"GET", "/deliveries", app.RoleOwner, (*Server).deliveriesPage, false},
	{"GET", "/deliveries/resend", app.RoleOwner, (*Server).resendPage, false},
	{"POST", "/deliveries/resend", app.RoleOwner, (*Server).resendDeliveries, false},
	{"GET", "/deliveries/{id}", app.RoleOwner, (*Server).deliveryPage, false},
	{"POST", "/deliveries/{id}/resend", app.RoleOwner, (*Server).resendDelivery, false},
	{"GET", "/live/deliveries", app.RoleOwner, (*Server).liveDeliveries, true},
	{"GET", "/keys", app.RoleOwner, (*Server).keysPage, false},
	{"POST", "/keys", app.RoleOwner, (*Server).createKey, false},
	{"GET", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKey, false},
	{"POST", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKey, false},

	{"GET", "/settings", app.RoleViewer, (*Server).settingsPage, false},
	{"POST", "/settings/password", app.RoleViewer, (*Server).changeOwnPassword, false},
	{"POST", "/settings/sign-out", app.RoleViewer, (*Server).signOutEverywhere, false},
	{"POST", "/settings/users", app.RoleOwner, (*Server).createUser, false},
	{"GET", "/settings/users/{id}", app.RoleOwner, (*Server).userPage, false},
	{"POST", "/settings/users/{id}/password", app.RoleOwner, (*Server).setUserPassword, false},
	{"POST", "/settings/users/{id}/role", app.RoleOwner, (*Server).setUserRole, false},
	{"GET", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUser, false},
	{"POST", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUser, false},
	{"POST", "/settings/counters", app.RoleOwner, (*Server).createCounterLink, false},
	{"GET", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounter, false},
	{"POST", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounter, false},
	{"GET", "/settings/alerts", app.RoleOwner, (*Server).alertsPage, false},
	{"POST", "/settings/alerts", app.RoleOwner, (*Server).setAlertPreferences, false},
	{"POST", "/settings/alerts/telegram", app.RoleOwner, (*Server).setAlertTelegram, false},
	{"POST", "/settings/alerts/email", app.RoleOwner, (*Server).setAlertEmail, false},
	{"POST", "/settings/alerts/{medium}/test", app.RoleOwner, (*Server).testAlert, false},
	{"GET", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlert, false},
	{"POST", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlert, false},

	{"GET", "/system", app.RoleOwner, (*Server).systemPage, false},

	{"GET", "/help", app.RoleViewer, (*Server).helpPage, false},
	{"GET", "/help/{page}", app.RoleViewer, (*Server).helpPage, false},

	{"GET", "/counter", app.RoleViewer, (*Server).counterPage, false},
	{"GET", "/counter/{token}", "", (*Server).counterLinkPage, false},
	{"GET", "/live/counter", app.RoleViewer, (*Server).liveCounter, true},
	{"GET", "/live/counter/{token}", "", (*Server).liveCounterLink, true},
}

// ownForms are the forms with a file, which their handlers read themselves, and
// their largest size in bytes.
var ownForms = map[string]int64{"/transactions/import": maxStatement, "/tools/signature": maxSignatureForm}

// The largest size of a form, in bytes.
const (
	maxForm     = 64 << 10
	maxOpenForm = 8 << 10 // if nobody has to be signed in
)

// Routes are the pages and the static files. An action from another site is
// refused. So is one from a browser too old to say where it comes from, unless
// its Origin is this server.
func (s *Server) Routes() []wire.Route {
	protection := http.NewCrossOriginProtection()
	list := []wire.Route{{Method: "GET", Path: "/static/{name}", Handler: s.static}}
	for _, p := range table {
		route := wire.Route{Method: p.Method, Path: p.Path, Stream: p.stream}
		route.Handler = protection.Handler(s.sessions.LoadAndSave(s.visiting(p, depthBelowPage(p.Path)))).ServeHTTP
		switch {
		case p.Method != http.MethodPost:
		case p.Role == "":
			route.MaxBody = maxOpenForm
		default:
			route.MaxBody = cmp.Or(ownForms[p.Path], maxForm)
		}
		list = append(list, route)
	}
	return list
}

// depthBelowPage is how many segments at the end of a path must go to get the
// path of a page, something that answers GET.
func depthBelowPage(path string) (n int) {
	for path != "" && !slices.ContainsFunc(table, func(p page) bool { return p.Method == http.MethodGet && p.Path == path }) {
		path = path[:strings.LastIndexByte(path, '/')]
		n++
	}
	return n
}
