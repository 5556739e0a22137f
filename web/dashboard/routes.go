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
}

// livePrefix begins the addresses of the live pages' streams. Their answers last,
// like that of the export.
const livePrefix = "/live/"

// table is THE table of the dashboard. The package comment says how a page is
// written.
var table = []page{
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
	{"GET", "/transactions/import/{id}/undo", app.RoleOwner, (*Server).undoImport},
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
	{"GET", "/webhooks/{id}/delete", app.RoleOwner, (*Server).removeWebhook},
	{"POST", "/webhooks/{id}/delete", app.RoleOwner, (*Server).removeWebhook},
	{"GET", "/tools/signature", app.RoleOwner, (*Server).signaturePage},
	{"POST", "/tools/signature", app.RoleOwner, (*Server).checkSignature},
	{"GET", "/banks", app.RoleOwner, (*Server).banksPage},
	{"POST", "/banks", app.RoleOwner, (*Server).linkBank},
	{"GET", "/banks/new", app.RoleOwner, (*Server).newBankPage},
	{"GET", "/banks/{id}", app.RoleOwner, (*Server).bankPage},
	{"GET", "/banks/{id}/qr.png", app.RoleOwner, (*Server).bankQR},
	{"POST", "/banks/{id}/toggle", app.RoleOwner, (*Server).switchBank},
	{"GET", "/banks/{id}/unlink", app.RoleOwner, (*Server).unlinkBank},
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
	{"GET", "/inbound/sources/{id}/remove", app.RoleOwner, (*Server).removeSource},
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
	{"GET", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKey},
	{"POST", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKey},

	{"GET", "/settings", app.RoleViewer, (*Server).settingsPage},
	{"POST", "/settings/password", app.RoleViewer, (*Server).changeOwnPassword},
	{"POST", "/settings/sign-out", app.RoleViewer, (*Server).signOutEverywhere},
	{"POST", "/settings/users", app.RoleOwner, (*Server).createUser},
	{"GET", "/settings/users/{id}", app.RoleOwner, (*Server).userPage},
	{"POST", "/settings/users/{id}/password", app.RoleOwner, (*Server).setUserPassword},
	{"POST", "/settings/users/{id}/role", app.RoleOwner, (*Server).setUserRole},
	{"GET", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUser},
	{"POST", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUser},
	{"POST", "/settings/counters", app.RoleOwner, (*Server).createCounterLink},
	{"GET", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounter},
	{"POST", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounter},
	{"GET", "/settings/alerts", app.RoleOwner, (*Server).alertsPage},
	{"POST", "/settings/alerts", app.RoleOwner, (*Server).setAlertPreferences},
	{"POST", "/settings/alerts/telegram", app.RoleOwner, (*Server).setAlertTelegram},
	{"POST", "/settings/alerts/email", app.RoleOwner, (*Server).setAlertEmail},
	{"POST", "/settings/alerts/{medium}/test", app.RoleOwner, (*Server).testAlert},
	{"GET", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlert},
	{"POST", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlert},

	{"GET", "/system", app.RoleOwner, (*Server).systemPage},

	{"GET", "/help", app.RoleViewer, (*Server).helpPage},
	{"GET", "/help/{page}", app.RoleViewer, (*Server).helpPage},

	{"GET", "/counter", app.RoleViewer, (*Server).counterPage},
	{"GET", "/counter/{token}", "", (*Server).counterLinkPage},
	{"GET", "/live/counter", app.RoleViewer, (*Server).liveCounter},
	{"GET", "/live/counter/{token}", "", (*Server).liveCounterLink},
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
		route := wire.Route{Method: p.Method, Path: p.Path, Stream: strings.HasPrefix(p.Path, livePrefix) || p.Path == exportPath}
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
