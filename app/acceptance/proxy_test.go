package acceptance_test

import (
	"net/http"
	"strings"
	"testing"
)

// Behind a trusted proxy the log of refused calls has whom a call comes from.
func TestServeTrustedProxies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort, "--trusted-proxies", "127.0.0.1, 10.0.0.0/8")
	request, err := http.NewRequest("POST", p.url+"/api/webhooks/provider/nowhere", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header["X-Forwarded-For"] = []string{"203.0.113.9, 198.51.100.7", "10.1.2.3"}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	eventually(t, "the refused call is noted", func() bool {
		return strings.Contains(do(t, dir, "source", "log", "--refused"), "198.51.100.7")
	})
}
