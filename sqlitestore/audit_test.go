package sqlitestore_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// Methods of the store that write, by whether the audit log has a line of what they
// do. A new one that writes belongs to one of them.
var (
	audited = []string{"RemoveSecondFactor", "SetNeedsSecondFactor", "SetRecoveryCodes", "SetTOTP", "UseRecoveryCode", "AddPasskey",
		"RenamePasskey", "RemovePasskey",
		"Audit", "RevokeAPIKey", "RevokeCounterLink", "EndSession", "EndSessions", "LimitUser", "RemoveUser", "ToggleBankAccount",
		"UnlinkBankAccount", "RemoveSource", "DeleteWebhook", "RemoveAlertChannel", "AddPhone", "RemovePhone",
		"CreateAccount", "UpdateAccount", "CreateAPIKey", "CreateCounterLink", "CreateUser", "CreateFirstUser", "SetPassword", "SetRole",
		"NoteSignIn", "NoteRefusedSignIn",
		"LinkBankAccount", "SetBankAccountLabel", "SetBankAccountReceiving", "SetAccountName", "CreateSource", "SetSourceSecret",
		"AddSourceSenders", "SetSourceAPIKey",
		"RetryInbound", "DiscardInbound", "LinkInbound", "SettleRepeat", "PartReport", "SetNote", "UndoImport", "CreateCodePattern",
		"DeleteCodePattern",
		"CreatePaymentRequest", "CancelPaymentRequest", "PrintReceipt", "CloseShift", "MatchTransaction", "TakeTransaction", "UnmatchTransaction",
		"PutAside", "LinkRefund", "UnlinkRefund", "CreateStream",
		"UpdateStream", "RotateStreamSecret", "ToggleStream", "DeleteStream", "CreateWebhook", "UpdateWebhook", "ToggleWebhook", "ChangeSecrets",
		"AddTest", "Resend", "ResendMany", "Replay", "SendNow", "SendWaiting", "SetAlertPreferences", "SetAlertChannel", "SetReport",
		"SetMonthReport",
		"SetPaymentFeed", "NoteAlertTest", "SetMark", "AddRule", "RemoveRule",
		"CloseBooks", "OpenBooks", "SetHeading", "SetCash", "SetOpening",
		"Prune", "ScheduledBackup", "SetDailyBackup", "RecordInbound", // of what a person typed or imported
	}
	notAudited = []string{"UseTOTPStep", "UsePasskey",
		"SetSession", "SeeSession", "RemoveSession", "NoteRefusedCall", "SetBeat", "TouchAPIKey", "SetUp", "FinishLinks",
		"RecordPage", "NotePollFault", "IndexSearch",
		"Settle", "MoveRetries", "PullRetries", "SettleStream", "SettleAlert", "SettlePaymentFeed", "AskToMatch",
		"PushKey", "ChangePhone", "SettlePhone", "Reclaim", "Probe", "RefreshCredentials",
	}
	reading = []string{"TOTP", "PasskeyByCredential",
		"APIKeyByHash", "CounterLinkByHash", "SetUpOpen", "UserByName", "BankAccountSummaries", "FirstDay", "BankAccountDays", "HoursBetween",
		"SourceByToken", "SourceByBearer", "SourceByUsername", "RefusedCalls", "InboundEventsBefore", "InboundEvent", "InboundItems",
		"InboundBodies", "InboundSources", "KnownEvents",
		"PolledSources", "Transactions", "Unindexed", "TransactionsAfter", "WebhookSecrets", "WebhookHealth", "RecentAttempts", "Pending",
		"DeliveryFacts", "DeliveriesOf",
		"FailedDeliveries", "AlertConditions", "PaymentsToSend", "PaymentsToPush",
		"QueueStatus", "NewestTime", "AnswerTimes", "OldestDue", "WriterBeat",
		"UnmatchedTransactions", "PaymentCandidates", "PossibleTransfers", "Entries", "EntrySums", "ReportParts",
		"RequestsAsking", "AnyReference", "AskedMatches", "MatchedByHand",
	}
)

func TestEveryWriteIsAuditedOrNot(t *testing.T) {
	t.Parallel()
	methods := map[string]bool{}
	store := reflect.TypeFor[services.Store]()
	for i := range store.NumMethod() {
		methods[store.Method(i).Name] = true
	}
	reader := reflect.TypeFor[services.Store]()
	named := slices.Concat(audited, notAudited, reading)
	for i := range reader.NumMethod() {
		if name := reader.Method(i).Name; !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		if n := len(slices.DeleteFunc(slices.Clone(named), func(other string) bool { return other != name })); n != 1 {
			t.Errorf("%s stands %d times in audited, notAudited and reading: decide whether the audit log has a line of it", name, n)
		}
	}
	for _, name := range named {
		if !methods[name] {
			t.Errorf("%s is no method of app.Store", name)
		}
	}
}

