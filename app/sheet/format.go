package sheet

import (
	"regexp"
	"strings"
)

// What a workbook shows of a number (ECMA-376, 18.8.30 and 18.8.31). A person sees "$100",
// "1,500" or "(5,000)" where cells hold 100, 1500000 and 5000.

// numberFormat is what a format shows of numbers above and below 0: digits stands for their
// digits, and the rest is shown around them.
type numberFormat struct{ above, below string }

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

// parseFormat reads the code of a format: one section for all numbers, or one for those
// from 0 on and one for those below. A comma behind the digits divides by 1000: it stays,
// as do a condition and the letters of a date.
func parseFormat(code string) numberFormat {
	sections, found := []string{""}, false
	for code != "" {
		last := &sections[len(sections)-1]
		if number := digitsForm.FindString(code); number != "" && !found {
			*last, found, code = *last+digits, true, code[len(number):]
			continue
		}
		piece := pieceForm.FindStringSubmatch(code)
		if code = code[len(piece[0]):]; piece[4] == ";" {
			sections, found = append(sections, ""), false
			continue
		}
		*last += piece[1] + piece[2] + piece[3] + piece[4]
	}
	f := numberFormat{above: strings.TrimFunc(sections[0], isBlank)}
	f.below = "-" + f.above
	if len(sections) > 1 {
		f.below = strings.TrimFunc(sections[1], isBlank)
	}
	return f
}

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

// shown returns a number as the format at a place shows it.
func (f numberFormats) shown(place int, number string) string {
	if place < 0 || place >= len(f) {
		return number
	}
	form := f[place].above
	rest, negative := strings.CutPrefix(number, "-")
	if negative {
		form = f[place].below
	}
	return strings.Replace(form, digits, rest, 1)
}
