package web

import (
	"bufio"
	"errors"
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/sheet"
)

// exportPath is the address of the export; its answer takes as long as its
// reader does.
const exportPath = "/transactions/export"

// exportDeadline is how long a piece of an export, of exportBuffer bytes, may
// take to leave: a reader of 1 KB a second keeps up.
const (
	exportDeadline = time.Minute
	exportBuffer   = 8 << 10
)

// errUnread ends an export that nobody reads on, or may.
var errUnread = errors.New("the export isn't read")

// exportTransactions sends the transactions of the listing's filter as a file.
// What goes wrong behind its first byte breaks the connection, so that a part
// of a file never looks like a whole one.
func (s *Server) exportTransactions(v *visit) error {
	values := v.URL.Query()
	e := &export{v: v, server: s, format: sheet.Format(values.Get("format"))}
	if !e.format.Known() {
		return app.InvalidField("format", "must be csv or xlsx", "phải là csv hoặc xlsx")
	}
	f, err := s.transactionFilter(v, readTransactionForm(values))
	if err != nil {
		return err
	}
	if v.Method == http.MethodHead {
		e.header()
		return nil
	}
	err = s.service.ExportTransactions(v.Context(), v.account.ID, f, e.add)
	if err == nil {
		err = e.end()
	}
	if err == nil || e.file == nil {
		return err
	}
	if !errors.Is(err, errUnread) && v.Context().Err() == nil {
		s.log.Error("export broke off", "request_id", requestID(v.Request), "err", err)
	}
	panic(http.ErrAbortHandler)
}

// export is one file on its way out.
type export struct {
	v      *visit
	server *Server
	format sheet.Format
	out    *bufio.Writer
	file   sheet.Writer // nil before the first byte
}

func (e *export) header() {
	h := e.v.w.Header()
	h.Set("Content-Type", e.format.MediaType())
	h.Set("Content-Disposition", `attachment; filename="baoco-`+e.v.now.In(e.v.zone).Format("20060102-150405")+"."+string(e.format)+`"`)
	h.Set("X-Accel-Buffering", "no") // nginx would write the whole of it to its disk
}

func (e *export) open() (err error) {
	e.header()
	control := http.NewResponseController(e.v.w)
	// That the request was read within the server's time is no longer of
	// interest; a passed deadline would end what waits for a hang-up.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	e.out = bufio.NewWriterSize(patientWriter{e.v.w, control}, exportBuffer)
	e.file, err = sheet.New(e.format, e.out, e.v.lang, e.v.zone)
	return err
}

func (e *export) add(list []app.Transaction) error {
	if e.file == nil {
		if err := e.open(); err != nil {
			return err
		}
	}
	for _, t := range list {
		if err := e.file.Add(t); err != nil {
			return err
		}
	}
	select {
	case <-e.server.closing:
		return errUnread
	case <-e.v.Context().Done():
		return errUnread
	default:
	}
	// Whoever was signed out meanwhile gets nothing more.
	if u, err := e.server.signedIn(e.v.Context()); err != nil || u.ID == 0 {
		return errors.Join(err, errUnread)
	}
	return nil
}

func (e *export) end() error {
	if e.file == nil { // of no transaction
		if err := e.open(); err != nil {
			return err
		}
	}
	if err := e.file.Close(); err != nil {
		return err
	}
	return e.out.Flush()
}

// patientWriter gives every piece its own time to leave.
type patientWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (w patientWriter) Write(p []byte) (int, error) {
	if err := w.control.SetWriteDeadline(time.Now().Add(exportDeadline)); err != nil {
		return 0, err
	}
	n, err := w.w.Write(p)
	if err != nil {
		err = errors.Join(errUnread, err)
	}
	return n, err
}
