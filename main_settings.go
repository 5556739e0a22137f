package main

import (
	"baoco/app"
	"baoco/sqlitestore"
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/crypto/acme/autocert"
)

// certificates is where those of --domain are kept.
func (s settings) certificates() autocert.DirCache { return autocert.DirCache(s.db + ".acme") }

// settings are the flags of serve, read.
type settings struct {
	db, listen, baseURL, domain, acmeDirectory, zone string
	targets                                          []string
	proxies                                          []netip.Prefix // that are trusted
	rateLimit, listingLimit                          int
	keep                                             app.PruneLimits
	catchUp                                          time.Duration // 0: never
	jsonLog                                          bool
	lang                                             app.Lang        // empty: not given
	schedule                                         []time.Duration // nil: that of the interface
}

func readSettings(c *cli.Context) (s settings, err error) {
	s = settings{
		db: c.String("db"), listen: c.String("listen"), domain: c.String("domain"), acmeDirectory: c.String("acme-directory"), zone: c.String("timezone"),
		targets: c.StringSlice("allow-target"), rateLimit: c.Int("rate-limit"), listingLimit: c.Int("listing-rate-limit"), jsonLog: c.String("log-format") == "json",
	}
	if err := s.checkDomain(); err != nil {
		return s, err
	}
	_, port, err := net.SplitHostPort(s.listen)
	if _, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil {
		return s, usagef("--listen must be an address such as 127.0.0.1:8080, not %q", s.listen)
	}
	if s.baseURL, err = checkBaseURL(c.String("base-url"), s.domain); err != nil {
		return s, err
	}
	if s.zone != "" {
		if _, err := time.LoadLocation(s.zone); err != nil || s.zone == "Local" {
			return s, usagef("--timezone must be a zone such as %s, not %q", app.DefaultZone, s.zone)
		}
	}
	if _, err := app.ParseTargetPolicy(s.targets); err != nil {
		return s, usagef("--allow-target: %v", err)
	}
	if s.proxies, err = parseProxies(c.StringSlice("trusted-proxies")); err != nil {
		return s, err
	}
	if s.rateLimit < 1 || s.rateLimit > 1_000_000 || s.listingLimit < 1 || s.listingLimit > 1_000_000 {
		return s, usagef("--rate-limit and --listing-rate-limit must be from 1 to 1000000")
	}
	if s.keep, err = readKeep(c); err != nil {
		return s, err
	}
	if s.catchUp, err = parseCatchUp(c.String("catch-up")); err != nil {
		return s, err
	}
	if !slices.Contains([]string{"text", "json"}, c.String("log-format")) {
		return s, usagef("--log-format must be text or json, not %q", c.String("log-format"))
	}
	if s.lang = app.Lang(c.String("lang")); s.lang != "" && s.lang != app.English && s.lang != app.Vietnamese {
		return s, usagef("--lang must be en or vi, not %q", c.String("lang"))
	}
	return s, noArguments(c)
}

// checkDomain checks --domain and --acme-directory; an address is not a name.
func (s *settings) checkDomain() error {
	s.domain = strings.ToLower(strings.TrimSuffix(s.domain, "."))
	if _, err := netip.ParseAddr(s.domain); s.domain != "" && (err == nil || !strings.Contains(s.domain, ".") || strings.ContainsAny(s.domain, ":/*@ ")) {
		return usagef("--domain must be a name such as baoco.shop.vn, not %q", s.domain)
	}
	if s.acmeDirectory == "" {
		return nil
	}
	if u, err := url.Parse(s.acmeDirectory); err != nil || u.Scheme != "https" || u.Host == "" {
		return usagef("--acme-directory must be an https address, not %q", s.acmeDirectory)
	}
	if s.domain == "" {
		return usagef("--acme-directory needs --domain")
	}
	return nil
}

// parseProxies reads --trusted-proxies. A network of all addresses is refused:
// with it anybody could choose the address they are known by.
func parseProxies(entries []string) (list []netip.Prefix, err error) {
	for _, entry := range entries {
		network, err := app.ParseNetwork(strings.TrimSpace(entry))
		if err != nil || network.Bits() == 0 {
			return nil, usagef("--trusted-proxies must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8, not %q", entry)
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
		return "", usagef("--base-url must be an address such as https://baoco.shop.vn, not %q", base)
	}
	return strings.TrimSuffix(base, "/"), nil
}

func parseCatchUp(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d != 0 && (d < 10*time.Second || d > 24*time.Hour) {
		return 0, usagef("--catch-up must be a time from 10s to 24h, or 0, not %q", text)
	}
	return d, nil
}

// keepSettings writes into the file what the commands beside the server need
// to know. A new zone counts the days again, which may take a while.
func keepSettings(ctx context.Context, store *sqlitestore.Store, s settings) error {
	if zone, err := store.Zone(ctx); err != nil {
		return err
	} else if s.zone != "" && zone.String() != s.zone {
		if err := store.SetZone(ctx, s.zone); err != nil {
			return err
		}
	}
	if err := store.SetAllowTargets(ctx, s.targets); err != nil {
		return err
	}
	if err := store.SetKeep(ctx, s.keep); err != nil {
		return err
	}
	if err := store.SetLang(ctx, s.lang); err != nil {
		return err
	}
	return store.SetBaseURL(ctx, s.baseURL)
}
