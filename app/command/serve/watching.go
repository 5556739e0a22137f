package serve

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"

	"baoco/app/command/terminal"
	"baoco/app/services"
	"baoco/app/target"
	"baoco/scheduler"
	"baoco/web"

	"github.com/urfave/cli/v2"
)

// This file has the settings for watching the server from outside: Prometheus reads the
// figures, and a service gets the heartbeat.

func watchingFlags() []cli.Flag {
	return slices.Concat(
		byEnvironment(&cli.StringFlag{Name: "metrics-listen",
			Usage: "show figures to Prometheus at `ADDRESS`/metrics; a port alone is one of this machine"}),
		secretFlags("metrics-token",
			"ask for the Bearer token in `FILE` before figures are shown; without --metrics-listen they are shown at /metrics of the server"),
		secretFlags("heartbeat-url", "call the URL in `FILE` every minute while storage and deliveries are well"),
	)
}

type watching struct {
	MetricsListen string // empty: none
	MetricsToken  string // empty: none
	HeartbeatURL  string // empty: none
}

func (w watching) on() bool { return w.MetricsListen != "" || w.MetricsToken != "" }

func (s *Settings) readWatching(c *cli.Context) (err error) {
	if s.MetricsToken, err = s.readSecret(c, "metrics-token"); err != nil {
		return err
	}
	if s.MetricsToken != "" && len(s.MetricsToken) < 16 {
		return terminal.Usagef("the token of --metrics-token-file or BAOCO_METRICS_TOKEN must have at least 16 characters")
	}
	if s.MetricsListen, err = metricsAddress(c.String("metrics-listen"), s.MetricsToken != ""); err != nil {
		return err
	}
	if s.HeartbeatURL, err = s.readSecret(c, "heartbeat-url"); err != nil || s.HeartbeatURL == "" {
		return err
	}
	policy, err := target.ParsePolicy(s.Targets)
	if err != nil {
		return err
	}
	if fault := policy.CheckURL(s.HeartbeatURL); fault != nil {
		return terminal.Usagef("the address of --heartbeat-url-file or BAOCO_HEARTBEAT_URL %s", fault.EN)
	}
	return nil
}

// metricsAddress reads --metrics-listen. An address that other machines can reach needs a
// token.
func metricsAddress(text string, token bool) (string, error) {
	if text == "" {
		return "", nil
	}
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		text = "127.0.0.1:" + text
	}
	host, port, err := net.SplitHostPort(text)
	if _, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil {
		return "", terminal.Usagef("--metrics-listen must be a port or an address such as 127.0.0.1:9464, not %q", text)
	}
	addr, err := netip.ParseAddr(host)
	if own := host == "localhost" || err == nil && addr.Unmap().IsLoopback(); !own && !token {
		return "", terminal.Usagef("--metrics-listen %s can be reached from other machines: give it a token with --metrics-token-file", text)
	}
	return text, nil
}

// count starts counting the figures and returns their page; nil: no figures are shown.
// Without --metrics-listen the page is one of the server.
func (s Settings) count(service *services.All, config *web.Config) http.Handler {
	if s.figures == nil {
		return nil
	}
	service.SetMeter(s.figures)
	config.Requested, config.Called = s.figures.Requested, s.figures.Called
	page := s.figures.Handler(service)
	if s.MetricsListen == "" {
		config.Metrics, config.MetricsToken = page, s.MetricsToken
	}
	return page
}

func (r *Server) listenForMetrics(s Settings, figures http.Handler, connections *web.Connections, log *slog.Logger) error {
	l, err := net.Listen("tcp", s.MetricsListen)
	if err != nil {
		return terminal.Exit(terminal.ExitDatabase, fmt.Errorf("--metrics-listen: %w", err))
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", web.Guarded(s.MetricsToken, figures, http.NotFoundHandler()))
	server := httpServer(mux, connections, log)
	r.servers = append(r.servers, server)
	log.Info("showing figures", "address", l.Addr().String())
	r.serve(server, connections.Listener(l))
	return nil
}

// heartbeat is nil without --heartbeat-url.
func (s Settings) heartbeat() *scheduler.Heartbeat {
	policy, err := target.ParsePolicy(s.Targets)
	if s.HeartbeatURL == "" || err != nil { // the targets were checked
		return nil
	}
	return scheduler.NewHeartbeat(policy, s.HeartbeatURL, Version, nil)
}
