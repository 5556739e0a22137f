package terminal

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// Completions are the commands that the last word of a line can become, or the
// flags after a dash, each with its purpose. There are none where a value or an
// argument stands.
func Completions(root *cli.App, line []string) (found [][2]string) {
	if len(line) == 0 {
		return nil
	}
	before, last := line[:len(line)-1], line[len(line)-1]
	commands := root.Commands
	var current *cli.Command
	for i := 0; i < len(before); i++ {
		word := before[i]
		switch next := find(commands, word); {
		case word == "--":
			return nil
		case strings.HasPrefix(word, "-"):
			if takes := takesValue(current, word) || anyFlagTakesValue(commands, word); takes && !strings.Contains(word, "=") {
				if i++; i == len(before) {
					return nil
				}
			}
		case next == nil:
			commands = nil
		default:
			current, commands = next, next.Subcommands
		}
	}
	if !strings.HasPrefix(last, "-") {
		for _, c := range commands {
			if !c.Hidden && strings.HasPrefix(c.Name, last) {
				found = append(found, [2]string{c.Name, c.Usage})
			}
		}
		return found
	}
	flags := root.Flags
	if current != nil {
		flags = current.Flags
	}
	for _, f := range append(flags[:len(flags):len(flags)], cli.HelpFlag) {
		shown, ok := f.(cli.VisibleFlag)
		if name := "--" + f.Names()[0]; strings.HasPrefix(name, last) && (!ok || shown.IsVisible()) {
			usage := ""
			if documented, ok := f.(cli.DocGenerationFlag); ok {
				usage = strings.ReplaceAll(documented.GetUsage(), "`", "")
			}
			found = append(found, [2]string{name, usage})
		}
	}
	return found
}
