package dashboard_test

import (
	"archive/zip"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/web/dashboard"
	"baoco/web/webtest"
)

// limitedRoutes has, for every line of the table in routes.go, the addresses at which
// users who are limited to some bank accounts ask for it. A word in braces is a value
// that somebody may guess: it is asked for as it is at the hidden bank account, and as
// it is nowhere (see guesses). A form follows the address of a POST.
var limitedRoutes = map[string][]string{
	"GET /login": {"/login"}, "POST /login": {"/login"}, "GET /login/code": {"/login/code"}, "POST /login/code": {"/login/code"},
	"POST /logout":       {"/logout"},
	"GET /setup/{token}": {"/setup/x"}, "POST /setup/{token}": {"/setup/x"}, "POST /look": {"/look lang=en&back=/banks/{bank}"},

	"GET /{$}": {"/", "/?days=366", "/?days=7&bank_account_id={bank}"},
	"GET /transactions": {
		"/transactions", "/transactions?page=2", "/transactions?page=2&until={transaction}", "/transactions?until={transaction}&page=1",
		"/transactions?page=9", "/transactions?before={transaction}",
		"/transactions?bank_account_id={bank}", "/transactions?bank_account_id={bank}&page=2", "/transactions?bank_account_id={bank}&q=PAY",
		"/transactions?q={word}", "/transactions?q={amount}", "/transactions?q={tail}",
		"/transactions?q={nickname}", "/transactions?q={note}", "/transactions?q={number}", "/transactions?q=PAY",
		"/transactions?q=PAY&before={transaction}", "/transactions?min={amount}&max={amount}", "/transactions?min={amount}",
		"/transactions?type=IN", "/transactions?type=OUT", "/transactions?from=1999-01-01", "/transactions?to=2100-01-01",
		"/transactions?from=1999-01-01&to=2100-01-01&type=OUT", "/transactions?delivery_state=failed",
		"/transactions?delivery_state=pending", "/transactions?delivery_state=delivered", "/transactions?delivery_state=unsent",
		"/transactions?delivery_state=failed&q={word}", "/transactions?min=1&delivery_state=unsent",
		"/transactions?sort=date",
	},
	"GET /transactions/export": {
		exportPath + "?format=csv", exportPath + "?format=csv-semicolon", exportPath + "?format=xlsx",
		exportPath + "?format=csv&bank_account_id={bank}", exportPath + "?format=csv&q={word}", exportPath + "?format=csv&q={tail}",
		exportPath + "?format=xlsx&min={amount}", exportPath + "?format=csv&delivery_state=failed",
		exportPath + "?format=csv&from=1999-01-01&type=OUT",
		exportPath + "?format=csv&row={transaction}",
	},
	"GET /transactions/import": {"/transactions/import"}, "POST /transactions/import": {"/transactions/import"},
	"GET /transactions/import/{id}/undo":  {"/transactions/import/1/undo"},
	"POST /transactions/import/{id}/undo": {"/transactions/import/1/undo"},
	"GET /transactions/{id}":              {"/transactions/{transaction}"},
	"POST /transactions/{id}/refund":      {"/transactions/{transaction}/refund", "/transactions/{transaction}/refund of={transaction}"},
	"GET /payer":                          {"/payer?name={word}"},
	"POST /transactions/{id}/note": {"/transactions/{transaction}/note note=mine",
		"/transactions/{transaction}/note note=mine&seen={note}"},
	"GET /transactions/chosen": {"/transactions/chosen?row={transaction}"},
	"POST /transactions/chosen": {"/transactions/chosen row={transaction}&aside=1", "/transactions/chosen row={transaction}&note=mine",
		"/transactions/chosen row={transaction}&kind=loan"},
	"POST /transactions/{id}/revenue": {"/transactions/{transaction}/revenue kind=loan"},

	"GET /day": {"/day", "/day?date={yesterday}", "/day?date={long ago}", "/day?date={today}&paper=58", "/day?date=1998-01-01"},

	"GET /book/revenue": {"/book/revenue", "/book/revenue?show=not", "/book/revenue?period=1998", "/book/revenue?page=2"},

	"GET /report": {"/report?from={yesterday}"}, "GET /report/file": {"/report/file?format=csv&from={yesterday}"},
	"GET /book":       {"/book", "/book?period=1998", "/book?form=s2e&period=1998"},
	"GET /book/sheet": {"/book/sheet", "/book/sheet?form=s2e", "/book/sheet?by=transaction", "/book/sheet?by=day-account"},
	"GET /book/file":  {"/book/file?format=csv", "/book/file?format=csv&form=s2e", "/book/file?format=xlsx&by=transaction"},

	"GET /book/close": {"/book/close?period=2001"}, "POST /book/close": {"/book/close?period=2001"},
	"GET /book/open": {"/book/open"}, "POST /book/open": {"/book/open"}, "POST /book/heading": {"/book/heading name=x"},
	"POST /book/cash":    {"/book/cash day=2001-01-01&amount=5000"},
	"POST /book/opening": {"/book/opening bank_account_id={bank}&day=2001-01-01&amount=5000"},

	"POST /book/revenue/rules": {"/book/revenue/rules kind=loan&bank_account_id={bank}"},

	"POST /book/revenue/rules/{id}/remove": {"/book/revenue/rules/1/remove"},

	"GET /webhooks": {"/webhooks"}, "POST /webhooks": {"/webhooks name=x"}, "GET /webhooks/new": {"/webhooks/new"},
	"GET /webhooks/{id}": {"/webhooks/{small}"}, "GET /webhooks/{id}/edit": {"/webhooks/{small}/edit"},
	"POST /webhooks/{id}/edit": {"/webhooks/{small}/edit"}, "POST /webhooks/{id}/toggle": {"/webhooks/{small}/toggle"},
	"POST /webhooks/{id}/test":  {"/webhooks/{small}/test"},
	"GET /webhooks/{id}/rotate": {"/webhooks/{small}/rotate"}, "POST /webhooks/{id}/rotate": {"/webhooks/{small}/rotate"},
	"POST /webhooks/{id}/activate": {"/webhooks/{small}/activate"},
	"POST /webhooks/{id}/env":      {"/webhooks/{small}/env"}, "GET /webhooks/{id}/replay": {"/webhooks/{small}/replay"},
	"POST /webhooks/{id}/replay":   {"/webhooks/{small}/replay"},
	"POST /webhooks/{id}/send-now": {"/webhooks/{small}/send-now"}, "GET /webhooks/{id}/delete": {"/webhooks/{small}/delete"},
	"POST /webhooks/{id}/delete": {"/webhooks/{small}/delete"},
	"GET /streams":               {"/streams"}, "POST /streams": {"/streams name=x"}, "GET /streams/new": {"/streams/new"},
	"GET /streams/{id}": {"/streams/1"}, "GET /streams/{id}/edit": {"/streams/1/edit"},
	"POST /streams/{id}/edit": {"/streams/1/edit"}, "POST /streams/{id}/toggle": {"/streams/1/toggle"},
	"POST /streams/{id}/test":  {"/streams/1/test"},
	"GET /streams/{id}/rotate": {"/streams/1/rotate"}, "POST /streams/{id}/rotate": {"/streams/1/rotate"},
	"POST /streams/{id}/env":   {"/streams/1/env"},
	"GET /streams/{id}/delete": {"/streams/1/delete"}, "POST /streams/{id}/delete": {"/streams/1/delete"},
	"GET /tools/signature": {"/tools/signature"}, "POST /tools/signature": {"/tools/signature"},

	"GET /payments":  {"/payments", "/payments?reference={word}", "/payments?status=paid"},
	"POST /payments": {"/payments amount=5000&bank_account_id={bank}"}, "GET /payments/new": {"/payments/new"},
	"GET /payments/unmatched": {"/payments/unmatched"}, "GET /payments/{id}": {"/payments/{payment}"},
	"GET /payments/{id}/cancel": {"/payments/{payment}/cancel"}, "POST /payments/{id}/cancel": {"/payments/{payment}/cancel"},
	"POST /payments/{id}/match": {"/payments/{payment}/match transaction_id={transaction}", "/payments/1/match transaction_id={transaction}",
		"/payments/{payment}/match transaction_id=1"},
	"POST /payments/{id}/unmatch": {"/payments/{payment}/unmatch transaction_id={transaction}",
		"/payments/1/unmatch transaction_id={transaction}"}, "POST /settings/payments": {"/settings/payments payment_tolerance=5"},

	"GET /banks": {"/banks"}, "POST /banks": {"/banks bank=ACB&account_number={account}"}, "GET /banks/new": {"/banks/new"},
	"GET /banks/{id}":        {"/banks/{bank}", "/banks/{bank}?amount=5000&content=x"},
	"GET /banks/{id}/qr.png": {"/banks/{bank}/qr.png", "/banks/{bank}/qr.png?amount=5000"},
	"POST /banks/{id}/look":  {"/banks/{bank}/look"}, "POST /banks/{id}/holder": {"/banks/{bank}/holder account_name=X"},
	"POST /banks/{id}/receiving": {"/banks/{bank}/receiving"},
	"POST /banks/{id}/toggle":    {"/banks/{bank}/toggle"},
	"GET /banks/{id}/unlink":     {"/banks/{bank}/unlink"}, "POST /banks/{id}/unlink": {"/banks/{bank}/unlink"},

	"GET /inbound": {"/inbound"}, "POST /inbound/sources": {"/inbound/sources"}, "GET /inbound/sources/new": {"/inbound/sources/new"},
	"GET /inbound/sources/{id}":           {"/inbound/sources/{small}"},
	"GET /inbound/sources/{id}/rotate":    {"/inbound/sources/{small}/rotate"},
	"POST /inbound/sources/{id}/rotate":   {"/inbound/sources/{small}/rotate"},
	"POST /inbound/sources/{id}/senders":  {"/inbound/sources/{small}/senders"},
	"POST /inbound/sources/{id}/key":      {"/inbound/sources/{small}/key"},
	"POST /inbound/sources/{id}/catch-up": {"/inbound/sources/{small}/catch-up"},
	"GET /inbound/sources/{id}/remove":    {"/inbound/sources/{small}/remove"},
	"POST /inbound/sources/{id}/remove":   {"/inbound/sources/{small}/remove"},
	"GET /inbound/events":                 {"/inbound/events"}, "GET /inbound/events/{id}": {"/inbound/events/{small}"},
	"POST /inbound/events/{id}/link":    {"/inbound/events/{small}/link"},
	"POST /inbound/events/{id}/retry":   {"/inbound/events/{small}/retry"},
	"POST /transactions/{id}/part":      {"/transactions/{transaction}/part"},
	"POST /inbound/events/{id}/settle":  {"/inbound/events/{small}/settle"},
	"POST /inbound/events/{id}/discard": {"/inbound/events/{small}/discard"}, "GET /inbound/refused": {"/inbound/refused"},

	"GET /guide": {"/guide"}, "POST /guide": {"/guide"}, "POST /guide/test": {"/guide/test"},
	"GET /live": {"/live"},

	"GET /deliveries":        {"/deliveries", "/deliveries?transaction_id={transaction}"},
	"GET /deliveries/resend": {"/deliveries/resend?row={small}"}, "POST /deliveries/resend": {"/deliveries/resend row={small}"},
	"GET /deliveries/{id}": {"/deliveries/{small}"}, "POST /deliveries/{id}/resend": {"/deliveries/{small}/resend"},
	"POST /deliveries/{id}/send-now": {"/deliveries/{small}/send-now"},
	"GET /keys":                      {"/keys"}, "POST /keys": {"/keys name=mine"}, "GET /keys/{id}/revoke": {"/keys/{small}/revoke"},
	"POST /keys/{id}/revoke": {"/keys/{small}/revoke"},

	"GET /settings": {"/settings"}, "POST /settings/password": {"/settings/password"}, "GET /settings/sign-out": {"/settings/sign-out"},
	"POST /settings/sign-out": {"/settings/sign-out"}, "POST /settings/name": {"/settings/name"},
	"GET /settings/sign-in": {"/settings/sign-in"}, "POST /settings/sign-in/app": {"/settings/sign-in/app"},
	"POST /settings/sign-in/codes": {"/settings/sign-in/codes"}, "POST /settings/sign-in/off": {"/settings/sign-in/off"},
	"POST /settings/sign-in/demand": {"/settings/sign-in/demand"}, "GET /settings/sign-in/others": {"/settings/sign-in/others"},
	"POST /settings/sign-in/others": {"/settings/sign-in/others"},
	"GET /login/passkey/options":    {"/login/passkey/options"}, "POST /login/passkey": {"/login/passkey"},
	"GET /settings/sign-in/passkeys/options":      {"/settings/sign-in/passkeys/options"},
	"POST /settings/sign-in/passkeys":             {"/settings/sign-in/passkeys"},
	"GET /settings/sign-in/passkeys/{id}":         {"/settings/sign-in/passkeys/{small}"},
	"POST /settings/sign-in/passkeys/{id}":        {"/settings/sign-in/passkeys/{small}"},
	"POST /settings/sign-in/passkeys/{id}/remove": {"/settings/sign-in/passkeys/{small}/remove"},
	"GET /settings/audit":                         {"/settings/audit", "/settings/audit?noun=bank_account&id={bank}"},
	"GET /settings/audit/export":                  {"/settings/audit/export?format=csv"},
	"POST /settings/sign-in/sessions/{id}/end":    {"/settings/sign-in/sessions/999/end"},
	"POST /settings/users":                        {"/settings/users"}, "GET /settings/users/{id}": {"/settings/users/{small}"},
	"POST /settings/users/{id}/password": {"/settings/users/{small}/password"},
	"POST /settings/users/{id}/role":     {"/settings/users/{small}/role role=owner"},
	"POST /settings/users/{id}/limit": {"/settings/users/{small}/limit limit=all",
		"/settings/users/{small}/limit limit=some&bank_account_id={bank}"},
	"POST /settings/users/{id}/sessions/{session}/end": {"/settings/users/{small}/sessions/1/end"},
	"GET /settings/users/{id}/remove":                  {"/settings/users/{small}/remove"},
	"POST /settings/users/{id}/remove":                 {"/settings/users/{small}/remove"},
	"POST /settings/counters":                          {"/settings/counters name=mine&bank_account_id={bank}"},
	"GET /settings/counters/{id}/revoke":               {"/settings/counters/{small}/revoke"},
	"POST /settings/counters/{id}/revoke":              {"/settings/counters/{small}/revoke"},
	"GET /settings/codes":                              {"/settings/codes"},
	"POST /settings/codes":                             {"/settings/codes prefix=DH&min_length=6&alphabet=digits"},
	"GET /settings/codes/{id}/delete":                  {"/settings/codes/1/delete"},
	"POST /settings/codes/{id}/delete":                 {"/settings/codes/1/delete"},
	"GET /settings/alerts":                             {"/settings/alerts"}, "POST /settings/alerts": {"/settings/alerts"},
	"POST /settings/alerts/report": {"/settings/alerts/report"}, "POST /settings/alerts/telegram": {"/settings/alerts/telegram"},
	"POST /settings/alerts/telegram/chats": {"/settings/alerts/telegram/chats"},
	"POST /settings/alerts/email":          {"/settings/alerts/email"}, "POST /settings/alerts/{medium}/chat": {"/settings/alerts/ntfy/chat"},
	"POST /settings/alerts/{medium}/payments": {"/settings/alerts/ntfy/payments bank_account_id={bank}"},
	"POST /settings/alerts/{medium}/test":     {"/settings/alerts/ntfy/test"},
	"GET /settings/alerts/{medium}/remove":    {"/settings/alerts/ntfy/remove"},
	"POST /settings/alerts/{medium}/remove":   {"/settings/alerts/ntfy/remove"},
	"GET /settings/phones":                    {"/settings/phones"}, "POST /settings/phones": {"/settings/phones"},
	"POST /settings/phones/{id}":        {"/settings/phones/{small}", "/settings/phones/1 payments=1&bank_account_id={bank}"},
	"POST /settings/phones/{id}/test":   {"/settings/phones/{small}/test"},
	"POST /settings/phones/{id}/remove": {"/settings/phones/{small}/remove"},
	"GET /sw.js":                        {"/sw.js"},
	"GET /system":                       {"/system"}, "POST /system/backup": {"/system/backup daily_at=02:30"},

	"GET /manifest.webmanifest": {"/manifest.webmanifest"}, "GET /help": {"/help"}, "GET /help/{page}": {"/help/users", "/help/first-hour"},

	"GET /till": {"/till"}, "POST /till": {"/till amount=5000&bank_account_id={bank}"},
	"GET /till/manifest.webmanifest": {"/till/manifest.webmanifest"}, "GET /till/display": {"/till/display"},
	"GET /till/{id}":         {"/till/{payment}"},
	"POST /till/{id}/take":   {"/till/{payment}/take transaction_id={transaction}"},
	"POST /till/{id}/ask":    {"/till/{payment}/ask transaction_id={transaction}"},
	"POST /till/{id}/cancel": {"/till/{payment}/cancel"}, "GET /till/{id}/receipt": {"/till/{payment}/receipt"},
	"POST /till/{id}/receipt": {"/till/{payment}/receipt"}, "GET /shifts": {"/shifts"}, "GET /shifts/{id}": {"/shifts/{small}"},
	"POST /shifts/{id}/close": {"/shifts/{small}/close"},
	"GET /live/till":          {"/live/till?since=0", "/live/till?since=0&bill={payment}"}, "GET /live/till/display": {"/live/till/display"},
	"GET /counter": {"/counter"}, "GET /counter/manifest.webmanifest": {"/counter/manifest.webmanifest"},
	"GET /counter/backlog": {"/counter/backlog?count=2&sum=5000"},
	"GET /live/counter":    {"/live/counter?since=0", "/live/counter?since={transaction}"},
	// Whoever has the token of a link sees what the link shows. These are guessed.
	"GET /counter/{token}": {"/counter/{small}"}, "GET /counter/{token}/manifest.webmanifest": {"/counter/{small}/manifest.webmanifest"},
	"GET /live/counter/{token}": {"/live/counter/{small}?since=0"},
}

