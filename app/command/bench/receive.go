package bench

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// receiver plays the shops. Some answer at once, the others never do.
type receiver struct {
	shops, hanging []*listener

	mu          sync.Mutex
	runs        map[int][]*shopArrivals // by shop
	waiting     int                     // requests that hang now
	mostWaiting int                     // at once, since the last report
}

// shopArrivals is what one shop got of a run, by the number of the
// transaction.
type shopArrivals struct {
	at     []int64 // unix nanoseconds; 0: it hasn't arrived
	took   []int64 // nanoseconds from the start of the provider's call
	unique int
	calls  int
	last   int64
}

// arrivals is what came of a run at all shops.
type arrivals struct {
	unique      int // a transaction at a shop counts once
	duplicates  int
	lost        int
	last        time.Time
	steadyPerS  float64 // between 10 and 90 % of the arrivals
	latency     quantiles
	mostHanging int // requests at once
}

// listener is an HTTP server at a free port of this machine.
type listener struct {
	url   string
	close func()
}

func listen(handler http.Handler) (*listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler}
	go server.Serve(l)
	return &listener{url: "http://" + l.Addr().String() + "/", close: func() { _ = server.Close() }}, nil
}

func openReceiver(shops, hanging int) (*receiver, error) {
	r := &receiver{runs: map[int][]*shopArrivals{}}
	for i := range shops + hanging {
		handler, list := http.Handler(http.HandlerFunc(r.hang)), &r.hanging
		if i < shops {
			handler, list = r.shop(i), &r.shops
		}
		l, err := listen(handler)
		if err != nil {
			r.close()
			return nil, err
		}
		*list = append(*list, l)
	}
	return r, nil
}

func (r *receiver) close() {
	for _, l := range append(r.shops, r.hanging...) {
		l.close()
	}
}

func (r *receiver) shop(i int) http.Handler {
	bodies := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		at := time.Now().UnixNano()
		body := bodies.Get().(*bytes.Buffer)
		body.Reset()
		if _, err := body.ReadFrom(http.MaxBytesReader(w, request.Body, 1<<20)); err == nil {
			if run, n, stamp, found := readMarks(body.Bytes()); found {
				r.note(i, run, n, at, at-stamp)
			}
		}
		bodies.Put(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"success":true}`)
	})
}

// readMarks finds what the generator put into a transaction. It searches bytes,
// because reading JSON would cost the machine more than what is measured.
func readMarks(body []byte) (run, n int, stamp int64, found bool) {
	_, rest, a := bytes.Cut(body, []byte(numberMark))
	run64, rest := leadingNumber(rest)
	n64, rest := leadingNumber(bytes.TrimPrefix(rest, []byte("-")))
	_, rest, b := bytes.Cut(rest, []byte(stampMark))
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

func (r *receiver) note(shop, run, n int, at, took int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.runs[run]) <= shop {
		r.runs[run] = append(r.runs[run], &shopArrivals{})
	}
	a := r.runs[run][shop]
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

// hang takes a request and never answers it.
func (r *receiver) hang(_ http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	r.countWaiting(1)
	<-request.Context().Done()
	r.countWaiting(-1)
}

func (r *receiver) countWaiting(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting += n
	r.mostWaiting = max(r.mostWaiting, r.waiting)
}

// arrived is how many transactions of a run have arrived, once for each shop.
func (r *receiver) arrived(run int) (unique int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.runs[run] {
		unique += a.unique
	}
	return unique
}

// report gives what came of a run whose accepted transactions had to reach the
// first so many shops, and forgets the run.
func (r *receiver) report(run, shops int, c calls) arrivals {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := arrivals{mostHanging: r.mostWaiting}
	failed := map[int]bool{}
	for _, n := range c.failed {
		failed[n] = true
	}
	got := r.runs[run]
	for len(got) < shops {
		got = append(got, &shopArrivals{})
	}
	var times, took []int64
	last := int64(0)
	for i, a := range got {
		result.unique += a.unique
		result.duplicates += a.calls - a.unique
		last = max(last, a.last)
		for n, at := range a.at {
			if at != 0 {
				times, took = append(times, at), append(took, a.took[n])
			}
		}
		for n := range c.count {
			if i < shops && !failed[n] && (n >= len(a.at) || a.at[n] == 0) {
				result.lost++
			}
		}
	}
	if last > 0 {
		result.last = time.Unix(0, last)
	}
	result.steadyPerS, result.latency = steadyRate(times), quantilesOf(took)
	delete(r.runs, run)
	r.mostWaiting = r.waiting
	return result
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

// openRelay opens what the relay limit is measured with: it answers a call at
// once and forwards its body to target, without storage, signature or retry.
// The difference between baoco and the relay is what baoco's promises cost.
func openRelay(target string) (*listener, error) {
	queue := make(chan []byte, 1<<20)
	client := &http.Client{Transport: keepAlive(64)}
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
	return listen(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		queue <- body
		w.WriteHeader(http.StatusAccepted)
	}))
}
