package acceptance_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkCallToReceiver measures the way of a transaction from the moment
// the provider's call is sent to the moment the receiver has the request, 50
// times a second over loopback, with a server in a process of its own and
// every commit synced. It prints the median and the 99th percentile, and how
// many bytes each transaction with its call and its delivery takes on the disk:
//
//	go test -run '^$' -bench CallToReceiver -benchtime 1000x ./app/acceptance
func BenchmarkCallToReceiver(b *testing.B) {
	var mu sync.Mutex
	sent, took := map[string]time.Time{}, map[string]time.Duration{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		at := time.Now()
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"transactionNumber":"`)
		number, _, _ := strings.Cut(rest, `"`)
		mu.Lock()
		defer mu.Unlock()
		took[number] = at.Sub(sent[number])
	}))
	defer receiver.Close()
	dir := b.TempDir()
	p := serveIn(b, dir, anyPort, "--allow-target", "127.0.0.1/32")
	do(b, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	do(b, dir, "webhook", "create", "--name", "w", "--url", receiver.URL, "--type", "ALL")
	fileSize := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "baoco.db"))
		if err != nil {
			b.Fatal(err)
		}
		return info.Size()
	}
	empty := fileSize()
	var source createdSource
	if err := json.Unmarshal([]byte(do(b, dir, "source", "add", "--provider", "native", "--name", "till", "-o", "json")),
		&source); err != nil {
		b.Fatal(err)
	}
	calls := &caller{url: p.url + source.URLPath, secret: source.Secret, acked: map[string]bool{}}
	tick := time.NewTicker(time.Second / 50)
	defer tick.Stop()
	b.ResetTimer()
	var all sync.WaitGroup
	for i := range b.N {
		<-tick.C
		number := fmt.Sprintf("FT%d", i)
		mu.Lock()
		sent[number] = time.Now()
		mu.Unlock()
		all.Go(func() {
			if !calls.call(number) {
				b.Errorf("%s was not acknowledged", number)
			}
		})
	}
	all.Wait()
	eventually(b, "everything arrives", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(took) == b.N
	})
	b.StopTimer()
	var sorted []time.Duration
	for _, d := range took {
		sorted = append(sorted, d)
	}
	slices.Sort(sorted)
	b.ReportMetric(float64(sorted[len(sorted)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(sorted[len(sorted)*99/100].Microseconds())/1000, "ms-p99")
	b.ReportMetric(float64(residentMB(b, p.Process.Pid)), "MB-resident")
	p.end(b)
	b.ReportMetric(float64(fileSize()-empty)/float64(b.N), "disk-B/op")
}
