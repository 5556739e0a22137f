package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"

	"github.com/urfave/cli/v2"
)

// benchLoad is what the generator is asked to do: to post numbered
// transactions, one a call, in the native format.
type benchLoad struct {
	URL         string        `json:"url"`
	Secret      string        `json:"secret"`
	Run         int           `json:"run"`
	Account     string        `json:"account"`     // number of the bank account
	Connections int           `json:"connections"` // callers, each with one call at a time
	Rate        float64       `json:"rate"`        // calls a second at their scheduled times, whoever waits; 0: as fast as the callers can
	For         time.Duration `json:"for"`
}

// benchCalls is what came of it.
type benchCalls struct {
	Calls    int            `json:"calls"`
	Failed   []int          `json:"failed"` // the numbers of those that weren't accepted
	Errors   map[string]int `json:"errors"`
	FirstNS  int64          `json:"first_ns"` // when the first call began
	EndNS    int64          `json:"end_ns"`   // when the last answer was in
	MaxLagMS float64        `json:"max_lag_ms"`
}

// accepted is how many calls were.
func (c benchCalls) accepted() int { return c.Calls - len(c.Failed) }

// benchGenerate is the process that plays the provider: a line of JSON on its
// stdin is a load, a line on its stdout what came of it. It ends with stdin.
func benchGenerate(c *cli.Context) error {
	return answerLines(c, func(load benchLoad) (benchCalls, error) { return generate(c.Context, load) })
}

// answerLines answers every JSON value of stdin with one on stdout. The parts
// of a bench talk in this way, so that none outlives the one that asks.
func answerLines[Q, A any](c *cli.Context, answer func(Q) (A, error)) error {
	// Collecting garbage would be measured as the server's.
	debug.SetGCPercent(400)
	in, out := json.NewDecoder(c.App.Reader), json.NewEncoder(c.App.Writer)
	for {
		var question Q
		if err := in.Decode(&question); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := answer(question)
		if err != nil {
			return err
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

// generator is a load under way.
type generator struct {
	benchLoad
	header    http.Header
	date      string
	transport *http.Transport

	mu     sync.Mutex
	failed []int
	errors map[string]int
}

func generate(ctx context.Context, load benchLoad) (benchCalls, error) {
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		return benchCalls{}, err
	}
	g := &generator{
		benchLoad: load, errors: map[string]int{},
		header:    http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + load.Secret}},
		date:      time.Now().In(zone).Format(app.TimeLayout),
		transport: benchTransport(max(load.Connections, 1024)),
	}
	defer g.transport.CloseIdleConnections()
	begin := time.Now()
	var calls int
	var lag time.Duration
	if load.Rate > 0 {
		calls, lag = g.onSchedule(ctx, begin)
	} else {
		calls = g.saturate(ctx, begin)
	}
	return benchCalls{
		Calls: calls, Failed: g.failed, Errors: g.errors,
		FirstNS: begin.UnixNano(), EndNS: time.Now().UnixNano(), MaxLagMS: millisecondsOf(lag),
	}, ctx.Err()
}

// benchTransport keeps its connections, and does nothing that it isn't asked.
func benchTransport(idle int) *http.Transport {
	return &http.Transport{
		MaxIdleConns: idle, MaxIdleConnsPerHost: idle, DisableCompression: true, ResponseHeaderTimeout: 30 * time.Second,
	}
}

// saturate has every caller call again as soon as they are answered.
func (g *generator) saturate(ctx context.Context, begin time.Time) int {
	var next atomic.Int64
	var callers sync.WaitGroup
	for range g.Connections {
		callers.Go(func() {
			for ctx.Err() == nil && time.Since(begin) < g.For {
				g.call(int(next.Add(1) - 1))
			}
		})
	}
	callers.Wait()
	return int(next.Load())
}

// onSchedule sends each call at its time, never waiting for the answers of
// earlier ones, and gives by how much it was late at most.
func (g *generator) onSchedule(ctx context.Context, begin time.Time) (calls int, lag time.Duration) {
	var late atomic.Int64
	var under sync.WaitGroup
	calls = max(1, int(g.Rate*g.For.Seconds()))
	for n := range calls {
		due := begin.Add(time.Duration(float64(n) / g.Rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		if ctx.Err() != nil {
			break
		}
		under.Go(func() {
			behind := int64(time.Since(due))
			for most := late.Load(); behind > most && !late.CompareAndSwap(most, behind); most = late.Load() {
			}
			g.call(n)
		})
	}
	under.Wait()
	return calls, time.Duration(late.Load())
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
	request, err := http.NewRequest(http.MethodPost, g.URL, bytes.NewReader(g.body(n)))
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

// What the receiver finds a transaction and the time of its call by.
const (
	benchNumberMark = `"transactionNumber":"B` // run-number
	benchStampMark  = `"content":"T`           // unix nanoseconds
)

// body is transaction n, with the time at which its call begins: now.
func (g *generator) body(n int) []byte {
	number := fmt.Appendf(nil, "%d-%08d", g.Run, n)
	b := make([]byte, 0, 384)
	b = append(append(append(b, `{"transactions":[{"id":"B`...), number...), `","gateway":"ACB","transactionDate":"`...)
	b = append(append(append(b, g.date...), `",`+benchNumberMark...), number...)
	b = append(append(append(b, `","accountNumber":"`...), g.Account...), `",`+benchStampMark...)
	b = strconv.AppendInt(b, time.Now().UnixNano(), 10)
	b = append(b, ` NGUYEN VAN A chuyen khoan thanh toan don hang DH`...)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, `","transferType":"IN","transferAmount":200000}]}`...)
}
