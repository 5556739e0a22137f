package wire

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

type keyArrival struct{}

// arrival is what is read from a request once, before a house gets it.
type arrival struct {
	id     string
	secure bool // its client sent it over HTTPS
	named  bool // a trusted proxy said which host it was sent to
}

func arrivalOf(r *http.Request) arrival {
	a, _ := r.Context().Value(keyArrival{}).(arrival)
	return a
}

// Arrived returns r with an id, as its client sent it: behind a trusted proxy, Host is
// the host that the client asked the proxy for.
func (s *Responder) Arrived(r *http.Request, id string) *http.Request {
	peer, _ := ParseClient(r.RemoteAddr)
	proxied := s.isProxy(peer)
	a := arrival{id: id, secure: r.TLS != nil || s.SecureHost != "" && (proxied || !s.cameDirectly(r))}
	host := r.Host
	if proxied {
		switch strings.ToLower(lastHop(r.Header, "X-Forwarded-Proto")) {
		case "https":
			a.secure = true
		case "http":
			a.secure = false
		}
		if named := lastHop(r.Header, "X-Forwarded-Host"); hostForm().MatchString(named) {
			host, a.named = named, true
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), keyArrival{}, a))
	r.Host = host
	return r
}

// cameDirectly reports whether a browser sent a request to this server itself, without
// TLS, although clients should use HTTPS at SecureHost. The other case is a proxy that
// isn't trusted: it keeps the host or adds a header, or the request has Sec-Fetch-Site,
// which browsers send over HTTPS or to their own machine only.
func (s *Responder) cameDirectly(r *http.Request) bool {
	passedOn := func(name string) bool { return r.Header.Get(name) != "" }
	return !s.AtSecureHost(r) &&
		!slices.ContainsFunc([]string{"Sec-Fetch-Site", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via"}, passedOn)
}

// AtSecureHost reports whether a request was sent to SecureHost.
func (s *Responder) AtSecureHost(r *http.Request) bool {
	return strings.EqualFold(r.Host, s.SecureHost)
}

// RequestID is the id of a request.
func RequestID(r *http.Request) string { return arrivalOf(r).id }

// Secure reports whether the client sent a request over HTTPS, to this server or to a
// trusted proxy.
func Secure(r *http.Request) bool { return arrivalOf(r).secure }

// Named reports whether a trusted proxy said which host a request was sent to. The host
// in the client's own request may be a name that a stranger has pointed here.
func Named(r *http.Request) bool { return arrivalOf(r).named }

// Origin is the scheme and the host that a request was sent to.
func Origin(r *http.Request) string {
	if Secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// RouteOf names the request for the log, without ids, tokens or query.
func RouteOf(r *http.Request) string {
	_, path, found := strings.Cut(r.Pattern, " ")
	if !found { // none of the routes
		path = cmp.Or(r.Pattern, "-")
	}
	return path
}

// Bearer is the token of the Authorization header; "" if there isn't exactly one.
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
	if tooLarge, found := errors.AsType[*http.MaxBytesError](err); found {
		return app.Refused(app.CodePayloadTooLarge, app.Textf(
			"The request body is larger than %d bytes.", "Nội dung yêu cầu lớn hơn %d byte.", tooLarge.Limit))
	}
	return app.Refused(app.CodeInvalidJSON, app.Text{EN: "The request body could not be read.", VI: "Không đọc được nội dung yêu cầu."})
}

// ParseID reads an id in its canonical decimal form. For any other text it returns 0,
// which is the id of nothing, and false.
func ParseID(s string) (int64, bool) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != s {
		return 0, false
	}
	return id, true
}

// ErrNothingHere is the error for an address that no route has.
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
	Lasts   bool   // the answer lasts, so RequestTimeout doesn't apply
	Handler http.HandlerFunc
}
