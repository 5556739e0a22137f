package serve_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/command/serve"
	"baoco/app/inbound"
	"baoco/app/replica"
	"baoco/app/services"
	"baoco/sqlitestore"
)

func init() { apptest.CheapSecrets() }

// looked is a database whose replica a test writes: Litestream restores what copied last
// copied.
type looked struct {
	*testing.T
	checker *serve.ReplicaChecker
	dir     string // of the objects
	copy    string
	n       int // objects
}

func look(t *testing.T) *looked {
	t.Helper()
	db, dir := apptest.NewFile(t), t.TempDir()
	store := apptest.OpenStore(t, db, false)
	t.Cleanup(func() { apptest.Must(t, store.Close()) })
	l := &looked{T: t, checker: &serve.ReplicaChecker{Store: store}, dir: dir + "/epoch-000001/ltx/0", copy: dir + "/copy.db"}
	program := filepath.Join(dir, "litestream")
	apptest.Must(t,
		os.WriteFile(program,
			[]byte("#!/bin/sh\n[ $1 = version ] && exec echo v0.5.18\nwhile [ \"$1\" != -o ]; do shift; done; exec cp "+app.ShellWord(l.copy)+
				" \"$2\"\n"), 0o700))
	at := apptest.Place(t, "file://"+dir)
	apptest.Must(t, replica.Config{Database: db, Place: at, Epoch: 1, Program: program}.Write())
	objects, err := replica.Open(t.Context(), at, replica.Credentials{})
	apptest.Must(t, err)
	apptest.Must(t, replica.NewEpoch(1, "vps", time.Now()).Take(t.Context(), objects))
	apptest.Must(t, os.MkdirAll(l.dir, 0o700))
	return l
}

// copied has a new object come at a time of the place, with all that the database holds.
func (l *looked) copied(at time.Time) {
	l.Helper()
	_ = os.Remove(l.copy)
	_, err := l.checker.Store.Backup(l.Context(), sqlitestore.BackupTarget{File: l.copy, NoKey: true}, time.Now())
	apptest.Must(l, err)
	l.n++
	apptest.Must(l, os.WriteFile(filepath.Join(l.dir, fmt.Sprintf("%016x-%016x.ltx", l.n, l.n)), nil, 0o600))
	apptest.Must(l, os.Chtimes(l.dir, at, at))
}

func (l *looked) says(when string, now time.Time, want string) {
	l.Helper()
	if c := l.checker.Look(l.Context(), now); want == "" && c.Problem != (app.Text{}) || !strings.Contains(c.Problem.EN, want) {
		l.Errorf("%s: %+v, want %q", when, c, want)
	}
}

// What a look finds, minute for minute.
func TestLook(t *testing.T) {
	t.Parallel()
	l, began := look(t), time.Now()
	minute := func(n int) time.Time { return began.Add(time.Duration(n) * time.Minute) }
	l.says("at the start", minute(0), "")
	l.says("without a copy", minute(3), "Nothing new has come to the replica for 3 minutes")
	l.copied(minute(3))
	l.says("with one", minute(4), "")
	l.says("a minute later", minute(5), "")
	l.says("two minutes later", minute(6), "")
	l.says("three minutes later", minute(7), "Nothing new has come to the replica for 3 minutes")
	l.copied(minute(7))
	l.says("once something came", minute(8), "")
	apptest.Must(t, os.Remove(filepath.Join(l.dir, "0000000000000001-0000000000000001.ltx")))
	apptest.Must(t, os.WriteFile(l.copy, []byte("garbage"), 0o600))
	l.says("an object less", minute(9), "can’t be restored")
	l.copied(minute(60)) // the next restore waits nine times as long as the last one took
	l.says("once it can be restored again", minute(61), "")
}

// A copy is compared with the database up to its own last transaction: what came later it
// lacks, which is no difference for a while.
func TestCheckCompares(t *testing.T) {
	t.Parallel()
	l, now := look(t), time.Now()
	s := apptest.Over(t, l.checker.Store, services.Config{})
	_, err := s.Inbound.LinkBankAccount(t.Context(), 1,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "A"}, now)
	apptest.Must(t, err)
	record := func(id string, at time.Time) {
		t.Helper()
		_, _, err := s.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: 1000, Time: now,
		}}, at)
		apptest.Must(t, err)
	}
	check := func(when string, at time.Time, behind time.Duration, says string) {
		t.Helper()
		c := l.checker.Check(t.Context(), at)
		if c.Behind < behind || c.Behind > behind+time.Second || says == "" && c.Problem != (app.Text{}) ||
			!strings.Contains(c.Problem.EN, says) || c.Transactions != 1 {
			t.Errorf("%s: %+v, want %v behind and %q", when, c, behind, says)
		}
	}
	record("1", now.Add(-time.Hour))
	l.copied(now)
	check("with all of it", now, 0, "")
	record("2", now.Add(-90*time.Second))
	record("3", now)
	check("with two less", now, 90*time.Second, "90 seconds behind and lacks 2 transactions")
	db, err := sql.Open("sqlite", "file:"+l.copy)
	apptest.Must(t, err)
	_, err = db.Exec(`UPDATE transactions SET amount = amount + 1; UPDATE bank_account_days SET amount = amount + 1`)
	apptest.Must(t, errors.Join(err, db.Close()))
	check("with another amount", now, 90*time.Second, "holds other transactions")
}

