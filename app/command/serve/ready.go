package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"baoco/app/command/terminal"

	"github.com/urfave/cli/v2"
)

// ReadyCommand is baoco ready, for programs that supervise a server on this machine.
func ReadyCommand() *cli.Command {
	flags := []cli.Flag{&cli.DurationFlag{Name: "wait", Usage: "ask again for `TIME`, until it is ready"}}
	return &cli.Command{
		Name: "ready", Usage: "ask the server on this machine whether it is ready; exit 0 if it is",
		Description: "Takes the flags of serve that say where it listens.\n\n" + terminal.Example(
			"baoco ready",
			"baoco ready --domain baoco.shop.vn --wait 30s",
		),
		Flags: append(flags, serveFlags("listen", "domain", "cert-file")...),
		Action: terminal.WithoutArguments(func(c *cli.Context) error {
			if _, _, err := net.SplitHostPort(c.String("listen")); err != nil {
				return terminal.Usagef("--listen must be an address such as %s, not %q", defaultListen, c.String("listen"))
			}
			url, client := probe(c.String("listen"), c.String("domain"), c.String("cert-file") != "")
			until := time.Now().Add(c.Duration("wait"))
			for {
				err := askReady(c.Context, client, url)
				if err == nil || !time.Now().Before(until) {
					return err
				}
				select {
				case <-c.Context.Done():
					return err
				case <-time.After(200 * time.Millisecond):
				}
			}
		}),
	}
}

func serveFlags(names ...string) []cli.Flag {
	return slices.DeleteFunc(Flags(), func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) })
}

// probe returns the URL of /readyz of a server with these settings, and a client that reaches
// it. secure: the server has --cert-file. The client connects to this machine only, so it
// trusts any certificate.
func probe(listen, domain string, secure bool) (url string, client *http.Client) {
	dial := (&net.Dialer{}).DialContext
	if socket := socketOf(listen); socket != "" {
		listen = defaultListen // only for the Host of the request, which the server ignores
		dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}
	}
	url = "http://" + localAddress(listen) + "/readyz"
	if secure {
		url = "https://" + localAddress(listen) + "/readyz"
	}
	if domain != "" {
		url = "https://127.0.0.1/readyz"
	}
	return url, &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DialContext:       dial,
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{ServerName: domain, InsecureSkipVerify: true},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// localAddress is where programs on this machine reach a server that listens at an address.
func localAddress(listen string) string {
	host, port, _ := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func askReady(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return terminal.Exit(terminal.ExitCheck, fmt.Errorf("the server does not answer: %w", err))
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return terminal.Exit(terminal.ExitCheck, fmt.Errorf("the server is not ready: %s", response.Status))
	}
	return nil
}
