package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"baoco/app"
)

// adapter is one inbound format: how its calls are verified and how their
// bytes become transactions. An adapter never falls back to a weaker way of
// authenticating than its source has.
type adapter struct {
	kind app.ProviderKind
	// verify gives the reason, for the operator only, why a call is refused;
	// the zero Refusal accepts it. It compares credentials in constant time.
	verify func(in inbound, h http.Header) app.Refusal
	// read never fails: what it can't read becomes an element with a fault. It
	// sees no headers, so that a kept body can be read again.
	read func(in inbound) reading
	// strict formats are answered 4xx when nothing of a body can be read; to
	// the others the provider would only give up.
	strict bool
	// many formats can name several transactions in a call.
	many bool
}

// What a call may send. A notice of one transaction has some 25 values in a few
// kilobytes. One of many has at most app.MaxElements transactions, of some 20
// values each.
const (
	maxNotice       = 64 << 10
	maxNoticeValues = 512
	maxManyValues   = 20 * app.MaxElements
)

// maxBody is how many bytes of a body are read.
func (a adapter) maxBody() int64 {
	if a.many {
		return maxInboundBody
	}
	return maxNotice
}

// elements reads a body, but for one with more values or elements than a call
// may have: of that nothing can be read.
func (a adapter) elements(in inbound) reading {
	most := maxNoticeValues
	if a.many {
		most = maxManyValues
	}
	if countValues(in.body) > most {
		return reading{elements: []app.Incoming{unreadable("body",
			fmt.Sprintf("has more than %d values", most), fmt.Sprintf("có hơn %d giá trị", most))}}
	}
	read := a.read(in)
	if len(read.elements) > app.MaxElements {
		read.elements = []app.Incoming{unreadable("body",
			fmt.Sprintf("has more than %d transactions", app.MaxElements), fmt.Sprintf("có hơn %d giao dịch", app.MaxElements))}
	}
	return read
}

// inbound is one call as an adapter sees it.
type inbound struct {
	source app.Source
	body   []byte
	at     time.Time // of receipt
	zone   *time.Location
}

// signed tells whether the credential of a call is a signature that its body is
// needed for. Otherwise nothing is read of a call before it is verified.
func (in inbound) signed() bool { return in.source.Auth == app.AuthHMAC }

// reading is what an adapter makes of a body. A test call has no elements.
type reading struct {
	elements []app.Incoming
	// drop has nothing of the call kept: a one-time code, advertising.
	drop bool
	// nothing says what a body without elements is, where there is more to say
	// than that it names none.
	nothing app.Text
	// fault is the provider's own word that something is wrong on its side: the
	// bank accounts that it serves go to error until the next transaction.
	fault bool
}

// adapters is the table of the inbound formats.
var adapters = []adapter{
	nativeAdapter,
	sepayAdapter,
	cassoAdapter,
	cassoV2Adapter,
	payOSAdapter,
	pay2sAdapter,
	pay2sIPNAdapter,
	genericAdapter,
	capcom6Adapter,
	smsToURLAdapter,
	smsForwarderAdapter,
	vietQRAdapter,
}

func adapterOf(p app.Provider) (adapter, bool) {
	for _, a := range adapters {
		if a.kind.Provider == p {
			return a, true
		}
	}
	return adapter{}, false
}

// Providers lists the kinds of sources that there are adapters for.
func Providers() []app.ProviderKind {
	kinds := make([]app.ProviderKind, len(adapters))
	for i, a := range adapters {
		kinds[i] = a.kind
	}
	return kinds
}

// What bodies without elements are.
var (
	nothingNamed = app.Text{EN: "There is no transaction in it.", VI: "Không có giao dịch nào trong lượt gọi này."}
	nothingPaid  = app.Text{EN: "The provider reports a payment that failed or was cancelled: no money came in.", VI: "Nhà cung cấp báo thanh toán thất bại hoặc đã huỷ: không có tiền vào."}
	onlyATest    = app.Text{EN: "A test call by the provider: there is nothing to record.", VI: "Lượt gọi thử của nhà cung cấp: không có gì để ghi nhận."}
	nothingKept  = app.Text{EN: "Not a message about money.", VI: "Không phải tin báo biến động số dư."}
)

// ReadInbound reads the body of a call as the source's adapter does, or what
// somebody recorded by hand.
func ReadInbound(source app.Source, channel app.Channel, body []byte, receivedAt time.Time, zone *time.Location) app.InboundReading {
	if channel == app.ChannelHand {
		return app.InboundReading{Elements: readByHand(body, zone)}
	}
	a, found := adapterOf(source.Provider)
	if !found {
		return app.InboundReading{Elements: []app.Incoming{unreadable("body", "is of a format that is no longer known", "thuộc định dạng không còn được hỗ trợ")}}
	}
	read := a.elements(inbound{source, body, receivedAt, zone})
	result := app.InboundReading{Elements: read.elements, Nothing: read.nothing}
	switch {
	case len(read.elements) > 0:
	case read.drop:
		result.Nothing = nothingKept
	case read.nothing == app.Text{}:
		result.Nothing = nothingNamed
	}
	return result
}

