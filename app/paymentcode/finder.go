package paymentcode

import (
	"slices"
	"strings"
)

// Finder finds the codes of some patterns. It doesn't change, and several
// goroutines may use it at once.
type Finder struct {
	patterns map[string][]Pattern // by the first characters of the prefix, MinPrefix
}

// NewFinder gives a finder of patterns. A pattern that Check refuses finds
// nothing.
func NewFinder(patterns []Pattern) *Finder {
	f := &Finder{map[string][]Pattern{}}
	for _, p := range patterns {
		if p.Check() == nil {
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
		if all.add(here); all.doubt || here.code == "" {
			return "", false
		}
	}
	return all.code, all.code != ""
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
	if r.code == "" {
		r.code = other.code
	}
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
		switch {
		case !has || rest == "" && (without > 0 || !c.joins(i)):
		case p.Alphabet == Digits:
			here.add(f.readDigits(p, c, i, rest))
		default:
			here.add(f.readLettersAndDigits(p, c, i, rest))
		}
	}
	return here
}

// readDigits reads the digits after the prefix of word i: rest, or the next
// word if rest is empty.
func (f *Finder) readDigits(p Pattern, c *content, i int, rest string) reading {
	first, apart := i, ""
	if rest == "" {
		apart = c.gap(i)
		i++
		rest = c.word(i)
	}
	body := rest[:digitsOf(rest)]
	if body == "" {
		return reading{}
	}
	here := reading{begun: true}
	if tail := rest[len(body):]; tail != "" {
		if p.fits(len(body)) && apart == "" && beginsWithAny(tail, wordsAfter) {
			here.code = p.Prefix + body
			here.doubt = f.goesOn(here.code)
		}
		return here
	}
	body, last, doubt := p.joinDigits(c, i, body)
	if here.doubt = doubt; body == "" {
		return here
	}
	if apart != "" && (len(body) < 4 || len(body) < 5 && strings.Contains(apart, " ")) ||
		(apart != "" || last > i) && looksOtherwise(body) {
		return here
	}
	here.code = p.Prefix + body
	here.doubt = f.goesOn(here.code) && c.mayBeCut(first, last) || c.isListed(last, len(body))
	return here
}

// joinDigits gives the digits that fit: body, which ends word i, or body and
// the next word after a hyphen; and the word that they end. There is a doubt if
// the digits of the next words make another number that fits.
func (p Pattern) joinDigits(c *content, i int, body string) (joined string, last int, doubt bool) {
	total, last := len(body), i
	if p.fits(total) {
		joined = body
	}
	for at := i; total <= p.Most && c.near(at); at++ {
		next := c.word(at + 1)
		if digitsOf(next) < len(next) {
			break
		}
		if total += len(next); !p.fits(total) {
			continue
		}
		hyphen := c.gap(at) == "-" || c.gap(at) == "_"
		if joined != "" || at > i || !hyphen || len(body) < 3 || len(next) < 3 {
			return "", i, true
		}
		joined, last = body+next, i+1
	}
	return joined, last, false
}

// readLettersAndDigits reads what follows the prefix of word i: rest, or the
// next word if rest is empty.
func (f *Finder) readLettersAndDigits(p Pattern, c *content, i int, rest string) reading {
	first, apart := i, ""
	if rest == "" {
		apart = c.gap(i)
		i++
		rest = c.word(i)
	}
	if !hasDigit(rest) {
		return reading{}
	}
	here := reading{begun: true}
	if c.near(i) {
		next := c.word(i + 1)
		here.doubt = p.fits(len(rest)+len(next)) && (hasDigit(next) || strings.HasPrefix(c.gap(i), "  "))
	}
	if apart != "" && (apart != "-" && apart != "_" || isCount(rest)) {
		return here
	}
	if !p.fits(len(rest)) || strings.Contains(rest, "*") || containsAny(rest, wordsAfter) {
		return here
	}
	here.code = p.Prefix + rest
	here.doubt = here.doubt || f.goesOn(here.code) && c.mayBeCut(first, i) || c.isListed(i, len(rest))
	return here
}

// goesOn reports whether code can be the beginning of a longer code.
func (f *Finder) goesOn(code string) bool {
	return slices.ContainsFunc(f.patterns[code[:MinPrefix]], func(p Pattern) bool { return p.goesOn(code) })
}
