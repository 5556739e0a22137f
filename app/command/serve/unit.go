package serve

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

func UnitCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "database `FILE`", Value: "/var/lib/baoco/baoco.db", EnvVars: terminal.DBFlag.EnvVars},
		&cli.StringFlag{Name: "user", Usage: "system `USER` to run as, with its own group", Value: "baoco"},
		&cli.StringFlag{Name: "binary", Usage: "program `FILE` (default: this one)"},
	}
	for _, f := range Command().Flags {
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
			u.print(c.App.Writer)
			u.printNext(c.App.ErrWriter)
			return nil
		},
	}
}

// unit is what a unit file depends on.
type unit struct {
	user    string
	command []string // of serve, the binary first
	dir     string   // of the database
	state   string   // dir below /var/lib, where it is a plain name; empty: elsewhere
	lowPort bool     // a port below 1024
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
	if u.user = c.String("user"); !userName.MatchString(u.user) {
		return u, terminal.Usagef("--user must be the name of a user of the system, not %q", u.user)
	}
	binary := c.String("binary")
	if binary == "" {
		if binary, err = os.Executable(); err != nil {
			return u, err
		}
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return u, err
	}
	if strings.ContainsAny(binary, "\"'\\") {
		return u, terminal.Usagef("systemd runs no program whose path has quotes or backslashes, as %s has", binary)
	}
	db, err := filepath.Abs(s.Db)
	if err != nil {
		return u, err
	}
	u.dir = filepath.Dir(db)
	if name, below := strings.CutPrefix(u.dir, "/var/lib/"); below && stateName.MatchString(name) {
		u.state = name
	}
	u.command = append([]string{binary, "serve", "--db=" + db}, servedFlags(c)...)
	for _, word := range u.command {
		if !utf8.ValidString(word) || strings.IndexFunc(word, unicode.IsControl) >= 0 {
			return u, terminal.Usagef("%q has characters that a unit file can't hold", word)
		}
	}
	_, port, _ := net.SplitHostPort(s.Listen)
	n, err := strconv.Atoi(port)
	u.lowPort = s.domain != "" || err == nil && n > 0 && n < 1024
	return u, nil
}

// servedFlags are the flags of serve that were given, here or by a variable of
// the environment, which the service won't have.
func servedFlags(c *cli.Context) (words []string) {
	for _, f := range Command().Flags {
		name := f.Names()[0]
		if name == "db" || !c.IsSet(name) {
			continue
		}
		values := []string{fmt.Sprint(c.Value(name))}
		if _, list := f.(*cli.StringSliceFlag); list {
			values = c.StringSlice(name)
		}
		for _, value := range values {
			words = append(words, "--"+name+"="+value)
		}
	}
	return words
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

// commandLine quotes a command. The colon has systemd leave dollar signs alone
// (systemd.service(5)).
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if i == 0 && strings.Contains(strings.Join(words, ""), "$") {
			word = ":" + word
		}
		quoted[i] = unitWord(word)
	}
	return strings.Join(quoted, " ")
}

// stopMargin is how much longer than a stop of serve systemd waits before it
// kills the process.
const stopMargin = 7 * time.Second

func (u unit) print(w io.Writer) {
	fmt.Fprintf(w, `# Made by baoco systemd, version %s.

[Unit]
Description=baoco, bank transaction notifications
After=network-online.target
Wants=network-online.target
# However often it fails, it is started again.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=%s
User=%s
UMask=0077

# A crash or a killed process comes back, and so does one that the disk or the
# port failed: while it is down no shop is told. Exit code 2 is about the flags,
# which stay as they are.
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
# Attempts in flight end within %v.
TimeoutStopSec=%d

# baoco needs about 30 MB idle and 70 MB at saturation; Go collects harder
# before the limit that kills.
MemoryMax=512M
# Of the files, 4096 are for connections of clients, the others for deliveries
# and the database.
LimitNOFILE=8192
Environment=GOMEMLIMIT=384MiB

`, Version, commandLine(u.command), u.user, StopTime, int((StopTime+stopMargin)/time.Second))
	u.printPlaces(w)
	u.printLocks(w)
	fmt.Fprint(w, "\n[Install]\nWantedBy=multi-user.target\n")
}

// printPlaces prints what the service sees of the file system: everything, but
// it writes beside its database alone. What would hide the program or the
// database is left open.
func (u unit) printPlaces(w io.Writer) {
	fmt.Fprint(w, "# It writes beside its database, nowhere else.\nProtectSystem=strict\n")
	if u.state != "" {
		fmt.Fprintf(w, "StateDirectory=%s\nStateDirectoryMode=0700\n", strings.ReplaceAll(u.state, "%", "%%"))
	} else {
		fmt.Fprintf(w, "ReadWritePaths=%s\n", unitWord(u.dir))
	}
	home := "yes"
	if u.below("/home", "/root", "/run/user") {
		home = "read-only"
	}
	fmt.Fprintf(w, "ProtectHome=%s\n", home)
	if !u.below("/tmp", "/var/tmp") {
		fmt.Fprint(w, "PrivateTmp=yes\n")
	}
}

// below tells whether the program or the database is in one of dirs.
func (u unit) below(dirs ...string) bool {
	for _, dir := range dirs {
		for _, path := range []string{u.command[0], u.dir + "/"} {
			if strings.HasPrefix(path, dir+"/") {
				return true
			}
		}
	}
	return false
}

func (u unit) printLocks(w io.Writer) {
	fmt.Fprint(w, `PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible

# It speaks TCP, and asks for names.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
NoNewPrivileges=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
`)
	if u.lowPort {
		fmt.Fprint(w, "# Ports below 1024.\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n")
		return
	}
	fmt.Fprint(w, "CapabilityBoundingSet=\nPrivateUsers=yes\n")
}

// printNext says how the unit is put to work.
func (u unit) printNext(w io.Writer) {
	if u.below("/tmp", "/var/tmp") {
		fmt.Fprintln(w, "What is in /tmp or /var/tmp doesn't last: put the program and the database elsewhere.")
	}
	fmt.Fprintf(w, "As root, once:\n  id %[1]s || useradd --system --user-group --no-create-home --shell /usr/sbin/nologin %[1]s\n", u.user)
	if u.state == "" {
		fmt.Fprintf(w, "  install -d -o %[1]s -g %[1]s -m 700 %[2]s\n", u.user, shellWord(u.dir))
	}
	fmt.Fprintf(w, "  systemctl daemon-reload && systemctl enable --now baoco    (with the unit in /etc/systemd/system/baoco.service)\nCommands beside it run as that user:\n  sudo -u %s %s bank list %s\n",
		u.user, shellWord(u.command[0]), shellWord(u.command[2]))
}

// shellWord quotes a word for a shell where it needs to be.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return !strings.ContainsRune("/._-=:@,+", r) && !(r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)))
	}
	if s != "" && strings.IndexFunc(s, plain) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
