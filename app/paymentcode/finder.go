package paymentcode

import (
	"cmp"
	"slices"
	"strings"
)

// Finder finds the codes of some patterns. It doesn't change, and several
// goroutines may use it at once.
type Finder struct {
	patterns map[string][]Pattern // by the first characters of the prefix, MinPrefix
}

// NewFinder gives a finder of patterns. A pattern that check refuses finds
// nothing.
func NewFinder(patterns []Pattern) *Finder {
	f := &Finder{map[string][]Pattern{}}
	for _, p := range patterns {
		if p.check() == nil {
			key := p.Prefix[:MinPrefix]
			f.patterns[key] = append(f.patterns[key], p)
		}
	}
	return f
}

// Find gives the one code of a content in its normal form: upper case, without
// separators. It gives none where there is no code, or a doubt.
func (f *Finder) Find(text string) (code string, ok bool) {
	if f == nil {
		return "", false
	}
	var plain [256]byte
	var words [64]span
	c := readContent(text, plain[:0], words[:0])
	var all reading
	for i := range c.words {
		here := f.read(&c, i)
		if !here.begun || c.isReference(i) {
			continue
		}
		named := i > 0 && c.word(i-1) == "REF" // a bank's reference, or another order
		if all.add(here); all.doubt || here.code == "" || named {
			return "", false
		}
	}
	return all.code, all.code != ""
}

// Begins reports whether a text has something that begins as a code, also where characters of
// it stand apart: D H 1 2 3. No code is read so, but money isn't for another order than that.
func (f *Finder) Begins(text string) bool {
	if f == nil {
		return false
	}
	if f.begins(text) {
		return true
	}
	c := readContent(text, nil, nil)
	var joined strings.Builder
	for i := range c.words {
		joined.WriteString(c.word(i))
		if len(c.word(i)) > 1 {
			joined.WriteByte(' ')
		}
	}
	return f.begins(joined.String())
}

func (f *Finder) begins(text string) bool {
	var plain [256]byte
	var words [64]span
	c := readContent(text, plain[:0], words[:0])
	for i := range c.words {
		if f.read(&c, i).begun && !c.isReference(i) {
			return true
		}
	}
	return false
}

// reading is what patterns read at a place.
type reading struct {
	code  string
	begun bool // something begins as a code
	doubt bool // it can be read in more than one way
}

func (r *reading) add(other reading) {
	r.begun = r.begun || other.begun
	r.doubt = r.doubt || other.doubt || r.code != "" && other.code != "" && r.code != other.code
	r.code = cmp.Or(r.code, other.code)
}

// read reads word i from its beginning, or from what follows a word of banks.
func (f *Finder) read(c *content, i int) reading {
	word := c.word(i)
	here := f.readAt(c, i, 0)
	if here.begun {
		return here
	}
	for _, before := range wordsBefore {
		if len(word) > len(before) && strings.HasPrefix(word, before) {
			here.add(f.readAt(c, i, len(before)))
		}
	}
	return here
}

// readAt reads word i without its first characters.
func (f *Finder) readAt(c *content, i, without int) reading {
	var here reading
	word := c.word(i)[without:]
	if len(word) < MinPrefix {
		return here
	}
	for _, p := range f.patterns[word[:MinPrefix]] {
		rest, has := strings.CutPrefix(word, p.Prefix)
		if !has || rest == "" && (without > 0 || !c.joins(i)) {
			continue
		}
		b := body{rest, i, i, ""}
		if rest == "" {
			b = body{c.word(i + 1), i, i + 1, c.gap(i)}
		}
		if p.Alphabet == Digits {
			here.add(f.readDigits(c, p, b))
		} else {
			here.add(f.readLettersAndDigits(c, p, b))
		}
	}
	return here
}

// body is what follows a prefix to the end of the word, or the next word.
type body struct {
	text       string
	prefix, at int    // the words of the prefix and of the body
	apart      string // what is between them if they are two
}

func (f *Finder) readDigits(c *content, p Pattern, b body) reading {
	n := digitsOf(b.text)
	if n == 0 {
		return reading{}
	}
	here := reading{begun: true}
	if n < len(b.text) {
		if p.fits(n) && b.apart == "" && beginsWithAny(b.text[n:], wordsAfter) {
			here.code = p.Prefix + b.text[:n]
			here.doubt = f.goesOn(here.code)
		}
		return here
	}
	digits, last, doubt := p.joinDigits(c, b)
	if here.doubt = doubt; digits == "" {
		return here
	}
	if n = len(digits); b.apart != "" && (n < 4 || n < 5 && strings.Contains(b.apart, " ")) ||
		(b.apart != "" || last > b.at) && (looksOtherwise(digits) || last < len(c.words)-1 && slices.Contains(units, c.word(last+1))) {
		return here
	}
	here.code = p.Prefix + digits
	here.doubt = f.goesOn(here.code) && c.mayBeCut(b.prefix, last) || c.isListed(last, here.code, n)
	return here
}

// joinDigits gives the digits that fit: b, or b and the next word after a
// hyphen; and the word that they end. There is a doubt if the digits of the
// next words make another number that fits.
func (p Pattern) joinDigits(c *content, b body) (joined string, last int, doubt bool) {
	total, last := len(b.text), b.at
	if p.fits(total) {
		joined = b.text
	}
	for at := b.at; total <= p.Most && c.near(at); at++ {
		next := c.word(at + 1)
		if digitsOf(next) < len(next) {
			break
		}
		if total += len(next); !p.fits(total) {
			continue
		}
		hyphen := c.gap(at) == "-" || c.gap(at) == "_"
		if joined != "" || at > b.at || !hyphen || len(b.text) < 3 || len(next) < 3 {
			return "", b.at, true
		}
		joined, last = b.text+next, at+1
	}
	return joined, last, false
}

func (f *Finder) readLettersAndDigits(c *content, p Pattern, b body) reading {
	if !hasDigit(b.text) {
		return reading{}
	}
	here := reading{begun: true}
	n := len(b.text)
	if c.near(b.at) {
		next := c.word(b.at + 1)
		here.doubt = p.fits(n+len(next)) && (hasDigit(next) || strings.HasPrefix(c.gap(b.at), "  "))
	}
	if b.apart != "" && (b.apart != "-" && b.apart != "_" || isCount(b.text)) {
		return here
	}
	if !p.fits(n) || strings.Contains(b.text, "*") || containsAny(b.text, wordsAfter) {
		return here
	}
	here.code = p.Prefix + b.text
	here.doubt = here.doubt || f.goesOn(here.code) && c.mayBeCut(b.prefix, b.at) || c.isListed(b.at, here.code, n) || p.mayHaveTail(b.text)
	return here
}

// mayHaveTail reports whether a body may be a shorter one with a word of banks
// glued to it: 1234CK.
func (p Pattern) mayHaveTail(body string) bool {
	for _, list := range [][]string{wordsBefore, tails, units} {
		for _, word := range list {
			if rest, has := strings.CutSuffix(body, word); has && p.fits(len(rest)) {
				return true
			}
		}
	}
	return false
}

// goesOn reports whether code can be the beginning of a longer code.
func (f *Finder) goesOn(code string) bool {
	return slices.ContainsFunc(f.patterns[code[:MinPrefix]], func(p Pattern) bool { return p.goesOn(code) })
}
