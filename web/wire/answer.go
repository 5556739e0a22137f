// Package wire is what the houses of web share: answers and the table of HTTP statuses
// for errors (answer.go), files (file.go), event streams (eventstream.go) and their feed
// (feed.go), limits (limit.go), parameters (params.go), the request (request.go), its
// client (client.go) and its connection (connection.go).
package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// Responder answers errors, knows how a client sent its request, and counts how often
// a client failed to authenticate.
type Responder struct {
	Log            *slog.Logger
	TrustedProxies []netip.Prefix
	SecureHost     string // of the address at which clients use HTTPS; empty: they use HTTP
	Connections    int    // that may be open; 0: not known
	Failures       Buckets[netip.Prefix]
}

// Envelope begins every success of the management API.
type Envelope struct {
	Status   bool   `json:"status"`
	Messages string `json:"messages"`
}

// OK is the envelope with a message in the caller's language.
func OK(r *http.Request, en, vi string) Envelope {
	return Envelope{true, app.Text{EN: en, VI: vi}.In(Lang(r))}
}

// Lang is the language of a message of the API.
func Lang(r *http.Request) app.Lang { return AcceptedLang(r, app.English) }

// AcceptedLang is the language that a request asks for, or otherwise.
func AcceptedLang(r *http.Request, otherwise app.Lang) app.Lang {
	return app.AcceptedLang(strings.Join(r.Header.Values("Accept-Language"), ","), otherwise)
}

// ChosenLang is the language of a page: that of the URL, that of the browser, or otherwise.
func ChosenLang(r *http.Request, otherwise app.Lang) app.Lang {
	switch chosen := app.Lang(r.URL.Query().Get("lang")); chosen {
	case app.English, app.Vietnamese:
		return chosen
	}
	return AcceptedLang(r, otherwise)
}

// PolicyDigest names a style or a script inside a page, for its Content-Security-Policy.
func PolicyDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Failure is the body of every error.
type Failure struct {
	Status     bool              `json:"status"`
	Messages   string            `json:"messages"`
	Code       app.Code          `json:"code"`
	RequestID  string            `json:"request_id"`
	Errors     map[string]string `json:"errors,omitempty"`
	Message    string            `json:"message,omitempty"`     // of a 429, by the interface
	RetryAfter int               `json:"retry_after,omitempty"` // seconds
}

// statuses is the one table of the HTTP statuses of our codes.
var statuses = map[app.Code]int{
	app.CodeInvalidJSON:      http.StatusBadRequest,
	app.CodeUnauthorized:     http.StatusUnauthorized,
	app.CodeForbidden:        http.StatusForbidden,
	app.CodePlanExpired:      http.StatusForbidden,
	app.CodeNotFound:         http.StatusNotFound,
	app.CodeMethodNotAllowed: http.StatusMethodNotAllowed,
	app.CodeConflict:         http.StatusConflict,
	app.CodeMayBeRepeat:      http.StatusConflict,
	app.CodeAlreadyExists:    http.StatusConflict,
	app.CodeLimitReached:     http.StatusConflict,
	app.CodePlanLimit:        http.StatusConflict,
	app.CodeWebhookDeleted:   http.StatusConflict,
	app.CodeWebhookInactive:  http.StatusConflict,
	app.CodeDeliveryPending:  http.StatusConflict,
	app.CodeSecretLost:       http.StatusConflict,
	app.CodePayloadTooLarge:  http.StatusRequestEntityTooLarge,
	app.CodeUnsupportedMedia: http.StatusUnsupportedMediaType,
	app.CodeValidation:       http.StatusUnprocessableEntity,
	app.CodeRateLimited:      http.StatusTooManyRequests,
	app.CodeInternal:         http.StatusInternalServerError,
	app.CodeUnavailable:      http.StatusServiceUnavailable,
}