// guesses are the values of the hidden bank account that somebody may guess, each
// beside one that is nowhere. They are as long, so that one can take the other's place.
var guesses = map[string][2]string{
	"bank": {"770001", "770999"}, "payment": {"66001", "66999"}, "transaction": {"88001", "88999"}, "word": {"ZULUPAY", "QQQQPAY"},
	"amount": {"7654321", "7654399"}, "account": {"970770887766", "970770112233"}, "tail": {"887766", "112233"},
	"nickname": {"Zebra", "Qebra"}, "note": {"ZULUNOTE", "QQQQNOTE"}, "number": {"FTZULU1", "FTQQQQ1"}, "small": {"1", "9"},
}

// marks are texts that stand for a bank account of limitWorld, however somebody
// writes its amounts.
var marks = map[string][]string{
	"own":   {"ALPHA", apptest.SomeAccount, "1,234,567", "1.234.567", "1234567", "··4957"},
	"other": {"YANKEE", "660770332211", "Yak", "5,432,101", "5.432.101", "5432101", "··2211", "550001"},
	"hidden": {"ZULU", "970770887766", "Zebra", "7,654,321", "7.654.321", "7654321", "··7766", "770001", "/8800", "=8800", "6,100,001",
		"6.100.001", "6100001"},
}

// limitWorld fills a shop with three bank accounts: own with the id 1, other 550001
// and hidden 770001. The transactions of hidden have ids from 88001 on, between those
// of the others. Each has all that a bank account can have.
func limitWorld(w webtest.Bubble) {
	w.T.Helper()
	ctx, now := w.T.Context(), time.Now()
	today := app.DayOf(now, w.Services.Ledger.Zone())
	link := func(sequence int, number, name string) int64 {
		w.Change(`UPDATE sqlite_sequence SET seq = ? WHERE name = 'bank_accounts'`, sequence)
		r, err := w.Services.Inbound.LinkBankAccount(ctx, 1, inbound.BankAccountLink{Bank: "ACB", AccountNumber: number, AccountName: name}, now)
		apptest.Must(w.T, err)
		return r.BankAccount.ID
	}
	other, hidden := link(550000, "660770332211", "YANKEE HOLDER"), link(770000, "970770887766", "ZULU HOLDER")
	apptest.Must(w.T, w.Services.Ledger.SetBankAccountLabel(ctx, 1, other, app.BankAccountLabel{Nickname: "Yak"}))
	apptest.Must(w.T, w.Services.Ledger.SetBankAccountLabel(ctx, 1, hidden, app.BankAccountLabel{Nickname: "Zebra"}))
	w.CodePattern("BILL")
	w.PaymentRequest(payment.RequestCreate{Amount: 1_234_567, BankAccountID: 1, Reference: "ALPHA-1"})
	w.Change(`UPDATE sqlite_sequence SET seq = 66000 WHERE name = 'payment_requests'`)
	paid := w.PaymentRequest(payment.RequestCreate{Amount: 7_654_321, BankAccountID: hidden, Reference: "ZULUPAY"})
	w.PaymentRequest(payment.RequestCreate{Amount: 7_654_321, BankAccountID: hidden})
	native := w.Native()
	fill := func(bankID int64, account, tag string, amount, least int64) {
		source := w.AddSource(inbound.SourceAdd{Provider: "native", Name: tag + " source", BankAccountID: bankID})
		hook, _, err := w.Services.Deliveries.CreateWebhook(ctx, 1,
			delivery.WebhookCreate{Name: tag + " shop", URL: "https://" + strings.ToLower(tag) + ".example.vn/", Type: delivery.WebhookIn,
				BankAccountIDs: []int64{bankID}}, now)
		apptest.Must(w.T, err)
		counterLink(w.World, 1, payment.CounterLinkCreate{Name: tag + " counter", BankAccountID: bankID, ShowsTotal: true})
		for i, x := range []apptest.Transfer{
			{Date: (today - 70).String() + " 09:00:00", Amount: least}, {Date: (today - 1).String() + " 05:00:00", Amount: amount},
			{Date: today.String() + " 00:00:01", Amount: amount},
			{Date: today.String() + " 00:00:02", Amount: least, Direction: "OUT"}, {Date: today.String() + " 00:00:03", Amount: amount},
		} {
			x.ID, x.Account, x.Content, x.Number = fmt.Sprint(tag, i), account, tag+"PAY DH"+strconv.Itoa(i), "FT"+tag+strconv.Itoa(i)
			w.Came(0, source, x)
		}
		exhaust(w.World, hook.ID, serverError)
		last := w.Transactions()
		apptest.Must(w.T,
			w.Services.Ledger.SetNote(ctx, 1, last[len(last)-1].ID, "", app.Note{Text: tag + "NOTE", ChangedAt: now, ChangedBy: "lan"}))
		w.Change(`INSERT INTO bank_account_balances (bank_account_id, day, amount, at, source_id) VALUES (?, ?, ?, ?, ?)`, bankID, int64(today-1),
			amount, now.Unix()-86400, native.ID)
	}
	fill(1, apptest.SomeAccount, "ALPHA", 1_234_567, 20_002)
	w.Change(`UPDATE sqlite_sequence SET seq = 88000 WHERE name = 'transactions'`)
	fill(hidden, "970770887766", "ZULU", 7_654_321, 6_100_001)
	w.Came(0, native,
		apptest.Transfer{ID: "ZULUPAID", Account: "970770887766", Content: paid.Code, Amount: 7_654_321, Date: "1998-01-01 08:00:00"})
	w.Change(`UPDATE sqlite_sequence SET seq = 99000 WHERE name = 'transactions'`)
	fill(other, "660770332211", "YANKEE", 5_432_101, 30_003)
	w.Came(0, native, apptest.Transfer{ID: "ALPHA9", Content: "ALPHAPAY DH9", Amount: 1_234_567, Date: today.String() + " 00:20:04"})
	w.Change(`UPDATE bank_accounts SET status = 'error' WHERE id = ?`, hidden)
}

