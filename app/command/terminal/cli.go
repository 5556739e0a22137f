package terminal

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// This file adapts the command line library: flags may follow arguments, errors of
// use are one line on stderr, and an environment variable counts for one run only.

// flagsFirst moves the flags of a command line before its arguments, because the
// library stops reading flags at the first argument. Words after "--" are
// arguments. "help a b" becomes "a b --help".
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
	// The command is found first, because its flags decide which words are values.
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
			skip-- // it is a word of the command itself
		default:
			rest = append(rest, arg)
		}
	}
	if current == nil && len(rest) > 0 { // the command and its flags are unknown
		flags = nil
	}
	out := append(path, flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out
}

const typedWords = "words"

// Typed reports whether a flag is on the command line. The library's IsSet also counts
// flags that are set by the environment.
func Typed(c *cli.Context, flag string) bool {
	words, _ := c.App.Metadata[typedWords].([]string)
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		name, _, hasValue := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "-") {
			continue
		}
		if strings.TrimLeft(name, "-") == flag {
			return true
		}
		if !hasValue && takesValue(c.Command, name) {
			i++
		}
	}
	return false
}

func isNegative(arg string) bool { return arg[1] >= '0' && arg[1] <= '9' }

func find(commands []*cli.Command, name string) *cli.Command {
	if i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) }); i >= 0 {
		return commands[i]
	}
	return nil
}

// takesValue reports whether arg is a flag of the command with a value.
func takesValue(command *cli.Command, arg string) bool {
	if command == nil {
		return false
	}
	name := strings.TrimLeft(arg, "-")
	return slices.ContainsFunc(command.Flags, func(f cli.Flag) bool {
		_, boolean := f.(*cli.BoolFlag)
		return !boolean && slices.Contains(f.Names(), name)
	})
}

// anyFlagTakesValue is takesValue for any of the commands and their subcommands.
func anyFlagTakesValue(commands []*cli.Command, arg string) bool {
	return slices.ContainsFunc(commands, func(c *cli.Command) bool { return takesValue(c, arg) || anyFlagTakesValue(c.Subcommands, arg) })
}

// prepare gives a command and its subcommands the flags --db and --account, and the
// checks that all commands have.
func prepare(command *cli.Command) {
	command.OnUsageError = usageError
	if len(command.Subcommands) == 0 {
		for _, f := range []cli.Flag{DBFlag, accountFlag} {
			if !hasFlag(command, f.Names()[0]) {
				command.Flags = append(command.Flags, f)
			}
		}
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
		prepare(sub)
	}
}

func hasFlag(command *cli.Command, name string) bool {
	return slices.ContainsFunc(command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// noDefault is the text for the default of a required flag in the help.
const noDefault = "none, it is needed"

// checkFlags makes a command check its flags before its action. If a required flag is
// missing, the library would print the help to stdout, where data goes. The command gets
// copies of its flags, because the library writes the values of environment variables
// into them, and they would stay for later runs in this process.
func checkFlags(command *cli.Command) {
	var required []string
	for i, f := range command.Flags {
		own := reflect.New(reflect.TypeOf(f).Elem())
		own.Elem().Set(reflect.ValueOf(f).Elem())
		if needed := own.Elem().FieldByName("Required"); needed.Bool() {
			needed.SetBool(false)
			own.Elem().FieldByName("DefaultText").SetString(noDefault)
			required = append(required, f.Names()[0])
		}
		command.Flags[i] = own.Interface().(cli.Flag)
	}
	action := command.Action
	command.Action = func(c *cli.Context) error {
		if err := missingFlags(c, required); err != nil {
			return err
		}
		if err := CheckChoices(c, command.Flags); err != nil {
			return err
		}
		for _, f := range command.Flags {
			name := f.Names()[0]
			_, number := f.(*cli.Int64Flag) // other flags that end in -id are ids of providers
			if number && strings.HasSuffix(name, "-id") && name != "since-id" && c.IsSet(name) && c.Int64(name) < 1 {
				return Exit(ExitNotFound, fmt.Errorf("--%s %d names nothing", name, c.Int64(name)))
			}
		}
		if err := action(c); err != nil {
			return commandError{err, command}
		}
		return nil
	}
}

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

// UnknownCommand returns the error for an argument that is no command. It suggests the
// most similar command.
func UnknownCommand(c *cli.Context, commands []*cli.Command) error {
	typed := c.Args().First()
	var names []*cli.Command
	for _, command := range commands {
		if !command.Hidden {
			names = append(names, command)
		}
	}
	return Usagef("there is no command %q. %s See %s --help", strings.TrimSpace(c.Command.HelpName+" "+typed),
		cli.SuggestCommand(names, typed), c.Command.HelpName)
}

// usageError rewrites the library's errors about flags. For an unknown flag it suggests
// the most similar one.
func usageError(c *cli.Context, err error, _ bool) error {
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		suggestion := ""
		if nearest := cli.SuggestFlag(c.Command.Flags, name, false); nearest != "" {
			suggestion = " Did you mean " + nearest + "?"
		}
		return Usagef("there is no flag %q.%s See %s --help", dashed(name), suggestion, c.Command.HelpName)
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

// dashed returns a flag as a user types it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
