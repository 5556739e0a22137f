package upkeep

import (
	"math"
	"time"

	"baoco/app"
)

// A replica is a copy of the file on another disk, which the program Litestream writes.
// Package replica knows the place and how to reach it. This file has the beats in the
// database, and the rule by which a copy is good.

// BeatInterval is the time between two beats in a file that has a replica.
const BeatInterval = time.Minute

// Beat is a number and a time in the file. A server writes one every minute, so that a
// copy shows its age even if no money came in.
type Beat struct {
	Sequence int64 // 0: there never was one
	At       time.Time
}

// CopyFacts are the sums of the money in a file or its copy, up to one transaction.
type CopyFacts struct {
	Beat         Beat
	NewestID     int64 // of that transaction; 0: there is none
	Transactions int64
	In, Out      int64 // amounts of all accounts, modulo 2^64: they are compared, and never shown
}

// ReplicaCheck is the result of a look at the replica.
type ReplicaCheck struct {
	At           time.Time
	Place        string
	CheckedAt    time.Time     // when the copy was last restored and compared; zero: not yet
	Took         time.Duration // of that check
	Written      time.Time     // when a look last found something new at the place
	Behind       time.Duration // the age of the oldest transaction that isn't in the copy; 0: all are
	Transactions int64         // in the copy
	Problem      app.Text      // zero: the copy is good
	Differs      bool          // the copy holds other money than the file
}

// AllCopied is greater than every id.
const AllCopied int64 = math.MaxInt64

// StaleCopy is the greatest age of a transaction that isn't in a good copy yet. Litestream
// copies every second.
const StaleCopy = 10 * time.Second

// RestartLitestream is the advice if nothing new comes to the copy.
var RestartLitestream = app.Text{
	EN: "See whether Litestream runs: systemctl status baoco-litestream. After errors of the place, as when it was full, it waits longer " +
		"and longer before it tries again: once the place has room, systemctl restart baoco-litestream.",
	VI: "Hãy kiểm tra Litestream: systemctl status baoco-litestream. Sau khi nơi lưu báo lỗi, ví dụ bị đầy, Litestream thử lại ngày càng " +
		"thưa: khi đã có chỗ trống, hãy chạy systemctl restart baoco-litestream.",
}

// CheckCopy compares a copy with the file. before are the facts of the file when the
// restore of the copy began, same those of the file up to the copy's newest transaction.
// missing is when the first transaction was recorded that isn't in the copy; zero: none.
func CheckCopy(before, same, held CopyFacts, missing, now time.Time) ReplicaCheck {
	c := ReplicaCheck{At: now, Transactions: held.Transactions}
	if held.Beat.Sequence < before.Beat.Sequence {
		next := held.Beat.At.Add(BeatInterval)
		if held.Beat.Sequence == before.Beat.Sequence-1 || next.After(before.Beat.At) {
			next = before.Beat.At
		}
		if missing.IsZero() || next.Before(missing) {
			missing = next
		}
	}
	if !missing.IsZero() {
		c.Behind = max(0, now.Sub(missing))
	}
	same.Beat, held.Beat = Beat{}, Beat{}
	switch {
	case held != same:
		c.Differs = true
		c.Problem = app.Text{EN: "The replica holds other transactions than the database. Begin a new one: baoco replica setup --anew.",
			VI: "Bản sao ngoài máy có giao dịch khác với cơ sở dữ liệu. Hãy bắt đầu bản mới: baoco replica setup --anew."}
	case c.Behind > StaleCopy:
		lacks := before.Transactions - held.Transactions
		c.Problem = app.Textf(
			"The replica is %d seconds behind and lacks %d transactions: if this machine is lost, so are they.",
			"Bản sao ngoài máy chậm %d giây và thiếu %d giao dịch: nếu máy này hỏng thì các giao dịch đó cũng mất.", int(c.Behind/time.Second),
			max(0, int(lacks))).And(RestartLitestream)
	}
	return c
}

// checkLate is by how much a look at the replica may be late, in addition to the time of
// a check.
const checkLate = 150 * time.Second

// SetReplicaCheck keeps the last look at the replica; nil: there is no replica.
func (s *Service) SetReplicaCheck(c *ReplicaCheck) { s.replica.Store(c) }

// ReplicaCheck returns the result of the last look at the replica. If that is too long ago
// at now, the result says so. ok is false if there was no look.
func (s *Service) ReplicaCheck(now time.Time) (c ReplicaCheck, ok bool) {
	last := s.replica.Load()
	if last == nil {
		return c, false
	}
	if c = *last; c.Problem == (app.Text{}) && now.Sub(c.At) > checkLate+2*c.Took {
		c.Problem = app.Text{EN: "Nobody has looked at the replica for some minutes. The log says why.",
			VI: "Đã vài phút chưa kiểm tra được bản sao ngoài máy, nhật ký có ghi lý do."}
	}
	return c, true
}

// replicaWarning warns if the replica couldn't replace the file.
func (s *Service) replicaWarning(now time.Time) (w Warning, bad bool) {
	c, _ := s.ReplicaCheck(now)
	return Warning{Text: c.Problem, Name: WarningReplica, Grave: true}, c.Problem != app.Text{}
}
