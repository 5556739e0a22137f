package webpush

import "crypto/ecdh"

// EncryptWith is Encrypt with the key and the salt of a test.
func (b Browser) EncryptWith(message []byte, sender *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	return b.encrypt(message, sender, salt)
}
