// Package listen calls a program on this machine, which no server can reach, with the
// transactions of a baoco elsewhere: it reads them from the stream of server-sent events and
// calls the program like a webhook.
package listen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/scheduler/courier"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"
)

// Command is baoco listen.
func Command() *cli.Command {
	return &cli.Command{
		Name: "listen", Usage: "call a program on this machine with the transactions of a baoco elsewhere, until Ctrl-C",
		Description: "It needs an API key of that baoco (apikey create NAME --scope listen) in --api-key-file or BAOCO_API_KEY.\n" +
			"The secret that signs the calls is made once for each directory and kept in " + memoryFile + ".\n\n" +
			terminal.Example("baoco listen --server https://pay.shop.vn --forward-to http://localhost:3000/hook --api-key-file key.txt"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "server", Usage: "`URL` of the baoco elsewhere", Required: true, EnvVars: []string{"BAOCO_SERVER"}},
			&cli.StringFlag{Name: "forward-to", Usage: "`URL` to call", Required: true},
			terminal.Choice(cli.StringFlag{Name: "kind", Usage: "`KIND` of webhook to call it as: standard, or sepay with an API key, " +
				"but without the id, code and balance that SePay itself gave",
				Value: string(delivery.WebhookStandard)}, delivery.WebhookStandard, delivery.WebhookSepay),
			&cli.StringFlag{Name: "api-key-file", Usage: "`FILE` with the API key; - is standard input", DefaultText: "BAOCO_API_KEY"},
			&cli.BoolFlag{Name: "new", Usage: "only what is recorded from now on, also where this directory has listened before"},
			terminal.OutputFlag,
			// Every command has these flags. This one doesn't use them, so the help leaves them out.
			&cli.StringFlag{Name: "db", Hidden: true},
			&cli.StringFlag{Name: "account", Hidden: true},
		},
		Action: terminal.WithoutArguments(func(c *cli.Context) error {
			l, err := newListener(c)
			if err != nil {
				return err
			}
			ctx, stop := terminal.UntilStopped(c.Context)
			defer stop()
			if err := l.run(ctx); ctx.Err() == nil && !errors.Is(err, syscall.EPIPE) {
				return err
			}
			return nil
		}),
	}
}

type listener struct {
	c       *cli.Context
	server  string // without a slash at its end
	key     string
	as      delivery.Outgoing // how the program is called
	memory  *memory
	client  *http.Client // for the server
	sender  *courier.Sender
	missing []string // the ids that the program didn't take
}

func newListener(c *cli.Context) (*listener, error) {
	l := &listener{c: c, client: newClient(),
		sender: courier.NewSender(nil, serve.Version, &http.Transport{DisableKeepAlives: true, DisableCompression: true})}
	var err error
	if l.server, err = address(c, "server"); err != nil {
		return nil, err
	}
	l.as.Kind = delivery.WebhookKind(c.String("kind"))
	if l.as.URL, err = address(c, "forward-to"); err != nil {
		return nil, err
	}
	l.key = os.Getenv("BAOCO_API_KEY")
	if c.IsSet("api-key-file") {
		if l.key, err = terminal.ReadSecretFile(c, c.String("api-key-file")); err != nil {
			return nil, err
		}
	}
	if l.key == "" {
		return nil, terminal.Usagef("an API key is needed: --api-key-file FILE or BAOCO_API_KEY")
	}
	if strings.ContainsFunc(l.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, terminal.Usagef("the API key must be one line without blanks")
	}
	if l.memory, err = remember(memoryFile); err != nil {
		return nil, terminal.Exit(terminal.ExitDatabase, err)
	}
	l.as.Secrets.Current = l.memory.Secret
	if l.as.Kind == delivery.WebhookSepay {
		l.as.Auth, l.as.Secrets.Current = delivery.SepayAPIKey, l.memory.Key
	}
	if c.Bool("new") {
		delete(l.memory.Last, l.pair())
	}
	return l, nil
}

func address(c *cli.Context, flag string) (string, error) {
	u, err := url.Parse(c.String(flag))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", terminal.Usagef("--%s must be an address such as https://pay.shop.vn, not %q", flag, c.String(flag))
	}
	if flag == "server" {
		return u.Scheme + "://" + u.Host, nil
	}
	return u.String(), nil
}

// The wait before it connects again doubles from firstWait to lastWait.
const (
	firstWait = time.Second
	lastWait  = 30 * time.Second
)

