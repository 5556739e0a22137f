package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
)

// benchQuestion is what the receiver is asked: how far a run is, or, with
// Report, what came of it, whereupon the run is forgotten.
type benchQuestion struct {
	Run    int   `json:"run"`
	Report bool  `json:"report"`
	Shops  int   `json:"shops"` // that each accepted transaction must have reached
	Calls  int   `json:"calls"`
	Failed []int `json:"failed"` // calls that weren't accepted: their transactions may arrive or not
}

// benchArrived is the receiver's answer. Rates and latencies are in reports
// only.
type benchArrived struct {
	Unique      int       `json:"unique"` // a transaction at a shop, once
	Duplicates  int       `json:"duplicates"`
	Lost        int       `json:"lost"`
	LastNS      int64     `json:"last_ns"`
	SteadyPerS  float64   `json:"steady_per_s"` // between 10 and 90 % of the arrivals
	Latency     quantiles `json:"latency"`      // from the call's start to the arrival
	Hanging     int       `json:"hanging"`      // requests that are kept waiting now
	MostHanging int       `json:"most_hanging"` // at once, since the last report
}

// benchAddresses is the first line that the receiver and the relay print.
type benchAddresses struct {
	Shops   []string `json:"shops"`
	Hanging []string `json:"hanging"`
}

// benchReceiver plays the shops: some answer at once, others never do.
type benchReceiver struct {
	mu          sync.Mutex
	runs        map[int][]*shopArrivals // by shop
	shops       int
	hanging     int
	mostHanging int
}

// shopArrivals is what one shop got of a run, by the number of the
// transaction.
type shopArrivals struct {
	at     []int64 // unix nanoseconds; 0: it hasn't
	took   []int64
	unique int
	calls  int
	last   int64
}

// benchReceive is the process that plays the shops.
func benchReceive(c *cli.Context) error {
	r := &benchReceiver{runs: map[int][]*shopArrivals{}, shops: c.Int("shops")}
	var addresses benchAddresses
	for i := range c.Int("shops") + c.Int("hanging") {
		handler := http.Handler(http.HandlerFunc(r.hang))
		list := &addresses.Hanging
		if i < c.Int("shops") {
			handler, list = r.shop(i), &addresses.Shops
		}
		url, err := answerAt(handler)
		if err != nil {
			return err
		}
		*list = append(*list, url)
	}
	if err := json.NewEncoder(c.App.Writer).Encode(addresses); err != nil {
		return err
	}
	return answerLines(c, func(q benchQuestion) (benchArrived, error) { return r.answer(q), nil })
}

// answerAt serves handler at a free port of this machine.
func answerAt(handler http.Handler) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = http.Serve(l, handler) }()
	return "http://" + l.Addr().String() + "/", nil
}

func (r *benchReceiver) shop(i int) http.Handler {
	bodies := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		at := time.Now().UnixNano()
		body := bodies.Get().(*bytes.Buffer)
		body.Reset()
		if _, err := body.ReadFrom(http.MaxBytesReader(w, request.Body, 1<<20)); err == nil {
			if run, n, stamp, found := readBenchMarks(body.Bytes()); found {
				r.note(i, run, n, at, at-stamp)
			}
		}
		bodies.Put(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"success":true}`)
	})
}

// readBenchMarks finds what the generator put into a transaction. It searches
// bytes, since reading JSON would cost the machine more than it measures.
func readBenchMarks(body []byte) (run, n int, stamp int64, found bool) {
	_, rest, a := bytes.Cut(body, []byte(benchNumberMark))
	run64, rest := leadingNumber(rest)
	n64, rest := leadingNumber(bytes.TrimPrefix(rest, []byte("-")))
	_, rest, b := bytes.Cut(rest, []byte(benchStampMark))
	stamp, _ = leadingNumber(rest)
	return int(run64), int(n64), stamp, a && b && stamp > 0
}

func leadingNumber(b []byte) (n int64, rest []byte) {
	for len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		n = n*10 + int64(b[0]-'0')
		b = b[1:]
	}
	return n, b
}

func (r *benchReceiver) note(shop, run, n int, at, took int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shops := r.runs[run]
	if shops == nil {
		shops = make([]*shopArrivals, r.shops)
		for i := range shops {
			shops[i] = &shopArrivals{}
		}
		r.runs[run] = shops
	}
	a := shops[shop]
	if n >= len(a.at) {
		a.at = append(a.at, make([]int64, n+1024-len(a.at))...)
		a.took = append(a.took, make([]int64, len(a.at)-len(a.took))...)
	}
	a.calls++
	if a.at[n] == 0 {
		a.at[n], a.took[n] = at, took
		a.unique++
		a.last = max(a.last, at)
	}
}

// hang takes a request and answers when nobody waits any more.
func (r *benchReceiver) hang(_ http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	r.countHanging(1)
	<-request.Context().Done()
	r.countHanging(-1)
}

func (r *benchReceiver) countHanging(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hanging += n
	r.mostHanging = max(r.mostHanging, r.hanging)
}

func (r *benchReceiver) answer(q benchQuestion) benchArrived {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := benchArrived{Hanging: r.hanging, MostHanging: r.mostHanging}
	for _, a := range r.runs[q.Run] {
		answer.Unique += a.unique
		answer.Duplicates += a.calls - a.unique
		answer.LastNS = max(answer.LastNS, a.last)
	}
	if q.Report {
		r.report(q, &answer)
		delete(r.runs, q.Run)
		r.mostHanging = r.hanging
	}
	return answer
}

// report adds what takes a look at every arrival.
func (r *benchReceiver) report(q benchQuestion, answer *benchArrived) {
	var times, took []int64
	shops := r.runs[q.Run]
	for len(shops) < q.Shops {
		shops = append(shops, &shopArrivals{})
	}
	failed := map[int]bool{}
	for _, n := range q.Failed {
		failed[n] = true
	}
	for i, a := range shops {
		for n, at := range a.at {
			if at != 0 {
				times, took = append(times, at), append(took, a.took[n])
			}
		}
		for n := range q.Calls {
			if i < q.Shops && !failed[n] && (n >= len(a.at) || a.at[n] == 0) {
				answer.Lost++
			}
		}
	}
	answer.SteadyPerS = steadyRate(times)
	answer.Latency = quantilesOf(took)
}

// steadyRate is the rate of the arrivals between the first and the last tenth
// of them, per second.
func steadyRate(times []int64) float64 {
	slices.Sort(times)
	low, high := len(times)/10, len(times)*9/10
	if high <= low || times[high] == times[low] {
		return 0
	}
	return float64(high-low) / time.Duration(times[high]-times[low]).Seconds()
}

// benchRelay is the process that sets the bar: it answers a call at once and
// forwards its body, with no storage, no signature and no retry. What baoco
// loses against it is what its promises cost.
func benchRelay(c *cli.Context) error {
	target := c.String("to")
	if target == "" {
		return errors.New("bench relay needs --to")
	}
	queue := make(chan []byte, 1<<20)
	client := &http.Client{Transport: benchTransport(64)}
	for range 64 {
		go func() {
			for body := range queue {
				if response, err := client.Post(target, "application/json", bytes.NewReader(body)); err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			}
		}()
	}
	url, err := answerAt(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		queue <- body
		w.WriteHeader(http.StatusAccepted)
	}))
	if err != nil {
		return err
	}
	if err := json.NewEncoder(c.App.Writer).Encode(benchAddresses{Shops: []string{url}}); err != nil {
		return err
	}
	return answerLines(c, func(struct{}) (struct{}, error) { return struct{}{}, nil })
}
