// Command package makes the files of a release from programs that were built
// already: .ci/release runs it. It asks for no clock, and every file has the
// time of the commit, so that the same commit gives the same bytes.
//
// It is a module of its own, so that the program doesn't depend on what
// packages it.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// release is what all files of a release are made of.
type release struct {
	version string
	time    time.Time // of the commit
	root    string    // of the checkout
	builds  string    // has the program of each architecture, as ARCHITECTURE/baoco
	out     string    // gets the files
	notices []byte    // the licences of the libraries in the program

	maintainer string // of the packages, NAME <MAIL>
	url        string // where the files will lie, without a slash at its end; empty: nobody knows
}

// architectures are the names of those packages are made for, in the words of
// Go's linker, Debian and OCI.
var architectures = []struct{ name, debian, oci, variant string }{
	{"amd64", "amd64", "amd64", ""},
	{"arm64", "arm64", "arm64", ""},
	{"armv7", "armhf", "", ""},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("package VERSION CHECKOUT BUILDS DIRECTORY, which .ci/release runs")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		log.Fatal("SOURCE_DATE_EPOCH must be the time of the commit: ", err)
	}
	r := &release{version: os.Args[1], time: time.Unix(seconds, 0).UTC(), root: os.Args[2], builds: os.Args[3], out: os.Args[4],
		maintainer: os.Getenv("BAOCO_MAINTAINER"), url: strings.TrimSuffix(os.Getenv("BAOCO_URL"), "/")}
	for _, step := range []func() error{r.readNotices, r.writeSBOM, r.writeTarballs, r.writePlugin, r.writePackages,
		r.writeImage, r.writeCompose, r.writeInstaller, r.writeSums} {
		if err := step(); err != nil {
			log.Fatal(err)
		}
	}
}

func (r *release) program(architecture string) string {
	return filepath.Join(r.builds, architecture, "baoco")
}

// output is what the program prints on this machine.
func (r *release) output(args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(r.program(runtime.GOARCH), args...)
	cmd.Env, cmd.Stderr = []string{}, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("baoco %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}

// write makes a file of the release.
func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// writeCompose writes the service of the image, for docker compose and podman compose.
func (r *release) writeCompose() error {
	content, err := os.ReadFile("compose.yaml")
	if err != nil {
		return err
	}
	return r.write("compose.yaml", bytes.ReplaceAll(content, []byte("@VERSION@"), []byte(r.version)))
}

// writeInstaller writes the script that installs the package of a machine.
func (r *release) writeInstaller() error {
	content, err := os.ReadFile("install.sh")
	if err != nil {
		return err
	}
	sums, err := r.sums("*.deb")
	if err != nil {
		return err
	}
	filled := strings.NewReplacer("@VERSION@", r.version, "@URL@", r.url, "@SUMS@", strings.TrimSpace(sums)).Replace(string(content))
	return r.write("install.sh", []byte(filled))
}

// writeSums writes the sums of all files.
func (r *release) writeSums() error {
	sums, err := r.sums("*")
	if err != nil {
		return err
	}
	return r.write("SHA256SUMS", []byte(sums))
}

// sums are the sums of files, as sha256sum --check reads them.
func (r *release) sums(pattern string) (string, error) {
	names, err := fs.Glob(os.DirFS(r.out), pattern)
	if err != nil {
		return "", err
	}
	var sums strings.Builder
	for _, name := range names {
		content, err := fs.ReadFile(os.DirFS(r.out), name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
	}
	return sums.String(), nil
}
