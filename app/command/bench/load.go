package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"
)

// load is what the provider will post: numbered transactions in the native format, one
// per call.
type load struct {
	url         string
	secret      string
	run         int
	connections int     // callers, each with one call at a time, as fast as they can
	rate        float64 // further calls a second, at scheduled times: they don't wait for answers
	duration    time.Duration
}

type result struct {
	count      int             // calls
	failed     map[int]string  // why calls weren't accepted, by their numbers
	first, end time.Time       // when the first call began, and when the last answer was read
	took       []time.Duration // from a call's start to the arrival at the shop, for each transaction that arrived
	last       time.Time       // when the last one arrived
	duplicates int
	lost       int   // transactions that were accepted and never arrived
	hanging    int64 // requests that hang at the end
	handshakes int64 // of TLS, with the shops
}

func (r result) accepted() int { return r.count - len(r.failed) }

// generate posts a load and waits for the last answer.
func generate(ctx context.Context, l load) (result, error) {
	transport := keepAlive(max(l.connections, 1024))
	defer transport.CloseIdleConnections()
	r := result{failed: map[int]string{}, first: time.Now()}
	var mu sync.Mutex
	call := func(n int) {
		if err := post(transport, l.url, l.secret, body(l.run, n, time.Now())); err != nil {
			mu.Lock()
			defer mu.Unlock()
			r.failed[n] = err.Error()
		}
	}
	var next atomic.Int64
	var callers sync.WaitGroup
	for range l.connections {
		callers.Go(func() {
			for ctx.Err() == nil && time.Since(r.first) < l.duration {
				call(int(next.Add(1) - 1))
			}
		})
	}
	for n := range int(l.rate * l.duration.Seconds()) {
		time.Sleep(time.Until(r.first.Add(time.Duration(float64(n) / l.rate * float64(time.Second)))))
		if ctx.Err() != nil {
			break
		}
		next.Add(1)
		callers.Go(func() { call(n) })
	}
	callers.Wait()
	r.count, r.end = int(next.Load()), time.Now()
	return r, ctx.Err()
}

func keepAlive(idle int) *http.Transport {
	return &http.Transport{
		MaxIdleConns: idle, MaxIdleConnsPerHost: idle, DisableCompression: true, ResponseHeaderTimeout: 30 * time.Second,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the relay's shops are in this process
	}
}

func post(transport *http.Transport, url, secret string, body []byte) error {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + secret}}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("HTTP %d", response.StatusCode)
	}
	return nil
}

// mark is the text before the run, the number and the time of a call in a body.
const mark = `"content":"T`

// body returns the body of a call that begins now, with transaction n of a run.
func body(run, n int, now time.Time) []byte {
	return fmt.Appendf(nil, `{"transactions":[{"id":"B%d-%08d","gateway":"ACB","transactionDate":"%s",`+
		`"transactionNumber":"B%d-%08d","accountNumber":"%s",`+mark+
		`%d-%d-%d NGUYEN VAN A chuyen khoan thanh toan don hang DH%d","transferType":"IN","transferAmount":200000}]}`,
		run, n, now.UTC().Format(app.TimeLayout), run, n, accountNumber, run, n, now.UnixNano(), n)
}

// receiver plays the shops: one answers at once, the rest never answer. It is the relay too.
type receiver struct {
	urls       []string // of the relay, then one for each webhook, since attempts to one host are limited
	server     *http.Server
	hanging    atomic.Int64 // requests that hang now
	handshakes atomic.Int64 // of TLS

	mu    sync.Mutex
	run   int
	took  map[int]time.Duration // by the numbers of the transactions that arrived
	calls int
	last  time.Time
}

// openReceiver opens the relay over plain HTTP, and the shops, with TLS if secure. Their
// certificate is written into dir.
func openReceiver(dir string, secure bool) (r *receiver, err error) {
	mux, config := http.NewServeMux(), (*tls.Config)(nil)
	r = &receiver{server: &http.Server{Handler: mux}}
	if secure {
		if config, err = certify(dir, time.Now()); err != nil {
			return nil, err
		}
		config.VerifyConnection = func(tls.ConnectionState) error { r.handshakes.Add(1); return nil }
	}
	for i := range 2 + hangingWebhooks {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, r.server.Close())
		}
		url := "http://" + l.Addr().String()
		if i > 0 && secure {
			url, l = "https://"+l.Addr().String(), tls.NewListener(l, config)
		}
		r.urls = append(r.urls, url)
		go r.server.Serve(l)
	}
	mux.HandleFunc("/shop", r.answer)
	mux.HandleFunc("/hang", r.hang)
	mux.HandleFunc("/relay", relay(r.urls[1]+"/shop"))
	return r, nil
}

// answer is the shop that answers. It searches the bytes, because reading JSON would cost
// more than the measured work.
func (r *receiver) answer(w http.ResponseWriter, request *http.Request) {
	at := time.Now()
	read, _ := io.ReadAll(http.MaxBytesReader(w, request.Body, 1<<20))
	_, marks, _ := strings.Cut(string(read), mark)
	_, _ = io.WriteString(w, `{"success":true}`)
	var run, n int
	var called int64
	_, err := fmt.Sscanf(marks, "%d-%d-%d", &run, &n, &called)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || run != r.run {
		return // it is from an earlier run
	}
	r.calls++
	if _, again := r.took[n]; !again {
		r.took[n], r.last = at.Sub(time.Unix(0, called)), at
	}
}

func (r *receiver) hang(_ http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	r.hanging.Add(1)
	defer r.hanging.Add(-1)
	<-request.Context().Done()
}

// begin clears the arrivals of earlier runs.
func (r *receiver) begin(run int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handshakes.Store(0)
	r.run, r.took, r.calls, r.last = run, map[int]time.Duration{}, 0, time.Time{}
}

func (r *receiver) arrived() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.took)
}

func (r *receiver) report(to *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	to.duplicates, to.last, to.hanging, to.handshakes = r.calls-len(r.took), r.last, r.hanging.Load(), r.handshakes.Load()
	for n := range to.count {
		took, there := r.took[n]
		if there {
			to.took = append(to.took, took)
		} else if _, failed := to.failed[n]; !failed {
			to.lost++
		}
	}
}

// relay is a handler for the measurement of the relay limit: it answers a call at once and
// forwards its body to target, without storage, signature or retry. The difference between
// baoco and the relay is the cost of baoco's promises.
func relay(target string) http.HandlerFunc {
	queue, transport := make(chan []byte, 1<<20), keepAlive(connections)
	for range connections {
		go func() {
			for body := range queue {
				_ = post(transport, target, "", body)
			}
		}()
	}
	return func(w http.ResponseWriter, request *http.Request) {
		if body, err := io.ReadAll(request.Body); err == nil {
			queue <- body
			w.WriteHeader(http.StatusAccepted)
		}
	}
}
