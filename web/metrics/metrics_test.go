package metrics_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/metrics"
)

// What is counted of one transaction and its delivery. The server's CPU time for
// them is some 300 µs, of which the figures may take one per cent.
func BenchmarkTransaction(b *testing.B) {
	m := metrics.New("test")
	source := app.Source{ID: 1, Provider: "native"}
	for b.Loop() {
		m.Requested("inbound", 200)
		m.Called(source, nil)
		m.Recorded(source, app.Recording{Recorded: 1})
		m.Committed(time.Millisecond, 3)
		m.Attempted(app.Result{StatusCode: 200})
		m.Committed(time.Millisecond, 3)
	}
}

// However many sources there are, the figures have bounded labels.
func TestManySources(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), app.Config{})
	m := metrics.New("test")
	handler := m.Handler(w.Service)
	for id := range int64(1000) {
		m.Called(app.Source{ID: id + 1, Provider: "native"}, nil)
		m.Recorded(app.Source{ID: id + 1, Provider: "native"}, app.Recording{Recorded: 1})
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(answer.Body)
	apptest.Must(t, err)
	series := 0
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "baoco_calls_total{") {
			series++
		}
	}
	if other := `baoco_calls_total{outcome="accepted",provider="other",source="other"} 800`; series != 201 || !strings.Contains(string(body), other) {
		t.Error(fmt.Sprint(series, " series of calls"))
	}
}
