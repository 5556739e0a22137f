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
)

// deliveryData is the page of one delivery.
type deliveryData struct {
	app.DeliveryDetails
	Steps []deliveryStep // oldest first
	Curl  string         // the request of now as a command; empty where it can't be signed
}

// Last is the last attempt; nil if none was made.
func (d deliveryData) Last() *deliveryStep {
	if len(d.Steps) == 0 {
		return nil
	}
	return &d.Steps[len(d.Steps)-1]
}

// Paused tells whether the delivery waits for its webhook to be enabled.
func (d deliveryData) Paused() bool { return d.State == app.DeliveryPending && !d.Webhook.IsActive }

// deliveryStep is one attempt on the page.
type deliveryStep struct {
	app.AttemptDetails
	Waited      time.Duration // since the attempt before ended; 0 for the first
	Open        bool
	Explanation string
	Headers     []app.Header
	Pretty, Raw string // the body that was sent
	Answer      string // the body that came back
	Cut         bool   // Answer is only its beginning
	Bar         []phase
}

// stepView is an attempt as its template gets it.
type stepView struct {
	view
	Step deliveryStep
}

// phase is one part of an attempt's time, and where it stands in a bar of 1,000
// units.
type phase struct {
	Name     string
	Took     time.Duration
	X, Width int64
	Class    string
}

func (s *Server) deliveryDetails(v *visit) (app.DeliveryDetails, error) {
	return s.Service.DeliveryDetails(v.Context(), v.account.ID, v.pathID(), app.UserAgent(s.Version), v.now)
}

func (s *Server) deliveryPage(v *visit) error {
	d, err := s.deliveryDetails(v)
	if err != nil {
		return err
	}
	return s.showDelivery(v, deliveryData{DeliveryDetails: d}, nil)
}

// showDelivery shows the page. wrong is why a resend was refused.
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
	return s.renderForm(v, wrong, "delivery", "deliveries", app.Textf("Delivery #%d", "Thông báo #%d", data.ID), data)
}

func (w words) step(call app.AttemptDetails) deliveryStep {
	step := deliveryStep{AttemptDetails: call, Explanation: call.Result.Explanation().In(w.Lang)}
	if body := call.Request.Body; body != nil {
		step.Headers = append([]app.Header{{Name: "Host", Value: hostOf(call.URL)}}, call.Request.Headers...)
		step.Headers = append(step.Headers, app.Header{Name: "Content-Length", Value: strconv.Itoa(len(body))})
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, body, "", "  "); err == nil {
			step.Pretty = visible(pretty.Bytes())
		}
		step.Raw = string(body)
	}
	step.Answer, step.Cut = visible(call.Result.Body), len(call.Result.Body) >= app.KeptAnswer
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

// Phases lists the phases of an attempt that occurred, in a bar beside one another.
func (w words) Phases(p app.Phases) []phase {
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
// aren't UTF-8 become U+FFFD. Control characters, and those that take no place or
// turn the direction of writing, are written by name.
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
func curl(r app.Request) string {
	var b strings.Builder
	b.WriteString("curl --globoff --path-as-is --request POST " + shellQuoted(r.URL))
	for _, h := range r.Headers {
		b.WriteString(" \\\n  --header " + shellQuoted(h.Name+": "+h.Value))
	}
	b.WriteString(" \\\n  --data-raw " + shellQuoted(string(r.Body)))
	return b.String()
}

// shellQuoted quotes a text as one word of a POSIX shell. Between single quotes
// only the quote itself is special.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Told says whether the shop is notified by a delivery, or when it is again.
func (w words) Told(d app.Delivery) string {
	if d.State != app.DeliveryPending || d.Attempts == 0 {
		return w.NotifiedWord(d.State)
	}
	at := w.Clock(d.DueAt) + " (" + strconv.Itoa(d.Attempts+1) + "/" + strconv.Itoa(len(app.RetrySchedule)) + ")"
	return w.T("Will notify again at ", "Chờ báo lại lúc ") + at
}
