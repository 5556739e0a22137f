package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

// run is the whole program: data goes to stdout, everything else to stderr. It
// gives the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runProgram(ctx, rootCommand(stdin, stdout, stderr), args)
}

func rootCommand(stdin io.Reader, out, stderr io.Writer) *cli.App {
	return &cli.App{
		Name:        "baoco",
		Usage:       "notify your shop of every bank transaction, from your own server",
		Description: "Start with: baoco demo\nThen, in an empty directory: baoco serve",
		Version:     version,
		HideVersion: true, // its flag prints more than the command version does
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version", DisableDefaultText: true}},
		Reader:      stdin,
		Writer:      out,
		ErrWriter:   stderr,
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return unknownCommand(c, c.App.Commands)
			case c.Bool("version"):
				return printVersion(c)
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			serveCommand(), demoCommand(), apiKeyCommand(), bankCommand(), sourceCommand(), webhookCommand(),
			deliveryCommand(), transactionCommand(), accountCommand(), userCommand(), counterCommand(), alertCommand(),
			backupCommand(), restoreCommand(), doctorCommand(), pruneCommand(), systemdCommand(), benchCommand(), openAPICommand(), completionCommand(), versionCommand(),
		},
	}
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", Description: example("baoco version"),
		Flags: []cli.Flag{outputFlag},
		Action: func(c *cli.Context) error {
			return printVersion(c)
		},
	}
}

func printVersion(c *cli.Context) error {
	return output(c, map[string]string{"version": version}, func(w io.Writer) { fmt.Fprintln(w, "baoco "+version) })
}
