package serve

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
	"baoco/app/target"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
	"baoco/web/metrics"

	"github.com/urfave/cli/v2"
	"golang.org/x/crypto/acme/autocert"
)

const defaultListen = "127.0.0.1:8080"

// Flags are the settings of serve. Each may also be set by a variable of the
// environment; secrets are set only by a variable or a file.
func Flags() []cli.Flag {
	return slices.Concat([]cli.Flag{terminal.DBFlag}, byEnvironment(
		&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on, or unix:/path of a socket", Value: defaultListen},
		&cli.StringFlag{Name: "base-url", Usage: "`URL` at which providers reach this server", DefaultText: "https:// with --domain, else none"},
		&cli.StringFlag{Name: "domain", Usage: "serve HTTPS for `NAME` on ports 443 and 80, with an automatic certificate (ACME)"},
		&cli.StringFlag{Name: "acme-directory", Usage: "`URL` of the authority that issues the certificate of --domain",
			DefaultText: "that of Let's Encrypt"},
		&cli.StringFlag{Name: "cert-file", Usage: "serve HTTPS at --listen with the certificate in `FILE`, PEM; read again when it changes"},
		&cli.StringFlag{Name: "key-file", Usage: "`FILE` with the private key of --cert-file, PEM"},
		&cli.StringFlag{Name: "timezone", Usage: "`ZONE` of every date",
			DefaultText: "that of the database, " + app.DefaultZone + " in a new one"},
		&cli.StringSliceFlag{Name: "allow-target",
			Usage: "allow webhooks at private addresses in `CIDR[@PORT]`, or at those of this exact host name (repeatable)"},
		&cli.StringSliceFlag{Name: "trusted-proxies",
			Usage: "believe the proxy at `CIDR` about its clients: X-Forwarded-For, -Proto and -Host (repeatable)"},
		&cli.IntFlag{Name: "rate-limit", Usage: "requests a minute for each API key and endpoint, `N`", Value: 300},
		&cli.IntFlag{Name: "listing-rate-limit", Usage: "the same for the listings of transactions and of bank accounts, `N`", Value: 60},
	), KeepFlags("", "30d", "365d"), byEnvironment(
		&cli.StringFlag{Name: "backup-dir", Usage: "make backups in `DIRECTORY` by a schedule", DefaultText: "no backups"},
		&cli.StringFlag{Name: "backup-every", Usage: "`TIME` between two scheduled backups, from 1h to 7d", Value: "24h"},
		&cli.IntFlag{Name: "backup-keep", Usage: "how many scheduled backups stay, `N`", Value: 14},
		&cli.StringFlag{Name: "catch-up", Usage: "`TIME` between two syncs of the lists of providers, from 10s to 24h; 0 is never", Value: "3m"},
		terminal.Choice(cli.StringFlag{Name: "log-format", Usage: "`FORMAT`: %s", Value: "text"}, "text", "json"),
		terminal.Choice(cli.StringFlag{Name: "lang",
			Usage:       "default `LANGUAGE` of the dashboard and of alerts, %s, for those who have not chosen one",
			DefaultText: "that of the browser, else en; alerts vi"}, app.English, app.Vietnamese),
	), watchingFlags())
}

// byEnvironment lets a variable set each flag too: BAOCO_LISTEN sets --listen.
func byEnvironment(flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		reflect.ValueOf(f).Elem().FieldByName("EnvVars").Set(reflect.ValueOf([]string{variable(f.Names()[0])}))
	}
	return flags
}

