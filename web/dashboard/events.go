package dashboard

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/web/wire"
)

func eventPath(id int64) string { return "/inbound/events/" + strconv.FormatInt(id, 10) }

type eventsData struct {
	filters
	Sources []inbound.Source
	Rows    []inbound.Event
	Older   string // address of the next page; empty on the last page
	Newest  string // address of the first page; empty on the first page
}

// eventStates are the states of items by which the log can be filtered; openState is all of
// them.
var eventStates = []inbound.Outcome{inbound.OutcomeUnassigned, inbound.OutcomeConflict, inbound.OutcomeRejected, inbound.OutcomeMayBeRepeat}

const openState = "open"

// eventsPage lists the inbound log, newest first. It counts nothing, so it is quick however
// long the log is.
func (s *Server) eventsPage(v *visit) (err error) {
	var data eventsData
	if data.Sources, err = s.Services.Inbound.Sources(v.Context(), v.account.ID); err != nil {
		return err
	}
	data.filters = v.filtersOf("/inbound/events", eventFilters,
		func(name, value string) string { return v.eventWord(name, value, data.Sources) })
	f, err := eventFilter(data.Form)
	if f.Before, _ = wire.ParseID(v.URL.Query().Get("before")); f.Before != 0 {
		data.Newest = linkTo(data.Path, data.Form)
	}
	var more bool
	if err == nil {
		data.Rows, more, err = s.Services.Inbound.InboundEventsBefore(v.Context(), v.account.ID, f)
	}
	if more {
		older := maps.Clone(data.Form)
		older.Set("before", strconv.FormatInt(data.Rows[len(data.Rows)-1].ID, 10))
		data.Older = linkTo(data.Path, older)
	}
	return s.render(v, err, pageHead{"events", "inbound", app.Text{EN: "Inbound log", VI: "Lịch sử nhận"}}, data)
}

func eventFilter(form url.Values) (inbound.Filter, error) {
	p := &wire.Params{Values: form}
	f := inbound.Filter{Page: app.Page{Number: 1, Size: app.DefaultPageSize}, SourceID: p.ID("source_id")}
	switch state := form.Get("state"); {
	case state == openState:
		f.OpenOnly = true
	case slices.Contains(eventStates, inbound.Outcome(state)):
		f.State = inbound.Outcome(state)
	case state != "":
		p.Bad.Add("state", "must be one of the values in the list", "phải là một mục trong danh sách")
	}
	return f, p.Bad.Err()
}

// eventWord writes a value of the filter for people.
func (w words) eventWord(name, value string, sources []inbound.Source) string {
	switch name {
	case "source_id":
		for _, source := range sources {
			if strconv.FormatInt(source.ID, 10) == value {
				return source.Name
			}
		}
	case "state":
		if value == openState {
			return w.T("Needs attention", "Cần xử lý")
		}
		if slices.Contains(eventStates, inbound.Outcome(value)) {
			return w.Outcome(inbound.Outcome(value))
		}
	}
	return ""
}

var outcomeNames = map[inbound.Outcome]app.Text{
	inbound.OutcomeRecorded:    {EN: "Recorded", VI: "Đã ghi nhận"},
	inbound.OutcomeDuplicate:   {EN: "Duplicate", VI: "Trùng"},
	inbound.OutcomeUnassigned:  {EN: "Unassigned", VI: "Tài khoản chưa liên kết"},
	inbound.OutcomeConflict:    {EN: "Conflict", VI: "Trùng mã, khác thông tin"},
	inbound.OutcomeRejected:    {EN: "Unreadable", VI: "Không đọc được"},
	inbound.OutcomeMayBeRepeat: {EN: "May be a repeat", VI: "Chưa rõ có trùng không"},
	inbound.OutcomeDiscarded:   {EN: "Discarded", VI: "Đã bỏ qua"},
	"":                         {EN: "Not recorded", VI: "Chưa ghi nhận"},
}

// Outcome names the state of an element of a call; empty: its event id isn't
// known.
func (w words) Outcome(o inbound.Outcome) string { return outcomeNames[o].In(w.Lang) }