// moreHidden does to the hidden bank account whatever can happen to one.
func moreHidden(w webtest.Bubble) {
	w.T.Helper()
	ctx, now := w.T.Context(), time.Now()
	today := app.DayOf(now, w.Services.Ledger.Zone())
	native := w.Native()
	for i := range int64(30) { // more than a page
		x := apptest.Transfer{ID: fmt.Sprint("more", i), Account: "970770887766", Content: fmt.Sprint("ZULUPAY MORE", i), Amount: 7_654_321,
			Date: (today - app.Day(i%3)).String() + " 00:20:05"}
		if i%4 == 0 {
			x.Direction = "OUT"
		}
		w.Came(0, native, x)
	}
	w.Came(0, native,
		apptest.Transfer{ID: "first", Account: "970770887766", Content: "ZULUPAY FIRST", Amount: 6_100_001, Date: "1998-01-01 08:00:00"})
	last := w.Transactions()
	apptest.Must(w.T,
		w.Services.Ledger.SetNote(ctx, 1, last[len(last)-1].ID, "", app.Note{Text: "ZULUNOTE PAY", ChangedAt: now, ChangedBy: "lan"}))
	w.Change(`INSERT INTO bank_account_balances (bank_account_id, day, amount, at, source_id) VALUES (770001, ?, 7654321, ?, ?)`, int64(today),
		now.Unix(), native.ID)
	for _, hook := range webhooksOf(w.World) {
		if slices.Equal(hook.BankAccountIDs, []int64{770001}) {
			exhaust(w.World, hook.ID, serverError)
		}
	}
	another := w.PaymentRequest(payment.RequestCreate{Amount: 6_100_001, BankAccountID: 770001, Reference: "ZULUPAY"})
	_, err := w.Services.Payments.MatchTransaction(ctx, 1, another.ID, last[len(last)-1].ID, now)
	apptest.Must(w.T, err)
	_, err = w.Services.Payments.CancelPaymentRequest(ctx, 1, 66002, now)
	apptest.Must(w.T, err)
	w.Came(0, native, apptest.Transfer{ID: "unlinked", Account: "777777", Content: "ZULUPAY UNLINKED", Amount: 7_654_321})
	apptest.Must(w.T, w.Services.Ledger.SetBankAccountLabel(ctx, 1, 770001, app.BankAccountLabel{Nickname: "Zebra 2", Colour: app.Colours[0]}))
	apptest.Must(w.T, w.Services.Ledger.UnlinkBankAccount(ctx, 1, 770001, now))
}

