package acceptance_test

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The arrows of the house: which of the project's packages each may import,
// and in which each library lives.
var (
	arrows = map[string][]string{
		".": {"baoco/app/command"},
		// The one room under app that looks outward. Nothing but main imports it.
		"app/command": {"baoco/app", "baoco/app/access", "baoco/app/alert", "baoco/app/audit", "baoco/app/book", "baoco/app/command/bench",
			"baoco/app/command/demo", "baoco/app/command/listen", "baoco/app/command/serve", "baoco/app/command/session",
			"baoco/app/command/terminal",
			"baoco/app/command/upkeep", "baoco/app/delivery", "baoco/app/inbound", "baoco/app/payment", "baoco/app/paymentcode",
			"baoco/app/provider", "baoco/app/services", "baoco/app/sheet", "baoco/app/statement", "baoco/app/stream", "baoco/app/upkeep",
			"baoco/app/verify", "baoco/app/vietqr", "baoco/web/api"},
		"app/command/bench": {"baoco/app", "baoco/app/command/serve", "baoco/app/command/terminal", "baoco/app/delivery", "baoco/app/inbound",
			"baoco/sqlitestore"},
		"app/command/listen": {"baoco/app", "baoco/app/command/serve", "baoco/app/command/terminal", "baoco/app/delivery",
			"baoco/scheduler/courier"},
		"app/command/demo": {"baoco/app", "baoco/app/access", "baoco/app/command/serve", "baoco/app/command/terminal", "baoco/app/delivery",
			"baoco/app/fold", "baoco/app/inbound", "baoco/app/payment", "baoco/app/paymentcode", "baoco/app/statement", "baoco/sqlitestore",
			"baoco/web/dashboard"},
		"app/command/serve": {"baoco/app", "baoco/app/access", "baoco/app/command/terminal", "baoco/app/provider", "baoco/app/replica",
			"baoco/app/services", "baoco/app/target", "baoco/app/upkeep", "baoco/scheduler", "baoco/scheduler/courier", "baoco/sqlitestore",
			"baoco/web", "baoco/web/dashboard", "baoco/web/metrics"},
		"app/command/terminal": {"baoco/app", "baoco/sqlitestore"},

		// For tests only.
		"app/acceptance": {},
		"app/apptest": {"baoco/app", "baoco/app/access", "baoco/app/delivery", "baoco/app/inbound", "baoco/app/password", "baoco/app/payment",
			"baoco/app/paymentcode", "baoco/app/provider", "baoco/app/replica", "baoco/app/services", "baoco/app/stream", "baoco/app/target",
			"baoco/app/upkeep", "baoco/sqlitestore"},
		"scheduler/broker/brokertest": {"baoco/app/apptest", "baoco/app/delivery", "baoco/app/stream"},
		"web/webtest": {"baoco/app", "baoco/app/access", "baoco/app/apptest", "baoco/app/delivery", "baoco/app/inbound",
			"baoco/app/services", "baoco/app/stream", "baoco/app/upkeep", "baoco/scheduler", "baoco/scheduler/courier", "baoco/web", "baoco/web/api",
			"baoco/web/dashboard", "baoco/web/wire"},
		"web/webtest/pages": {"baoco/web/dashboard", "baoco/web/wire"},

		"web": {"baoco/app", "baoco/app/inbound", "baoco/app/services", "baoco/app/upkeep", "baoco/web/api",
			"baoco/web/dashboard", "baoco/web/docs", "baoco/web/inbound", "baoco/web/pay", "baoco/web/wire"},
		"web/api": {"baoco/app", "baoco/app/access", "baoco/app/book", "baoco/app/delivery", "baoco/app/exactjson", "baoco/app/inbound",
			"baoco/app/payer", "baoco/app/payment", "baoco/app/paymentcode", "baoco/app/provider", "baoco/app/services",
			"baoco/app/stream", "baoco/app/vietqr", "baoco/web/wire"},
		"web/dashboard": {"baoco/app", "baoco/app/access", "baoco/app/alert", "baoco/app/audit", "baoco/app/book", "baoco/app/delivery",
			"baoco/app/fold", "baoco/app/inbound", "baoco/app/passkey", "baoco/app/payer", "baoco/app/payment", "baoco/app/paymentcode",
			"baoco/app/provider", "baoco/app/secondfactor", "baoco/app/services", "baoco/app/sheet", "baoco/app/statement", "baoco/app/stream",
			"baoco/app/target", "baoco/app/upkeep", "baoco/app/verify", "baoco/app/vietqr", "baoco/web/dashboard/help", "baoco/web/wire"},
		"web/dashboard/help": {"baoco/app", "baoco/app/fold", "baoco/app/inbound"},
		"web/docs":           {"baoco/app", "baoco/app/exactjson", "baoco/web/dashboard/help", "baoco/web/wire"},
		"web/metrics":        {"baoco/app", "baoco/app/delivery", "baoco/app/inbound", "baoco/app/services", "baoco/app/stream"},
		"web/pay":            {"baoco/app", "baoco/app/payment", "baoco/app/services", "baoco/app/vietqr", "baoco/web/wire"},
		"web/inbound": {"baoco/app", "baoco/app/access", "baoco/app/exactjson", "baoco/app/inbound", "baoco/app/provider",
			"baoco/app/services", "baoco/web/wire"},
		"web/wire": {"baoco/app", "baoco/app/delivery", "baoco/app/pattern"},
		"scheduler": {"baoco/app", "baoco/app/alert", "baoco/app/delivery", "baoco/app/inbound", "baoco/app/provider",
			"baoco/app/services", "baoco/app/stream", "baoco/app/target", "baoco/app/upkeep", "baoco/app/webpush", "baoco/scheduler/broker/kafka",
			"baoco/scheduler/broker/nats", "baoco/scheduler/courier"},
		"scheduler/broker":       {"baoco/app", "baoco/app/stream"},
		"scheduler/broker/kafka": {"baoco/app", "baoco/app/stream", "baoco/scheduler/broker"},
		"scheduler/broker/nats":  {"baoco/app", "baoco/app/delivery", "baoco/app/stream", "baoco/scheduler/broker"},
		"sqlitestore": {"baoco/app", "baoco/app/access", "baoco/app/alert", "baoco/app/book", "baoco/app/delivery", "baoco/app/fold",
			"baoco/app/inbound", "baoco/app/payment", "baoco/app/stream", "baoco/app/upkeep", "baoco/app/webpush"},
		"app":            {"baoco/app/fold", "baoco/app/paymentcode", "baoco/app/vietqr"},
		"app/appsscript": {"baoco/app/pattern"},
		"app/pattern":    {},
		"app/audit": {"baoco/app", "baoco/app/access", "baoco/app/alert", "baoco/app/book", "baoco/app/delivery",
			"baoco/app/payment", "baoco/app/provider"},
		"app/exactjson":    {"baoco/app"},
		"app/fold":         {},
		"app/passkey":      {},
		"app/payer":        {"baoco/app", "baoco/app/fold", "baoco/app/pattern"},
		"app/password":     {},
		"app/paymentcode":  {"baoco/app/fold"},
		"app/provider":     {"baoco/app", "baoco/app/exactjson", "baoco/app/inbound", "baoco/app/sms"},
		"app/replica":      {"baoco/app/pattern"},
		"app/secondfactor": {},
		"app/sheet":        {"baoco/app", "baoco/app/audit", "baoco/app/book"},
		"app/sms":          {"baoco/app", "baoco/app/fold", "baoco/app/pattern"},
		"app/statement":    {"baoco/app", "baoco/app/fold", "baoco/app/inbound", "baoco/app/sheet"},
		"app/verify":       {"baoco/app", "baoco/app/delivery"},
		"app/vietqr":       {},
		"app/webpush":      {},
		"app/access":       {"baoco/app", "baoco/app/passkey", "baoco/app/password", "baoco/app/secondfactor"},
		"app/alert": {"baoco/app", "baoco/app/book", "baoco/app/delivery", "baoco/app/inbound", "baoco/app/pattern",
			"baoco/app/payment", "baoco/app/stream",
			"baoco/app/target", "baoco/app/upkeep", "baoco/app/webpush"},
		"app/delivery": {"baoco/app", "baoco/app/appsscript", "baoco/app/exactjson", "baoco/app/target"},
		"app/inbound":  {"baoco/app", "baoco/app/delivery", "baoco/app/fold", "baoco/app/target"},
		"app/payment":  {"baoco/app", "baoco/app/payer", "baoco/app/paymentcode", "baoco/app/vietqr"},
		"app/services": {"baoco/app", "baoco/app/access", "baoco/app/alert", "baoco/app/book", "baoco/app/delivery", "baoco/app/inbound",
			"baoco/app/payment", "baoco/app/stream", "baoco/app/target", "baoco/app/upkeep"},
		"app/stream":          {"baoco/app", "baoco/app/delivery", "baoco/app/target"},
		"app/target":          {"baoco/app"},
		"app/book":            {"baoco/app", "baoco/app/fold"},
		"app/upkeep":          {"baoco/app"},
		"scheduler/courier":   {"baoco/app", "baoco/app/delivery", "baoco/app/services", "baoco/app/target", "baoco/app/upkeep"},
		"app/command/session": {"baoco/app", "baoco/app/command/serve", "baoco/app/command/terminal", "baoco/app/services", "baoco/sqlitestore"},
		"app/command/upkeep": {"baoco/app", "baoco/app/command/serve", "baoco/app/command/session", "baoco/app/command/terminal",
			"baoco/app/inbound", "baoco/app/provider", "baoco/app/replica", "baoco/app/upkeep", "baoco/sqlitestore", "baoco/web/api"},
	}
	libraries = map[string][]string{
		".":                           {},
		"app/acceptance":              {},
		"app/apptest":                 {},
		"scheduler/broker/brokertest": {"github.com/nats-io/nats.go"},
		"web/webtest":                 {"github.com/getkin/kin-openapi", "github.com/google/go-cmp/cmp"},
		"web/webtest/pages":           {},
		"app/command":                 {"github.com/urfave/cli/v2", "github.com/jedib0t/go-pretty/v6"},
		"app/command/bench":           {"github.com/urfave/cli/v2"},
		"app/command/demo":            {"github.com/urfave/cli/v2"},
		"app/command/listen":          {"github.com/urfave/cli/v2", "github.com/jedib0t/go-pretty/v6"},
		"app/command/serve": {"github.com/KimMachineGun/automemlimit/memlimit", "github.com/urfave/cli/v2", "golang.org/x/crypto/acme",
			"golang.org/x/crypto/acme/autocert", "golang.org/x/crypto/x509roots/fallback"},
		"app/command/terminal": {"github.com/urfave/cli/v2", "github.com/jedib0t/go-pretty/v6", "golang.org/x/term"},

		"web":                {},
		"web/api":            {},
		"web/dashboard":      {"github.com/alexedwards/scs/v2"},
		"web/dashboard/help": {"github.com/yuin/goldmark"},
		"web/docs":           {"github.com/yuin/goldmark"},
		"web/inbound":        {},
		"web/metrics":        {"github.com/prometheus/client_golang/prometheus"},
		"web/pay":            {},
		"web/wire":           {"golang.org/x/time/rate"},
		"scheduler": {"github.com/go-co-op/gocron/v2", "github.com/google/uuid", "github.com/jonboulle/clockwork",
			"github.com/wneessen/go-mail"},
		"scheduler/broker":       {},
		"scheduler/broker/kafka": {"github.com/twmb/franz-go/pkg"},
		"scheduler/broker/nats":  {"github.com/nats-io/nkeys"},
		"sqlitestore":            {"modernc.org/sqlite"},
		"app":                    {},
		"app/appsscript":         {},
		"app/audit":              {},
		"app/exactjson":          {"github.com/go-json-experiment/json/jsontext"},
		"app/fold":               {"golang.org/x/text/unicode/norm"},
		"app/pattern":            {},
		"app/payer":              {},
		"app/passkey":            {"github.com/go-webauthn/webauthn"},
		"app/password":           {"golang.org/x/crypto/argon2"},
		"app/paymentcode":        {},
		"app/provider":           {},
		"app/replica": {"github.com/go-json-experiment/json/jsontext", "golang.org/x/crypto/argon2", "golang.org/x/crypto/ssh",
			"github.com/pkg/sftp", "golang.org/x/text/unicode/norm"},
		"app/secondfactor":    {"github.com/pquerna/otp"},
		"app/sheet":           {"golang.org/x/net/html", "golang.org/x/text/encoding"},
		"app/sms":             {},
		"app/statement":       {"golang.org/x/text/unicode/norm"},
		"app/verify":          {},
		"app/vietqr":          {"rsc.io/qr"},
		"app/webpush":         {},
		"app/access":          {},
		"app/alert":           {},
		"app/delivery":        {},
		"app/inbound":         {},
		"app/payment":         {},
		"app/services":        {},
		"app/stream":          {},
		"app/target":          {},
		"app/book":            {},
		"app/upkeep":          {},
		"scheduler/courier":   {},
		"app/command/session": {"github.com/urfave/cli/v2"},
		"app/command/upkeep":  {"github.com/urfave/cli/v2"},
	}
)