// States are the states of the filter.
func (eventsData) States() []inbound.Outcome { return eventStates }

// mostCompared is how many transactions the page of an event shows next to items that may
// repeat them.
const mostCompared = 50

type eventData struct {
	inbound.Event
	Unassigned int // how many items are unassigned
	Link       linkForm
	Recorded   map[int64]app.Transaction // the transactions that items may repeat
}

// FirstElement is the element that the log shows for an event; nil if the event
// has none.
func (w words) FirstElement(e inbound.Event) *inbound.Element {
	if len(e.Elements) == 0 {
		return nil
	}
	return &e.Elements[0]
}

// OpenFirst sorts the elements of an event: first those that need a decision.
func (w words) OpenFirst(e inbound.Event) (list []inbound.Element) {
	for _, open := range []bool{true, false} {
		for _, i := range e.Elements {
			if w.NeedsDecision(i) == open {
				list = append(list, i)
			}
		}
	}
	return list
}

// NeedsDecision reports whether somebody has to decide about an element.
func (w words) NeedsDecision(i inbound.Element) bool { return i.Item != nil && i.State.Open() }

// MoreElements says how many elements of an event the log doesn't show; empty if
// it shows all.
func (w words) MoreElements(e inbound.Event) string {
	if e.ElementCount < 2 {
		return ""
	}
	return w.T("+"+w.Number(int64(e.ElementCount-1))+" more", "+"+w.Number(int64(e.ElementCount-1))+" giao dịch khác")
}

// NotShown says how many elements of an event its page doesn't show; empty if it
// shows all.
func (w words) NotShown(e inbound.Event) string {
	n := int64(e.ElementCount - len(e.Elements))
	if n == 0 {
		return ""
	}
	return w.T("Not shown: "+w.Number(n)+" more.", "Còn "+w.Number(n)+" mục không hiện ở đây.")
}

func (w words) StateClass(i inbound.Element) string {
	switch {
	case w.NeedsDecision(i):
		return "pending"
	case i.State == inbound.OutcomeRecorded:
		return "active"
	}
	return ""
}

// LinkWords is the text of the link from an element to its transaction.
func (w words) LinkWords(i inbound.Element) string {
	id := strconv.FormatInt(i.TransactionID, 10)
	if i.State == inbound.OutcomeRecorded || i.State == inbound.OutcomeDuplicate || i.State == inbound.OutcomeMayBeRepeat {
		return w.T("transaction "+id, "giao dịch "+id)
	}
	return w.T("transaction recorded under this id", "giao dịch đã ghi nhận với mã này")
}

// FaultText says what is wrong with an element.
func (w words) FaultText(i inbound.Incoming) string {
	if i.Sender != "" { // the page has a button that allows the sender
		sender := app.Isolated(app.CleanText(i.Sender, 50))
		return w.T("The message came from “"+sender+"”, which is not known as a sender name of the bank: it may be a forgery.",
			"Tin đến từ “"+sender+"”, không phải tên người gửi đã biết của ngân hàng: có thể là tin giả mạo.")
	}
	name := app.FieldName(i.Fault.Field).In(w.Lang)
	switch i.Fault.Field {
	case "id":
		name = w.T("The source’s id", "Mã của nguồn")
	case provider.FaultNotJSON, "body":
		name = w.T("The data", "Dữ liệu")
	case provider.FaultElement:
		name = w.T("This item", "Mục này")
	}
	return strings.TrimSpace(name + " " + i.Fault.Text.In(w.Lang))
}

// ElementAmount writes the amount of an element; empty if the element has none.
func (w words) ElementAmount(i inbound.Incoming) string {
	if i.Amount == 0 || i.Type == "" {
		return ""
	}
	return w.Signed(app.Transaction{Type: i.Type, Amount: i.Amount})
}

// linkForm assigns the unassigned items of an event to a bank account.
type linkForm struct {
	Bank, AccountNumber, AccountName, Notify string
}

func (s *Server) pageEvent(v *visit) (eventData, error) { return s.eventData(v, v.pathID()) }

