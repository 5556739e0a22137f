package replica_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/replica"
)

const passphrase = "năm từ dễ nhớ của cửa hàng"

// shopKey is sealed as each key was since there are sealed keys: with 64 MiB and 8 passes.
const shopKey = `{"format":1,"key_id":"6f6874e1da2236c6","salt":"NPYc/COVxRkYlpJVDE6kAg==",` +
	`"sealed":"o86O87R6WzgzQkeh52xBjw1qnWuqMS3bOhq60cFaOUYD3KQqk/GKOvA8Yb0yBg/SO9lmHZNzptmfNDYuQXUTgwgP6UAwMdiB1g=="}`

func TestSealedKey(t *testing.T) {
	t.Parallel()
	key := []byte("aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGk=\n")
	sealed, err := replica.SealKey(key, passphrase)
	apptest.Must(t, err)
	if bytes.Contains(sealed, key[:20]) || bytes.Contains(sealed, []byte("năm")) {
		t.Errorf("the secret is in it: %s", sealed)
	}
	if got, err := replica.OpenKey(sealed, passphrase); err != nil || !bytes.Equal(got, key) {
		t.Errorf("opened: %q, %v", got, err)
	}
	if got, err := replica.OpenKey([]byte(shopKey), passphrase); err != nil || !bytes.Equal(got, key) {
		t.Errorf("a key sealed long ago: %q, %v", got, err)
	}
	if id, err := replica.SealedKeyID(sealed); err != nil || id != replica.KeyID(key) || id == replica.KeyID(key[1:]) {
		t.Errorf("its id is %q, %v", id, err)
	}
	again, err := replica.SealKey(key, passphrase)
	if err != nil || bytes.Equal(again, sealed) {
		t.Errorf("sealed twice it is the same: %v", err)
	}
	if _, err := replica.OpenKey(sealed, passphrase+"!"); !errors.Is(err, replica.ErrPassphrase) {
		t.Errorf("with another passphrase: %v", err)
	}
	id := replica.KeyID(key)
	for name, changed := range map[string]string{
		"another id":  strings.Replace(string(sealed), id, replica.KeyID([]byte("x")), 1),
		"a bit":       strings.Replace(string(sealed), `"sealed":"`, `"sealed":"AAAA`, 1),
		"cut":         string(sealed[:len(sealed)-3]),
		"empty":       "",
		"no JSON":     "<html>",
		"a new form":  strings.Replace(string(sealed), `"format":1`, `"format":2`, 1),
		"its own way": strings.Replace(string(sealed), `"salt":"`, `"memory":4294967295,"salt":"AAAA`, 1),
	} {
		if got, err := replica.OpenKey([]byte(changed), passphrase); err == nil {
			t.Errorf("%s: opened as %q", name, got)
		}
	}
	if _, err := replica.SealKey(key, "short"); err == nil {
		t.Error("a short passphrase is taken")
	}
	if _, err := replica.SealKey(nil, passphrase); err == nil {
		t.Error("an empty key is taken")
	}
}
