package serve

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

// This file finds where settings come from: a flag, the environment or a file.

const precedence = "A flag goes before its variable of the environment, and that before the default. A secret is no flag: " +
	"it is in the file that a flag or variable names, or in a variable.\n\n"

// ConfigCommand is baoco config.
func ConfigCommand() *cli.Command {
	flags := Flags()
	for _, f := range flags {
		if choice, ok := f.(*terminal.ChoiceFlag); ok {
			choice.Open = true // a wrong value is shown with its source, and refused then
		}
	}
	return &cli.Command{
		Name: "config", Usage: "print every setting that serve would have with these flags here, and where it comes from; without the secrets",
		Description: "What serve would refuse is refused. " + precedence +
			"What is set in the dashboard, such as alerts, is in the database and isn't shown.\n\n" + terminal.Example(
			"baoco config",
			"baoco config --listen 127.0.0.1:9000",
			"(set -a; . /etc/default/baoco; baoco config --db /var/lib/baoco/baoco.db)",
		),
		Flags: append(flags, terminal.OutputFlag),
		Action: terminal.WithoutArguments(func(c *cli.Context) error {
			s, fault := readSettings(c)
			if fault == nil {
				fault = terminal.CheckChoices(c, Flags())
			}
			s.printWarnings(c.App.ErrWriter)
			list := s.listed(c)
			err := terminal.Output(c, list, func(w io.Writer) { printSettings(w, list) })
			if fault != nil { // where a wrong value comes from has been shown
				return fault
			}
			return err
		}),
	}
}

type settingJSON struct {
	Setting  string  `json:"setting"`
	Variable string  `json:"variable"`
	Value    *string `json:"value"` // null: none
	Source   string  `json:"source"`
	words    string  // printed where there is no value
}

const hiddenValue = "(secret)"

// listed lists every setting with its value and its source.
func (s Settings) listed(c *cli.Context) []settingJSON {
	list := []settingJSON{}
	for _, f := range Flags() {
		name := f.Names()[0]
		value := fmt.Sprint(c.Value(name))
		if _, many := f.(*cli.StringSliceFlag); many {
			value = strings.Join(c.StringSlice(name), ",")
		}
		one := settingJSON{Setting: name, Variable: variable(name), Source: "default"}
		secret := slices.Contains(secrets, name)
		switch {
		case terminal.Typed(c, name):
			one.Source = "flag"
		case c.IsSet(name) && (value != "" || !secret):
			one.Source = "environment"
		case secret && c.String(name+"-file") != "":
			one.Source, value = "file", hiddenValue
		}
		if secret && value != "" {
			value = hiddenValue
		}
		if name == "base-url" && value == "" {
			value = s.BaseURL // made from the domain
		}
		if value != "" {
			one.Value = &value
		}
		one.words = cmp.Or(f.(cli.DocGenerationFlag).GetDefaultText(), "none")
		list = append(list, one)
	}
	return list
}

func printSettings(w io.Writer, list []settingJSON) {
	rows := [][]string{}
	for _, one := range list {
		value := "(" + one.words + ")"
		if one.Value != nil {
			value = *one.Value
		}
		rows = append(rows, []string{one.Setting, value, one.Source, one.Variable})
	}
	terminal.PrintTable(w, "", "SETTING|VALUE|FROM|VARIABLE", rows)
}

// printWarnings prints the warnings for a command that has no log.
func (s Settings) printWarnings(w io.Writer) {
	for _, text := range s.Warnings {
		fmt.Fprintln(w, "baoco: "+terminal.OneLine(text))
	}
}

// unknownVariables warns about the variables that look like settings but aren't. It
// doesn't show their values, which may be secrets.
func unknownVariables(environment []string) (texts []string) {
	var known []cli.Flag // by their names alone
	for _, f := range append(Flags(), terminal.AdminFlags()...) {
		known = append(known, &cli.StringFlag{Name: f.Names()[0]})
	}
	slices.Sort(environment)
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		flag, ours := strings.CutPrefix(name, "BAOCO_")
		if !ours || slices.ContainsFunc(known, func(f cli.Flag) bool { return variable(f.Names()[0]) == name }) {
			continue
		}
		nearest := cli.SuggestFlag(known, strings.ToLower(strings.ReplaceAll(flag, "_", "-")), true)
		texts = append(texts,
			fmt.Sprintf("there is no setting %s, so it counts for nothing. Did you mean %s?", name, variable(strings.TrimLeft(nearest, "-"))))
	}
	return texts
}

// secrets are the settings whose values are secret. Other users of the machine can read
// a command line, so the flag of each takes a file.
var secrets = []string{"metrics-token", "heartbeat-url"}

// secretFlags are the flag with the file of a secret, and a hidden flag for its variable.
func secretFlags(name, usage string) []cli.Flag {
	return byEnvironment(
		&cli.StringFlag{Name: name, Hidden: true},
		&cli.StringFlag{Name: name + "-file", Usage: usage + "; " + variable(name) + " may have it instead"},
	)
}

// readSecret reads a secret from its variable or its file.
func (s *Settings) readSecret(c *cli.Context, name string) (string, error) {
	value, path := c.String(name), c.String(name+"-file")
	switch {
	case terminal.Typed(c, name):
		return "", terminal.Usagef("others on this machine can read a command line: use --%s-file, or the variable %s", name, variable(name))
	case value != "" && path != "":
		return "", terminal.Usagef("%s and --%s-file don't go together", variable(name), name)
	case path != "":
		var err error
		if value, err = terminal.ReadSecretFile(c, path); err != nil {
			return "", fmt.Errorf("--%s-file: %w", name, err)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("everybody on this machine can read the secret in %s: chmod o-r makes it one", path))
		}
	}
	if len(value) > 4096 || strings.ContainsAny(value, " \r\n\t\x00") {
		return "", terminal.Usagef("what --%s-file or %s gives must be one line without spaces, of at most 4096 characters", name, variable(name))
	}
	return value, nil
}
