// Package passkey is what browsers are asked about passkeys (WebAuthn, level 3), and
// how their answers are checked. Signatures are checked by the standard library, and
// CBOR is read by go-webauthn. The rest of that library would make the program 2.2 MB
// larger: it brings the attestation of every maker along, and a curve that no browser
// was asked for. So the tests hold every answer against the whole of it.
package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// Place is a dashboard as browsers reach it. Passkeys belong to its host.
type Place struct{ Origin, Host string }

// PlaceOf gives the place of a scheme and host. ok is false where browsers have no
// passkeys: at the address of a machine, and on http but for localhost.
func PlaceOf(origin string) (p Place, ok bool) {
	scheme, host, _ := strings.Cut(strings.ToLower(origin), "://")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	} else if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		host = name
	}
	_, err = netip.ParseAddr(strings.Trim(name, "[]"))
	local := name == "localhost" || strings.HasSuffix(name, ".localhost")
	return Place{scheme + "://" + host, name}, err != nil && name != "" && (scheme == "https" || local)
}

// Credential is what is kept of a passkey to know it again.
type Credential struct {
	ID             []byte
	PublicKey      []byte // COSE
	Transports     string // by which a browser reaches it, with a comma between them
	BackupEligible bool   // its owner may have it on several devices
	SignCount      uint32 // of the last signature; 0: it doesn't count
}

// What may be wrong with an answer.
var (
	ErrAnswer      = errors.New("not the answer of a browser")
	ErrPlace       = errors.New("answer for another place")
	ErrNotVerified = errors.New("user not verified")
	ErrSignature   = errors.New("signature doesn't match")
	ErrMoved       = errors.New("the passkey can be backed up now, or can't any more")
)

// The largest parts of a credential, in bytes. The first is that of the standard.
const (
	maxID         = 1023
	maxTransports = 100
)

// Answer is what a browser has sent, as far as it doesn't have to be believed.
type Answer struct {
	ID         []byte
	UserHandle []byte // empty: the browser doesn't say whose it is
	client     clientData
	clientJSON []byte
	authData   []byte
	signature  []byte
	attested   []byte
	transports []string
}

// Challenge is what the browser was asked to sign. Whether it was asked that here,
// [Challenges] know.
func (a Answer) Challenge() string { return a.client.Challenge }

type clientData struct {
	Type, Challenge, Origin string
	CrossOrigin             bool
}

// encoded is bytes as JSON has them: base64url without padding.
type encoded []byte

func (e *encoded) UnmarshalText(text []byte) (err error) {
	*e, err = base64.RawURLEncoding.DecodeString(string(text))
	return err
}

// Read reads an answer: the JSON of a PublicKeyCredential.
func Read(text string) (Answer, error) {
	var in struct {
		RawID    encoded `json:"rawId"`
		Response struct {
			ClientDataJSON, AttestationObject, AuthenticatorData, Signature, UserHandle encoded
			Transports                                                                  []string
		}
	}
	if json.Unmarshal([]byte(text), &in) != nil || len(in.RawID) == 0 || len(in.RawID) > maxID {
		return Answer{}, ErrAnswer
	}
	r := in.Response
	a := Answer{ID: in.RawID, UserHandle: r.UserHandle, clientJSON: r.ClientDataJSON, authData: r.AuthenticatorData, signature: r.Signature, attested: r.AttestationObject, transports: r.Transports}
	if json.Unmarshal(a.clientJSON, &a.client) != nil {
		return Answer{}, ErrAnswer
	}
	return a, nil
}

// Created checks the answer of a browser that has made a passkey, and gives what to
// keep of it. Who made the device is not asked, so its statement about that is not
// read.
func (a Answer) Created(p Place) (Credential, error) {
	var object struct {
		AuthData []byte `cbor:"authData"`
	}
	if webauthncbor.Unmarshal(a.attested, &object) != nil {
		return Credential{}, ErrAnswer
	}
	d, err := a.verified("webauthn.create", p, object.AuthData)
	if err != nil {
		return Credential{}, err
	}
	if _, ok := readKey(d.key); !ok || !bytes.Equal(d.id, a.ID) {
		return Credential{}, ErrAnswer
	}
	c := Credential{ID: d.id, PublicKey: d.key, Transports: strings.Join(a.transports, ","), BackupEligible: d.has(flagEligible), SignCount: d.count}
	if len(c.Transports) > maxTransports {
		c.Transports = "" // a browser does without
	}
	return c, nil
}

