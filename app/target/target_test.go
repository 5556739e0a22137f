package target_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"baoco/app/target"
)

func policy(t testing.TB, allow ...string) *target.Policy {
	t.Helper()
	p, err := target.ParsePolicy(allow)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTargetVectors runs the rows of testdata/ssrf_vectors.tsv, whose first
// line says what the columns are.
func TestTargetVectors(t *testing.T) {
	data, err := os.ReadFile("../../testdata/ssrf_vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "id\t") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) < 7 {
			t.Fatalf("not a row: %q", line)
		}
		rows++
		t.Run(columns[0], func(t *testing.T) {
			raw, dns, allow, expect, stage := columns[1], columns[2], columns[3], columns[4], columns[5]
			if strings.HasPrefix(raw, `"`) {
				if err := json.Unmarshal([]byte(raw), &raw); err != nil {
					t.Fatal(err)
				}
			}
			p := policy(t, strings.FieldsFunc(allow, func(r rune) bool { return r == ',' || r == ' ' })...)
			bad := p.CheckURL(raw)
			switch {
			case stage == "create":
				if bad == nil {
					t.Errorf("CheckURL(%q) accepts it; it must be refused", raw)
				} else if bad.EN == "" || bad.VI == "" {
					t.Errorf("CheckURL(%q) gives no reason in both languages: %+v", raw, *bad)
				}
				return
			case expect == "allow" && bad != nil:
				t.Errorf("CheckURL(%q) = %q; it must be accepted", raw, bad.EN)
				return
			}
			if dns == "" {
				return // a literal, which CheckURL has judged
			}
			passed := 0
			for answer := range strings.SplitSeq(dns, ",") {
				to := netip.AddrPortFrom(netip.MustParseAddr(strings.TrimSpace(answer)), portOf(t, raw))
				err := p.CheckAddr(to)
				if err == nil {
					passed++
				}
				if err == nil && (stage == "dial" || (allow == "" && !ordinary(to.Addr()))) {
					t.Errorf("CheckAddr(%s) accepts it; it must be refused", to)
				}
				if err != nil && expect == "allow" && ordinary(to.Addr()) {
					t.Errorf("CheckAddr(%s) = %v; it must be accepted", to, err)
				}
			}
			if expect == "allow" && passed == 0 {
				t.Errorf("none of %s is accepted", dns)
			}
		})
	}
	if rows < 60 {
		t.Errorf("%d rows ran; the file has more", rows)
	}
}

// ordinary tells, by the standard library's words for it, whether an address
// may be on the internet.
func ordinary(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !addr.IsLoopback() && !addr.IsLinkLocalUnicast()
}

