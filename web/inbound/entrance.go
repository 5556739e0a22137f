package inbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/web/wire"
)

// This file takes the providers' calls: it finds the source, verifies, reads and records the
// call, and only then answers.

func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	recording, err := s.accept(w, r, s.findSource)
	if err != nil {
		status, body := s.AuthErrorBody(w, r, err, time.Now())
		wire.WriteJSON(w, status, body)
		return
	}
	message := app.Text{EN: "The call was recorded.", VI: "Đã ghi nhận."}.And(recording.DateNotice)
	wire.WriteJSON(w, http.StatusOK, struct {
		Success bool `json:"success"`
		wire.Envelope
		Recorded   int `json:"recorded"`
		Duplicates int `json:"duplicates"`
		Unassigned int `json:"unassigned"`
		Conflicts  int `json:"conflicts"`
		Rejected   int `json:"rejected"`
		MayRepeat  int `json:"may_be_repeat,omitempty"`
	}{
		true, wire.OK(r, message.EN, message.VI),
		recording.Recorded, recording.Duplicates, recording.Unassigned, recording.Conflicts, recording.Rejected, recording.MayBeRepeats,
	})
}

// findSource finds a source by the token in the path. On the path without a
// token, which is for native sources alone, it finds the source by the Bearer
// credential. It returns the zero Source if there is none.
func (s *Server) findSource(r *http.Request) (inbound.Source, error) {
	token := r.PathValue("token")
	source, found, err := s.service.Inbound.FindSource(r.Context(), token, wire.Bearer(r.Header))
	if !found || token == "" && source.Provider != provider.Native {
		return inbound.Source{}, err
	}
	return source, err
}

// accept finds the source that a call names, verifies the call, reads it and
// records it.
func (s *Server) accept(w http.ResponseWriter, r *http.Request,
	find func(*http.Request) (inbound.Source, error)) (_ inbound.Recording, err error) {
	source, err := find(r)
	defer func() { s.called(source, err) }()
	if err != nil {
		return inbound.Recording{}, err
	}
	kind, _ := provider.Find(source.Provider) // verify refuses the zero Kind
	in, err := s.verify(w, r, source, kind, kind.Verify)
	if err != nil {
		return inbound.Recording{}, err
	}
	if !in.Signed() {
		if in.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, kind.MaxBody())); err != nil {
			return inbound.Recording{}, s.noteUnread(r, in, wire.BodyError(err))
		}
	}
	return s.record(r, in, kind)
}

// fewElements is how many elements a call may have to be recorded although the
// provider doesn't wait for the answer.
const fewElements = 20

func (s *Server) record(r *http.Request, in provider.Call, kind provider.Kind) (inbound.Recording, error) {
	read := kind.Elements(in)
	if slices.ContainsFunc(read.Elements, func(e inbound.Incoming) bool { return e.Sender != "" }) {
		// Another process may have allowed the sender just now.
		again, err := s.sourceNow(r.Context(), in.Source)
		if err != nil {
			return inbound.Recording{}, err
		}
		in.Source = again
		read = kind.Elements(in)
	}
	call := inbound.Call{
		AccountID: in.Source.AccountID, Source: in.Source, Channel: app.ChannelCall, Body: in.Body, ReceivedAt: in.At,
		Elements: read.Elements, SourceFault: read.Fault,
	}
	switch {
	case read.Drop && read.Trace:
		call.Body = []byte{}
	case read.Drop:
		call.Body = nil
	}
	// A transaction is recorded even if the provider hangs up before the answer.
	// A call of many isn't: its work leaves the queue, and the provider sends it
	// again.
	ctx := r.Context()
	if len(call.Elements) <= fewElements {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
	defer cancel()
	recording, err := s.service.Inbound.RecordTransactions(ctx, call)
	if err == nil && kind.Strict {
		err = nothingReadable(call.Elements)
	}
	return recording, err
}

// verify checks with check that a call comes from the source that it names. It refuses the
// zero Kind: the call names no source. It reads the body only if the body is signed. The
// reason of a refusal is kept for the operator; the caller gets the same answer for every
// reason.
func (s *Server) verify(w http.ResponseWriter, r *http.Request, source inbound.Source, kind provider.Kind,
	check provider.Verifier) (provider.Call, error) {
	in := provider.Call{Source: source, At: time.Now(), Zone: s.service.Ledger.Zone()}
	if kind.Verify == nil {
		s.noteRefused(r, in, inbound.Refusal{Code: inbound.RefusalUnknownSource, Text: app.Text{
			EN: "Neither the URL nor a Bearer token belongs to a source.", VI: "URL và Bearer token đều không thuộc nguồn nào.",
		}})
		return in, access.ErrUnauthorized
	}
	if in.Signed() {
		body, release, err := s.readUnverified(w, r, kind.MaxBody())
		defer release()
		if err != nil {
			return in, s.noteUnread(r, in, err)
		}
		in.Body = body
	}
	why := check(in, r.Header)
	if why.Code == "" {
		return in, nil
	}
	// Another process may have given the source a new secret just now.
	again, err := s.sourceNow(r.Context(), source)
	if err != nil {
		return in, err
	}
	if again.Secret != source.Secret {
		in.Source = again
		if why = check(in, r.Header); why.Code == "" {
			return in, nil
		}
	}
	s.noteRefused(r, in, s.explainRefusal(r, check, in, why))
	return in, access.ErrUnauthorized
}

// sourceNow reads a source again from the file. If the source was removed, it returns the
// argument.
func (s *Server) sourceNow(ctx context.Context, source inbound.Source) (inbound.Source, error) {
	if err := s.service.Access.RefreshCredentials(ctx); err != nil {
		return source, err
	}
	again, found, err := s.service.Inbound.SourceByID(ctx, source.ID)
	if err != nil || !found {
		return source, err
	}
	return again, nil
}

// nothingReadable is the error for a native call none of whose elements could be
// read. The body is kept all the same.
func nothingReadable(elements []inbound.Incoming) error {
	if len(elements) == 0 || slices.ContainsFunc(elements, func(e inbound.Incoming) bool { return e.Fault == nil }) {
		return nil
	}
	if len(elements) == 1 && elements[0].Fault.Field == provider.FaultNotJSON {
		return app.Refused(app.CodeInvalidJSON,
			app.Text{EN: "The request body is not valid JSON.", VI: "Nội dung yêu cầu không phải JSON hợp lệ."})
	}
	var v app.Invalid
	for i, e := range elements {
		if i == 20 {
			break // more faults would not help the caller
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
