package app

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"
	"unicode"

	"baoco/app/fold"
)

// Provider is a kind of source: the format of its calls.
type Provider string

// RandomToken is 32 random bytes in URL-safe base64.
func RandomToken() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Channel is how a transaction came in. The event ids of a source are unique on
// one channel, not across channels.
type Channel string

// The channels.
const (
	ChannelCall   Channel = "call"   // the provider called
	ChannelPoll   Channel = "poll"   // the provider's list was read
	ChannelFile   Channel = "file"   // a statement file was imported
	ChannelHand   Channel = "hand"   // somebody recorded it
	ChannelNotice Channel = "notice" // a phone forwarded a notice of a bank's app, by a call of the source that also forwards SMS
)

// AppendMember writes a key, as it stands before a value, and a text as JSON.
func AppendMember(b []byte, key, value string) []byte {
	return AppendJSONString(append(b, key...), value)
}

// AppendJSONString writes valid UTF-8 as JSON.stringify does: only the quote,
// the backslash and control characters are escaped. Bytes that aren't UTF-8 stay
// as they are.
func AppendJSONString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\f':
			b = append(b, `\f`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// Squeeze gives the letters and digits of a content, in lower case without marks.
func Squeeze(content string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, fold.String(content))
}

// Recently is how far back failed deliveries and refused calls count.
const Recently = 24 * time.Hour
