package serve

import (
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

const (
	KeepInboundUsage = "`TIME` to keep the inbound log, but for what needs attention, such as 30d; 0 is for ever"
	KeepHistoryUsage = "`TIME` to keep the delivery history, such as 365d; 0 is for ever"
)

// KeepFlag is a flag for how long something is kept, also set by a variable of the
// environment.
func KeepFlag(name, usage, value string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, Value: value, EnvVars: []string{"BAOCO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}}
}

func readKeep(c *cli.Context) (keep app.PruneLimits, err error) {
	if keep.Inbound, err = ParseKeep(c, "keep-inbound"); err != nil {
		return keep, err
	}
	keep.History, err = ParseKeep(c, "keep-history")
	return keep, err
}

// ParseKeep reads a flag that is a number of days, such as 30d, or one of Go's
// durations. 0 is for ever.
func ParseKeep(c *cli.Context, name string) (time.Duration, error) {
	text := c.String(name)
	if text == "0" {
		return 0, nil
	}
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n >= 1 && n <= 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= time.Minute {
		return d, nil
	}
	return 0, terminal.Usagef("--%s must be a time such as 30d or 12h, or 0, not %q", name, text)
}
