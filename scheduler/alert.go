package scheduler

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/target"
	"baoco/app/upkeep"
	"baoco/scheduler/courier"
)

// This file is the regular alerting: the job of gocron, and the Alerter, which
// sends one message by the medium of its channel (telegram.go, email.go, chat.go).
// Alerts go where an account's owner says, so they connect as
// webhooks do (courier/network.go). They share nothing with deliveries.

// alert sends the alerts of all channels at once. The job runs again when all are done.
func (s *Scheduler) alert(ctx context.Context, service *services.All, in upkeep.Installation) {
	results, err := service.Alerts.Alert(ctx, in, time.Now())
	s.logFault(ctx, "alert", err)
	for _, r := range results {
		s.logAlerted(r)
	}
}

// logAlerted says that a channel fails, or that it works again.
func (s *Scheduler) logAlerted(r alert.Alerted) {
	log := s.log.With("account", r.Channel.AccountID, "medium", string(r.Channel.Medium))
	var fault *alert.Error
	switch {
	case errors.As(r.Err, &fault) && fault.Partly:
		log.Warn("not all recipients were alerted", "err", r.Err)
	case errors.As(r.Err, &fault) && r.Changed:
		log.Warn("alerting fails; it is tried again", "err", r.Err)
	case r.Err != nil && fault == nil && app.CodeOf(r.Err) != app.CodeUnavailable:
		log.Error("alert", "err", r.Err)
	case r.Err == nil && r.Changed:
		log.Info("alerting works again")
	}
}

// Alerter sends alerts.
type Alerter struct {
	network *courier.Network
	chats   *http.Client // of Telegram and the others
	pushes  *http.Client // of push services, which are on the public internet
	version string
}

// NewAlerter makes an alerter that connects where policy allows. A transport
// that isn't nil stands in for the network of the chats and of push services.
func NewAlerter(policy *target.Policy, version string, transport http.RoundTripper) *Alerter {
	return newAlerter(courier.NewNetwork(policy, nil, nil), courier.NewNetwork(new(target.Policy), nil, nil), version, transport)
}

func newAlerter(allowed, public *courier.Network, version string, transport http.RoundTripper) *Alerter {
	client := func(network http.RoundTripper) *http.Client {
		if transport != nil {
			network = transport
		}
		return &http.Client{Transport: network, CheckRedirect: courier.NoRedirect}
	}
	return &Alerter{network: allowed, version: version, chats: client(allowed), pushes: client(public)}
}

// Send sends one message, as services.Config says.
func (a *Alerter) Send(ctx context.Context, c alert.Channel, m alert.Message) error {
	var err error
	switch c.Medium {
	case alert.Telegram:
		err = a.sendTelegram(ctx, c.Telegram, m)
	case alert.Email:
		err = a.sendEmail(ctx, c.Email, m)
	default:
		err = a.sendChat(ctx, c, m)
	}
	if fault, found := errors.AsType[*alert.Error](err); found {
		fault.Text.EN, fault.Text.VI = conceal(fault.Text.EN, c.Secrets()...), conceal(fault.Text.VI, c.Secrets()...)
	}
	return err
}

// conceal removes secrets from a server's answer: it may repeat what it was sent, also
// in base64, as passwords are sent to a mail server (RFC 4954).
func conceal(text string, secrets ...string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "…")
		for _, word := range base64Words.FindAllString(text, -1) {
			if decoded, _ := base64.RawStdEncoding.DecodeString(word); bytes.Contains(decoded, []byte(secret)) {
				text = strings.ReplaceAll(text, word, "…")
			}
		}
	}
	return text
}

var base64Words = regexp.MustCompile(`[A-Za-z0-9+/]{8,}`)

// said cleans and shortens a server's text for use in a sentence.
func said(text string) string {
	text = strings.Join(strings.Fields(app.CleanText(text, 200)), " ")
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text), ". ")
}

// unreachableAlert explains why a server could not be reached, by the class of the
// error. where is the server's name and port.
func unreachableAlert(where string, err error) *alert.Error {
	class, detail := courier.Classify(err, delivery.CauseConnect)
	text, known := unreachableTexts[class]
	if !known {
		text = unreachableTexts[delivery.ErrorConnection]
	}
	put := strings.NewReplacer("{where}", where, "{detail}", said(detail.Text))
	return &alert.Error{Text: app.Text{EN: put.Replace(text.EN), VI: put.Replace(text.VI)}}
}

var unreachableTexts = map[delivery.ErrorClass]app.Text{
	delivery.ErrorTimeout: {EN: "{where} did not answer in time: check host, port and the kind of encryption.",
		VI: "{where} không trả lời kịp thời gian: vui lòng kiểm tra máy chủ, cổng và kiểu mã hoá."},
	delivery.ErrorDNS: {EN: "The name of {where} could not be looked up: check its spelling, and the name servers of this machine.",
		VI: "Không tra được tên máy chủ {where}: vui lòng kiểm tra chính tả và DNS của máy chạy baoco."},
	delivery.ErrorRefused: {EN: "Nothing listens at {where}: check host and port.",
		VI: "Không có dịch vụ nào chạy tại {where}: vui lòng kiểm tra máy chủ và cổng."},
	delivery.ErrorTLS: {EN: "The secure connection to {where} failed ({detail}): check host, port and the kind of encryption.",
		VI: "Kết nối bảo mật với {where} bị lỗi ({detail}): vui lòng kiểm tra máy chủ, cổng và kiểu mã hoá."},
	delivery.ErrorBlocked: {
		EN: "{where} has no public address, so baoco doesn't connect to it; the operator can allow it with --allow-target on serve.",
		VI: "{where} không có địa chỉ công khai nên baoco không kết nối; người vận hành có thể cho phép bằng --allow-target của serve."},
	delivery.ErrorShortage: {EN: "baoco’s own server has no files, memory or network ports left; it is tried again later.",
		VI: "Máy chủ chạy baoco đã hết số tệp được mở, bộ nhớ hoặc cổng mạng; hệ thống sẽ thử lại sau."},
	delivery.ErrorProtocol: {EN: "{where} answered otherwise than expected ({detail}): check host, port and the kind of encryption.",
		VI: "{where} trả lời không đúng như mong đợi ({detail}): vui lòng kiểm tra máy chủ, cổng và kiểu mã hoá."},
	delivery.ErrorConnection: {
		EN: "The connection to {where} broke off: check host, port and the kind of encryption, and whether a firewall cuts in.",
		VI: "Kết nối với {where} bị ngắt: vui lòng kiểm tra máy chủ, cổng, kiểu mã hoá và tường lửa."},
}

const feedsAtOnce = 32

// sendPayments begins to send the due messages about payments, and doesn't wait for them.
// A channel sends one message at a time, so they stay in order; no channel waits for another.
func (s *Scheduler) sendPayments(ctx context.Context, service *services.All) {
	channels, err := service.Alerts.PaymentChannels(ctx, time.Now())
	s.logFault(ctx, "tell payments", err)
	for _, c := range channels {
		s.feeds.begin(&s.running, c.ID, func() {
			var result alert.Alerted
			attempted := false
			err := app.Protected(func() error {
				result, attempted = service.Alerts.SendPayments(s.ctx, c, time.Now())
				return nil
			})
			if err != nil {
				result, attempted = alert.Alerted{Channel: c, Err: err}, true
			}
			if attempted {
				s.logAlerted(result)
			}
		})
	}
}