// eachRoom calls fn with every directory of the house, as a path from its top and from here.
func eachRoom(t *testing.T, fn func(dir, path string)) {
	t.Helper()
	const house = "../.."
	must(t, filepath.WalkDir(house, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != house && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		dir, err := filepath.Rel(house, path)
		if err == nil {
			fn(filepath.ToSlash(dir), path)
		}
		return err
	}))
}

func TestArrows(t *testing.T) {
	seen := 0
	eachRoom(t, func(dir, path string) {
		pkg, err := build.ImportDir(path, 0)
		if _, none := err.(*build.NoGoError); none {
			return
		}
		must(t, err)
		own, known := arrows[dir]
		if !known {
			t.Errorf("%s is a room that the house doesn't have", dir)
			return
		}
		seen++
		for _, path := range pkg.Imports {
			first, _, _ := strings.Cut(path, "/")
			switch {
			case first == "baoco":
				if !slices.Contains(own, path) {
					t.Errorf("%s imports %s against the arrows", dir, path)
				}
			case strings.Contains(first, "."):
				if !slices.ContainsFunc(libraries[dir], func(l string) bool { return path == l || strings.HasPrefix(path, l+"/") }) {
					t.Errorf("%s imports %s, which lives elsewhere or nowhere", dir, path)
				}
			}
		}
	})
	if seen != len(arrows) {
		t.Errorf("found %d rooms, want %d", seen, len(arrows))
	}
}