func portOf(t testing.TB, raw string) uint16 {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if u.Port() == "" {
		return map[string]uint16{"http": 80, "https": 443}[u.Scheme]
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(n)
}

// TestCheckAddr tries the first and last address of every special range of
// IANA's registries, and the neighbours of it that are public. In hosts, an
// address stands in its form without brackets.
func TestCheckAddr(t *testing.T) {
	p := policy(t)
	for _, addr := range []string{
		"0.0.0.0", "0.0.0.1", "0.255.255.255",
		"10.0.0.0", "10.255.255.255",
		"100.64.0.0", "100.127.255.255",
		"127.0.0.0", "127.0.0.1", "127.0.0.53", "127.255.255.255",
		"169.254.0.0", "169.254.169.254", "169.254.255.255",
		"172.16.0.0", "172.31.255.255",
		"192.0.0.0", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.255",
		"192.0.2.0", "192.0.2.255",
		"192.31.196.0", "192.31.196.255",
		"192.52.193.0", "192.52.193.255",
		"192.88.99.0", "192.88.99.1", "192.88.99.2", "192.88.99.255",
		"192.168.0.0", "192.168.255.255",
		"192.175.48.0", "192.175.48.255",
		"198.18.0.0", "198.19.255.255",
		"198.51.100.0", "198.51.100.255",
		"203.0.113.0", "203.0.113.255",
		"224.0.0.0", "239.255.255.255",
		"240.0.0.0", "255.255.255.254", "255.255.255.255",
		"168.63.129.16",

		"::", "::1", "::2", "::ffff", "::127.0.0.1", "::8.8.8.8", // IPv4-compatible too
		"::ffff:0:0", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:255.255.255.255",
		"::ffff:0:8.8.8.8", // IPv4-translated (SIIT)
		"64:ff9b::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b::192.168.1.1", "64:ff9b::255.255.255.255",
		"64:ff9b::1:0:0", "64:ff9b:0:0:0:1::", // beyond the /96
		"64:ff9b:1::", "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
		"100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::",
		"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"2001::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", // Teredo
		"2001:1::1", "2001:1::2", "2001:2::", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1",
		"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
		"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
		"2002::", "2002:7f00:1::1", "2002:a9fe:a9fe::", "2002:808:808::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
		"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
		"4000::", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "8000::", "fbff::1",
		"fc00::", "fd00::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"fe00::", "fe80::", "fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::1",
		"ff00::", "ff02::1", "ff0e::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",

		"fe80::1%eth0", "::1%lo", "fd00::1%1", "::ffff:127.0.0.1%eth0", "::ffff:10.0.0.1%0", "64:ff9b::7f00:1%eth0",
	} {
		to := netip.AddrPortFrom(netip.MustParseAddr(addr), 443)
		var blocked *target.BlockedAddressError
		if err := p.CheckAddr(to); !errors.As(err, &blocked) {
			t.Errorf("CheckAddr(%s) = %v; want a BlockedAddressError", addr, err)
		} else if !strings.Contains(err.Error(), blocked.Addr.String()) ||
			(!blocked.Metadata && !strings.Contains(err.Error(), "--allow-target")) {
			t.Errorf("CheckAddr(%s): %q names neither the address nor the setting", addr, err)
		}
		if bad := p.CheckURL("https://" + hostOf(addr) + "/"); bad == nil {
			t.Errorf("CheckURL accepts %s", addr)
		}
	}
	for _, addr := range []string{
		"1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0",
		"100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0",
		"172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0",
		"192.31.195.255", "192.31.197.0", "192.52.192.255", "192.52.194.0", "192.88.98.255", "192.88.100.0",
		"192.167.255.255", "192.169.0.0", "192.175.47.255", "192.175.49.0",
		"198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0",
		"203.0.112.255", "203.0.114.0", "223.255.255.255", "14.225.0.9", "103.97.125.10",

		"::ffff:1.1.1.1", "::ffff:223.255.255.255", "64:ff9b::1.1.1.1", "64:ff9b::808:808", "64:ff9b::dfff:ffff",
		"2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::",
		"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::", "2606:4700::1111", "2a00:1450::1",
		"2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::",
		"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	} {
		if err := p.CheckAddr(netip.AddrPortFrom(netip.MustParseAddr(addr), 443)); err != nil {
			t.Errorf("CheckAddr(%s) = %v; it is public", addr, err)
		}
		if bad := p.CheckURL("https://" + hostOf(addr) + "/"); bad != nil {
			t.Errorf("CheckURL refuses %s: %s", addr, bad.EN)
		}
	}
}

func TestCheckAddrOfNothing(t *testing.T) {
	for _, p := range []*target.Policy{policy(t), policy(t, "0.0.0.0/0", "::/0")} {
		if err := p.CheckAddr(netip.AddrPort{}); err == nil {
			t.Error("the zero address is accepted; what cannot be judged must be refused")
		}
	}
}

func hostOf(addr string) string {
	if strings.Contains(addr, ":") {
		return "[" + strings.Replace(addr, "%", "%25", 1) + "]"
	}
	return addr
}

func TestCheckURL(t *testing.T) {
	long := func(n int) string { return "https://shop.vn/" + strings.Repeat("a", n-len("https://shop.vn/")) }
	label := strings.Repeat("a", 63)
	p := policy(t)
	for _, raw := range []string{
		// The shape of a URL.
		"", " ", "shop.vn", "//shop.vn/", "/hook", "http:", "http:/", "http://", "http:///", "http:///hook", "http:shop.vn", "https:/shop.vn/",
		"ftp://shop.vn/", "file:///etc/passwd", "unix:///run/docker.sock", "ws://shop.vn/", "javascript:alert(1)", "http+unix://shop.vn/",
		"httpss://shop.vn/",
		" https://shop.vn/", "https://shop.vn/ ", "https://shop.vn/\t", "https://shop.vn/\r\nX: y", "https://sh\top.vn/", "https://shop.vn/\x7f",
		"https://shop.vn/ă", "https://shöp.vn/",
		"https://shop.vn/#", "https://shop.vn/#x", "https://shop.vn#x", "https://shop.vn/%zz", "https://shop.vn/%", long(2049),
		"https://" + strings.Repeat("a.", 1100) + "vn/",
		// User info and other ways to hide the host.
		"http://user@shop.vn/", "http://user:pass@shop.vn/", "http://:@shop.vn/", "http://@shop.vn/", "http://1.1.1.1@127.0.0.1/",
		"http://127.0.0.1@1.1.1.1/",
		"http://shop.vn@/", "http://shop.vn%40127.0.0.1/", `http://shop.vn\.evil.vn/`, `http:\\shop.vn\`, `http://shop.vn\/`,
		"http://shop.vn%2f@x/", "http://shop.vn%00/", "http://shop%2evn/",
		"http://shop.vn;x/", "http://shop.vn,x.vn/", "http://<shop.vn>/", "http://shop.vn|x/", "http://{shop}.vn/", "http://shop!.vn/",
		"http://$shop.vn/", "http://*.shop.vn/", "http://shop.vn&x/", "http://'shop.vn/", "http://(shop.vn)/",
		// Ports.
		"http://shop.vn:/", "http://shop.vn:0/", "http://shop.vn:00/", "http://shop.vn:65536/", "http://shop.vn:99999999999999999999/",
		"http://shop.vn:080/", "http://shop.vn:+80/", "http://shop.vn:-80/",
		"http://shop.vn:8a/", "http://shop.vn:0x50/", "http://shop.vn:80:80/", "http://shop.vn::80/", "http://:80/", "http://shop.vn:80.0/",
		"http://1.1.1.1:/", "http://[2606:4700::1111]:/", "http://[2606:4700::1111]:080/", "http://[2606:4700::1111]:80:80/",
		// Names.
		"http://shop/", "http://shop./", "http://./", "http://../", "http://.shop.vn/", "http://shop.vn../", "http://shop..vn/",
		"http://-shop.vn/", "http://shop-.vn/", "http://shop.-vn/",
		"http://a" + label + ".vn/", "http://" + strings.Repeat(label+".", 4) + "vn/",
		"http://localhost/", "http://localhost./", "http://LocalHost:8080/", "http://a.localhost/", "http://a.localhost./", "http://shop.local/",
		"http://shop.LOCAL/", "http://shop.localdomain/", "http://localhost.localdomain/", "http://metadata.google.internal/",
		"http://metadata.google.internal./", "http://shop.internal/",
		"http://shop.intranet/", "http://shop.lan/", "http://a.b.lan./", "http://shop.corp/", "http://shop.home/", "http://shop.home.arpa/",
		"http://home.arpa/", "http://shop.test/", "http://shop.invalid/", "http://shop.onion/", "http://_http._tcp.local/",
		// Numbers that some parser takes for an address.
		"http://2130706433/", "http://017700000001/", "http://0x7f000001/", "http://0X7F000001/", "http://0x7f.1/", "http://127.0.1/",
		"http://127.1/", "http://0/", "http://0x/", "http://0177.0.0.1/", "http://127.0.0.01/", "http://127.0.0.0x1/", "http://1.1.1.1./",
		"http://1.1.1.256/", "http://1.1.1.1.1/", "http://1.1.1/",
		"http://shop.vn.1/", "http://shop.0x7f/", "http://shop.0x/", "http://1.1.1.1.0x1/", "http://shop.123./", "http://+1.1.1.1/",
		"http://００.１/", "http://①②⑦.⓪.⓪.①/",
		// IPv6.
		"http://[::1]/", "http://[::1/", "http://::1/", "http://2606:4700::1111/", "http://[2606:4700::1111/", "http://2606:4700::1111]/",
		"http://[]/", "http://[:]/", "http://[1.1.1.1]/", "http://[shop.vn]/", "http://[v1.fe80::a]/",
		"http://[2606:4700::1111%25eth0]/", "http://[2606:4700::1111%eth0]/", "http://[fe80::1%25eth0]/", "http://[2606:4700::1111]x/",
		"http://[2606:4700::1111].shop.vn/", "http://x[2606:4700::1111]/", "http://[[2606:4700::1111]]/", "http://[2606:4700::1111]]/",
		"http://[2606:4700::11111]/", "http://[2606:4700:::1]/", "http://[1:2:3:4:5:6:7:8:9]/",
		"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:ffff:0a00:1]/", "http://[::FFFF:A9FE:A9FE]/",
	} {
		bad := p.CheckURL(raw)
		if bad == nil {
			t.Errorf("CheckURL(%.80q) accepts it", raw)
		} else if bad.EN == "" || bad.VI == "" || strings.Contains(bad.EN+bad.VI, "%!") {
			t.Errorf("CheckURL(%.80q) says %+v", raw, *bad)
		}
	}
	for _, raw := range []string{
		"https://shop.vn", "https://shop.vn/", "HTTPS://SHOP.VN/Hook", "http://shop.vn?x=1", "https://shop.vn/?a=b&c=d:e@f/g?h",
		"https://shop.vn/a@b:c", `https://shop.vn/%20%00%E2%82%AB`,
		"https://shop.vn:1/", "https://shop.vn:443/", "https://shop.vn:65535/", "http://shop.vn:8080?x", "https://shop.vn./",
		"https://shop.vn.:8443/hook", "https://my_shop.vn/", "https://_hook._tcp.shop.vn/", "https://a-b.c--d.vn/",
		"https://xn--ca-xga.vn/", "https://shop.xn--vermgensberatung-pwb/", "https://1shop.vn/", "https://1.2.3.4.vn/", "https://0x7f.vn/",
		"https://shop.0xg/", "https://shop.1e5/", "https://shop.1a/", "https://3com.com/",
		"https://" + label + "." + label + "." + label + ".vn/", long(2048),
		"https://localhost.shop.vn/", "https://mylocalhost.vn/", "https://notlocal.vn/", "https://shop.mylocal/", "https://lan.shop.vn/",
		"https://arpa.vn/", "https://homearpa.vn/", "https://test.vn/", "https://shop.testing/", "https://internal.shop.vn/",
		"https://1.1.1.1", "https://1.1.1.1:8443/hook", "https://[2606:4700::1111]", "https://[2606:4700::1111]:8443/hook",
		"https://[2606:4700:0:0:0:0:0:1111]/", "https://[2606:4700::1.2.3.4]/", "https://[::ffff:101:101]/", "https://[64:ff9b::101:101]/",
	} {
		if bad := p.CheckURL(raw); bad != nil {
			t.Errorf("CheckURL(%.80q) refuses it: %s", raw, bad.EN)
		}
	}
}

func TestReachOf(t *testing.T) {
	for want, addresses := range map[target.Reach][]string{
		target.ReachUnknown: {"", "/api/webhooks/provider/x", "shop.vn", "http://", "http://%zz/"},
		target.ReachMachine: {"http://127.0.0.1:8080", "https://localhost", "http://LOCALHOST:80/x", "http://a.localhost./", "http://[::1]:8080",
			"http://[::ffff:127.0.0.1]/", "http://127.9.9.9/", "http://0.0.0.0:8080"},
		target.ReachNetwork: {"http://192.168.1.10:8080", "https://10.0.0.1", "http://172.16.0.1/", "http://100.64.0.1/", "http://169.254.1.1/",
			"http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fd00::1]/", "https://baoco.local", "http://may-chu:8080",
			"https://shop.lan./"},
		target.ReachPlain: {"http://baoco.shop.vn", "http://1.1.1.1:8080/x", "http://[2606:4700::1111]/"},
		target.ReachInternet: {"https://baoco.shop.vn/x", "HTTPS://baoco.shop.vn:8443", "https://1.1.1.1", "https://[2606:4700::1111]/",
			"https://cửa-hàng.vn/"},
	} {
		for _, address := range addresses {
			if got := target.ReachOf(address); got != want {
				t.Errorf("ReachOf(%q) = %d, not %d", address, got, want)
			}
		}
	}
}

// A refusal that a setting can lift names the setting in both languages.
func TestCheckURLNamesTheSetting(t *testing.T) {
	p := policy(t)
	for raw, setting := range map[string]string{
		"http://127.0.0.1:8080/":    "--allow-target 127.0.0.1/32@8080",
		"http://192.168.1.20/":      "--allow-target 192.168.1.20/32@80",
		"http://[fd00::1]/":         "--allow-target fd00::1/128@80",
		"http://shop.local/":        "--allow-target shop.local@80",
		"http://LOCALHOST./hook":    "--allow-target localhost@80",
		"http://wordpress:8080/":    "--allow-target wordpress@8080",
		"http://[::ffff:10.0.0.1]/": "--allow-target 10.0.0.1/32@80",
	} {
		bad := p.CheckURL(raw)
		if bad == nil || !strings.Contains(bad.EN, setting) || !strings.Contains(bad.VI, setting) {
			t.Errorf("CheckURL(%q) = %v; want %q named in both languages", raw, bad, setting)
			continue
		}
		entry := strings.TrimSuffix(strings.Fields(setting)[1], ",")
		if again := policy(t, entry).CheckURL(raw); again != nil {
			t.Errorf("with --allow-target %s CheckURL(%q) still refuses: %s", entry, raw, again.EN)
		}
	}
	for _, raw := range []string{"http://169.254.169.254/", "http://[fd00:ec2::254]/"} {
		if bad := p.CheckURL(raw); bad == nil || strings.Contains(bad.EN+bad.VI, "--allow-target") {
			t.Errorf("CheckURL(%q) = %v; no setting opens it, so none may be named", raw, bad)
		}
	}
}

func TestAllowedTargets(t *testing.T) {
	tests := []struct {
		allow   string
		to      string
		allowed bool
	}{
		{"127.0.0.1/32", "127.0.0.1:80", true},
		{"127.0.0.1/32", "127.0.0.1:9000", true},
		{"127.0.0.1/32", "127.0.0.2:80", false},
		{"127.0.0.1/32", "[::ffff:127.0.0.1]:80", true}, // the same address
		{"127.0.0.1/32", "[::1]:80", false},
		{"127.0.0.1", "127.0.0.1:80", true},
		{"127.0.0.1@8080", "127.0.0.1:8080", true},
		{"127.0.0.1@8080", "127.0.0.1:80", false},
		{" 127.0.0.1/32@8080 ", "127.0.0.1:8080", true},
		{"10.8.0.5/24", "10.8.0.0:80", true}, // host bits do not matter
		{"10.8.0.5/24", "10.8.0.255:80", true},
		{"10.8.0.5/24", "10.8.1.0:80", false},
		{"10.8.0.0/24@443", "10.8.0.9:80", false},
		{"0.0.0.0/0", "127.0.0.1:80", true},
		{"0.0.0.0/0", "[::1]:80", false},
		{"::/0", "[::1]:80", true},
		{"::/0", "127.0.0.1:80", false},
		{"fd00::/8", "[fd12::1]:80", true},
		{"fd00::/8@443", "[fd12::1]:80", false},
		{"fe80::/10", "[fe80::1%eth0]:80", true},
		{"::ffff:10.0.0.1", "10.0.0.1:80", true},
		{"10.0.0.0/8", "[64:ff9b::7f00:1]:80", false},
		{"shop.local", "192.168.1.20:80", false}, // a name opens no address for others
		{"169.254.0.0/16", "169.254.1.1:80", true},
	}
	for _, test := range tests {
		err := policy(t, test.allow).CheckAddr(netip.MustParseAddrPort(test.to))
		if (err == nil) != test.allowed {
			t.Errorf("allowing %q: CheckAddr(%s) = %v; want allowed %t", test.allow, test.to, err, test.allowed)
		}
	}

	p := policy(t, "shop.local", "WordPress.", "_db.internal", "10.8.0.0/24@8080")
	for raw, allowed := range map[string]bool{
		"http://shop.local/": true, "http://SHOP.Local.:81/": true, "http://wordpress/": true, "http://_db.internal/": true,
		"http://a.shop.local/": false, "http://myshop.local/": false, "http://local/": false, "http://wordpress.lan/": false,
		"http://10.8.0.5:8080/": true, "http://10.8.0.5/": false, "https://10.8.0.5/": false, "http://[::ffff:10.8.0.5]:8080/": true,
		"http://shop.vn/": true,
	} {
		if bad := p.CheckURL(raw); (bad == nil) != allowed {
			t.Errorf("CheckURL(%q) = %v; want allowed %t", raw, bad, allowed)
		}
	}
	if p := policy(t, "shop.lan@8000"); p.CheckURL("http://shop.lan:8000/") != nil || p.CheckURL("http://shop.lan/") == nil {
		t.Error("a name with a port opens another one, or not this one")
	}
	if bad := policy(t, "10.8.0.5@443").CheckURL("https://10.8.0.5/"); bad != nil {
		t.Errorf("the port of https is not 443: %s", bad.EN)
	}
	if bad := policy(t, "10.8.0.5@80").CheckURL("http://10.8.0.5/"); bad != nil {
		t.Errorf("the port of http is not 80: %s", bad.EN)
	}
}

// A name that is allowed opens whatever address it has when it is called, but never one
// of metadata, and nothing for another name.
func TestCheckConnection(t *testing.T) {
	p := policy(t, "shop.lan", "till.lan@8000")
	for _, test := range []struct {
		host, to string
		allowed  bool
	}{
		{"shop.lan", "192.168.1.20:80", true},
		{"SHOP.lan.", "127.0.0.1:8000", true},
		{"shop.lan", "[fd12::1]:80", true},
		{"shop.lan", "[::ffff:10.0.0.1]:80", true},
		{"shop.lan", "8.8.8.8:443", true},
		{"other.vn", "192.168.1.20:80", false},
		{"a.shop.lan", "192.168.1.20:80", false},
		{"192.168.1.20", "192.168.1.20:80", false},
		{"other.vn", "8.8.8.8:443", true},
		{"till.lan", "192.168.1.20:8000", true},
		{"till.lan", "192.168.1.20:80", false},
		{"shop.lan", "169.254.169.254:80", false},
		{"shop.lan", "[::ffff:169.254.169.254]:80", false},
		{"shop.lan", "[64:ff9b::a9fe:a9fe]:80", false},
		{"shop.lan", "[fd00:ec2::254]:80", false},
	} {
		if err := p.CheckConnection(test.host, netip.MustParseAddrPort(test.to)); (err == nil) != test.allowed {
			t.Errorf("CheckConnection(%q, %s) = %v; want allowed %t", test.host, test.to, err, test.allowed)
		}
	}
}

func TestParseTargetPolicy(t *testing.T) {
	for _, entry := range []string{
		"", " ", "@", "@80", "10.0.0.0/8@", "10.0.0.0/8@0", "10.0.0.0/8@65536", "10.0.0.0/8@-1", "10.0.0.0/8@http",
		"10.0.0.0/8@80@81", "10.0.0.0/8 @80",
		"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "10.0.0.0/8:80", "10.0.0.1:80", "256.0.0.1", "127.1", "0x7f000001",
		"2130706433", "127.0.0.01",
		"fd00::/129", "fd00::/8/8", "[fd00::1]", "[fd00::1]:80", "fd00:::1",
		"fe80::1%eth0", "fe80::1%eth0@80", "fe80::%eth0/10", // an entry that could never match
		"shop.local@", "shop.local@0", "shop.local@http", "shop.local:80", "http://shop.local", "shop.local/", "*.local", ".local", "shop..local",
		"-shop.local", "shop local", "shöp.local", "a,b", "10.0.0.0/8,10.1.0.0/16",
	} {
		if p, err := target.ParsePolicy([]string{"10.9.0.0/16", entry}); err == nil || p != nil {
			t.Errorf("ParseTargetPolicy(%q) = %v, %v; want an error alone", entry, p, err)
		} else if !strings.Contains(err.Error(), strconv.Quote(strings.TrimSpace(entry))) {
			t.Errorf("ParseTargetPolicy(%q): %q does not name the entry", entry, err)
		}
	}
	if _, err := target.ParsePolicy(nil); err != nil {
		t.Error(err)
	}
}

// An entry is refused, or it opens what it says: never silently nothing.
func TestParseTargetPolicyOfMappedNetwork(t *testing.T) {
	p, err := target.ParsePolicy([]string{"::ffff:10.0.0.0/104"})
	if err != nil {
		return
	}
	if err := p.CheckAddr(netip.MustParseAddrPort("10.1.2.3:80")); err != nil {
		t.Errorf("::ffff:10.0.0.0/104 is taken as an entry, but opens nothing: %v", err)
	}
}

func TestMetadataNeverOpens(t *testing.T) {
	for _, addr := range []string{
		"169.254.169.254",                                    // most clouds
		"169.254.169.253", "169.254.170.2", "169.254.170.23", // AWS: DNS, ECS, EKS
		"fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::23", // AWS over IPv6
		"fd20:ce::254",    // Google over IPv6
		"168.63.129.16",   // Azure
		"100.100.100.200", // Alibaba
		"169.254.0.23",    // Tencent
		"192.0.0.192",     // Oracle

		"::ffff:169.254.169.254", "::ffff:100.100.100.200", "169.254.169.254%", "fd00:ec2::254%eth0",
		"64:ff9b::169.254.169.254", "64:ff9b::168.63.129.16",
	} {
		checkNeverOpens(t, addr)
	}
}

// The addresses at which further clouds answer.
func TestMetadataOfMoreClouds(t *testing.T) {
	for _, addr := range []string{
		"169.254.42.42", "fd00:42::42", // Scaleway
		"fd00:a9fe:a9fe::1",                       // Akamai
		"fe80::a9fe:a9fe", "fe80::a9fe:a9fe%eth0", // OpenStack
	} {
		checkNeverOpens(t, addr)
	}
}

// checkNeverOpens holds addr to be refused under every way to allow it.
func checkNeverOpens(t *testing.T, addr string) {
	t.Helper()
	addr = strings.TrimSuffix(addr, "%")
	a := netip.MustParseAddr(addr)
	plain := a.WithZone("").Unmap()
	for _, allow := range [][]string{
		nil, {"0.0.0.0/0", "::/0"}, {plain.String()}, {plain.String() + "@80"}, {netip.PrefixFrom(plain, plain.BitLen()).String()},
		{a.WithZone("").String()}, {"64:ff9b::/96"},
	} {
		p := policy(t, allow...)
		err := p.CheckAddr(netip.AddrPortFrom(a, 80))
		var blocked *target.BlockedAddressError
		if !errors.As(err, &blocked) || !blocked.Metadata {
			t.Errorf("allowing %v: CheckAddr(%s) = %v; a metadata address never opens", allow, addr, err)
			return
		}
		if bad := p.CheckURL("http://" + hostOf(addr) + "/"); bad == nil {
			t.Errorf("allowing %v: CheckURL accepts %s; a metadata address never opens", allow, addr)
		}
	}
}

// FuzzCheckURL: of what CheckURL accepts, the parser that the sender uses
// reads the same host and port, no user info, and a literal that may be called.
func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{
		"https://shop.vn/hook", "http://1.1.1.1:8080/", "http://127.0.0.1/", "http://[::1]:80/", "http://[2606:4700::1111]:8443/x?y",
		"http://[::ffff:1.1.1.1]/", "http://[[2606:4700::1]]/",
		"http://a@b.vn/", `http://a.vn\@b.vn/`, "http://a.vn:80:80/", "http://a.vn#@b.vn/", "http://a.vn?@b.vn/", "http://a.vn/@b.vn",
		"http://0x7f.1/", "http://127.1/", "http://a.vn./", "HTTP://A.VN", "http://a.vn;b/", "http://[fe80::1%25a]/", "http://shop.local/",
		"http://10.8.0.1:81/",
	} {
		f.Add(seed)
	}
	policies := []*target.Policy{policy(f), policy(f, "10.8.0.0/24@81", "shop.local", "::1")}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, p := range policies {
			if p.CheckURL(raw) != nil {
				continue
			}
			u, err := url.Parse(raw)
			if err != nil {
				t.Fatalf("%q is accepted, but is no URL: %v", raw, err)
			}
			if u.User != nil || u.Opaque != "" || u.Fragment != "" || (u.Scheme != "http" && u.Scheme != "https") || len(raw) > 2048 {
				t.Fatalf("%q is accepted: %#v", raw, u)
			}
			// The authority as it is written, by the shortest way there is.
			authority := raw[strings.Index(raw, "://")+3:]
			if i := strings.IndexAny(authority, "/?#"); i >= 0 {
				authority = authority[:i]
			}
			if u.Host != authority {
				t.Fatalf("%q: the host is %q to net/url, %q as written", raw, u.Host, authority)
			}
			host, port := u.Hostname(), u.Port()
			written := host
			if strings.Contains(host, ":") {
				written = "[" + host + "]"
			}
			if port != "" {
				written += ":" + port
			}
			if written != authority || strings.HasSuffix(authority, ":") {
				t.Fatalf("%q: host %q and port %q are not all of %q", raw, host, port, authority)
			}
			if addr, err := netip.ParseAddr(host); err == nil {
				if err := p.CheckAddr(netip.AddrPortFrom(addr,
					portOf(t, strings.ToLower(raw[:strings.Index(raw, "://")])+raw[strings.Index(raw, "://"):]))); err != nil {
					t.Fatalf("%q is accepted, but its address is not: %v", raw, err)
				}
			} else if strings.ContainsAny(host, ":%[]@\\ ") {
				t.Fatalf("%q is accepted with the host %q", raw, host)
			}
		}
	})
}

