package app

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Code names a kind of failure. Clients branch on it, so a code never changes
// its meaning.
type Code string

// The codes of the service. web/wire/answer.go has the HTTP status of each,
// app/command/terminal/exit.go the exit code.
const (
	CodeInvalidJSON      Code = "invalid_json"
	CodeUnauthorized     Code = "unauthorized"
	CodeForbidden        Code = "forbidden"
	CodePlanExpired      Code = "plan_expired"
	CodeNotFound         Code = "not_found"
	CodeMethodNotAllowed Code = "method_not_allowed"
	CodeConflict         Code = "conflict"
	CodeMayBeRepeat      Code = "may_be_repeat"
	CodeAlreadyExists    Code = "already_exists"
	CodeLimitReached     Code = "limit_reached"
	CodePlanLimit        Code = "plan_limit"
	CodeWebhookDeleted   Code = "webhook_deleted"
	CodeWebhookInactive  Code = "webhook_inactive"
	CodeDeliveryPending  Code = "delivery_pending"
	CodeSecretLost       Code = "secret_lost"
	CodePayloadTooLarge  Code = "payload_too_large"
	CodeUnsupportedMedia Code = "unsupported_media_type"
	CodeValidation       Code = "validation_failed"
	CodeRateLimited      Code = "rate_limited"
	CodeInternal         Code = "internal"
	CodeUnavailable      Code = "unavailable"
)

// Error is a failure that the caller can act upon. Text and Fields are for
// people and may leave the process; Err only goes to the log.
type Error struct {
	Code   Code
	Text   Text
	Fields []FieldError
	Err    error
}

// FieldError says what is wrong with one field of a request and what is
// allowed.
type FieldError struct {
	Field string
	Text  Text
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Text.EN)
	for i, f := range e.Fields {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		b.WriteString(f.Field + " " + f.Text.EN)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of err: that of the [*Error] in its chain, or
// [CodeInternal].
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// NotFound is the failure to find something in the account.
func NotFound(en, vi string) *Error {
	return &Error{Code: CodeNotFound, Text: Text{en, vi}}
}

// Conflict is the refusal of what doesn't go with how things stand.
func Conflict(en, vi string) *Error {
	return &Error{Code: CodeConflict, Text: Text{en, vi}}
}

// Refused is a failure with one sentence.
func Refused(code Code, text Text) *Error {
	return &Error{Code: code, Text: text}
}

// Unavailable is a failure of the storage that passes: the caller may try
// again. The cause is logged and not shown.
func Unavailable(err error) *Error {
	return &Error{
		Code: CodeUnavailable,
		Text: Text{"The service cannot store data right now; please try again.", "Dịch vụ tạm thời chưa lưu được dữ liệu, vui lòng thử lại."},
		Err:  err,
	}
}

// PanicError is a panic that was caught.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Protected runs fn and returns its panic as a [*PanicError]. The work of every
// goroutine of the server runs in it, because a panic would end the process: the
// error is logged, and the goroutine goes on with its next work. Handlers and
// regular jobs have such a net of their own, in web and in gocron.
func Protected(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{value, debug.Stack()}
		}
	}()
	return fn()
}

// Invalid collects the faults of the fields of a request.
type Invalid struct {
	fields []FieldError
}

// Add notes that field is at fault.
func (v *Invalid) Add(field, en, vi string) {
	v.fields = append(v.fields, FieldError{field, Text{en, vi}})
}

// Merge adds the fields of err that aren't noted yet.
func (v *Invalid) Merge(err error) {
	var e *Error
	if !errors.As(err, &e) {
		return
	}
	for _, f := range e.Fields {
		if !slices.ContainsFunc(v.fields, func(known FieldError) bool { return known.Field == f.Field }) {
			v.fields = append(v.fields, f)
		}
	}
}

// Err is nil when no field is at fault.
func (v *Invalid) Err() error {
	if len(v.fields) == 0 {
		return nil
	}
	return &Error{
		Code:   CodeValidation,
		Text:   Text{"Some fields are not valid.", "Một số trường không hợp lệ."},
		Fields: v.fields,
	}
}

// UnknownReference is the fault of an id that names nothing in the account.
var UnknownReference = Text{"names nothing in this account", "không tồn tại trong tài khoản này"}

// NotLinked is the fault of an id that names no linked bank account.
var NotLinked = Text{"is not a linked bank account", "chưa được liên kết"}

// ErrUnknownReference is the failure of a request whose field names nothing in
// the account.
func ErrUnknownReference(field string) error {
	return InvalidField(field, UnknownReference.EN, UnknownReference.VI)
}

// InvalidField is the failure of a single field.
func InvalidField(field, en, vi string) error {
	var v Invalid
	v.Add(field, en, vi)
	return v.Err()
}
