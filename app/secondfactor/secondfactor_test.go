package secondfactor_test

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"

	"baoco/app/secondfactor"
)

// The secret and times are those of RFC 6238, appendix B. The codes there have eight
// digits, of which the last six are those of a shorter code.
func TestVectors(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		step, ok := secondfactor.Step(secret, code[2:], 0, time.Unix(at, 0))
		if !ok || step != at/30 {
			t.Errorf("%d: %d, %v", at, step, ok)
		}
	}
}

func TestStep(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	const code, step = "050471", 1111111111 / 30
	for name, c := range map[string]struct {
		code  string
		steps int64 // since the code's
		last  int64
		want  bool
	}{
		"now":                 {code, 0, 0, true},
		"a step late":         {code, 1, 0, true},
		"a step early":        {code, -1, 0, true},
		"two steps late":      {code, 2, 0, false},
		"two steps early":     {code, -2, 0, false},
		"used":                {code, 0, step, false},
		"a later one is used": {code, 0, step + 1, false},
		"an earlier is used":  {code, 0, step - 1, true},
		"with a space":        {" 050 471 ", 0, 0, true},
		"short":               {"50471", 0, 0, false},
		"wrong":               {"050472", 0, 0, false},
		"empty":               {"", 0, 0, false},
	} {
		got, ok := secondfactor.Step(secret, c.code, c.last, time.Unix((step+c.steps)*30, 0))
		if ok != c.want || ok && got != step {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	secret := secondfactor.NewSecret()
	if !secondfactor.ValidSecret(secret) || secret == secondfactor.NewSecret() {
		t.Errorf("secret %q", secret)
	}
	for _, bad := range []string{"", "AAAA", secret + "A", strings.ToLower(secret), secret[:31] + "1"} {
		if secondfactor.ValidSecret(bad) {
			t.Errorf("%q passes for a secret", bad)
		}
	}
	if got := secondfactor.Address("shop.vn", "lan@b",
		secret); got != "otpauth://totp/baoco:lan@b%20%28shop.vn%29?issuer=baoco&secret="+secret {
		t.Errorf("address %q", got)
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	codes := secondfactor.NewRecoveryCodes()
	seen := map[[32]byte]bool{}
	for _, code := range codes {
		hash, ok := secondfactor.RecoveryHash(1, code)
		typed, okTyped := secondfactor.RecoveryHash(1, " "+strings.ToUpper(strings.ReplaceAll(code, "-", " ")))
		other, _ := secondfactor.RecoveryHash(2, code)
		if !ok || !okTyped || typed != hash || other == hash || len(code) != 19 {
			t.Errorf("code %q", code)
		}
		seen[hash] = true
	}
	if len(codes) != 10 || len(seen) != 10 {
		t.Errorf("%d codes, %d of them different", len(codes), len(seen))
	}
	if _, ok := secondfactor.RecoveryHash(1, codes[0][:18]); ok {
		t.Error("a cut code passes for one")
	}
}
