package scheduler_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/appsscript"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/scheduler/courier"
)

const webApp = "https://script.google.com/macros/s/AKfycbx0123456789abcdefghijABCDEFGHIJ_-/exec"

// google is script.google.com over TLS: it runs the script as Google does, in
// node, and answers by the redirect of one that ran, or by a page.
type google struct {
	t         *testing.T
	mu        sync.Mutex
	in        io.Writer
	out       *bufio.Scanner
	transport *http.Transport
	hold      chan string // each call waits here: see step
	elsewhere int         // requests that went to another host
}

type sheetRow []struct {
	Text, Formula string
	Value         any
}

// startGoogle deploys a script.
func startGoogle(t *testing.T, script string) *google {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the script of the sheet was not run")
	}
	file := filepath.Join(t.TempDir(), "script.gs")
	must(t, os.WriteFile(file, []byte(script), 0o600))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	command := exec.CommandContext(ctx, node, "../testdata/receivers/appsscript.mjs", file)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	must(t, err)
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	g := &google{t: t, in: in, out: bufio.NewScanner(out)}
	server := httptest.NewTLSServer(g)
	t.Cleanup(func() { server.Close(); cancel(); _ = command.Wait() })
	g.transport = throughTLS(server)
	return g
}

// throughTLS connects to a server whatever the host of a request is.
func throughTLS(server *httptest.Server) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		TLSClientConfig: &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"},
	}
}

// ask has the script run; with no contents it tells the rows alone.
func (g *google) ask(query, contents string) (fault string, rows []sheetRow) {
	g.mu.Lock()
	defer g.mu.Unlock()
	line, err := json.Marshal(map[string]string{"query": query, "contents": contents})
	must(g.t, err)
	_, err = fmt.Fprintf(g.in, "%s\n", line)
	must(g.t, err)
	if !g.out.Scan() {
		g.t.Errorf("the script's process ended: %v", g.out.Err())
		return "ended", nil
	}
	var answer struct {
		Error string
		Rows  []sheetRow
	}
	must(g.t, json.Unmarshal(g.out.Bytes(), &answer))
	return answer.Error, answer.Rows
}

func (g *google) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Host != "script.google.com" || r.Method != http.MethodPost {
		g.mu.Lock()
		g.elsewhere++
		g.mu.Unlock()
		return
	}
	contents, _ := io.ReadAll(r.Body)
	if fault, _ := g.ask(r.URL.RawQuery, string(contents)); fault != "" {
		fmt.Fprintf(w, "<html><title>Error</title>%s</html>", fault)
		return
	}
	w.Header().Set("Location", "https://script.googleusercontent.com/macros/echo?user_content_key=AehSKLjVg&lib=M1YL")
	w.WriteHeader(http.StatusFound)
}

func (g *google) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.hold != nil {
		if step := <-g.hold; step == "before" {
			<-r.Context().Done()
			return nil, r.Context().Err()
		} else if step == "after" {
			response, err := g.transport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
			if err == nil {
				_ = response.Body.Close()
			}
			g.hold <- "ran"
			<-r.Context().Done()
			return nil, errors.Join(err, r.Context().Err())
		}
	}
	return g.transport.RoundTrip(r)
}

// payments are the rows of the sheet below its heading.
func (g *google) payments() []sheetRow {
	_, rows := g.ask("", "")
	if len(rows) == 0 {
		return nil
	}
	return rows[1:]
}

func (s *installation) sheet(t *testing.T) (delivery.Webhook, string) {
	t.Helper()
	hook, secret, err := s.Services.Deliveries.CreateWebhook(t.Context(), 1,
		delivery.WebhookCreate{Name: "sheet", Kind: delivery.WebhookSheet, URL: webApp, Type: delivery.WebhookAll, Secret: sheetSecret},
		time.Now())
	must(t, err)
	return hook, secret
}

const sheetSecret = "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="

