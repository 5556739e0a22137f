package replica

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// SealedKey is the object beside a replica that holds the key of its secrets, sealed
// by a passphrase. A copy without its key can neither sign nor call anybody.
const SealedKey = "key.sealed"

// MinPassphrase is how many letters a passphrase has at least. Somebody who can read the
// place can try any number of passphrases.
const MinPassphrase = 16

const maxKey = 4 << 10

// ErrPassphrase says that a passphrase doesn't open a sealed key.
var ErrPassphrase = errors.New("the passphrase does not open the sealed key")

// sealedKey is the content of the object. Its format fixes the parameters of Argon2id:
// parameters that the object names could take all memory of the machine.
type sealedKey struct {
	Format int    `json:"format"`
	KeyID  string `json:"key_id"` // of the key inside, see KeyID
	Salt   []byte `json:"salt"`
	Sealed []byte `json:"sealed"` // with its nonce before it
}

// keyFormat is Argon2id with 64 MiB, 8 passes and 2 lanes, and AES-256-GCM.
const keyFormat = 1

// KeyMemory is how many KiB it takes to seal and open a key. Tests of other subjects use
// less, and then open only keys that they sealed.
var KeyMemory uint32 = 64 << 10

func passphraseCipher(passphrase string, salt []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(argon2.IDKey([]byte(passphrase), salt, 8, KeyMemory, 2, 32))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// KeyID tells keys apart and says nothing about them: they are random.
func KeyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("baoco key id\n"), key...))
	return hex.EncodeToString(sum[:8])
}

// SealKey seals the content of a key file.
func SealKey(key []byte, passphrase string) ([]byte, error) {
	switch {
	case utf8.RuneCountInString(passphrase) < MinPassphrase:
		return nil, fmt.Errorf("a passphrase has at least %d letters: five words or more", MinPassphrase)
	case len(key) == 0 || len(key) > maxKey:
		return nil, errors.New("this is not a key file")
	}
	k := sealedKey{Format: keyFormat, KeyID: KeyID(key), Salt: make([]byte, 16)}
	rand.Read(k.Salt)
	aead, err := passphraseCipher(passphrase, k.Salt)
	if err != nil {
		return nil, err
	}
	k.Sealed = aead.Seal(nil, nil, key, []byte(k.KeyID))
	return json.Marshal(k)
}

func readSealedKey(text []byte) (k sealedKey, err error) {
	if err := json.Unmarshal(text, &k); err != nil || len(k.Salt) != 16 || len(k.Sealed) > 2*maxKey {
		return k, fmt.Errorf("%s is not a sealed key of baoco", SealedKey)
	}
	if k.Format != keyFormat {
		return k, fmt.Errorf("%s has format %d, and this baoco knows %d: use the newer one", SealedKey, k.Format, keyFormat)
	}
	return k, nil
}

// SealedKeyID is the KeyID of the key in a sealed one.
func SealedKeyID(text []byte) (string, error) {
	k, err := readSealedKey(text)
	return k.KeyID, err
}

// OpenKey opens a sealed key and returns the content of a key file. The error is
// ErrPassphrase if the passphrase is wrong, or the object was changed.
func OpenKey(text []byte, passphrase string) ([]byte, error) {
	k, err := readSealedKey(text)
	if err != nil {
		return nil, err
	}
	aead, err := passphraseCipher(passphrase, k.Salt)
	if err != nil {
		return nil, err
	}
	key, err := aead.Open(nil, nil, k.Sealed, []byte(k.KeyID))
	if err != nil || KeyID(key) != k.KeyID {
		return nil, ErrPassphrase
	}
	return key, nil
}
