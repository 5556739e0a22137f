package metrics

import (
	"context"
	"time"

	"baoco/app"

	"github.com/prometheus/client_golang/prometheus"
)

// state asks for the figures that are read when somebody looks.
type state struct{ service *app.Service }

func gauge(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

var (
	dueLag       = gauge("baoco_due_lag_seconds", "How long the delivery has waited that is due for longest and not being attempted; 0: none is due.")
	inFlight     = gauge("baoco_attempts_in_flight", "Attempts of deliveries that are being made.")
	databaseSize = gauge("baoco_database_size_bytes", "Size of the database file.")
	logSize      = gauge("baoco_wal_size_bytes", "Size of the write-ahead log.")
	diskFree     = gauge("baoco_disk_free_bytes", "Room left for baoco on the disk of the database.")
	lastBackup   = gauge("baoco_last_backup_timestamp_seconds", "When the last backup was made, in Unix time; absent: never.")
	well         = gauge("baoco_well", "1 while storage and deliveries are well, which is the condition of the heartbeat, else 0.")
)

// Describe implements prometheus.Collector.
func (s *state) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{dueLag, inFlight, databaseSize, logSize, diskFree, lastBackup, well} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Where the storage doesn't answer,
// baoco_well is 0 and the figures of the storage are absent.
func (s *state) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	now := time.Now()
	send := func(d *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	if s.service.Well(ctx, now) == nil {
		send(well, 1)
	} else {
		send(well, 0)
	}
	f, err := s.service.Figures(ctx, now)
	if err != nil {
		return
	}
	lag := 0.0
	if !f.OldestDue.IsZero() {
		lag = now.Sub(f.OldestDue).Seconds()
	}
	send(dueLag, lag)
	send(inFlight, float64(f.InFlight))
	send(databaseSize, float64(f.Size))
	send(logSize, float64(f.LogSize))
	if f.Free >= 0 {
		send(diskFree, float64(f.Free))
	}
	if !f.LastBackup.IsZero() {
		send(lastBackup, float64(f.LastBackup.Unix()))
	}
}