// limitedAnswer is what a browser gets: the status, the headers and the body, without
// what differs each time.
func limitedAnswer(w webtest.Bubble, cookies map[string]*http.Cookie, method, address string) string {
	w.T.Helper()
	var status int
	var header http.Header
	var body string
	if method == "GET" {
		c, hangUp := w.Open(cookies, address, false)
		hangUp()
		<-c.Ended
		status, header, body = c.Status, c.Headers, c.Text()
	} else {
		path, form, _ := strings.Cut(address, " ")
		values, err := url.ParseQuery(form)
		apptest.Must(w.T, err)
		values.Set("once", fmt.Sprint(time.Now().Unix(), "-", rand.Text()))
		a := sendTo(w, maps.Clone(cookies), method, path, values)
		status, header, body = a.Code, a.Header(), a.Body.String()
	}
	id := header.Get("X-Request-Id")
	header = header.Clone()
	for _, name := range []string{"Set-Cookie", "X-Request-Id", "Content-Length"} {
		header.Del(name)
	}
	header["Cache-Control"] = slices.DeleteFunc(header["Cache-Control"],
		func(value string) bool { return strings.Contains(value, "Set-Cookie") })
	if strings.Contains(header.Get("Content-Type"), "spreadsheet") {
		file, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
		apptest.Must(w.T, err)
		body = ""
		for _, part := range file.File {
			r, err := part.Open()
			apptest.Must(w.T, err)
			text, err := io.ReadAll(r)
			apptest.Must(w.T, err)
			body += part.Name + "\n" + string(text) + "\n"
		}
	}
	if id != "" {
		body = strings.ReplaceAll(body, id, "")
	}
	var b strings.Builder
	fmt.Fprintln(&b, status)
	apptest.Must(w.T, header.Write(&b))
	for _, random := range randomPatterns {
		body = random.ReplaceAllString(body, "")
	}
	return b.String() + body
}

