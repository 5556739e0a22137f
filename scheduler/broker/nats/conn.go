package nats

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/stream"

	"github.com/nats-io/nkeys"
)

const (
	maxLine   = 64 << 10 // the first line of a server names those that it knows
	maxAnswer = 64 << 10
)

// connection is a connection to a server of NATS, in its protocol of lines.
type connection struct {
	net.Conn
	in        *bufio.Reader
	out       *bufio.Writer
	info      serverInfo
	inbox     string // where acknowledgements come to: this and a number
	asked     uint64 // numbers given
	noBatches bool   // the JetStream stream has none
}

type serverInfo struct {
	TLSRequired  bool   `json:"tls_required"`
	TLSAvailable bool   `json:"tls_available"`
	Headers      bool   `json:"headers"`
	MaxPayload   int    `json:"max_payload"`
	Nonce        string `json:"nonce"`
}

type clientInfo struct {
	Verbose      bool   `json:"verbose"`
	Pedantic     bool   `json:"pedantic"`
	TLSRequired  bool   `json:"tls_required"`
	Name         string `json:"name"`
	Lang         string `json:"lang"`
	Version      string `json:"version"`
	Protocol     int    `json:"protocol"`
	Headers      bool   `json:"headers"`
	NoResponders bool   `json:"no_responders"`
	User         string `json:"user,omitempty"`
	Pass         string `json:"pass,omitempty"`
	Token        string `json:"auth_token,omitempty"`
	JWT          string `json:"jwt,omitempty"`
	Signature    string `json:"sig,omitempty"`
}

// connect opens the connection to a host and signs in. Servers that the server names
// are not asked: the shop names those that are reached from here.
func (n *client) connect(ctx context.Context, host string) (err error) {
	conn, err := n.Dial(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer bound(ctx, conn)()
	c := &connection{Conn: conn, in: bufio.NewReaderSize(conn, maxLine), out: bufio.NewWriterSize(conn, 64<<10),
		inbox: "_INBOX." + rand.Text() + "."}
	if err = n.greet(ctx, c, host); err != nil {
		_ = c.Close()
		return n.understand(late(ctx, err, context.DeadlineExceeded))
	}
	n.conn = c
	return nil
}

func (n *client) greet(ctx context.Context, c *connection, host string) error {
	line, err := c.line()
	if err != nil {
		return err
	}
	hello, isInfo := bytes.CutPrefix(line, []byte("INFO "))
	if !isInfo || json.Unmarshal(hello, &c.info) != nil {
		return fmt.Errorf("%s isn't a NATS server: it doesn't begin with INFO", host)
	}
	if n.TLS && !c.info.TLSRequired && !c.info.TLSAvailable {
		return &stream.BrokerError{Text: app.Textf(
			"The NATS server %[1]s has no TLS, which nats+tls:// demands.",
			"Máy chủ NATS %[1]s không có TLS, trong khi nats+tls:// bắt buộc TLS.", host)}
	}
	secure := n.TLS || c.info.TLSRequired
	if secure {
		over, err := n.Handshake(ctx, c.Conn, host)
		if err != nil {
			return err
		}
		c.Conn = over
		c.in.Reset(over) // what was said before is dropped
		c.out.Reset(over)
	}
	if !c.info.Headers {
		return errors.New("the NATS server is older than version 2.2")
	}
	hi, err := n.signIn(c.info.Nonce)
	if err != nil {
		return err
	}
	hi.TLSRequired = secure
	said, err := json.Marshal(hi)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "CONNECT %s\r\nSUB %s* 1\r\nPING\r\n", said, c.inbox)
	if err := c.out.Flush(); err != nil {
		return err
	}
	for {
		switch line, err := c.line(); {
		case err != nil:
			return err
		case string(line) == "PONG":
			return nil
		}
	}
}

// signIn is what the client says of itself, with its credentials. A password alone is
// a token, or the text of a credentials file, whose key signs what the server sent.
func (n *client) signIn(nonce string) (clientInfo, error) {
	c := clientInfo{Name: "baoco", Lang: "go", Version: "1", Protocol: 1, Headers: true, NoResponders: true}
	file := []byte(strings.TrimSpace(n.Password))
	switch {
	case n.Username != "":
		c.User, c.Pass = n.Username, n.Password
	case bytes.HasPrefix(file, []byte("-----BEGIN NATS USER JWT-----")):
		jwt, err := nkeys.ParseDecoratedJWT(file)
		if err != nil || strings.ContainsAny(jwt, " \r\n") { // the whole file where it isn't one
			return c, badCredentialsFile
		}
		key, err := nkeys.ParseDecoratedUserNKey(file)
		if err != nil {
			return c, badCredentialsFile
		}
		defer key.Wipe()
		signature, err := key.Sign([]byte(nonce))
		if err != nil {
			return c, badCredentialsFile
		}
		c.JWT, c.Signature = jwt, base64.RawURLEncoding.EncodeToString(signature)
	default:
		c.Token = n.Password
	}
	return c, nil
}

