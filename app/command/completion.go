package command

import (
	"fmt"
	"io"

	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

// completionScripts are the scripts, by shell. They run "completion words" with
// the words of the line so far, which prints a completion and its purpose on each
// line. If it prints nothing, the shell offers files.
var completionScripts = map[string]string{
	"bash": `_baoco() {
	local IFS=$'\n'
	local words="$("${COMP_WORDS[0]}" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)"
	COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]#=}"))
}
complete -o bashdefault -o default -F _baoco baoco
`,
	"zsh": `#compdef baoco
_baoco() {
	local -a found
	local line
	for line in "${(@f)$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && found+=("${line%%$'\t'*}:${line#*$'\t'}")
	done
	if (( $#found )); then _describe baoco found; else _files; fi
}
compdef _baoco baoco
`,
	"fish": `function __baoco_words
	set -l line (commandline -opc) (commandline -ct)
	set -l found ($line[1] completion words $line[2..-1] 2>/dev/null)
	if count $found >/dev/null
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c baoco -f -a '(__baoco_words)'
`,
}

func completionCommand() *cli.Command {
	command := &cli.Command{
		Name: "completion", Usage: "print a script that completes commands, flags and their values in bash, zsh or fish",
		Subcommands: []*cli.Command{{
			Name: "words", Usage: "what can stand last on a command line", Hidden: true, SkipFlagParsing: true, HideHelp: true,
			Description: terminal.Example("baoco completion words bank li"),
			Action: func(c *cli.Context) error {
				for _, w := range terminal.Completions(c.App, c.Args().Slice()) {
					fmt.Fprintf(c.App.Writer, "%s\t%s\n", w[0], w[1])
				}
				return nil
			},
		}},
	}
	for shell, install := range map[string]string{
		"bash": "baoco completion bash > /etc/bash_completion.d/baoco",
		"zsh":  `baoco completion zsh > "${fpath[1]}/_baoco"`,
		"fish": "baoco completion fish > ~/.config/fish/completions/baoco.fish",
	} {
		command.Subcommands = append(command.Subcommands, &cli.Command{
			Name: shell, Usage: "print the script for " + shell, Description: terminal.Example(install),
			Action: terminal.WithoutArguments(func(c *cli.Context) error {
				_, _ = io.WriteString(c.App.Writer, completionScripts[shell])
				return nil
			}),
		})
	}
	return command
}
