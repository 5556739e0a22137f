package dashboard

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"baoco/app/access"
	"baoco/web/wire"
)

// page is one line of the table.
type page struct {
	Method string
	Path   string
	Takes  permission
	handle func(s *Server, v *visit) error
	kind   pageKind
}

// permission is what a page takes, in plain words. Templates know it by them too.
type permission string

const (
	open       permission = ""             // nobody has to be signed in
	anyUser    permission = "any user"     // a first page, the transactions as visit.narrow narrows them, the own password, the help
	useCounter permission = "use counter"  // the counter screen, and what came in today
	useTill    permission = "use till"     // bills of the own shift
	seeAllDays permission = "see all days" // transactions of all days, in and out; of no page
	seeMoney   permission = "see money"    // sums, bank accounts and exports
	connect    permission = "connect"      // sources and what they sent, webhooks, deliveries, API keys that only read
	ownerOnly  permission = "owner only"   // all that changes money, users or settings
)

// granted says what each role may do, beside what any user may. Owners may do
// everything.
var granted = map[access.Role][]permission{
	access.RoleOwner:      {useCounter, useTill, seeAllDays, seeMoney, connect, ownerOnly},
	access.RoleAccountant: {useCounter, seeAllDays, seeMoney},
	access.RoleDeveloper:  {seeAllDays, connect},
	access.RoleCashier:    {useCounter, useTill},
}

// may tells whether somebody of a role has a permission. A role that isn't known
// has none.
func may(role access.Role, p permission) bool {
	list, known := granted[role]
	return p == open || known && (p == anyUser || slices.Contains(list, p))
}

func (v *visit) may(p permission) bool { return may(v.user.Role, p) }

// pageKind is how long an answer is good for, and how the form of an action is taken.
type pageKind struct {
	live    bool   // it is kept up to date: see live.go
	lasts   bool   // the answer itself goes on: see eventstream.go, export.go
	signsIn bool   // the visitor signs in there, so over HTTPS where there is one
	once    bool   // the form counts once, however often it is sent: see once.go
	form    string // the page of that form; empty: see formPage
	file    int64  // the largest size in bytes of a form with a file, which its handler reads itself; 0: it has none
}

var (
	still   = pageKind{} // as it was when it was asked for
	live    = pageKind{live: true}
	lasting = pageKind{lasts: true}
	signsIn = pageKind{signsIn: true}
	once    = pageKind{once: true}
)

// guideSteps are the steps of the guide, in their order.
var guideSteps = []guideStep{userStep, bankStep, sourceStep, webhookStep, alertsStep, backupStep, counterStep}

// parts are the parts of pages that are made elsewhere, each with its form.
var parts = map[string]func(s *Server, v *visit, page view, sent any) (template.HTML, error){
	"users": (*Server).showUsersPart, "counters": (*Server).showCountersPart, "payments": (*Server).showPaymentsPart,
}

// withFile is a form with a file, of a largest size in bytes.
func withFile(most int64) pageKind { return pageKind{file: most} }

// livePath is the address of the live pages' stream. That of the counter's is
// below it.
const livePath = "/live"

