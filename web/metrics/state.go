package metrics

import (
	"context"
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/services"
	"baoco/app/stream"
)

// state adds the figures that are read for each answer. If the storage fails, baoco_well is 0
// and the figures of the storage are missing.
func (p page) state(ctx context.Context, service *services.All, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	well := 0.0
	if service.Upkeep.Well(ctx, now) == nil {
		well = 1
	}
	p.gauge("baoco_well", "1 while storage and deliveries are well, which is the condition of the heartbeat, else 0.", well)
	if c, there := service.Upkeep.ReplicaCheck(now); there {
		good := 0.0
		if c.Problem == (app.Text{}) {
			good = 1
		}
		p.gauge("baoco_replica_good", "1 while the replica is good, else 0; absent: there is none.", good)
		if !c.Written.IsZero() {
			p.gauge("baoco_replica_written_timestamp_seconds", "When something new last came to the replica, in Unix time.",
				float64(c.Written.Unix()))
		}
	}
	f, err := service.Upkeep.Figures(ctx, now)
	if err != nil {
		return
	}
	lag := 0.0
	if !f.OldestDue.IsZero() {
		lag = now.Sub(f.OldestDue).Seconds()
	}
	p.gauge("baoco_due_lag_seconds", "How long the delivery has waited that is due for longest and not being attempted; 0: none is due.", lag)
	p.streams(ctx, service, now)
	p.gauge("baoco_attempts_in_flight", "Attempts of deliveries that are being made.", float64(f.InFlight))
	p.gauge("baoco_database_size_bytes", "Size of the database file.", float64(f.Size))
	p.gauge("baoco_wal_size_bytes", "Size of the write-ahead log.", float64(f.LogSize))
	if f.Free >= 0 {
		p.gauge("baoco_disk_free_bytes", "Room left for baoco on the disk of the database.", float64(f.Free))
	}
	if !f.LastBackup.IsZero() {
		p.gauge("baoco_last_backup_timestamp_seconds", "When the last backup was made, in Unix time; absent: never.",
			float64(f.LastBackup.Unix()))
	}
}

// streams adds how far each active stream is behind.
func (p page) streams(ctx context.Context, service *services.All, now time.Time) {
	list, err := service.Streams.Streams(ctx, 0)
	list = slices.DeleteFunc(list, func(st stream.Stream) bool { return !st.IsActive })
	if err != nil || len(list) == 0 {
		return
	}
	waits := p.gauges("baoco_stream_behind_seconds",
		"How long the first transaction has waited that a stream has not sent yet, by the id of the stream; 0: all are sent.", "stream")
	for _, st := range list {
		since, err := service.Streams.StreamBehind(ctx, st)
		if err != nil {
			return
		}
		behind := 0.0
		if !since.IsZero() {
			behind = max(0, now.Sub(since).Seconds())
		}
		waits.WithLabelValues(strconv.FormatInt(st.ID, 10)).Set(behind)
	}
}
