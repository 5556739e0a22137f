package dashboard

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"path"
	"sync"

	"baoco/web/wire"
)

// staticFiles are made when a server first needs them: so commands, which link this package,
// start in half the time. The address of a file has its digest, so that browsers keep the
// file until it changes.
var staticFiles = sync.OnceValue(func() map[string]wire.File {
	files := map[string]wire.File{}
	entries, err := fs.ReadDir(dashboardFiles, "static")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		data, err := dashboardFiles.ReadFile("static/" + entry.Name())
		if err != nil {
			panic(err)
		}
		files[entry.Name()] = wire.NewFile(staticTypes[path.Ext(entry.Name())], data)
	}
	return files
})

func staticURL(name string) string { return "/static/" + name + "?" + staticFiles()[name].Sum }

var staticTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
	".txt": "text/plain; charset=utf-8",
}

// static serves the files of the binary.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	file, found := staticFiles()[name]
	if !found || staticTypes[path.Ext(name)] == "" {
		s.WriteError(w, r, wire.ErrNothingHere())
		return
	}
	if r.URL.RawQuery == file.Sum {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	file.Serve(w, r)
}

// Answers are compressed if the browser accepts it. The static files are compressed once. A
// page is compressed only for a visit that no other site caused, and never as the answer
// to a form: the length of a compressed page depends on its contents, and an observer
// who has the browser request it often could find them out (CVE-2013-3587, BREACH). The
// pages that show a secret are answers to forms.

// gzipWriters are reused, since each holds some 100 KB.
var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

func compressed(data []byte) []byte {
	var b bytes.Buffer
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	w.Reset(&b)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// compressible reports whether the answer to a visit may be compressed.
func compressible(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && (site == "same-origin" || site == "none") && wire.AcceptsGzip(r.Header)
}