// randomPatterns are the key of a form that counts once, the secret for an authenticator
// app, with its picture, what a passkey signs, and what the form before did. Each begins with
// a fixed text: one pattern for all would take as long as the pages.
var randomPatterns = []*regexp.Regexp{
	regexp.MustCompile(`name="once" value="[^"]*"`), regexp.MustCompile(`name="secret" value="[^"]*"`),
	regexp.MustCompile(`data:image/png;base64,[^"]*`), regexp.MustCompile(`<code>[A-Z2-7]{32}</code>`),
	regexp.MustCompile(`"challenge":"[^"]*"`), regexp.MustCompile(`<p class="flash".*</p>`),
}

// lastRoutes end the session of whoever sends their forms, or are slow for those who
// guess: each is asked once, after the others.
var lastRoutes = []string{"POST /settings/sign-in/off", "POST /login", "POST /logout", "POST /settings/sign-out",
	"POST /settings/sign-in/others"}

// limitedUser is a user of TestLimitedUsers.
type limitedUser struct {
	name    string
	role    access.Role
	limit   []int64
	hides   []string // names of marks
	cookies map[string]*http.Cookie
}

// A user who is limited to some bank accounts gets from no line of the table anything
// about the others: no mark of theirs, no other answer for what is theirs than for
// what doesn't exist, and no other byte after things have happened to them.
func TestLimitedUsers(t *testing.T) {
	t.Parallel()
	webtest.InBubbleAfter(t, 12*time.Hour, func(t *testing.T, w webtest.Bubble) {
		limitWorld(w)
		users := []*limitedUser{
			{name: "one", role: access.RoleAccountant, limit: []int64{1}, hides: []string{"other", "hidden"}},
			{name: "two", role: access.RoleAccountant, limit: []int64{550001, 1}, hides: []string{"hidden"}},
			{name: "none", role: access.RoleAccountant, limit: []int64{550001}, hides: []string{"own", "other", "hidden"}},
			{name: "till", role: access.RoleCashier, limit: []int64{1}, hides: []string{"other", "hidden"}},
		}
		for _, u := range users {
			made := w.User(1, u.name, u.role)
			_, err := w.Services.Access.LimitUser(t.Context(), 1, made.ID, access.BankAccountLimit{On: true, IDs: u.limit})
			apptest.Must(t, err)
			if u.name == "none" { // a limit of which nothing is left
				w.Change(`DELETE FROM user_bank_accounts WHERE user_id = ?`, made.ID)
			}
			u.cookies = signInTo(w, u.name)
		}
		before := askTwice(w, users, limitedRoutes, moreHidden)
		lines := map[string]bool{}
		for _, p := range dashboard.Pages {
			line := p.Method + " " + p.Path
			if lines[line] = true; len(limitedRoutes[line]) == 0 {
				t.Errorf("limitedRoutes doesn't name %s", line)
			}
		}
		for line := range limitedRoutes {
			if !lines[line] {
				t.Errorf("limitedRoutes names %s, which is no page", line)
			}
		}
		// The same form about what the limit shows is taken.
		bill := limitedAnswer(w, users[3].cookies, "POST", "/till amount=5000&bank_account_id=1")
		if !strings.Contains(bill, "Location: /till/") {
			t.Errorf("a bill for its bank account is answered %s", bill)
		}
		for i, line := range lastRoutes {
			users[i%len(users)].asks(w, "POST", limitedRoutes[line][0])
		}
		// What a limit shows is there, also several bank accounts together.
		for _, c := range []struct{ user, address, want string }{
			{"one GET ", "/", "3,703,701"}, {"two GET ", "/", "14,567,903"}, {"none GET ", "/", "no bank account"},
			{"one GET ", "/transactions?q=PAY", "6 transactions"}, {"two GET ", "/transactions?q=PAY", "11 transactions"},
			{"none GET ", "/transactions?q=PAY", "0 transactions"},
			{"two GET ", "/transactions?from=1999-01-01", "11 transactions"}, {"two GET ", exportPath + "?format=csv", "YANKEEPAY DH4"},
			{"two GET ", "/day", "··2211"},
			{"till GET ", "/counter", "1,234,567"}, {"two GET ", "/counter", "5,432,101"}, {"two GET ", "/live/counter?since=0", "5,432,101"},
		} {
			if answer := before[c.user+c.address]; !strings.Contains(answer, c.want) {
				t.Errorf("%s doesn't show %q", c.user+c.address, c.want)
				t.Log(answer)
			}
		}
		if notes := w.Rows("transaction_notes WHERE text = 'mine'"); notes != 0 {
			t.Errorf("%d notes of what isn't shown were written", notes)
		}
	})
}

