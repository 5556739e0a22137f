package courier

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

const (
	readBody    = 64 << 10            // bytes of an answer: a receiver that is cut off while it answers may undo what it did
	keptBody    = delivery.KeptAnswer // bytes of it, for the history
	bodyTimeout = 1 * time.Second     // for reading it
)

// Grace is how long attempts in flight may continue after a stop: a little longer than
// the longest attempt.
const Grace = delivery.AttemptTimeout + bodyTimeout + time.Second

// Sender makes attempts: one signed POST each, over a connection that serves no
// other receiver (see [receiver]).
type Sender struct {
	transport http.RoundTripper // not a client, which would follow redirects: a POST becomes an empty GET
	userAgent string
	Limit     time.Duration // of an attempt, until the headers of its answer: delivery.AttemptTimeout
}

// NewSender makes a sender that connects where policy allows. A transport
// that isn't nil stands in for the network.
func NewSender(policy *target.Policy, version string, transport http.RoundTripper) *Sender {
	if transport == nil {
		transport = NewNetwork(policy, nil, nil)
	}
	return &Sender{transport: transport, userAgent: delivery.UserAgent(version), Limit: delivery.AttemptTimeout}
}

// Send makes one attempt. It always returns a result; ctx ends it early.
func (s *Sender) Send(ctx context.Context, o delivery.Outgoing) delivery.Result {
	result := delivery.Result{StartedAt: time.Now()}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	expired := time.AfterFunc(s.Limit, cancel)
	defer expired.Stop()

	var timing phaseClock
	traced := httptrace.WithClientTrace(ctx, timing.trace())
	response, err := s.post(traced, o, result.StartedAt)
	result.Phases = timing.phases() // before Duration, so that they aren't longer
	result.Duration = time.Since(result.StartedAt)
	late := !expired.Stop() // the headers came in the very moment of the timeout
	var answer []byte
	if err == nil {
		defer response.Body.Close()
		result.StatusCode = response.StatusCode
		wait := bodyTimeout
		if o.Kind == delivery.WebhookSepay { // the body says whether the shop took the delivery
			wait = max(wait, s.Limit-result.Duration)
		}
		stop := time.AfterFunc(wait, cancel)
		answer = readSome(response.Body, o.Kind)
		late = !stop.Stop() && o.Kind == delivery.WebhookSepay || late
		result.Body = answer[:min(len(answer), keptBody)]
	}
	switch {
	case late, err != nil && result.Duration >= s.Limit:
		result.Error, result.Detail = delivery.ErrorTimeout, delivery.Detail{Cause: timing.reached()}
	case err != nil:
		result.Error, result.Detail = Classify(err, timing.reached())
	default:
		result.Error, result.Detail.Cause = o.Kind.Verdict(response.StatusCode, response.Header.Get("Location"), answer)
		if result.Error == delivery.ErrorRedirect {
			result.Detail.Text = redirectTo(response)
		}
	}
	if err == nil {
		if body, ours := response.Body.(*answerBody); ours && !result.OK() {
			body.keep = nil
		}
	}
	return result
}

func (s *Sender) post(ctx context.Context, o delivery.Outgoing, now time.Time) (*http.Response, error) {
	rendered := o.Request(s.userAgent, now)
	request, err := http.NewRequestWithContext(withReceiver(ctx, o), http.MethodPost, rendered.URL, bytes.NewReader(rendered.Body))
	if err != nil {
		return nil, err
	}
	for _, h := range rendered.Headers {
		request.Header.Set(h.Name, h.Value)
	}
	response, err := s.transport.RoundTrip(request)
	if panicked, found := errors.AsType[*app.PanicError](err); found {
		panic(panicked) // here, where a panic is this attempt's
	}
	return response, err
}

// redirectTo is the address that an answer leads to, in full where it can be.
func redirectTo(response *http.Response) string {
	if to, err := response.Location(); err == nil {
		return clipText(to.String())
	}
	return clipText(response.Header.Get("Location"))
}

// readSome reads at most readBody bytes of an answer and returns the beginning, or all of it
// where it says whether the shop took the delivery. An error of the body never changes the verdict.
func readSome(body io.Reader, kind delivery.WebhookKind) []byte {
	if kind == delivery.WebhookSepay {
		answer, _ := io.ReadAll(io.LimitReader(body, readBody))
		return answer
	}
	kept := keptBodies.Get().(*[keptBody]byte)
	defer keptBodies.Put(kept)
	n, err := io.ReadFull(body, kept[:])
	if err == nil {
		_, _ = io.CopyN(io.Discard, body, readBody-keptBody)
	}
	return bytes.Clone(kept[:n])
}

// keptBodies are buffers to read into: an answer is mostly much shorter.
var keptBodies = sync.Pool{New: func() any { return new([keptBody]byte) }}
