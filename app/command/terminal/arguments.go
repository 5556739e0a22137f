package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

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
