package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves flags before the arguments of their command, wherever they
// stand: the library stops reading flags at the first argument. What follows
// "--" is arguments. "help a b" asks for the help of "a b".
func flagsFirst(root *cli.App, args []string) []string {
	if len(args) > 2 && args[1] == "help" {
		return append(append(args[:1:1], args[2:]...), "--help")
	}
	if len(args) == 0 {
		return args
	}
	path, flags, rest := []string{args[0]}, []string{}, []string{}
	commands := root.Commands
	var current *cli.Command
	// The command has to be known before its flags can be told from arguments.
	for i := 1; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			break
		}
		if strings.HasPrefix(arg, "-") {
			if !strings.Contains(arg, "=") && anyFlagTakesValue(root.Commands, arg) {
				i++
			}
			continue
		}
		next := find(commands, arg)
		if next == nil {
			break
		}
		current, commands = next, next.Subcommands
		path = append(path, arg)
	}
	if current != nil && current.SkipFlagParsing {
		return args
	}
	skip := len(path) - 1
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case len(arg) > 1 && arg[0] == '-' && !isNegative(arg):
			flags = append(flags, arg)
			takes := takesValue(current, arg) || current == nil && anyFlagTakesValue(root.Commands, arg)
			if !strings.Contains(arg, "=") && takes && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
		case skip > 0:
			skip-- // a word of the command itself
		default:
			rest = append(rest, arg)
		}
	}
	if current == nil && len(rest) > 0 { // an unknown command, whose flags nobody knows
		flags = nil
	}
	out := append(path, flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out
}

func isNegative(arg string) bool { return arg[1] >= '0' && arg[1] <= '9' }

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

func takesValue(command *cli.Command, arg string) bool {
	if command == nil {
		return false
	}
	name := strings.TrimLeft(arg, "-")
	for _, f := range command.Flags {
		for _, n := range f.Names() {
			if n == name {
				_, boolean := f.(*cli.BoolFlag)
				return !boolean
			}
		}
	}
	return false
}

func anyFlagTakesValue(commands []*cli.Command, arg string) bool {
	for _, c := range commands {
		if takesValue(c, arg) || anyFlagTakesValue(c.Subcommands, arg) {
			return true
		}
	}
	return false
}
