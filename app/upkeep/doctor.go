package upkeep

import (
	"baoco/app"
)

// CheckResult is the result of a check.
type CheckResult string

// The results of a check.
const (
	CheckOK      CheckResult = "ok"
	CheckWarning CheckResult = "warning" // somebody should do something
	CheckFailed  CheckResult = "failed"  // something is wrong
)

// Check is the result of one look of the doctor, which changes nothing.
type Check struct {
	Name   string // of what was checked; scripts may rely on it
	Result CheckResult
	Text   app.Text // what was seen
	Cure   app.Text // what to do; zero: nothing
}

// LostSecret is a webhook, a source, a stream or an alert channel whose secrets can't
// be opened, or were removed for that reason. Somebody must rotate them, or set up
// the channel again.
type LostSecret struct {
	ID, AccountID int64
	Name          string
	Provider      app.Provider // of a source
	Medium        string       // of an alert channel
	Stream        bool         // a stream; with neither of the others: a webhook
	Dropped       bool         // removed for a new key; false: still in the file, unreadable
}

// ReplacedKey is the result of replacing the key.
type ReplacedKey struct {
	Aside string // path of the old key; empty: there was none
	Copy  string // path of a copy of the database from before secrets were removed; empty: none were
	Lost  []LostSecret
}
