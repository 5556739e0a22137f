package acceptance_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/sqlitestore"
)

// bootScript starts systemd as process 1 in the root directory $0 and the control
// group $1, with nothing of this machine but its kernel, network and harmless devices.
const bootScript = `set -e
mount --rbind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
	touch dev/$device
	mount --bind /dev/$device dev/$device
done
mkdir dev/shm dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
echo 0 >"$1/cgroup.procs"
exec unshare --cgroup sh -ec '
	mount -t cgroup2 none sys/fs/cgroup
	pivot_root . mnt
	umount -l /mnt
	exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target'`

// debian is a Debian of its own, with systemd as its process 1.
type debian struct {
	*testing.T
	dir, root string
	init      *exec.Cmd
}

// makeDebian makes the smallest Debian with systemd, as a VPS begins with.
func makeDebian(root string) error {
	const script = `rm -rf "$0" && exec mmdebstrap --quiet --variant=apt --include=systemd,systemd-sysv --format=directory \
		--aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io bookworm "$0"`
	if out, err := download("", nil, "sh", "-c", script, root); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	// No terminal of this machine is its own.
	for _, unit := range []string{"console-getty.service", "getty.target"} {
		if err := os.Symlink("/dev/null", filepath.Join(root, "etc/systemd/system", unit)); err != nil {
			return err
		}
	}
	// It was started before, so that systemd doesn't enable all there is.
	return os.WriteFile(filepath.Join(root, "etc/machine-id"), []byte(strings.Repeat("ba0c", 8)+"\n"), 0o444)
}

func (d *debian) boot() {
	d.Helper()
	group := filepath.Join(d.dir, "cgroup", fmt.Sprint("baoco-test-", os.Getpid()))
	must(d, os.MkdirAll(group, 0o755))
	log := &apptest.Output{}
	d.init = exec.Command("sh", "-c", bootScript, d.root, group)
	d.init.Stdout, d.init.Stderr = log, log
	d.init.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL,
	}
	must(d, d.init.Start())
	eventually(d, "systemd has started everything", func() bool {
		out, _ := d.command("systemctl is-system-running").Output()
		state := strings.TrimSpace(string(out))
		return state == "running" || state == "degraded"
	})
}

// cut ends all of its processes at once, as a power cut does.
func (d *debian) cut() {
	_ = d.init.Process.Kill()
	_ = d.init.Wait()
	eventually(d, "its control groups are empty", func() bool {
		var groups []string
		_ = filepath.WalkDir(filepath.Join(d.dir, "cgroup", fmt.Sprint("baoco-test-", os.Getpid())),
			func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.IsDir() {
					groups = append(groups, path)
				}
				return nil
			})
		for _, group := range slices.Backward(groups) {
			_ = os.Remove(group)
		}
		return len(groups) == 0
	})
}

// command is a shell command of its root user, without a terminal.
func (d *debian) command(script string) *exec.Cmd {
	return exec.Command("nsenter", "-t", fmt.Sprint(d.init.Process.Pid), "-m", "-u", "-i", "-p", "-C", "--",
		"env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", "cd; "+script)
}

// do runs a shell command, and gives what it prints.
func (d *debian) do(script string) string {
	d.Helper()
	out, err := d.command(script).CombinedOutput()
	if err != nil {
		journal, _ := d.command("journalctl --no-pager -n 50").CombinedOutput()
		d.Fatalf("%s: %v\n%s\n%s", script, err, out, journal)
	}
	return string(out)
}

// baoco runs a command of the program as the user of the service.
func (d *debian) baoco(args string) string {
	d.Helper()
	return d.do("runuser -u baoco -- baoco " + args + " --db /var/lib/baoco/baoco.db")
}

func (d *debian) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(d.root, path))
	return err == nil
}