// Where transactions are recorded and nothing comes to the place, the next look restores
// the copy, and says what it lacks.
func TestLookUnderAWritingServer(t *testing.T) {
	t.Parallel()
	l, began := look(t), time.Now()
	s := apptest.Over(t, l.checker.Store, services.Config{})
	_, err := s.Inbound.LinkBankAccount(t.Context(), 1,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "A"}, began)
	apptest.Must(t, err)
	l.copied(began)
	l.says("with all of it", began, "")
	l.says("half a minute later", began.Add(30*time.Second), "")
	for i := range 3 {
		_, _, err := s.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint(i), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: 1000, Time: began,
		}}, began.Add(40*time.Second))
		apptest.Must(t, err)
	}
	l.says("a moment after three payments", began.Add(45*time.Second), "")
	l.says("twenty seconds after them", began.Add(time.Minute), "lacks 3 transactions")
	l.copied(began.Add(time.Hour))
	l.says("once they have come", began.Add(time.Hour+time.Second), "")
}

// A database whose configuration of a replica can't be used has one all the same: somebody
// must know that nothing watches it.
func TestReplicatedWithoutAUsableConfiguration(t *testing.T) {
	t.Parallel()
	l := look(t)
	file := replica.ConfigPath(l.checker.Store.Path())
	apptest.Must(t, os.WriteFile(file, []byte("dbs: []\n"), 0o600))
	if !l.checker.Replicated() {
		t.Error("it has no replica")
	}
	l.says("with another configuration", time.Now(), "can’t be read")
	apptest.Must(t, os.Remove(file))
	if l.checker.Replicated() {
		t.Error("it still has a replica")
	}
}

// The clock of a place tells that ours is wrong, for as long as it is.
func TestLookAtClock(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]time.Duration{"slow": -time.Hour, "fast": time.Hour} {
		l, began := look(t), time.Now()
		minute := func(n int, want string, wrong time.Duration) {
			at := began.Add(time.Duration(n) * time.Minute)
			l.copied(at)
			l.says(fmt.Sprint("minute ", n, ", clock ", name), at.Add(time.Second+wrong), want)
		}
		minute(0, "", 0)
		minute(1, "", 0)
		l.copied(began.Add(2 * time.Minute))
		l.checker.Look(t.Context(), began.Add(2*time.Minute+wrong)) // the time that went by is fast, too
		for n := range 3 {
			minute(3+n, "differs from that of the replica’s place by 60 minutes", wrong)
		}
		l.copied(began.Add(6 * time.Minute))
		l.checker.Look(t.Context(), began.Add(6*time.Minute))
		minute(7, "", 0)
	}
}

// Without its epoch no other machine finds a copy.
func TestLookForEpoch(t *testing.T) {
	t.Parallel()
	l, now := look(t), time.Now()
	l.copied(now)
	l.says("with the epoch", now, "")
	apptest.Must(t, os.RemoveAll(filepath.Join(l.dir, "../../../epochs")))
	l.says("once it is gone", now, "lies no epoch 1")
}

// A sealed key beside a copy is the right one, and stays there.
func TestLookForKey(t *testing.T) {
	t.Parallel()
	l, now := look(t), time.Now()
	file := filepath.Join(l.dir, "../../../key.sealed")
	seal := func(key string) {
		sealed, err := replica.SealKey([]byte(key), "five words that are long")
		apptest.Must(t, err)
		apptest.Must(t, os.WriteFile(file, sealed, 0o600))
	}
	l.copied(now)
	l.says("without one", now, "")
	seal("another key")
	l.says("another's", now, "isn’t that of this database")
	key, err := l.checker.Store.Key()
	apptest.Must(t, err)
	seal(string(key))
	l.says("the right one", now, "")
	apptest.Must(t, os.Remove(file))
	l.says("once it is gone", now, "is gone")
}
