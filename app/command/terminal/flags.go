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
// them, and the command refuses others. An empty value is none.
type ChoiceFlag struct {
	cli.StringFlag
	Values []string
	Open   bool // the action checks the value: another can be right too, or be one of several faults that are named together
}

// Choice makes a flag of its values. %s in its usage stands for them.
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

// Choices makes a flag of its values. %s in its usage stands for them.
func Choices[T ~string](f cli.StringSliceFlag, values []T) *ChoicesFlag {
	one := Choice(cli.StringFlag{Usage: f.Usage}, values...)
	f.Usage = one.Usage
	return &ChoicesFlag{f, one.Values}
}

// CheckChoices refuses a value that is none of those of its flag.
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

// AdminFlags are the flags of a command that works on the file.
func AdminFlags(more ...cli.Flag) []cli.Flag {
	return append(more, DBFlag, accountFlag, OutputFlag)
}

// IDArgument reads the id that is the only argument of a command. what names the
// thing for a person.
func IDArgument(c *cli.Context, what string) (int64, error) {
	if c.NArg() != 1 {
		return 0, Usagef("%s takes one argument, the id of a %s", c.Command.FullName(), what)
	}
	return ParseID(c.Args().First(), what)
}

// ParseID reads an id. A number below 1 is not found; other text is an error of
// use, as it is in a flag.
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

// NoArguments refuses arguments.
func NoArguments(c *cli.Context) error {
	if c.Args().Present() {
		return Usagef("%s takes no argument, but got %q", c.Command.FullName(), c.Args().First())
	}
	return nil
}

// WithoutArguments is action for a command that takes flags only.
func WithoutArguments(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := NoArguments(c); err != nil {
			return err
		}
		return action(c)
	}
}

// ReadFile reads at most so many bytes of a file. "-" is standard input.
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
