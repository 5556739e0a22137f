package delivery

import (
	"context"
	"slices"
	"strings"
	"time"

	"baoco/app"
)

// KeptAnswer is how many bytes of an answer's body the history keeps.
const KeptAnswer = 4 << 10

// ErrorClass says why an attempt failed.
type ErrorClass string

// The classes of errors.
const (
	ErrorNone       ErrorClass = ""
	ErrorTimeout    ErrorClass = "timeout"
	ErrorDNS        ErrorClass = "dns"
	ErrorRefused    ErrorClass = "connection_refused"
	ErrorReset      ErrorClass = "connection_reset"
	ErrorConnection ErrorClass = "connection"
	ErrorTLS        ErrorClass = "tls"
	ErrorBlocked    ErrorClass = "blocked_address"
	ErrorRedirect   ErrorClass = "redirect"
	ErrorHTTPStatus ErrorClass = "http_status"
	ErrorAnswer     ErrorClass = "answer" // of WebhookSepay: its body says that the shop failed
	ErrorProtocol   ErrorClass = "protocol"
	ErrorInternal   ErrorClass = "internal"
	// ErrorShortage says that this machine was short of something for the attempt,
	// which is neither counted nor recorded.
	ErrorShortage ErrorClass = "shortage"
)

// Cause divides a class of errors further.
type Cause string

// The causes, by class. Other classes have none.
const (
	// timeout, and connection_reset after connect: the phase in which it happened.
	CauseDNS      Cause = "dns"
	CauseConnect  Cause = "connect"
	CauseTLS      Cause = "tls"
	CauseResponse Cause = "response"

	// dns
	CauseNoSuchName   Cause = "no_such_name"
	CauseLookupFailed Cause = "lookup_failed"

	// connection
	CauseUnreachable Cause = "unreachable"

	// tls
	CauseExpired           Cause = "expired"
	CauseNotYetValid       Cause = "not_yet_valid"
	CauseWrongName         Cause = "wrong_name"
	CauseSelfSigned        Cause = "self_signed"
	CauseUnknownAuthority  Cause = "unknown_authority"
	CauseBadCertificate    Cause = "bad_certificate"
	CauseNotTLS            Cause = "not_tls"
	CauseOldTLS            Cause = "old_tls"
	CauseClientCertificate Cause = "client_certificate"
	CauseHandshake         Cause = "handshake"

	// shortage
	CauseFiles  Cause = "files"
	CauseMemory Cause = "memory"
	CausePorts  Cause = "ports"

	// no error: the answer of a script that ran, or one that only SePay takes for a success
	CauseSheet Cause = "sheet"
	CauseSepay Cause = "sepay"
)

// causes are all of them, for [ParseDetail].
var causes = []Cause{
	CauseDNS, CauseConnect, CauseTLS, CauseResponse, CauseNoSuchName, CauseLookupFailed, CauseUnreachable, CauseExpired, CauseNotYetValid,
	CauseWrongName, CauseSelfSigned, CauseUnknownAuthority, CauseBadCertificate, CauseNotTLS, CauseOldTLS, CauseClientCertificate,
	CauseHandshake, CauseFiles, CauseMemory, CausePorts, CauseSheet, CauseSepay,
}

// Detail is what is known of a failure besides its class.
type Detail struct {
	Cause Cause  // empty: the class has none, or it isn't known
	Text  string // of the system or of the receiver; empty: none
}

// String is the detail as it is stored and shown.
func (d Detail) String() string {
	if d.Cause == "" || d.Text == "" {
		return string(d.Cause) + d.Text
	}
	return string(d.Cause) + ": " + d.Text
}

// ParseDetail reads what String wrote.
func ParseDetail(s string) Detail {
	cause, text, _ := strings.Cut(s, ": ")
	if slices.Contains(causes, Cause(cause)) {
		return Detail{Cause(cause), text}
	}
	return Detail{Text: s}
}

// Result is the outcome of one HTTP call.
type Result struct {
	StartedAt  time.Time
	Duration   time.Duration
	StatusCode int // 0: no HTTP answer
	Error      ErrorClass
	Detail     Detail
	Body       []byte // the first 4 KiB of the answer
	Phases     Phases
}

// Phases is how long each part of an attempt took; zero: there was no such part.
type Phases struct {
	DNS, Connect, TLS, Wait time.Duration
}

// OK reports whether the attempt succeeded: the answer was 200, in time; or that of
// a script that ran, to a webhook of WebhookSheet; or another 2xx, to one of WebhookSepay.
func (r Result) OK() bool {
	return r.Error == ErrorNone && (r.StatusCode == 200 || r.StatusCode == 302 && r.Detail.Cause == CauseSheet ||
		r.StatusCode >= 200 && r.StatusCode < 300 && r.Detail.Cause == CauseSepay)
}

// EndedAt is when the verdict was known.
func (r Result) EndedAt() time.Time { return r.StartedAt.Add(r.Duration) }

// Attempt is the history record of one HTTP call.
type Attempt struct {
	ID            int64
	Delivery      Delivery // after the attempt; in the history its present state
	Number        int      // 1 to 6
	URL           string
	Result        Result
	NextAttemptAt time.Time // as planned after this attempt; zero: none, or not before its webhook is switched on
	Payload       Payload
}

// HistoryFilter narrows the history; zero values do not.
type HistoryFilter struct {
	ID            int64
	WebhookID     int64
	DeliveryID    int64
	TransactionID int64
	OK            *bool
	Type          app.Direction
	From, To      time.Time // of the call: from From on, before To
	Query         string    // in content or transaction number, as typed
	UntilID       int64     // only attempts up to this id, so that new ones don't shift the pages
	Page          app.Page
}

// HistoryRecord finds one attempt; CodeNotFound if it doesn't exist.
func (s *Service) HistoryRecord(ctx context.Context, accountID, id int64) (Attempt, error) {
	list, _, err := s.History(ctx, accountID, HistoryFilter{ID: id, Page: app.Page{Number: 1, Size: 1}})
	return app.Find(list, err, func(a Attempt) bool { return a.ID == id }, ErrNoHistory)
}

// ErrNoHistory says that an id names no history record.
var ErrNoHistory error = app.NotFound("There is no history record with this id.", "Không có bản ghi lịch sử với id này.")

// Transactions and their totals, open items, and deliveries are never pruned, however
// old. A finished delivery is a small row, and as long as its transaction exists it is
// the only proof that the shop was notified, or was not. Without it the page of the
// transaction would show nothing, the filter by failed deliveries would miss it, and a
// replay could send a transaction again that a later delivery had sent.
