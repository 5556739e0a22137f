package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// entry is a file of an archive, or a directory where its name ends in a slash.
type entry struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

// archive is a tar file of entries, which all have one time.
func archive(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.content)), ModTime: at,
			Format: tar.FormatUSTAR}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// compress is gzip without a time or a name.
func compress(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// writeTarballs writes for each architecture the program, its licences and the
// receivers' code.
func (r *release) writeTarballs() error {
	for _, a := range architectures {
		name := "baoco_" + r.version + "_linux_" + a.name
		entries := []entry{{name: name + "/", mode: 0o755}}
		add := func(file, as string, mode int64) error {
			content, err := os.ReadFile(file)
			entries = append(entries, entry{name: name + "/" + as, mode: mode, content: content})
			return err
		}
		if err := add(r.program(a.name), "baoco", 0o755); err != nil {
			return err
		}
		receivers, err := filepath.Glob(filepath.Join(r.root, "testdata/receivers/receiver.*"))
		if err != nil {
			return err
		}
		for _, file := range append([]string{filepath.Join(r.root, "README.md"), filepath.Join(r.root, "LICENSE")}, receivers...) {
			as := filepath.Base(file)
			if len(receivers) > 0 && filepath.Dir(file) == filepath.Dir(receivers[0]) {
				as = "receivers/" + as
			}
			if err := add(file, as, 0o644); err != nil {
				return err
			}
		}
		entries = append(entries, entry{name: name + "/LICENSES-of-libraries", mode: 0o644, content: r.notices})
		content, err := archive(entries, r.time)
		if err != nil {
			return err
		}
		if content, err = compress(content); err != nil {
			return err
		}
		if err := r.write(name+".tar.gz", content); err != nil {
			return err
		}
	}
	return nil
}

// writePlugin writes the plugin for WooCommerce as WordPress installs it: one folder,
// whose name must not be that of another plugin.
func (r *release) writePlugin() error {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	plugin := os.DirFS(filepath.Join(r.root, "app/woocommerce"))
	err := fs.WalkDir(plugin, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if path == "tests" {
				return fs.SkipDir
			}
			return err
		}
		content, err := fs.ReadFile(plugin, path)
		if err != nil {
			return err
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: "baoco/" + path, Method: zip.Deflate, Modified: r.time})
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return r.write("baoco-woocommerce_"+r.version+".zip", b.Bytes())
}
