package sheet

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What a workbook shows of a number (ECMA-376, 18.8.30 and 18.8.31). A person sees "$100",
// "1,500" or "(5,000)" where cells hold 100, 1500000 and 5000.

// numberFormat is what a format shows of numbers above and below 0, of 0, and of texts: digits
// stands for their digits or for the text, and the rest is shown around them.
type numberFormat struct {
	above, below, zero, text string
	conditional              []string // sections of which some begin with a condition, in place of the first three
}

const (
	digits    = "\x00"
	group     = "\x01" // behind digits: a mark and three of them, which are written by hand
	maxFormat = 1000   // bytes; Excel takes 255
)

// digitsForm is where a format has the digits. pieceForm is any other piece of it: a text
// in quotes, a character behind a backslash or one that fills the cell, a space as wide as
// a character, the sign of a currency with a language, a colour, something else in brackets,
// or any character.
var (
	digitsForm = regexp.MustCompile(`^(?:(?i:General)|@|[0#?](?:[, ]*[0#?])*(?:\\[., ][0#?]{3})*` +
		`(?:\.[0#?]*(?:,[0#?]+)*)?(?:E[+-][0#?]+)?|\.[0#?]+)`)
	pieceForm = regexp.MustCompile(`(?s)^(?:"([^"]*)"?|[\\*](.)|_.|\[\$([^\]-]*)(?:-[^\]]*)?\]|` +
		`\[(?i:black|blue|cyan|green|magenta|red|white|yellow|color *\d+)\]|(\[[^\]]*\]|.))`)
	conditionForm = regexp.MustCompile(`^\[(<=?|>=?|=|<>)(-?\d+)\]`)
)

// parseFormat reads the code of a format: one section for all numbers, or one for those above 0, one
// for those below, one for 0 and one for texts; the last one is also for texts if it has an @. A comma
// behind the digits divides by 1000: it stays, as do the letters of a date.
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

// choose is the section that shows a number, without its condition. Only one for numbers below 0 certainly
// leaves out their minus, and only the last may have no condition: else it is all of them.
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

// builtinCode is the code of a format that every spreadsheet program knows by its number:
// only percents and dates show something else than the number.
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

// newFormats makes them of codes, by the number of a format, and of the number at each place.
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

// show says what the format at a place shows of a number or a text. That nothing of a 0 is shown doesn't
// matter.
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