// askTwice has users ask for all pages, before and after what shows in none of them. It gives the
// answers, by the user, the method and the address.
func askTwice(w webtest.Bubble, users []*limitedUser, routes map[string][]string, hidden func(webtest.Bubble)) map[string]string {
	began := time.Now()
	ask := func() map[string]string {
		answers := map[string]string{}
		for _, p := range dashboard.Pages {
			line := p.Method + " " + p.Path
			refused := map[access.Role]bool{}
			for _, u := range users {
				if refused[u.role] { // whatever the limit is
					continue
				}
				for _, address := range routes[line] {
					if !slices.Contains(lastRoutes, line) {
						answer := u.asks(w, p.Method, address)
						answers[u.name+" "+p.Method+" "+address] = answer
						refused[u.role] = strings.HasPrefix(answer, "403")
					}
				}
			}
		}
		return answers
	}
	before := ask()
	hidden(w)
	after := ask()
	if time.Now().Unix() != began.Unix() { // SQLite may have waited for a lock
		w.T.Fatalf("a second has passed since %v: pages differ by themselves", began)
	}
	for address, answer := range before {
		if after[address] != answer {
			w.T.Errorf("%s: something that happened to what is hidden shows\n%s", address, firstDifference(answer, after[address]))
		}
		_, form, isForm := strings.Cut(address, " POST ")
		if isForm && strings.HasPrefix(answer, "303") && !strings.HasPrefix(form, "/look ") && form != "/login/code" {
			w.T.Errorf("%s isn't refused: something was done, or the form has expired", address)
		}
	}
	return before
}

// Users who are limited to a receiving number of a bank account, and whoever opens a counter link
// to one, get nothing about what came to its other numbers, to itself and to other bank accounts.
func TestLimitedToReceivingNumber(t *testing.T) {
	t.Parallel()
	webtest.InBubbleAfter(t, 12*time.Hour, func(t *testing.T, w webtest.Bubble) {
		ctx, zone := t.Context(), w.Services.Ledger.Zone()
		_, err := w.Services.Ledger.SetBankAccountReceiving(ctx, 1, 1,
			app.BankAccountReceiving{ReceivingNumbers: "970770887766 = Zebra\nVAOWN = Own till"})
		apptest.Must(t, err)
		w.CodePattern("BILL")
		today := app.DayOf(time.Now(), zone)
		came := func(number, content string, amount int64, day app.Day, direction app.Direction) {
			t.Helper()
			_, _, err := w.Services.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{Incoming: inbound.Incoming{EventID: content,
				Gateway: "ACB", AccountNumber: apptest.SomeAccount, SubAccount: number, Number: "FT" + content, Type: direction, Amount: amount,
				Balance: 7_654_321, Content: content, Time: day.Start(zone).Add(5 * time.Second), NotRepeat: true}}, time.Now())
			apptest.Must(t, err)
		}
		hiddenMoney := func(tag string) {
			for _, number := range []string{"970770887766", ""} {
				for day := range app.Day(2) {
					came(number, fmt.Sprint("ZULUPAY ", tag, number, day), 7_654_321, today-70*day, app.In)
					came(number, fmt.Sprint("ZULUPAY OUT ", tag, number, day), 6_100_001, today-day, app.Out)
				}
			}
		}
		own := w.PaymentRequest(payment.RequestCreate{Amount: 1_234_567, Reference: "ALPHA-1", ReceivingNumber: "VAOWN"})
		came("VAOWN", "ALPHAPAY "+own.Code, 1_234_567, today, app.In)
		came("VAOWN", "ALPHAPAY TWO", 1_234_567, today-1, app.In)
		w.Change(`UPDATE sqlite_sequence SET seq = 66000 WHERE name = 'payment_requests'`)
		paid := w.PaymentRequest(payment.RequestCreate{Amount: 7_654_321, Reference: "ZULUPAY"}) // to the first number
		w.Change(`UPDATE sqlite_sequence SET seq = 88000 WHERE name = 'transactions'`)
		came("970770887766", "ZULUPAY "+paid.Code, 7_654_321, today, app.In)
		hiddenMoney("A")
		_, token, err := w.Services.Payments.CreateCounterLink(ctx, 1,
			payment.CounterLinkCreate{Name: "Own", ReceivingNumber: "VA OWN", ShowsTotal: true}, time.Now())
		apptest.Must(t, err)
		var users []*limitedUser
		for _, role := range []access.Role{access.RoleAccountant, access.RoleCashier} {
			u := &limitedUser{name: string(role), role: role, hides: []string{"hidden"}}
			_, err := w.Services.Access.LimitUser(ctx, 1, w.User(1, u.name, role).ID,
				access.BankAccountLimit{On: true, IDs: []int64{1}, ReceivingNumber: "VAOWN"})
			apptest.Must(t, err)
			u.cookies = signInTo(w, u.name)
			users = append(users, u)
		}
		routes := maps.Clone(limitedRoutes)
		routes["GET /counter/{token}"] = []string{"/counter/" + token}
		routes["GET /live/counter/{token}"] = []string{"/live/counter/" + token + "?since=0"}
		before := askTwice(w, users, routes, func(w webtest.Bubble) {
			hiddenMoney("B")
			w.PaymentRequest(payment.RequestCreate{Amount: 6_100_001, Reference: "ZULUPAY"})
			w.PaymentRequest(payment.RequestCreate{Amount: 6_100_001, Reference: "ZULUPAY", ReceivingNumber: apptest.SomeAccount})
		})
		for address, want := range map[string]string{
			"accountant GET /":                                "2,469,134",
			"accountant GET /transactions?q=PAY":              "2 transactions",
			"accountant GET /transactions?from=1999-01-01":    "2 transactions",
			"accountant GET /payments":                        "ALPHA-1",
			"accountant GET " + exportPath + "?format=csv":    "ALPHAPAY TWO",
			"accountant GET /day":                             "1,234,567",
			"cashier GET /counter":                            "1,234,567",
			"cashier GET /live/counter?since=0":               "1,234,567",
			"cashier GET /counter/" + token:                   "₫ · 1 payment",
			"cashier GET /live/counter/" + token + "?since=0": "1,234,567",
		} {
			if !strings.Contains(before[address], want) {
				t.Errorf("%s doesn't show %q", address, want)
				t.Log(before[address])
			}
		}
		// A request by such a user is for the number, or refused.
		cookies := signInTo(w, "cashier")
		post := func() *httptest.ResponseRecorder {
			once := regexp.MustCompile(`name="once" value="([^"]*)"`).FindStringSubmatch(sendTo(w, cookies, "GET", "/till", nil).Body.String())
			return sendTo(w, cookies, "POST", "/till", url.Values{"amount": {"5000"}, "once": {once[1]}})
		}
		bill := post()
		page, err := w.Services.Payments.PaymentRequests(ctx, 1, payment.Filter{Page: app.Page{Number: 1, Size: 1}}, time.Now())
		apptest.Must(t, err)
		if to := page.Rows[0].AccountNumber(); bill.Code != http.StatusSeeOther || to != "VAOWN" {
			t.Errorf("a bill of the till is answered %d, and to be paid to %s", bill.Code, to)
		}
		w.Change(`UPDATE bank_accounts SET receiving_numbers = '970770887766'`)
		if bill = post(); bill.Code != http.StatusUnprocessableEntity {
			t.Errorf("a bill to a number that is no longer entered is answered %d", bill.Code)
		}
	})
}

