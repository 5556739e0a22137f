package app

// CheckResult is what came of a check.
type CheckResult string

// The results of a check.
const (
	CheckOK      CheckResult = "ok"
	CheckWarning CheckResult = "warning" // somebody should do something
	CheckFailed  CheckResult = "failed"  // something is wrong
)

// Check is one thing that was looked at in an installation, by a doctor who
// leaves everything as it is.
type Check struct {
	Name   string // of the thing: the same for ever
	Result CheckResult
	Text   Text // what was seen
	Cure   Text // what to do; zero: nothing
}

// LostSecret is a webhook, a source or an alert channel whose secrets can't be
// read, or were dropped for that: somebody must rotate them, or set the channel
// up anew.
type LostSecret struct {
	ID, AccountID int64
	Name          string
	Provider      Provider    // of a source
	Medium        AlertMedium // of an alert channel; neither: a webhook
	Dropped       bool        // for a new key; false: it stands in the file and can't be read
}

// ReplacedKey is what came of a new key.
type ReplacedKey struct {
	Aside string // the file of the old key; empty: there was none
	Copy  string // of the database with the secrets that were dropped; empty: this run dropped none
	Lost  []LostSecret
}