// Metadata addresses stay closed inside the IPv6 addresses that a translator or a
// tunnel leads there. What else such addresses lead to opens with them.
func TestMetadataInsideIPv6(t *testing.T) {
	for _, addr := range []string{
		"::169.254.169.254", "::ffff:0:169.254.169.254", "::ffff:0:100.100.100.200",
		"64:ff9b:1::169.254.169.254",         // the local NAT64 prefix of 96 bits
		"64:ff9b:1:a9fe:a9:fe00::",           // 48
		"64:ff9b:1:12a9:fe:a9fe::",           // 56
		"64:ff9b:1:1234:a9:fea9:fe00:0",      // 64
		"2606:1:1:2:3:4:a9fe:a9fe",           // an operator's own NAT64
		"2002:a9fe:a9fe::1",                  // 6to4
		"2002:c000:c0::",                     //
		"2001:0:a9fe:a9fe::1",                // Teredo: the server
		"2001:0:102:304:8000:1234:5601:5601", // the client
		"fd00::5efe:169.254.169.254",         // ISATAP
		"2606::200:5efe:168.63.129.16",       //
	} {
		checkNeverOpens(t, addr)
	}
	p := policy(t, "::/0")
	for _, addr := range []string{"::1", "64:ff9b::10.0.0.1", "64:ff9b:1::10.0.0.1", "2606:4700::1111", "2002:a9fe::1",
		"2001:db8::1", "fd00::1"} {
		if err := p.CheckAddr(netip.AddrPortFrom(netip.MustParseAddr(addr), 80)); err != nil {
			t.Errorf("%s: %v; the operator opened it", addr, err)
		}
	}
}
