package scheduler_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/scheduler/courier"
)

// countingReceiver answers 200 and counts the connections that it accepts.
type countingReceiver struct {
	net.Listener
	accepted atomic.Int64
}

func (r *countingReceiver) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if err == nil {
		r.accepted.Add(1)
	}
	return conn, err
}

func newCountingReceiver(t *testing.T, address string, handler http.HandlerFunc) *countingReceiver {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	r := &countingReceiver{Listener: listener}
	if handler == nil {
		handler = func(http.ResponseWriter, *http.Request) {}
	}
	server := httptest.NewUnstartedServer(handler)
	_ = server.Listener.Close()
	server.Listener = r
	server.Start()
	t.Cleanup(server.Close)
	return r
}

func (r *countingReceiver) port(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// connections counts what was accepted before now. Connections are accepted
// in order: once a request of the test's own is answered, none from before it
// is still on its way.
func (r *countingReceiver) connections(t *testing.T) int64 {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, "http://"+r.Addr().String()+"/", nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return r.accepted.Add(-1)
}

func sampleTo(url string) delivery.Outgoing {
	return delivery.Outgoing{
		Delivery: delivery.Delivery{ID: 1, CreatedAt: time.Unix(1760414370, 0)},
		URL:      url,
		Secrets:  delivery.Secrets{Current: "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="},
		Payload: delivery.Payload{
			ID: "1", Gateway: "ACB", TransactionDate: "2025-10-14 10:59:30", TransactionNumber: "FT1", AccountNumber: "0123", Content: "x",
			TransferType: app.In, TransferAmount: 1,
		},
	}
}

func senderAllowing(t *testing.T, allow ...string) *courier.Sender {
	t.Helper()
	policy := apptest.Targets(t, allow...)
	return courier.NewSender(policy, "test", nil)
}

func TestSenderConnectsWhereAllowedOnly(t *testing.T) {
	t.Parallel()
	r := newCountingReceiver(t, "127.0.0.1:0", nil)
	port := r.port(t)
	for _, test := range []struct {
		name  string
		host  string
		allow []string
		class delivery.ErrorClass
		count int64
	}{
		{"nothing is allowed", "127.0.0.1", nil, delivery.ErrorBlocked, 0},
		{"the address is allowed", "127.0.0.1", []string{"127.0.0.1/32"}, delivery.ErrorNone, 1},
		{"address and port are allowed", "127.0.0.1", []string{"127.0.0.1/32@" + port}, delivery.ErrorNone, 1},
		{"another port is allowed", "127.0.0.1", []string{"127.0.0.1/32@1"}, delivery.ErrorBlocked, 0},
		{"another address is allowed", "127.0.0.1", []string{"127.0.0.2/32", "10.0.0.0/8", "::/0"}, delivery.ErrorBlocked, 0},
		{"the name is allowed", "localhost", []string{"localhost"}, delivery.ErrorNone, 1},
		{"name and port are allowed", "localhost", []string{"localhost@" + port}, delivery.ErrorNone, 1},
		{"another port of the name is allowed", "localhost", []string{"localhost@1"}, delivery.ErrorBlocked, 0},
		{"another name is allowed", "localhost", []string{"shop.lan"}, delivery.ErrorBlocked, 0},
		{"an IPv4-mapped address", "[::ffff:127.0.0.1]", nil, delivery.ErrorBlocked, 0},
		{"an IPv4-mapped address that is allowed", "[::ffff:127.0.0.1]", []string{"127.0.0.1/32"}, delivery.ErrorNone, 1},
		{"the unspecified address", "0.0.0.0", nil, delivery.ErrorBlocked, 0},
		{"the unspecified address, loopback allowed", "0.0.0.0", []string{"127.0.0.0/8"}, delivery.ErrorBlocked, 0},
		{"digits in circles", "①②⑦.⓪.⓪.①", nil, delivery.ErrorDNS, 0},
		{"full-width digits", "１２７.０.０.１", nil, delivery.ErrorDNS, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.host == "localhost" {
				if addrs, err := net.LookupHost("localhost"); err != nil || len(addrs) == 0 {
					t.Skipf("localhost has no address here: %v", err)
				}
			}
			before := r.accepted.Load()
			result := senderAllowing(t, test.allow...).Send(t.Context(), sampleTo("http://"+test.host+":"+port+"/hook?token=tell-nobody"))
			if result.Error != test.class {
				t.Errorf("the attempt came to %q (%s), want %q", result.Error, result.Detail, test.class)
			}
			if test.class == delivery.ErrorNone && (result.StatusCode != 200 || !result.OK()) {
				t.Errorf("status %d", result.StatusCode)
			}
			if test.class == delivery.ErrorBlocked {
				if result.StatusCode != 0 || result.OK() {
					t.Errorf("status %d", result.StatusCode)
				}
				if !strings.Contains(result.Detail.Text, "--allow-target") || strings.Contains(result.Detail.Text, "tell-nobody") {
					t.Errorf("the detail is %q; want the setting named, and nothing of the URL's query", result.Detail)
				}
			}
			if count := r.connections(t) - before; count != test.count {
				t.Errorf("%d connections, want %d", count, test.count)
			}
		})
	}
}

