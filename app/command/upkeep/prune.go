package upkeep

import (
	"fmt"
	"io"
	"time"

	"baoco/app/command/serve"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/upkeep"

	"github.com/urfave/cli/v2"
)

func PruneCommand() *cli.Command {
	return &cli.Command{
		Name:        "prune",
		Usage:       "remove old inbound log and delivery history now, as a running server does every hour; transactions are always kept",
		Description: terminal.Example("baoco prune --dry-run", "baoco prune --keep-inbound 7d --keep-history 90d --vacuum"),
		Flags: append(serve.KeepFlags(" (default: as serve was last started)", "", ""), terminal.AdminFlags(
			&cli.BoolFlag{Name: "dry-run", Usage: "only count what would be removed"},
			&cli.BoolFlag{Name: "vacuum", Usage: "give free space in the file back to the disk"},
		)...),
		Action: terminal.Interruptible(session.WithoutArguments(prune)),
	}
}

// pruneLimits reads the limits of the flags. A missing flag is the limit of the
// server, so that the command removes nothing that the server would keep.
func pruneLimits(c *cli.Context, s *session.Session) (upkeep.PruneLimits, error) {
	keep, served, err := s.Store.Keep(c.Context)
	if err != nil {
		return keep, err
	}
	if !served && (!c.IsSet("keep-inbound") || !c.IsSet("keep-history")) {
		return keep, terminal.Usagef("no server ran on this file yet, so --keep-inbound and --keep-history are needed")
	}
	if c.IsSet("keep-inbound") {
		if keep.Inbound, err = serve.ParseKeep(c, "keep-inbound"); err != nil {
			return keep, err
		}
	}
	if c.IsSet("keep-history") {
		keep.History, err = serve.ParseKeep(c, "keep-history")
	}
	return keep, err
}

// Pruned is the output of baoco prune. ReclaimableBytes of the file are unused;
// ReclaimedBytes were given back to the disk.
type Pruned struct {
	DryRun           bool  `json:"dry_run"`
	InboundEvents    int   `json:"inbound_events"`
	Attempts         int   `json:"attempts"`
	ReclaimableBytes int64 `json:"reclaimable_bytes"`
	ReclaimedBytes   int64 `json:"reclaimed_bytes"`
	Replica          bool  `json:"replica"` // a replica is set up, and copies the pages that were moved
}

func prune(c *cli.Context, s *session.Session) error {
	keep, err := pruneLimits(c, s)
	if err != nil {
		return err
	}
	result := Pruned{DryRun: c.Bool("dry-run"), Replica: hasReplica(c.String("db"))}
	if result.DryRun && c.Bool("vacuum") {
		return terminal.Usagef("--dry-run changes nothing, so --vacuum doesn't go with it")
	}
	progress := terminal.NewProgress(c, "looking for old rows")
	var gone upkeep.Pruned
	if result.DryRun {
		gone, err = s.Services.Upkeep.Prunable(c.Context, keep, s.Now)
	} else {
		gone, err = s.Services.Upkeep.Prune(c.Context, keep, s.Now)
	}
	if err == nil && c.Bool("vacuum") {
		progress.Update("giving free space back", 0, 0)
		result.ReclaimedBytes, err = s.Services.Upkeep.Reclaim(c.Context)
	}
	if err == nil {
		result.ReclaimableBytes, err = s.Services.Upkeep.Reclaimable(c.Context)
	}
	progress.Stop()
	if err != nil && !result.DryRun {
		return terminal.Unfinished(err, fmt.Sprintf("removed so far: inbound calls, %d; attempts, %d; the rest is left for another time",
			gone.InboundEvents, gone.Attempts))
	}
	if err != nil {
		return err
	}
	result.InboundEvents, result.Attempts = gone.InboundEvents, gone.Attempts
	if result.DryRun {
		return terminal.Output(c, result, func(w io.Writer) { printPruned(w, result, keep) })
	}
	lost := fmt.Sprintf("Removed: inbound calls, %d; attempts, %d.", gone.InboundEvents, gone.Attempts)
	return terminal.Report(c, result, lost, func(w io.Writer) { printPruned(w, result, keep) })
}

func printPruned(w io.Writer, p Pruned, keep upkeep.PruneLimits) {
	done := "Removed"
	if p.DryRun {
		done = "Would be removed"
	}
	fmt.Fprintf(w, "%s: inbound calls %s, %d; attempts %s, %d.\n", done, olderThan(keep.Inbound), p.InboundEvents,
		olderThan(keep.History), p.Attempts)
	if p.ReclaimedBytes > 0 {
		fmt.Fprintf(w, "Given back to the disk: %s, as soon as the write-ahead log is copied into the file.\n", megabytes(p.ReclaimedBytes))
		if p.Replica {
			fmt.Fprintln(w, "Litestream copies every page that was moved: the replica may be some minutes behind.")
		}
	}
	if p.ReclaimableBytes > 0 {
		fmt.Fprintf(w, "Free in the file: %s; new rows go there first, and --vacuum gives it back to the disk.\n", megabytes(p.ReclaimableBytes))
	}
}

func olderThan(keep time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case keep == 0:
		return "(kept for ever)"
	case keep%day == 0:
		return fmt.Sprintf("older than %d days", keep/day)
	}
	return "older than " + keep.String()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