// asks asks for an address, with each guess, and returns what came for the hidden
// values. Values that are asked for stand in the answer as they were asked.
func (u *limitedUser) asks(w webtest.Bubble, method, address string) string {
	w.T.Helper()
	today := app.DayOf(time.Now(), w.Services.Ledger.Zone())
	address = strings.NewReplacer("{today}", today.String(), "{yesterday}", (today - 1).String(), "{long ago}",
		(today - 70).String()).Replace(address)
	var answers [2]string
	for i := range answers {
		asked, forget := address, []string{}
		for name, values := range guesses {
			if !strings.Contains(address, "{"+name+"}") {
				continue
			}
			asked = strings.ReplaceAll(asked, "{"+name+"}", values[i])
			forget = append(forget, values[i], "{"+name+"}")
			if n, err := strconv.ParseInt(values[i], 10, 64); err == nil { // it may be read as an amount
				for _, mark := range []string{",", "."} {
					written := fmt.Sprintf("%d%s%03d%s%03d", n/1_000_000, mark, n/1000%1000, mark, n%1000)
					forget = append(forget, strings.TrimPrefix(written, "0"+mark), "{"+name+"}")
				}
			}
		}
		answer := limitedAnswer(w, u.cookies, method, asked)
		if strings.HasPrefix(answer, "5") {
			w.T.Errorf("%s: %s %s: %s", u.name, method, asked, answer)
		}
		if !strings.Contains(address, "{small}") {
			answer = strings.NewReplacer(forget...).Replace(answer)
		} else {
			answer = strings.NewReplacer("/1", "/9", "=1", "=9").Replace(answer)
		}
		for _, name := range u.hides {
			for _, mark := range marks[name] {
				if strings.Contains(answer, mark) {
					w.T.Errorf("%s gets %q of %s by %s %s", u.name, mark, name, method, asked)
				}
			}
		}
		if answers[i] = answer; asked == address { // there is nothing to guess
			return answer
		}
	}
	if answers[0] != answers[1] {
		w.T.Errorf("%s: %s %s is answered in another way than where there is nothing\n%s", u.name, method, address,
			firstDifference(answers[0], answers[1]))
	}
	return answers[0]
}

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-100)
	return fmt.Sprintf("…%s\n…%s", a[from:min(len(a), i+100)], b[from:min(len(b), i+100)])
}

// Streams of a limited user tell of what the limit shows, and of nothing else. They
// end within a second once the user has another limit.
func TestLimitedStreams(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		limitWorld(w)
		u := w.User(1, "thu", access.RoleAccountant)
		limit := func(ids ...int64) {
			t.Helper()
			_, err := w.Services.Access.LimitUser(t.Context(), 1, u.ID, access.BankAccountLimit{On: ids != nil, IDs: ids})
			apptest.Must(t, err)
		}
		limit(1, 550001)
		cookies := signInTo(w, "thu")
		var streams []*webtest.PipeConn
		for _, path := range []string{"/live", "/live/counter?since=99006"} {
			c, hangUp := w.Open(cookies, path, false)
			defer hangUp()
			streams = append(streams, c)
		}
		export, hangUp := w.Open(cookies, exportPath+"?format=csv", true)
		defer hangUp()
		alive := regexp.MustCompile(`event: alive\ndata: \d+\n\n`)
		said := func(i int) string { return alive.ReplaceAllString(streams[i].Text(), "") }
		time.Sleep(time.Minute)
		before := []string{said(0), said(1)}
		if strings.Count(before[0], "event: changed") != 1 || before[1] != "" {
			t.Fatalf("at first: %q", before)
		}
		moreHidden(w)
		time.Sleep(time.Minute)
		for i := range streams {
			if now := said(i); now != before[i] || streams[i].HasEnded() {
				t.Errorf("stream %d tells of the hidden bank account: %s", i, strings.TrimPrefix(now, before[i]))
			}
		}
		native := w.Native()
		w.Came(0, native, apptest.Transfer{ID: "mine", Content: "ALPHAPAY NOW", Amount: 45_000,
			Date: time.Now().In(w.Services.Ledger.Zone()).Format(app.TimeLayout)})
		time.Sleep(time.Second)
		heard := said(0)
		if strings.Count(heard, "event: changed") < 2 { // a payment and its delivery may be seen one after the other
			t.Errorf("the page doesn't hear of its own payment: %s", heard)
		}
		if now := said(1); !strings.Contains(now, "ALPHAPAY NOW") || strings.Contains(now, "ZULU") {
			t.Errorf("the counter doesn't show its own payment, or others: %s", now)
		}
		first, err := w.Services.Deliveries.Due(t.Context(), delivery.DueFilter{WebhookID: 1, Limit: 100}, time.Now())
		apptest.Must(t, err)
		for _, o := range first {
			r := serverError
			r.StartedAt = time.Now()
			_, err := w.Services.Deliveries.Settle(context.Background(), o, r)
			apptest.Must(t, err)
		}
		time.Sleep(time.Second)
		if now := said(0); len(first) == 0 || !strings.Contains(strings.TrimPrefix(now, heard), "event: changed") {
			t.Errorf("the page doesn't hear of the attempt to tell the shop of its payment: %s", now)
		}
		limit(1)
		time.Sleep(time.Second)
		for i, c := range streams {
			if !c.HasEnded() || !strings.HasSuffix(c.Text(), "event: ended\ndata: \n\n") {
				t.Errorf("stream %d goes on with the limit of before: %s", i, c.Text())
			}
		}
		if !export.HasEnded() || strings.Contains(export.Text(), "YANKEE") {
			t.Error("an export goes on with the limit of before")
		}
		if page := sendTo(w, cookies, "GET", "/transactions", nil).Body.String(); !strings.Contains(page, "ALPHA") ||
			strings.Contains(page, "YANKEE") {
			t.Errorf("the next request has the limit of before: %s", page)
		}
		c, hangUp := w.Open(cookies, "/live", false)
		defer hangUp()
		limit()
		time.Sleep(time.Second)
		if !c.HasEnded() {
			t.Error("a stream goes on with a limit that was ended")
		}
		synctest.Wait()
	})
}

