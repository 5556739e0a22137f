package wire

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// keyRequestID is where a request's context holds its id.
type keyRequestID struct{}

// WithRequestID is r with an id.
func WithRequestID(r *http.Request, id string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), keyRequestID{}, id))
}

// RequestID is the id of a request.
func RequestID(r *http.Request) string {
	id, _ := r.Context().Value(keyRequestID{}).(string)
	return id
}

// RouteOf names the request for the log, without ids, tokens or query.
func RouteOf(r *http.Request) string {
	if r.Pattern == "" {
		return "-"
	}
	return r.Pattern
}

// Bearer is the token of the one Authorization header; "" where there is none
// or more than one.
func Bearer(h http.Header) string {
	values := h["Authorization"]
	if len(values) != 1 {
		return ""
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// BodyError is the refusal for a body whose reading failed with err.
func BodyError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return app.Refused(app.CodePayloadTooLarge, app.Textf(
			"The request body is larger than %d bytes.", "Nội dung yêu cầu lớn hơn %d byte.", tooLarge.Limit))
	}
	return app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body could not be read.", VI: "Không đọc được nội dung yêu cầu."})
}

// ParseID reads an id in its canonical decimal form; 0, which names nothing, and
// false for any other text.
func ParseID(s string) (int64, bool) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != s {
		return 0, false
	}
	return id, true
}

// ErrNothingHere is the error for an address that no route is for.
func ErrNothingHere() error {
	return app.NotFound("There is nothing at this address.", "Không có gì ở địa chỉ này.")
}

// RequestTimeout is how long a request may wait for the storage. The time that
// its body takes to arrive doesn't count.
const RequestTimeout = 10 * time.Second

// Route is a line of a house's table.
type Route struct {
	Method  string
	Path    string // a pattern of http.ServeMux
	MaxBody int64  // bytes of the body that can be read
	Stream  bool   // the answer lasts, so that RequestTimeout doesn't hold
	Handler http.HandlerFunc
}
