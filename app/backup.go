package app

import "time"

// Contents is what a person can recognise a database file by.
type Contents struct {
	Schema       int
	Accounts     int64
	Transactions int64     // of all accounts
	NewestID     int64     // of the transactions; 0: there is none
	NewestAt     time.Time // when that one was recorded
	Pending      int64     // deliveries that are still to be attempted
	Zone         string    // of the installation
}

// Backup is a complete copy of the database, verified after it was written.
type Backup struct {
	Path    string // absolute
	Size    int64  // in bytes
	At      time.Time
	WithKey bool // the key that opens its secrets stands beside it
}

// BackupStatus is what the database knows about its backups.
type BackupStatus struct {
	Last    Backup    // zero: there never was one
	FirstAt time.Time // when the oldest transaction was recorded; zero: there is none
}

// backupAge is how old the last backup may be, and the oldest transaction
// without any.
const backupAge = 7 * 24 * time.Hour

// warning is the warning that there are transactions older than backupAge and no
// backup younger than that.
func (b BackupStatus) warning(now time.Time) (w Warning, overdue bool) {
	if b.FirstAt.IsZero() || now.Sub(b.FirstAt) <= backupAge || !b.Last.At.IsZero() && now.Sub(b.Last.At) <= backupAge {
		return w, false
	}
	text := Text{
		"There is no backup yet. If the disk fails, every transaction is lost.",
		"Chưa có bản sao lưu nào: nếu ổ đĩa hỏng, mọi giao dịch sẽ mất.",
	}
	if !b.Last.At.IsZero() {
		text = Textf(
			"The last backup is %d days old. If the disk fails, every transaction since is lost.",
			"Bản sao lưu gần nhất đã %d ngày trước: nếu ổ đĩa hỏng, các giao dịch sau đó sẽ mất.", int(now.Sub(b.Last.At)/(24*time.Hour)))
	}
	return Warning{Text: text, Name: WarningBackup, Grave: true}, true
}
