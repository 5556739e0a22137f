package sheet

import (
	"regexp"
	"strings"
)

// What a workbook shows of a number (ECMA-376, 18.8.30 and 18.8.31). A person sees "$100",
// "1,500" or "(5,000)" where cells hold 100, 1500000 and 5000.

// numberFormat is what a format shows of numbers above and below 0, of 0, and of texts: digits
// stands for their digits or for the text, and the rest is shown around them.
type numberFormat struct{ above, below, zero, text string }

const (
	digits    = "\x00"
	maxFormat = 1000 // bytes; Excel takes 255
)

// digitsForm is where a format has the digits. pieceForm is any other piece of it: a text
// in quotes, a character behind a backslash or one that fills the cell, a space as wide as
// a character, the sign of a currency with a language, a colour, something else in brackets,
// or any character.
var (
	digitsForm = regexp.MustCompile(`^(?:(?i:General)|@|[0#?](?:[, ]*[0#?])*(?:\.[0#?]*(?:,[0#?]+)*)?(?:E[+-][0#?]+)?|\.[0#?]+)`)
	pieceForm  = regexp.MustCompile(`(?s)^(?:"([^"]*)"?|[\\*](.)|_.|\[\$([^\]-]*)(?:-[^\]]*)?\]|` +
		`\[(?i:black|blue|cyan|green|magenta|red|white|yellow|color *\d+)\]|(\[[^\]]*\]|.))`)
)

// parseFormat reads the code of a format: one section for all numbers, or one for those above 0, one
// for those below, one for 0 and one for texts; the last one is also for texts if it has an @. A comma
// behind the digits divides by 1000: it stays, as do a condition and the letters of a date.
func parseFormat(code string) numberFormat {
	sections, found, text := []string{""}, false, false
	for code != "" {
		last := &sections[len(sections)-1]
		if number := digitsForm.FindString(code); number != "" && !found {
			*last, found, text, code = *last+digits, true, number == "@", code[len(number):]
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
	f := numberFormat{sections[0], "-" + sections[0], sections[0], digits}
	if last := len(sections) - 1; text || last > 2 {
		f.text, sections = sections[last], sections[:last]
	}
	if len(sections) > 1 {
		f.below = sections[1]
	}
	if len(sections) > 2 {
		f.zero = sections[2]
	}
	return f
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
		c.Unseen = format.text != digits
		return c
	}
	form := format.above
	rest, negative := strings.CutPrefix(c.Text, "-")
	zero := !strings.ContainsAny(rest, "123456789")
	switch {
	case zero:
		form = format.zero
	case negative:
		form = format.below
	}
	c.Shown = strings.Replace(form, digits, rest, 1)
	c.Unseen = form == "" && !zero || strings.ContainsAny(form, "123456789")
	return c
}
