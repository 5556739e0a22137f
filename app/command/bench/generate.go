package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"
)

// load is what the provider is to do: to post numbered transactions in the
// native format, one a call.
type load struct {
	url         string
	secret      string
	run         int
	connections int     // callers, each with one call at a time
	rate        float64 // calls a second at their scheduled times, however long the answers take; 0: as fast as the callers can
	duration    time.Duration
}

// calls is what came of a load.
type calls struct {
	count  int
	failed []int          // the numbers of those that weren't accepted
	errors map[string]int // of the failed ones
	first  time.Time      // when the first call began
	end    time.Time      // when the last answer was in
	maxLag time.Duration  // how late a call on schedule was at most
}

// accepted is how many calls were accepted.
func (c calls) accepted() int { return c.count - len(c.failed) }

// generator is a load under way.
type generator struct {
	load
	header    http.Header
	date      string
	transport *http.Transport

	mu     sync.Mutex
	failed []int
	errors map[string]int
}

// generate posts a load and waits for the last answer.
func generate(ctx context.Context, l load) (calls, error) {
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		return calls{}, err
	}
	g := &generator{
		load: l, errors: map[string]int{},
		header:    http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + l.secret}},
		date:      time.Now().In(zone).Format(app.TimeLayout),
		transport: keepAlive(max(l.connections, 1024)),
	}
	defer g.transport.CloseIdleConnections()
	c := calls{first: time.Now()}
	if l.rate > 0 {
		c.count, c.maxLag = g.onSchedule(ctx, c.first)
	} else {
		c.count = g.saturate(ctx, c.first)
	}
	c.end, c.failed, c.errors = time.Now(), g.failed, g.errors
	return c, ctx.Err()
}

// keepAlive is a transport that keeps so many connections.
func keepAlive(idle int) *http.Transport {
	return &http.Transport{
		MaxIdleConns: idle, MaxIdleConnsPerHost: idle, DisableCompression: true, ResponseHeaderTimeout: 30 * time.Second,
	}
}

// saturate has every caller call again as soon as it has its answer, and gives
// how many calls were made.
func (g *generator) saturate(ctx context.Context, begin time.Time) int {
	var next atomic.Int64
	var callers sync.WaitGroup
	for range g.connections {
		callers.Go(func() {
			for ctx.Err() == nil && time.Since(begin) < g.duration {
				g.call(int(next.Add(1) - 1))
			}
		})
	}
	callers.Wait()
	return int(next.Load())
}

// onSchedule sends each call at its time, without waiting for the answers of
// earlier ones, and gives how late a call was at most.
func (g *generator) onSchedule(ctx context.Context, begin time.Time) (count int, lag time.Duration) {
	var under sync.WaitGroup
	count = max(1, int(g.rate*g.duration.Seconds()))
	for n := range count {
		due := begin.Add(time.Duration(float64(n) / g.rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		if ctx.Err() != nil {
			break
		}
		lag = max(lag, time.Since(due))
		under.Go(func() { g.call(n) })
	}
	under.Wait()
	return count, lag
}

// call posts transaction n and notes it where it isn't accepted.
func (g *generator) call(n int) {
	err := g.post(n)
	if err == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = append(g.failed, n)
	g.errors[err.Error()]++
}

func (g *generator) post(n int) error {
	request, err := http.NewRequest(http.MethodPost, g.url, bytes.NewReader(g.body(n)))
	if err != nil {
		return err
	}
	request.Header = g.header
	response, err := g.transport.RoundTrip(request)
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

// The receiver finds the number of a transaction and the time of its call by
// these texts.
const (
	numberMark = `"transactionNumber":"B` // followed by run-number
	stampMark  = `"content":"T`           // followed by unix nanoseconds
)

// body is transaction n, with the time at which its call begins: now.
func (g *generator) body(n int) []byte {
	number := fmt.Appendf(nil, "%d-%08d", g.run, n)
	b := make([]byte, 0, 384)
	b = append(append(append(b, `{"transactions":[{"id":"B`...), number...), `","gateway":"ACB","transactionDate":"`...)
	b = append(append(append(b, g.date...), `",`+numberMark...), number...)
	b = append(b, `","accountNumber":"`+accountNumber+`",`+stampMark...)
	b = strconv.AppendInt(b, time.Now().UnixNano(), 10)
	b = append(b, ` NGUYEN VAN A chuyen khoan thanh toan don hang DH`...)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, `","transferType":"IN","transferAmount":200000}]}`...)
}