// answers waits until a page is there.
func (d *debian) answers(url string) {
	d.Helper()
	eventually(d, url+" answers", func() bool {
		response, err := http.Get(url)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// crashes ends the server by a kill, as a crash of a Go program does, and by SIGABRT, as
// the watchdog does. The server is started again each time, and so is Litestream. Where
// the server is restarted in order, Litestream goes on.
func (d *debian) crashes() {
	d.Helper()
	d.do(`printf '[Service]\nExecStart=/bin/sleep infinity\nRestart=always\n' >/etc/systemd/system/baoco-litestream.service && systemctl ` +
		`daemon-reload && systemctl start baoco-litestream`)
	processes := func() [2]string {
		return [2]string{strings.TrimSpace(d.do("systemctl show -P MainPID baoco")),
			strings.TrimSpace(d.do("systemctl show -P MainPID baoco-litestream"))}
	}
	for _, signal := range []string{"KILL", "SEGV", "ABRT"} {
		before := processes()
		d.do("kill -s " + signal + " " + before[0])
		eventually(d, "both are there again after SIG"+signal, func() bool {
			now := processes()
			return now[0] != "0" && now[0] != before[0] && now[1] != "0" && now[1] != before[1]
		})
		d.answers("https://" + certificateName + "/login")
	}
	before := processes()
	d.do("systemctl restart baoco")
	if now := processes(); now[0] == before[0] || now[1] != before[1] {
		d.Errorf("a restart in order: the processes %v became %v", before, now)
	}
	d.do("systemctl stop baoco-litestream && rm /etc/systemd/system/baoco-litestream.service && systemctl daemon-reload")
	d.answers("https://" + certificateName + "/login")
}

// serving is the version of the server that runs, by its log.
func (d *debian) serving() string {
	d.Helper()
	pid := strings.TrimSpace(d.do("systemctl show -P MainPID baoco"))
	log := d.do("journalctl --no-pager -o cat -u baoco _PID=" + pid)
	_, rest, _ := strings.Cut(log, "msg=serving ")
	_, version, _ := strings.Cut(rest, "version=")
	version, _, _ = strings.Cut(version, "\n")
	return version
}

// installRelease makes what packageInstalled and imageRuns need, and runs them.
func installRelease(t *testing.T, first string) {
	missing := t.Skipf
	if os.Getenv("BAOCO_CI") != "" {
		missing = t.Fatalf
	}
	if os.Geteuid() != 0 {
		missing("skipped: only root installs packages in a Debian of its own")
	}
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		missing("skipped: there is no mmdebstrap here (apt-get install mmdebstrap)")
	}
	dir := t.TempDir()
	made := make(chan error, 1)
	go func() { made <- makeDebian(filepath.Join(dir, "debian")) }()
	second := release(t, "1.2.4", "umask 022", "TZ=UTC")
	if out, err := download("", []string{"GOBIN=" + dir, "GOFLAGS=-trimpath", "CGO_ENABLED=0"}, "go", "install", authority); err != nil {
		missing("skipped: the authority can't be built: %v\n%s", err, out)
	}
	if err := <-made; err != nil {
		missing("skipped: no Debian can be made: %v", err)
	}
	for _, release := range []string{first, second} {
		packages, err := filepath.Glob(filepath.Join(release, "*_"+runtime.GOARCH+".deb"))
		must(t, err)
		if len(packages) != 1 {
			t.Skipf("skipped: there is no package for this machine: %v", packages)
		}
		content, err := os.ReadFile(packages[0])
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "debian/root", filepath.Base(packages[0])), content, 0o644))
	}
	installer, err := os.ReadFile(filepath.Join(first, "install.sh"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "debian/root/install.sh"), installer, 0o644))
	must(t, os.Rename(filepath.Join(first, "baoco_1.2.3_oci.tar"), filepath.Join(dir, "image.tar")))
	out := inOwnNetwork(t, "TestRelease", dir, 4*time.Minute)
	if strings.Contains(out, "--- SKIP") {
		t.Skip(out) // a property of the machine, which no package of Debian's changes
	}
	t.Log(out)
}