func (s *Server) eventData(v *visit, id int64) (eventData, error) {
	e, err := s.Services.Inbound.ReadInboundEvent(v.Context(), v.account.ID, id)
	return eventData{Event: e, Link: suggestLink(e.Items), Recorded: map[int64]app.Transaction{}}, err
}

// suggestLink fills in the bank, and the account number, on which all unassigned items agree.
func suggestLink(items []inbound.Item) (form linkForm) {
	first := true
	for _, i := range items {
		if i.State != inbound.OutcomeUnassigned {
			continue
		}
		bank, _ := app.FindBank(i.Gateway)
		number := i.AccountNumber
		if i.Masked {
			number = ""
		}
		if first {
			form.Bank, form.AccountNumber, first = bank.Code, number, false
		}
		if form.Bank != bank.Code {
			form.Bank = ""
		}
		if form.AccountNumber != number {
			form.AccountNumber = ""
		}
	}
	return form
}

func (s *Server) showEvent(v *visit, data eventData, wrong error) error {
	for _, i := range data.Items {
		switch i.State {
		case inbound.OutcomeUnassigned:
			data.Unassigned++
		case inbound.OutcomeMayBeRepeat:
			if len(data.Recorded) == mostCompared {
				continue
			}
			t, err := s.Services.Ledger.Transaction(v.Context(), v.account.ID, i.TransactionID)
			if err != nil && app.CodeOf(err) != app.CodeNotFound { // it was removed with its import
				return err
			}
			data.Recorded[t.ID] = t
		}
	}
	return s.render(v, wrong, pageHead{"event", "inbound", app.Textf("Inbound call %d", "Lần nhận #%d", data.ID)}, data)
}

// linkEvent links a bank account, and records the unassigned items of an event on it.
func (s *Server) linkEvent(v *visit, e *eventData) error {
	e.Link = linkForm{Bank: v.PostFormValue("bank"), AccountNumber: strings.TrimSpace(v.PostFormValue("account_number")),
		AccountName: strings.TrimSpace(v.PostFormValue("account_name")), Notify: v.PostFormValue("notify")}
	var bad app.Invalid
	notify := inbound.ReadNotifyOnLink(e.Link.Notify, &bad)
	if err := bad.Err(); err != nil {
		return err
	}
	r, err := s.Services.Inbound.LinkInbound(v.Context(), v.account.ID, inbound.EventLink{
		EventID: e.ID, Bank: e.Link.Bank, AccountNumber: e.Link.AccountNumber, AccountName: e.Link.AccountName, Notify: notify,
	}, v.now)
	if err != nil {
		return err
	}
	flash := app.Textf(
		"Recorded: %d; duplicates: %d; from other waiting calls: %d. Notifications sent to your shop: %d.",
		"Đã ghi nhận %d giao dịch; trùng: %d; từ các lần nhận khác đang chờ: %d. Thông báo cho cửa hàng: %d.", r.Recorded, r.Duplicates,
		r.Waiting, r.Deliveries)
	if r.More {
		flash = app.Text{EN: flash.EN + inbound.RestFollows.EN, VI: flash.VI + inbound.RestFollows.VI}
	}
	return s.redirect(v, eventPath(e.ID), flash)
}

// retryEvent reads the body of an event again.
func (s *Server) retryEvent(v *visit, e *eventData) error {
	return s.processAgain(v, e.ID, app.Text{})
}

// processAgain reads the body of an event again. done says what was done before.
func (s *Server) processAgain(v *visit, event int64, done app.Text) error {
	r, err := s.Services.Inbound.RetryInbound(v.Context(), v.account.ID, event, v.now)
	if err != nil {
		return err
	}
	flash := app.Textf(
		"Reprocessed. Recorded: %d; duplicates: %d; unassigned: %d; in conflict: %d; unreadable: %d.",
		"Đã xử lý lại. Ghi nhận: %d; trùng: %d; tài khoản chưa liên kết: %d; trùng mã nhưng khác thông tin: %d; không đọc được: %d.",
		r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected)
	if r.MayBeRepeats > 0 {
		flash = flash.And(app.Textf("May be repeats: %d.", "Chưa rõ có trùng không: %d.", r.MayBeRepeats))
	}
	if r.Discarded > 0 {
		flash = flash.And(app.Textf("Of these, still discarded: %d.", "Trong đó vẫn bỏ qua: %d.", r.Discarded))
	}
	if done.EN != "" {
		flash = done.And(flash)
	}
	return s.redirect(v, eventPath(event), flash)
}

