package scheduler_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/scheduler/courier"
)

func senderByName(t *testing.T, names *nameServer, allow ...string) *courier.Sender {
	t.Helper()
	policy := apptest.Targets(t, allow...)
	return senderOn(policy, names.resolver(), nil)
}

// everyAddress listens at every address of this machine, IPv4 and IPv6.
func everyAddress(t *testing.T) *countingReceiver {
	t.Helper()
	return newCountingReceiver(t, ":0", nil)
}

// forbidden are the addresses of testdata/ssrf_vectors.tsv that are denied,
// written in the URL or as an answer of DNS, and some in odder clothes.
func forbidden(t *testing.T) map[string]netip.Addr {
	t.Helper()
	data, err := os.ReadFile("../testdata/ssrf_vectors.tsv")
	must(t, err)
	found := map[string]netip.Addr{}
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(row) < 5 || row[3] != "" || row[4] != "deny" {
			continue
		}
		raw := row[1]
		if strings.HasPrefix(raw, `"`) {
			must(t, json.Unmarshal([]byte(raw), &raw))
		}
		if u, err := url.Parse(raw); err == nil {
			if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
				found[row[0]] = addr
			}
		}
		for i, answer := range strings.Split(row[2], ",") {
			if addr, err := netip.ParseAddr(answer); err == nil {
				found[fmt.Sprint(row[0], "-", i)] = addr
			}
		}
	}
	if len(found) < 25 {
		t.Fatalf("only %d addresses in the table", len(found))
	}
	for i, odd := range []string{
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::7f00:1",
		"2002:7f00:1::", "::", "::1", "127.0.1.1", "127.255.255.254", "0.0.0.0", "fe80::1", "fec0::1", "ff01::1", "2001:0:7f00:1::",
	} {
		found[fmt.Sprint("odd", i)] = netip.MustParseAddr(odd)
	}
	return found
}

// A name that leads to a forbidden address opens no connection, whatever kind
// of record says so; nor does the address itself.
func TestForbiddenAnswersOpenNoConnection(t *testing.T) {
	t.Parallel()
	names, all := startNameServer(t), everyAddress(t)
	sender, port := senderByName(t, names), all.port(t)
	for row, addr := range forbidden(t) {
		name := row + ".shop.com.vn"
		names.set(name, addr.String())
		for _, target := range []string{"http://" + net.JoinHostPort(name, port), "https://" + net.JoinHostPort(name, port),
			"http://" + net.JoinHostPort(addr.String(), port)} {
			result := sender.Send(t.Context(), sampleTo(target+"/hook?token=tell-nobody"))
			if result.Error != delivery.ErrorBlocked || result.OK() || result.StatusCode != 0 || result.Duration > 5*time.Second {
				t.Errorf("%s, %s: %q (%s) after %v, want it blocked", row, target, result.Error, result.Detail, result.Duration)
			}
			why := result.Explanation()
			if !strings.Contains(why.EN, addr.Unmap().String()) || strings.Contains(result.Detail.Text+why.EN, "tell-nobody") {
				t.Errorf("%s: detail %q, explanation %q; want the address named", row, result.Detail, why.EN)
			}
		}
	}
	if count := all.connections(t); count != 0 {
		t.Errorf("%d connections were opened", count)
	}
}

// Of several answers only those that are allowed are tried, in whatever order
// they come; a name that is on the allow-list opens whatever address it has then, but for
// those of metadata, and none for another name.
func TestMixedAnswers(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	good := newCountingReceiver(t, "127.0.0.1:0", nil)
	port := good.port(t)
	var others []*countingReceiver
	for _, host := range []string{"127.0.0.2", "127.0.0.3", "[::1]"} {
		others = append(others, newCountingReceiver(t, host+":"+port, nil))
	}
	for _, c := range []struct {
		answers []string
		allow   string
		ok      bool
	}{
		{[]string{"127.0.0.1"}, "127.0.0.1/32", true},
		{[]string{"127.0.0.2", "127.0.0.1"}, "127.0.0.1/32", true},
		{[]string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}, "127.0.0.1/32", true},
		{[]string{"127.0.0.1", "::1"}, "127.0.0.1/32", true},
		{[]string{"::1", "fe80::1", "127.0.0.1"}, "127.0.0.1/32", true},
		{[]string{"::ffff:127.0.0.2", "127.0.0.1"}, "127.0.0.1/32", true},
		{[]string{"127.0.0.2", "127.0.0.3", "::1", "10.0.0.1"}, "127.0.0.1/32", false},
		{[]string{"127.0.0.1"}, "mixed.shop.com.vn", true},
		{[]string{"169.254.169.254", "127.0.0.1"}, "mixed.shop.com.vn@" + port, true},
		{[]string{"169.254.169.254", "fd00:ec2::254"}, "mixed.shop.com.vn", false},
		{[]string{"127.0.0.1", "::1"}, "other.shop.com.vn", false},
		{[]string{"127.0.0.1"}, "127.0.0.1/32@1", false},
	} {
		names.set("mixed.shop.com.vn", c.answers...)
		before := good.accepted.Load()
		result := senderByName(t, names, c.allow).Send(t.Context(), sampleTo("http://mixed.shop.com.vn:"+port+"/"))
		if result.OK() != c.ok || !c.ok && result.Error != delivery.ErrorBlocked {
			t.Errorf("%v, allowing %s: %q (%s), status %d", c.answers, c.allow, result.Error, result.Detail, result.StatusCode)
		}
		want := int64(0)
		if c.ok {
			want = 1
		}
		if got := good.connections(t) - before; got != want {
			t.Errorf("%v: %d connections to the allowed address, want %d", c.answers, got, want)
		}
	}
	for _, r := range others {
		if got := r.connections(t); got != 0 {
			t.Errorf("%d connections to %s", got, r.Addr())
		}
	}
}