// Every payment is one row, whatever is repeated: the server is killed before a
// call, and after the script ran but before anybody heard of it; and somebody
// resends. What a payer writes is text, and so are numbers that begin with 0.
func TestSheetGetsOneRow(t *testing.T) {
	t.Parallel()
	g := startGoogle(t, delivery.SheetScript(sheetSecret, app.Vietnamese))
	path := newFile(t)
	g.hold = make(chan string)
	s := open(t, path, g)
	s.sheet(t)
	killed := func(step string) {
		t.Helper()
		g.hold <- step
		if step == "after" {
			<-g.hold
		}
		s.crash(t)
		s = open(t, path, g)
		s.start(t)
	}
	s.start(t)
	contents := []string{"=IMPORTXML(1)", "+84 901", "-1", "@SUM(1)", "0123", "DH 12/5", `"'</script>`}
	for i, content := range contents {
		_, _, err := s.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint(i), Number: fmt.Sprintf("00%d", i), Gateway: "ACB", AccountNumber: "19354957",
			Type: app.In, Amount: int64(1000 + i), Content: content,
		}}, time.Now())
		must(t, err)
		killed("before")
		killed("after")
		killed("after")
		g.hold <- "on"
		s.Until("the delivery is done", func() bool {
			_, total, err := s.Services.Deliveries.Pending(t.Context(), 1, delivery.Filter{}, app.Page{Number: 1, Size: 1})
			return err == nil && total == 0
		})
	}
	go func() { g.hold <- "on" }()
	_, err := s.Services.Deliveries.Resend(t.Context(), 1, s.history(t)[0].ID, app.IdempotencyKey{}, time.Now())
	must(t, err)
	s.Until("the resend is done", func() bool { return len(s.history(t)) == len(contents)+1 })
	for _, a := range s.history(t) {
		if !a.Result.OK() || a.Result.StatusCode != 302 || a.URL != webApp || a.Delivery.State != app.DeliveryDelivered {
			t.Errorf("%+v", a)
		}
	}
	rows := g.payments()
	if len(rows) != len(contents) {
		t.Fatalf("%d rows for %d payments", len(rows), len(contents))
	}
	for i, row := range rows {
		if row[5].Text != contents[i] || row[2].Text != "19354957" || row[6].Text != fmt.Sprintf("00%d", i) || row[3].Value != float64(1000+i) ||
			row[4].Value != "" {
			t.Errorf("row %d: %+v", i, row)
		}
		for _, cell := range row {
			if cell.Formula != "" {
				t.Errorf("row %d has the formula %s", i, cell.Formula)
			}
		}
	}
	if g.elsewhere > 0 {
		t.Error("the redirect was followed")
	}
	s.close(t)
}

// A script that stops with an error, such as for another token, is a failure, and
// is said to be one. During a rotation scripts of both secrets take the calls.
func TestSheetToken(t *testing.T) {
	t.Parallel()
	g := startGoogle(t, delivery.SheetScript(sheetSecret, app.English))
	s := open(t, newFile(t), g)
	hook, _ := s.sheet(t)
	test := func() delivery.Attempt {
		t.Helper()
		a, err := s.Services.Deliveries.TestWebhook(t.Context(), 1, hook.ID, time.Now())
		must(t, err)
		return a
	}
	if a := test(); !a.Result.OK() || len(g.payments()) != 1 {
		t.Errorf("%+v", a.Result)
	}
	query := "webhook_id=dlv_1_a&token=" + appsscript.Token(sheetSecret)
	for range 2 { // tests have no number of their own
		if fault, rows := g.ask(query, `{"transactions":[{"id":"0","transferType":"IN"}],"test":true}`); fault != "" || len(rows) != 3 {
			t.Errorf("a call that is repeated: %s, %d rows", fault, len(rows))
		}
	}
	next, err := s.Services.Deliveries.RotateSecret(t.Context(), 1, hook.ID, delivery.SecretRotate{Overlap: time.Hour}, time.Now())
	must(t, err)
	if a := test(); !a.Result.OK() {
		t.Errorf("in the overlap, by the old script: %+v", a.Result)
	}
	renewed := startGoogle(t, delivery.SheetScript(next, app.English))
	if o := (delivery.Outgoing{Kind: delivery.WebhookSheet, URL: webApp,
		Secrets: delivery.Secrets{Current: sheetSecret, Next: next, OverlapTo: time.Now().Add(time.Hour)}}); true {
		query := strings.TrimPrefix(o.Request("test", time.Now()).URL, webApp+"?")
		if fault, _ := renewed.ask(query, `{"transactions":[]}`); fault != "" {
			t.Errorf("in the overlap, by the new script: %s", fault)
		}
	}
	must(t, s.Services.Deliveries.ActivateSecret(t.Context(), 1, hook.ID, time.Now()))
	a := test()
	if a.Result.OK() || a.Result.StatusCode != 200 || a.Result.Error != delivery.ErrorHTTPStatus ||
		!strings.Contains(a.Result.Explanation().EN, "the script stopped with an error") || len(g.payments()) != 3 {
		t.Errorf("by the script of an old secret: %+v", a.Result)
	}
	details, err := s.Services.Deliveries.DeliveryDetails(t.Context(), 1, a.Delivery.ID, "test", time.Now())
	must(t, err)
	if len(details.Calls) != 1 || details.Calls[0].Request.URL != webApp || details.Now.URL != webApp {
		t.Errorf("the token is shown: %+v", details)
	}
	must(t, s.Store.Close())
}

