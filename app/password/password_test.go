package password_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"baoco/app/password"
)

func hashOf(t *testing.T, secret string) string {
	t.Helper()
	hash, err := password.Hash(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func matches(t *testing.T, hash, secret string) bool {
	t.Helper()
	known, err := password.Matches(t.Context(), hash, secret)
	stranger, strangerErr := password.MatchesStranger(t.Context(), hash, secret)
	if err != nil || strangerErr != nil || known != stranger {
		t.Fatalf("%v, %v; of a stranger %v, %v", known, err, stranger, strangerErr)
	}
	return known
}

// Nobody waits for a password longer than their request lives.
func TestWaitEnds(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, hash := password.Hash(ended, "a")
	_, known := password.Matches(ended, "", "a")
	_, stranger := password.MatchesStranger(ended, "", "a")
	for _, err := range []error{hash, known, stranger} {
		if !errors.Is(err, password.ErrBusy) {
			t.Errorf("whoever has gone waits on: %v", err)
		}
	}
}

func TestHash(t *testing.T) {
	hash := hashOf(t, "mật khẩu dài")
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "mật") {
		t.Fatalf("hash %q", hash)
	}
	if !matches(t, hash, "mật khẩu dài") {
		t.Error("its own password doesn't match")
	}
	for _, other := range []string{"", "mật khẩu dài ", "mat khau dai", "Mật khẩu dài"} {
		if matches(t, hash, other) {
			t.Errorf("%q matches", other)
		}
	}
	if again := hashOf(t, "mật khẩu dài"); again == hash {
		t.Error("two hashes are alike: there is no salt")
	}
}

// The hash was made by the reference implementation:
// echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -e
func TestHashOfAnotherTool(t *testing.T) {
	const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if !matches(t, hash, "password") || matches(t, hash, "Password") {
		t.Error("a hash of the reference implementation is judged wrongly")
	}
}

func TestHashThatIsNone(t *testing.T) {
	good := hashOf(t, "p")
	for _, hash := range []string{
		"", "$", "p", "$$$$$", strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=18", 1),
		strings.Replace(good, "m=19456", "m=4000000000", 1), strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1),
		good[:strings.LastIndex(good, "$")+1], good + "$", good[:len(good)-1] + "!",
	} {
		for _, secret := range []string{"p", ""} {
			if ok, err := password.Matches(t.Context(), hash, secret); ok || err != nil {
				t.Errorf("%q matches %q: %v", hash, secret, err)
			}
		}
	}
}
