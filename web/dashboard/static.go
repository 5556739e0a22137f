package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"baoco/web/wire"
)

// staticFile is a file of the binary. sum, the first digits of its digest, stands
// in its address, so that browsers keep the file until it changes.
type staticFile struct {
	data, gzipped []byte
	sum           string
}

// staticFiles are made when a server asks for them: commands, which link this
// package, start in half the time.
var staticFiles = sync.OnceValue(func() map[string]staticFile {
	files := map[string]staticFile{}
	entries, err := fs.ReadDir(dashboardFiles, "static")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		data, err := dashboardFiles.ReadFile("static/" + entry.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		files[entry.Name()] = staticFile{data, smallest(data), hex.EncodeToString(sum[:6])}
	}
	return files
})

func staticURL(name string) string { return "/static/" + name + "?" + staticFiles()[name].sum }

var staticTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
	".txt": "text/plain; charset=utf-8",
}

// static serves the files of the binary.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	file, found := staticFiles()[name]
	kind := staticTypes[path.Ext(name)]
	if !found || kind == "" {
		s.WriteError(w, r, wire.ErrNothingHere())
		return
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	if r.URL.RawQuery == file.sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", `"`+file.sum+`"`)
	data := file.data
	if acceptsGzip(r.Header) {
		data = file.gzipped
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", `"`+file.sum+`-gzip"`) // the compressed bytes differ
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// Compression, as browsers ask for it. The static files are compressed once. A
// page is compressed only for a visit that no other site caused, and never as
// the answer to a form: how long a compressed page is tells of its contents,
// which an observer could find out by having the browser ask for many
// (CVE-2013-3587, BREACH), and the pages that show a secret answer forms.

// gzipWriters are kept between pages, since each holds some 100 KB.
var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is one
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

// smallest is data at the best compression there is.
func smallest(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// acceptsGzip tells whether a client takes a gzipped answer (RFC 9110,
// 12.5.3): gzip is named, and not with a weight of 0.
func acceptsGzip(h http.Header) bool {
	for _, list := range h.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(list, ",") {
			name, weight, _ := strings.Cut(coding, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				q, found := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(weight), " ", ""), "q=")
				return !found || strings.Trim(q, "0.") != ""
			}
		}
	}
	return false
}

// compressible tells whether the answer to a visit may be compressed.
func compressible(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && (site == "same-origin" || site == "none") && acceptsGzip(r.Header)
}