var badCredentialsFile error = &stream.BrokerError{Text: app.Text{
	EN: "The password of this stream begins like a credentials file of NATS, but isn’t one. " +
		"Copy the whole file, from its first line to its last.",
	VI: "Mật khẩu của luồng này bắt đầu giống tệp creds của NATS nhưng không phải. Hãy chép toàn bộ tệp, từ dòng đầu đến dòng cuối.",
}}

func (c *connection) publish(subject string, acknowledge bool, header string, body []byte) error {
	reply := ""
	if acknowledge {
		reply = c.inbox + strconv.FormatUint(c.asked, 10) + " "
		c.asked++
	}
	fmt.Fprintf(c.out, "HPUB %s %s%d %d\r\n%s", subject, reply, len(header), len(header)+len(body), header)
	c.out.Write(body)
	_, err := c.out.WriteString("\r\n")
	return err
}

// answer reads the next answer, and its number.
func (c *connection) answer() (uint64, *answer, error) {
	for {
		line, err := c.line()
		if err != nil {
			return 0, nil, err
		}
		verb, rest, _ := bytes.Cut(line, []byte(" "))
		if verb := string(verb); verb != "MSG" && verb != "HMSG" {
			continue
		}
		fields := strings.Fields(string(rest))
		header, body, err := c.message(string(verb) == "HMSG", fields)
		if err != nil {
			return 0, nil, err
		}
		number, isOurs := strings.CutPrefix(fields[0], c.inbox)
		asked, err := strconv.ParseUint(number, 10, 64)
		if !isOurs || err != nil {
			return 0, nil, errors.New("the NATS server sends messages that weren't asked for")
		}
		a := &answer{}
		return asked, a, a.read(header, body)
	}
}

// message reads what follows a line: MSG subject sid [reply] size, or HMSG subject sid
// [reply] size-of-header size.
func (c *connection) message(hasHeader bool, fields []string) (header string, body []byte, err error) {
	numbers := 1
	if hasHeader {
		numbers = 2
	}
	if len(fields) < 2+numbers || len(fields) > 3+numbers {
		return "", nil, errors.New("the NATS server sends a line that isn't understood")
	}
	size, err := strconv.Atoi(fields[len(fields)-1])
	split := 0
	if hasHeader && err == nil {
		split, err = strconv.Atoi(fields[len(fields)-2])
	}
	if err != nil || size < 0 || size > maxAnswer || split < 0 || split > size {
		return "", nil, fmt.Errorf("the NATS server sends a message of more than %d bytes, or of an impossible size", maxAnswer)
	}
	message := make([]byte, size+2)
	if _, err := io.ReadFull(c.in, message); err != nil {
		return "", nil, err
	}
	if string(message[size:]) != "\r\n" {
		return "", nil, errors.New("the NATS server sends a message that doesn't end where it says")
	}
	return string(message[:split]), message[split:size], nil
}

// line reads the next line of the server, answers pings, and returns what the server
// says by -ERR as an error.
func (c *connection) line() ([]byte, error) {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("read from the NATS server: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if said, bad := bytes.CutPrefix(line, []byte("-ERR")); bad {
			return nil, &serverError{strings.Trim(string(said), " '")}
		}
		if string(line) != "PING" {
			return line, nil
		}
		c.out.WriteString("PONG\r\n")
		if err := c.out.Flush(); err != nil {
			return nil, err
		}
	}
}

// bound ends what is read from and written to conn with ctx. The function that it
// returns ends the bound.
func bound(ctx context.Context, conn net.Conn) func() bool {
	end, _ := ctx.Deadline() // the zero time is none
	_ = conn.SetDeadline(end)
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}

// late gives another error for one that says that the time of a connection was up: the
// error of ctx where that has ended, and else instead. Any other error stays as it is.
func late(ctx context.Context, err, instead error) error {
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return instead
}