// run reads one stream after another. Each begins where the one before it ended.
func (l *listener) run(ctx context.Context) error {
	l.say("%s is called, with the secret %s", l.as.URL, l.as.Secrets.Current)
	if last := l.memory.Last[l.pair()]; last != 0 {
		l.say("Going on after transaction %d, where this directory stopped. --new begins with what comes from now on.", last)
	}
	defer func() {
		if len(l.missing) > 0 {
			l.say("%d transactions were not taken by %s: %v", len(l.missing), l.as.URL, l.missing)
		}
	}()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		began := l.memory.Last[l.pair()]
		err := l.follow(ctx)
		if _, found := errors.AsType[*refusedError](err); found || ctx.Err() != nil {
			return err
		}
		if fault, found := errors.AsType[*localError](err); found {
			return fault.error
		}
		if l.memory.Last[l.pair()] != began {
			wait = firstWait
		}
		l.say("The connection to %s is lost: %v. It is made again in %s; nothing is left out.", l.server, err, wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// pair is the key of the server and the program in the memory.
func (l *listener) pair() string { return l.server + " " + l.as.URL }

func (l *listener) say(format string, args ...any) {
	fmt.Fprintf(l.c.App.ErrWriter, format+"\n", args...)
}

// localError is a fault of this machine. To connect again doesn't help.
type localError struct{ error }

func (l *listener) take(ctx context.Context, e event) error {
	last := l.memory.Last[l.pair()]
	switch e.name {
	case "removed":
		l.say("Taken away, because the import of their file was undone: %s", terminal.OneLine(e.data))
		return nil
	case "": // the begin of the stream
		if e.id < last {
			l.say("The newest transaction of %s is %d, but %d was received here: it was restored from an older backup.", l.server, e.id, last)
		}
	case "transaction":
		if e.id <= last {
			return nil // it came before
		}
		if err := l.forward(ctx, e); err != nil {
			return err
		}
	default:
		return nil
	}
	l.memory.Last[l.pair()] = e.id
	if err := l.memory.save(l.pair()); err != nil {
		return &localError{terminal.Exit(terminal.ExitDatabase, err)}
	}
	return nil
}

// pauseForProgram is the wait before a program that doesn't listen is called again.
const pauseForProgram = time.Second

// forward calls the program with a transaction, and prints the answer. While nothing listens
// at the program's address, it waits and tries again.
func (l *listener) forward(ctx context.Context, e event) error {
	payload, err := delivery.ParseUnsigned([]byte(e.data))
	if err != nil {
		return err
	}
	if payload.ID != strconv.FormatInt(e.id, 10) {
		return fmt.Errorf("the event %d has another transaction", e.id)
	}
	o := l.as
	o.Payload, o.Delivery = payload, delivery.Delivery{ID: e.id, CreatedAt: time.Unix(0, 0)}
	for said := false; ; said = true {
		result := l.sender.Send(ctx, o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if result.Error != delivery.ErrorRefused {
			return l.print(payload, result)
		}
		if !said {
			l.say("Nothing listens at %s. Transaction %d waits for it.", l.as.URL, e.id)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pauseForProgram):
		}
	}
}

func (l *listener) print(p delivery.Payload, r delivery.Result) error {
	if !r.OK() {
		l.missing = append(l.missing, p.ID)
	}
	var line []byte
	if l.c.String("output") == "json" {
		var err error
		line, err = terminal.LineJSON(struct {
			Transaction json.RawMessage     `json:"transaction"`
			StatusCode  int                 `json:"status_code"`
			Error       delivery.ErrorClass `json:"error,omitempty"`
			DurationMS  int64               `json:"duration_ms"`
		}{p.Unsigned(), r.StatusCode, r.Error, r.Duration.Milliseconds()})
		if err != nil {
			return err
		}
	} else {
		answer := strconv.Itoa(r.StatusCode)
		if !r.OK() {
			answer += " NOT TAKEN: " + terminal.OneLine(r.Explanation().EN)
		}
		line = fmt.Appendf(nil, "%-19s  %-8s %18s  %s  → %s (%d ms)\n", terminal.OneLine(p.TransactionDate), p.ID,
			terminal.Signed(p.TransferType, p.TransferAmount), text.Pad(terminal.Clip(terminal.OneLine(p.Content), 40), 40, ' '), answer,
			r.Duration.Milliseconds())
	}
	if _, err := l.c.App.Writer.Write(line); err != nil {
		return &localError{err}
	}
	return nil
}
