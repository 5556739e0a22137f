package replica_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/replica"
)

var noon = time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)

// Of the machines that take the same epoch one has it, at every place.
func TestEpochs(t *testing.T) {
	for scheme, open := range apptest.Places {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			at, secret, _ := open(t)
			objects := openPlace(t, at, secret)
			ctx := t.Context()
			apptest.Must(t, replica.TryExclusive(ctx, objects, noon))
			if e, err := replica.Newest(ctx, objects); err != nil || e.Number != 0 {
				t.Errorf("before the first: %v, %v", e, err)
			}
			first := replica.NewEpoch(1, "vps-1", noon)
			apptest.Must(t, first.Take(ctx, objects))
			apptest.Must(t, first.Take(ctx, objects)) // as after an answer that was lost
			if _, taken, err := replica.EpochAfter(ctx, objects, 1); err != nil || taken {
				t.Errorf("after the first: %v, %v", taken, err)
			}
			var wait sync.WaitGroup
			won := make(chan replica.Epoch, 8)
			for i := range 8 {
				wait.Go(func() {
					e := replica.NewEpoch(2, fmt.Sprint("vps-", i/2), noon) // two have the same name
					switch err := e.Take(ctx, objects); {
					case err == nil:
						won <- e
					case !errors.Is(err, replica.ErrEpochTaken):
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if len(won) != 1 {
				t.Fatalf("%d machines have epoch 2", len(won))
			}
			winner := <-won
			if e, taken, err := replica.EpochAfter(ctx, objects, 1); err != nil || !taken || e != winner {
				t.Errorf("%v, %v, %v", e, taken, err)
			}
			if e, err := replica.Newest(ctx, objects); err != nil || e != winner {
				t.Errorf("%v, %v", e, err)
			}
			if at, err := replica.EpochTime(ctx, objects, 2); err != nil || time.Since(at).Abs() > time.Minute {
				t.Errorf("%v, %v", at, err)
			}
		})
	}
}

// Who made the name of an epoch has it, whatever the object holds: a machine may have
// been lost while it wrote it.
func TestDamagedEpoch(t *testing.T) {
	objects := openDir(t, t.TempDir())
	for _, text := range []string{"", "{}", `{"epoch":3,"host":"a","mark":"x"}`, `{"epoch":2,"host":"a b\n","mark":"x"}`, "\x00\xff"} {
		apptest.Must(t, objects.Put(t.Context(), "epochs/000002.json", []byte(text)))
		if e, taken, err := replica.EpochAfter(t.Context(), objects, 1); err != nil || !taken || e != (replica.Epoch{Number: 2}) {
			t.Errorf("%q is %+v, %v, %v", text, e, taken, err)
		}
		if e, err := replica.Newest(t.Context(), objects); err != nil || e.Number != 2 || !strings.Contains(e.String(), "doesn't say by whom") {
			t.Errorf("%q is %v, %v", text, e, err)
		}
		if err := replica.NewEpoch(2, "vps-2", noon).Take(t.Context(), objects); !errors.Is(err, replica.ErrEpochTaken) {
			t.Errorf("%q is taken over: %v", text, err)
		}
	}
}

// A copy counts once an object of it is whole.
func TestLastCopy(t *testing.T) {
	objects := openDir(t, t.TempDir())
	const object = "/ltx/0/0000000000000001-0000000000000001.ltx"
	if c, err := replica.LastCopy(t.Context(), objects, 3); err == nil {
		t.Errorf("an empty place has %v", c)
	}
	for _, name := range []string{"epoch-000002" + object, "epoch-000003" + object + ".tmp", "epoch-000004" + object} {
		apptest.Must(t, objects.Put(t.Context(), name, []byte("x")))
	}
	if c, err := replica.LastCopy(t.Context(), objects, 3); err != nil || c.Epoch != 2 || c.Objects != 1 ||
		time.Since(c.Newest) > time.Minute {
		t.Errorf("%+v, %v", c, err)
	}
}

// Of many epochs without a copy some are searched, so that a wrong number costs no
// million requests.
func TestLastCopyIsNear(t *testing.T) {
	objects := openDir(t, t.TempDir())
	apptest.Must(t, objects.Put(t.Context(), "epoch-000002/ltx/0/0000000000000001-0000000000000001.ltx", []byte("x")))
	if c, err := replica.LastCopy(t.Context(), objects, 1001); err != nil || c.Epoch != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := replica.LastCopy(t.Context(), objects, 1002); err == nil {
		t.Errorf("%+v is far away", c)
	}
}

// A service that knows no conditional writes can't keep two servers apart, and is
// refused.
func TestPlaceWithoutConditions(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // 200 to everything
	defer service.Close()
	objects := openPlace(t, apptest.Place(t, "s3://shop?endpoint="+service.URL), replica.Credentials{AccessKeyID: "a", SecretAccessKey: "b"})
	if err := replica.TryExclusive(t.Context(), objects, noon); err == nil || !strings.Contains(err.Error(), "If-None-Match") {
		t.Errorf("%v", err)
	}
}
