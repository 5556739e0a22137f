package password_test

import (
	"strings"
	"testing"

	"baoco/app/password"
)

func TestHash(t *testing.T) {
	hash := password.Hash("mật khẩu dài")
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "mật") {
		t.Fatalf("hash %q", hash)
	}
	if !password.Matches(hash, "mật khẩu dài") {
		t.Error("its own password doesn't match")
	}
	for _, other := range []string{"", "mật khẩu dài ", "mat khau dai", "Mật khẩu dài"} {
		if password.Matches(hash, other) {
			t.Errorf("%q matches", other)
		}
	}
	if again := password.Hash("mật khẩu dài"); again == hash {
		t.Error("two hashes are alike: there is no salt")
	}
}

// The hash was made by the reference implementation:
// echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -e
func TestHashOfAnotherTool(t *testing.T) {
	const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if !password.Matches(hash, "password") || password.Matches(hash, "Password") {
		t.Error("a hash of the reference implementation is judged wrongly")
	}
}

func TestHashThatIsNone(t *testing.T) {
	good := password.Hash("p")
	for _, hash := range []string{
		"", "$", "p", "$$$$$", strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=18", 1),
		strings.Replace(good, "m=19456", "m=4000000000", 1), strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1),
		good[:strings.LastIndex(good, "$")+1], good + "$", good[:len(good)-1] + "!",
	} {
		if password.Matches(hash, "p") || password.Matches(hash, "") {
			t.Errorf("%q matches", hash)
		}
	}
}
