package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/web/wire"
)

// HistoryJSON is the schema HistoryRecord of openapi.yaml.
type HistoryJSON struct {
	ID            int64                `json:"id"`
	WebhookID     int64                `json:"webhook_id"`
	Endpoint      string               `json:"endpoint"`
	StatusCode    int                  `json:"status_code"`
	Status        int                  `json:"status"` // 1 success, 0 error
	CallTime      string               `json:"call_time"`
	Bank          string               `json:"bank"`
	Type          app.Direction        `json:"type"`
	Account       string               `json:"account"`
	TransactionID string               `json:"transaction_id"`
	Description   string               `json:"description"`
	Amount        int64                `json:"amount"`
	Date          string               `json:"date"`
	DeliveryID    string               `json:"delivery_id"`
	MessageID     string               `json:"message_id"` // the header webhook-id
	Attempt       int                  `json:"attempt"`
	DurationMS    int64                `json:"duration_ms"`
	Error         *delivery.ErrorClass `json:"error"`
	ErrorDetail   *string              `json:"error_detail"`
	Explanation   *string              `json:"error_explanation"` // in the reader's language
	ResponseBody  string               `json:"response_body"`
	NextAttemptAt *string              `json:"next_attempt_at"`
	ResendOf      *int64               `json:"resend_of"`
}

// EncodeAttempt writes a with its times in zone, for a reader of lang.
func EncodeAttempt(a delivery.Attempt, zone *time.Location, lang app.Lang) HistoryJSON {
	h := HistoryJSON{
		ID: a.ID, WebhookID: a.Delivery.WebhookID, Endpoint: a.URL, StatusCode: a.Result.StatusCode,
		CallTime: app.FormatTime(a.Result.StartedAt, zone), Bank: a.Payload.Gateway, Type: a.Payload.TransferType,
		Account: a.Payload.AccountNumber, TransactionID: a.Payload.ID, Description: a.Payload.Content,
		Amount: a.Payload.TransferAmount, Date: a.Payload.TransactionDate, DeliveryID: strconv.FormatInt(a.Delivery.ID, 10),
		MessageID: a.Delivery.MessageID(),
		Attempt:   a.Number, DurationMS: a.Result.Duration.Milliseconds(), ResponseBody: app.CleanText(string(a.Result.Body), 1<<20),
		NextAttemptAt: TimeOrNull(a.NextAttemptAt, zone), ResendOf: OrNull(a.Delivery.ResendOf),
	}
	if a.Result.OK() {
		h.Status = 1
	} else {
		h.Error = &a.Result.Error
		h.Explanation = new(a.Result.Explanation().In(lang))
	}
	if detail := a.Result.Detail.String(); detail != "" {
		h.ErrorDetail = new(app.CleanText(detail, 500))
	}
	return h
}

type pagination struct {
	CurrentPage int64 `json:"current_page"`
	PerPage     int   `json:"per_page"`
	Total       int64 `json:"total"`
	LastPage    int64 `json:"last_page"`
}

func paginate(p app.Page, total int64) pagination {
	return pagination{p.Number, p.Size, total, p.LastPage(total)}
}

// listPage reads the page of a short list: the zero value, which is the whole list, if neither
// page nor per_page is given.
func listPage(q *Request) (app.Page, error) {
	p := wire.ParamsOf(q.Request, nil)
	page := p.ListPage(app.MaxPageSize)
	return page, p.Bad.Err()
}

// listed answers with a page of a list, which it reads as a whole.
func listed[T, J any](
	q *Request, read func(ctx context.Context, account int64) ([]T, error), encode func(T) J, key string, message app.Text,
) error {
	page, err := listPage(q)
	if err != nil {
		return err
	}
	list, err := read(q.Context(), q.account())
	list, pages := paged(list, page)
	return q.ok(err, message.EN, message.VI, member{key, All(list, encode)}, member{"pagination", pages})
}

func paged[T any](list []T, page app.Page) ([]T, pagination) {
	total := int64(len(list))
	if page.Size == 0 {
		page = app.Page{Number: 1, Size: max(len(list), 1)}
	}
	first := min(page.Offset(), total)
	return list[first:min(first+int64(page.Size), total)], paginate(page, total)
}

