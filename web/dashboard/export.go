package dashboard

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/sheet"
	"baoco/web/wire"
)

// exportPath is the address of the export. Its answer lasts as long as its reader
// takes.
const exportPath = "/transactions/export"

// exportDeadline bounds the sending of one piece of exportBuffer bytes. A reader of
// 1 KB a second keeps up.
const (
	exportDeadline = time.Minute
	exportBuffer   = 8 << 10
)

// errUnread ends an export whose reader has gone or isn't allowed any more.
var errUnread = errors.New("the export isn't read")

// exportTransactions sends the transactions of the listing's filter as a file.
// An error after the first byte breaks the connection, so that a part of a file
// never looks like a whole one.
func (s *Server) exportTransactions(v *visit) error {
	values := v.URL.Query()
	e := &export{v: v, server: s, format: sheet.Format(values.Get("format"))}
	e.begin = func() (sheet.Writer, error) { return sheet.New(e.format, e.out, v.Lang, v.zone) }
	if !e.format.Known() {
		return app.InvalidField("format", "must be csv, csv-semicolon or xlsx", "phải là csv, csv-semicolon hoặc xlsx")
	}
	banks, err := s.Service.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	f, err := transactionFilter(v, filterOf(values, transactionFilters), banks)
	if err != nil {
		return err
	}
	e.name = exportName(f, v.now.In(v.zone))
	return s.sendExport(v, f, e)
}

// exportName is the name of the file: the first and the last day of the filter, else
// the time of now, in the zone of the days.
func exportName(f app.TransactionFilter, now time.Time) string {
	first, last := app.DayOf(f.From, now.Location()).String(), app.DayOf(f.To.Add(-time.Second), now.Location()).String()
	switch {
	case !f.From.IsZero() && !f.To.IsZero():
		return "baoco-" + first + "_" + last
	case !f.From.IsZero():
		return "baoco-from-" + first
	case !f.To.IsZero():
		return "baoco-until-" + last
	}
	return "baoco-" + now.Format("20060102-150405")
}

// sendExport sends the transactions of a filter.
func (s *Server) sendExport(v *visit, f app.TransactionFilter, e *export) (err error) {
	if v.Method == http.MethodHead {
		e.header()
		return nil
	}
	holder := streamHolder{account: v.account.ID, user: v.user.ID}
	if err := s.streams.take(holder, s.Log, v.now); err != nil {
		return err
	}
	defer s.streams.give(holder)
	ctx, cancel := context.WithCancel(v.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		if err := app.Protected(func() error { return e.watch(ctx) }); err != nil {
			s.Log.Error("watch over an export", "err", err)
			e.stop()
		}
	})
	defer watch.Wait()
	defer cancel()
	err = s.Service.ExportTransactions(ctx, v.account.ID, f, e.add)
	if err == nil {
		err = e.end()
	}
	unread := errors.Is(err, errUnread)
	if err == nil || e.file == nil && !unread {
		return err
	}
	if !unread && v.Context().Err() == nil {
		s.Log.Error("export broke off", "request_id", wire.RequestID(v.Request), "err", err)
	}
	panic(http.ErrAbortHandler)
}

// export is one file that is being sent.
type export struct {
	v      *visit
	server *Server
	format sheet.Format
	out    *bufio.Writer
	file   sheet.Writer // nil before the first byte
	name   string       // of the file, without its ending
	begin  func() (sheet.Writer, error)

	mu    sync.Mutex
	ended bool // nothing more may be sent
}

// watch ends the export once its visitor isn't allowed any more, even while a
// piece waits for a slow reader.
func (e *export) watch(ctx context.Context) error {
	look := time.NewTicker(accessInterval)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.server.Closing:
		case <-look.C:
			if !errors.Is(e.server.stillAllowed(e.v), errRevoked) {
				continue
			}
		}
		e.stop()
		return nil
	}
}

func (e *export) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	_ = http.NewResponseController(e.v.w).SetWriteDeadline(time.Now())
}

// Write gives every piece a deadline of its own.
func (e *export) Write(p []byte) (int, error) {
	e.mu.Lock()
	ended := e.ended
	err := http.NewResponseController(e.v.w).SetWriteDeadline(time.Now().Add(exportDeadline))
	if ended {
		err = errUnread
	}
	e.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := e.v.w.Write(p)
	if err != nil {
		err = errors.Join(errUnread, err)
	}
	return n, err
}

func (e *export) header() {
	h := e.v.w.Header()
	h.Set("Content-Type", e.format.MediaType())
	h.Set("Content-Disposition", `attachment; filename="`+e.name+e.format.Ending()+`"`)
	h.Set("X-Accel-Buffering", "no") // otherwise nginx writes the whole file to its disk
}

func (e *export) open() (err error) {
	e.header()
	// The read deadline of the request would end the export once it has passed.
	if err := http.NewResponseController(e.v.w).SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	e.out = bufio.NewWriterSize(e, exportBuffer)
	e.file, err = e.begin()
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
	err := e.server.stillAllowed(e.v)
	if errors.Is(err, errRevoked) {
		err = errUnread
	}
	return err
}

func (e *export) end() error {
	if e.file == nil { // there was no transaction
		if err := e.open(); err != nil {
			return err
		}
	}
	if err := e.file.Close(); err != nil {
		return err
	}
	return e.out.Flush()
}
