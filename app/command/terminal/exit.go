package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"baoco/app"
	"baoco/sqlitestore"

	"github.com/urfave/cli/v2"
)

// Exit codes.
const (
	ExitOK       = 0
	ExitError    = 1
	ExitUsage    = 2
	ExitNotFound = 3
	ExitDatabase = 4 // or configuration
	ExitConflict = 5 // or a limit
	ExitCheck    = 6 // a check failed
)

// DatabaseError returns an error of work on database files with ExitDatabase, unless
// it has an exit code of its own.
func DatabaseError(err error) error {
	if err != nil && ExitCode(err) == ExitError {
		return Exit(ExitDatabase, err)
	}
	return err
}

type statusError struct {
	code int
	err  error
}

func (e statusError) Error() string { return e.err.Error() }

func (e statusError) Unwrap() error { return e.err }

// Exit returns err with an exit code.
func Exit(code int, err error) error { return statusError{code, err} }

// Usagef returns an error in the use of a command.
func Usagef(format string, args ...any) error {
	return Exit(ExitUsage, fmt.Errorf(format, args...))
}

// commandError is an error of a command. ErrorText replaces the names of fields by the
// flags of the command, which the user has typed.
type commandError struct {
	error
	command *cli.Command
}

func (e commandError) Unwrap() error { return e.error }

// flagNames are the names of the flags that differ from the names of their fields, by field.
var flagNames = map[string][]string{
	"webhook_url": {"url"}, "account_number": {"number"}, "accountNumber": {"account-number"}, "account_name": {"name"}, "gateway": {"bank"},
	"transferType": {"type"}, "transferAmount": {"amount"}, "transactionNumber": {"transaction-number"}, "transactionDate": {"date"},
	"email_to": {"to"}, "email_from": {"from"}, "smtp_host": {"host"}, "smtp_port": {"port"}, "smtp_security": {"security"},
	"smtp_user":     {"user"},
	"smtp_password": {"password-file"}, "password": {"password-file"}, "secret": {"secret-file"}, "token": {"token-file"},
	"api_key": {"api-key-file"},
	"body":    {"body-file"}, "kind": {"mute"}, "code_prefixes": {"code-prefix"}, "headers": {"header-file"}, "expires_at": {"expires"},
}

// flagFor returns the flag or the argument of a command that sets a field.
func flagFor(command *cli.Command, field string) string {
	for _, name := range append(flagNames[field], strings.ReplaceAll(field, "_", "-")) {
		if hasFlag(command, name) {
			return "--" + name
		}
	}
	if strings.EqualFold(field, command.ArgsUsage) {
		return command.ArgsUsage
	}
	return field
}

// ExitCode returns the exit code of an error. Commands that copy databases have other codes
// for a file that exists already, and for another process that is at work.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if status, found := errors.AsType[statusError](err); found {
		return status.code
	}
	for _, known := range []error{
		sqlitestore.ErrNoFile, sqlitestore.ErrNotDatabase, sqlitestore.ErrDamaged, sqlitestore.ErrNewer, sqlitestore.ErrOlder,
		sqlitestore.ErrSchema,
		sqlitestore.ErrServed, sqlitestore.ErrHeld, sqlitestore.ErrMount, sqlitestore.ErrTaken,
		sqlitestore.ErrTwoNames, sqlitestore.ErrKey, sqlitestore.ErrNoRoom, fs.ErrPermission, fs.ErrExist, syscall.EROFS,
	} {
		if errors.Is(err, known) {
			return ExitDatabase
		}
	}
	switch app.CodeOf(err) {
	case app.CodeValidation, app.CodeInvalidJSON:
		if namesNothing(err) {
			return ExitNotFound
		}
		return ExitUsage
	case app.CodeNotFound:
		return ExitNotFound
	case app.CodeConflict, app.CodeAlreadyExists, app.CodeMayBeRepeat, app.CodeLimitReached, app.CodePlanLimit, app.CodePlanExpired,
		app.CodeWebhookDeleted, app.CodeWebhookInactive, app.CodeDeliveryPending, app.CodeSecretLost:
		return ExitConflict
	case app.CodeUnavailable:
		return ExitDatabase
	}
	return ExitError
}

// namesNothing reports whether all fields of err are unknown ids.
func namesNothing(err error) bool {
	var e *app.Error
	return errors.As(err, &e) && len(e.Fields) > 0 &&
		!slices.ContainsFunc(e.Fields, func(f app.FieldError) bool { return f.Text != app.UnknownReference && f.Text != app.NotLinked })
}

// ErrorText returns the text of an error for a user at the terminal. Errors of the service
// have such a text; errors about fields name the flags.
func ErrorText(err error) string {
	var e *app.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if len(e.Fields) == 0 {
		if e.Err != nil {
			return e.Text.EN + " (" + e.Err.Error() + ")"
		}
		return e.Text.EN
	}
	var in commandError
	var parts []string
	for _, f := range e.Fields {
		name := f.Field
		if errors.As(err, &in) {
			name = flagFor(in.command, name)
		}
		parts = append(parts, name+" "+f.Text.EN)
	}
	return strings.Join(parts, "; ")
}
