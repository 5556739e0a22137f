package serve

import (
	"log/slog"
	"net/http"
	"time"

	"baoco/web"
)

// httpServer makes a server that limits the time, memory and connections of its
// clients to what requests need.
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

// Some of the files that the process may open are reserved for the server itself
// (database, log, name look-ups) and for deliveries, which need one each.
const (
	filesForItself     = 64
	filesForDeliveries = 576
	mostEver           = 4096 // connections: each takes some memory too
)

// mostConnections is how many connections of clients may be open if the process
// may open that many files.
func mostConnections(files uint64) int {
	left := max(int(min(files, 1<<20))-filesForItself, 32)
	return min(left-min(left/2, filesForDeliveries), mostEver)
}
