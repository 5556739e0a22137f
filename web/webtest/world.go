// Package webtest is the test kit of the houses of web: a whole installation
// reached over HTTP, a browser, providers' calls, live pages, and the contract
// that every answer is checked against. Only tests import it.
package webtest

import (
	"context"
	"encoding/json"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/scheduler"
	"baoco/scheduler/courier"
	"baoco/web"
)

func init() { apptest.CheapSecrets() }

// World is a whole installation on a throw-away file, reached over HTTP.
type World struct {
	*apptest.World
	URL     string
	Stop    func() // stops what Start has started
	Brokers *Brokers
}

// NewWorld starts everything that serve starts, on a new file.
func NewWorld(t testing.TB) *World {
	t.Helper()
	w := newClosedWorld(t)
	w.Start()
	t.Cleanup(func() { w.Stop() })
	return w
}

// NewStillWorld returns a world without a server and a scheduler, for a synctest bubble,
// where no time passes while it works.
func NewStillWorld(t testing.TB) *World {
	t.Helper()
	w := newClosedWorld(t)
	w.open()
	t.Cleanup(func() { w.Close() })
	return w
}

func newClosedWorld(t testing.TB) *World {
	t.Helper()
	return &World{World: &apptest.World{T: t, Path: apptest.NewFile(t)}}
}

// schedule is delivery.RetrySchedule with longer waits, so that no retry begins by itself
// during a test, also on a slow machine.
var schedule = []time.Duration{0, time.Hour, time.Hour, time.Hour, time.Hour, time.Hour}

// busy is a push service that answers 503 to everything.
type busy struct{}

func (busy) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody}, nil
}

func (w *World) open() *courier.Sender {
	w.T.Helper()
	targets := apptest.Targets(w.T, "127.0.0.1/32")
	w.Brokers = &Brokers{}
	sender, alerter := courier.NewSender(targets, "test", nil), scheduler.NewAlerter(targets, "test", nil)
	w.World = apptest.Open(w.T, w.Path, services.Config{Targets: targets, Schedule: schedule, Send: sender.Send, Alert: alerter.Send,
		TelegramChats: alerter.TelegramChats, Push: scheduler.NewAlerter(targets, "test", busy{}).Push, OpenBroker: w.Brokers.open})
	return sender
}

// Start serves the file on a loopback port, each time on another one.
func (w *World) Start() {
	w.T.Helper()
	sender := w.open()
	courier, err := scheduler.Start(w.Services, sender.Send, scheduler.Options{})
	apptest.Must(w.T, err)
	server := httptest.NewServer(web.New(web.Config{Services: w.Services, Version: "test"}))
	w.URL = server.URL
	w.Stop = func() {
		server.Close()
		stop, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		apptest.Must(w.T, courier.Stop(stop))
		w.Close()
	}
}

// Answer is an answer over HTTP.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON reads the answer's body.
func (a Answer) JSON(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(a.Body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, a.Body)
	}
	return v
}

// client follows no redirects. It has a transport of its own, since each httptest server that
// closes also closes the idle connections of http.DefaultTransport.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
	Timeout:       time.Minute,
}

// Do sends a request; header has pairs of name and value, and each is added. The answer is
// checked against openapi.yaml.
func (w *World) Do(method, path, body string, header ...string) Answer {
	w.T.Helper()
	a, err := w.Send(method, path, body, header...)
	apptest.Must(w.T, err)
	for _, f := range CheckContract(method, path, a) {
		w.T.Errorf("%s %s: %s", method, Short(path), f)
	}
	return a
}

// Send is Do without the check.
func (w *World) Send(method, path, body string, header ...string) (Answer, error) {
	request, err := http.NewRequest(method, w.URL+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	maps.Copy(request.Header, apptest.Header(header))
	return answered(client.Do(request))
}

// EventStreamType is the media type of an event stream.
const EventStreamType = "text/event-stream"

// answered reads a whole answer, or the first bytes of an event stream.
func answered(response *http.Response, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") == EventStreamType && response.Request.Method != http.MethodHead {
		start := make([]byte, 4<<10)
		n, err := response.Body.Read(start)
		return Answer{response.StatusCode, response.Header, string(start[:n])}, err
	}
	body, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(body)}, err
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// BogusKey returns a text with the form and the check digits of an API key that doesn't exist.
func BogusKey(r *rand.Rand) string {
	b := []byte("baoco_")
	for range 37 {
		b = append(b, base62[r.IntN(62)])
	}
	sum := crc32.ChecksumIEEE(b)
	check := make([]byte, 6)
	for i := 5; i >= 0; i-- {
		check[i] = base62[sum%62]
		sum /= 62
	}
	return string(b) + string(check)
}

func Heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
