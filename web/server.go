package web

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

// query is one authenticated request of the management API.
type query struct {
	*http.Request
	key  app.APIKey
	body exactjson.Value // null where none was sent
	raw  []byte
	now  time.Time
}

func (q *query) account() int64 { return q.key.AccountID }

// management wraps a route of the management API: authentication, limit,
// scope, body, handler, in this order.
func (s *apiServer) management(rt route) http.HandlerFunc {
	limit := s.perClass[rt.limit]
	name := rt.method + " " + rt.path
	return func(w http.ResponseWriter, r *http.Request) {
		q := &query{Request: r, now: time.Now()}
		var err error
		if q.key, err = s.service.Authenticate(r.Context(), bearer(r.Header), q.now); err != nil {
			status, body := s.refused(w, r, err, q.now)
			writeJSON(w, status, body)
			return
		}
		remaining, wait, allowed := s.limits.take(keyRoute{q.key.ID, name}, pace{burst: limit, perMinute: limit}, q.now)
		if !allowed {
			status, body := rateLimited(w, r, limit, wait)
			writeJSON(w, status, body)
			return
		}
		w.Header().Set("X-RateLimit-Limit", strconv.Itoa(limit))
		w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
		if rt.writes && q.key.Scope != app.ScopeFull {
			err = app.Refused(app.CodeForbidden, app.Text{EN: "This API key may only read.", VI: "Khoá API này chỉ có quyền đọc."})
		}
		if err == nil {
			err = q.readBody(rt.body)
		}
		if err == nil {
			err = rt.handle(s, w, q)
		}
		if err != nil {
			s.writeError(w, r, err)
		}
	}
}

// readBody reads the JSON of a request, refusing in the order 413, 415, 400.
// What kind of value it is, the handler looks at.
func (q *query) readBody(rule bodyRule) error {
	if rule == noBody {
		return nil
	}
	raw, err := io.ReadAll(q.Body)
	if err != nil {
		return bodyError(err)
	}
	if exactjson.Count(raw) > maxManagementValues {
		return app.Refused(app.CodePayloadTooLarge, app.Textf(
			"The request body has more than %d values.", "Nội dung yêu cầu có hơn %d giá trị.", maxManagementValues))
	}
	q.raw = raw
	if len(raw) == 0 && rule == mayHaveBody {
		return nil
	}
	if err := checkMediaType(q.Header); err != nil {
		return err
	}
	if q.body, err = exactjson.Parse(raw); err != nil {
		return app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body is not valid JSON.", VI: "Nội dung yêu cầu không phải JSON hợp lệ."})
	}
	return nil
}

func checkMediaType(h http.Header) error {
	encoding := h.Get("Content-Encoding")
	contentType := h.Get("Content-Type")
	if contentType != "" {
		media, _, err := mime.ParseMediaType(contentType)
		if err != nil || media != "application/json" {
			encoding = "other"
		}
	}
	if encoding != "" && encoding != "identity" {
		return app.Refused(app.CodeUnsupportedMedia, app.Text{
			EN: "The request body must be plain application/json.",
			VI: "Nội dung yêu cầu phải là application/json, không nén.",
		})
	}
	return nil
}

// pathID is the id in the path; anything but its canonical decimal form names
// nothing.
func (q *query) pathID() (int64, bool) {
	return parseID(q.PathValue("id"))
}
