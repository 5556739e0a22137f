package command

import (
	"encoding/json"
	"io"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func openAPICommand() *cli.Command {
	return &cli.Command{
		Name: "openapi", Usage: "print the description of the HTTP API (OpenAPI 3.1), in YAML or JSON",
		Description: terminal.Example("baoco openapi > openapi.yaml", "baoco openapi -o json > openapi.json"),
		Flags:       []cli.Flag{terminal.OutputFlag},
		Action: func(c *cli.Context) error {
			if err := terminal.NoArguments(c); err != nil {
				return err
			}
			return terminal.Output(c, json.RawMessage(api.OpenAPIJSON(serve.Version)),
				func(w io.Writer) { _, _ = w.Write(api.OpenAPI(serve.Version)) })
		},
	}
}
