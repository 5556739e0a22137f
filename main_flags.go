package main

import (
	"baoco/app"
	"strings"

	"github.com/urfave/cli/v2"
)

func example(lines ...string) string { return "Example:\n   " + strings.Join(lines, "\n   ") }

// Flags that many commands have.
var (
	dbFlag = &cli.StringFlag{
		Name: "db", Usage: "database `FILE`", Value: "baoco.db", EnvVars: []string{"BAOCO_DB"},
	}
	accountFlag = &cli.Int64Flag{
		Name: "account", Usage: "account `ID`", Value: app.DefaultAccountID, EnvVars: []string{"BAOCO_ACCOUNT"},
	}
	outputFlag = &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Usage: "`FORMAT`: text or json", Value: "text", EnvVars: []string{"BAOCO_OUTPUT"},
	}
)

// adminFlags are the flags of a command that works on the file.
func adminFlags(more ...cli.Flag) []cli.Flag {
	return append(more, dbFlag, accountFlag, outputFlag)
}
