package command

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

var (
	markdownCode  = regexp.MustCompile("(?m)^    .*$|`[^`]*`")
	commandInCode = regexp.MustCompile(`^(?:.*[ /])?baoco ([a-z][^#>|<` + "`" + `]*)`)
)

// Every command that the README, what lies beside it and the help name in code exists, with its flags.
func TestCommandsOfTheHelp(t *testing.T) {
	files, err := filepath.Glob("../../web/dashboard/help/*/*.md")
	must(t, err)
	beside, err := filepath.Glob("../../.github/*.md")
	must(t, err)
	files = append(files, beside...)
	named := 0
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, code := range markdownCode.FindAllString(string(text), -1) {
			if found := commandInCode.FindStringSubmatch(strings.Trim(code, "`")); found != nil {
				named++
				if problem := unknownIn(words(found[1])); problem != "" {
					t.Errorf("%s: %s: there is no %s", file, strings.TrimSpace(code), problem)
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("found only %d commands", named)
	}
}

// unknownIn is the command or the flag of a line that doesn't exist; empty: all do.
func unknownIn(line []string) string {
	root := rootCommand(nil, io.Discard, io.Discard)
	command := &cli.Command{Subcommands: append(root.Commands, &cli.Command{Name: "help", SkipFlagParsing: true})}
	for _, word := range line {
		switch {
		case len(command.Subcommands) > 0:
			i := slices.IndexFunc(command.Subcommands, func(c *cli.Command) bool { return c.Name == word })
			if i < 0 {
				return word
			}
			command = command.Subcommands[i]
		case strings.HasPrefix(word, "-"):
			flag, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if !slices.ContainsFunc(command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) }) {
				return word
			}
		}
	}
	return ""
}
