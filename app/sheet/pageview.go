package sheet

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// hide notes that content from here on may be hidden. all: the tag can hide parts of the whole page or
// table, so it must come before the rows, since rows above it were read already.
func (t *pageTable) hide(hidden, all bool) {
	if t.unseen = t.unseen || hidden; hidden && all && t.line > 0 {
		t.err = errHidden
	}
}

// isHidden tells whether a tag hides something, or shows another text than the one that is read.
func (t *pageTable) isHidden(tag html.Token) bool {
	hidden := tag.Data == "script" && len(t.rows) > 1
	switch tag.Data {
	case "template", "noscript", "noframes", "noembed", "select", "textarea", "datalist", "iframe", "object", "svg", "math", "dialog",
		"details", "audio", "video", "canvas", "rp", "bdo", "comment":
		hidden = true
	}
	for _, a := range tag.Attr {
		switch {
		case a.Key == "hidden",
			a.Key == "style" && t.isOdd(a.Val),
			a.Key == "href" && (tag.Data == "link" || tag.Data == "base") && farAddress.MatchString(a.Val),
			(tag.Data == "col" || tag.Data == "tr") && thinSize.MatchString(a.Key+":"+a.Val):
			hidden = true
		}
	}
	return hidden
}

var (
	thinSize   = regexp.MustCompile(`(?i)(?:^|[:;{\s])(?:width|height)\s*:\s*(?:0+|0*\.[0-4][0-9]*)(?:[^0-9.]|$)`)
	farAddress = regexp.MustCompile(`^\s*(?://|[a-zA-Z]+:)`)
)

// comment reads a comment. If it begins with [if, Excel may show or hide its content, or the content
// up to the next such comment, and browsers do the opposite.
func (t *pageTable) comment(s string) {
	if s = strings.ToLower(strings.TrimSpace(s)); !strings.HasPrefix(s, "[if") {
		return
	}
	_, style, _ := strings.Cut(s, "<style")
	t.hide(!strings.Contains(s, "endif]"), false)
	t.hide(tableTag.MatchString(s) || len(t.rows) > 1 && textOfDigits.MatchString(s) || t.isOdd(style), true)
}

var (
	tableTag     = regexp.MustCompile(`<t[abdhr]`)
	textOfDigits = regexp.MustCompile(`>[^<]*[0-9]`)
)

// isOdd tells whether a style, of a page or of a tag, may hide something, or show a number as another
// one: everything that styles of statements don't usually do counts as odd.
func (t *pageTable) isOdd(style string) bool {
	odd, known := t.styles[style]
	if known {
		return odd
	}
	for rest := style; rest != "" && !odd; {
		part := stylePart.FindStringSubmatch(rest)
		rest = rest[len(part[0]):]
		name := plainStyle.FindStringSubmatch(part[1])
		switch {
		case part[2] == "{":
		case name == nil:
			odd = strings.ContainsAny(part[1], ":@")
		case strings.EqualFold(name[1], "mso-number-format"):
			odd = isOddFormat(name[2])
		default:
			odd = oddStyle.MatchString(name[1] + ":" + name[2])
		}
	}
	if len(t.styles) < maxStyles && len(style) <= maxFormat {
		t.styles[style] = odd
	}
	return odd
}

const maxStyles = 1000

// stylePart matches a selector, before {, or a name and its value. Comments, texts in quotes and
// escaped characters don't end it.
var stylePart = regexp.MustCompile(`(?s)((?:/\*.*?(?:\*/|$)|` +
	`"(?:[^"\\\n\r\f]|\\.)*"|'(?:[^'\\\n\r\f]|\\.)*'|\\.|[^;{}"'\\])*)(.?)`)

var (
	plainStyle = regexp.MustCompile(`(?is)^\s*(?:/\*.*?\*/\s*)*((?:mso-|font|border|padding|margin|background|text-|` +
		`vertical-align|white-space|word-|line-|table-layout|empty-cells|page|size|color|(?:min-|max-)?(?:width|height)|tab-interval|` +
		`layout-|ruby-|cursor|list-style|pointer-|box-|letter-|outline|behavior|display|visibility|position|overflow)[a-z-]*)\s*:\s*(.*)$`)
	oddStyle = regexp.MustCompile(`(?is)^(?:display:none|visibility:[^v]|position:[^rs]|mso-hide|` +
		`font(?:-size)?:0(?:[^.]|$)|[^:]*:(?:.*\s)?-[0-9.]|[a-ln-z][^:]*:.*\\)`)
)

// isOddFormat tells whether a number format adds digits, hides numbers or texts, or divides by 1000.
func isOddFormat(style string) bool {
	code := cssEscape.ReplaceAllStringFunc(strings.Trim(strings.TrimSpace(style), `"'`), func(s string) string {
		if n, err := strconv.ParseUint(strings.TrimSpace(s[1:]), 16, 32); err == nil && n > 0 {
			return string(rune(n))
		}
		return s[1:]
	})
	if len(code) > maxFormat {
		return true
	}
	f := parseFormat(code)
	return f.above == "" || f.below == "" || f.text != digits || strings.ContainsAny(f.above+f.below+f.zero, "0123456789") ||
		strings.Contains(f.above+f.below, digits+",")
}

var cssEscape = regexp.MustCompile(`(?s)\\(?:[0-9a-fA-F]{1,6}[ \t\r\n\f]?|.)`)

// values keeps the values of a cell that are in its tag.
func (t *pageTable) values(tag html.Token) {
	for _, a := range tag.Attr {
		if r := t.row(); isValue(a.Key) {
			if r.values, r.size = append(r.values, a.Val), r.size+len(a.Val); r.size > maxRowText {
				t.err = errLarge
			}
		}
	}
}

// isValue tells whether Excel or LibreOffice takes the value of an attribute instead of the text of the cell.
func isValue(key string) bool {
	_, name, _ := strings.Cut(key, ":")
	return key == "sdval" || strings.Contains(" num str bool err fmla ", " "+name+" ")
}

// agrees tells whether a value of a tag is the text, or a number or a day that the text shows. A number
// may be rounded. In a day, the month is never first.
func agrees(value, text string) bool {
	if value == "" || value == text {
		return true
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.Abs(n) > 1e15 {
		return false
	}
	shown := digitsOf(text)
	if strings.Trim(shown, "0") == "" {
		return n == 0
	}
	decimals := len(digitsOf(text[strings.LastIndexAny(text, ".,")+1:]))
	if decimals > 2 || decimals == len(shown) {
		decimals = 0
	}
	if digitsOf(strconv.FormatFloat(n, 'f', decimals, 64)) == shown {
		return n < 0 == strings.ContainsAny(text, "-(−")
	}
	day := digitsOf(singleDigit.ReplaceAllString(text, "0$0"))
	at := time.Unix(int64(math.Round((n-25569)*86400)), 0).UTC()
	return len(day) > 5 && slices.ContainsFunc([]string{"02012006150405", "20060102150405", "020106150405"},
		func(layout string) bool { return strings.HasPrefix(at.Format(layout), day) })
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

var singleDigit = regexp.MustCompile(`\b[0-9]\b`)
