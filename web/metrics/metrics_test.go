package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/app/upkeep"
	"baoco/web/metrics"
)

// What is counted of one transaction and its delivery. The server's CPU time for
// them is some 300 µs, of which the figures may take one per cent.
func BenchmarkTransaction(b *testing.B) {
	m := metrics.New("test")
	source := inbound.Source{ID: 1, Provider: "native"}
	for b.Loop() {
		m.Requested("inbound", 200)
		m.Called(source, nil)
		m.Recorded(source, inbound.Recording{Recorded: 1})
		m.Committed(time.Millisecond, 3)
		m.Attempted(delivery.Result{StatusCode: 200})
		m.Committed(time.Millisecond, 3)
	}
}

func show(figures http.Handler) string {
	answer := httptest.NewRecorder()
	figures.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	return answer.Body.String()
}

// Every version of Prometheus reads the answer, and nobody keeps it.
func TestAnswer(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	answer := httptest.NewRecorder()
	metrics.New("1.2").Handler(w.Services).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if kind := answer.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") ||
		answer.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v", answer.Header())
	}
	if !strings.Contains(answer.Body.String(), "\nbaoco_build_info{version=\"1.2\"} 1\n") {
		t.Error(answer.Body)
	}
}

// A value is counted at every bound that it isn't above.
func TestBuckets(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	m := metrics.New("test")
	m.Committed(time.Millisecond, 512)
	m.Committed(1001*time.Microsecond, 513)
	m.Committed(time.Minute, 1)
	text := show(m.Handler(w.Services))
	for _, line := range []string{
		`baoco_commit_duration_seconds_bucket{le="0.0005"} 0`, `baoco_commit_duration_seconds_bucket{le="0.001"} 1`,
		`baoco_commit_duration_seconds_bucket{le="0.002"} 2`,
		`baoco_commit_duration_seconds_bucket{le="4.096"} 2`, `baoco_commit_duration_seconds_bucket{le="+Inf"} 3`,
		"baoco_commit_duration_seconds_sum 60.002001", "baoco_commit_duration_seconds_count 3",
		`baoco_commit_batch_size_bucket{le="1"} 1`, `baoco_commit_batch_size_bucket{le="512"} 2`, `baoco_commit_batch_size_bucket{le="+Inf"} 3`,
		"baoco_commit_batch_size_sum 1026",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("there is no %s in\n%s", line, text)
		}
	}
}

// A replica shows whether it is good and when it was written to; one that nobody looked at
// for long isn't good.
func TestReplica(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	figures := metrics.New("test").Handler(w.Services)
	if text := show(figures); strings.Contains(text, "baoco_replica") {
		t.Errorf("without a replica:\n%s", text)
	}
	now := time.Now()
	for good, c := range map[string]upkeep.ReplicaCheck{
		"1":  {At: now, Written: now.Add(-time.Second)},
		"0":  {At: now, Written: now.Add(-time.Second), Problem: app.Text{EN: "It is bad.", VI: "Hỏng."}},
		"1 ": {At: now.Add(-3 * time.Minute), Written: now.Add(-time.Second), Took: time.Minute}, // a look waits for a check
		"0 ": {At: now.Add(-3 * time.Minute), Written: now.Add(-time.Second)},
	} {
		w.Services.Upkeep.SetReplicaCheck(&c)
		text := show(figures)
		if !strings.Contains(text, "\nbaoco_replica_good "+strings.TrimSpace(good)+"\n") ||
			!strings.Contains(text, fmt.Sprintf("\nbaoco_replica_written_timestamp_seconds %v\n", float64(c.Written.Unix()))) {
			t.Errorf("of %+v:\n%s", c, text)
		}
	}
}

// However many sources there are, the figures have bounded labels.
func TestManySources(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	m := metrics.New("test")
	handler := m.Handler(w.Services)
	for id := range int64(1000) {
		m.Called(inbound.Source{ID: id + 1, Provider: "native"}, nil)
		m.Recorded(inbound.Source{ID: id + 1, Provider: "native"}, inbound.Recording{Recorded: 1})
	}
	text := show(handler)
	series := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "baoco_calls_total{") {
			series++
		}
	}
	if other := `baoco_calls_total{outcome="accepted",provider="other",source="other"} 800`; series != 201 || !strings.Contains(text, other) {
		t.Error(fmt.Sprint(series, " series of calls"))
	}
}

