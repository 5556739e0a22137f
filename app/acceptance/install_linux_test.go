package acceptance_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/apptest"

	"go.yaml.in/yaml/v4"
)

// The script that installs a release takes no package but those of the release, for this
// machine's processor, from beside it or from a server; it makes HTTPS and prints the link of
// the first user. The Debian is played; TestRelease has a whole one.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	const deb = "a package"
	files := http.FileServerFS(os.DirFS(t.TempDir()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/there/baoco_1.2.3_amd64.deb" {
			fmt.Fprint(w, deb)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	template, err := os.ReadFile("../../.ci/package/install.sh")
	must(t, err)
	script := strings.NewReplacer("@VERSION@", "1.2.3", "@URL@", "", "@SUMS@",
		fmt.Sprintf("%x  baoco_1.2.3_amd64.deb", sha256.Sum256([]byte(deb)))).Replace(string(template))
	const done = "dpkg --force-confold -i\nrunuser -u baoco -- baoco user set-up --db /var/lib/baoco/baoco.db\n"
	for name, c := range map[string]struct {
		beside, url, architecture, id, argument string
		cut                                     bool
		ran, says                               string
	}{
		"beside the script":      {beside: deb, ran: done},
		"downloaded":             {url: server.URL + "/there", ran: done},
		"its own name":           {beside: deb, argument: "pay.shop.vn", ran: strings.Replace(done, "\n", "\nsystemctl restart baoco\n", 1)},
		"another package":        {beside: "another package", says: "its checksum differs"},
		"none at the server":     {url: server.URL + "/elsewhere", says: "can't be downloaded"},
		"none anywhere":          {says: "put baoco_1.2.3_amd64.deb beside this script"},
		"another processor":      {beside: deb, architecture: "riscv64", says: "no package for the architecture riscv64"},
		"somebody else":          {beside: deb, id: "1000", says: "run it as root"},
		"a name that is none":    {beside: deb, argument: "x;reboot", says: "NAME is a domain name"},
		"a script that was cut":  {beside: deb, cut: true},
		"a name with line break": {beside: deb, argument: "a.vn\nBAOCO_DB=x", says: "NAME is a domain name"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(file, content string) {
				must(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o755))
			}
			text := strings.Replace(script, "/etc/default/baoco", filepath.Join(dir, "settings"), 1)
			if c.cut {
				text, _, _ = strings.Cut(text, "\nmain \"$@\"")
			}
			write("install.sh", text)
			write("settings", "# of the package\n")
			if c.beside != "" {
				write("baoco_1.2.3_amd64.deb", c.beside)
			}
			must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
			if c.architecture == "" {
				c.architecture = "amd64"
			}
			if c.id == "" {
				c.id = "0"
			}
			write("bin/id", "#!/bin/sh\necho "+c.id)
			write("bin/dpkg", `#!/bin/sh
[ "$1" != --print-architecture ] || { echo `+c.architecture+`; exit; }
[ "$(cat "$3")" = "`+deb+`" ] && echo "dpkg $1 $2" >>"`+dir+`/ran"`)
			for _, program := range []string{"systemctl", "runuser"} {
				write("bin/"+program, "#!/bin/sh\necho "+program+` "$@" >>"`+dir+`/ran"`)
			}
			cmd := exec.Command("sh", "install.sh", c.argument)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + "/bin:/usr/bin:/bin", "BAOCO_URL=" + c.url}
			out, err := cmd.CombinedOutput()
			if (err == nil) != (c.says == "") || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, %s; want %q", err, out, c.says)
			}
			if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); string(ran) != c.ran {
				t.Errorf("it ran:\n%swant:\n%s", ran, c.ran)
			}
			settings, err := os.ReadFile(filepath.Join(dir, "settings"))
			must(t, err)
			if named := strings.Contains(string(settings), "\nBAOCO_DOMAIN="+c.argument+"\n"); named != (c.argument == "pay.shop.vn") {
				t.Errorf("the settings are:\n%s", settings)
			}
		})
	}
}

func TestShellScripts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		apptest.Missing(t, "shellcheck (apt-get install shellcheck)")
	}
	cmd := exec.Command("shellcheck", ".ci/package/install.sh", ".ci/release")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the forge reads is YAML, and so is what runs the image, which stands in the help too.
func TestYAML(t *testing.T) {
	t.Parallel()
	read := func(file string) (content string, v map[string]any) {
		t.Helper()
		data, err := os.ReadFile(file)
		must(t, err)
		if err := yaml.Unmarshal(data, &v); err != nil || len(v) == 0 {
			t.Errorf("%s: %v", file, err)
		}
		return string(data), v
	}
	files, err := filepath.Glob("../../.github/*/*.yml")
	must(t, err)
	if len(files) < 2 {
		t.Errorf("found only %q", files)
	}
	for _, file := range files {
		read(file)
	}
	content, compose := read("../../.ci/package/compose.yaml")
	if services, ok := compose["services"].(map[string]any); !ok || services["baoco"] == nil {
		t.Errorf("compose.yaml has no service: %v", compose)
	}
	shown := "    " + strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(content, "@VERSION@", "1.0.0")), "\n", "\n    ") + "\n"
	for _, lang := range []string{"en", "vi"} {
		page, err := os.ReadFile("../../web/dashboard/help/" + lang + "/install.md")
		must(t, err)
		if !strings.Contains(string(page), shown) {
			t.Errorf("the help in %s shows another compose.yaml than\n%s", lang, shown)
		}
	}
}

// The changes name every version of the database, and what a person has to do for it.
func TestChanges(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile("../../.github/CHANGELOG.md")
	must(t, err)
	migrations, err := filepath.Glob("../../sqlitestore/migration/*.sql")
	must(t, err)
	for n := 1; n < len(migrations); n++ {
		if !strings.Contains(string(changes), fmt.Sprintf("\n| %d | ", n)) {
			t.Errorf(".github/CHANGELOG.md says nothing of the step from schema %d to %d", n, n+1)
		}
	}
	if newest := fmt.Sprintf("It has schema %d.", len(migrations)); !strings.Contains(string(changes), newest) {
		t.Errorf(".github/CHANGELOG.md doesn't say %q", newest)
	}
}