// packageInstalled is the life of the package on a fresh Debian with systemd: from
// the script of the release to HTTPS, a power cut, upgrades beside calls and a shop that
// hangs, removal, a database of the first release, and the purge. The authority is
// the test server of Let's Encrypt. The network is the loopback.
func packageInstalled(t *testing.T, dir string) {
	must(t, os.Mkdir(filepath.Join(dir, "cgroup"), 0o755))
	if err := syscall.Mount("none", filepath.Join(dir, "cgroup"), "cgroup2", 0, ""); err != nil {
		t.Skipf("skipped: no control groups for systemd here: %v", err)
	}
	// the authority's root is made anew each time
	http.DefaultTransport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	http.DefaultClient.Timeout = 20 * time.Second
	d := &debian{T: t, dir: dir, root: filepath.Join(dir, "debian")}
	for from, to := range map[string]string{filepath.Join(dir, "hosts"): "etc/hosts", startAuthority(t, dir): "etc/authority.pem"} {
		content, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(d.root, to), content, 0o644))
	}
	d.boot()
	defer d.cut()

	// Installed by the script, with the authority and the shop of this test.
	hanging := make(chan struct{})
	shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hanging }))
	defer shop.Close()
	answer := sync.OnceFunc(func() { close(hanging) })
	defer answer()
	began := time.Now()
	said := d.do("sh install.sh")
	if !strings.Contains(said, "runuser -u baoco -- baoco user set-up --db /var/lib/baoco/baoco.db") {
		t.Errorf("the installation says:\n%s", said)
	}
	d.do("printf 'BAOCO_ACME_DIRECTORY=https://localhost:14000/dir\\nSSL_CERT_FILE=/etc/authority.pem\\nBAOCO_ALLOW_TARGET=127.0.0.1/32" +
		"\\nBAOCO_BACKUP_DIR=/var/backups/baoco\\n' >> /etc/default/baoco; sh install.sh " + certificateName)
	link := d.baoco("user set-up")
	d.answers(strings.Fields(link)[0])
	took := time.Since(began)
	t.Logf("from the script to the first page over HTTPS: %v", took)
	if took > 30*time.Second {
		t.Errorf("the first page over HTTPS took %v", took)
	}
	if user := strings.TrimSpace(d.do("stat -c %U /proc/$(systemctl show -P MainPID baoco)")); user != "baoco" {
		t.Errorf("it runs as %s", user)
	}
	if mode := d.do("stat -c '%U %a' /var/lib/baoco /var/lib/baoco/baoco.db"); mode != "baoco 700\nbaoco 600\n" {
		t.Errorf("its data belongs to:\n%s", mode)
	}

	eventually(t, "the backup that the settings ask for is there", func() bool {
		made, _ := filepath.Glob(filepath.Join(d.root, "var/backups/baoco/baoco-auto-*.db"))
		return len(made) > 0
	})

	// It starts by itself after the power is back.
	d.cut()
	d.boot()
	d.answers("https://" + certificateName + "/login")

	d.crashes()

	d.baoco("bank link --bank ACB --number 19354957 --name A")
	d.baoco("webhook create --name hangs --type IN --url " + shop.URL)
	var source createdSource
	must(t, json.Unmarshal([]byte(d.baoco("source add --provider native --name till -o json")), &source))
	calls := &caller{url: "https://" + certificateName + source.URLPath, secret: source.Secret, acked: map[string]bool{}}

	// Another's load may slow one upgrade down: of three the best counts.
	least, versions := time.Hour, []string{"1.2.4", "1.2.3"}
	for i := range 3 {
		if silent := d.upgrade(calls, i, versions[i%2]); silent < least {
			least = silent
		}
		if least <= 2*time.Second {
			break
		}
	}
	if least > 2*time.Second {
		t.Errorf("an upgrade leaves calls without an answer for %v", least)
	}

	answer()

	// Removed, and what was acknowledged is there, once.
	d.do("dpkg -r baoco")
	if d.exists("usr/bin/baoco") || strings.TrimSpace(d.do("systemctl is-active baoco || true")) != "inactive" {
		t.Error("the program is there or runs after its removal")
	}
	data := filepath.Join(d.root, "var/lib/baoco")
	checkRecordedOnce(t, filepath.Join(data, "baoco.db"), calls.acknowledged())
	d.do("chown -R baoco:baoco /var/lib/baoco") // what the check made

	// Installed again it finds what was there, and goes on with the settings.
	d.do("dpkg -i baoco_1.2.4_*.deb")
	d.answers("https://" + certificateName + "/login")
	if count := strings.Count(d.baoco("bank list"), "19354957"); count != 1 {
		t.Errorf("installed again, it has the bank account %d times", count)
	}

	// A database of the first release becomes one of this, with a copy of before.
	d.do("systemctl stop baoco")
	released, present := releasedImages(t)
	for name, content := range released[0] {
		must(t, os.WriteFile(filepath.Join(data, name), content, 0o600))
	}
	d.do("dpkg -i baoco_1.2.3_*.deb")
	d.answers("https://" + certificateName + "/login")
	if !d.exists("var/lib/baoco/baoco.db.before-schema-" + strconv.Itoa(present)) {
		t.Errorf("no copy of the old database:\n%s", d.do("ls -l /var/lib/baoco"))
	}
	if list := d.baoco("transaction list --account 2 --limit 1 -o json"); !strings.Contains(list, `"id"`) {
		t.Errorf("of the old database there is %s", list)
	}

	// A purge that asks nobody keeps the data. One that was told to removes it.
	d.do("dpkg -P baoco")
	if !d.exists("var/lib/baoco/baoco.db") || d.exists("etc/default/baoco") {
		t.Error("a purge without an answer takes the data, or leaves the settings")
	}
	d.do("dpkg -i baoco_1.2.4_*.deb && systemctl is-active baoco")
	d.do("echo 'baoco baoco/purge-data boolean true' | debconf-set-selections && dpkg -P baoco")
	if d.exists("var/lib/baoco") || d.exists("var/lib/private/baoco") {
		t.Errorf("a purge that was told to remove the data leaves it")
	}
	if !d.exists("var/backups/baoco") {
		t.Error("the purge takes the backups")
	}
	if left := d.do("find /etc /usr /lib /var -name '*baoco*' ! -path '/var/lib/dpkg/*' ! -path '/var/log/*' ! -path '/var/cache/*' " +
		"! -path '/var/backups/*'"); left != "" {
		t.Errorf("a purge leaves\n%s", left)
	}
}

