// Package serve runs the server: it reads the settings, wires the store, the use
// cases, the web and the scheduler, gets the certificate, and prints a systemd
// unit that does the same.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/command/terminal"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/scheduler"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/dashboard"
	"baoco/web/metrics"

	"github.com/urfave/cli/v2"
	_ "golang.org/x/crypto/x509roots/fallback" // where the system has no roots, as in a container
)

// Command is baoco serve.
func Command() *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "run the server; creates the database if there is none",
		Description: precedence + terminal.Example(
			"baoco serve",
			"baoco serve --domain baoco.shop.vn",
			"baoco serve --allow-target 127.0.0.1/32@9000",
		),
		Flags:  Flags(),
		Action: serve,
	}
}

func serve(c *cli.Context) (err error) {
	s, err := readSettings(c)
	if err != nil {
		return err
	}
	defer func() { err = sqlitestore.UnitAdvice(err, filepath.Dir(s.DB)) }()
	tuneMemory(machineMemory())
	ctx, stop := terminal.UntilStopped(c.Context)
	defer stop()
	handler := slog.Handler(slog.NewTextHandler(c.App.ErrWriter, nil))
	if s.JSONLog {
		handler = slog.NewJSONHandler(c.App.ErrWriter, nil)
	}
	recent := dashboard.NewRecentLog(handler)
	log := slog.New(recent)
	for _, text := range s.Warnings {
		log.Warn(text)
	}
	fence := &fence{db: s.DB, log: log}
	if err := fence.start(ctx); err != nil {
		return err
	}
	created, err := createIfMissing(ctx, s)
	if err != nil {
		return err
	}
	options := sqlitestore.Options{Serve: true, Logger: log, Migrating: func(m sqlitestore.Migration) {
		log.Info("bringing the database up to date", "from_schema", m.From, "to_schema", m.To, "copy_of_before", m.Kept)
	}}
	if s.on() {
		s.figures = metrics.New(Version)
		options.Committed = s.figures.Committed
	}
	store, err := OpenDatabase(ctx, s.DB, options)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := SaveSettings(ctx, store, s); err != nil {
		return err
	}
	r, err := Start(ctx, store, s, recent)
	if err != nil {
		return err
	}
	if created {
		printWelcome(c.App.ErrWriter, s, r.Listener.Addr())
	}
	if err := showSetUp(ctx, c.App.ErrWriter, log, r, s); err != nil {
		log.Warn("no set-up link for the dashboard; baoco user create makes the first user", "err", err)
	}
	debug.FreeOSMemory() // memory that only the start needed
	if err := notify("READY=1"); err != nil {
		log.Warn("systemd could not be notified that the server is ready", "err", err)
	}
	go keepAlive(ctx, r.Services.Upkeep.Alive, log)
	fenced := make(chan error, 1)
	go func() {
		if err := app.Protected(func() error { return fence.watch(ctx) }); err != nil {
			fenced <- err
		}
	}()
	log.Info("serving", "address", r.Listener.Addr().String(), "db", store.Path(), "version", Version)

	var fault error
	patience := StopTime
	select {
	case <-ctx.Done():
	case err := <-r.failed:
		fault = err
	case err := <-fenced:
		fault, patience = err, time.Second // the other server sends the due deliveries too
	case err := <-store.Fatal():
		what := "the database failed, so baoco stops; nothing that was acknowledged is lost"
		switch {
		case errors.Is(err, sqlitestore.ErrTaken): // the error says what happened to the file
			what = "baoco stops"
		case errors.Is(err, sqlitestore.ErrDamaged):
			what = "baoco stops; what came in lately may be lost, so keep a copy of these files"
		}
		fault = terminal.Exit(terminal.ExitDatabase, fmt.Errorf("%s: %w", what, err))
		patience = time.Second // results of attempts in flight can no longer be recorded
	}
	log.Info("stopping")
	_ = notify("STOPPING=1") // an error doesn't prevent the stop
	return errors.Join(fault, r.Stop(patience))
}