// An active stream shows for how long its first transaction has waited.
func TestStreamBehind(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	handler := metrics.New("test").Handler(w.Services)
	const name = "baoco_stream_behind_seconds"
	if strings.Contains(show(handler), name) {
		t.Error("there is no stream")
	}
	w.Link("ACB", apptest.SomeAccount)
	for range 3 {
		w.Stream(stream.Create{})
	}
	_, err := w.Services.Streams.ToggleStream(t.Context(), 1, 3, time.Now())
	apptest.Must(t, err)
	_, _, err = w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{
		Incoming: inbound.Incoming{EventID: "1", Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: 1000},
	}, time.Now().Add(-time.Hour))
	apptest.Must(t, err)
	apptest.Must(t, w.Services.Streams.SettleStream(t.Context(), stream.Progress{StreamID: 2, To: 1}))
	text := show(handler)
	if !strings.Contains(text, name+`{stream="1"} 360`) || !strings.Contains(text, name+"{stream=\"2\"} 0\n") ||
		strings.Contains(text, `stream="3"`) {
		t.Error(text)
	}
}

// A call fails where the server couldn't do what it should, and is refused where the caller
// shouldn't have made it.
func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	m := metrics.New("test")
	for _, err := range []error{nil, app.Unavailable(errors.New("the disk is full")), errors.New("a fault"), stream.ErrNoStream} {
		m.Called(inbound.Source{ID: 1, Provider: "native"}, err)
	}
	text := show(m.Handler(w.Services))
	for outcome, n := range map[string]int{"accepted": 1, "failed": 2, "refused": 1} {
		if line := fmt.Sprintf(`baoco_calls_total{outcome=%q,provider="native",source="1"} %d`, outcome, n); !strings.Contains(text, line+"\n") {
			t.Errorf("there is no %s in\n%s", line, text)
		}
	}
}

// Transactions are counted whichever way they came: by a call, a list, a file or by hand.
func TestTransactionsOfEveryWay(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.Now()
	element := func(id string) []inbound.Incoming {
		return []inbound.Incoming{{EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Number: id, Type: app.In,
			Amount: 1000 + int64(id[0]), Time: now}}
	}
	w := apptest.Open(t, apptest.NewFile(t),
		services.Config{Poll: func(context.Context, inbound.Source, string, time.Time) (inbound.PolledPage, error) {
			return inbound.PolledPage{Body: []byte("{}"), Elements: element("list")}, nil
		}})
	defer w.Close()
	m := metrics.New("test")
	w.Services.SetMeter(m)
	w.Link("ACB", apptest.SomeAccount)
	source, err := w.Services.Inbound.AddSource(ctx, 1,
		inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthAPIKey, Name: "s", APIKey: "an API key of the list"}, now)
	apptest.Must(t, err)
	_, err = w.Services.Inbound.RecordTransactions(ctx, inbound.Call{
		AccountID: 1, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: now, Elements: element("call"),
	})
	apptest.Must(t, err)
	_, err = w.Services.Inbound.CatchUpSource(ctx, 1, source.ID, now)
	apptest.Must(t, err)
	_, _, err = w.Services.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{Incoming: element("hand")[0]}, now)
	apptest.Must(t, err)
	file, err := w.Services.Inbound.NewImport(ctx, inbound.ImportOptions{AccountID: 1, File: "a.csv"})
	apptest.Must(t, err)
	_, err = file.Add(ctx, element("file"), now)
	apptest.Must(t, err)
	text := show(m.Handler(w.Services))
	for _, line := range []string{
		`baoco_transactions_total{outcome="recorded",provider="sepay",source="1"} 2`,
		`baoco_transactions_total{outcome="recorded",provider="unknown",source="unknown"} 2`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("there is no %s in\n%s", line, text)
		}
	}
}
