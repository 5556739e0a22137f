package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
)

type deliveryData struct {
	delivery.Details
	Steps []deliveryStep // oldest first
	Curl  string         // the request, signed now, as a command; empty: it can't be signed
}

// Last is the last attempt; nil if none was made.
func (d deliveryData) Last() *deliveryStep {
	if len(d.Steps) == 0 {
		return nil
	}
	return &d.Steps[len(d.Steps)-1]
}

// Paused reports whether the delivery waits for its webhook to be enabled.
func (d deliveryData) Paused() bool { return d.State == app.DeliveryPending && !d.Webhook.IsActive }

// deliveryStep is one attempt on the page.
type deliveryStep struct {
	delivery.AttemptDetails
	Waited      time.Duration // since the attempt before ended; 0 for the first
	Open        bool
	Explanation string
	Headers     []delivery.Header
	Pretty, Raw string // the body that was sent
	Answer      string // the body that came back
	Cut         bool   // Answer is only its beginning
	Bar         []phase
}

func (v view) Attempt(step deliveryStep) partView[deliveryStep] {
	return partView[deliveryStep]{v, step}
}

// phase is one part of an attempt's time, and its place in a bar of 1,000 units.
type phase struct {
	Name     string
	Took     time.Duration
	X, Width int64
	Class    string
}

func (s *Server) pageDelivery(v *visit) (deliveryData, error) {
	d, err := s.Services.Deliveries.DeliveryDetails(v.Context(), v.account.ID, v.pathID(), delivery.UserAgent(s.Version), v.now)
	return deliveryData{Details: d}, err
}

func deliveryPath(id int64) string { return "/deliveries/" + strconv.FormatInt(id, 10) }

func (s *Server) showDelivery(v *visit, data deliveryData, wrong error) error {
	for i, call := range data.Calls {
		step := v.step(call)
		if i > 0 {
			step.Waited = max(0, call.Result.StartedAt.Sub(data.Calls[i-1].Result.EndedAt()))
		}
		step.Open = i == len(data.Calls)-1
		data.Steps = append(data.Steps, step)
	}
	if data.Signable() {
		data.Curl = curl(data.Now)
	}
	return s.render(v, wrong, pageHead{"delivery", "deliveries", app.Textf("Delivery #%d", "Thông báo #%d", data.ID)}, data)
}

func (w words) step(call delivery.AttemptDetails) deliveryStep {
	step := deliveryStep{AttemptDetails: call, Explanation: call.Result.Explanation().In(w.Lang)}
	if body := call.Request.Body; body != nil {
		step.Headers = append([]delivery.Header{{Name: "Host", Value: hostOf(call.URL)}}, call.Request.Headers...)
		step.Headers = append(step.Headers, delivery.Header{Name: "Content-Length", Value: strconv.Itoa(len(body))})
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, body, "", "  "); err == nil {
			step.Pretty = visible(pretty.Bytes())
		}
		step.Raw = string(body)
	}
	step.Answer, step.Cut = visible(call.Result.Body), len(call.Result.Body) >= delivery.KeptAnswer
	step.Bar = w.Phases(call.Result.Phases)
	return step
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// Phases lists the phases of an attempt that took time, one after the other in a bar.
func (w words) Phases(p delivery.Phases) []phase {
	total := p.DNS + p.Connect + p.TLS + p.Wait
	if total <= 0 {
		return nil
	}
	var list []phase
	var x int64
	for _, one := range []phase{
		{Name: w.T("DNS lookup", "Phân giải tên miền"), Took: p.DNS, Class: "dns"},
		{Name: w.T("Connection", "Kết nối"), Took: p.Connect, Class: "connect"},
		{Name: w.T("TLS handshake", "Bắt tay TLS"), Took: p.TLS, Class: "tls"},
		{Name: w.T("Waiting for the response", "Chờ phản hồi"), Took: p.Wait, Class: "wait"},
	} {
		if one.Took > 0 {
			one.X, one.Width = x, int64(1000*one.Took/total)
			x += one.Width
			list = append(list, one)
		}
	}
	return list
}