// table is THE table of the dashboard. The package comment says how a page is
// written.
var table = []page{
	{"GET", "/login", open, (*Server).signInPage, signsIn},
	{"POST", "/login", open, (*Server).signIn, still},
	{"GET", "/login/code", open, (*Server).codePage, still},
	{"POST", "/login/code", open, (*Server).enterCode, still},
	{"GET", "/login/passkey/options", open, (*Server).passkeyOptions, still},
	{"POST", "/login/passkey", open, (*Server).signInPasskey, still},
	{"POST", "/logout", open, (*Server).signOut, still},
	{"GET", "/setup/{token}", open, (*Server).setUpPage, signsIn},
	{"POST", "/setup/{token}", open, (*Server).setUp, still},
	{"POST", "/look", open, (*Server).switchLook, still},

	{"GET", "/{$}", anyUser, (*Server).overviewPage, live},
	{"GET", "/transactions", anyUser, (*Server).transactionsPage, live},
	{"GET", exportPath, seeMoney, (*Server).exportTransactions, lasting},
	{"GET", "/transactions/import", ownerOnly, (*Server).importPage, still},
	{"POST", "/transactions/import", ownerOnly, (*Server).importStatement, withFile(maxStatement)},
	{"GET", "/transactions/import/{id}/undo", ownerOnly, (*Server).undoImport, still},
	{"POST", "/transactions/import/{id}/undo", ownerOnly, (*Server).undoImport, still},
	{"GET", "/transactions/{id}", anyUser, (*Server).transactionPage, live},
	{"POST", "/transactions/{id}/note", seeMoney, (*Server).setNote, still},
	{"GET", "/payments", seeMoney, (*Server).paymentsPage, live},
	{"POST", "/payments", ownerOnly, (*Server).createPayment, once},
	{"GET", "/payments/new", ownerOnly, (*Server).newPaymentPage, still},
	{"GET", "/payments/unmatched", seeMoney, (*Server).unmatchedPage, live},
	{"GET", "/payments/{id}", seeMoney, (*Server).paymentPage, live},
	{"GET", "/payments/{id}/cancel", ownerOnly, (*Server).cancelPayment, still},
	{"POST", "/payments/{id}/cancel", ownerOnly, (*Server).cancelPayment, still},
	{"POST", "/payments/{id}/match", seeMoney, (*Server).matchPayment, still},
	{"POST", "/payments/{id}/unmatch", seeMoney, (*Server).unmatchPayment, still},
	{"GET", "/day", seeMoney, (*Server).dayPage, live},
	{"GET", "/day/file", seeMoney, (*Server).exportDay, lasting},
	{"GET", "/webhooks", connect, (*Server).webhooksPage, live},
	{"POST", "/webhooks", connect, (*Server).addWebhook, once},
	{"GET", "/webhooks/new", connect, (*Server).newWebhookPage, still},
	{"GET", "/webhooks/{id}", connect, (*Server).webhookPage, live},
	{"GET", "/webhooks/{id}/edit", connect, (*Server).editWebhookPage, still},
	{"POST", "/webhooks/{id}/edit", connect, (*Server).editWebhook, still},
	{"POST", "/webhooks/{id}/toggle", connect, (*Server).switchWebhook, still},
	{"POST", "/webhooks/{id}/test", connect, (*Server).tryWebhook, still},
	{"GET", "/webhooks/{id}/rotate", connect, (*Server).rotatePage, still},
	{"POST", "/webhooks/{id}/rotate", connect, (*Server).rotateWebhook, once},
	{"POST", "/webhooks/{id}/activate", connect, (*Server).activateWebhook, still},
	{"POST", "/webhooks/{id}/env", connect, (*Server).secretFile, still},
	{"GET", "/webhooks/{id}/replay", connect, (*Server).replayPage, still},
	{"POST", "/webhooks/{id}/replay", connect, (*Server).replayWebhook, once},
	{"POST", "/webhooks/{id}/send-now", connect, (*Server).sendWaiting, once},
	{"GET", "/webhooks/{id}/delete", connect, (*Server).removeWebhook, still},
	{"POST", "/webhooks/{id}/delete", connect, (*Server).removeWebhook, still},
	{"GET", "/streams", connect, (*Server).streamsPage, live},
	{"POST", "/streams", connect, (*Server).addStream, once},
	{"GET", "/streams/new", connect, (*Server).newStreamPage, still},
	{"GET", "/streams/{id}", connect, (*Server).streamPage, live},
	{"GET", "/streams/{id}/edit", connect, (*Server).editStreamPage, still},
	{"POST", "/streams/{id}/edit", connect, (*Server).editStream, still},
	{"POST", "/streams/{id}/toggle", connect, (*Server).switchStream, still},
	{"POST", "/streams/{id}/test", connect, (*Server).tryStream, still},
	{"GET", "/streams/{id}/rotate", connect, (*Server).rotateStreamPage, still},
	{"POST", "/streams/{id}/rotate", connect, (*Server).rotateStream, once},
	{"POST", "/streams/{id}/env", connect, (*Server).streamSecretFile, still},
	{"GET", "/streams/{id}/delete", connect, (*Server).removeStream, still},
	{"POST", "/streams/{id}/delete", connect, (*Server).removeStream, still},
	{"GET", "/tools/signature", connect, (*Server).signaturePage, still},
	{"POST", "/tools/signature", connect, (*Server).checkSignature, withFile(maxSignatureForm)},
	{"GET", "/banks", seeMoney, (*Server).banksPage, live},
	{"POST", "/banks", ownerOnly, (*Server).linkBank, still},
	{"GET", "/banks/new", ownerOnly, (*Server).newBankPage, still},
	{"GET", "/banks/{id}", seeMoney, (*Server).bankPage, live},
	{"GET", "/banks/{id}/qr.png", seeMoney, (*Server).bankQR, still},
	{"POST", "/banks/{id}/look", ownerOnly, (*Server).setBankLook, still},
	{"POST", "/banks/{id}/toggle", ownerOnly, (*Server).switchBank, still},
	{"GET", "/banks/{id}/unlink", ownerOnly, (*Server).unlinkBank, still},
	{"POST", "/banks/{id}/unlink", ownerOnly, (*Server).unlinkBank, still},

	{"GET", "/inbound", connect, (*Server).sourcesPage, live},
	{"POST", "/inbound/sources", connect, (*Server).addSource, once},
	{"GET", "/inbound/sources/new", connect, (*Server).newSourcePage, still},
	{"GET", "/inbound/sources/{id}", connect, (*Server).sourcePage, live},
	{"GET", "/inbound/sources/{id}/rotate", connect, (*Server).rotateSourcePage, still},
	{"POST", "/inbound/sources/{id}/rotate", connect, (*Server).rotateSource, once},
	{"POST", "/inbound/sources/{id}/senders", connect, (*Server).allowSender, still},
	{"POST", "/inbound/sources/{id}/key", connect, (*Server).setSourceKey, still},
	{"POST", "/inbound/sources/{id}/catch-up", connect, (*Server).catchUpSource, still},
	{"GET", "/inbound/sources/{id}/remove", connect, (*Server).removeSource, still},
	{"POST", "/inbound/sources/{id}/remove", connect, (*Server).removeSource, still},
	{"GET", "/inbound/events", connect, (*Server).eventsPage, live},
	{"GET", "/inbound/events/{id}", connect, (*Server).eventPage, live},
	{"POST", "/inbound/events/{id}/link", ownerOnly, (*Server).linkEvent, still},
	{"POST", "/inbound/events/{id}/retry", connect, (*Server).retryEvent, still},
	{"POST", "/inbound/events/{id}/settle", ownerOnly, (*Server).settleEvent, still},
	{"POST", "/inbound/events/{id}/discard", ownerOnly, (*Server).discardEvent, still},
	{"GET", "/inbound/refused", connect, (*Server).refusedPage, live},

	{"GET", guidePath, ownerOnly, (*Server).guidePage, live},
	{"POST", guidePath, ownerOnly, (*Server).hideGuide, still},
	{"POST", guidePath + "/test", ownerOnly, (*Server).testPayment, still},

	{"GET", livePath, anyUser, (*Server).livePage, lasting},

	{"GET", "/deliveries", connect, (*Server).deliveriesPage, live},
	{"GET", "/deliveries/resend", connect, (*Server).resendPage, still},
	{"POST", "/deliveries/resend", connect, (*Server).resendDeliveries, pageKind{once: true, form: "/deliveries"}},
	{"GET", "/deliveries/{id}", connect, (*Server).deliveryPage, live},
	{"POST", "/deliveries/{id}/resend", connect, (*Server).resendDelivery, once},
	{"POST", "/deliveries/{id}/send-now", connect, (*Server).sendNow, once},
	{"GET", "/keys", connect, (*Server).keysPage, still},
	{"POST", "/keys", connect, (*Server).createKey, once},
	{"GET", "/keys/{id}/revoke", connect, (*Server).revokeKey, still},
	{"POST", "/keys/{id}/revoke", connect, (*Server).revokeKey, still},

	{"GET", "/settings", anyUser, (*Server).settingsPage, still},
	{"POST", "/settings/password", anyUser, (*Server).changeOwnPassword, still},
	{"GET", "/settings/sign-out", anyUser, (*Server).signOutEverywhere, still},
	{"POST", "/settings/sign-out", anyUser, (*Server).signOutEverywhere, still},
	{"POST", "/settings/name", ownerOnly, (*Server).renameShop, still},
	{"GET", signInPath, anyUser, (*Server).signInSettings, still},
	{"POST", signInPath + "/app", anyUser, (*Server).setUpSecondFactor, once},
	{"POST", signInPath + "/codes", anyUser, (*Server).newRecoveryCodes, once},
	{"GET", passkeysPath + "/options", anyUser, (*Server).newPasskeyOptions, still},
	{"POST", passkeysPath, anyUser, (*Server).addPasskey, once},
	{"GET", passkeysPath + "/{id}", anyUser, (*Server).passkeyPage, still},
	{"POST", passkeysPath + "/{id}", anyUser, (*Server).renamePasskey, still},
	{"POST", passkeysPath + "/{id}/remove", anyUser, (*Server).removePasskey, still},
	{"POST", signInPath + "/off", anyUser, (*Server).endSecondFactor, still},
	{"POST", signInPath + "/demand", ownerOnly, (*Server).demandSecondFactor, still},
	{"GET", signInPath + "/others", anyUser, (*Server).endOtherSessions, still},
	{"POST", signInPath + "/others", anyUser, (*Server).endOtherSessions, still},
	{"POST", signInPath + "/sessions/{id}/end", anyUser, (*Server).endOwnSession, still},
	{"POST", "/settings/users", ownerOnly, (*Server).createUser, once},
	{"GET", "/settings/users/{id}", ownerOnly, (*Server).userPage, still},
	{"POST", "/settings/users/{id}/password", ownerOnly, (*Server).setUserPassword, once},
	{"POST", "/settings/users/{id}/role", ownerOnly, (*Server).setUserRole, still},
	{"POST", "/settings/users/{id}/limit", ownerOnly, (*Server).limitUser, still},
	{"POST", "/settings/users/{id}/sessions/{session}/end", ownerOnly, (*Server).endUserSession, still},
	{"GET", "/settings/users/{id}/remove", ownerOnly, (*Server).removeUser, still},
	{"POST", "/settings/users/{id}/remove", ownerOnly, (*Server).removeUser, still},
	{"POST", "/settings/counters", ownerOnly, (*Server).createCounterLink, once},
	{"GET", "/settings/counters/{id}/revoke", ownerOnly, (*Server).revokeCounter, still},
	{"POST", "/settings/counters/{id}/revoke", ownerOnly, (*Server).revokeCounter, still},
	{"POST", "/settings/payments", ownerOnly, (*Server).setPaymentSettings, still},
	{"GET", "/settings/codes", ownerOnly, (*Server).codesPage, still},
	{"POST", "/settings/codes", ownerOnly, (*Server).createCode, still},
	{"GET", "/settings/codes/{id}/delete", ownerOnly, (*Server).deleteCode, still},
	{"POST", "/settings/codes/{id}/delete", ownerOnly, (*Server).deleteCode, still},
	{"GET", "/settings/alerts", ownerOnly, (*Server).alertsPage, still},
	{"POST", "/settings/alerts", ownerOnly, (*Server).setAlertPreferences, still},
	{"POST", "/settings/alerts/report", ownerOnly, (*Server).setReport, still},
	{"POST", "/settings/alerts/telegram", ownerOnly, (*Server).setAlertTelegram, still},
	{"POST", "/settings/alerts/email", ownerOnly, (*Server).setAlertEmail, still},
	{"POST", "/settings/alerts/{medium}/chat", ownerOnly, (*Server).setAlertChat, still},
	{"POST", "/settings/alerts/{medium}/payments", ownerOnly, (*Server).setPayments, still},
	{"POST", "/settings/alerts/{medium}/test", ownerOnly, (*Server).testAlert, still},
	{"GET", "/settings/alerts/{medium}/remove", ownerOnly, (*Server).removeAlert, still},
	{"POST", "/settings/alerts/{medium}/remove", ownerOnly, (*Server).removeAlert, still},

	{"GET", auditPath, ownerOnly, (*Server).auditPage, still},
	{"GET", auditPath + "/export", ownerOnly, (*Server).exportAudit, lasting},

	{"GET", "/system", ownerOnly, (*Server).systemPage, live},

	{"GET", "/manifest.webmanifest", anyUser, (*Server).dashboardManifest, still},

	{"GET", "/help", anyUser, (*Server).helpPage, still},
	{"GET", "/help/{page}", anyUser, (*Server).helpPage, still},

	{"GET", "/counter", useCounter, (*Server).counterPage, still},
	{"GET", "/counter/{token}", open, (*Server).counterLinkPage, still},
	{"GET", "/counter/manifest.webmanifest", useCounter, (*Server).counterManifest, still},
	{"GET", "/counter/{token}/manifest.webmanifest", open, (*Server).counterLinkManifest, still},
	{"GET", "/counter/backlog", open, (*Server).counterBacklog, still},
	{"GET", "/till", useTill, (*Server).tillPage, still},
	{"POST", "/till", useTill, (*Server).createBill, once},
	{"GET", "/till/manifest.webmanifest", useTill, (*Server).tillManifest, still},
	{"GET", "/till/display", useTill, (*Server).displayPage, still},
	{"GET", "/till/{id}", useTill, (*Server).billPage, still},
	{"POST", "/till/{id}/cancel", useTill, (*Server).cancelBill, still},
	{"GET", "/till/{id}/receipt", useTill, (*Server).receiptPage, still},
	{"POST", "/till/{id}/receipt", useTill, (*Server).printReceipt, still},
	{"GET", "/shifts", useCounter, (*Server).shiftsPage, still},
	{"GET", "/shifts/{id}/close", useCounter, (*Server).closeShift, still},
	{"POST", "/shifts/{id}/close", useCounter, (*Server).closeShift, still},
	{"GET", livePath + "/till", useTill, (*Server).liveTill, lasting},
	{"GET", livePath + "/till/display", useTill, (*Server).liveDisplay, lasting},
	{"GET", livePath + "/counter", useCounter, (*Server).liveCounter, lasting},
	{"GET", livePath + "/counter/{token}", open, (*Server).liveCounterLink, lasting},
}