func createIfMissing(ctx context.Context, s Settings) (bool, error) {
	if err := sqlitestore.FinishRestore(s.DB); err != nil {
		return false, err
	}
	if _, err := os.Stat(s.DB); !errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	zone := cmp.Or(s.Zone, app.DefaultZone)
	if err := sqlitestore.Create(ctx, s.DB, zone, time.Now()); err != nil {
		return false, terminal.Exit(terminal.ExitDatabase, fmt.Errorf("create the database: %w", err))
	}
	return true, nil
}

// Server is a started server.
type Server struct {
	Services  *services.All
	Listener  net.Listener
	servers   []*http.Server
	scheduler *scheduler.Scheduler
	failed    chan error
	closing   chan struct{} // closed when event streams must end
}

// Start starts the server over an open file. Deliveries start before HTTP, so that
// those that are due are sent before new transactions come in.
func Start(ctx context.Context, store *sqlitestore.Store, s Settings, recent *dashboard.RecentLog) (*Server, error) {
	log := slog.New(recent)
	service, sender, err := NewService(ctx, store, s.Schedule)
	if err != nil {
		return nil, err
	}
	r := &Server{Services: service, failed: make(chan error, 3), closing: make(chan struct{})}
	files, err := s.openCertificate(log)
	if err != nil {
		return nil, terminal.Exit(terminal.ExitDatabase, err)
	}
	installation := s.installation(files)
	if text, few := installation.FewFiles(); few {
		log.Warn(text.EN)
	}
	most := mostConnections(installation.Files)
	connections := web.NewConnections(most, s.Proxies, log)
	config := web.Config{
		Services: service, Logger: log, Limit: s.RateLimit, ListingLimit: s.ListingLimit,
		Secure: strings.HasPrefix(s.BaseURL, "https://"), Version: Version, Closing: r.closing, RecentLog: recent,
		Installation: installation, Lang: s.Lang, TrustedProxies: s.Proxies, Connections: most,
	}
	figures := s.count(service, &config)
	if err := r.listen(s, files, web.New(config), connections, log); err != nil {
		return nil, terminal.Exit(terminal.ExitDatabase, err)
	}
	if err := store.SetReachedAt(ctx, s.url(r.Listener.Addr())); err != nil {
		return nil, errors.Join(err, r.Listener.Close())
	}
	if figures != nil && s.MetricsListen != "" {
		if err := r.listenForMetrics(s, figures, connections, log); err != nil {
			return nil, errors.Join(err, r.Listener.Close())
		}
	}
	if r.scheduler, err = scheduler.Start(service, sender.Send,
		scheduler.Options{Installation: installation, Keep: s.Keep, Backups: s.Backups, CatchUp: s.CatchUp, Heartbeat: s.heartbeat(),
			Replica: &ReplicaChecker{Store: store}, Logger: log}); err != nil {
		return nil, errors.Join(err, r.Listener.Close())
	}
	r.serve(r.servers[0], r.Listener)
	return r, nil
}

// installation is what pages and alerts say about how the server was started.
func (s Settings) installation(files *certificateFiles) upkeep.Installation {
	in := upkeep.Installation{
		Version: Version, StartedAt: time.Now(), Listen: s.Listen, BaseURL: s.BaseURL, Domain: s.Domain,
		AllowTargets: s.Targets, Keep: s.Keep, Backups: s.Backups,
		CertFile: s.CertFile, Certificate: certificateEnd(s), Files: openFiles(),
	}
	if files != nil {
		in.Certificate = func(context.Context) upkeep.CertificateStatus { return files.status() }
	}
	return in
}

// serve answers the connections of a listener. If that fails, the process ends with the
// error.
func (r *Server) serve(server *http.Server, l net.Listener) {
	go func() { r.failed <- app.Protected(func() error { return server.Serve(l) }) }()
}

