package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// libraries are the modules that the programs were built of, by path, and the
// version of Go.
func (r *release) libraries() (modules map[string]*debug.Module, goVersion string, err error) {
	modules = map[string]*debug.Module{}
	for _, a := range architectures {
		info, err := buildinfo.ReadFile(r.program(a.name))
		if err != nil {
			return nil, "", err
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			modules[m.Path] = m
		}
	}
	return modules, goVersion, nil
}

// writeSBOM writes what the programs were built of, as CycloneDX.
func (r *release) writeSBOM() error {
	modules, goVersion, err := r.libraries()
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cyclonedx.Component{BOMRef: "baoco", Type: cyclonedx.ComponentTypeApplication, Name: "baoco", Version: r.version},
	}
	std := strings.TrimPrefix(goVersion, "go")
	components := []cyclonedx.Component{{BOMRef: "pkg:golang/std@" + std, Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: std,
		PackageURL: "pkg:golang/std@" + std}}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil {
			return err
		}
		url := "pkg:golang/" + path + "@" + m.Version
		components = append(components, cyclonedx.Component{
			BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: m.Version, PackageURL: url,
			Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}},
		})
	}
	bom.Components = &components
	var b bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom,
		cyclonedx.SpecVersion1_6); err != nil {
		return err
	}
	return r.write("baoco_"+r.version+"_sbom.cdx.json", b.Bytes())
}

// readNotices reads the licences of the libraries, which have to go with the
// program.
func (r *release) readNotices() error {
	modules, _, err := r.libraries()
	if err != nil {
		return err
	}
	args := []string{"mod", "download", "-json"}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		args = append(args, path+"@"+modules[path].Version)
	}
	list := exec.Command("go", args...)
	list.Dir, list.Stderr = r.root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("find the libraries: %w", err)
	}
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := appendLicences(&b, "Go", strings.TrimSpace(string(goRoot))); err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := appendLicences(&b, m.Path+" "+m.Version, m.Dir); err != nil {
			return err
		}
	}
	r.notices = b.Bytes()
	return nil
}

// appendLicences appends the licences in a directory. There must be one.
func appendLicences(b *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(upper, "LICENSE") && !strings.HasPrefix(upper, "LICENCE") && !strings.HasPrefix(upper, "COPYING") &&
			!strings.HasPrefix(upper, "NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(b, "---- %s (%s)\n\n%s\n", name, e.Name(), bytes.TrimSpace(text))
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", name, dir)
	}
	return nil
}
