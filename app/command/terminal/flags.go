package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"baoco/app"

	"github.com/urfave/cli/v2"
)

func Example(lines ...string) string { return "Example:\n   " + strings.Join(lines, "\n   ") }

// Flags that many commands have.
var (
	DBFlag = &cli.StringFlag{
		Name: "db", Usage: "database `FILE`", Value: "baoco.db", EnvVars: []string{"BAOCO_DB"},
	}
	accountFlag = &cli.Int64Flag{
		Name: "account", Usage: "account `ID`", Value: app.DefaultAccountID, EnvVars: []string{"BAOCO_ACCOUNT"},
	}
	OutputFlag = Choice(cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Usage: "`FORMAT`: %s", Value: "text", EnvVars: []string{"BAOCO_OUTPUT"},
	}, "text", "json")
)

// ChoiceFlag is a flag whose value is one of a few. Its help names them, completion offers
// them, and the command refuses other values. An empty value counts as not given.
type ChoiceFlag struct {
	cli.StringFlag
	Values []string
	Open   bool // only the action checks the value: other values may be right, or several errors are reported together
}

// Choice makes a ChoiceFlag. The values replace %s in its usage.
func Choice[T ~string](f cli.StringFlag, values ...T) *ChoiceFlag {
	choice := &ChoiceFlag{StringFlag: f}
	for _, value := range values {
		choice.Values = append(choice.Values, string(value))
	}
	choice.Usage = strings.ReplaceAll(f.Usage, "%s", oneOf(choice.Values))
	return choice
}

// Suggest is Choice for a flag whose value the action checks.
func Suggest[T ~string](f cli.StringFlag, values ...T) *ChoiceFlag {
	choice := Choice(f, values...)
	choice.Open = true
	return choice
}

// ChoicesFlag is ChoiceFlag for a flag that can be repeated.
type ChoicesFlag struct {
	cli.StringSliceFlag
	Values []string
}

// Choices makes a ChoicesFlag. The values replace %s in its usage.
func Choices[T ~string](f cli.StringSliceFlag, values []T) *ChoicesFlag {
	one := Choice(cli.StringFlag{Usage: f.Usage}, values...)
	f.Usage = one.Usage
	return &ChoicesFlag{f, one.Values}
}

// CheckChoices refuses a value that isn't one of the flag's choices.
func CheckChoices(c *cli.Context, flags []cli.Flag) error {
	for _, f := range flags {
		var given, values []string
		switch f := f.(type) {
		case *ChoiceFlag:
			if !f.Open {
				given, values = []string{c.String(f.Name)}, f.Values
			}
		case *ChoicesFlag:
			given, values = c.StringSlice(f.Name), f.Values
		}
		for _, value := range given {
			if value != "" && !slices.Contains(values, value) {
				return Usagef("--%s must be %s, not %q", f.Names()[0], oneOf(values), value)
			}
		}
	}
	return nil
}

// oneOf writes a, b or c.
func oneOf(values []string) string {
	last := len(values) - 1
	if last < 1 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// AdminFlags returns the flags of a command that works on the database file: its own and the common ones.
func AdminFlags(more ...cli.Flag) []cli.Flag {
	return append(more, DBFlag, accountFlag, OutputFlag)
}

// IDArgument reads the id that is the only argument of a command. what is the noun of
// the thing, for errors.
func IDArgument(c *cli.Context, what string) (int64, error) {
	if c.NArg() != 1 {
		return 0, Usagef("%s takes one argument, the id of a %s", c.Command.FullName(), what)
	}
	return ParseID(c.Args().First(), what)
}

// ParseID reads an id. For a number below 1 the error is that it wasn't found; other
// text is an error of use, as in a flag.
func ParseID(text, what string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, Usagef("the id of a %s is a number, not %q", what, text)
	}
	if id < 1 {
		return 0, Exit(ExitNotFound, fmt.Errorf("there is no %s with the id %d", what, id))
	}
	return id, nil
}

// NoArguments returns an error if the command has arguments.
func NoArguments(c *cli.Context) error {
	if c.Args().Present() {
		return Usagef("%s takes no argument, but got %q", c.Command.FullName(), c.Args().First())
	}
	return nil
}

// WithoutArguments wraps an action of a command that takes flags only.
func WithoutArguments(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := NoArguments(c); err != nil {
			return err
		}
		return action(c)
	}
}

// ReadFile reads at most most bytes of a file. "-" is standard input.
func ReadFile(c *cli.Context, path string, most int64) ([]byte, error) {
	in := c.App.Reader
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, Exit(ExitDatabase, err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, Exit(ExitDatabase, err)
	}
	return data, nil
}

// ReadSecretFile reads a secret from a file without its final line break. "-" is
// standard input, "" is no secret.
func ReadSecretFile(c *cli.Context, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	const most = 1 << 16
	data, err := ReadFile(c, path, most+1)
	if err != nil {
		return "", err
	}
	s := strings.TrimSuffix(string(data), "\n")
	s = strings.TrimSuffix(s, "\r")
	switch {
	case len(data) > most:
		return "", Usagef("the secret file %s is larger than 64 KB", path)
	case s == "":
		return "", Usagef("the secret file %s is empty", path)
	}
	return s, nil
}
