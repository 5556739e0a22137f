package serve

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

//go:embed baoco.service
var unitText string

var unitFile = template.Must(template.New("").Parse(unitText))

// UnitCommand is baoco systemd.
func UnitCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "database `FILE`", Value: "/var/lib/baoco/baoco.db", EnvVars: terminal.DBFlag.EnvVars},
		&cli.StringFlag{Name: "user", Usage: "system `USER` to run as, with its own group", Value: "baoco"},
		&cli.StringFlag{Name: "binary", Usage: "program `FILE` (default: this one)"},
		&cli.StringFlag{Name: "environment-file", Usage: "`FILE` with more settings, as lines such as BAOCO_DOMAIN=baoco.shop.vn"},
	}
	for _, f := range Flags() {
		if f != cli.Flag(terminal.DBFlag) {
			flags = append(flags, f)
		}
	}
	return &cli.Command{
		Name: "systemd", Usage: "print a systemd unit that runs serve with the given flags, sandboxed",
		Description: terminal.Example(
			"baoco systemd --domain baoco.shop.vn > /etc/systemd/system/baoco.service",
			"baoco systemd --listen 127.0.0.1:8080 --base-url https://baoco.shop.vn --db /srv/baoco/baoco.db",
		),
		Flags: flags,
		Action: func(c *cli.Context) error {
			u, err := readUnit(c)
			if err != nil {
				return err
			}
			err = unitFile.Execute(c.App.Writer, u)
			u.printNext(c.App.ErrWriter)
			return err
		},
	}
}

// unit is what the template of the unit file needs.
type unit struct {
	User    string
	command []string // of serve, the binary first, then the database
	file    string   // with its environment; empty: none
	dir     string   // of the database
	Runtime string   // the name of the directory of its socket where it is directly below /run
	backups string   // the directory of scheduled backups; empty: there is none
	State   string   // the name of dir where it is directly below /var/lib, else empty
	LowPort bool     // serve listens at a port below 1024, or may
	InHome  bool     // the program or the database is in somebody's home
	InTmp   bool     // one of them is in a directory for temporary files
}

