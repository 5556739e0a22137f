package terminal

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// IsTerminal reports whether a person reads w on a terminal.
func IsTerminal(w io.Writer) bool { return columns(w) > 0 }

// columns returns the width of the terminal that w writes to; 0: it is no terminal.
func columns(w io.Writer) int {
	if out, ok := w.(*stdout); ok {
		w = out.Writer
	}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 1 {
		return width
	}
	return 80
}

func init() {
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		var b bytes.Buffer
		cli.HelpPrinterCustom(&b, template, data, nil)
		_, _ = io.WriteString(w, fitHelp(b.String(), columns(w)))
	}
}

// lastColumn matches a line of help up to its last column.
var lastColumn = regexp.MustCompile(`^ *(\S.*?  +)?`)

// fitHelp breaks the lines of a help that are wider than the terminal; the rest continues
// under the last column. Examples aren't broken, because people copy them.
func fitHelp(text string, width int) string {
	if width == 0 {
		return text
	}
	var b strings.Builder
	example := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		example = strings.TrimSpace(line) == "Example:" || example && line != ""
		if example {
			b.WriteString(line + "\n")
			continue
		}
		indent := strings.Repeat(" ", min(utf8.RuneCountInString(lastColumn.FindString(line)), width*2/3))
		for utf8.RuneCountInString(line) > width {
			runes := []rune(line)
			at := strings.LastIndex(string(runes[:width+1]), " ")
			if at <= len(indent) {
				break
			}
			b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = indent + strings.TrimLeft(line[at:], " ")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
