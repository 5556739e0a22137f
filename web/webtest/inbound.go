package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"baoco/app"
	"baoco/app/apptest"

	"github.com/google/go-cmp/cmp"
)

// API makes a request of the management API with a key of full scope and reads
// the answer into v.
func (w *World) API(key, method, path, body string, status int, v any) {
	w.T.Helper()
	a := w.Do(method, path, body, "Authorization", "Bearer "+key)
	if a.Status != status {
		w.T.Fatalf("%s %s %s: %d %s, want %d", method, path, body, a.Status, a.Body, status)
	}
	if v != nil {
		apptest.Must(w.T, json.Unmarshal([]byte(a.Body), v))
	}
}

// linked is the answer to a link.
type linked struct {
	Recorded, Duplicates, Open, Deliveries int
	Waiting                                int      `json:"waiting_recorded"`
	TransactionIDs                         []string `json:"transaction_ids"`
	Linked                                 bool
	BankAccount                            struct {
		ID            int64
		Bank          string
		AccountNumber string `json:"account_number"`
		Status        string
	} `json:"bank_account"`
}

func (w *World) LinksEvent(key string, event int64, body string) (l linked) {
	w.T.Helper()
	w.API(key, "POST", fmt.Sprintf("/api/v1/inbound/%d/link", event), body, http.StatusOK, &l)
	return l
}

func (w *World) RefusesLink(key string, event int64, body string, status int, code app.Code) {
	w.T.Helper()
	var e struct{ Code app.Code }
	w.API(key, "POST", fmt.Sprintf("/api/v1/inbound/%d/link", event), body, status, &e)
	if e.Code != code {
		w.T.Errorf("link %s is refused as %s, want %s", body, e.Code, code)
	}
}

// Text records elements as if the text message of a bank had told them, which
// shows some digits of the account only, and gives their event.
func (w *World) Text(s app.Source, elements ...app.Incoming) int64 {
	w.T.Helper()
	for i := range elements {
		e := &elements[i]
		e.Gateway, e.Masked, e.Type, e.Amount, e.Time = "VCB", true, app.In, 200000, time.Now()
	}
	r, err := w.Service.RecordTransactions(context.Background(), app.InboundCall{
		AccountID: s.AccountID, Source: s, Channel: app.ChannelCall, Body: []byte("text"), ReceivedAt: time.Now(), Elements: elements,
	})
	apptest.Must(w.T, err)
	return r.EventID
}

// Said is what an element of an event is read as, and what became of it.
type Said struct {
	State       app.Outcome
	Amount      int64
	Content     string
	Transaction int64
	WaitsIn     int64
	Open        bool // it has an item that needs attention
}

// Reads is what an event said, and its event.
func (w *World) Reads(event int64) ([]Said, app.InboundEvent) {
	w.T.Helper()
	e, err := w.Service.ReadInboundEvent(context.Background(), 1, event)
	apptest.Must(w.T, err)
	var list []Said
	for _, i := range e.Elements {
		list = append(list, Said{i.State, i.Amount, i.Content, i.TransactionID, i.WaitsIn, i.Item != nil && i.Item.State.Open()})
	}
	return list, e
}

func (w *World) WantSaid(event int64, want ...Said) {
	w.T.Helper()
	got, e := w.Reads(event)
	if diff := cmp.Diff(want, got); diff != "" {
		w.T.Errorf("event %d (-want +got):\n%s", event, diff)
	}
	if e.ElementCount != len(want) {
		w.T.Errorf("event %d names %d, want %d", event, e.ElementCount, len(want))
	}
}

// Tallies checks that what every event said adds up to what was counted when
// it was recorded.
func (w *World) Tallies() {
	w.T.Helper()
	for _, e := range w.Events() {
		list, _ := w.Reads(e.ID)
		var r app.Recording
		for _, s := range list {
			r.Count(s.State, 0)
		}
		got, want := Counts{r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected}, Counts{e.Recorded, e.Duplicates, e.Unassigned, e.Conflicts, e.Rejected}
		if got != want {
			w.T.Errorf("event %d is read as %+v and was counted as %+v", e.ID, got, want)
		}
	}
}

// Links links a bank account and checks what had been waiting for it.
func (w *World) Links(bank, number string, notify app.NotifyOnLink, recorded, deliveries int) app.BankAccount {
	w.T.Helper()
	r, err := w.Service.LinkBankAccount(context.Background(), 1, app.BankAccountLink{Bank: bank, AccountNumber: number, AccountName: "NGUYEN VAN A", Notify: notify}, time.Now())
	apptest.Must(w.T, err)
	if r.Recorded != recorded || r.Deliveries != deliveries {
		w.T.Errorf("linking recorded %d with %d deliveries, want %d with %d", r.Recorded, r.Deliveries, recorded, deliveries)
	}
	return r.BankAccount
}

func (w *World) Unlinks(id int64) {
	w.T.Helper()
	apptest.Must(w.T, w.Service.UnlinkBankAccount(context.Background(), 1, id, time.Now()))
}

// Came records a native call as if it had come in some time ago.
func (w *World) Came(ago time.Duration, s app.Source, x apptest.Transfer) {
	w.T.Helper()
	body := []byte(apptest.Batch(x.Native()))
	_, err := w.Service.RecordTransactions(context.Background(), app.InboundCall{
		AccountID: s.AccountID, Source: s, Channel: app.ChannelCall, Body: body, ReceivedAt: time.Now().Add(-ago), Elements: apptest.ReadNative(body),
	})
	apptest.Must(w.T, err)
}

// Retries reads an event again.
func (w *World) Retries(s *app.Service, event app.InboundEvent, want Counts) {
	w.T.Helper()
	r, err := s.RetryInbound(context.Background(), 1, event.ID, time.Now())
	if got := (Counts{r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected}); err != nil || got != want {
		w.T.Errorf("retried: %+v, %v; want %+v", got, err, want)
	}
}

func (w *World) Event(id int64) app.InboundEvent {
	w.T.Helper()
	for _, e := range w.Events() {
		if e.ID == id {
			return e
		}
	}
	w.T.Fatal("no event ", id)
	return app.InboundEvent{}
}

// Upload is a call whose body is sent slowly.
type Upload struct {
	Body   *io.PipeWriter
	Answer chan Answer
}

func (w *World) Upload(h http.Handler, remote string, source app.Source, secret, whole string) *Upload {
	read, write := io.Pipe()
	u := &Upload{write, make(chan Answer, 1)}
	source.Secret = secret
	request := httptest.NewRequest("POST", source.URLPath(), read)
	request.RemoteAddr = remote
	header := apptest.Credentials(source, whole, time.Now())
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	go func() {
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		_ = read.CloseWithError(io.ErrClosedPipe) // as a server does with what it hasn't read
		u.Answer <- Answer{recorder.Code, recorder.Header(), recorder.Body.String()}
	}()
	return u
}
