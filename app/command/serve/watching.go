package serve

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/command/terminal"
	"baoco/scheduler"
	"baoco/web"

	"github.com/urfave/cli/v2"
)

// This file is about those who watch the server from outside: Prometheus, which
// reads the figures, and a service that gets the heartbeat.

func watchingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "metrics-listen", Usage: "show figures to Prometheus at `ADDRESS`/metrics; a port alone is one of this machine", EnvVars: []string{"BAOCO_METRICS_LISTEN"}},
		&cli.StringFlag{Name: "metrics-token-file", Usage: "ask for the Bearer token in `FILE` before figures are shown; without --metrics-listen they are shown at /metrics of the server", EnvVars: []string{"BAOCO_METRICS_TOKEN_FILE"}},
		&cli.StringFlag{Name: "heartbeat-url", Usage: "call `URL` every minute while storage and deliveries are well; others can see a flag, so use the variable or the file", EnvVars: []string{"BAOCO_HEARTBEAT_URL"}},
		&cli.StringFlag{Name: "heartbeat-url-file", Usage: "the same with the URL in `FILE`", EnvVars: []string{"BAOCO_HEARTBEAT_URL_FILE"}},
	}
}

// watching are the checked flags of watchingFlags.
type watching struct {
	MetricsListen string // empty: none
	MetricsToken  string // empty: none
	HeartbeatURL  string // empty: none
}

// on reports whether figures are shown.
func (w watching) on() bool { return w.MetricsListen != "" || w.MetricsToken != "" }

func readWatching(c *cli.Context, targets []string) (w watching, err error) {
	if w.MetricsToken, err = secretOf(c, "metrics-token-file"); err != nil {
		return w, err
	}
	if w.MetricsToken != "" && len(w.MetricsToken) < 16 {
		return w, terminal.Usagef("the token of --metrics-token-file must have at least 16 characters")
	}
	if w.MetricsListen, err = metricsAddress(c.String("metrics-listen"), w.MetricsToken != ""); err != nil {
		return w, err
	}
	if w.HeartbeatURL, err = secretOf(c, "heartbeat-url-file"); err != nil {
		return w, err
	}
	if address := c.String("heartbeat-url"); address != "" {
		if w.HeartbeatURL != "" {
			return w, terminal.Usagef("--heartbeat-url and --heartbeat-url-file don't go together")
		}
		w.HeartbeatURL = address
	}
	if w.HeartbeatURL == "" {
		return w, nil
	}
	policy, err := app.ParseTargetPolicy(targets)
	if err != nil {
		return w, err
	}
	if fault := policy.CheckURL(w.HeartbeatURL); fault != nil {
		return w, terminal.Usagef("--heartbeat-url %s", fault.EN)
	}
	return w, nil
}

// metricsAddress reads --metrics-listen. Others than this machine's programs must
// have a token.
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

// secretOf reads the file that a flag names. Its last line break doesn't count.
func secretOf(c *cli.Context, flag string) (string, error) {
	path := c.String(flag)
	if path == "" {
		return "", nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", terminal.Usagef("--%s: %v", flag, err)
	}
	content = bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r"))
	if len(content) == 0 || len(content) > 4096 || strings.ContainsAny(string(content), " \r\n\t\x00") {
		return "", terminal.Usagef("--%s: %s must hold one line without spaces", flag, path)
	}
	return string(content), nil
}

// listenForMetrics shows the figures on a listener of their own.
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

// heartbeat is nil if nobody is to be called.
func (s Settings) heartbeat() *scheduler.Heartbeat {
	policy, err := app.ParseTargetPolicy(s.Targets)
	if s.HeartbeatURL == "" || err != nil { // the targets were checked
		return nil
	}
	return scheduler.NewHeartbeat(policy, s.HeartbeatURL, Version, nil)
}
