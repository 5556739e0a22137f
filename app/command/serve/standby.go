package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
	"baoco/app/provider"
	"baoco/app/replica"
	"baoco/app/services"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/dashboard"
	"baoco/web/metrics"

	"github.com/urfave/cli/v2"
)

// StandbyCommand is baoco standby.
func StandbyCommand() *cli.Command {
	return &cli.Command{
		Name: "standby", Usage: "follow the replica of a server on another machine, and show the dashboard to read", ArgsUsage: "URL",
		Description: "Nothing can be changed here, and nothing is accepted or sent: programs and providers get 503. If the server is lost, end this and run baoco takeover with the same --db.\n\n" + precedence + terminal.Example(
			"baoco standby file:///mnt/disk/baoco --key baoco.db.key",
			"baoco standby sftp://backup@nas.shop.vn/srv/baoco --credentials-file replica.txt --key baoco.db.key --db /var/lib/baoco/baoco.db",
		),
		Flags:  standbyFlags(),
		Action: standBy,
	}
}

func standbyFlags() []cli.Flag {
	return append(followFlags(), serveFlags("db", "listen", "base-url", "domain", "acme-directory", "cert-file", "key-file", "trusted-proxies", "log-format", "lang", "metrics-listen", "metrics-token", "metrics-token-file")...)
}

// followFlags are those that serve doesn't have.
func followFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "credentials-file", Usage: "`FILE` with the credentials of the place of a replica, readable by its owner alone"},
		&cli.StringFlag{Name: "litestream", Usage: "`FILE` of the program Litestream (default: that of PATH)"},
		&cli.StringFlag{Name: "key", Usage: "`FILE` of the database's key (default: the one beside the database)"},
	}
}

// PlaceArgument reads the place of a replica, and what opens it.
func PlaceArgument(c *cli.Context) (p replica.Place, secret replica.Credentials, err error) {
	if c.NArg() != 1 {
		return p, secret, terminal.Usagef("%s takes one argument, the URL of the place", c.Command.Name)
	}
	if p, err = replica.ParsePlace(c.Args().First()); err != nil {
		return p, secret, terminal.Usagef("%v", err)
	}
	if file := c.String("credentials-file"); file != "" {
		secret, err = replica.ReadCredentials(file)
	}
	if err == nil {
		err = secret.Check(p)
	}
	if err != nil {
		err = terminal.Usagef("%v", err)
	}
	return p, secret, err
}

func standBy(c *cli.Context) error {
	s, err := readListening(c)
	if err != nil {
		return err
	}
	var config replica.Config
	if config.Place, config.Credentials, err = PlaceArgument(c); err != nil {
		return err
	}
	if config.Database, err = filepath.Abs(s.DB); err != nil {
		return err
	}
	program, err := replica.FindProgram(c.Context, c.String("litestream"))
	if err != nil {
		return err
	}
	key := cmp.Or(c.String("key"), config.Database+".key")
	if _, err := os.Stat(key); err != nil && c.IsSet("key") {
		return terminal.Exit(terminal.ExitDatabase, fmt.Errorf("--key: %w", err))
	}
	tuneMemory(machineMemory())
	ctx, stop := terminal.UntilStopped(c.Context)
	defer stop()
	recent := dashboard.NewRecentLog(newLogHandler(c.App.ErrWriter, s.JSONLog))
	log := slog.New(recent)
	for _, text := range s.Warnings {
		log.Warn(text)
	}
	store, err := sqlitestore.OpenStandby(config.Database, key, log)
	if err != nil {
		return terminal.DatabaseError(err)
	}
	defer store.Close()
	f := &follower{store: store, program: program, config: config, log: log}
	r, err := startStandby(s, f)
	if err != nil {
		return err
	}
	if err := notify("READY=1"); err != nil {
		log.Warn("systemd can't be told that the standby is ready", "err", err)
	}
	log.Info("standing by", "address", r.Listener.Addr().String(), "replica", config.Place.String(), "version", Version)
	followed := make(chan error, 1)
	go func() { followed <- app.Protected(func() error { return f.run(ctx) }) }()
	var fault error
	select {
	case fault = <-r.failed:
		stop()
		err = <-followed
	case err = <-followed: // ctx has ended, or the follower failed
	}
	_ = notify("STOPPING=1")
	return errors.Join(fault, err, r.Stop(time.Second))
}

// startStandby shows the pages of the followed copy.
func startStandby(s Settings, f *follower) (*Server, error) {
	r := &Server{failed: make(chan error, 3), closing: make(chan struct{})}
	files, err := s.openCertificate(f.log)
	if err != nil {
		return nil, terminal.Exit(terminal.ExitDatabase, err)
	}
	installation := s.installation(files)
	most := mostConnections(installation.Files)
	connections := web.NewConnections(most, s.Proxies, f.log)
	config := web.Config{
		Logger: f.log, Secure: strings.HasPrefix(s.BaseURL, "https://"), Version: Version, Closing: r.closing,
		Installation: installation, Lang: s.Lang, TrustedProxies: s.Proxies, Standby: f.standby, Connections: most,
	}
	figures := metrics.Standby(Version, f.standby)
	if s.on() && s.MetricsListen == "" {
		config.Metrics, config.MetricsToken = figures, s.MetricsToken
	}
	var pages atomic.Pointer[http.Handler] // with the zone of the copy
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		return nil, err
	}
	show := func() {
		config.Services = standbyService(f.store, zone)
		handler := web.New(config)
		pages.Store(&handler)
	}
	f.shown = func(ctx context.Context) error {
		present, err := f.store.Zone(ctx)
		if err == nil && present.String() != zone.String() {
			zone = present
			show()
		}
		return err
	}
	f.publish(nil)
	show()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*pages.Load()).ServeHTTP(w, r) })
	if err := r.listen(s, files, handler, connections, f.log); err != nil {
		return nil, terminal.Exit(terminal.ExitDatabase, err)
	}
	if s.MetricsListen != "" {
		if err := r.listenForMetrics(s, figures, connections, f.log); err != nil {
			return nil, errors.Join(err, r.Listener.Close())
		}
	}
	r.serve(r.servers[0], r.Listener)
	return r, nil
}

// standbyService is the use cases of a standby. It calls nobody.
func standbyService(store *sqlitestore.Standby, zone *time.Location) *services.All {
	return services.New(services.Config{
		Store: store, Zone: zone, Providers: provider.Facts(), Read: provider.Read, AttentionPath: dashboard.AttentionPath, DayPath: dashboard.DayPath,
	})
}