// variable is the environment's name of a flag.
func variable(flag string) string {
	return "BAOCO_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Settings are the checked flags of serve.
type Settings struct {
	DB, Listen, BaseURL, Domain, ACMEDirectory, CertFile, KeyFile, Zone string

	Targets                 []string           // of --allow-target
	Proxies                 []netip.Prefix     // that are trusted
	RateLimit, ListingLimit int                // requests a minute
	Keep                    upkeep.PruneLimits // how long logs are kept
	Backups                 upkeep.BackupSchedule
	CatchUp                 time.Duration // between two syncs of the providers' lists; 0: never
	JSONLog                 bool
	Lang                    app.Lang        // empty: not given
	Schedule                []time.Duration // of attempts; nil: the one of the interface

	watching
	Warnings []string         // about the settings, for a log
	figures  *metrics.Metrics // nil: no figures are shown
}

// certificates is the directory where the certificates of --domain are saved.
func (s Settings) certificates() autocert.DirCache { return autocert.DirCache(s.DB + ".acme") }

func readSettings(c *cli.Context) (s Settings, err error) {
	if s, err = readListening(c); err != nil {
		return s, err
	}
	s.Zone, s.RateLimit, s.ListingLimit = c.String("timezone"), c.Int("rate-limit"), c.Int("listing-rate-limit")
	if s.Zone != "" {
		if _, err := time.LoadLocation(s.Zone); err != nil || s.Zone == "Local" {
			return s, terminal.Usagef("--timezone must be a zone such as %s, not %q", app.DefaultZone, s.Zone)
		}
	}
	if s.RateLimit < 1 || s.RateLimit > 1_000_000 || s.ListingLimit < 1 || s.ListingLimit > 1_000_000 {
		return s, terminal.Usagef("--rate-limit and --listing-rate-limit must be from 1 to 1000000")
	}
	if s.Keep, err = readKeep(c); err != nil {
		return s, err
	}
	if s.Backups, err = readBackups(c); err != nil {
		return s, err
	}
	if s.CatchUp, err = ParseCatchUp(c.String("catch-up")); err != nil {
		return s, err
	}
	return s, terminal.NoArguments(c)
}

// readListening reads how the server is reached and watched, and its language.
func readListening(c *cli.Context) (s Settings, err error) {
	s = Settings{
		DB: c.String("db"), Listen: c.String("listen"), Domain: c.String("domain"), ACMEDirectory: c.String("acme-directory"),
		CertFile: c.String("cert-file"), KeyFile: c.String("key-file"),
		Targets: c.StringSlice("allow-target"), JSONLog: c.String("log-format") == "json", Warnings: unknownVariables(os.Environ()),
	}
	if other := os.Getenv(variable("db")); terminal.Typed(c, "db") && other != "" && other != s.DB {
		s.Warnings = append(s.Warnings, fmt.Sprintf("--db %s counts, and BAOCO_DB=%s doesn't", s.DB, other))
	}
	if err := s.checkDomain(); err != nil {
		return s, err
	}
	if s.BaseURL, err = checkBaseURL(c.String("base-url"), s.Domain); err != nil {
		return s, err
	}
	if err := s.checkListen(); err != nil {
		return s, err
	}
	if _, err := target.ParsePolicy(s.Targets); err != nil {
		return s, terminal.Usagef("--allow-target: %v", err)
	}
	if s.Proxies, err = parseProxies(c.StringSlice("trusted-proxies")); err != nil {
		return s, err
	}
	s.Lang = app.Lang(c.String("lang"))
	return s, s.readWatching(c)
}

// checkDomain checks --domain, which must be a name and not an address, and
// --acme-directory.
func (s *Settings) checkDomain() error {
	s.Domain = strings.ToLower(strings.TrimSuffix(s.Domain, "."))
	if _, err := netip.ParseAddr(s.Domain); s.Domain != "" &&
		(err == nil || !strings.Contains(s.Domain, ".") || strings.ContainsAny(s.Domain, ":/*@ ")) {
		return terminal.Usagef("--domain must be a name such as baoco.shop.vn, not %q", s.Domain)
	}
	if s.ACMEDirectory == "" {
		return nil
	}
	if u, err := url.Parse(s.ACMEDirectory); err != nil || u.Scheme != "https" || u.Host == "" {
		return terminal.Usagef("--acme-directory must be an https address, not %q", s.ACMEDirectory)
	}
	if s.Domain == "" {
		return terminal.Usagef("--acme-directory needs --domain")
	}
	return nil
}

func (s Settings) checkListen() error {
	switch {
	case (s.CertFile == "") != (s.KeyFile == ""):
		return terminal.Usagef("--cert-file and --key-file go together")
	case s.CertFile != "" && s.Domain != "":
		return terminal.Usagef("--domain gets its certificate by itself: --cert-file doesn't go with it")
	}
	if path := socketOf(s.Listen); strings.HasPrefix(s.Listen, "unix:") {
		switch {
		case !filepath.IsAbs(path) || len(path) > longestSocket:
			return terminal.Usagef("--listen unix: takes an absolute path of at most %d bytes, not %q", longestSocket, path)
		case s.BaseURL == "":
			return terminal.Usagef("--listen %s needs --base-url: the address of the proxy before it", s.Listen)
		case s.CertFile != "":
			return terminal.Usagef("--cert-file doesn't go with a Unix socket: the proxy before it has the certificate")
		}
		return nil
	}
	_, port, err := net.SplitHostPort(s.Listen)
	if _, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil {
		return terminal.Usagef("--listen must be an address such as 127.0.0.1:8080, or unix:/path, not %q", s.Listen)
	}
	return nil
}

// longestSocket is the longest path that every system takes for a Unix socket.
const longestSocket = 103

// parseProxies reads --trusted-proxies. A network of all addresses is refused,
// because then every client could choose its own address.
func parseProxies(entries []string) (list []netip.Prefix, err error) {
	for _, entry := range entries {
		network, err := target.ParseNetwork(strings.TrimSpace(entry))
		if err != nil || network.Bits() == 0 {
			return nil, terminal.Usagef("--trusted-proxies must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8, not %q", entry)
		}
		list = append(list, network)
	}
	return list, nil
}

func checkBaseURL(base, domain string) (string, error) {
	if base == "" && domain != "" {
		return "https://" + domain, nil
	}
	if base == "" {
		return "", nil
	}
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", terminal.Usagef("--base-url must be an address such as https://baoco.shop.vn, not %q", base)
	}
	if strings.Trim(u.Path, "/") != "" {
		return "", terminal.Usagef("--base-url must have no path, not %q: baoco needs a name of its own, such as https://baoco.shop.vn", u.Path)
	}
	return strings.TrimSuffix(base, "/"), nil
}

// ParseCatchUp reads --catch-up.
func ParseCatchUp(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d != 0 && (d < 10*time.Second || d > 24*time.Hour) {
		return 0, terminal.Usagef("--catch-up must be a time from 10s to 24h, or 0, not %q", text)
	}
	return d, nil
}

// SaveSettings saves the settings that other commands need in the database. After a
// change of the zone the store counts the totals of all days again, which may take long.
func SaveSettings(ctx context.Context, store *sqlitestore.Store, s Settings) error {
	if zone, err := store.Zone(ctx); err != nil {
		return err
	} else if s.Zone != "" && zone.String() != s.Zone {
		if err := store.SetZone(ctx, s.Zone); err != nil {
			return err
		}
	}
	every := s.Backups.Every
	if s.Backups.Dir == "" {
		every = 0
	}
	return cmp.Or(store.SetAllowTargets(ctx, s.Targets), store.SetKeep(ctx, s.Keep), store.SetBackupEvery(ctx, every),
		store.SetLang(ctx, s.Lang), store.SetOpenFiles(ctx, openFiles()), store.SetBaseURL(ctx, s.BaseURL))
}

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

// readBackups reads the schedule of backups. The directory need not exist yet: the server
// must start even if a disk isn't mounted.
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
