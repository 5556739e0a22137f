package nats

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/stream"

	"github.com/nats-io/nkeys"
)

// maxLine bounds a server's line, in bytes. The first line names all servers of the cluster.
const maxLine = 64 << 10

// connection is a connection to a server of NATS, in its protocol of lines.
type connection struct {
	net.Conn
	in         *bufio.Reader
	out        *bufio.Writer // Flush returns the first error of all that is written
	inbox      string        // the reply subject is this and a number
	asked      uint64        // how many numbers were given
	maxPayload int           // of the server, in bytes; 0: it doesn't say
	noBatches  bool          // the JetStream stream takes no batches
}

// connect opens the connection to a host and signs in. It ignores other servers that the
// server names: the shop names those that can be reached from here.
func (n *client) connect(ctx context.Context, host string) error {
	conn, err := n.Dial(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer bound(ctx, conn)()
	n.conn = &connection{Conn: conn, in: bufio.NewReaderSize(conn, maxLine), out: bufio.NewWriterSize(conn, 64<<10),
		inbox: "_INBOX." + rand.Text() + "."}
	if err = n.greet(ctx, host); err != nil {
		n.Close()
	}
	return ended(ctx, err)
}

func (n *client) greet(ctx context.Context, host string) error {
	c := n.conn
	line, err := n.line()
	if err != nil {
		return err
	}
	var info struct {
		TLSRequired  bool   `json:"tls_required"`
		TLSAvailable bool   `json:"tls_available"`
		Headers      bool   `json:"headers"`
		MaxPayload   int    `json:"max_payload"`
		Nonce        string `json:"nonce"`
	}
	hello, isInfo := bytes.CutPrefix(line, []byte("INFO "))
	if !isInfo || json.Unmarshal(hello, &info) != nil {
		return fmt.Errorf("%s isn't a NATS server: it doesn't begin with INFO", host)
	}
	if n.TLS && !info.TLSRequired && !info.TLSAvailable {
		return &stream.BrokerError{Text: app.Textf(
			"The NATS server %[1]s has no TLS, which nats+tls:// demands.",
			"Máy chủ NATS %[1]s không có TLS, trong khi nats+tls:// bắt buộc TLS.", host)}
	}
	secure := n.TLS || info.TLSRequired
	if secure {
		over, err := n.Handshake(ctx, c.Conn, host)
		if err != nil {
			return err
		}
		c.Conn = over
		c.in.Reset(over) // drops bytes that came without TLS
		c.out.Reset(over)
	}
	if !info.Headers {
		return errors.New("the NATS server is older than version 2.2")
	}
	c.maxPayload = info.MaxPayload
	hi, err := n.signIn(info.Nonce)
	if err != nil {
		return err
	}
	hi["tls_required"] = secure
	said, err := json.Marshal(hi)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "CONNECT %s\r\nSUB %s* 1\r\nPING\r\n", said, c.inbox)
	err = c.out.Flush()
	for err == nil && string(line) != "PONG" {
		line, err = n.line()
	}
	return err
}

// signIn returns the fields of CONNECT, with the credentials. A password without a user
// name is a token, or the text of a credentials file, whose key signs the server's nonce.
func (n *client) signIn(nonce string) (map[string]any, error) {
	hi := map[string]any{"verbose": false, "pedantic": false, "name": "baoco", "lang": "go", "version": "1", "protocol": 1,
		"headers": true, "no_responders": true}
	file := []byte(strings.TrimSpace(n.Password))
	switch {
	case n.Username != "":
		hi["user"], hi["pass"] = n.Username, n.Password
	case bytes.HasPrefix(file, []byte("-----BEGIN NATS USER JWT-----")):
		jwt, _ := nkeys.ParseDecoratedJWT(file) // where there is none, this gives the whole file
		key, err := nkeys.ParseDecoratedUserNKey(file)
		if err != nil || strings.ContainsAny(jwt, " \r\n") {
			return nil, badCredentialsFile
		}
		defer key.Wipe()
		signature, err := key.Sign([]byte(nonce))
		if err != nil {
			return nil, badCredentialsFile
		}
		hi["jwt"], hi["sig"] = jwt, base64.RawURLEncoding.EncodeToString(signature)
	case n.Password != "":
		hi["auth_token"] = n.Password
	}
	return hi, nil
}

var badCredentialsFile error = &stream.BrokerError{Text: app.Text{
	EN: "The password of this stream begins like a credentials file of NATS, but isn’t one. " +
		"Copy the whole file, from its first line to its last.",
	VI: "Mật khẩu của luồng này bắt đầu giống tệp creds của NATS nhưng không phải. Hãy chép toàn bộ tệp, từ dòng đầu đến dòng cuối.",
}}

// answer reads the next answer, and its number: MSG subject sid [reply] size, or HMSG
// subject sid [reply] size-of-header size, and then so many bytes.
func (n *client) answer() (uint64, *answer, error) {
	line, err := n.line()
	for err == nil && !bytes.HasPrefix(line, []byte("MSG ")) && !bytes.HasPrefix(line, []byte("HMSG ")) {
		line, err = n.line()
	}
	if err != nil {
		return 0, nil, err
	}
	fields := strings.Fields(string(line))
	if fields[0] == "MSG" {
		fields = slices.Insert(fields, len(fields)-1, "0")
	}
	if len(fields) < 5 || len(fields) > 6 {
		return 0, nil, errors.New("the NATS server sends a line that isn't understood")
	}
	split, wrong := strconv.ParseUint(fields[len(fields)-2], 10, 16)
	size, err := strconv.ParseUint(fields[len(fields)-1], 10, 16)
	if cmp.Or(wrong, err) != nil || split > size {
		return 0, nil, errors.New("the NATS server sends a message of more than 65535 bytes, or of an impossible size")
	}
	message := make([]byte, size+2)
	if _, err := io.ReadFull(n.conn.in, message); err != nil {
		return 0, nil, err
	}
	if string(message[size:]) != "\r\n" {
		return 0, nil, errors.New("the NATS server sends a message that doesn't end where it says")
	}
	number, isOurs := strings.CutPrefix(fields[1], n.conn.inbox)
	asked, err := strconv.ParseUint(number, 10, 64)
	if !isOurs || err != nil {
		return 0, nil, errors.New("the NATS server sends messages that weren't asked for")
	}
	a := &answer{empty: size == 0, noStream: bytes.HasPrefix(message[:split], []byte("NATS/1.0 503"))}
	if a.empty || a.noStream {
		return asked, a, nil
	}
	if err := json.Unmarshal(message[split:size], a); err != nil {
		return 0, nil, fmt.Errorf("the answer of JetStream isn't JSON: %w", err)
	}
	return asked, a, nil
}

// line reads the next line of the server, answers pings, and returns what the server
// says by -ERR as an error.
func (n *client) line() ([]byte, error) {
	for {
		line, err := n.conn.in.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("read from the NATS server: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if said, bad := bytes.CutPrefix(line, []byte("-ERR")); bad {
			return nil, n.understand(n.Quote(strings.Trim(string(said), " '")))
		}
		if string(line) != "PING" {
			return line, nil
		}
		n.conn.out.WriteString("PONG\r\n")
		if err := n.conn.out.Flush(); err != nil {
			return nil, err
		}
	}
}

// bound makes reads and writes of conn fail when ctx ends. The function that it returns
// undoes that.
func bound(ctx context.Context, conn net.Conn) func() bool {
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}

// ended returns err, or the cause of ctx if that has ended, since that brought err about.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
