package sqlitestore

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// sealer encrypts secrets for the file and its backups: AES-256-GCM under the key of
// the key file, with the purpose of the secret as additional data.
type sealer struct {
	aead cipher.AEAD
}

const keyCheckText = "baoco"

// writeKey makes a new key file and syncs it.
func writeKey(path string) error {
	var key [32]byte
	rand.Read(key[:])
	return writeSynced(path, []byte(base64.StdEncoding.EncodeToString(key[:])+"\n"))
}

func readKey(path string) (*sealer, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing; put it back from where the backup keeps it", ErrKey, path)
	}
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%w: %s is not a key file", ErrKey, path)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead: aead}, err
}

func (s *sealer) seal(purpose, secret string) []byte {
	nonce := make([]byte, s.aead.NonceSize())
	rand.Read(nonce)
	return s.aead.Seal(nonce, nonce, []byte(secret), []byte(purpose))
}

func (s *sealer) open(purpose string, sealed []byte) (string, error) {
	n := s.aead.NonceSize()
	if len(sealed) < n {
		return "", fmt.Errorf("%w: a sealed secret is too short", ErrKey)
	}
	secret, err := s.aead.Open(nil, sealed[:n], sealed[n:], []byte(purpose))
	if err != nil {
		return "", fmt.Errorf("%w: a secret can't be opened", ErrKey)
	}
	return string(secret), nil
}

func (s *sealer) checkValue() string {
	return base64.StdEncoding.EncodeToString(s.seal("check", keyCheckText))
}

// checkKey returns ErrKey if the key file is of another database.
func (s *Store) checkKey(ctx context.Context) error {
	value, err := s.setting(ctx, "key_check")
	if err != nil {
		return err
	}
	if s.sealer.fits(value) {
		return nil
	}
	if next, err := readKey(s.path + nextKey); err == nil && next.fits(value) {
		return fmt.Errorf("%w: baoco doctor --new-key was interrupted; run it again", ErrKey)
	}
	return fmt.Errorf("%w: %s.key", ErrKey, s.path)
}

// fits reports whether the setting key_check of a file was sealed by this key.
func (s *sealer) fits(keyCheck string) bool {
	sealed, err := base64.StdEncoding.DecodeString(keyCheck)
	if err != nil {
		return false
	}
	text, err := s.open("check", sealed)
	return err == nil && text == keyCheckText
}

// Purposes of sealed secrets.
const (
	sealWebhook = "webhook"
	sealHeaders = "webhook headers"
	sealSource  = "source"
	sealOptions = "source options"
	sealAPIKey  = "source api key"
	sealAlert   = "alert channel"
	sealTOTP    = "authenticator app"
	sealPhone   = "phone"
	sealPushKey = "push key"

	sealStream         = "stream"
	sealStreamPassword = "stream password"
)