// Only the redirect of a script that ran is a success of a sheet, and at a webhook
// of the other kind it is none.
func TestSheetAnswers(t *testing.T) {
	t.Parallel()
	const echo = "https://script.googleusercontent.com/macros/echo?user_content_key=A"
	for _, c := range []struct {
		status   int
		location string
		ok       bool
		says     string
	}{
		{302, echo, true, ""},
		{302, echo + "&lib=M", true, ""},
		{301, echo, false, "redirect"}, {303, echo, false, "redirect"}, {307, echo, false, "redirect"},
		{200, "", false, "stopped with an error"}, {200, echo, false, "stopped with an error"}, {204, "", false, ""}, {404, "", false, ""},
		{500, echo, false, ""},
		{302, "http://script.googleusercontent.com/macros/echo?user_content_key=A", false, "redirect"},
		{302, "https://script.googleusercontent.com:444/macros/echo?user_content_key=A", false, "redirect"},
		{302, "https://x@script.googleusercontent.com/macros/echo?user_content_key=A", false, "redirect"},
		{302, "https://script.googleusercontent.com.evil.vn/macros/echo?user_content_key=A", false, "redirect"},
		{302, "https://script.googleusercontent.com/macros/echo", false, "redirect"},
		{302, "https://script.googleusercontent.com/macros/echo/?user_content_key=A", false, "redirect"},
		{302, "https://script.googleusercontent.com/macros/%65cho?user_content_key=A", false, "redirect"},
		{302, "/macros/echo?user_content_key=A", false, "redirect"},
		{302, "", false, "redirect"},
		{302, "https://accounts.google.com/ServiceLogin?continue=x", false, "Google asks for a login"},
	} {
		answer := roundTrip(func(*http.Request) (*http.Response, error) {
			response := respond(c.status)
			response.Header.Set("Location", c.location)
			return response, nil
		})
		sender := courier.NewSender(apptest.Targets(t), "test", answer)
		o := outgoing(webApp)
		o.Kind = delivery.WebhookSheet
		r := sender.Send(t.Context(), o)
		if r.OK() != c.ok || r.StatusCode != c.status || !strings.Contains(r.Explanation().EN, c.says) {
			t.Errorf("%d %s: %+v %s", c.status, c.location, r, r.Explanation().EN)
		}
		o.Kind = delivery.WebhookStandard
		if r := sender.Send(t.Context(), o); r.OK() != (c.status == 200) || c.ok &&
			!strings.Contains(r.Explanation().EN, "Create a webhook of the kind Google Sheets") {
			t.Errorf("http: %d %s: %+v %s", c.status, c.location, r, r.Explanation().EN)
		}
	}
}
