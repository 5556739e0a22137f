package dashboard

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

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
