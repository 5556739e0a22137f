package serve

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

var unitFile = template.Must(template.New("").Option("missingkey=error").Parse(unitText))

// UnitCommand is baoco systemd.
func UnitCommand() *cli.Command {
	return &cli.Command{
		Name: "systemd", Usage: "print a systemd unit that runs serve, sandboxed, with the settings in /etc/default/baoco",
		Description: terminal.Example(
			"baoco systemd > /etc/systemd/system/baoco.service",
			"baoco systemd --db /srv/baoco/baoco.db > /etc/systemd/system/baoco.service",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "db", Usage: "database `FILE`", Value: "/var/lib/baoco/baoco.db", EnvVars: terminal.DBFlag.EnvVars},
			&cli.StringFlag{Name: "user", Usage: "system `USER` to run as, with its own group", Value: "baoco"},
			&cli.StringFlag{Name: "binary", Usage: "program `FILE` (default: this one)"},
		},
		Action: terminal.WithoutArguments(func(c *cli.Context) error {
			u, err := readUnit(c)
			if err != nil {
				return err
			}
			err = unitFile.Execute(c.App.Writer, u.values())
			u.printNext(c.App.ErrWriter)
			return err
		}),
	}
}

type unit struct{ user, binary, db string }

var (
	userName  = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,30}$`)
	stateName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

func readUnit(c *cli.Context) (u unit, err error) {
	if u.user = c.String("user"); !userName.MatchString(u.user) {
		return u, terminal.Usagef("--user must be the name of a user of the system, not %q", u.user)
	}
	binary := c.String("binary")
	if binary == "" {
		if binary, err = os.Executable(); err != nil {
			return u, err
		}
	}
	// systemd doesn't start the program in this directory.
	if u.binary, err = filepath.Abs(binary); err != nil {
		return u, err
	}
	if u.db, err = filepath.Abs(c.String("db")); err != nil {
		return u, err
	}
	if strings.ContainsAny(u.binary, "\"'\\") {
		return u, terminal.Usagef("systemd runs no program whose path has quotes or backslashes, as %s has", u.binary)
	}
	for _, path := range []string{u.binary, u.db} {
		if !utf8.ValidString(path) || strings.IndexFunc(path, unicode.IsControl) >= 0 {
			return u, terminal.Usagef("%q has characters that a unit file can't hold", path)
		}
	}
	return u, nil
}

// values are what the template of the unit file needs. systemd waits a little longer than a
// stop of serve takes before it kills the process.
func (u unit) values() map[string]any {
	return map[string]any{
		"Version": Version, "User": u.user, "CommandLine": commandLine(u.binary, "serve", "--db="+u.db), "StopTime": StopTime,
		"StopSeconds": int((StopTime + 7*time.Second) / time.Second), "Directory": unitWord(filepath.Dir(u.db)), "State": u.state(),
		"InHome": inHome(u.binary, u.db), "InTmp": inTmp(u.binary, u.db),
	}
}

// state is the name of the database's directory if that is directly below /var/lib, else
// empty.
func (u unit) state() string {
	if name, below := strings.CutPrefix(filepath.Dir(u.db), "/var/lib/"); below && stateName.MatchString(name) {
		return name
	}
	return ""
}

// commandLine writes a command for a unit file. A colon before it tells systemd not to
// expand dollar signs (systemd.service(5)).
func commandLine(program string, args ...string) string {
	if strings.Contains(strings.Join(args, program), "$") {
		program = ":" + program
	}
	line := unitWord(program)
	for _, arg := range args {
		line += " " + unitWord(arg)
	}
	return line
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

func (u unit) printNext(w io.Writer) {
	if inTmp(u.binary, u.db) {
		fmt.Fprintln(w, "What is in /tmp or /var/tmp doesn't last: put the program and the database elsewhere.")
	}
	fmt.Fprintf(w, "As root, once, with the unit in /etc/systemd/system/baoco.service:\n"+
		"  id %[1]s || useradd --system --user-group --no-create-home --shell /usr/sbin/nologin %[1]s\n", u.user)
	if u.state() == "" {
		fmt.Fprintf(w, "  install -d -o %[1]s -g %[1]s -m 700 %[2]s\n", u.user, app.ShellWord(filepath.Dir(u.db)))
	}
	fmt.Fprintf(w, "  systemctl daemon-reload && systemctl enable --now baoco\n"+
		"Settings go into /etc/default/baoco, a line such as BAOCO_DOMAIN=baoco.shop.vn for each; then: systemctl restart baoco\n"+
		"Commands beside it run as that user:\n  sudo -u %s %s bank list %s\n", u.user, app.ShellWord(u.binary), app.ShellWord("--db="+u.db))
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

//go:embed baoco-litestream.service
var replicaUnitText string

var replicaUnitFile = template.Must(template.New("").Option("missingkey=error").Parse(replicaUnitText))

// ReplicaUnitName is the file of Litestream's systemd unit.
const ReplicaUnitName = "baoco-litestream.service"

// ReplicaUnit has the values of Litestream's unit. All paths are absolute.
type ReplicaUnit struct {
	User                      string // of the database
	Program, Config, Database string
	KeyFile                   string // of SFTP; may be empty
	Place                     string // a directory of this machine; empty: the place is elsewhere
}

// Write writes the unit. Its command line has no secrets and no environment: both are in the
// configuration.
func (u ReplicaUnit) Write(w io.Writer) error {
	paths := []string{u.Program, u.Database, u.KeyFile, u.Place + "/"}
	return replicaUnitFile.Execute(w, map[string]any{
		"Version": Version, "User": u.User, "CommandLine": commandLine(u.Program, "replicate", "-config", u.Config, "-no-expand-env"),
		"Directory": unitWord(filepath.Dir(u.Database)), "Mount": unitWord(u.Place), "InHome": inHome(paths...), "InTmp": inTmp(paths...),
	})
}
