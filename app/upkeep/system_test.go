package upkeep_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app/upkeep"
)

func TestWarnings(t *testing.T) {
	sound := upkeep.StorageStatus{Path: "/var/lib/baoco.db", Free: 10 << 30, FileMode: 0o600, KeyMode: 0o600, LogSize: 1 << 20}
	safe := upkeep.Installation{Listen: "127.0.0.1:8080", BaseURL: "https://baoco.shop.vn"}
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		in      upkeep.Installation
		storage func(*upkeep.StorageStatus)
		backup  upkeep.BackupStatus
		ends    time.Time // the certificate
		says    string    // empty: nothing
		grave   bool
	}{
		{name: "all is well", in: safe},
		{name: "behind a proxy", in: upkeep.Installation{Listen: "0.0.0.0:8080", BaseURL: "https://baoco.shop.vn"}},
		{name: "own certificate", in: upkeep.Installation{Listen: "127.0.0.1:8080", Domain: "baoco.shop.vn", BaseURL: "https://baoco.shop.vn"}},
		{name: "this machine by name", in: upkeep.Installation{Listen: "localhost:8080", BaseURL: "http://localhost:8080"}},
		{name: "this machine, IPv6", in: upkeep.Installation{Listen: "[::1]:8080", BaseURL: "http://[::1]:8080"}},
		{name: "every address", in: upkeep.Installation{Listen: ":8080", BaseURL: "http://shop.vn"}, says: "unencrypted", grave: true},
		{name: "a private address", in: upkeep.Installation{Listen: "192.168.1.5:8080", BaseURL: "http://192.168.1.5:8080"},
			says: "unencrypted", grave: true},
		{name: "a name", in: upkeep.Installation{Listen: "shop.vn:8080", BaseURL: "http://shop.vn"}, says: "unencrypted", grave: true},
		{name: "no base URL", in: upkeep.Installation{Listen: "127.0.0.1:8080"}, says: "--base-url"},
		{name: "disk nearly full", in: safe, storage: func(s *upkeep.StorageStatus) { s.Free = 100 << 20 }, says: "Only 100 MB", grave: true},
		{name: "disk full", in: safe, storage: func(s *upkeep.StorageStatus) { s.Free = 0 }, says: "Only 0 MB", grave: true},
		{name: "disk unknown", in: safe, storage: func(s *upkeep.StorageStatus) { s.Free = -1 }},
		{name: "key for the group", in: safe, storage: func(s *upkeep.StorageStatus) { s.KeyMode = 0o640 },
			says: "chmod 600 /var/lib/baoco.db.key", grave: true},
		{name: "file for everybody", in: safe, storage: func(s *upkeep.StorageStatus) { s.FileMode = 0o604 },
			says: "chmod 600 /var/lib/baoco.db", grave: true},
		{name: "young, no backup", in: safe, backup: upkeep.BackupStatus{FirstAt: now.AddDate(0, 0, -6)}},
		{name: "no backup", in: safe, backup: upkeep.BackupStatus{FirstAt: now.AddDate(0, 0, -8)}, says: "There is no backup yet", grave: true},
		{name: "backed up", in: safe,
			backup: upkeep.BackupStatus{FirstAt: now.AddDate(-1, 0, 0), Last: upkeep.Backup{At: now.AddDate(0, 0, -6)}}},
		{name: "old backup", in: safe, backup: upkeep.BackupStatus{FirstAt: now.AddDate(-1, 0, 0),
			Last: upkeep.Backup{At: now.AddDate(0, 0, -8)}}, says: "is 8 days old", grave: true},
		{name: "nothing to back up", in: safe, backup: upkeep.BackupStatus{Last: upkeep.Backup{At: now.AddDate(-1, 0, 0)}}},
		{name: "young certificate", in: safe, ends: now.AddDate(0, 0, 15)},
		{name: "old certificate", in: safe, ends: now.AddDate(0, 0, 13), says: "expires in 13 days", grave: true},
		{name: "expired certificate", in: safe, ends: now.Add(-time.Minute), says: "has expired", grave: true},
		{name: "own certificate in a file", in: upkeep.Installation{Listen: ":443", CertFile: "/etc/x.pem", BaseURL: "https://baoco.shop.vn"},
			ends: now.AddDate(0, 0, 3), says: "--cert-file expires in 3 days", grave: true},
		{name: "a socket", in: upkeep.Installation{Listen: "unix:/run/baoco/baoco.sock", BaseURL: "http://baoco.shop.vn"}},
		{name: "no public address", in: upkeep.Installation{Listen: "127.0.0.1:8080"}, says: "URLs begin with the address that you opened it at"},
		{name: "few files", in: upkeep.Installation{Listen: "127.0.0.1:8080", BaseURL: "https://baoco.shop.vn", Files: 1024},
			says: "only 1024 files"},
		{name: "enough files", in: upkeep.Installation{Listen: "127.0.0.1:8080", BaseURL: "https://baoco.shop.vn", Files: 2048}},
		{name: "large log", in: safe, storage: func(s *upkeep.StorageStatus) { s.LogSize = 1 << 30 }, says: "1024 MB"},
	} {
		storage := sound
		if c.storage != nil {
			c.storage(&storage)
		}
		list := upkeep.Warnings(c.in, storage, c.backup, upkeep.CertificateStatus{End: c.ends}, now)
		switch {
		case c.says == "" && len(list) > 0:
			t.Errorf("%s: %+v", c.name, list)
		case c.says != "" && (len(list) != 1 || !strings.Contains(list[0].EN, c.says) || list[0].VI == "" || list[0].Grave != c.grave):
			t.Errorf("%s: %+v, want one that says %q, grave %v", c.name, list, c.says, c.grave)
		}
	}
}
