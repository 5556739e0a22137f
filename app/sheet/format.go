package sheet

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file formats numbers as a workbook shows them (ECMA-376, 18.8.30 and 18.8.31). A person
// may see "$100", "1,500" or "(5,000)" while the cells hold 100, 1500000 and 5000.

// numberFormat has the forms of numbers above and below 0, of 0, and of texts. In a form,
// digits is the place of the digits or of the text, and the rest is shown around them.
type numberFormat struct {
	above, below, zero, text string
	conditional              []string // sections with conditions, which replace above, below and zero; nil: none
}

const (
	digits    = "\x00"
	group     = "\x01" // after digits: a mark written in the format, and three more digits
	maxFormat = 1000   // bytes; Excel takes 255
)

// digitsForm matches the digits in a format. pieceForm matches any other piece: a text in
// quotes, a character after a backslash or one that fills the cell, a space as wide as a
// character, the sign of a currency with a language, a colour, something else in brackets, or
// any character.
var (
	digitsForm = regexp.MustCompile(`^(?:(?i:General)|@|[0#?](?:[, ]*[0#?])*(?:\\[., ][0#?]{3})*` +
		`(?:\.[0#?]*(?:,[0#?]+)*)?(?:E[+-][0#?]+)?|\.[0#?]+)`)
	pieceForm = regexp.MustCompile(`(?s)^(?:"([^"]*)"?|[\\*](.)|_.|\[\$([^\]-]*)(?:-[^\]]*)?\]|` +
		`\[(?i:black|blue|cyan|green|magenta|red|white|yellow|color *\d+)\]|(\[[^\]]*\]|.))`)
	conditionForm = regexp.MustCompile(`^\[(<=?|>=?|=|<>)(-?\d+)\]`)
)

// parseFormat reads the code of a format: one section for all numbers, or sections for numbers above 0,
// for numbers below 0, for 0 and for texts; the last section is for texts too if its digits are an @. A comma
// after the digits divides by 1000: the form keeps it, and the letters of a date.
func parseFormat(code string) numberFormat {
	sections, found, text := []string{""}, false, false
	for code != "" {
		last := &sections[len(sections)-1]
		if number := digitsForm.FindString(code); number != "" && !found {
			groups := strings.Repeat(group, strings.Count(number, `\`))
			*last, found, text, code = *last+digits+groups, true, number == "@", code[len(number):]
			continue
		}
		piece := pieceForm.FindStringSubmatch(code)
		if code = code[len(piece[0]):]; piece[4] == ";" {
			sections, found, text = append(sections, ""), false, false
			continue
		}
		*last += piece[1] + piece[2] + piece[3] + piece[4]
	}
	for i := range sections {
		sections[i] = strings.TrimFunc(sections[i], isBlank)
	}
	f := numberFormat{above: sections[0], below: "-" + sections[0], zero: sections[0], text: digits}
	if last := len(sections) - 1; text || last > 2 {
		f.text, sections = sections[last], sections[:last]
	}
	if slices.ContainsFunc(sections, conditionForm.MatchString) {
		f.conditional = sections
	}
	if len(sections) > 1 {
		f.below = sections[1]
	}
	if len(sections) > 2 {
		f.zero = sections[2]
	}
	return f
}

// choose returns the section that shows a number, without its condition. If this isn't clear it
// returns all sections: a negative number may have lost its minus, or a section before the last has no condition.
func choose(sections []string, number float64) string {
	unclear := strings.Join(sections, ";")
	for i, section := range sections {
		part := conditionForm.FindStringSubmatch(section)
		switch {
		case part == nil && (i < len(sections)-1 || number < 0):
			return unclear
		case part == nil:
			return section
		}
		limit, _ := strconv.ParseFloat(part[2], 64)
		holds := map[string]bool{"<": number < limit, "<=": number <= limit, ">": number > limit, ">=": number >= limit,
			"=": number == limit, "<>": number != limit}
		switch {
		case holds[part[1]] && number < 0 && (part[1] != "<" || limit > 0):
			return unclear
		case holds[part[1]]:
			return section[len(part[0]):]
		}
	}
	return unclear
}

var general = parseFormat("General")

func isBlank(r rune) bool { return r != 0 && IsSpace(r) }

// builtinCode returns the code of a format that every spreadsheet program knows by its number.
// Only percents and dates show something else than the number.
func builtinCode(id int) string {
	switch {
	case id == 9, id == 10:
		return "0%"
	case id >= 14 && id <= 22, id >= 27 && id <= 36, id >= 45 && id <= 47, id >= 50 && id <= 58:
		return "d"
	}
	return "General"
}

// readStyles reads the formats of the numbers.
func (w *workbook) readStyles(name string) error {
	var list struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			ID int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	err := w.readList(name, &list)
	if err != nil {
		return err
	}
	codes, styles := map[int]string{}, []int{}
	for _, f := range list.Formats {
		codes[f.ID] = f.Code
	}
	for _, c := range list.Cells {
		styles = append(styles, c.ID)
	}
	w.formats, err = newFormats(codes, styles)
	return err
}

// numberFormats are the formats that cells name by their place, from 0.
type numberFormats []numberFormat

// newFormats makes the formats from the codes by format number, and the format number at each place.
func newFormats(codes map[int]string, places []int) (list numberFormats, err error) {
	formats := map[int]numberFormat{}
	for id, code := range codes {
		if len(code) > maxFormat {
			return nil, errLarge
		}
		formats[id] = parseFormat(code)
	}
	for _, id := range places {
		f, ok := formats[id]
		if !ok {
			f = parseFormat(builtinCode(id))
			formats[id] = f
		}
		list = append(list, f)
	}
	return list, nil
}

// show returns the cell with Shown and Unseen set by the format at a place. A 0 that isn't shown is
// not Unseen.
func (f numberFormats) show(place int, c Cell) Cell {
	format := general
	if place >= 0 && place < len(f) {
		format = f[place]
	}
	if !c.Number {
		if c.Unseen = format.text != digits; c.Unseen {
			c.Shown = strings.Replace(format.text, digits, c.Text, 1)
		}
		return c
	}
	form := format.above
	rest, negative := strings.CutPrefix(c.Text, "-")
	zero := !strings.ContainsAny(rest, "123456789")
	switch {
	case format.conditional != nil:
		number, _ := strconv.ParseFloat(c.Text, 64)
		form = choose(format.conditional, number)
	case zero:
		form = format.zero
	case negative:
		form = format.below
	}
	if whole, _, _ := strings.Cut(rest, "."); 3*strings.Count(form, group) < len(whole) {
		form = strings.ReplaceAll(form, group, "")
	}
	c.Shown = strings.ReplaceAll(strings.ReplaceAll(form, group, ".###"), digits, rest)
	c.Unseen = !zero && (form == "" || strings.Contains(form, "0")) || strings.ContainsAny(form, "123456789")
	return c
}
