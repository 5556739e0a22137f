package dashboard

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"math"
	"regexp"
	"strings"
	"unicode"
)

// A slip is a page for a roll of paper of 58 mm. CSS needs the height of a printed page as a
// number: so the height is estimated from the lines, and is in a style element of the page,
// whose digest is in the page's Content-Security-Policy.

// slipView is what the template slip gets.
type slipView struct {
	view
	Body  template.HTML // the navigation, and main, which is printed
	Style template.CSS
}

// writeSlip writes the slip whose navigation and main are in the template name.
func (s *Server) writeSlip(v *visit, name string, page view) error {
	body, err := s.showPart(page, name, page.Data)
	if err != nil {
		return err
	}
	_, main, _ := strings.Cut(string(body), "<main")
	style := fmt.Sprintf("@page { size: 58mm %dmm; }", slipHeight(main))
	sum := sha256.Sum256([]byte(style))
	v.w.Header().Set("Content-Security-Policy",
		strings.Replace(policy, "style-src ", "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"' ", 1))
	return s.write(v, 200, "slip", slipView{page, body, template.CSS(style)})
}

// maxSlip bounds the height of a slip, in mm. A longer slip continues on the next page.
const maxSlip = 3000

// slipBlock matches the opening tag of an element that begins a new line.
var slipBlock = regexp.MustCompile(`<(p|h1|h2|dt|dd|br|figure)\b[^>]*>`)

// slipTag matches any tag. Texts have no tags: the template has escaped them.
var slipTag = regexp.MustCompile(`<[^>]*>`)

// slipHeight estimates the height of a slip on paper in mm, rather too large than too small: it
// takes letters to be as wide as in the widest usual font.
func slipHeight(body string) int {
	const (
		width = 176.0 // px of text in a line: 48 mm, less the space at its end where a word didn't fit
		line  = 4.0   // mm
	)
	spaces := map[string]float64{"p": 1, "h1": 2, "h2": 4, "dt": .2, "figure": 32}
	height, label := 10.0, 0.0 // mm of the margins; px of the label before a value
	blocks := slipBlock.FindAllStringSubmatchIndex(body, -1)
	for i, at := range blocks {
		end := len(body)
		if i+1 < len(blocks) {
			end = blocks[i+1][0]
		}
		name, px := body[at[2]:at[3]], 0.0
		for _, r := range strings.TrimSpace(html.UnescapeString(slipTag.ReplaceAllString(body[at[1]:end], ""))) {
			switch {
			case r >= 0x1f00 || r == 'W' || r == 'M':
				px += 12
			case unicode.IsUpper(r):
				px += 8
			case strings.ContainsRune(" .,:/·()fijlrt", r):
				px += 4.2
			default:
				px += 7
			}
		}
		if name == "h1" {
			px *= 15. / 11
		}
		lines := math.Ceil(px / width)
		if name == "dd" && label+px < width {
			lines = 0 // the value is on the line of its label
		}
		label = px
		height += spaces[name] + lines*line
	}
	return min(int(math.Ceil(height)), maxSlip)
}