// visible writes bytes as text in which every character can be seen. Bytes that
// aren't UTF-8 become U+FFFD. Control characters, characters without width, and characters
// that change the direction of writing are written by name.
func visible(text []byte) string {
	var b strings.Builder
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Visible is visible for templates.
func (w words) Visible(text string) string { return visible([]byte(text)) }

// curl writes a request as a command for a POSIX shell that makes the same
// call: the same bytes in URL, headers and body.
func curl(r delivery.Request) string {
	var b strings.Builder
	b.WriteString("curl --globoff --path-as-is --request POST " + app.ShellQuoted(r.URL))
	for _, h := range r.Headers {
		b.WriteString(" \\\n  --header " + app.ShellQuoted(h.Name+": "+h.Value))
	}
	b.WriteString(" \\\n  --data-raw " + app.ShellQuoted(string(r.Body)))
	return b.String()
}

// Told says whether the shop is notified by a delivery, or when the next attempt is due.
func (w words) Told(d delivery.Delivery) string {
	if d.State != app.DeliveryPending || d.Attempts == 0 {
		return w.NotifiedWord(d.State)
	}
	at := w.Clock(d.DueAt) + " (" + strconv.Itoa(d.Attempts+1) + "/" + strconv.Itoa(len(delivery.RetrySchedule)) + ")"
	return w.T("Will notify again at ", "Chờ báo lại lúc ") + at
}

// Answer writes the status code or error of an attempt, and how long it took.
func (w words) Answer(r delivery.Result) string {
	what := strconv.Itoa(r.StatusCode)
	if r.StatusCode == 0 || r.Error == delivery.ErrorTimeout {
		what = w.ErrorWord(r.Error)
	}
	return what + " · " + w.LatencyText(r.Duration)
}

// Explanation says why an attempt failed, and what the shop can do.
func (w words) Explanation(r delivery.Result) string { return r.Explanation().In(w.Lang) }

// ResultClass is the CSS class of an attempt's pill.
func (w words) ResultClass(r delivery.Result) app.DeliveryState {
	if r.OK() {
		return app.DeliveryDelivered
	}
	return app.DeliveryFailed
}

// AttemptLabel says the number of an attempt of a delivery; empty if the first attempt was enough.
func (w words) AttemptLabel(d delivery.Delivery, number int) string {
	switch {
	case d.Test:
		return w.T("Test", "Gửi thử")
	case number == 1 && d.State == app.DeliveryDelivered:
		return ""
	}
	return w.T("attempt", "lần") + nbsp + strconv.Itoa(number) + "/" + strconv.Itoa(len(delivery.RetrySchedule))
}

// Dots draws the attempts of a delivery: attempts up to number as failed or received, later
// ones as planned. There are no dots if the first attempt was received, or if it was the only
// one.
func (w words) Dots(d delivery.Delivery, number int, ok bool) dots {
	total := len(delivery.RetrySchedule)
	if d.Test || number == 0 || ok && number == 1 || number > total {
		return nil
	}
	var list dots
	for i := range total {
		state := "planned"
		switch {
		case i+1 < number || i+1 == number && !ok:
			state = "failed"
		case i+1 == number:
			state = "received"
		case ok:
			return list
		}
		list = append(list, dot{1 + i*dotWidth, state})
	}
	return list
}

// dot is one attempt in the drawing; X is in pixels.
type dot struct {
	X     int
	State string
}

const dotWidth = 11

// Center is the x of the middle of a round dot.
func (d dot) Center() float64 { return float64(d.X) + 4.5 }

// dots is the drawing of all attempts.
type dots []dot

// Width is the width of the drawing in pixels.
func (d dots) Width() int { return len(d) * dotWidth }

// CircledNumber is the number of an attempt in a circle.
func (w words) CircledNumber(number int) string {
	if number < 1 || number > 20 {
		return strconv.Itoa(number)
	}
	return string(rune('①' + number - 1))
}

// DurationText writes a duration in its two largest units.
func (w words) DurationText(d time.Duration) string {
	if d >= time.Second {
		d = d.Round(time.Second)
	}
	amount := func(n time.Duration, en, vi string) string {
		return strconv.FormatInt(int64(n), 10) + nbsp + w.T(en, vi)
	}
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return amount(d/time.Millisecond, "ms", "ms")
	case d < time.Minute:
		return amount(d/time.Second, "s", "giây")
	case d < time.Hour:
		text := amount(d/time.Minute, "min", "phút")
		if seconds := d % time.Minute / time.Second; seconds > 0 {
			text += " " + amount(seconds, "s", "giây")
		}
		return text
	case d < day:
		return amount(d/time.Hour, "h", "giờ") + " " + amount(d%time.Hour/time.Minute, "min", "phút")
	}
	return amount(d/day, "d", "ngày") + " " + amount(d%day/time.Hour, "h", "giờ")
}
