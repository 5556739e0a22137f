package terminal

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Completions returns what the last word of a line can become: a command or, after a dash,
// a flag, each with its purpose; or a value of the flag before it. It returns none for
// arguments and other values. The shell may give --flag=value as three words.
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
				if i++; i < len(before) && before[i] == "=" {
					i++
				}
				if i >= len(before) {
					return values(current, word, strings.TrimPrefix(last, "="))
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
	if name, value, ok := strings.Cut(last, "="); ok {
		for _, v := range values(current, name, value) {
			found = append(found, [2]string{name + "=" + v[0], ""})
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

// values returns the values of a flag that start with begin.
func values(command *cli.Command, flag, begin string) (found [][2]string) {
	if command == nil {
		return nil
	}
	for _, f := range command.Flags {
		if !slices.Contains(f.Names(), strings.TrimLeft(flag, "-")) {
			continue
		}
		var values []string
		switch f := f.(type) {
		case *ChoiceFlag:
			values = f.Values
		case *ChoicesFlag:
			values = f.Values
		}
		for _, value := range values {
			if strings.HasPrefix(value, begin) {
				found = append(found, [2]string{value, ""})
			}
		}
	}
	return found
}
