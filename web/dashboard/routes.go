package dashboard

import (
	"cmp"
	"context"
	"crypto/rand"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/web/wire"
)

// guideSteps are the steps of the guide, in their order.
var guideSteps = []guideStep{userStep, bankStep, sourceStep, codesStep, webhookStep, alertsStep, backupStep, counterStep}

// parts are the parts of pages that are made elsewhere, each with its form.
var parts = map[string]part{
	"users": (*Server).showUsersPart, "counters": (*Server).showCountersPart, "payments": (*Server).showPaymentsPart,
}

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
	{"POST", "/transactions/{id}/part", ownerOnly, (*Server).partReport, still},
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
	{"POST", "/banks/{id}/receiving", ownerOnly, (*Server).setBankReceiving, still},
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
	{"POST", guidePath, ownerOnly, (*Server).skipStep, still},
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
	{"POST", "/settings/alerts/telegram/chats", ownerOnly, (*Server).findTelegramChats, still},
	{"POST", "/settings/alerts/email", ownerOnly, (*Server).setAlertEmail, still},
	{"POST", "/settings/alerts/{medium}/chat", ownerOnly, (*Server).setAlertChat, still},
	{"POST", "/settings/alerts/{medium}/payments", ownerOnly, (*Server).setPayments, still},
	{"POST", "/settings/alerts/{medium}/test", ownerOnly, (*Server).testAlert, still},
	{"GET", "/settings/alerts/{medium}/remove", ownerOnly, (*Server).removeAlert, still},
	{"POST", "/settings/alerts/{medium}/remove", ownerOnly, (*Server).removeAlert, still},

	{"GET", auditPath, ownerOnly, (*Server).auditPage, still},
	{"GET", auditPath + "/export", ownerOnly, (*Server).exportAudit, lasting},

	{"GET", "/system", ownerOnly, (*Server).systemPage, live},
	{"POST", "/system/backup", ownerOnly, (*Server).setDailyBackup, still},

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
	{"POST", "/till/{id}/take", useTill, (*Server).takeMoney, still},
	{"POST", "/till/{id}/ask", useTill, (*Server).askOwner, still},
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

func New(responder *wire.Responder, c Config) *Server {
	c.Lang = cmp.Or(c.Lang, app.English)
	s := &Server{
		Responder: responder, Config: c, sessions: newSessions(c.Services, responder.WriteError),
		table: table, parts: parts, steps: guideSteps,
	}
	newest := func(ctx context.Context) (delivery.NewestIDs, error) { return s.Services.Deliveries.NewestIDs(ctx) }
	s.changes = wire.NewFeed(newest, liveInterval, nil, s.Log)
	_, _ = rand.Read(s.positionKey[:]) // it never fails, by its contract
	templates()                        // a fault in one shows when the server starts
	return s
}
