package terminal

import (
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
	OutputFlag = &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Usage: "`FORMAT`: text or json", Value: "text", EnvVars: []string{"BAOCO_OUTPUT"},
	}
)

// AdminFlags are the flags of a command that works on the file.
func AdminFlags(more ...cli.Flag) []cli.Flag {
	return append(more, DBFlag, accountFlag, OutputFlag)
}
