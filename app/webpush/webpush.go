// Package webpush writes messages that only one browser can read (RFC 8188 and RFC 8291),
// and proves to its push service who sends them (RFC 8292).
package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

var base64url = base64.RawURLEncoding

// Browser is the keys of a browser, as it gives them with its subscription.
type Browser struct {
	key  *ecdh.PublicKey
	auth []byte
}

// ReadBrowser reads p256dh and auth of a subscription.
func ReadBrowser(p256dh, auth string) (b Browser, err error) {
	key, err := base64url.DecodeString(strings.TrimRight(p256dh, "="))
	if err != nil {
		return b, errors.New("p256dh is not base64url")
	}
	if b.key, err = ecdh.P256().NewPublicKey(key); err != nil {
		return b, errors.New("p256dh is no point of the curve P-256")
	}
	if b.auth, err = base64url.DecodeString(strings.TrimRight(auth, "=")); err != nil || len(b.auth) != 16 {
		return b, errors.New("auth is not 16 bytes in base64url")
	}
	return b, nil
}

// Encrypt encrypts a message of at most 3,993 bytes: push services take 4,096.
func (b Browser) Encrypt(message []byte) ([]byte, error) {
	sender, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	return b.encrypt(message, sender, salt)
}

func (b Browser) encrypt(message []byte, sender *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	shared, err := sender.ECDH(b.key)
	if err != nil {
		return nil, err
	}
	public := sender.PublicKey().Bytes()
	secret, err := hkdf.Key(sha256.New, shared, b.auth, "WebPush: info\x00"+string(b.key.Bytes())+string(public), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	header := append(binary.BigEndian.AppendUint32(slices.Clone(salt), 4096), byte(len(public)))
	return aead.Seal(append(header, public...), nonce, append(slices.Clone(message), 2), nil), nil // 2: the last record
}

// NewKey makes the private key by which push services know a sender.
func NewKey() ([]byte, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return key.Bytes(), nil
}

// PublicKey is the public key of a private one, as browsers take it.
func PublicKey(private []byte) (string, error) {
	key, err := ecdh.P256().NewPrivateKey(private)
	if err != nil {
		return "", err
	}
	return base64url.EncodeToString(key.PublicKey().Bytes()), nil
}

// lifetime is how long a header of Authorization counts. Push services take a day at most.
const lifetime = 12 * time.Hour

// Authorization is the header by which the push service at endpoint knows the sender.
// contact is the sender's address in the web; empty: it has none over HTTPS.
func Authorization(private []byte, endpoint, contact string, now time.Time) (string, error) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), private)
	if err != nil {
		return "", err
	}
	public, err := PublicKey(private)
	if err != nil {
		return "", err
	}
	to, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("the endpoint is no URL") // which is a secret
	}
	claims, err := json.Marshal(struct {
		Aud string `json:"aud"`
		Exp int64  `json:"exp"`
		Sub string `json:"sub,omitempty"`
	}{to.Scheme + "://" + to.Host, now.Add(lifetime).Unix(), contact})
	if err != nil {
		return "", err
	}
	token := base64url.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + base64url.EncodeToString(claims)
	digest := sha256.Sum256([]byte(token))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + token + "." + base64url.EncodeToString(signature) + ", k=" + public, nil
}
