package app

import (
	"fmt"
	"strings"
	"time"
)

// Lang is a language that people are answered in.
type Lang string

// The languages of the service.
const (
	English    Lang = "en"
	Vietnamese Lang = "vi"
)

// Text is one sentence for people, in both languages.
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

// AcceptedLang picks the language of an Accept-Language header: Vietnamese
// where it is the first of the service's languages to be named with a weight
// above zero, English otherwise.
func AcceptedLang(header string) Lang {
	for part := range strings.SplitSeq(header, ",") {
		tag, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		switch strings.TrimSpace(weight) {
		case "q=0", "q=0.0", "q=0.00", "q=0.000":
			continue
		}
		primary, _, _ := strings.Cut(tag, "-")
		switch Lang(strings.ToLower(strings.TrimSpace(primary))) {
		case Vietnamese:
			return Vietnamese
		case English:
			return English
		}
	}
	return English
}

// Isolated keeps the direction of a name from what stands around it.
func Isolated(name string) string { return "\u2068" + name + "\u2069" }

// WriteTime writes an instant with its day in zone, the time first: what people
// look for.
func WriteTime(t time.Time, zone *time.Location) Text {
	t = t.In(zone)
	return Text{t.Format("15:04:05, 02 Jan 2006"), t.Format("15:04:05 02/01/2006")}
}
