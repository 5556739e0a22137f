package wire

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// File is an answer that is the same for everybody. It is compressed once.
type File struct {
	kind          string // its Content-Type
	data, gzipped []byte
	Sum           string // the first digits of its digest
}

// NewFile makes an answer of a type.
func NewFile(kind string, data []byte) File {
	sum := sha256.Sum256(data)
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return File{kind, data, b.Bytes(), hex.EncodeToString(sum[:6])}
}

// Serve answers with the file, or with 304 if the client has it. The client asks each time, unless
// the handler has set another Cache-Control.
func (f File) Serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	h.Add("Vary", "Accept-Encoding")
	h.Set("ETag", `"`+f.Sum+`"`)
	data := f.data
	if AcceptsGzip(r.Header) {
		data = f.gzipped
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", `"`+f.Sum+`-gzip"`) // the compressed bytes differ
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// AcceptsGzip reports whether a client takes a gzipped answer (RFC 9110,
// 12.5.3): gzip is named, and not with a weight of 0.
func AcceptsGzip(h http.Header) bool {
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
