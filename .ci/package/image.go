package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	nobody = 65532 // the user of the image, who has no name
	state  = "/var/lib/baoco"
)

// writeImage writes the container image of all architectures: the program, a
// place for temporary files and one for the data, and nothing else.
func (r *release) writeImage() error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, a := range architectures {
		if a.oci == "" {
			continue
		}
		image, err := r.image(a.name, a.oci)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: a.oci}}})
	}
	dir, err := os.MkdirTemp("", "baoco-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	whole, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := whole.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/library/baoco:" + r.version,
	})); err != nil {
		return err
	}
	var entries []entry
	if err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if d.IsDir() {
			entries = append(entries, entry{name: path + "/", mode: 0o755})
			return nil
		}
		content, err := fs.ReadFile(os.DirFS(dir), path)
		entries = append(entries, entry{name: path, mode: 0o644, content: content})
		return err
	}); err != nil {
		return err
	}
	content, err := archive(entries, r.time)
	if err != nil {
		return err
	}
	return r.write("baoco_"+r.version+"_oci.tar", content)
}

func (r *release) image(name, architecture string) (v1.Image, error) {
	program, err := os.ReadFile(r.program(name))
	if err != nil {
		return nil, err
	}
	content, err := archive([]entry{
		{name: "baoco", mode: 0o755, content: program},
		{name: "tmp/", mode: 0o1777},
		{name: "var/", mode: 0o755}, {name: "var/lib/", mode: 0o755}, {name: state[1:] + "/", mode: 0o700, owner: nobody},
	}, r.time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, v1.Time{Time: r.time}
	for i := range config.History {
		config.History[i].Created = v1.Time{Time: r.time}
	}
	config.Config = v1.Config{
		Entrypoint: []string{"/baoco"}, Cmd: []string{"serve"}, User: "65532:65532", WorkingDir: state,
		Env:          []string{"BAOCO_DB=" + state + "/baoco.db", "BAOCO_LISTEN=0.0.0.0:8080"},
		Volumes:      map[string]struct{}{state: {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/baoco", "ready"}, Interval: 30 * time.Second, Timeout: 6 * time.Second,
			StartPeriod: 30 * time.Second},
		Labels: map[string]string{"org.opencontainers.image.title": "baoco", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "MIT"},
		StopSignal: "SIGTERM",
	}
	return mutate.ConfigFile(image, config)
}
