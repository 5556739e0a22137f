package scheduler

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"baoco/app"
)

const (
	readBody    = 64 << 10        // of an answer, so that its connection can be used again
	keptBody    = 4 << 10         // of it, for the history
	bodyTimeout = 1 * time.Second // for reading it
)

// Sender makes attempts: one signed POST each.
type Sender struct {
	client    *http.Client
	userAgent string
}

// NewSender makes a sender that connects where policy allows. A transport
// that isn't nil stands in for the network.
func NewSender(policy *app.TargetPolicy, version string, transport http.RoundTripper) *Sender {
	if transport == nil {
		transport = &http.Transport{
			Proxy:                  nil, // an environment variable must not redirect money notices
			DialContext:            guardedDialer(policy).DialContext,
			TLSHandshakeTimeout:    app.AttemptTimeout,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only
			DisableCompression:     true,
			MaxIdleConns:           1024,
			MaxIdleConnsPerHost:    slotsPerWebhook,
			IdleConnTimeout:        4 * time.Second, // common servers close idle connections after 5
			MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return &Sender{
		client: &http.Client{
			Transport: transport,
			// Go would repeat a redirected POST as an empty GET.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		userAgent: "baoco/" + version,
	}
}

// Send makes one attempt. It always gives a result; ctx ends it early.
func (s *Sender) Send(ctx context.Context, o app.Outgoing) app.Result {
	result := app.Result{StartedAt: time.Now()}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	expired := time.AfterFunc(app.AttemptTimeout, cancel)
	defer expired.Stop()

	var timing phaseClock
	response, err := s.post(httptrace.WithClientTrace(ctx, timing.trace()), o, result.StartedAt)
	result.Duration = time.Since(result.StartedAt)
	result.Phases = timing.phases()
	late := !expired.Stop() // the headers came in the very moment of the timeout
	if err == nil {
		defer response.Body.Close()
		result.StatusCode = response.StatusCode
	}
	switch {
	case err != nil && (late || result.Duration >= app.AttemptTimeout):
		result.Error, result.Detail = app.ErrorTimeout, timing.waitedFor()
	case err != nil:
		result.Error, result.Detail = classify(err)
	case late:
		result.Error, result.Detail = app.ErrorTimeout, timing.waitedFor()
	case response.StatusCode >= 300 && response.StatusCode < 400:
		result.Error, result.Detail = app.ErrorRedirect, clipText(response.Header.Get("Location"))
	case response.StatusCode != http.StatusOK:
		result.Error = app.ErrorHTTPStatus
	}
	if err == nil {
		stop := time.AfterFunc(bodyTimeout, cancel)
		result.Body = readSome(response.Body)
		stop.Stop()
	}
	return result
}

func (s *Sender) post(ctx context.Context, o app.Outgoing, now time.Time) (*http.Response, error) {
	secret, all := o.Secrets.At(now)
	body := o.Payload.Body(secret)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	id := o.MessageID()
	signatures := make([]string, len(all))
	for i, secret := range all {
		signatures[i] = app.StandardSignature(secret, id, now, body)
	}
	h := request.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", s.userAgent)
	h.Set("X-Webhook-Signature", app.Signature(secret, body))
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("Webhook-Signature", strings.Join(signatures, " "))
	return s.client.Do(request)
}

// readSome drains an answer within bounds and keeps its beginning. How the
// body ends never changes the verdict.
func readSome(body io.Reader) []byte {
	kept := make([]byte, keptBody)
	n, err := io.ReadFull(body, kept)
	if err == nil {
		_, _ = io.CopyN(io.Discard, body, readBody-keptBody)
	}
	return bytes.Clone(kept[:n])
}

// classify names the class of an error by its type, and says it in a sentence
// without the URL, which may hold a secret of the shop's.
func classify(err error) (app.ErrorClass, string) {
	var (
		blocked   *app.BlockedAddressError
		dns       *net.DNSError
		badCert   *tls.CertificateVerificationError
		alert     tls.AlertError
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		operation *net.OpError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &blocked):
		return app.ErrorBlocked, blocked.Error()
	case errors.As(err, &dns):
		if dns.IsTimeout {
			return app.ErrorTimeout, "dns"
		}
		return app.ErrorDNS, dns.Err
	case errors.As(err, &badCert):
		return app.ErrorTLS, badCert.Err.Error()
	case errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &invalid), errors.As(err, &alert), errors.As(err, &record),
		errors.Is(err, http.ErrSchemeMismatch):
		return app.ErrorTLS, unwrapURL(err)
	case errors.As(err, &operation) && (operation.Op == "remote error" || operation.Op == "local error"):
		return app.ErrorTLS, operation.Err.Error() // an alert of crypto/tls
	case errors.Is(err, syscall.ECONNREFUSED):
		return app.ErrorRefused, ""
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return app.ErrorReset, ""
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return app.ErrorTimeout, ""
	case errors.As(err, &operation):
		return app.ErrorConnection, operation.Err.Error()
	}
	return app.ErrorProtocol, unwrapURL(err)
}

// unwrapURL is the text of err without the method and URL in front.
func unwrapURL(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		if _, ok := err.(interface{ Timeout() bool }); !ok {
			break
		}
		err = inner
	}
	return clipText(err.Error())
}