// The largest size of a form, in bytes.
const (
	maxForm     = 64 << 10
	maxOpenForm = 8 << 10 // if nobody has to be signed in
)

// Routes are the pages and the static files. An action from another site is
// refused, by Sec-Fetch-Site, or by Origin where a browser is too old to send that.
// All browsers send one of the two with a POST. What sends neither is a program,
// which no other site can make act for a user.
func (s *Server) Routes() []wire.Route {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Refuse(w, r, errOtherSite) }))
	list := []wire.Route{{Method: "GET", Path: "/static/{name}", Handler: s.static}}
	for _, p := range table {
		route := wire.Route{Method: p.Method, Path: p.Path, Lasts: p.kind.lasts}
		route.Handler = protection.Handler(s.withSession(s.visiting(p, depthBelowPage(p.Path)))).ServeHTTP
		switch {
		case p.Method != http.MethodPost:
		case p.Takes == open:
			route.MaxBody = maxOpenForm
		default:
			route.MaxBody = cmp.Or(p.kind.file, maxForm)
		}
		list = append(list, route)
	}
	return list
}

// pageAbove is the address of the nearest page above a path.
func pageAbove(path string) string {
	isPage := func(p page) bool {
		return p.Method == http.MethodGet &&
			slices.EqualFunc(strings.Split(p.Path, "/"), strings.Split(path, "/"), func(pattern, segment string) bool {
				return pattern == segment || strings.HasPrefix(pattern, "{") && pattern != "{$}"
			})
	}
	for path != "" && !slices.ContainsFunc(table, isPage) {
		path = path[:strings.LastIndexByte(path, '/')]
	}
	return cmp.Or(path, "/")
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
