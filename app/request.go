package app

import (
	"strconv"
	"strings"
	"time"
)

// Header is one header of a request.
type Header struct{ Name, Value string }

// Request is one call of a delivery: a POST with what follows from the
// delivery itself. The connection adds Host and Content-Length.
type Request struct {
	URL     string
	Headers []Header
	Body    []byte
}

// UserAgent is how a version of baoco calls itself.
func UserAgent(version string) string { return "baoco/" + version }

// Request renders the attempt that begins at now. What is sent and what is
// shown of it are both made here: under the same secrets, the same bytes.
func (o Outgoing) Request(userAgent string, now time.Time) Request {
	secret, all := o.Secrets.At(now)
	body := o.Payload.Body(secret)
	id := o.MessageID()
	signatures := make([]string, len(all))
	for i, secret := range all {
		signatures[i] = StandardSignature(secret, id, now, body)
	}
	return Request{URL: o.URL, Body: body, Headers: []Header{
		{"Content-Type", "application/json"},
		{"User-Agent", userAgent},
		{"X-Webhook-Signature", Signature(secret, body)},
		{"Webhook-Id", id},
		{"Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10)},
		{"Webhook-Signature", strings.Join(signatures, " ")},
	}}
}