// clipText makes what a receiver sent fit for the history.
func clipText(s string) string { return app.CleanText(s, 300) }

// phaseClock takes the times of an attempt's phases. The transport calls it
// from goroutines that may outlive the attempt.
type phaseClock struct {
	mu                                                  sync.Mutex
	dnsStart, connectStart, tlsStart, wrote             time.Time
	dns, connect, tls, wait                             time.Duration
	dnsPending, connectPending, tlsPending, waitPending bool
}

func (c *phaseClock) at(fn func(now time.Time)) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	fn(now)
}

func (c *phaseClock) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) {
			c.at(func(now time.Time) { c.dnsStart, c.dnsPending = now, true })
		},
		DNSDone: func(httptrace.DNSDoneInfo) {
			c.at(func(now time.Time) { c.dns, c.dnsPending = now.Sub(c.dnsStart), false })
		},
		ConnectStart: func(_, _ string) {
			c.at(func(now time.Time) {
				if c.connectStart.IsZero() {
					c.connectStart = now
				}
				c.connectPending = true
			})
		},
		ConnectDone: func(_, _ string, err error) {
			c.at(func(now time.Time) { c.connect, c.connectPending = now.Sub(c.connectStart), err != nil })
		},
		TLSHandshakeStart: func() {
			c.at(func(now time.Time) { c.tlsStart, c.tlsPending = now, true })
		},
		TLSHandshakeDone: func(tls.ConnectionState, error) {
			c.at(func(now time.Time) { c.tls, c.tlsPending = now.Sub(c.tlsStart), false })
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			c.at(func(now time.Time) { c.wrote, c.waitPending = now, true })
		},
		GotFirstResponseByte: func() {
			c.at(func(now time.Time) {
				if !c.wrote.IsZero() {
					c.wait = now.Sub(c.wrote)
				}
			})
		},
	}
}

// phases gives what each phase took, one that didn't end until now.
func (c *phaseClock) phases() (p app.Phases) {
	c.at(func(now time.Time) {
		p = app.Phases{DNS: c.dns, Connect: c.connect, TLS: c.tls, Wait: c.wait}
		switch {
		case c.dnsPending:
			p.DNS = now.Sub(c.dnsStart)
		case c.connectPending:
			p.Connect = now.Sub(c.connectStart)
		case c.tlsPending:
			p.TLS = now.Sub(c.tlsStart)
		case c.waitPending && c.wait == 0:
			p.Wait = now.Sub(c.wrote)
		}
	})
	return p
}

// waitedFor names the phase that a timeout fell into.
func (c *phaseClock) waitedFor() (phase string) {
	c.at(func(time.Time) {
		switch {
		case c.dnsPending:
			phase = "dns"
		case c.connectPending:
			phase = "connect"
		case c.tlsPending:
			phase = "tls"
		default:
			phase = "response"
		}
	})
	return phase
}
