package apptest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"
)

// Authenticator is a device with one passkey, and its browser. A test may change what they
// send.
type Authenticator struct {
	t testing.TB

	Origin      string // from the browser
	CrossOrigin bool
	Type        string // empty: the right one
	Host        string // from the device
	Flags       byte   // user present 1, verified 4, eligible for a backup 8, backed up 16
	Count       uint32 // of the next signature; 0: it doesn't count
	ID, Handle  []byte
	Tail        []byte        // appended to the data of the device
	Key         crypto.Signer // *ecdsa.PrivateKey on P-256, ed25519.PrivateKey or *rsa.PrivateKey
	Attests     crypto.Signer // a key on P-256, which attests a new passkey; nil: no attestation
}

// NewAuthenticator returns a device for an origin and a host. Its user was verified.
func NewAuthenticator(t testing.TB, origin, host string) *Authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(t, err)
	return &Authenticator{t: t, Origin: origin, Host: host, Flags: 1 | 4, ID: []byte(rand.Text()), Key: key}
}

func (a *Authenticator) client(kind, challenge string) []byte {
	if a.Type != "" {
		kind = a.Type
	}
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": a.CrossOrigin})
	Must(a.t, err)
	return text
}

func (a *Authenticator) data(flags byte) []byte {
	host := sha256.Sum256([]byte(a.Host))
	b := binary.BigEndian.AppendUint32(append(host[:], a.Flags|flags), a.Count)
	if a.Count > 0 {
		a.Count++
	}
	return b
}

// COSE returns the public key in the format COSE.
func (a *Authenticator) COSE() []byte {
	switch key := a.Key.Public().(type) {
	case ed25519.PublicKey:
		return append([]byte("\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20"), key...)
	case *rsa.PublicKey:
		n := key.N.Bytes()
		b := append([]byte("\xa4\x01\x03\x03\x39\x01\x00\x20\x59"), byte(len(n)>>8), byte(len(n)))
		return append(append(b, n...), "\x21\x43\x01\x00\x01"...)
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		Must(a.t, err)
		b := append([]byte("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"), point[1:33]...)
		return append(append(b, "\x22\x58\x20"...), point[33:]...)
	}
	a.t.Fatalf("a key of %T", a.Key)
	return nil
}

// Create answers a challenge with a new passkey.
func (a *Authenticator) Create(challenge string) string {
	data := append(a.data(64), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(a.ID))), a.ID...)
	data = append(append(data, a.COSE()...), a.Tail...)
	client := a.client("webauthn.create", challenge)
	object := []byte("\xa3\x63fmt\x64none\x67attStmt\xa0")
	if a.Attests != nil {
		signature := a.sign(a.Attests, data, client)
		object = append([]byte("\xa3\x63fmt\x66packed\x67attStmt\xa2\x63alg\x26\x63sig\x58"), byte(len(signature)))
		object = append(object, signature...)
	}
	object = append(append(object, "\x68authData\x59"...), byte(len(data)>>8), byte(len(data)))
	return a.answer(map[string]any{
		"clientDataJSON": coded(client), "attestationObject": coded(append(object, data...)), "transports": []string{"internal", "hybrid"},
	})
}

// Sign answers a challenge with the passkey.
func (a *Authenticator) Sign(challenge string) string {
	client, data := a.client("webauthn.get", challenge), append(a.data(0), a.Tail...)
	response := map[string]any{"clientDataJSON": coded(client), "authenticatorData": coded(data),
		"signature": coded(a.sign(a.Key, data, client))}
	if len(a.Handle) > 0 {
		response["userHandle"] = coded(a.Handle)
	}
	return a.answer(response)
}

func (a *Authenticator) sign(key crypto.Signer, data, client []byte) []byte {
	hash := sha256.Sum256(client)
	signs, how := append(append([]byte{}, data...), hash[:]...), crypto.Hash(0)
	if _, whole := key.(ed25519.PrivateKey); !whole {
		digest := sha256.Sum256(signs)
		signs, how = digest[:], crypto.SHA256
	}
	signature, err := key.Sign(rand.Reader, signs, how)
	Must(a.t, err)
	return signature
}

func (a *Authenticator) answer(response map[string]any) string {
	text, err := json.Marshal(map[string]any{"id": coded(a.ID), "rawId": coded(a.ID), "type": "public-key", "response": response})
	Must(a.t, err)
	return string(text)
}

func coded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
