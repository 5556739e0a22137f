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
	kind   pageKind
}

// pageKind is how long an answer is good for.
type pageKind int

const (
	still   pageKind = iota // as it was when it was asked for
	live                    // it is kept up to date: see live.go
	lasting                 // the answer itself goes on: see stream.go
)

// livePath is the address of the live pages' stream. That of the counter's is
// below it.
const livePath = "/live"

// table is THE table of the dashboard. The package comment says how a page is
// written.
var table = []page{
	{"GET", "/login", "", (*Server).signInPage, still},
	{"POST", "/login", "", (*Server).signIn, still},
	{"POST", "/logout", "", (*Server).signOut, still},
	{"GET", "/setup/{token}", "", (*Server).setUpPage, still},
	{"POST", "/setup/{token}", "", (*Server).setUp, still},
	{"POST", "/look", "", (*Server).switchLook, still},

	{"GET", "/{$}", app.RoleViewer, (*Server).overviewPage, live},
	{"GET", "/transactions", app.RoleViewer, (*Server).transactionsPage, live},
	{"GET", exportPath, app.RoleOwner, (*Server).exportTransactions, lasting},
	{"GET", "/transactions/import", app.RoleOwner, (*Server).importPage, still},
	{"POST", "/transactions/import", app.RoleOwner, (*Server).importStatement, still},
	{"GET", "/transactions/import/{id}/undo", app.RoleOwner, (*Server).undoImport, still},
	{"POST", "/transactions/import/{id}/undo", app.RoleOwner, (*Server).undoImport, still},
	{"GET", "/transactions/{id}", app.RoleViewer, (*Server).transactionPage, live},
	{"GET", "/webhooks", app.RoleOwner, (*Server).webhooksPage, live},
	{"POST", "/webhooks", app.RoleOwner, (*Server).addWebhook, still},
	{"GET", "/webhooks/new", app.RoleOwner, (*Server).newWebhookPage, still},
	{"GET", "/webhooks/{id}", app.RoleOwner, (*Server).webhookPage, live},
	{"GET", "/webhooks/{id}/edit", app.RoleOwner, (*Server).editWebhookPage, still},
	{"POST", "/webhooks/{id}/edit", app.RoleOwner, (*Server).editWebhook, still},
	{"POST", "/webhooks/{id}/toggle", app.RoleOwner, (*Server).switchWebhook, still},
	{"POST", "/webhooks/{id}/test", app.RoleOwner, (*Server).tryWebhook, still},
	{"GET", "/webhooks/{id}/rotate", app.RoleOwner, (*Server).rotatePage, still},
	{"POST", "/webhooks/{id}/rotate", app.RoleOwner, (*Server).rotateWebhook, still},
	{"POST", "/webhooks/{id}/activate", app.RoleOwner, (*Server).activateWebhook, still},
	{"POST", "/webhooks/{id}/env", app.RoleOwner, (*Server).secretFile, still},
	{"GET", "/webhooks/{id}/replay", app.RoleOwner, (*Server).replayPage, still},
	{"POST", "/webhooks/{id}/replay", app.RoleOwner, (*Server).replayWebhook, still},
	{"POST", "/webhooks/{id}/send-now", app.RoleOwner, (*Server).sendWaiting, still},
	{"GET", "/webhooks/{id}/delete", app.RoleOwner, (*Server).removeWebhook, still},
	{"POST", "/webhooks/{id}/delete", app.RoleOwner, (*Server).removeWebhook, still},
	{"GET", "/tools/signature", app.RoleOwner, (*Server).signaturePage, still},
	{"POST", "/tools/signature", app.RoleOwner, (*Server).checkSignature, still},
	{"GET", "/banks", app.RoleOwner, (*Server).banksPage, live},
	{"POST", "/banks", app.RoleOwner, (*Server).linkBank, still},
	{"GET", "/banks/new", app.RoleOwner, (*Server).newBankPage, still},
	{"GET", "/banks/{id}", app.RoleOwner, (*Server).bankPage, live},
	{"GET", "/banks/{id}/qr.png", app.RoleOwner, (*Server).bankQR, still},
	{"POST", "/banks/{id}/toggle", app.RoleOwner, (*Server).switchBank, still},
	{"GET", "/banks/{id}/unlink", app.RoleOwner, (*Server).unlinkBank, still},
	{"POST", "/banks/{id}/unlink", app.RoleOwner, (*Server).unlinkBank, still},

	{"GET", "/inbound", app.RoleOwner, (*Server).sourcesPage, live},
	{"POST", "/inbound/sources", app.RoleOwner, (*Server).addSource, still},
	{"GET", "/inbound/sources/new", app.RoleOwner, (*Server).newSourcePage, still},
	{"GET", "/inbound/sources/{id}", app.RoleOwner, (*Server).sourcePage, live},
	{"GET", "/inbound/sources/{id}/rotate", app.RoleOwner, (*Server).rotateSourcePage, still},
	{"POST", "/inbound/sources/{id}/rotate", app.RoleOwner, (*Server).rotateSource, still},
	{"POST", "/inbound/sources/{id}/senders", app.RoleOwner, (*Server).allowSender, still},
	{"POST", "/inbound/sources/{id}/key", app.RoleOwner, (*Server).setSourceKey, still},
	{"POST", "/inbound/sources/{id}/catch-up", app.RoleOwner, (*Server).catchUpSource, still},
	{"GET", "/inbound/sources/{id}/remove", app.RoleOwner, (*Server).removeSource, still},
	{"POST", "/inbound/sources/{id}/remove", app.RoleOwner, (*Server).removeSource, still},
	{"GET", "/inbound/events", app.RoleOwner, (*Server).eventsPage, live},
	{"GET", "/inbound/events/{id}", app.RoleOwner, (*Server).eventPage, live},
	{"POST", "/inbound/events/{id}/link", app.RoleOwner, (*Server).linkEvent, still},
	{"POST", "/inbound/events/{id}/retry", app.RoleOwner, (*Server).retryEvent, still},
	{"POST", "/inbound/events/{id}/discard", app.RoleOwner, (*Server).discardEvent, still},
	{"GET", "/inbound/refused", app.RoleOwner, (*Server).refusedPage, live},

	{"GET", livePath, app.RoleViewer, (*Server).livePage, lasting},

	{"GET", "/deliveries", app.RoleOwner, (*Server).deliveriesPage, live},
	{"GET", "/deliveries/resend", app.RoleOwner, (*Server).resendPage, still},
	{"POST", "/deliveries/resend", app.RoleOwner, (*Server).resendDeliveries, still},
	{"GET", "/deliveries/{id}", app.RoleOwner, (*Server).deliveryPage, live},
	{"POST", "/deliveries/{id}/resend", app.RoleOwner, (*Server).resendDelivery, still},
	{"POST", "/deliveries/{id}/send-now", app.RoleOwner, (*Server).sendNow, still},
	{"GET", "/keys", app.RoleOwner, (*Server).keysPage, still},
	{"POST", "/keys", app.RoleOwner, (*Server).createKey, still},
	{"GET", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKey, still},
	{"POST", "/keys/{id}/revoke", app.RoleOwner, (*Server).revokeKey, still},

	{"GET", "/settings", app.RoleViewer, (*Server).settingsPage, still},
	{"POST", "/settings/password", app.RoleViewer, (*Server).changeOwnPassword, still},
	{"POST", "/settings/sign-out", app.RoleViewer, (*Server).signOutEverywhere, still},
	{"POST", "/settings/users", app.RoleOwner, (*Server).createUser, still},
	{"GET", "/settings/users/{id}", app.RoleOwner, (*Server).userPage, still},
	{"POST", "/settings/users/{id}/password", app.RoleOwner, (*Server).setUserPassword, still},
	{"POST", "/settings/users/{id}/role", app.RoleOwner, (*Server).setUserRole, still},
	{"GET", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUser, still},
	{"POST", "/settings/users/{id}/remove", app.RoleOwner, (*Server).removeUser, still},
	{"POST", "/settings/counters", app.RoleOwner, (*Server).createCounterLink, still},
	{"GET", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounter, still},
	{"POST", "/settings/counters/{id}/revoke", app.RoleOwner, (*Server).revokeCounter, still},
	{"GET", "/settings/alerts", app.RoleOwner, (*Server).alertsPage, still},
	{"POST", "/settings/alerts", app.RoleOwner, (*Server).setAlertPreferences, still},
	{"POST", "/settings/alerts/telegram", app.RoleOwner, (*Server).setAlertTelegram, still},
	{"POST", "/settings/alerts/email", app.RoleOwner, (*Server).setAlertEmail, still},
	{"POST", "/settings/alerts/{medium}/test", app.RoleOwner, (*Server).testAlert, still},
	{"GET", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlert, still},
	{"POST", "/settings/alerts/{medium}/remove", app.RoleOwner, (*Server).removeAlert, still},

	{"GET", "/system", app.RoleOwner, (*Server).systemPage, live},

	{"GET", "/help", app.RoleViewer, (*Server).helpPage, still},
	{"GET", "/help/{page}", app.RoleViewer, (*Server).helpPage, still},

	{"GET", "/counter", app.RoleViewer, (*Server).counterPage, still},
	{"GET", "/counter/{token}", "", (*Server).counterLinkPage, still},
	{"GET", "/counter/manifest.webmanifest", app.RoleViewer, (*Server).counterManifest, still},
	{"GET", "/counter/{token}/manifest.webmanifest", "", (*Server).counterLinkManifest, still},
	{"GET", "/counter/backlog", "", (*Server).counterBacklog, still},
	{"GET", "/live/counter", app.RoleViewer, (*Server).liveCounter, lasting},
	{"GET", "/live/counter/{token}", "", (*Server).liveCounterLink, lasting},
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
		route := wire.Route{Method: p.Method, Path: p.Path, Stream: p.kind == lasting}
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
