package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"baoco/app"
)

// page is one line of the dashboard's surface.
type page struct {
	method string
	path   string
	role   app.Role // the least that is needed; empty: nobody has to be signed in
	handle func(s *dashboardServer, v *visit) error
	stream bool // see Route
}

// livePrefix begins the addresses of the live pages' streams.
const livePrefix = "/live/"

// dashboardPages is THE table of the dashboard.
var dashboardPages = []page{
	{"GET", "/login", "", (*dashboardServer).signInPage, false},
	{"POST", "/login", "", (*dashboardServer).signIn, false},
	{"POST", "/logout", "", (*dashboardServer).signOut, false},
	{"GET", "/setup/{token}", "", (*dashboardServer).setUpPage, false},
	{"POST", "/setup/{token}", "", (*dashboardServer).setUp, false},
	{"POST", "/look", "", (*dashboardServer).switchLook, false},

	{"GET", "/{$}", app.RoleViewer, (*dashboardServer).overviewPage, false},
	{"GET", "/transactions", app.RoleViewer, (*dashboardServer).transactionsPage, false},
	{"GET", exportPath, app.RoleOwner, (*dashboardServer).exportTransactions, true},
	{"GET", "/transactions/import", app.RoleOwner, (*dashboardServer).importPage, false},
	{"POST", "/transactions/import", app.RoleOwner, (*dashboardServer).importStatement, false},
	{"GET", "/transactions/import/{id}/undo", app.RoleOwner, (*dashboardServer).undoImportPage, false},
	{"POST", "/transactions/import/{id}/undo", app.RoleOwner, (*dashboardServer).undoImport, false},
	{"GET", "/transactions/{id}", app.RoleViewer, (*dashboardServer).transactionPage, false},
	{"GET", "/webhooks", app.RoleOwner, (*dashboardServer).webhooksPage, false},
	{"POST", "/webhooks", app.RoleOwner, (*dashboardServer).addWebhook, false},
	{"GET", "/webhooks/new", app.RoleOwner, (*dashboardServer).newWebhookPage, false},
	{"GET", "/webhooks/{id}", app.RoleOwner, (*dashboardServer).webhookPage, false},
	{"GET", "/webhooks/{id}/edit", app.RoleOwner, (*dashboardServer).editWebhookPage, false},
	{"POST", "/webhooks/{id}/edit", app.RoleOwner, (*dashboardServer).editWebhook, false},
	{"POST", "/webhooks/{id}/toggle", app.RoleOwner, (*dashboardServer).switchWebhook, false},
	{"POST", "/webhooks/{id}/test", app.RoleOwner, (*dashboardServer).tryWebhook, false},
	{"GET", "/webhooks/{id}/rotate", app.RoleOwner, (*dashboardServer).rotatePage, false},
	{"POST", "/webhooks/{id}/rotate", app.RoleOwner, (*dashboardServer).rotateWebhook, false},
	{"POST", "/webhooks/{id}/activate", app.RoleOwner, (*dashboardServer).activateWebhook, false},
	{"POST", "/webhooks/{id}/env", app.RoleOwner, (*dashboardServer).secretFile, false},
	{"GET", "/webhooks/{id}/replay", app.RoleOwner, (*dashboardServer).replayPage, false},
	{"POST", "/webhooks/{id}/replay", app.RoleOwner, (*dashboardServer).replayWebhook, false},
	{"GET", "/webhooks/{id}/delete", app.RoleOwner, (*dashboardServer).deletePage, false},
	{"POST", "/webhooks/{id}/delete", app.RoleOwner, (*dashboardServer).removeWebhook, false},
	{"GET", "/tools/signature", app.RoleOwner, (*dashboardServer).signaturePage, false},
	{"POST", "/tools/signature", app.RoleOwner, (*dashboardServer).checkSignature, false},
	{"GET", "/banks", app.RoleOwner, (*dashboardServer).banksPage, false},
	{"POST", "/banks", app.RoleOwner, (*dashboardServer).linkBank, false},
	{"GET", "/banks/new", app.RoleOwner, (*dashboardServer).newBankPage, false},
	{"GET", "/banks/{id}", app.RoleOwner, (*dashboardServer).bankPage, false},
	{"GET", "/banks/{id}/qr.png", app.RoleOwner, (*dashboardServer).bankQR, false},
	{"POST", "/banks/{id}/toggle", app.RoleOwner, (*dashboardServer).switchBank, false},
	{"GET", "/banks/{id}/unlink", app.RoleOwner, (*dashboardServer).unlinkPage, false},
	{"POST", "/banks/{id}/unlink", app.RoleOwner, (*dashboardServer).unlinkBank, false},

	{"GET", "/inbound", app.RoleOwner, (*dashboardServer).sourcesPage, false},
	{"POST", "/inbound/sources", app.RoleOwner, (*dashboardServer).addSource, false},
	{"GET", "/inbound/sources/new", app.RoleOwner, (*dashboardServer).newSourcePage, false},
	{"GET", "/inbound/sources/{id}", app.RoleOwner, (*dashboardServer).sourcePage, false},
	{"GET", "/inbound/sources/{id}/rotate", app.RoleOwner, (*dashboardServer).rotateSourcePage, false},
	{"POST", "/inbound/sources/{id}/rotate", app.RoleOwner, (*dashboardServer).rotateSource, false},
	{"POST", "/inbound/sources/{id}/senders", app.RoleOwner, (*dashboardServer).allowSender, false},
	{"POST", "/inbound/sources/{id}/key", app.RoleOwner, (*dashboardServer).setSourceKey, false},
	{"POST", "/inbound/sources/{id}/catch-up", app.RoleOwner, (*dashboardServer).catchUpSource, false},
	{"GET", "/inbound/sources/{id}/remove", app.RoleOwner, (*dashboardServer).removeSourcePage, false},
	{"POST", "/inbound/sources/{id}/remove", app.RoleOwner, (*dashboardServer).removeSource, false},
	{"GET", "/inbound/events", app.RoleOwner, (*dashboardServer).eventsPage, false},
	{"GET", "/inbound/events/{id}", app.RoleOwner, (*dashboardServer).eventPage, false},
	{"POST", "/inbound/events/{id}/link", app.RoleOwner, (*dashboardServer).linkEvent, false},
	{"POST", "/inbound/events/{id}/retry", app.RoleOwner, (*dashboardServer).retryEvent, false},
	{"POST", "/inbound/events/{id}/discard", app.RoleOwner, (*dashboardServer).discardEvent, false},
	{"GET", "/inbound/refused", app.RoleOwner, (*dashboardServer).refusedPage, false},

	{"GET", "/live/transactions", app.RoleViewer, (*dashboardServer).liveTransactions, true},
	{"GET", "/live/transactions/new", app.RoleViewer, (*dashboardServer).liveNewTransactions, true},

	{"GET", "/deliveries", app.RoleOwner, (*dashboardServer).deliveriesPage, false},
	{"GET", "/deliveries/resend", app.RoleOwner, (*dashboardServer).resendPage, false},
	{"POST", "/deliveries/resend", app.RoleOwner, (*dashboardServer).resendDeliveries, false},
	{"GET", "/deliveries/{id}", app.RoleOwner, (*dashboardServer).deliveryPage, false},
	{"POST", "/deliveries/{id}/resend", app.RoleOwner, (*dashboardServer).resendDelivery, false},
	{"GET", "/live/deliveries", app.RoleOwner, (*dashboardServer).liveDeliveries, true},
	{"GET", "/keys", app.RoleOwner, (*dashboardServer).keysPage, false},
	{"POST", "/keys", app.RoleOwner, (*dashboardServer).createKey, false},
	{"GET", "/keys/{id}/revoke", app.RoleOwner, (*dashboardServer).revokeKeyPage, false},
	{"POST", "/keys/{id}/revoke", app.RoleOwner, (*dashboardServer).revokeKey, false},

	{"GET", "/settings", app.RoleViewer, (*dashboardServer).settingsPage, false},
	{"POST", "/settings/password", app.RoleViewer, (*dashboardServer).changeOwnPassword, false},
	{"POST", "/settings/sign-out", app.RoleViewer, (*dashboardServer).signOutEverywhere, false},
	{"POST", "/settings/users", app.RoleOwner, (*dashboardServer).createUser, false},
	{"GET", "/settings/users/{id}", app.RoleOwner, (*dashboardServer).userPage, false},
	{"POST", "/settings/users/{id}/password", app.RoleOwner, (*dashboardServer).setUserPassword, false},
	{"POST", "/settings/users/{id}/role", app.RoleOwner, (*dashboardServer).setUserRole, false},
	{"GET", "/settings/users/{id}/remove", app.RoleOwner, (*dashboardServer).removeUserPage, false},
	{"POST", "/settings/users/{id}/remove", app.RoleOwner, (*dashboardServer).removeUser, false},
	{"POST", "/settings/counters", app.RoleOwner, (*dashboardServer).createCounterLink, false},
	{"GET", "/settings/counters/{id}/revoke", app.RoleOwner, (*dashboardServer).revokeCounterPage, false},
	{"POST", "/settings/counters/{id}/revoke", app.RoleOwner, (*dashboardServer).revokeCounter, false},
	{"GET", "/settings/alerts", app.RoleOwner, (*dashboardServer).alertsPage, false},
	{"POST", "/settings/alerts", app.RoleOwner, (*dashboardServer).setAlertPreferences, false},
	{"POST", "/settings/alerts/telegram", app.RoleOwner, (*dashboardServer).setAlertTelegram, false},
	{"POST", "/settings/alerts/email", app.RoleOwner, (*dashboardServer).setAlertEmail, false},
	{"POST", "/settings/alerts/{medium}/test", app.RoleOwner, (*dashboardServer).testAlert, false},
	{"GET", "/settings/alerts/{medium}/remove", app.RoleOwner, (*dashboardServer).removeAlertPage, false},
	{"POST", "/settings/alerts/{medium}/remove", app.RoleOwner, (*dashboardServer).removeAlert, false},

	{"GET", "/system", app.RoleOwner, (*dashboardServer).systemPage, false},

	{"GET", "/counter", app.RoleViewer, (*dashboardServer).counterPage, false},
	{"GET", "/counter/{token}", "", (*dashboardServer).counterLinkPage, false},
	{"GET", "/live/counter", app.RoleViewer, (*dashboardServer).liveCounter, true},
	{"GET", "/live/counter/{token}", "", (*dashboardServer).liveCounterLink, true},
}

// ownForms are the forms that their handlers read themselves, since a file is in
// them, with the most bytes that they may be.
var ownForms = map[string]int64{"/transactions/import": maxStatement, "/tools/signature": maxSignatureForm}

// How many bytes of a form are read.
const (
	maxForm     = 64 << 10
	maxOpenForm = 8 << 10 // of pages for which nobody has to be signed in
)

// routes are the pages and the static files. An action from another site is
// refused, and so is one from a browser too old to say where it comes from,
// unless it comes from here.
func (s *dashboardServer) routes() []Route {
	protection := http.NewCrossOriginProtection()
	list := []Route{{Method: "GET", Path: "/static/{name}", Handler: s.static}}
	for _, p := range dashboardPages {
		route := Route{Method: p.method, Path: p.path, Stream: p.stream}
		route.Handler = protection.Handler(s.sessions.LoadAndSave(s.visiting(p, segmentsAbove(p.path)))).ServeHTTP
		switch {
		case p.method != http.MethodPost:
		case p.role == "":
			route.MaxBody = maxOpenForm
		default:
			route.MaxBody = cmp.Or(ownForms[p.path], maxForm)
		}
		list = append(list, route)
	}
	return list
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
