package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"slices"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// The algorithms that a key may have (COSE, RFC 9053 and 8812): ECDSA on P-256, Ed25519,
// and RSA, which Windows Hello has.
const (
	es256 int64 = -7
	edDSA int64 = -8
	rs256 int64 = -257
)

// The size of an RSA key, in bits. A larger one takes long to check.
const (
	leastRSA = 2048
	mostRSA  = 4096
)

// readKey reads a public key in COSE. ok is false for one of other algorithms, and for
// one that is none.
func readKey(cose []byte) (key crypto.PublicKey, ok bool) {
	var k struct {
		Type      int64                   `cbor:"1,keyasint"`
		Algorithm int64                   `cbor:"3,keyasint"`
		First     webauthncbor.RawMessage `cbor:"-1,keyasint"` // the curve, or the modulus of RSA
		Second    []byte                  `cbor:"-2,keyasint"` // x, or the exponent of RSA
		Y         []byte                  `cbor:"-3,keyasint"`
	}
	if webauthncbor.Unmarshal(cose, &k) != nil {
		return nil, false
	}
	kind := func(typ, algorithm, curve int64) bool {
		var c int64
		return k.Type == typ && k.Algorithm == algorithm && (curve == 0 || webauthncbor.Unmarshal(k.First, &c) == nil && c == curve)
	}
	switch {
	case kind(2, es256, 1):
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, k.Second, k.Y))
		return key, err == nil && len(k.Second) == len(k.Y)
	case kind(1, edDSA, 6):
		return ed25519.PublicKey(k.Second), len(k.Second) == ed25519.PublicKeySize
	case kind(3, rs256, 0):
		var modulus []byte
		err := webauthncbor.Unmarshal(k.First, &modulus)
		n, e := new(big.Int).SetBytes(modulus), new(big.Int).SetBytes(k.Second)
		return &rsa.PublicKey{N: n, E: int(e.Int64())}, err == nil && n.BitLen() >= leastRSA && n.BitLen() <= mostRSA && e.BitLen() < 32
	}
	return nil, false
}

// signed tells whether a key that readKey gave has signed data.
func signed(key crypto.PublicKey, data, signature []byte) bool {
	digest := sha256.Sum256(data)
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(k, digest[:], signature)
	case ed25519.PublicKey:
		return ed25519.Verify(k, data, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, digest[:], signature) == nil
	}
	return false
}
