package app

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// AuditKept is how long the audit log keeps its lines.
const AuditKept = 365 * 24 * time.Hour

// Way is how somebody reached baoco.
type Way string

// The ways.
const (
	WayDashboard Way = "dashboard"
	WayAPI       Way = "api"
	WayCommand   Way = "command_line"
	WayServer    Way = "server" // nobody asked: the server by itself
)

// Ways are all ways.
var Ways = []Way{WayDashboard, WayAPI, WayCommand, WayServer}

// Name says the way for people.
func (w Way) Name() Text {
	switch w {
	case WayDashboard:
		return Text{"Dashboard", "Trang quản lý"}
	case WayAPI:
		return Text{"API key", "Khoá API"}
	case WayCommand:
		return Text{"Command line", "Dòng lệnh"}
	}
	return Text{"Server", "Máy chủ"}
}

// Actor is who does something. It travels in the context of a request or a command:
// the storage writes it into the audit log in the commit of what is done.
type Actor struct {
	Way     Way
	ID      int64     // of the user or the API key; 0: neither
	Name    string    // of the user, the API key, or the operating system's user
	Address string    // from which the request came; empty: from this machine
	At      time.Time // when the request or command came

	Generation int64 // of the user when their request came; 0: none
}

type actorKey struct{}

// ActingAs gives a context in which a does what is done.
func ActingAs(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf is who acts in a context. named is false where nobody acts whom the audit
// log can name: it has to know by which way and when. What that log has a line of is
// refused then.
func ActorOf(ctx context.Context) (a Actor, named bool) {
	a, _ = ctx.Value(actorKey{}).(Actor)
	return a, a.Way != "" && !a.At.IsZero()
}

// Deed is what was done: the noun that it was done to, a point, and the verb.
type Deed string

// The deeds.
const (
	DeedAccountCreate Deed = "account.create"
	DeedAccountChange Deed = "account.change"

	DeedAPIKeyCreate Deed = "api_key.create"
	DeedAPIKeyRevoke Deed = "api_key.revoke"

	DeedCounterLinkCreate Deed = "counter_link.create"
	DeedCounterLinkRevoke Deed = "counter_link.revoke"

	DeedUserCreate        Deed = "user.create"
	DeedUserPassword      Deed = "user.password"
	DeedUserRole          Deed = "user.role"
	DeedUserLimit         Deed = "user.limit"    // to bank accounts
	DeedUserSignOut       Deed = "user.sign_out" // of every device
	DeedUserSessionEnd    Deed = "user.session_end"
	DeedUserSecondFactor  Deed = "user.second_factor" // on, or to another app
	DeedUserFactorOff     Deed = "user.second_factor_off"
	DeedUserRecovery      Deed = "user.recovery_codes"
	DeedUserRecoveryUsed  Deed = "user.recovery_code_used"
	DeedUserPasskeyAdd    Deed = "user.passkey_add"
	DeedUserPasskeyRename Deed = "user.passkey_rename"
	DeedUserPasskeyRemove Deed = "user.passkey_remove"
	DeedUserRemove        Deed = "user.remove"
	DeedUserSignIn        Deed = "user.sign_in"
	DeedUserSignInRefused Deed = "user.sign_in_refused"

	DeedBankAccountLink   Deed = "bank_account.link"
	DeedBankAccountChange Deed = "bank_account.change"
	DeedBankAccountUnlink Deed = "bank_account.unlink"

	DeedSourceCreate Deed = "source.create"
	DeedSourceChange Deed = "source.change"
	DeedSourceRotate Deed = "source.rotate"
	DeedSourceAPIKey Deed = "source.api_key"
	DeedSourceRemove Deed = "source.remove"

	DeedInboundRetry   Deed = "inbound_event.retry"
	DeedInboundLink    Deed = "inbound_event.link"
	DeedInboundSettle  Deed = "inbound_event.settle"
	DeedInboundDiscard Deed = "inbound_event.discard"

	DeedTransactionRecord Deed = "transaction.record"
	DeedTransactionNote   Deed = "transaction.note"
	DeedTransactionExport Deed = "transaction.export"
	DeedImportRecord      Deed = "import.record"
	DeedImportUndo        Deed = "import.undo"

	DeedWebhookCreate   Deed = "webhook.create"
	DeedWebhookChange   Deed = "webhook.change"
	DeedWebhookDelete   Deed = "webhook.delete"
	DeedWebhookRotate   Deed = "webhook.rotate"
	DeedWebhookActivate Deed = "webhook.activate"
	DeedWebhookTest     Deed = "webhook.test"
	DeedWebhookReplay   Deed = "webhook.replay"
	DeedWebhookSendNow  Deed = "webhook.send_now"

	DeedCodePatternCreate Deed = "code_pattern.create"
	DeedCodePatternDelete Deed = "code_pattern.delete"

	DeedPaymentCreate  Deed = "payment_request.create"
	DeedPaymentCancel  Deed = "payment_request.cancel"
	DeedPaymentMatch   Deed = "payment_request.match"
	DeedPaymentTake    Deed = "payment_request.take" // by a cashier, of money without a code
	DeedPaymentUnmatch Deed = "payment_request.unmatch"
	DeedReceiptPrint   Deed = "payment_request.print"
	DeedShiftClose     Deed = "shift.close"

	DeedStreamCreate Deed = "stream.create"
	DeedStreamChange Deed = "stream.change"
	DeedStreamDelete Deed = "stream.delete"
	DeedStreamRotate Deed = "stream.rotate"
	DeedStreamTest   Deed = "stream.test"

	DeedDeliveryResend  Deed = "delivery.resend"
	DeedDeliverySendNow Deed = "delivery.send_now"

	DeedAlertSet     Deed = "alert_channel.set"
	DeedAlertChange  Deed = "alert_channel.change"
	DeedAlertTest    Deed = "alert_channel.test"
	DeedAlertRemove  Deed = "alert_channel.remove"
	DeedAlertsChange Deed = "alerts.change"

	DeedAuditExport Deed = "audit_log.export"

	DeedDatabaseBackup  Deed = "database.backup"
	DeedDatabaseRestore Deed = "database.restore"
	DeedDatabaseNewKey  Deed = "database.new_key"
	DeedDatabasePrune   Deed = "database.prune"

	DeedReplicaSetUp   Deed = "database.replica_set_up"
	DeedReplicaSealKey Deed = "database.replica_seal_key"
	DeedReplicaRemove  Deed = "database.replica_remove"
)

// Noun is what the deed was done to.
func (d Deed) Noun() string {
	noun, _, _ := strings.Cut(string(d), ".")
	return noun
}

// AuditDetail is what a line says beside who, when and what. It never holds a
// secret; AuditNamed and Changed bound it.
type AuditDetail struct {
	Name    string        `json:"name,omitempty"`  // of what it was done to, as it was called then
	Count   int64         `json:"count,omitempty"` // how many times, or how many rows; 0: it isn't counted
	Changes []AuditChange `json:"changes,omitempty"`
}

// AuditChange is a value that was changed. From is empty where there was none.
type AuditChange struct {
	Field string `json:"field"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
}

// maxAuditText is how many characters of a value a line keeps.
const maxAuditText = 200

// Changed is a detail with one more change, unless both values, texts or numbers, are the same.
func (d AuditDetail) Changed(field string, from, to any) AuditDetail {
	if before, after := fmt.Sprint(from), fmt.Sprint(to); before != after {
		d.Changes = append(d.Changes, AuditChange{field, CleanText(before, maxAuditText), CleanText(after, maxAuditText)})
	}
	return d
}

// ChangedURL adds a URL that has changed without its query, which may hold a secret of the
// receiver: even where nothing else of it has changed.
func (d AuditDetail) ChangedURL(before, after string) AuditDetail {
	if before != after {
		d.Changes = append(d.Changes, AuditChange{"url", withoutQuery(before), withoutQuery(after)})
	}
	return d
}

func withoutQuery(url string) string {
	path, _, more := strings.Cut(url, "?")
	if more {
		path += "?…"
	}
	return CleanText(path, maxAuditText)
}

// AuditNamed is the detail of what is called name.
func AuditNamed(name string) AuditDetail { return AuditDetail{Name: CleanText(name, maxAuditText)} }

// AuditLine is one line of the audit log.
type AuditLine struct {
	ID        int64
	AccountID int64
	Actor     Actor
	Deed      Deed
	NounID    int64
	Gone      bool // what was done to isn't there any more
	AuditDetail
}

// AuditFilter narrows the audit log; zero values do not.
type AuditFilter struct {
	Way      Way
	Deed     Deed
	Who      string    // name of the actor
	Noun     string    // as Deed.Noun
	NounID   int64     // with Noun
	From, To time.Time // from From on, before To
	Before   int64     // only lines with a lower id
}

// auditPage is how many lines an export reads at a time.
const auditPage = 1000

// ExportAudit passes every line of a filter to take, newest first, some at a time:
// those that exist when the export begins, with its own. It holds nothing of the
// storage while take runs. An error of take ends the export.
func (s *Service) ExportAudit(ctx context.Context, accountID int64, f AuditFilter, take func([]AuditLine) error) error {
	if err := s.Audit(ctx, accountID, DeedAuditExport, 0, s.auditPeriod(f.From, f.To)); err != nil {
		return err
	}
	for {
		list, err := s.AuditLines(ctx, accountID, f, auditPage)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := take(list); err != nil {
			return err
		}
		f.Before = list[len(list)-1].ID
	}
}

// auditPeriod is the detail of an export of a period.
func (s *Service) auditPeriod(from, to time.Time) (d AuditDetail) {
	if !from.IsZero() {
		d = d.Changed("from", "", DayOf(from, s.zone).String())
	}
	if !to.IsZero() {
		d = d.Changed("to", "", DayOf(to.Add(-time.Second), s.zone).String())
	}
	return d
}
