package payment

import (
	"context"
	"crypto/rand"
	"math/big"
	"time"

	"baoco/app"
	"baoco/app/paymentcode"
)

// codeTries is how many codes are drawn before the codes of a pattern count as used up.
const codeTries = 200

// newCode draws a code that isn't taken and that reader reads. If the pattern allows it, the
// code is read too if a bank separates the prefix from the rest. Letters and digits that look
// alike aren't used.
func newCode(p paymentcode.Pattern, reader app.CodeReader, taken func(string) (bool, error)) (string, error) {
	kind := codeKindOf(p)
	for range codeTries {
		code, ok := kind.code(drawn(kind.characters, kind.length), reader)
		if !ok {
			continue
		}
		if used, err := taken(code); err != nil || !used {
			return code, err
		}
	}
	return "", ErrNoFreeCode
}

// codeKind describes the new codes of a pattern.
type codeKind struct {
	prefix, characters string
	length             int  // characters after the prefix
	separable          bool // a code must also be read with a space after the prefix
}

func codeKindOf(p paymentcode.Pattern) codeKind {
	k := codeKind{p.Prefix, "0123456789", 8, false}
	if p.Alphabet == paymentcode.LettersAndDigits {
		k.characters, k.length = "23456789ABCDEFGHKLMNPQRTUVWXY", 6
	}
	k.separable = p.Alphabet == paymentcode.Digits && p.Most > paymentcode.MinDigits+1 && p.Least <= k.length
	k.length = min(max(k.length, p.Least), p.Most)
	return k
}

// code returns the code with rest after the prefix; ok tells whether reader reads it.
func (k codeKind) code(rest string, reader app.CodeReader) (code string, ok bool) {
	code = k.prefix + rest
	return code, reader.Read(code).Text == code && (!k.separable || reader.Read(k.prefix+" "+rest).Text == code)
}

// some returns at most so many codes of the kind: all of them, or if there are more, some
// random ones.
func (k codeKind) some(most int, reader app.CodeReader) (codes []string) {
	all := 1
	for range k.length {
		all = min(all*len(k.characters), most+1)
	}
	for i := range min(all, most) {
		rest := drawn(k.characters, k.length)
		if all <= most { // the i-th of all
			b := []byte(rest)
			for at := range b {
				b[at] = k.characters[i%len(k.characters)]
				i /= len(k.characters)
			}
			rest = string(b)
		}
		if code, ok := k.code(rest, reader); ok {
			codes = append(codes, code)
		}
	}
	return codes
}

// AlmostUsedUp returns the patterns of the account with nine tenths of their codes taken. If
// no code is free, no payment request can be made.
func (s *Service) AlmostUsedUp(ctx context.Context, accountID int64, now time.Time) (list []app.CodePattern, _ error) {
	patterns, err := s.ledger.CodePatterns(ctx, accountID)
	if err != nil {
		return nil, err
	}
	reader := app.NewCodeReader(patterns)
	taken := func(p app.CodePattern, most int) (share float64, _ error) {
		codes := codeKindOf(p.Pattern).some(most, reader)
		n, err := s.CodesTaken(ctx, accountID, codes, now)
		return float64(n) / float64(max(len(codes), 1)), err
	}
	for _, p := range patterns {
		share, err := taken(p, 20) // a small sample first
		if err == nil && share > 0.5 {
			share, err = taken(p, 2000)
		}
		if err != nil {
			return nil, err
		}
		if share >= 0.9 {
			list = append(list, p)
		}
	}
	return list, nil
}

func drawn(characters string, length int) string {
	b := make([]byte, length)
	for i := range b {
		b[i] = characters[randomBelow(len(characters))]
	}
	return string(b)
}

func randomBelow(n int) int {
	i, _ := rand.Int(rand.Reader, big.NewInt(int64(n)))
	return int(i.Int64())
}
