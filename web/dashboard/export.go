package dashboard

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/sheet"
	"baoco/web/wire"
)

// exportPath is the address of the export of transactions.
const exportPath = "/transactions/export"

// exportDeadline bounds the time to send one piece of exportBuffer bytes. There is no bound
// for the whole file.
const (
	exportDeadline = time.Minute
	exportBuffer   = 8 << 10
)

// errUnread ends an export whose reader has disconnected or isn't allowed any more.
var errUnread = errors.New("the export isn't read")

// exports are the addresses of the exports of a filter.
type exports struct{ CSV, Semicolons, XLSX string }

func exportLinks(path string, filter url.Values) exports {
	values := maps.Clone(filter)
	link := func(format sheet.Format) string {
		values.Set("format", string(format))
		return linkTo(path, values)
	}
	return exports{link(sheet.CSV), link(sheet.Semicolons), link(sheet.XLSX)}
}

// readFormat reads the format that the address names.
func (e *export[Row]) readFormat(values url.Values) error {
	e.format = sheet.Format(values.Get("format"))
	if !e.format.Known() {
		return app.InvalidField("format", "must be csv, csv-semicolon or xlsx", "phải là csv, csv-semicolon hoặc xlsx")
	}
	return nil
}

// exportName is the name of the file: what, then the first and last day of the filter, else the
// time now. Days and time are in the zone of now.
func exportName(what string, from, to, now time.Time) string {
	first, last := app.DayOf(from, now.Location()).String(), app.DayOf(to.Add(-time.Second), now.Location()).String()
	switch {
	case !from.IsZero() && !to.IsZero():
		return what + "-" + first + "_" + last
	case !from.IsZero():
		return what + "-from-" + first
	case !to.IsZero():
		return what + "-until-" + last
	}
	return what + "-" + now.Format("20060102-150405")
}

// send sends the rows that read adds.
func (e *export[Row]) send(read func(ctx context.Context) error) (err error) {
	s, v := e.server, e.v
	if v.Method == http.MethodHead {
		e.header()
		return nil
	}
	give, err := s.takeEventStream(eventStreamHolder{account: v.account.ID, user: v.user.ID}, v.now)
	if err != nil {
		return err
	}
	defer give()
	ctx, cancel := context.WithCancel(v.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		if err := app.Protected(func() error { return e.watch(ctx) }); err != nil {
			s.Log.Error("check access during an export", "err", err)
			e.stop()
		}
	})
	defer watch.Wait()
	defer cancel()
	err = read(ctx)
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

// export sends one file.
type export[Row any] struct {
	v      *visit
	server *Server
	format sheet.Format
	out    *bufio.Writer
	file   sheet.Writer[Row] // nil before the first byte
	name   string            // of the file, without its extension
	begin  func(format sheet.Format, w io.Writer, lang app.Lang, zone *time.Location) (sheet.Writer[Row], error)

	mu    sync.Mutex
	ended bool // nothing more may be sent
}

// watch ends the export once its visitor isn't allowed any more or the server stops, even
// while a write waits for a slow reader.
func (e *export[Row]) watch(ctx context.Context) error {
	ticker := time.NewTicker(wire.AccessInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.server.Closing:
		case <-ticker.C:
			if !errors.Is(e.server.stillAllowed(e.v), wire.ErrRevoked) {
				continue
			}
		}
		e.stop()
		return nil
	}
}

func (e *export[Row]) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	_ = http.NewResponseController(e.v.w).SetWriteDeadline(time.Now())
}

// Write sends a piece of the file, with a deadline of its own.
func (e *export[Row]) Write(p []byte) (int, error) {
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

func (e *export[Row]) header() {
	h := e.v.w.Header()
	h.Set("Content-Type", e.format.MediaType())
	h.Set("Content-Disposition", `attachment; filename="`+e.name+e.format.Ending()+`"`)
	h.Set("X-Accel-Buffering", "no") // otherwise nginx writes the whole file to its disk
}

func (e *export[Row]) open() (err error) {
	e.header()
	// The read deadline of the request would end a long export.
	if err := http.NewResponseController(e.v.w).SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	e.out = bufio.NewWriterSize(e, exportBuffer)
	e.file, err = e.begin(e.format, e.out, e.v.Lang, e.v.zone)
	return err
}

func (e *export[Row]) add(list []Row) error {
	if e.file == nil {
		if err := e.open(); err != nil {
			return err
		}
	}
	for _, r := range list {
		if err := e.file.Add(r); err != nil {
			return err
		}
	}
	err := e.server.stillAllowed(e.v)
	if errors.Is(err, wire.ErrRevoked) {
		err = errUnread
	}
	return err
}

func (e *export[Row]) end() error {
	if e.file == nil { // there was no row
		if err := e.open(); err != nil {
			return err
		}
	}
	if err := e.file.Close(); err != nil {
		return err
	}
	return e.out.Flush()
}
