// Package command is the command line. Each command has a file named after its
// noun, with thin actions over the use cases of app and its rooms, or a package of
// its own: serve, upkeep, listen, demo and bench. Package session opens the database
// for a command. Flags, exit codes, tables and progress, which all commands share, are
// in package terminal.
//
// Under app only these packages, and test kits, import packages outside app. Only main
// imports package command.
package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"baoco/app/command/bench"
	"baoco/app/command/demo"
	"baoco/app/command/listen"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/command/upkeep"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

// Run is the whole program: data goes to stdout, everything else to stderr. It
// returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	dropEmptyVariables()
	return terminal.Run(ctx, rootCommand(stdin, stdout, stderr), args)
}

// dropEmptyVariables removes empty variables whose names begin with BAOCO_, so that an empty
// variable means the same as a missing one.
func dropEmptyVariables() {
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); value == "" && strings.HasPrefix(name, "BAOCO_") {
			_ = os.Unsetenv(name)
		}
	}
}

func rootCommand(stdin io.Reader, out, stderr io.Writer) *cli.App {
	return &cli.App{
		Name:        "baoco",
		Usage:       "notify your shop of every bank transaction, from your own server",
		Version:     serve.Version,
		HideVersion: true, // its flag prints more than the command version does
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version", DisableDefaultText: true}},
		Reader:      stdin,
		Writer:      out,
		ErrWriter:   stderr,
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return terminal.UnknownCommand(c, c.App.Commands)
			case c.Bool("version"):
				return printVersion(c)
			}
			printFirstHour(c)
			return nil
		},
		Commands: []*cli.Command{
			serve.Command(), demo.Command(), listen.Command(), apiKeyCommand(), bankCommand(), sourceCommand(), webhookCommand(), streamCommand(),
			codeCommand(), paymentCommand(), bookCommand(), reportCommand(),
			deliveryCommand(), transactionCommand(), accountCommand(), userCommand(), counterCommand(), alertCommand(), auditCommand(),
			upkeep.BackupCommand(), upkeep.RestoreCommand(), upkeep.ReplicaCommand(), upkeep.TakeoverCommand(), upkeep.DoctorCommand(),
			upkeep.PruneCommand(), serve.ReadyCommand(), serve.ConfigCommand(), serve.UnitCommand(), bench.Command(), openAPICommand(),
			completionCommand(), versionCommand(),
		},
	}
}

// firstHour is the help of the commands that a new user needs first.
const firstHour = `baoco: {{.Usage}}. The first hour:
{{range .Commands}}
   {{.HelpName}}{{"\t"}}{{.Usage}}{{end}}

"baoco help" shows every command, "baoco help COMMAND" one with an example.
`

func printFirstHour(c *cli.Context) {
	shown := cli.App{Usage: c.App.Usage}
	for _, words := range []string{"demo", "serve", "user set-up", "transaction tail", "doctor"} {
		command := &cli.Command{Subcommands: c.App.Commands}
		for _, word := range strings.Fields(words) {
			command = command.Subcommands[slices.IndexFunc(command.Subcommands, func(c *cli.Command) bool { return c.Name == word })]
		}
		shown.Commands = append(shown.Commands, &cli.Command{HelpName: "baoco " + words, Usage: command.Usage})
	}
	cli.HelpPrinter(c.App.Writer, firstHour, shown)
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version and the commit of which it was built", Description: terminal.Example("baoco version"),
		Flags:  []cli.Flag{terminal.OutputFlag},
		Action: terminal.WithoutArguments(printVersion),
	}
}

func printVersion(c *cli.Context) error {
	commit := serve.Commit()
	v := struct {
		Version string  `json:"version"`
		Commit  *string `json:"commit"`
	}{serve.Version, api.OrNull(commit)}
	return terminal.Output(c, v, func(w io.Writer) {
		fmt.Fprint(w, "baoco "+serve.Version)
		if commit != "" {
			fmt.Fprintf(w, " (commit %s)", commit)
		}
		fmt.Fprintln(w)
	})
}

func openAPICommand() *cli.Command {
	return &cli.Command{
		Name: "openapi", Usage: "print the description of the HTTP API (OpenAPI 3.1), in YAML or JSON",
		Description: terminal.Example("baoco openapi > openapi.yaml", "baoco openapi -o json > openapi.json"),
		Flags:       []cli.Flag{terminal.OutputFlag},
		Action: terminal.WithoutArguments(func(c *cli.Context) error {
			return terminal.Output(c, json.RawMessage(api.OpenAPIJSON(serve.Version)),
				func(w io.Writer) { _, _ = w.Write(api.OpenAPI(serve.Version)) })
		}),
	}
}
