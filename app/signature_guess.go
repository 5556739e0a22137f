package app

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"unicode/utf8"
)

// keyGuess is a secret that may be meant by one that was entered, with what is
// wrong with that one.
type keyGuess struct {
	key   string
	wrong []mistakeCode
}

// keyRepairs undo what happens to a secret on its way into a receiver, in the
// order in which they are combined. Each gives its argument where it finds
// nothing to undo.
var keyRepairs = []struct {
	wrong mistakeCode
	undo  func(string) string
}{
	{mistakeSecretSpace, strings.TrimSpace},
	{mistakeSecretSpace, func(s string) string { return strings.TrimPrefix(s, "\ufeff") }},
	{mistakeSecretName, func(s string) string { // a whole line of a file of settings
		if i := strings.Index(s, secretPrefix); i > 1 && strings.ContainsAny(s[:i], "=:") {
			return strings.Trim(s[i:], " \t'\"`;,")
		}
		return s
	}},
	{mistakeSecretQuotes, unquoted},
	{mistakeSecretSpace, func(s string) string { return strings.Join(strings.Fields(s), "") }},
	{mistakeSecretPlus, func(s string) string { // a form took its plus signs for spaces
		return strings.ReplaceAll(s, " ", "+")
	}},
	{mistakeSecretPadding, func(s string) string { // a double click leaves it out
		if len(strings.TrimPrefix(s, secretPrefix)) == 43 {
			return s + "="
		}
		return s
	}},
	{mistakeSecretPrefix, func(s string) string {
		if key, err := base64.StdEncoding.DecodeString(s); err == nil && len(key) == 32 {
			return secretPrefix + s
		}
		return s
	}},
	{mistakeSecretDecoded, func(s string) string {
		if key, err := hex.DecodeString(strings.TrimPrefix(s, secretPrefix)); err == nil && len(key) == 32 {
			return secretPrefix + base64.StdEncoding.EncodeToString(key)
		}
		if len(s) == 32 && !utf8.ValidString(s) {
			return secretPrefix + base64.StdEncoding.EncodeToString([]byte(s))
		}
		return s
	}},
}

// guessKeys are the secret as it was entered, and what it may be meant as, the
// fewest repairs first.
func guessKeys(entered string) []keyGuess {
	guesses := []keyGuess{{key: entered}}
	known := map[string]bool{entered: true}
	for _, repair := range keyRepairs {
		for _, g := range guesses {
			if key := repair.undo(g.key); key != "" && !known[key] {
				known[key] = true
				guesses = append(guesses, keyGuess{key, with(g.wrong, repair.wrong)})
			}
		}
	}
	return guesses
}

// with is list and m, once.
func with(list []mistakeCode, m mistakeCode) []mistakeCode {
	for _, known := range list {
		if known == m {
			return list
		}
	}
	return append(list[:len(list):len(list)], m)
}

// bodyGuess is a body that may have been sent, for one that was seen.
type bodyGuess struct {
	body     []byte
	wrong    []mistakeCode
	original bool // written as baoco writes, so that it can be compared with what was seen
}

// bodyRepairs undo what wraps a whole body. Each gives nil where it finds
// nothing to undo.
var bodyRepairs = []struct {
	wrong mistakeCode
	undo  func([]byte) []byte
}{
	{mistakeBodyBase64, func(b []byte) []byte {
		decoded, err := base64.StdEncoding.DecodeString(string(b))
		if err != nil {
			return nil
		}
		return decoded
	}},
	{mistakeBodyString, func(b []byte) []byte {
		var s string
		if json.Unmarshal(b, &s) != nil {
			return nil
		}
		return []byte(s)
	}},
	{mistakeBodyForm, func(b []byte) []byte {
		s, err := url.QueryUnescape(strings.TrimSuffix(string(b), "="))
		if err != nil {
			return nil
		}
		return []byte(s)
	}},
	{mistakeBodyHTML, func(b []byte) []byte { return []byte(html.UnescapeString(string(b))) }},
	{mistakeBodyQuoted, func(b []byte) []byte {
		return []byte(strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`).Replace(string(b)))
	}},
	{mistakeBodyLatin, func(b []byte) []byte {
		var out []byte
		for _, r := range string(b) {
			if r > 0xff {
				return nil
			}
			out = append(out, byte(r))
		}
		return out
	}},
	{mistakeBodyPart, func(b []byte) []byte { return wrapped(`{"transactions":`, b, `}`) }},
	{mistakeBodyPart, func(b []byte) []byte { return wrapped(`{"transactions":[`, b, `]}`) }},
}

func wrapped(before string, b []byte, after string) []byte {
	return append(append([]byte(before), b...), after...)
}

// guessBodies are the body as it was seen, and what may have been sent where
// that was seen. Each is followed by what baoco writes for what stands in it.
func guessBodies(seen []byte) []bodyGuess {
	guesses := []bodyGuess{{body: seen}}
	known := map[string]bool{string(seen): true}
	add := func(g bodyGuess) {
		if len(g.body) > 0 && !known[string(g.body)] {
			known[string(g.body)] = true
			guesses = append(guesses, g)
		}
	}
	rewrite := func(body []byte) {
		if list := readTransactions(body); len(list) == 1 {
			add(bodyGuess{body: list[0].bodyWith(list[0].checksum), original: true})
		}
	}
	bare := bytes.TrimSpace(bytes.TrimPrefix(seen, []byte(byteOrderMark)))
	rewrite(seen)
	rewrite(bare)
	add(bodyGuess{body: bare, original: true}) // what stood around it is found by comparing
	for _, repair := range bodyRepairs {
		if body := repair.undo(bare); body != nil {
			add(bodyGuess{body: body, wrong: []mistakeCode{repair.wrong}})
		}
	}
	return guesses
}

const byteOrderMark = "\ufeff"
