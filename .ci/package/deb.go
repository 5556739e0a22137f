package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// writePackages writes the Debian package of each architecture.
func (r *release) writePackages() error {
	dir, err := os.MkdirTemp("", "baoco-package-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	common, err := r.commonFiles(dir)
	if err != nil {
		return err
	}
	for _, a := range architectures {
		contents := append(files.Contents{r.file(r.program(a.name), "/usr/bin/baoco", 0o755)}, common...)
		script := func(name string) string { return filepath.Join("debian", name) }
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "baoco", Arch: a.debian, Platform: "linux", Version: r.version, VersionSchema: "none", MTime: r.time,
			Section: "net", Priority: "optional", Maintainer: r.maintainer, License: "MIT", DisableGlobbing: true,
			Description: "notice of every bank transaction, from your own server\n" +
				"Transactions of Vietnamese bank accounts come in from a provider's webhook,\n" +
				"are recorded once, and are pushed at once to the URLs of a shop as signed\n" +
				"webhooks, with retries, a history and a dashboard.",
			Overridables: nfpm.Overridables{
				Depends:    []string{"debconf (>= 0.5) | debconf-2.0", "init-system-helpers (>= 1.54)", "systemd"},
				Recommends: []string{"ca-certificates"},
				Contents:   contents,
				Scripts:    nfpm.Scripts{PostInstall: script("postinst"), PreRemove: script("prerm"), PostRemove: script("postrm")},
				Deb:        nfpm.Deb{Scripts: nfpm.DebScripts{Templates: script("templates"), Config: script("config")}},
			},
		})
		var b bytes.Buffer
		if err := deb.Default.Package(info, &b); err != nil {
			return err
		}
		if err := r.write(fmt.Sprintf("baoco_%s_%s.deb", r.version, a.debian), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) file(source, destination string, mode os.FileMode) *files.Content {
	return &files.Content{Source: source, Destination: destination, Type: files.TypeFile,
		FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time}}
}

// commonFiles are the files that every architecture has. Those that the program
// prints are made in dir.
func (r *release) commonFiles(dir string) (list files.Contents, err error) {
	printed := func(destination string, content []byte, err error) error {
		if err != nil {
			return err
		}
		source := filepath.Join(dir, strings.ReplaceAll(destination, "/", "_"))
		list = append(list, r.file(source, destination, 0o644))
		return os.WriteFile(source, content, 0o644)
	}
	for destination, args := range map[string][]string{
		"/lib/systemd/system/baoco.service":               {"systemd", "--binary", "/usr/bin/baoco"},
		"/usr/share/bash-completion/completions/baoco":    {"completion", "bash"},
		"/usr/share/zsh/vendor-completions/_baoco":        {"completion", "zsh"},
		"/usr/share/fish/vendor_completions.d/baoco.fish": {"completion", "fish"},
	} {
		content, err := r.output(args...)
		if err := printed(destination, content, err); err != nil {
			return nil, err
		}
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	copyright := "baoco\n\n" + string(licence) + "\nThe licences of the libraries in the program are in /usr/share/doc/baoco/libraries.txt.\n"
	if err := printed("/usr/share/doc/baoco/copyright", []byte(copyright), nil); err != nil {
		return nil, err
	}
	if err := printed("/usr/share/doc/baoco/libraries.txt", r.notices, nil); err != nil {
		return nil, err
	}
	changes, err := compress(fmt.Appendf(nil,
		"baoco (%s) stable; urgency=medium\n\n  * Release %s. What changed is in the history of the repository.\n\n -- %s  %s\n",
		r.version, r.version, r.maintainer, r.time.Format(time.RFC1123Z)))
	if err := printed("/usr/share/doc/baoco/changelog.gz", changes, err); err != nil {
		return nil, err
	}
	list = append(list, r.file("debian/default", "/etc/default/baoco", 0o644))
	list[len(list)-1].Type = files.TypeConfigNoReplace
	return append(list, r.file("debian/sysusers", "/usr/lib/sysusers.d/baoco.conf", 0o644),
		r.file("debian/lintian-overrides", "/usr/share/lintian/overrides/baoco", 0o644)), nil
}