func TestSenderGuardsIPv6(t *testing.T) {
	t.Parallel()
	r := newCountingReceiver(t, "[::1]:0", nil)
	for _, allow := range []string{"", "127.0.0.0/8", "::1/128"} {
		before := r.accepted.Load()
		var allowed []string
		want := int64(0)
		if allow != "" {
			allowed = []string{allow}
		}
		if allow == "::1/128" {
			want = 1
		}
		result := senderAllowing(t, allowed...).Send(t.Context(), sampleTo("http://[::1]:"+r.port(t)+"/"))
		if result.OK() != (want == 1) || (want == 0 && result.Error != delivery.ErrorBlocked) {
			t.Errorf("allowing %q: %q, status %d", allow, result.Error, result.StatusCode)
		}
		if count := r.connections(t) - before; count != want {
			t.Errorf("allowing %q: %d connections, want %d", allow, count, want)
		}
	}
}

// A redirect is a failure, wherever it leads.
func TestSenderFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	inner := newCountingReceiver(t, "127.0.0.1:0", nil)
	for _, code := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
		outer := newCountingReceiver(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://"+inner.Addr().String()+"/")
			w.WriteHeader(code)
		})
		result := senderAllowing(t, "127.0.0.1/32").Send(t.Context(), sampleTo("http://"+outer.Addr().String()+"/"))
		if result.OK() || result.StatusCode != code || result.Error != delivery.ErrorRedirect {
			t.Errorf("%d: status %d, %q", code, result.StatusCode, result.Error)
		}
	}
	if count := inner.connections(t); count != 0 {
		t.Errorf("redirects made %d connections", count)
	}
}

// TestSenderIgnoresProxies runs itself again with proxies in the environment,
// which a process reads once.
func TestSenderIgnoresProxies(t *testing.T) {
	t.Parallel()
	if os.Getenv("BAOCO_TEST_WITH_PROXY") == "" {
		proxy := newCountingReceiver(t, "127.0.0.1:0", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSenderIgnoresProxies$", "-test.v")
		child.Env = []string{"BAOCO_TEST_WITH_PROXY=" + proxy.Addr().String()}
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
			child.Env = append(child.Env, name+"=http://"+proxy.Addr().String())
		}
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestSenderIgnoresProxies") {
			t.Errorf("with proxies in the environment: %v\n%s", err, out)
		}
		if count := proxy.connections(t); count != 0 {
			t.Errorf("the proxy got %d connections", count)
		}
		return
	}

	proxy := os.Getenv("BAOCO_TEST_WITH_PROXY")
	const url = "http://10.255.255.1/hook" // never called: it is not allowed, the proxy is
	request, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if through, err := http.ProxyFromEnvironment(request); err != nil || through == nil || through.Host != proxy {
		t.Fatalf("the environment names the proxy %v (%v), so that this test shows nothing", through, err)
	}
	for _, target := range []string{url, strings.Replace(url, "http:", "https:", 1)} {
		result := senderAllowing(t, proxy[:strings.IndexByte(proxy, ':')]).Send(t.Context(), sampleTo(target))
		if result.Error != delivery.ErrorBlocked || !strings.Contains(result.Detail.Text, "10.255.255.1") {
			t.Errorf("%s: %q (%s), want 10.255.255.1 blocked", target, result.Error, result.Detail)
		}
	}
	direct := newCountingReceiver(t, "127.0.0.1:0", nil)
	if result := senderAllowing(t, "127.0.0.1").Send(t.Context(), sampleTo("http://"+direct.Addr().String()+"/")); !result.OK() {
		t.Errorf("a receiver beside the proxy: %q (%s)", result.Error, result.Detail)
	}
}

// A URL without a port means port 80, or 443 for HTTPS.
func TestDefaultPorts(t *testing.T) {
	t.Parallel()
	for scheme, port := range map[string]string{"http": "80", "https": "443"} {
		for allowed, blocked := range map[string]bool{port: false, "81": true} {
			r := senderAllowing(t, "127.0.0.1/32@"+allowed).Send(t.Context(), sampleTo(scheme+"://127.0.0.1/hook"))
			if (r.Error == delivery.ErrorBlocked) != blocked {
				t.Errorf("%s, where port %s is allowed: %q", scheme, allowed, r.Error)
			}
		}
	}
}