// settleEvent stores a person's decision about an item that may be a repeat.
func (s *Server) settleEvent(v *visit, e *eventData) error {
	item, _ := wire.ParseID(v.PostFormValue("item_id"))
	transaction, _ := wire.ParseID(v.PostFormValue("transaction_id"))
	repeat := v.PostFormValue("repeat")
	if repeat != "0" && repeat != "1" {
		return app.InvalidField("repeat", "is required", "là bắt buộc")
	}
	r, err := s.Services.Inbound.SettleRepeat(v.Context(), v.account.ID, inbound.RepeatSettle{
		EventID: e.ID, ItemID: item, TransactionID: transaction, Repeat: repeat == "1",
	}, v.now)
	if err != nil {
		return err
	}
	done := app.Textf("It is transaction %d. Nothing was recorded.", "Trùng với giao dịch %d, không ghi nhận thêm.", r.TransactionID)
	switch r.Outcome {
	case inbound.OutcomeMayBeRepeat:
		done = app.Textf("It may be transaction %d instead: please decide again.",
			"Cũng có thể trùng với giao dịch %d: hãy xác nhận tiếp.", r.TransactionID)
	case inbound.OutcomeRecorded:
		done = app.Textf("Recorded as transaction %d. Notifications sent to your shop: %d.",
			"Đã ghi nhận thành giao dịch %d. Thông báo cho cửa hàng: %d.", r.TransactionID, len(r.Webhooks))
	}
	return s.redirect(v, eventPath(e.ID), done)
}

// discardEvent discards one item of an event, or all open ones if the box "sure"
// was ticked.
func (s *Server) discardEvent(v *visit, e *eventData) (err error) {
	var n int
	switch item := v.PostFormValue("item_id"); {
	case item != "":
		id, _ := wire.ParseID(item)
		n, err = s.Services.Inbound.DiscardInboundItem(v.Context(), v.account.ID, e.ID, id)
	case v.PostFormValue("sure") != "1":
		err = app.Conflict("Nothing was discarded. Confirm first that you have reviewed all items.",
			"Chưa bỏ qua mục nào. Hãy đánh dấu xác nhận rằng bạn đã xem hết.")
	default:
		n, err = s.Services.Inbound.DiscardInbound(v.Context(), v.account.ID, e.ID)
	}
	return s.done(v, err, eventPath(e.ID),
		app.Textf("Items discarded: %d. No transactions were recorded.", "Đã bỏ qua %d mục, không ghi nhận giao dịch nào.", n))
}

// shownBody is how many bytes of a body a page shows.
const shownBody = 64 << 10

// Raw writes a body as text, at most its first shownBody bytes.
func (w words) Raw(body []byte) string { return visible(body[:min(len(body), shownBody)]) }

// Cut reports whether the body is longer than Raw shows.
func (w words) Cut(body []byte) bool { return len(body) > shownBody }

type refusedData struct {
	filters
	Calls   []inbound.RefusedCall
	Sources []inbound.Source
}

// refusedPage lists the calls that were refused.
func (s *Server) refusedPage(v *visit) (err error) {
	var data refusedData
	if data.Sources, err = s.Services.Inbound.Sources(v.Context(), v.account.ID); err != nil {
		return err
	}
	data.filters = v.filtersOf("/inbound/refused", refusedFilters,
		func(name, value string) string { return v.eventWord(name, value, data.Sources) })
	source := data.Form.Get("source_id")
	id, found := wire.ParseID(source)
	if !found && source != "" {
		id = -1 // no source has this id
	}
	data.Calls, err = s.Services.Inbound.RefusedCalls(v.Context(), v.account.ID, id, inbound.KeptRefusedCalls)
	return s.render(v, err, pageHead{"refused", "inbound", app.Text{EN: "Refused calls", VI: "Lần gọi bị từ chối"}}, data)
}
