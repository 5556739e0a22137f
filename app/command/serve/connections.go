package serve

import (
	"log/slog"
	"net/http"
	"time"

	"baoco/web"
)

// httpServer is a server that gives nobody more time, memory or connections than
// requests need.
func httpServer(handler http.Handler, connections *web.Connections, log *slog.Logger) *http.Server {
	server := &http.Server{
		Handler: handler,

		DisableGeneralOptionsHandler: true, // all answers are JSON
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  30 * time.Second,
		WriteTimeout:                 60 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               12 << 10,
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: 50}, // each may hold a body; the default is 250
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	connections.Bound(server)
	return server
}

// Files are kept back for the database, the log, look-ups and what else a
// server opens, and for deliveries, which need one each.
const (
	filesForItself     = 64
	filesForDeliveries = 576
	mostEver           = 4096 // connections: each takes some memory too
)

// mostConnections is how many connections may be open where the process may
// have that many files: at most half of what is left.
func mostConnections(files uint64) int {
	left := max(int(min(files, 1<<20))-filesForItself, 32)
	return min(left-min(left/2, filesForDeliveries), mostEver)
}
