package scheduler

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/textproto"
	"os"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
	"baoco/scheduler/courier"

	"github.com/wneessen/go-mail"
)

const mailConversation = 256 << 10 // bytes that are read from a mail server at most

// sendEmail sends the message to each recipient separately, over one connection: if one
// address is refused, the other recipients still get it.
func (a *Alerter) sendEmail(ctx context.Context, e alert.EmailSettings, m alert.Message) error {
	messages, err := a.mailMessages(e, m)
	if err != nil {
		return errors.New("the message can't be written as an e-mail")
	}
	secure := a.network.TLS(e.Host)
	conn, err := a.dialMail(ctx, e, secure)
	if err != nil {
		return explainMail(ctx, e, err)
	}
	defer conn.Close()
	client, err := mailClient(e, secure, conn)
	if err != nil {
		return errors.New("the settings of the mail server can't be used")
	}
	conversation, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return explainMail(ctx, e, err)
	}
	err = client.SendWithSMTPClient(conversation, messages...)
	_ = client.CloseWithSMTPClient(conversation) // an error here doesn't concern messages that were taken
	sent := 0
	for _, message := range messages {
		if message.IsDelivered() {
			sent++
		}
	}
	switch {
	case sent == len(messages):
		return nil
	case err == nil:
		return errors.New("the mail server took no message and gave no error")
	}
	fault := explainMail(ctx, e, err)
	fault.Partly = sent > 0
	return fault
}

func (a *Alerter) dialMail(ctx context.Context, e alert.EmailSettings, secure *tls.Config) (net.Conn, error) {
	conn, err := a.network.Dial(ctx, "tcp", hostPort(e))
	if err != nil {
		return nil, err
	}
	conn = newMailConn(ctx, conn)
	if e.Security != alert.MailTLS {
		return conn, nil
	}
	encrypted := tls.Client(conn, secure)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, &courier.HandshakeError{Err: err}
	}
	return encrypted, nil
}

// greetingName is how this machine names itself to a mail server: by its host name if that
// has a domain, else by its address (RFC 5321, 4.1.4). The host name of a container or
// of a small server has no dot, and strict servers refuse it.
func greetingName(own net.Addr) string {
	if name, err := os.Hostname(); err == nil && strings.Contains(strings.Trim(name, "."), ".") {
		return name
	}
	to, err := netip.ParseAddrPort(own.String())
	switch addr := to.Addr().Unmap().WithZone(""); {
	case err != nil:
		return "[127.0.0.1]"
	case addr.Is6():
		return "[IPv6:" + addr.String() + "]"
	default:
		return "[" + addr.String() + "]"
	}
}

func mailClient(e alert.EmailSettings, secure *tls.Config, conn net.Conn) (*mail.Client, error) {
	options := []mail.Option{
		mail.WithPort(e.Port), mail.WithTimeout(alert.Timeout), mail.WithTLSConfig(secure),
		mail.WithTLSPolicy(mail.TLSMandatory), mail.WithoutNoop(),
		mail.WithHELO(greetingName(conn.LocalAddr())),
		mail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return conn, nil }),
	}
	if e.Security == alert.MailTLS {
		options = append(options, mail.WithSSL())
	}
	if e.Username != "" {
		// The library doesn't see that the connection it was given is encrypted, so the
		// methods are listed here. PLAIN and LOGIN check the encryption themselves.
		options = append(options, mail.WithOpportunisticSMTPAuth(mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthSCRAMSHA256),
			mail.WithUsername(e.Username), mail.WithPassword(e.Password))
	}
	return mail.NewClient(e.Host, options...)
}

// mailMessages are the same message, once for each recipient.
func (a *Alerter) mailMessages(e alert.EmailSettings, m alert.Message) ([]*mail.Msg, error) {
	var messages []*mail.Msg
	for _, to := range e.To {
		message := mail.NewMsg()
		if err := errors.Join(message.FromFormat("Báo Có", e.From), message.To(to)); err != nil {
			return nil, err
		}
		message.Subject(m.Subject)
		message.SetDateWithValue(m.At)
		message.SetUserAgent(delivery.UserAgent(a.version))
		message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office replies
		message.SetBodyString(mail.TypeTextPlain, m.Text+"\n")
		messages = append(messages, message)
	}
	return messages, nil
}