var (
	userName  = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,30}$`)
	stateName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

func readUnit(c *cli.Context) (u unit, err error) {
	s, err := readSettings(c) // what serve would refuse is refused here
	if err != nil {
		return u, err
	}
	s.printWarnings(c.App.ErrWriter)
	if u.User = c.String("user"); !userName.MatchString(u.User) {
		return u, terminal.Usagef("--user must be the name of a user of the system, not %q", u.User)
	}
	for _, name := range secrets {
		if c.String(name) != "" {
			return u, terminal.Usagef("everybody can read a unit, and %s is a secret: use --%s-file", variable(name), name)
		}
	}
	binary := c.String("binary")
	if binary == "" {
		if binary, err = os.Executable(); err != nil {
			return u, err
		}
	}
	here, err := os.Getwd() // where systemd won't start it
	if err != nil {
		return u, err
	}
	absolute := func(path string) string {
		if filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
		return filepath.Join(here, path)
	}
	binary = absolute(binary)
	if strings.ContainsAny(binary, "\"'\\") {
		return u, terminal.Usagef("systemd runs no program whose path has quotes or backslashes, as %s has", binary)
	}
	db := absolute(s.DB)
	u.dir, u.backups = filepath.Dir(db), s.Backups.Dir
	if name, below := strings.CutPrefix(filepath.Dir(socketOf(s.Listen)), "/run/"); below && stateName.MatchString(name) {
		u.Runtime = name
	}
	if name, below := strings.CutPrefix(u.dir, "/var/lib/"); below && stateName.MatchString(name) {
		u.State = name
	}
	u.command = append([]string{binary, "serve", "--db=" + db}, setFlags(c, absolute)...)
	if u.file = c.String("environment-file"); u.file != "" {
		u.file = absolute(u.file)
		// What may be set there later is possible in the usual places.
		u.backups, u.Runtime = cmp.Or(u.backups, "/var/backups/baoco"), cmp.Or(u.Runtime, "baoco")
	}
	for _, word := range append([]string{u.file}, u.command...) {
		if !utf8.ValidString(word) || strings.IndexFunc(word, unicode.IsControl) >= 0 {
			return u, terminal.Usagef("%q has characters that a unit file can't hold", word)
		}
	}
	u.InHome, u.InTmp = inHome(binary, u.dir+"/"), inTmp(binary, u.dir+"/")
	_, port, _ := net.SplitHostPort(s.Listen)
	n, err := strconv.Atoi(port)
	u.LowPort = s.Domain != "" || u.file != "" || err == nil && n > 0 && n < 1024
	return u, nil
}

// setFlags are the flags of serve that were set, on the command line or by the
// environment. The service won't have this environment.
func setFlags(c *cli.Context, absolute func(path string) string) (words []string) {
	for _, f := range Flags() {
		name := f.Names()[0]
		if name == "db" || !c.IsSet(name) {
			continue
		}
		values := []string{fmt.Sprint(c.Value(name))}
		if _, list := f.(*cli.StringSliceFlag); list {
			values = c.StringSlice(name)
		}
		for _, value := range values {
			if value != "" && (name == "backup-dir" || strings.HasSuffix(name, "-file")) {
				value = absolute(value)
			}
			words = append(words, "--"+name+"="+value)
		}
	}
	return words
}

func (unit) Version() string         { return Version }
func (unit) StopTime() time.Duration { return StopTime }

// StopSeconds is how long systemd waits for a stop before it kills the process:
// a little longer than a stop of serve takes.
func (unit) StopSeconds() int { return int((StopTime + 7*time.Second) / time.Second) }

func (u unit) Directory() string { return unitWord(u.dir) }

// EnvironmentFile is a path, which systemd reads to the end of its line.
func (u unit) EnvironmentFile() string { return strings.ReplaceAll(u.file, "%", "%%") }

// Backups is the directory of scheduled backups. It may be away when the service
// starts, as a disk that isn't mounted is.
func (u unit) Backups() string {
	if u.backups == "" {
		return ""
	}
	return unitWord("-" + u.backups)
}

// CommandLine is the command of serve. A colon before it tells systemd not to
// expand dollar signs (systemd.service(5)).
func (u unit) CommandLine() string {
	var words []string
	for _, word := range u.command {
		words = append(words, unitWord(word))
	}
	line := strings.Join(words, " ")
	if strings.Contains(line, "$") {
		words[0] = unitWord(":" + u.command[0])
	}
	return strings.Join(words, " ")
}

// unitWord quotes a word for a list of a unit file (systemd.syntax(7),
// systemd.unit(5): specifiers).
func unitWord(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(s)
	if strings.ContainsAny(s, " \"\\';") {
		return `"` + s + `"`
	}
	return s
}

// printNext says how to install the unit.
func (u unit) printNext(w io.Writer) {
	if u.InTmp {
		fmt.Fprintln(w, "What is in /tmp or /var/tmp doesn't last: put the program and the database elsewhere.")
	}
	fmt.Fprintf(w, "As root, once:\n  id %[1]s || useradd --system --user-group --no-create-home --shell /usr/sbin/nologin %[1]s\n", u.User)
	if u.State == "" {
		fmt.Fprintf(w, "  install -d -o %[1]s -g %[1]s -m 700 %[2]s\n", u.User, app.ShellWord(u.dir))
	}
	fmt.Fprintln(w, "  systemctl daemon-reload && systemctl enable --now baoco    (with the unit in /etc/systemd/system/baoco.service)")
	fmt.Fprintf(w, "Commands beside it run as that user:\n  sudo -u %s %s bank list %s\n", u.User, app.ShellWord(u.command[0]), app.ShellWord(u.command[2]))
}

// inHome and inTmp report whether a path lies where ProtectHome and PrivateTmp of systemd
// would hide it.
func inHome(paths ...string) bool { return below(paths, "/home/", "/root/", "/run/user/") }

func inTmp(paths ...string) bool { return below(paths, "/tmp/", "/var/tmp/") }

func below(paths []string, dirs ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, dir) })
	})
}
