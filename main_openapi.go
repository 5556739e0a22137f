package main

import (
	"encoding/json"
	"io"

	"baoco/web"

	"github.com/urfave/cli/v2"
)

func openAPICommand() *cli.Command {
	return &cli.Command{
		Name: "openapi", Usage: "print the description of the HTTP API (OpenAPI 3.1), in YAML or JSON",
		Description: example("baoco openapi > openapi.yaml", "baoco openapi -o json > openapi.json"),
		Flags:       []cli.Flag{outputFlag},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return output(c, json.RawMessage(web.OpenAPIJSON(version)), func(w io.Writer) { _, _ = w.Write(web.OpenAPI(version)) })
		},
	}
}
