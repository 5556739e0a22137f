package acceptance_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"baoco/scheduler/broker/brokertest"

	"github.com/nats-io/nats.go/jetstream"
)

func TestBrowserStreams(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	server := brokertest.StartNATS(t, "")
	server.Stream(t, jetstream.StreamConfig{Name: "SHOP", Subjects: []string{"shop.transactions"}})
	switched := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/kill" {
			server.Kill()
		} else {
			server.Start(t)
		}
	}))
	defer switched.Close()
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	source := addNative(t, dir)
	createOwner(t, dir)
	tools.drive(t, "streams.mjs", map[string]any{
		"base": p.url, "name": "lan", "password": browserPassword, "broker": server.Address, "switch": switched.URL, "source": source.URLPath,
		"secret": source.Secret,
	})
}