// AsError is the [*app.Error] in the chain of err. Any other error becomes an internal
// one, whose text says nothing about err.
func AsError(err error) *app.Error {
	if e, found := errors.AsType[*app.Error](err); found {
		return e
	}
	return &app.Error{Code: app.CodeInternal,
		Text: app.Text{EN: "Something went wrong on our side.", VI: "Đã có lỗi ở phía máy chủ."}, Err: err}
}

// StatusOf is the status of an answer with a code; 500 if the table doesn't have the code.
func StatusOf(code app.Code) int { return cmp.Or(statuses[code], http.StatusInternalServerError) }

// UnavailableRetry is how soon a provider should try again after a 503.
const UnavailableRetry = 5

// WriteJSON answers with v as JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only types of our own come here
	}
	WriteBody(w, status, b.Bytes())
}

// WriteBody answers with a body that is JSON, and is never cached.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// WriteError answers with the status and the text of err.
func (s *Responder) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	status, body := s.ErrorBody(w, r, err)
	WriteJSON(w, status, body)
}

// StatusGone is the status of a request whose client disconnected before the answer. Only
// the metrics show it. nginx uses the same number.
const StatusGone = 499

// StatusFor is the status of an answer with an error. A client that disconnected is no fault
// of the server.
func StatusFor(r *http.Request, e *app.Error) int {
	status := StatusOf(e.Code)
	if (status == http.StatusServiceUnavailable || errors.Is(e.Err, context.Canceled)) && context.Cause(r.Context()) == context.Canceled {
		return StatusGone
	}
	return status
}

// ErrorBody sets the headers for err, and returns status and body. An error that
// isn't the caller's fault is logged here, once, and its text is not answered.
func (s *Responder) ErrorBody(w http.ResponseWriter, r *http.Request, err error) (int, Failure) {
	e := AsError(err)
	language := Lang(r)
	body := Failure{Messages: e.Text.In(language), Code: e.Code, RequestID: RequestID(r)}
	if len(e.Fields) > 0 {
		body.Errors = map[string]string{}
		for _, f := range e.Fields {
			body.Errors[f.Field] = f.Text.In(language)
		}
	}
	status := StatusFor(r, e)
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", strconv.Itoa(UnavailableRetry))
	}
	if status >= 500 && e.Err != nil {
		s.Log.Error("request failed", "request_id", body.RequestID, "method", r.Method, "route", RouteOf(r), "remote", s.ClientAddr(r), "status",
			status, "err", e.Err)
	}
	return status, body
}

// RateLimited sets the headers of a 429, and returns its body in the form of the
// interface.
func RateLimited(w http.ResponseWriter, r *http.Request, limit int, wait time.Duration) (int, Failure) {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	text := app.Textf("Too many requests; try again in %d s.", "Quá nhiều yêu cầu, vui lòng thử lại sau %d giây.", seconds).In(Lang(r))
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("Retry-After", strconv.Itoa(seconds))
	return http.StatusTooManyRequests, Failure{
		Messages: text, Code: app.CodeRateLimited, RequestID: RequestID(r), Message: text, RetryAfter: seconds,
	}
}

// LogPanic logs a panic of a handler.
func (s *Responder) LogPanic(r *http.Request, value any, stack []byte) {
	s.Log.LogAttrs(r.Context(), slog.LevelError, "panic in a handler",
		slog.String("request_id", RequestID(r)), slog.String("route", RouteOf(r)), slog.Any("remote", s.ClientAddr(r)), slog.Any("panic", value),
		slog.String("stack", string(stack)))
}

// AuthErrorBody is ErrorBody for a failed authentication: 401, or 429 if the
// address has failed too often. A valid credential never comes here.
func (s *Responder) AuthErrorBody(w http.ResponseWriter, r *http.Request, err error, now time.Time) (int, Failure) {
	if app.CodeOf(err) == app.CodeUnauthorized {
		if _, wait, ok := s.Failures.Take(s.Client(r), FailurePace, now); !ok {
			return RateLimited(w, r, FailurePace.PerMinute, wait)
		}
	}
	return s.ErrorBody(w, r, err)
}
