package app

import (
	"fmt"
	"strconv"
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

// And is t with another sentence behind it; empty: none.
func (t Text) And(next Text) Text {
	if next == (Text{}) {
		return t
	}
	return Text{t.EN + " " + next.EN, t.VI + " " + next.VI}
}

// AcceptedLang picks the language of an Accept-Language header: the one of the
// service's languages with the highest weight, the first where weights are the
// same, and otherwise where it names none of them. Weight zero is never.
func AcceptedLang(header string, otherwise Lang) Lang {
	best, highest := otherwise, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, parameter, _ := strings.Cut(part, ";")
		primary, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
		lang, weight := Lang(strings.ToLower(primary)), 1.0
		if name, value, found := strings.Cut(parameter, "="); found && strings.EqualFold(strings.TrimSpace(name), "q") {
			weight, _ = strconv.ParseFloat(strings.TrimSpace(value), 64) // what is no number has no weight
		}
		if (lang == Vietnamese || lang == English) && weight > highest && weight <= 1 {
			best, highest = lang, weight
		}
	}
	return best
}

// Isolated keeps the direction of a name from what stands around it.
func Isolated(name string) string { return "\u2068" + name + "\u2069" }

// WriteTime writes an instant with its day in zone, the time first: what people
// look for.
func WriteTime(t time.Time, zone *time.Location) Text {
	t = t.In(zone)
	return Text{t.Format("15:04:05, 02 Jan 2006"), t.Format("15:04:05 02/01/2006")}
}
