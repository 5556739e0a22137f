package replica_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/replica"
)

// Every place keeps the same rules, in the program that people run behind it.
func TestObjects(t *testing.T) {
	for scheme, open := range apptest.Places {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			at, secret, dir := open(t)
			objects := openPlace(t, at, secret)
			objectsOf(t, objects)
			if scheme != replica.S3 {
				timesOf(t, objects, dir)
			}
			if scheme == replica.File {
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := objects.Get(ctx, "made"); !errors.Is(err, context.Canceled) {
				t.Errorf("with nobody waiting: %v", err)
			}
		})
	}
}

func objectsOf(t *testing.T, objects replica.Objects) {
	ctx := t.Context()
	if _, err := objects.Get(ctx, "made"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an object that isn't there: %v", err)
	}
	if list, err := objects.List(ctx, "epoch-000001"); err != nil || len(list) > 0 {
		t.Errorf("a directory that isn't there: %v, %v", list, err)
	}
	apptest.Must(t, objects.Create(ctx, "made", []byte("once")))
	if err := objects.Create(ctx, "made", []byte("twice")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if data, err := objects.Get(ctx, "made"); err != nil || string(data) != "once" {
		t.Errorf("%q, %v", data, err)
	}
	apptest.Must(t, errors.Join(objects.Put(ctx, "kept", []byte("old")), objects.Put(ctx, "kept", []byte("new"))))
	if data, err := objects.Get(ctx, "kept"); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	const name = "epoch-000001/ltx/0/a b+c=d.ltx"
	apptest.Must(t, errors.Join(objects.Put(ctx, name, []byte("12345")), objects.Put(ctx, "epoch-000010/x", nil)))
	list, err := objects.List(ctx, "epoch-000001")
	if err != nil || len(list) != 1 || list[0].Name != name || list[0].Size != 5 || time.Since(list[0].Modified).Abs() > time.Minute {
		t.Errorf("%+v, %v", list, err)
	}
	if err := objects.Put(ctx, "large", make([]byte, 70_000)); err != nil {
		t.Error(err)
	}
	if data, err := objects.Get(ctx, "large"); err == nil {
		t.Errorf("%d bytes were read", len(data))
	}

	// Of many at once one succeeds.
	var wait sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 12 {
		wait.Go(func() {
			switch err := objects.Create(ctx, "raced", fmt.Append(nil, i)); {
			case err == nil:
				mu.Lock()
				won++
				mu.Unlock()
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if won != 1 {
		t.Errorf("%d created the same object", won)
	}
	if list, err := objects.List(ctx, "raced"); err != nil || len(list) > 1 {
		t.Errorf("drafts were left: %v, %v", list, err)
	}
}

// Litestream dates its files itself, by a clock that may be wrong. A list says when they
// came, and when one was changed.
func timesOf(t *testing.T, objects replica.Objects, dir string) {
	t.Helper()
	const name = "epoch-000001/ltx/0/a b+c=d.ltx"
	var tags []string
	for _, wrong := range []time.Duration{-time.Hour, time.Hour} {
		apptest.Must(t, os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(wrong)))
		list, err := objects.List(t.Context(), "epoch-000001")
		if err != nil || len(list) != 1 || time.Since(list[0].Modified).Abs() > time.Minute {
			t.Fatalf("%v: %+v, %v", wrong, list, err)
		}
		tags = append(tags, list[0].Tag)
	}
	if tags[0] == tags[1] {
		t.Errorf("the tag of a changed file is %s", tags[0])
	}
}

// A takeover restores a copy and waits for a server between two requests: a connection
// that has ended meanwhile is made anew.
func TestIdleConnection(t *testing.T) {
	t.Parallel()
	at, secret, _ := apptest.Places[replica.SFTP](t)
	objects := openPlace(t, at, secret)
	apptest.Must(t, objects.Put(t.Context(), "kept", []byte("old")))
	replica.LetIdle(objects)
	if data, err := objects.Get(t.Context(), "kept"); err != nil || string(data) != "old" {
		t.Errorf("after the connection ended: %q, %v", data, err)
	}
}

// A list longer than a page of a bucket is read to its end.
func TestLongListOfBucket(t *testing.T) {
	t.Parallel()
	at, secret, _ := apptest.Places[replica.S3](t)
	objects := openPlace(t, at, secret)
	for i := range 1203 {
		apptest.Must(t, objects.Put(t.Context(), fmt.Sprintf("long/%05d", i), []byte("x")))
	}
	if list, err := objects.List(t.Context(), "long"); err != nil || len(list) != 1203 {
		t.Errorf("%d objects, %v", len(list), err)
	}
}

// A server with another key, and wrong credentials, are refused without a word of them.
func TestRefusedPlaces(t *testing.T) {
	t.Parallel()
	at, secret, _ := apptest.Places[replica.SFTP](t)
	key, public := apptest.SSHKey(t)
	for name, c := range map[string]replica.Credentials{
		"another host key":  {KeyFile: secret.KeyFile, HostKey: public},
		"a wrong password":  {Password: "Hunter2", HostKey: secret.HostKey},
		"a key not allowed": {KeyFile: key, HostKey: secret.HostKey},
	} {
		if _, err := replica.Open(t.Context(), at, c); err == nil || strings.Contains(err.Error(), "Hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	bucket, wrong, _ := apptest.Places[replica.S3](t)
	wrong.SecretAccessKey = "Hunter2"
	if _, err := openPlace(t, bucket, wrong).Get(t.Context(), "made"); err == nil || errors.Is(err, fs.ErrNotExist) ||
		strings.Contains(err.Error(), "Hunter2") {
		t.Errorf("a wrong key of the bucket: %v", err)
	}
}

// A service that sends a request on to another host can't have it signed for that one.
func TestBucketSendsOn(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s came, with the headers %v", r.Method, r.URL, r.Header)
	}))
	defer other.Close()
	service := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer service.Close()
	objects := openPlace(t, apptest.Place(t, "s3://shop-replica?endpoint="+service.URL),
		replica.Credentials{AccessKeyID: "a", SecretAccessKey: "b"})
	if _, err := objects.Get(t.Context(), "made"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read: %v", err)
	}
	if err := objects.Create(t.Context(), "made", []byte("x")); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("create: %v", err)
	}
}

func openPlace(t *testing.T, at replica.Place, secret replica.Credentials) replica.Objects {
	t.Helper()
	objects, err := replica.Open(t.Context(), at, secret)
	apptest.Must(t, err)
	t.Cleanup(func() { objects.Close() })
	return objects
}

// openDir opens a place of this machine.
func openDir(t *testing.T, dir string) replica.Objects {
	t.Helper()
	return openPlace(t, apptest.Place(t, "file://"+dir), replica.Credentials{})
}
