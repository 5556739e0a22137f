package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The commands, what they say and their exit codes.
func TestBackupCommands(t *testing.T) {
	db, dir := database(t), t.TempDir()
	t.Setenv("BAOCO_DB", db)
	file := filepath.Join(dir, "b.db")
	if code, _, stderr := baoco("", "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A"); code != exitOK {
		t.Fatal(stderr)
	}
	if code, _, stderr := baoco("", "transaction", "add", "--amount", "1000"); code != exitOK {
		t.Fatal(stderr)
	}
	notThere := filepath.Join(dir, "none")
	for _, c := range []struct {
		args   []string
		code   int
		stdout string // a part
		stderr string
	}{
		{[]string{"backup"}, exitUsage, "", "takes one argument"},
		{[]string{"backup", file, "--keep", "3"}, exitUsage, "", "--keep"},
		{[]string{"backup", "--dir", dir, "--keep", "0"}, exitUsage, "", "--keep"},
		{[]string{"backup", "--dir", dir, file}, exitUsage, "", "no file"},
		{[]string{"backup", dir}, exitUsage, "", "is a directory"},
		{[]string{"backup", "--dir", notThere}, exitDatabase, "", "no such file"},
		{[]string{"backup", db, "--force"}, exitConflict, "", "in use"},
		{[]string{"backup", file, "--db", notThere}, exitDatabase, "", "no such database"},
		{[]string{"backup", file}, exitOK, "b.db.key: restoring takes both", ""},
		{[]string{"backup", file}, exitConflict, "", "--force replaces it"},
		{[]string{"backup", "--force", file, "--no-key"}, exitOK, "The key was left out", ""},
		{[]string{"restore"}, exitUsage, "", "takes one argument"},
		{[]string{"restore", notThere}, exitDatabase, "", "no such database"},
		{[]string{"restore", file, "--dry-run"}, exitOK, "Would be set aside: " + db, ""},
		{[]string{"restore", file, "--key", notThere}, exitDatabase, "", "is missing"},
		{[]string{"restore", file}, exitOK, "It holds 1 transaction, the newest (1) recorded at", ""},
		{[]string{"restore", file, "--db", filepath.Join(dir, "new.db")}, exitOK, "There was no database in its place.", ""},
	} {
		code, stdout, stderr := baoco("", c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || (code == exitOK) != (stderr == "") {
			t.Errorf("baoco %s: exit %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", strings.Join(c.args, " "), code, c.code, c.stdout, stdout, c.stderr, stderr)
		}
	}
	var made backupJSON
	code, stdout, stderr := baoco("", "backup", "--dir", dir, "--keep", "1", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &made); err != nil || code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if filepath.Dir(made.File) != dir || made.Key == nil || *made.Key != made.File+".key" || made.Transactions != 1 || *made.NewestTransactionID != "1" || len(made.Left) != 0 {
		t.Errorf("%s", stdout)
	}
	var restored restoreJSON
	code, stdout, stderr = baoco("", "restore", made.File, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &restored); err != nil || code != exitOK || restored.Database != db || len(restored.SetAside) != 2 || restored.Finished != nil {
		t.Errorf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
}

// The kept certificate is read as autocert writes it: key first, then the chain.
func TestCertificateEnd(t *testing.T) {
	s := settings{db: filepath.Join(t.TempDir(), "baoco.db"), domain: "baoco.shop.vn"}
	if certificateEnd(settings{}) != nil {
		t.Error("a certificate without a domain")
	}
	if end := certificateEnd(s)(t.Context()); !end.IsZero() {
		t.Errorf("before the first: %v", end)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	want := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	leaf, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: want}, &x509.Certificate{SerialNumber: big.NewInt(2)}, &key.PublicKey, key)
	must(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	kept := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf})...)
	must(t, s.certificates().Put(t.Context(), s.domain, kept))
	if end := certificateEnd(s)(t.Context()); !end.Equal(want) {
		t.Errorf("%v, want %v", end, want)
	}
	for _, broken := range [][]byte{nil, kept[:200], []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")} {
		must(t, s.certificates().Put(t.Context(), s.domain, broken))
		if end := certificateEnd(s)(t.Context()); !end.IsZero() {
			t.Errorf("%q ends at %v", broken, end)
		}
	}
}