// Where nobody acts, or nobody knows when, the deed is refused and not done: a line of
// it would look older than a year.
func TestNobodyActs(t *testing.T) {
	t.Parallel()
	path := create(t)
	store, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	must(t, err)
	service := apptest.Over(t, store, services.Config{})
	now := time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)
	hoa, err := service.Access.CreateUser(acting(t.Context()), app.DefaultAccountID,
		access.UserCreate{Name: "hoa", Password: "mật khẩu rất dài", Role: access.RoleOwner}, now)
	must(t, err)
	for name, ctx := range map[string]context.Context{
		"nobody": t.Context(), "no time": app.ActingAs(t.Context(), app.Actor{Way: app.WayDashboard, Name: "lan"}),
		"no way": app.ActingAs(t.Context(), app.Actor{Name: "lan", At: now}),
	} {
		if _, err := service.Access.CreateUser(ctx, app.DefaultAccountID,
			access.UserCreate{Name: "lan", Password: "mật khẩu rất dài", Role: access.RoleOwner}, now); err == nil {
			t.Errorf("%s created a user", name)
		}
		if _, _, err := service.Access.CreateAPIKey(ctx, app.DefaultAccountID, access.APIKeyCreate{
			Name: "k", Scope: access.ScopeFull,
		}, now); err == nil {
			t.Errorf("%s created an API key", name)
		}
		store.NoteRefusedSignIn(ctx, hoa)
		must(t, store.Probe(t.Context()))
	}
	users, err := service.Access.Users(t.Context(), app.DefaultAccountID)
	must(t, err)
	keys, err := service.Access.APIKeys(t.Context(), app.DefaultAccountID)
	must(t, err)
	lines, err := service.Ledger.AuditLines(t.Context(), app.DefaultAccountID, app.AuditFilter{}, 100)
	must(t, err)
	if len(users) != 1 || len(keys) != 0 || len(lines) != 1 {
		t.Errorf("%+v, %+v, %+v", users, keys, lines)
	}
	must(t, store.Close())
	if _, err := sqlitestore.ReplaceKey(t.Context(), path, now); err == nil {
		t.Error("nobody made a new key")
	}
}

// Lines are kept a year.
func TestAuditPruned(t *testing.T) {
	t.Parallel()
	h := &history{t: t, now: time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)}
	h.reopen(create(t))
	defer func() { must(t, h.store.Close()) }()
	say := func(name string, at time.Time) {
		t.Helper()
		must(t, h.service.Ledger.Audit(app.ActingAs(t.Context(), app.Actor{Way: app.WayCommand, At: at}), app.DefaultAccountID,
			app.DeedAccountChange, 1, app.AuditNamed(name)))
	}
	for range 900 { // more than two steps
		say("old", h.now.Add(-app.AuditKept-time.Second))
	}
	say("kept", h.now.Add(-app.AuditKept))
	say("of a clock that was behind", h.now.Add(-2*app.AuditKept))
	_, err := h.service.Upkeep.Prune(t.Context(), upkeep.PruneLimits{}, h.now)
	must(t, err)
	lines, err := h.service.Ledger.AuditLines(t.Context(), app.DefaultAccountID, app.AuditFilter{}, 100)
	must(t, err)
	if len(lines) != 2 || lines[1].Name != "kept" {
		t.Errorf("%d lines are left: %+v", len(lines), lines)
	}
}

// Wrong passwords are counted in one line an hour: who guesses can't fill the log.
func TestRefusedSignInsAreCounted(t *testing.T) {
	t.Parallel()
	h := &history{t: t, now: time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)}
	h.reopen(create(t))
	lan, err := h.service.Access.CreateUser(t.Context(), app.DefaultAccountID,
		access.UserCreate{Name: "lan", Password: "mật khẩu rất dài", Role: access.RoleOwner}, h.now)
	must(t, err)
	for i := range 60 {
		from := app.Actor{Way: app.WayDashboard, Address: "192.0.2.1", At: h.now.Add(time.Duration(i) * time.Minute)}
		h.store.NoteRefusedSignIn(app.ActingAs(t.Context(), from), lan)
		must(t, h.store.Probe(t.Context())) // so that it is written
	}
	h.store.NoteRefusedSignIn(app.ActingAs(t.Context(), app.Actor{Way: app.WayDashboard, Address: "192.0.2.2", At: h.now.Add(time.Hour)}), lan)
	must(t, h.store.Probe(t.Context()))
	lines, err := h.service.Ledger.AuditLines(t.Context(), app.DefaultAccountID, app.AuditFilter{Noun: "user", NounID: lan.ID}, 100)
	must(t, err)
	if len(lines) != 3 || lines[0].Count != 1 || lines[0].Actor.Address != "192.0.2.2" || lines[1].Count != 60 ||
		lines[1].Deed != app.DeedUserSignInRefused {
		t.Errorf("%+v", lines)
	}
	must(t, h.store.Close())
}

// An export has every line once, newest first, over several reads.
func TestExportAudit(t *testing.T) {
	t.Parallel()
	h := &history{t: t, now: time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)}
	h.reopen(create(t))
	defer func() { must(t, h.store.Close()) }()
	must(t, h.store.Write(t.Context(), func(exec func(string, ...any) error) error {
		return exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			INSERT INTO audit (account_id, at_ms, way, actor, actor_id, address, deed, noun, noun_id, detail) SELECT 1, 1000000000000, 'api', 'a',
			1, '', 'webhook.test', 'webhook', i, '{}' FROM n`)
	}))
	want := int64(2500)
	must(t, h.service.Ledger.ExportAudit(acting(t.Context()), 1, app.AuditFilter{Noun: "webhook"}, func(list []app.AuditLine) error {
		for _, l := range list {
			if l.NounID != want {
				t.Fatalf("line of webhook %d, want %d", l.NounID, want)
			}
			want--
		}
		return nil
	}))
	if want != 0 {
		t.Errorf("%d lines are missing", want)
	}
}