// An owner limits a user on the user's page, which refuses what can't be meant.
func TestLimitForm(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("ACB", "660770332211")
	other := w.SecondAccount()
	theirs, err := w.Services.Inbound.LinkBankAccount(t.Context(), other,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "5005", AccountName: "X"}, time.Now())
	apptest.Must(t, err)
	w.User(1, "lan", access.RoleOwner)
	thu := w.User(1, "thu", access.RoleCashier)
	dev := w.User(1, "dev", access.RoleDeveloper)
	w.User(other, "minh", access.RoleOwner)
	lan := w.Browser().SignIn("lan")
	till := w.Browser().SignIn("thu")
	page, path := "/settings/users/"+itoa(thu.ID), "/settings/users/"+itoa(thu.ID)+"/limit"
	limit := func(want ...int64) {
		t.Helper()
		u, _, err := w.Services.Access.User(t.Context(), thu.ID)
		apptest.Must(t, err)
		if !u.Limit.Equal(access.BankAccountLimit{On: want != nil, IDs: append([]int64{}, want...)}) {
			t.Errorf("the limit is %+v, want %v", u.Limit, want)
		}
	}
	all, some := `value="all" checked`, `value="some" checked`
	lan.Get(page).Shows(t, all, "19354957", "660770332211")
	for _, ids := range [][]string{{}, {"bank_account_id", "99"}, {"bank_account_id", itoa(theirs.BankAccount.ID)}, {"bank_account_id", "x"},
		{"bank_account_id", "1", "bank_account_id", "99"}} {
		a := lan.Post(path, append([]string{"limit", "some"}, ids...)...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		if len(ids) == 0 {
			a.Shows(t, some, "must be at least one bank account")
		}
		limit()
	}
	lan.Post(path, "limit", "some", "bank_account_id", "2", "bank_account_id", "1", "bank_account_id", "2").Goes(t, page)
	limit(1, 2)
	stale := versionField.FindAllStringSubmatch(lan.Get(page).Body, -1)[1][1]
	lan.Post(path, "limit", "some", "bank_account_id", "2").Goes(t, page)
	limit(2)
	lan.Get(page).Shows(t, "thu sees only these bank accounts now: ACB 660770332211.", some, `value="2" checked`)
	lan.Post(path, "limit", "all", "version", stale).WantStatus(t, http.StatusConflict)
	limit(2)
	lan.Get("/settings").Shows(t, "Only ACB 660770332211")

	// Two limits differ that the page names alike.
	five := []string{"limit", "some", "bank_account_id", "1", "bank_account_id", "2"}
	for _, number := range []string{"3003", "4004", "5005"} {
		b := w.Link("ACB", number)
		five = append(five, "bank_account_id", itoa(b.ID))
	}
	lan.Post(path, append(slices.Clone(five[:8]), five[8:10]...)...).Goes(t, page)
	stale = versionField.FindAllStringSubmatch(lan.Get(page).Body, -1)[1][1]
	lan.Post(path, append(slices.Clone(five[:8]), five[10:]...)...).Goes(t, page)
	refused := lan.Post(path, "limit", "some", "bank_account_id", "2", "version", stale)
	refused.Shows(t, "This was changed elsewhere")
	refused.Hides(t, "[1 2")
	lan.Post(path, "limit", "some", "bank_account_id", "2").Goes(t, page)
	limit(2)
	till.Get("/").Shows(t, "You see only: ACB ··2211")
	w.Pay(1, "1", "not for thu")
	till.Get("/transactions").Hides(t, "not for thu")
	// The link of a counter screen shows what it says, whoever opens it.
	till.Get("/counter/"+counterLink(w, 1, payment.CounterLinkCreate{Name: "Quầy"})).Shows(t, "not for thu")

	// An unlinked bank account widens nothing, and can be taken out.
	w.Unlinks(2)
	limit(2)
	lan.Get(page).Shows(t, "#2 (unlinked)")
	till.Get("/transactions").Hides(t, "not for thu")
	lan.Post("/settings/users/"+itoa(thu.ID)+"/role", "role", "developer").Shows(t, "Let the user see all bank accounts first.")
	till.Get("/").WantStatus(t, http.StatusOK)

	lan.Get("/settings/users/"+itoa(dev.ID)).Shows(t, "This role sees all bank accounts.")
	lan.Post("/settings/users/"+itoa(dev.ID)+"/limit", "limit", "some", "bank_account_id", "1").Shows(t,
		"Only accountants and cashiers can be limited")
	w.Browser().SignIn("minh").Post(path, "limit", "all").WantStatus(t, http.StatusNotFound)
	limit(2)
	lan.Post(path, "limit", "all").Goes(t, page)
	limit()
	till.Get("/transactions").Shows(t, "not for thu")
	lines, err := w.Services.Ledger.AuditLines(t.Context(), 1, app.AuditFilter{Noun: "user", NounID: thu.ID}, 10)
	apptest.Must(t, err)
	if lines[0].Deed != app.DeedUserLimit || lines[0].Actor.Name != "lan" || len(lines[0].Changes) != 1 ||
		lines[0].Changes[0] != (app.AuditChange{Field: "bank_accounts", From: "ACB 660770332211", To: "all"}) {
		t.Errorf("%+v", lines[0])
	}
	lan.Post(path, "limit", "some", "bank_account_id", "1").Goes(t, page)
	lan.Post("/settings/users/"+itoa(thu.ID)+"/remove").Goes(t, "/settings")
	if n := w.Rows("user_bank_accounts"); n != 0 {
		t.Errorf("%d rows of a user who was removed", n)
	}
}

var versionField = regexp.MustCompile(`name="version" value="([^"]*)"`)
