package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/provider"
)

// entrance is a way in: how its calls name their source, and what they are
// answered in.
type entrance struct {
	// find gives the source that a call names, with its adapter.
	find    func(s *Server, r *http.Request) (app.Source, provider.Kind, bool, error)
	success func(r *http.Request, recording app.Recording) any
	failure func(f failure) any
}

// ownEntrance is that of every provider that has no answers of its own.
var ownEntrance = entrance{
	find: (*Server).findSource,
	success: func(r *http.Request, recording app.Recording) any {
		message := app.Text{EN: "The call was recorded.", VI: "Đã ghi nhận."}.And(recording.DateNotice)
		return struct {
			Success bool `json:"success"`
			envelope
			Recorded   int `json:"recorded"`
			Duplicates int `json:"duplicates"`
			Unassigned int `json:"unassigned"`
			Conflicts  int `json:"conflicts"`
			Rejected   int `json:"rejected"`
		}{
			true, ok(r, message.EN, message.VI),
			recording.Recorded, recording.Duplicates, recording.Unassigned, recording.Conflicts, recording.Rejected,
		}
	},
	failure: func(f failure) any { return f },
}

// findSource finds a source by the path's token, or on the bare path, which is
// for native sources alone, by the Bearer credential.
func (s *Server) findSource(r *http.Request) (app.Source, provider.Kind, bool, error) {
	token := r.PathValue("token")
	source, found, err := s.service.FindSource(r.Context(), token, bearer(r.Header))
	if err != nil || !found {
		return source, provider.Kind{}, false, err
	}
	a, known := provider.Find(source.Provider)
	return source, a, known && (token != "" || source.Provider == provider.Native), nil
}

// provider takes a provider's call: find the source, verify, read, record,
// and only then answer.
func (s *Server) provider(at entrance) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, adapter, err := s.verified(w, r, at, time.Now())
		if err == nil && !in.Signed() {
			if in.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, adapter.MaxBody())); err != nil {
				err = bodyError(err)
			}
		}
		if err != nil {
			status, body := s.refused(w, r, err, in.At)
			writeJSON(w, status, at.failure(body))
			return
		}
		recording, err := s.record(r, in, adapter)
		if err != nil {
			status, body := s.failed(w, r, err)
			writeJSON(w, status, at.failure(body))
			return
		}
		writeJSON(w, http.StatusOK, at.success(r, recording))
	}
}

// fewElements is up to how many elements of a call are recorded although the
// provider doesn't wait for the answer.
const fewElements = 20

func (s *Server) record(r *http.Request, in provider.Call, adapter provider.Kind) (app.Recording, error) {
	read := adapter.Elements(in)
	call := app.InboundCall{
		AccountID: in.Source.AccountID, Source: in.Source, Channel: app.ChannelCall, Body: in.Body, ReceivedAt: in.At,
		Elements: read.Elements, SourceFault: read.Fault,
	}
	if read.Drop {
		call.Body = nil
	}
	// A provider that hangs up early has told of its transaction all the same.
	// The work of one that sent many leaves the queue: it sends them again.
	ctx := r.Context()
	if len(call.Elements) <= fewElements {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	recording, err := s.service.RecordTransactions(ctx, call)
	if err == nil && adapter.Strict {
		err = nothingReadable(call.Elements, recording)
	}
	return recording, err
}

// verified finds the source that a call names, and checks that the call is the
// source's. It reads the body only where that is signed. Why the call isn't the
// source's is noted for the operator; the answer is the same for every reason.
func (s *Server) verified(w http.ResponseWriter, r *http.Request, at entrance, now time.Time) (provider.Call, provider.Kind, error) {
	find := func() (app.Source, provider.Kind, bool, error) { return at.find(s, r) }
	in := provider.Call{At: now, Zone: s.service.Zone()}
	var adapter provider.Kind
	var found bool
	var err error
	if in.Source, adapter, found, err = find(); err != nil {
		return in, adapter, err
	}
	if !found {
		s.noteRefused(r, in, provider.Refusal(app.RefusalUnknownSource, "Neither the URL nor a Bearer token belongs to a source.",
			"URL và Bearer token đều không thuộc nguồn nào."))
		return in, adapter, app.ErrUnauthorized
	}
	if in.Signed() {
		var release func()
		in.Body, release, err = s.readUnverified(w, r, adapter.MaxBody())
		defer release()
		if err != nil {
			return in, adapter, err
		}
	}
	why := adapter.Verify(in, r.Header)
	if why.Code == "" {
		return in, adapter, nil
	}
	// Another process may have given the source a new secret just now.
	if err := s.service.RefreshSources(r.Context()); err != nil {
		return in, adapter, err
	}
	if again, a, found, err := find(); err == nil && found && again.Secret != in.Source.Secret {
		in.Source, adapter = again, a
		if why = adapter.Verify(in, r.Header); why.Code == "" {
			return in, adapter, nil
		}
	}
	s.noteRefused(r, in, s.explainRefusal(r, adapter, in, why))
	return in, adapter, app.ErrUnauthorized
}

// nothingReadable is the answer to a native call of which nothing could be
// read. The body is kept all the same.
func nothingReadable(elements []app.Incoming, recording app.Recording) error {
	if len(elements) == 0 || recording.Rejected < len(elements) {
		return nil
	}
	if fault := elements[0].Fault; len(elements) == 1 && fault != nil && fault.Field == provider.FaultNotJSON {
		return app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body is not valid JSON.", VI: "Nội dung yêu cầu không phải JSON hợp lệ."})
	}
	var v app.Invalid
	for i, e := range elements {
		if i == 20 {
			break // enough to see the pattern
		}
		field := e.Fault.Field
		switch field {
		case "body", "transactions":
		case provider.FaultElement:
			field = fmt.Sprintf("transactions[%d]", i)
		default:
			field = fmt.Sprintf("transactions[%d].%s", i, field)
		}
		v.Add(field, e.Fault.Text.EN, e.Fault.Text.VI)
	}
	return v.Err()
}