func (s *Server) history(q *Request) error {
	p := wire.ParamsOf(q.Request, s.zone)
	f := p.HistoryFilter()
	f.Page = p.Page()
	if err := p.Bad.Err(); err != nil {
		return err
	}
	list, total, err := s.service.Deliveries.History(q.Context(), q.account(), f)
	encoded := All(list, func(a delivery.Attempt) HistoryJSON { return EncodeAttempt(a, s.zone, wire.Lang(q.Request)) })
	return q.ok(err, "History of the webhooks.", "Lịch sử gửi webhook.", member{"history", encoded},
		member{"pagination", paginate(f.Page, total)})
}

func (s *Server) showHistory(q *Request) error {
	a, err := s.service.Deliveries.HistoryRecord(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The history record.", "Bản ghi lịch sử.",
		member{"history_record", EncodeAttempt(a, s.zone, wire.Lang(q.Request))})
}

func (s *Server) resend(q *Request) error {
	id := q.pathID()
	key, err := q.idempotencyKey()
	if err != nil {
		if _, unknown := s.service.Deliveries.HistoryRecord(q.Context(), q.account(), id); unknown != nil {
			return unknown
		}
		return err
	}
	d, err := s.service.Deliveries.Resend(q.Context(), q.account(), id, key, q.now)
	return q.answer(err, http.StatusAccepted, "The transaction was resent.", "Đã gửi lại giao dịch.",
		member{"delivery_id", strconv.FormatInt(d.ID, 10)})
}

func (s *Server) sendNow(q *Request) error {
	id, found := delivery.ParseID(q.PathValue("id"))
	if !found {
		return delivery.ErrNoDelivery
	}
	err := s.service.Deliveries.SendNow(q.Context(), q.account(), id, app.IdempotencyKey{}, q.now)
	return q.answer(err, http.StatusAccepted, "The delivery is sent now.", "Đang gửi ngay thông báo này.",
		member{"delivery_id", strconv.FormatInt(id, 10)})
}

// replay resends every failed delivery of a webhook, or those that were created from one time
// to another.
func (s *Server) replay(q *Request) error {
	hook, f, err := found(q, s.service.Deliveries.Webhook, "from", "to")
	if err != nil {
		return err
	}
	bound := func(name string, upper bool) time.Time {
		text := f.optional(name)
		if text == nil {
			return time.Time{}
		}
		t, err := app.ParseBound(*text, upper, s.zone)
		if err != nil {
			f.bad.Add(name, "must be a date as Y-m-d or Y-m-d H:i:s", "phải là ngày dạng Y-m-d hoặc Y-m-d H:i:s")
		}
		return t
	}
	from, to := bound("from", false), bound("to", true)
	key, err := q.idempotencyKey()
	f.bad.Merge(err)
	if err := f.bad.Err(); err != nil {
		return err
	}
	n, err := s.service.Deliveries.Replay(q.Context(), q.account(), delivery.ReplayCreate{
		WebhookID: hook.ID, From: from, To: to, Key: key,
	}, q.now)
	text := app.Textf("Failed deliveries that are being resent: %d.", "Số giao dịch gửi thất bại đang được gửi lại: %d.", n)
	return q.answer(err, http.StatusAccepted, text.EN, text.VI, member{"deliveries", n})
}

func (s *Server) testWebhook(q *Request) error {
	a, err := s.service.Deliveries.TestWebhook(q.Context(), q.account(), q.pathID(), q.now)
	message := app.Text{EN: "The receiver accepted the test.", VI: "Máy chủ nhận đã chấp nhận yêu cầu thử."}
	if !a.Result.OK() {
		message = app.Text{EN: "The test was sent, but the receiver did not accept it.",
			VI: "Đã gửi yêu cầu thử nhưng máy chủ nhận không chấp nhận."}
	}
	return q.ok(err, message.EN, message.VI,
		member{"success", a.Result.OK()}, member{"result", EncodeAttempt(a, s.zone, wire.Lang(q.Request))})
}
