package replica_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/replica"
)

// script makes a program of shell.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "litestream")
	apptest.Must(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return file
}

func TestFindProgram(t *testing.T) {
	for version, good := range map[string]bool{
		"v0.5.17": true, "0.5.18": true, "v0.6.0": true, "v1.0.0": true, "v0.5.18+vn1": true,
		"v0.5.16": false, "v0.3.13": false, "0.5.9": false, "v0.5.18-beta.1": false, "(development build)": false, "": false, "0.5": false,
		"v0.5.18 or so": false,
	} {
		program, err := replica.FindProgram(t.Context(), script(t, "echo '"+version+"'"))
		if good && (err != nil || program.Version != version) {
			t.Errorf("%s: %v, %v", version, program, err)
		}
		if !good && (!errors.Is(err, replica.ErrOldProgram) || !strings.Contains(err.Error(), "SQLite")) {
			t.Errorf("%s: %v", version, err)
		}
	}
	if _, err := replica.FindProgram(t.Context(), "/nowhere/litestream"); err == nil {
		t.Error("a program was found where there is none")
	}
}

// What the program is given, and what is kept of what it says.
func TestRestoreRunsTheProgram(t *testing.T) {
	const secret = "Hunter2"
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	dir := t.TempDir()
	c := replica.Config{Database: filepath.Join(dir, "baoco.db"), Place: apptest.Place(t, "s3://shop?region=x1"), Epoch: 7,
		Credentials: replica.Credentials{AccessKeyID: "a", SecretAccessKey: secret}}
	program := replica.Program{Path: script(t,
		`cd `+app.ShellWord(dir)+
			`; echo "$@" > args; env > env; cat > config; head -c 100000 /dev/zero | tr '\0' x; printf '\033[31mno such bucket\n'; exit 3`)}
	err := program.Restore(t.Context(), c, filepath.Join(dir, "to"))
	if err == nil || !strings.HasSuffix(err.Error(), "no such bucket") || len(err.Error()) > 10_000 || strings.Contains(err.Error(), "\033") {
		t.Errorf("the error is %.100q", fmt.Sprint(err))
	}
	for name, want := range map[string]bool{"args": false, "env": false, "config": true} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		apptest.Must(t, err)
		if strings.Contains(string(text), secret) != want {
			t.Errorf("the secret is in %s: %v\n%s", name, !want, text)
		}
	}
	write(t, dir, "to", "")
	if err := program.Restore(t.Context(), c, filepath.Join(dir, "to")); !errors.Is(err, os.ErrExist) {
		t.Errorf("onto a file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := program.Restore(ctx, c, filepath.Join(dir, "other")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The real program reads each configuration as it was meant.
func TestLitestreamReadsConfig(t *testing.T) {
	program, dir := apptest.Litestream(t), t.TempDir()
	c := replica.Config{Database: write(t, dir, "shop's.db", ""), Place: apptest.Place(t, "file://"+dir+"/to"), Epoch: 1}
	apptest.Must(t, program.Reach(t.Context(), c))
	if err := program.Restore(t.Context(), c, filepath.Join(dir, "copy")); err == nil || !strings.Contains(err.Error(), "no matching backup") {
		t.Errorf("of nothing is restored: %v", err)
	}
}