// upgrade installs another version beside 200 calls a second, and gives the longest
// time in which none was acknowledged.
func (d *debian) upgrade(calls *caller, round int, version string) (silent time.Duration) {
	d.Helper()
	const callers = 40
	ctx, cancel := context.WithCancel(d.Context())
	var running sync.WaitGroup
	var mu sync.Mutex
	answered, last := 0, time.Now()
	for client := range callers {
		running.Go(func() {
			tick := time.NewTicker(callers * time.Second / 200)
			defer tick.Stop()
			for i := 0; ctx.Err() == nil; i++ {
				for number := fmt.Sprintf("FT%d-%d-%d", round, client, i); ctx.Err() == nil && !calls.call(number); {
					time.Sleep(20 * time.Millisecond) // while the server is away
				}
				mu.Lock()
				answered, silent, last = answered+1, max(silent, time.Since(last)), time.Now()
				mu.Unlock()
				<-tick.C
			}
		})
	}
	heard := func() int {
		mu.Lock()
		defer mu.Unlock()
		return answered
	}
	eventually(d, "calls are answered", func() bool { return heard() > 200 })
	mu.Lock()
	silent = 0
	mu.Unlock()
	began := time.Now()
	d.do("dpkg -i baoco_" + version + "_*.deb")
	took, before := time.Since(began), heard()
	eventually(d, "calls are answered by the new version", func() bool { return heard() > before+200 })
	cancel()
	running.Wait()
	if got := d.serving(); got != version {
		d.Errorf("after the upgrade to %s the server is %q", version, got)
	}
	d.Logf("upgrade to %s in %v beside %d calls: not answering for %v", version, took, answered, silent)
	return silent
}

// checkRecordedOnce compares what was acknowledged with what is recorded.
func checkRecordedOnce(t *testing.T, db string, acked []string) {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), db, sqlitestore.Options{Serve: true}) // checks the file too
	must(t, err)
	defer store.Close()
	recorded := readLedger(t, store)
	for _, number := range acked {
		if recorded[number] != 1 {
			t.Errorf("%s was acknowledged and is recorded %d times", number, recorded[number])
		}
	}
}
