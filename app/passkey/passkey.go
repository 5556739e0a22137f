// Package passkey is what browsers are asked about passkeys (WebAuthn, level 3), and how
// their answers are checked. go-webauthn checks them.
package passkey

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"
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

// What may be wrong with an answer: ErrAnswer where it is none of what people can mend.
var (
	ErrAnswer      = errors.New("answer refused")
	ErrPlace       = errors.New("answer for another place")
	ErrNotVerified = errors.New("user not verified")
	ErrMoved       = errors.New("the passkey can be backed up now, or can't any more")
)

// maxTransports bounds what a browser says about a passkey, in bytes.
const maxTransports = 100

// algorithms are those that a key may have, the best first: ECDSA on P-256, Ed25519, and
// RSA, which Windows Hello has.
var algorithms = []protocol.CredentialParameter{
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgEdDSA},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgRS256},
}

// usable tells whether signatures of a key can be checked, and soon: a key of RSA has
// 2048 to 4096 bits, and an exponent of at most three bytes (mostly 65537).
func usable(cose []byte) bool {
	key, err := webauthncose.ParsePublicKey(cose)
	rsa, is := key.(webauthncose.RSAPublicKeyData)
	return err == nil && (!is || len(rsa.Modulus) >= 2048/8 && len(rsa.Modulus) <= 4096/8 && len(rsa.Exponent) <= 3)
}

// Owner is a user, as devices know them.
type Owner struct {
	Handle []byte
	Name   string
	key    []webauthn.Credential
}

// The methods make an Owner a [webauthn.User].

func (o Owner) WebAuthnID() []byte                         { return o.Handle }
func (o Owner) WebAuthnName() string                       { return o.Name }
func (o Owner) WebAuthnDisplayName() string                { return o.Name }
func (o Owner) WebAuthnCredentials() []webauthn.Credential { return o.key }

// asked gives what checks an answer to a challenge at p. Whether the challenge was made
// here, [Challenges] know.
func (p Place) asked(challenge string, o Owner) (*webauthn.WebAuthn, webauthn.SessionData, error) {
	w, err := webauthn.New(&webauthn.Config{RPOrigins: []string{p.Origin}})
	return w, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: p.Host, UserID: o.Handle, UserVerification: protocol.VerificationRequired, CredParams: algorithms,
	}, err
}

// refusal gives the reason for a refusal that people can do something about.
func (p Place) refusal(err error, client protocol.CollectedClientData, device protocol.AuthenticatorData) error {
	host := sha256.Sum256([]byte(p.Host))
	switch {
	case client.Origin != p.Origin || client.CrossOrigin || !bytes.Equal(device.RPIDHash, host[:]):
		return ErrPlace
	case !device.Flags.UserPresent() || !device.Flags.UserVerified():
		return ErrNotVerified
	}
	return fmt.Errorf("%w: %w", ErrAnswer, err)
}

// Created checks the answer of a browser that has made a passkey: the JSON of a
// PublicKeyCredential. It gives what to keep of it, and the challenge that it answers.
func Created(p Place, o Owner, text string) (c Credential, challenge string, err error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(text))
	if err != nil {
		return c, "", fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	client := parsed.Response.CollectedClientData
	w, asked, err := p.asked(client.Challenge, o)
	if err != nil {
		return c, "", fmt.Errorf("check a new passkey: %w", err)
	}
	made, err := w.CreateCredential(o, asked, parsed)
	if err != nil {
		return c, "", p.refusal(err, client, parsed.Response.AttestationObject.AuthData)
	}
	if !usable(made.PublicKey) {
		return c, "", fmt.Errorf("%w: a key that can't be used", ErrAnswer)
	}
	c = Credential{
		ID: made.ID, PublicKey: made.PublicKey, BackupEligible: made.Flags.BackupEligible, SignCount: made.Authenticator.SignCount,
		Transports: strings.Join(parsed.Raw.AttestationResponse.Transports, ","),
	}
	if len(c.Transports) > maxTransports {
		c.Transports = "" // a browser does without
	}
	return c, client.Challenge, nil
}

// Answer is the answer of a browser that has signed with a passkey, as far as it doesn't
// have to be believed.
type Answer struct {
	ID        []byte // of the passkey
	Challenge string
	parsed    *protocol.ParsedCredentialAssertionData
}

// Read reads an answer: the JSON of a PublicKeyCredential.
func Read(text string) (Answer, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(text))
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return Answer{parsed.RawID, parsed.Response.CollectedClientData.Challenge, parsed}, nil
}

// Signed checks the answer of a browser that has signed with c, a passkey of o, and gives
// the count of its signature. A browser need not say whose the passkey is.
func (a Answer) Signed(p Place, o Owner, c Credential) (count uint32, err error) {
	w, asked, err := p.asked(a.Challenge, o)
	if err != nil {
		return 0, fmt.Errorf("check a passkey: %w", err)
	}
	o.key = []webauthn.Credential{{ID: c.ID, PublicKey: c.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: c.BackupEligible}}}
	device := a.parsed.Response.AuthenticatorData
	if _, err = w.ValidateLogin(o, asked, a.parsed); err != nil {
		err = p.refusal(err, a.parsed.Response.CollectedClientData, device)
		if errors.Is(err, ErrAnswer) && device.Flags.HasBackupEligible() != c.BackupEligible {
			err = ErrMoved // it never changes in the life of a passkey (WebAuthn, 6.1.3)
		}
	}
	return device.Counter, err
}

// timeout is how long a browser waits for its user, in milliseconds.
const timeout = int(ChallengeTime / time.Millisecond)

// CreationOptions is what navigator.credentials.create is asked, for JSON. Devices that
// have one of the credentials make no other.
func CreationOptions(p Place, challenge []byte, o Owner, has []Credential) any {
	return protocol.PublicKeyCredentialCreationOptions{
		Challenge: challenge, Timeout: timeout, Attestation: protocol.PreferNoAttestation, Parameters: algorithms,
		RelyingParty: protocol.RelyingPartyEntity{ID: p.Host, CredentialEntity: protocol.CredentialEntity{Name: "báo có"}},
		User: protocol.UserEntity{
			ID: protocol.URLEncodedBase64(o.Handle), DisplayName: o.Name, CredentialEntity: protocol.CredentialEntity{Name: o.Name},
		},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		CredentialExcludeList: descriptors(has),
	}
}

// RequestOptions is what navigator.credentials.get is asked, for JSON. Without
// credentials whatever passkey the device has for the host will do.
func RequestOptions(p Place, challenge []byte, allowed []Credential) any {
	return protocol.PublicKeyCredentialRequestOptions{
		Challenge: challenge, Timeout: timeout, RelyingPartyID: p.Host, UserVerification: protocol.VerificationRequired,
		AllowedCredentials: descriptors(allowed),
	}
}

func descriptors(list []Credential) []protocol.CredentialDescriptor {
	all := make([]protocol.CredentialDescriptor, len(list))
	for i, c := range list {
		all[i] = protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: c.ID}
		for _, t := range strings.FieldsFunc(c.Transports, func(r rune) bool { return r == ',' }) {
			all[i].Transport = append(all[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	return all
}