// A name that leads elsewhere at the second attempt is judged again.
func TestRebinding(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	closing := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }
	public := newCountingReceiver(t, "127.0.0.1:0", closing)
	inside := newCountingReceiver(t, "127.0.0.2:"+public.port(t), closing)
	sender := senderByName(t, names, "127.0.0.1/32")
	for i := range 6 {
		names.set("rebind.shop.com.vn", fmt.Sprintf("127.0.0.%d", 1+i%2))
		result := sender.Send(t.Context(), sampleTo("http://rebind.shop.com.vn:"+public.port(t)+"/"))
		if want := i%2 == 0; result.OK() != want || !want && result.Error != delivery.ErrorBlocked {
			t.Errorf("attempt %d: %q (%s)", i+1, result.Error, result.Detail)
		}
	}
	if got := inside.connections(t); got != 0 {
		t.Errorf("%d connections to the address that is not allowed", got)
	}
	if got := public.connections(t); got != 3 {
		t.Errorf("%d connections to the allowed address, want 3", got)
	}
}

// A shop of which one of two addresses is dead, or that has only one, is
// reached all the same, and a wait for its answer is no wait for connecting.
func TestTwoAddresses(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	alive := newCountingReceiver(t, "127.0.0.1:0", nil)
	port := alive.Addr().(*net.TCPAddr).Port
	deaf(t, "::1", port)
	names.set("dual.shop.com.vn", "::1", "127.0.0.1")
	sender := senderByName(t, names, "127.0.0.1/32", "::1/128")
	result := sender.Send(t.Context(), sampleTo(fmt.Sprintf("http://dual.shop.com.vn:%d/", port)))
	if !result.OK() || result.Duration > 3*time.Second || result.Phases.Connect < 200*time.Millisecond || result.Phases.Wait > time.Second {
		t.Errorf("IPv6 dead: %q (%s) after %v, %+v", result.Error, result.Detail, result.Duration, result.Phases)
	}

	six := newCountingReceiver(t, "[::1]:0", nil)
	names.set("six.shop.com.vn", "::1")
	names.set("refused.shop.com.vn", "127.0.0.1", "::1")
	for _, name := range []string{"six", "refused"} {
		result := sender.Send(t.Context(), sampleTo("http://"+name+".shop.com.vn:"+six.port(t)+"/"))
		if !result.OK() || result.Duration > 3*time.Second {
			t.Errorf("%s: %q (%s) after %v", name, result.Error, result.Detail, result.Duration)
		}
	}
}

// While one address is dead and the receiver behind the other hangs, the
// timeout is one of waiting for an answer.
func TestTwoAddressesAndNoAnswer(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hanging.Close()
	defer close(release)
	port := hanging.Listener.Addr().(*net.TCPAddr).Port
	deaf(t, "::1", port)
	names.set("hangs.shop.com.vn", "::1", "127.0.0.1")
	names.set("dead.shop.com.vn", "::1")
	const limit = 2 * time.Second // the second address is tried after 300 ms
	sender := senderWithin(limit, apptest.Targets(t, "127.0.0.1/32", "::1/128"), names.resolver(), nil)
	var group sync.WaitGroup
	defer group.Wait()
	for name, phase := range map[string]delivery.Cause{"hangs": delivery.CauseResponse, "dead": delivery.CauseConnect} {
		group.Go(func() {
			result := sender.Send(t.Context(), sampleTo(fmt.Sprintf("http://%s.shop.com.vn:%d/", name, port)))
			timeout := result.Error == delivery.ErrorTimeout && result.Detail == delivery.Detail{Cause: phase}
			if !timeout || result.Duration < limit || result.Duration > limit+time.Second {
				t.Errorf("%s: %q (%s) after %v, %+v; want a timeout of %s", name, result.Error, result.Detail, result.Duration, result.Phases, phase)
			}
		})
	}
}