// Signed checks the answer of a browser that has signed with c, and gives the count of
// its signature.
func (a Answer) Signed(p Place, c Credential) (count uint32, err error) {
	d, err := a.verified("webauthn.get", p, a.authData)
	if err != nil {
		return 0, err
	}
	hash := sha256.Sum256(a.clientJSON)
	key, ok := readKey(c.PublicKey)
	if !ok || !signed(key, append(bytes.Clone(a.authData), hash[:]...), a.signature) || !bytes.Equal(a.ID, c.ID) {
		return 0, ErrSignature
	}
	if d.has(flagEligible) != c.BackupEligible { // it never changes in the life of a passkey (WebAuthn, 6.1.3)
		return 0, ErrMoved
	}
	return d.count, nil
}

// verified checks what all answers have: what was asked, where, and that the device
// knew its user by a fingerprint, face or PIN.
func (a Answer) verified(kind string, p Place, authData []byte) (authenticatorData, error) {
	d, ok := readAuthenticatorData(authData)
	host := sha256.Sum256([]byte(p.Host))
	switch {
	case !ok || a.client.Type != kind:
		return d, ErrAnswer
	case a.client.Origin != p.Origin || a.client.CrossOrigin || d.host != host:
		return d, ErrPlace
	case !d.has(flagPresent) || !d.has(flagVerified):
		return d, ErrNotVerified
	}
	return d, nil
}

// authenticatorData is what a device signs beside the challenge (WebAuthn, 6.1).
type authenticatorData struct {
	host  [sha256.Size]byte
	flags byte
	count uint32

	id, key []byte // of a new passkey
}

const (
	flagPresent    = 1 << 0
	flagVerified   = 1 << 2
	flagEligible   = 1 << 3 // for a backup
	flagBackedUp   = 1 << 4
	flagNew        = 1 << 6 // the id and key of a new passkey follow
	flagExtensions = 1 << 7
)

func (d authenticatorData) has(flag byte) bool { return d.flags&flag != 0 }

func readAuthenticatorData(b []byte) (d authenticatorData, ok bool) {
	const head, model = sha256.Size + 1 + 4, 16
	if len(b) < head {
		return d, false
	}
	copy(d.host[:], b)
	d.flags, d.count, b = b[sha256.Size], binary.BigEndian.Uint32(b[sha256.Size+1:]), b[head:]
	if d.has(flagBackedUp) && !d.has(flagEligible) {
		return d, false
	}
	if d.has(flagNew) {
		if len(b) < model+2 {
			return d, false
		}
		length := int(binary.BigEndian.Uint16(b[model:]))
		if b = b[model+2:]; len(b) < length || length > maxID {
			return d, false
		}
		d.id, b = b[:length], b[length:]
		if d.key, b, ok = firstItem(b); !ok {
			return d, false
		}
	}
	if d.has(flagExtensions) {
		if _, b, ok = firstItem(b); !ok {
			return d, false
		}
	}
	return d, len(b) == 0
}

// firstItem cuts b after its first item of CBOR.
func firstItem(b []byte) (item, rest []byte, ok bool) {
	var raw webauthncbor.RawMessage
	n, err := webauthncbor.UnmarshalFirst(b, &raw)
	if err != nil {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// Owner is whose a new passkey will be, as the device shows it.
type Owner struct {
	Handle []byte
	Name   string
}

// timeout is how long a browser waits for its user, in milliseconds.
const timeout = int(ChallengeTime / time.Millisecond)

// CreationOptions is the JSON for navigator.credentials.create. Devices that have one
// of the credentials make no other.
func CreationOptions(p Place, challenge string, o Owner, has []Credential) map[string]any {
	var kinds []map[string]any
	for _, algorithm := range []int64{es256, edDSA, rs256} { // the best first
		kinds = append(kinds, map[string]any{"type": "public-key", "alg": algorithm})
	}
	return map[string]any{
		"challenge": challenge, "timeout": timeout, "attestation": "none", "pubKeyCredParams": kinds,
		"rp":                     map[string]any{"id": p.Host, "name": "báo có"},
		"user":                   map[string]any{"id": base64.RawURLEncoding.EncodeToString(o.Handle), "name": o.Name, "displayName": o.Name},
		"authenticatorSelection": map[string]any{"residentKey": "required", "requireResidentKey": true, "userVerification": "required"},
		"excludeCredentials":     descriptors(has),
	}
}

// RequestOptions is the JSON for navigator.credentials.get. Without credentials
// whatever passkey the device has for the host will do.
func RequestOptions(p Place, challenge string, allowed []Credential) map[string]any {
	return map[string]any{"challenge": challenge, "timeout": timeout, "rpId": p.Host, "userVerification": "required", "allowCredentials": descriptors(allowed)}
}

func descriptors(list []Credential) []map[string]any {
	all := make([]map[string]any, len(list))
	for i, c := range list {
		all[i] = map[string]any{"type": "public-key", "id": base64.RawURLEncoding.EncodeToString(c.ID)}
		if c.Transports != "" {
			all[i]["transports"] = strings.Split(c.Transports, ",")
		}
	}
	return all
}