func (r *Server) listen(s Settings, files *certificateFiles, handler http.Handler, connections *web.Connections, log *slog.Logger) error {
	r.servers = []*http.Server{httpServer(handler, connections, log)}
	if s.Domain != "" {
		return r.listenSecurely(s, connections, log)
	}
	plain, err := listenAt(s.Listen)
	if err != nil {
		return err
	}
	r.Listener = connections.Listener(plain)
	if files != nil {
		r.servers[0].TLSConfig = files.config()
		r.Listener = tls.NewListener(r.Listener, r.servers[0].TLSConfig)
	}
	return nil
}

// StopTime is how long a stop may take: a little longer than an attempt.
const StopTime = 13 * time.Second

// Stop ends the server, at most within a time. First it starts no new attempts and
// waits for those in flight, while calls of providers are still answered and recorded,
// also when a shop hangs. Then it takes no new requests and ends those in flight.
func (r *Server) Stop(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	close(r.closing)
	err := r.scheduler.Stop(ctx)
	stopped := make(chan error, len(r.servers))
	for _, server := range r.servers {
		go func() { stopped <- server.Shutdown(ctx) }()
	}
	for range r.servers {
		if e := <-stopped; e != nil && !errors.Is(e, context.DeadlineExceeded) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// showSetUp says how to create the first user of the dashboard, as long as there is no user.
// Anybody who reads the link owns the installation, and many people can read a log: so only a
// terminal gets the link, and a log gets the command that makes one.
func showSetUp(ctx context.Context, w io.Writer, log *slog.Logger, r *Server, s Settings) error {
	ctx = context.WithoutCancel(ctx) // the server has started: a signal now must stop it in order, without an error here
	if s.JSONLog || !terminal.IsTerminal(w) {
		users, err := r.Services.Access.Users(ctx, app.DefaultAccountID)
		if err == nil && len(users) == 0 {
			log.Info("nobody can sign in to the dashboard yet: this command prints the link to create the first user",
				"command", program()+" user set-up"+s.dbFlag())
		}
		return err
	}
	token, err := r.Services.Access.OpenSetUp(ctx, time.Now())
	if err != nil || token == "" {
		return err
	}
	_, err = fmt.Fprintf(w, "Open the dashboard (one use, within %.0f minutes):\n  %s\n\n", access.SetUpTime.Minutes(),
		SetUpLink(s.url(r.Listener.Addr()), token))
	return err
}

// SetUpLink is the link with which the first user is created, at the address of a server;
// empty: the default address of serve.
func SetUpLink(address, token string) string {
	return cmp.Or(address, "http://"+defaultListen) + "/setup/" + token
}

// url is where people reach the server: --base-url, else the address that it listens at, as
// a browser on this machine reaches it.
func (s Settings) url(address net.Addr) string {
	switch {
	case s.BaseURL != "":
		return s.BaseURL
	case s.CertFile != "":
		return "https://" + localAddress(address.String())
	}
	return "http://" + localAddress(address.String())
}

func (s Settings) dbFlag() string {
	if s.DB == "baoco.db" {
		return ""
	}
	return " --db " + app.ShellWord(s.DB)
}

// program is how this program was called, which works again in the same directory.
func program() string { return app.ShellWord(os.Args[0]) }

func printWelcome(w io.Writer, s Settings, address net.Addr) {
	fmt.Fprintf(w,
		`baoco made %[1]s (and %[1]s.key: keep a copy of both) and answers at %[2]s

Next, in another terminal:
  1. %[4]s bank link%[3]s --bank ACB --number 19354957 --name "NGUYEN VAN A"
  2. %[4]s webhook create%[3]s --name shop --url https://your-shop.vn/baoco --type IN
  3. %[4]s transaction add%[3]s --amount 200000 --content "first one"     (your shop is told within a second)
  4. %[4]s source add%[3]s --provider sepay --auth apikey --name SePay     (and enter its URL at the provider)
  5. %[4]s apikey create%[3]s shop                                         (for the API at %[2]s/api/v1)

`, s.DB, s.url(address), s.dbFlag(), program())
}

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
