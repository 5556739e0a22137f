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

// A slip is a page for a roll of paper of 58 mm. A page of CSS has a height in figures, none
// that follows from what stands on it: so the height is worked out from the lines, and
// stands in a style of the page, which its policy names.

// slipView is what the frame of a slip gets.
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

// maxSlip bounds the height of a slip, in mm. What is longer goes on on the next page.
const maxSlip = 3000

// slipBlock is the beginning of what has lines of its own.
var slipBlock = regexp.MustCompile(`<(p|h1|h2|dt|dd|br|figure)\b[^>]*>`)

// slipTag is any tag. Texts have none: the template has escaped them.
var slipTag = regexp.MustCompile(`<[^>]*>`)

// slipHeight is about how many mm the HTML of a slip takes on paper, rather more than less:
// the letters are as wide as those of the widest font that machines have.
func slipHeight(body string) int {
	const (
		width = 176.0 // px that a line holds: 48 mm, less what a word leaves empty that goes to the next line
		line  = 4.0   // mm
	)
	spaces := map[string]float64{"p": 1, "h1": 2, "h2": 4, "dt": .2, "figure": 32}
	height, label := 10.0, 0.0 // mm of the margins, and px of the label before a value
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
			lines = 0 // beside its label
		}
		label = px
		height += spaces[name] + lines*line
	}
	return min(int(math.Ceil(height)), maxSlip)
}
