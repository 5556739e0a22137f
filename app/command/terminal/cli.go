package terminal

import (
	"fmt"
	"slices"
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

// finish gives a command and those below it what all of them have.
func finish(command *cli.Command) {
	command.OnUsageError = usageError
	if len(command.Subcommands) == 0 {
		for _, f := range []cli.Flag{DBFlag, accountFlag} {
			if !hasFlag(command, f.Names()[0]) {
				command.Flags = append(command.Flags, f)
			}
		}
		ownFlags(command)
		checkFlags(command)
		return
	}
	if command.Action == nil {
		command.Action = func(c *cli.Context) error {
			if c.Args().Present() {
				return UnknownCommand(c, command.Subcommands)
			}
			return cli.ShowSubcommandHelp(c)
		}
	}
	for _, sub := range command.Subcommands {
		finish(sub)
	}
}

func hasFlag(command *cli.Command, name string) bool {
	return slices.ContainsFunc(command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// ownFlags gives a command copies of its flags: the library writes what a
// variable of the environment holds into a flag, for every later run in the
// process.
func ownFlags(command *cli.Command) {
	for i, f := range command.Flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			own := *f
			command.Flags[i] = &own
		case *cli.Int64Flag:
			own := *f
			command.Flags[i] = &own
		}
	}
}

// checkFlags checks flags before the action, required ones too: the library
// would print its help to stdout, where data goes. What the action finds wrong
// is told in the words of the command line.
func checkFlags(command *cli.Command) {
	var required []string
	for _, f := range command.Flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			if f.Required {
				f.Required = false
				required = append(required, f.Name)
			}
		case *cli.Int64Flag:
			if f.Required {
				f.Required = false
				required = append(required, f.Name)
			}
		}
	}
	action := command.Action
	command.Action = func(c *cli.Context) error {
		if err := missingFlags(c, required); err != nil {
			return err
		}
		for _, f := range command.Flags {
			name := f.Names()[0]
			_, number := f.(*cli.Int64Flag) // others are ids of providers
			if number && strings.HasSuffix(name, "-id") && name != "since-id" && c.IsSet(name) && c.Int64(name) < 1 {
				return Exit(ExitNotFound, fmt.Errorf("--%s %d names nothing", name, c.Int64(name)))
			}
		}
		if err := action(c); err != nil {
			return typedError{err, command}
		}
		return nil
	}
}

// missingFlags tells all required flags that were not given.
func missingFlags(c *cli.Context, required []string) error {
	var missing []string
	for _, name := range required {
		if !c.IsSet(name) {
			missing = append(missing, "--"+name)
		}
	}
	switch n := len(missing); n {
	case 0:
		return nil
	case 1:
		return Usagef("%s is required; see %s --help", missing[0], c.Command.HelpName)
	default:
		return Usagef("%s and %s are required; see %s --help", strings.Join(missing[:n-1], ", "), missing[n-1], c.Command.HelpName)
	}
}

// UnknownCommand is the error of a word that should be one of commands.
func UnknownCommand(c *cli.Context, commands []*cli.Command) error {
	typed := c.Args().First()
	var names []*cli.Command
	for _, command := range commands {
		if !command.Hidden {
			names = append(names, command)
		}
	}
	return Usagef("there is no command %q. %s See %s --help", strings.TrimSpace(c.Command.HelpName+" "+typed), cli.SuggestCommand(names, typed), c.Command.HelpName)
}

// usageError is what the library says of flags that it can't read, with the
// nearest flag where there is none of the name.
func usageError(c *cli.Context, err error, _ bool) error {
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		return Usagef("there is no flag %q. Did you mean %s? See %s --help", dashed(name), cli.SuggestFlag(c.Command.Flags, name, false), c.Command.HelpName)
	}
	if name, missing := strings.CutPrefix(err.Error(), "flag needs an argument: -"); missing {
		return Usagef("%s needs a value; see %s --help", dashed(name), c.Command.HelpName)
	}
	var value, name string
	if n, _ := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &name); n == 2 {
		return Usagef("%s can't be %q; see %s --help", dashed(strings.TrimSuffix(name, ":")), value, c.Command.HelpName)
	}
	return Exit(ExitUsage, err)
}

// dashed is a flag as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
