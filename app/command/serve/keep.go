package serve

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"baoco/app/command/terminal"
	"baoco/app/upkeep"

	"github.com/urfave/cli/v2"
)

// KeepFlags are the flags for how long logs are kept; more is added to their
// meaning.
func KeepFlags(more, inbound, history string) []cli.Flag {
	return byEnvironment(
		&cli.StringFlag{Name: "keep-inbound",
			Usage: "`TIME` to keep the inbound log, but for what needs attention, such as 30d; 0 is for ever" + more, Value: inbound},
		&cli.StringFlag{Name: "keep-history", Usage: "`TIME` to keep the delivery history, such as 365d; 0 is for ever" + more, Value: history},
	)
}

func readKeep(c *cli.Context) (keep upkeep.PruneLimits, err error) {
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

// readBackups reads the schedule of backups. The directory need not be there yet: a
// disk that isn't mounted must not keep the server from its work.
func readBackups(c *cli.Context) (b upkeep.BackupSchedule, err error) {
	b.Dir, b.Keep = c.String("backup-dir"), c.Int("backup-keep")
	if b.Every, err = ParseKeep(c, "backup-every"); err != nil {
		return b, err
	}
	switch {
	case b.Every < time.Hour || b.Every > 7*24*time.Hour:
		return b, terminal.Usagef("--backup-every must be a time from 1h to 7d, not %q", c.String("backup-every"))
	case b.Keep < 1 || b.Keep > 1000:
		return b, terminal.Usagef("--backup-keep must be from 1 to 1000, not %d", b.Keep)
	case b.Dir == "" && (c.IsSet("backup-every") || c.IsSet("backup-keep")):
		return b, terminal.Usagef("--backup-every and --backup-keep need --backup-dir")
	case b.Dir != "":
		b.Dir, err = filepath.Abs(b.Dir)
	}
	return b, err
}
