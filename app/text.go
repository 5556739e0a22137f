package app

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Lang is a language of the service.
type Lang string

// The languages of the service.
const (
	English    Lang = "en"
	Vietnamese Lang = "vi"
)

// Text is a text for people, in both languages.
type Text struct {
	EN, VI string
}

// Textf formats the same arguments into both languages.
func Textf(en, vi string, args ...any) Text {
	return Text{EN: fmt.Sprintf(en, args...), VI: fmt.Sprintf(vi, args...)}
}

// In gives the text in lang, English where lang is unknown.
func (t Text) In(lang Lang) string {
	if lang == Vietnamese && t.VI != "" {
		return t.VI
	}
	return t.EN
}

// And appends a sentence; an empty one changes nothing.
func (t Text) And(next Text) Text {
	if next == (Text{}) {
		return t
	}
	return Text{t.EN + " " + next.EN, t.VI + " " + next.VI}
}

// AcceptedLang picks the language of an Accept-Language header: the one of the
// service's languages with the highest weight, the first of equal ones. It is
// otherwise if the header names none. Weight zero excludes a language.
func AcceptedLang(header string, otherwise Lang) Lang {
	best, highest := otherwise, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, parameter, _ := strings.Cut(part, ";")
		primary, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
		lang, weight := Lang(strings.ToLower(primary)), 1.0
		if name, value, found := strings.Cut(parameter, "="); found && strings.EqualFold(strings.TrimSpace(name), "q") {
			weight, _ = strconv.ParseFloat(strings.TrimSpace(value), 64) // 0 where it isn't a number
		}
		if (lang == Vietnamese || lang == English) && weight > highest && weight <= 1 {
			best, highest = lang, weight
		}
	}
	return best
}

// Isolated encloses a name so that its direction of writing doesn't change the
// text around it.
func Isolated(name string) string { return "\u2068" + name + "\u2069" }

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// ShellWord is a text as one word of a command for a POSIX shell: quoted where the shell
// would take it for anything else.
func ShellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return ShellQuoted(s)
}

// ShellQuoted quotes a text as one word of a POSIX shell. Between single quotes
// only the quote itself is special.
func ShellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// WriteTime writes an instant in zone, the time before the day, since people
// look for the time.
func WriteTime(t time.Time, zone *time.Location) Text {
	t = t.In(zone)
	return Text{t.Format("15:04:05, 02 Jan 2006"), t.Format("15:04:05 02/01/2006")}
}

// GroupDigits writes a number with a mark between each three of its digits, as the
// language does.
func GroupDigits(n int64, lang Lang) string {
	mark := byte(',')
	if lang == Vietnamese {
		mark = '.'
	}
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(mark)
		}
		b.WriteByte(digits[i])
	}
	return sign + b.String()
}
