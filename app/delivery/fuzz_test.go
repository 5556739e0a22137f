package delivery_test

import (
	"slices"
	"strings"
	"testing"

	"baoco/app/delivery"
)

// FuzzExplanation: whatever a receiver answers is explained as
// TestEveryFailureIsExplained wants it, and its query stays out.
func FuzzExplanation(f *testing.F) {
	for i, detail := range []string{
		"https://shop.vn/login?token=tell-nobody", "https://a@b.vn/", "//x/y", "https://shop.vn/%2e.%20. Call us. Now.", "HTTPS://[::1%25eth0]/",
		"https://shop.vn/\u202e", "10.0.0.1 is", "169.254.169.254 is",
		"expired: x", "tls", "https://shop.vn/?", "https://xn--ca-xga.vn:443/đ", "https://shop.vn/a.%0a", "::ffff:1.2.3.4 x", "fe80::1%eth0 x",
	} {
		f.Add(byte(i), 302, detail)
		f.Add(byte(slices.Index(classes, delivery.ErrorRedirect)), 302, detail)
		f.Add(byte(slices.Index(classes, delivery.ErrorBlocked)), 0, detail)
	}
	f.Fuzz(func(t *testing.T, class byte, status int, detail string) {
		r := delivery.Result{Error: classes[int(class)%len(classes)], StatusCode: status, Detail: delivery.ParseDetail(detail)}
		if r.OK() {
			return
		}
		var secrets []string
		if _, query, found := strings.Cut(detail, "?"); found && len(query) > 3 && strings.Contains(query, "=") {
			secrets = []string{query}
		}
		checkExplanation(t, detail, r.Explanation(), secrets)
	})
}