// mailConn is a connection that is closed when its context ends. It bounds what the
// server may send.
type mailConn struct {
	net.Conn
	left int
	stop func() bool
}

func newMailConn(ctx context.Context, conn net.Conn) *mailConn {
	return &mailConn{conn, mailConversation, context.AfterFunc(ctx, func() { _ = conn.Close() })}
}

func (c *mailConn) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

func (c *mailConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

func hostPort(e alert.EmailSettings) string {
	return net.JoinHostPort(strings.Trim(e.Host, "[]"), strconv.Itoa(e.Port))
}

// explainMail says what an error of a conversation means in practice, with the
// server's own words.
func explainMail(ctx context.Context, e alert.EmailSettings, err error) *alert.Error {
	var (
		answer    *textproto.Error
		sending   *mail.SendError
		handshake *tls.CertificateVerificationError
		record    tls.RecordHeaderError
	)
	code, words := 0, ""
	switch {
	case ctx.Err() != nil:
		return unreachableAlert(hostPort(e), ctx.Err())
	case errors.As(err, &handshake), errors.As(err, &record):
		return unreachableAlert(hostPort(e), &courier.HandshakeError{Err: err})
	case errors.As(err, &answer):
		code, words = answer.Code, strconv.Itoa(answer.Code)+" "+answer.Msg
	case errors.As(err, &sending) && sending.ErrorCode() != 0:
		code, words = sending.ErrorCode(), mailWords(sending)
	default:
		return unreachableAlert(hostPort(e), err)
	}
	what := app.Text{EN: "the message was not taken", VI: "tin không được nhận"}
	switch {
	case code == 530 || code == 534 || code == 535 || code == 538: // RFC 4954
		what = app.Text{EN: "check user name and password; Gmail and others want an app password",
			VI: "hãy kiểm tra tên đăng nhập và mật khẩu; Gmail và một số dịch vụ yêu cầu mật khẩu ứng dụng"}
	case code == 504 || strings.Contains(strings.ToLower(words), "helo"):
		what = app.Text{
			EN: "it doesn't take the name of this machine; give it a whole host name, such as baoco.shop.vn: " +
				"hostnamectl set-hostname baoco.shop.vn, in a container --hostname",
			VI: "máy chủ thư không nhận tên của máy này; hãy đặt tên máy đầy đủ, ví dụ baoco.shop.vn: hostnamectl set-hostname baoco.shop.vn, " +
				"trong container thì dùng --hostname",
		}
	case code < 500:
		what = app.Text{EN: "the server can't take it right now; it is tried again later",
			VI: "máy chủ tạm thời chưa nhận; hệ thống sẽ thử lại sau"}
	case sending != nil && sending.Reason == mail.ErrSMTPMailFrom:
		what = app.Textf("%s may not send; use the address of the mailbox", "%s không được phép gửi; hãy dùng địa chỉ của hộp thư", e.From)
	case sending != nil && sending.Reason == mail.ErrSMTPRcptTo:
		what = app.Text{EN: "a recipient is refused; check the addresses", VI: "có người nhận bị từ chối; hãy kiểm tra địa chỉ"}
	}
	if e.Password != "" {
		words = conceal(words, e.Password)
	}
	words = said(words)
	return &alert.Error{Text: app.Text{EN: "The mail server answered “" + words + "”: " + what.EN + ".",
		VI: "Máy chủ thư trả lời “" + words + "”: " + what.VI + "."}}
}

// mailWords takes the server's words out of the sentence that the library makes of them.
func mailWords(err *mail.SendError) string {
	words := strings.TrimPrefix(err.Error(), err.Reason.String()+": ")
	words, _, _ = strings.Cut(words, ", affected ")
	code, text, _ := strings.Cut(words, " ")
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	return code + " " + text
}
