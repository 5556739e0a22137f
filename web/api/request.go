package api

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/exactjson"
	"baoco/web/wire"
)

// Request is one authenticated request of the management API.
type Request struct {
	*http.Request
	writer   http.ResponseWriter
	endpoint string // the route's method and path
	key      access.APIKey
	body     exactjson.Value // null: none was sent
	raw      []byte
	now      time.Time
}

func (q *Request) account() int64 { return q.key.AccountID }

// management makes the handler of a route: authentication, limit, scope, body and the route's
// handler, in this order.
func (s *Server) management(rt route) http.HandlerFunc {
	limit := s.perClass[rt.limit]
	name := rt.method + " " + rt.path
	return func(w http.ResponseWriter, r *http.Request) {
		q := &Request{Request: r, writer: w, endpoint: name, now: time.Now()}
		var err error
		if q.key, err = s.authenticate(r, q.now); err != nil {
			status, body := s.AuthErrorBody(w, r, err, q.now)
			wire.WriteJSON(w, status, body)
			return
		}
		q.Request = r.WithContext(app.ActingAs(r.Context(),
			app.Actor{Way: app.WayAPI, ID: q.key.ID, Name: q.key.Name, Address: s.ClientAddr(r).String(), At: q.now}))
		remaining, wait, allowed := s.limits.Take(keyRoute{q.key.ID, name}, wire.Pace{Burst: limit, PerMinute: limit}, q.now)
		if !allowed {
			status, body := wire.RateLimited(w, r, limit, wait)
			wire.WriteJSON(w, status, body)
			return
		}
		w.Header().Set("X-RateLimit-Limit", strconv.Itoa(limit))
		w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
		switch scope := q.key.Scope; {
		case scope == access.ScopeFull || rt.access == listens:
		case scope == access.ScopeListen:
			err = app.Refused(app.CodeForbidden, app.Text{EN: "This API key may only follow the transactions (" + eventStreamPath + ").",
				VI: "Khoá API này chỉ được nhận giao dịch (" + eventStreamPath + ")."})
		case rt.access == writes:
			err = app.Refused(app.CodeForbidden, app.Text{EN: "This API key may only read.", VI: "Khoá API này chỉ có quyền đọc."})
		}
		if err == nil {
			err = q.readBody(rt.body)
		}
		if err == nil {
			err = rt.handle(s, q)
		}
		if err != nil {
			s.WriteError(w, r, err)
		}
	}
}

func (s *Server) authenticate(r *http.Request, now time.Time) (access.APIKey, error) {
	ctx, cancel := context.WithTimeout(r.Context(), wire.RequestTimeout)
	defer cancel()
	return s.service.Access.Authenticate(ctx, wire.Bearer(r.Header), now)
}

// readBody reads the JSON of a request, and refuses in the order 413, 415, 400. The handler
// checks the kind of value.
func (q *Request) readBody(rule bodyRule) error {
	if rule == noBody {
		return nil
	}
	raw, err := io.ReadAll(q.Body)
	if err != nil {
		return wire.BodyError(err)
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
		return app.Refused(app.CodeInvalidJSON,
			app.Text{EN: "The request body is not valid JSON.", VI: "Nội dung yêu cầu không phải JSON hợp lệ."})
	}
	return nil
}

func checkMediaType(h http.Header) error {
	media, _, err := mime.ParseMediaType(cmp.Or(h.Get("Content-Type"), "application/json"))
	if err != nil || media != "application/json" || cmp.Or(h.Get("Content-Encoding"), "identity") != "identity" {
		return app.Refused(app.CodeUnsupportedMedia, app.Text{EN: "The request body must be plain application/json.",
			VI: "Nội dung yêu cầu phải là application/json, không nén."})
	}
	return nil
}

// idempotencyKey is the Idempotency-Key of a request. It counts for one API key and one
// endpoint. The digest of the body is keyed with the API key, since a body may hold a
// secret that nobody may guess from the digest.
func (q *Request) idempotencyKey() (app.IdempotencyKey, error) {
	key := q.Header.Get("Idempotency-Key")
	if key == "" {
		return app.IdempotencyKey{}, nil
	}
	if len(key) > 255 || strings.IndexFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return app.IdempotencyKey{}, app.InvalidField("Idempotency-Key",
			"must be at most 255 printable ASCII characters", "phải có tối đa 255 ký tự ASCII in được")
	}
	digest := hmac.New(sha256.New, []byte(wire.Bearer(q.Header)))
	digest.Write(q.raw)
	return app.IdempotencyKey{
		Key: strconv.FormatInt(q.key.ID, 10) + " " + q.endpoint + " " + key, Operation: q.Method + " " + q.URL.Path,
		Hash: [sha256.Size]byte(digest.Sum(nil)),
	}, nil
}

// found returns the thing that the path names, and the fields of the body. It refuses an
// unknown id before wrong fields.
func found[T any](
	q *Request, read func(ctx context.Context, account, id int64) (T, error), known ...string,
) (thing T, f *fields, err error) {
	if thing, err = read(q.Context(), q.account(), q.pathID()); err != nil {
		return thing, nil, err
	}
	f, err = q.fields(known...)
	return thing, f, err
}

// pathID is the id in the path; noID if the path has no canonical decimal id.
func (q *Request) pathID() int64 {
	if id, found := wire.ParseID(q.PathValue("id")); found {
		return id
	}
	return noID
}

// noID is an id that nothing has. It isn't 0, which means no condition in filters.
const noID = -1