func unreadable(field, en, vi string) app.Incoming {
	return app.Incoming{Fault: &app.FieldError{Field: field, Text: app.Text{EN: en, VI: vi}}}
}

// Faults that no field has: a body that isn't JSON at all, and an element of
// the array that isn't an object.
const (
	faultNotJSON = "json"
	faultElement = "element"
)

func notJSON() []app.Incoming {
	return []app.Incoming{unreadable(faultNotJSON, "is not valid JSON", "không phải JSON hợp lệ")}
}

// entrance is a way in: how its calls name their source, and what they are
// answered in.
type entrance struct {
	// find gives the source that a call names, with its adapter.
	find    func(s *Server, r *http.Request) (app.Source, adapter, bool, error)
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
func (s *Server) findSource(r *http.Request) (app.Source, adapter, bool, error) {
	token := r.PathValue("token")
	source, found, err := s.service.FindSource(r.Context(), token, bearer(r.Header))
	if err != nil || !found {
		return source, adapter{}, false, err
	}
	a, known := adapterOf(source.Provider)
	return source, a, known && (token != "" || source.Provider == providerNative), nil
}

// provider takes a provider's call: find the source, verify, read, record,
// and only then answer.
func (s *Server) provider(at entrance) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, adapter, err := s.verified(w, r, at, time.Now())
		if err == nil && !in.signed() {
			if in.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, adapter.maxBody())); err != nil {
				err = bodyError(err)
			}
		}
		if err != nil {
			status, body := s.refused(w, r, err, in.at)
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

func (s *Server) record(r *http.Request, in inbound, adapter adapter) (app.Recording, error) {
	read := adapter.elements(in)
	call := app.InboundCall{
		AccountID: in.source.AccountID, Source: in.source, Channel: app.ChannelCall, Body: in.body, ReceivedAt: in.at,
		Elements: read.elements, SourceFault: read.fault,
	}
	if read.drop {
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
	if err == nil && adapter.strict {
		err = nothingReadable(call.Elements, recording)
	}
	return recording, err
}

// verified finds the source that a call names, and checks that the call is the
// source's. It reads the body only where that is signed. Why the call isn't the
// source's is noted for the operator; the answer is the same for every reason.
func (s *Server) verified(w http.ResponseWriter, r *http.Request, at entrance, now time.Time) (inbound, adapter, error) {
	find := func() (app.Source, adapter, bool, error) { return at.find(s, r) }
	in := inbound{at: now, zone: s.service.Zone()}
	var adapter adapter
	var found bool
	var err error
	if in.source, adapter, found, err = find(); err != nil {
		return in, adapter, err
	}
	if !found {
		s.noteRefused(r, in, refusal(app.RefusalUnknownSource, "Neither the URL nor a Bearer token belongs to a source.",
			"URL và Bearer token đều không thuộc nguồn nào."))
		return in, adapter, app.ErrUnauthorized()
	}
	if in.signed() {
		var release func()
		in.body, release, err = s.readUnverified(w, r, adapter.maxBody())
		defer release()
		if err != nil {
			return in, adapter, err
		}
	}
	why := adapter.verify(in, r.Header)
	if why.Code == "" {
		return in, adapter, nil
	}
	// Another process may have given the source a new secret just now.
	if err := s.service.RefreshSources(r.Context()); err != nil {
		return in, adapter, err
	}
	if again, a, found, err := find(); err == nil && found && again.Secret != in.source.Secret {
		in.source, adapter = again, a
		if why = adapter.verify(in, r.Header); why.Code == "" {
			return in, adapter, nil
		}
	}
	s.noteRefused(r, in, s.explainRefusal(r, adapter, in, why))
	return in, adapter, app.ErrUnauthorized()
}

// nothingReadable is the answer to a native call of which nothing could be
// read. The body is kept all the same.
func nothingReadable(elements []app.Incoming, recording app.Recording) error {
	if len(elements) == 0 || recording.Rejected < len(elements) {
		return nil
	}
	if fault := elements[0].Fault; len(elements) == 1 && fault != nil && fault.Field == faultNotJSON {
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
		case faultElement:
			field = fmt.Sprintf("transactions[%d]", i)
		default:
			field = fmt.Sprintf("transactions[%d].%s", i, field)
		}
		v.Add(field, e.Fault.Text.EN, e.Fault.Text.VI)
	}
	return v.Err()
}
