package webpush_test

import (
	"crypto/ecdh"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"baoco/app/webpush"
)

func decode(t *testing.T, text string) []byte {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The keys of the browser in appendix A of RFC 8291.
const (
	rfcP256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	rfcAuth   = "BTBZMqHH6r4Tts7J_aSIgg"
)

func TestExampleOfRFC8291(t *testing.T) {
	t.Parallel()
	browser, err := webpush.ReadBrowser(rfcP256dh, rfcAuth)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := ecdh.P256().NewPrivateKey(decode(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := browser.EncryptWith([]byte("When I grow up, I want to be a watermelon"), sender, decode(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	want := "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_" +
		"yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if text := base64.RawURLEncoding.EncodeToString(got); err != nil || text != want {
		t.Errorf("%v, %s", err, text)
	}
}

func TestBrowserKeys(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"", rfcAuth}, {"!", rfcAuth}, {rfcP256dh[:40], rfcAuth}, {"BA" + strings.Repeat("A", 85), rfcAuth},
		{rfcP256dh, ""}, {rfcP256dh, rfcAuth[:20]}, {rfcP256dh, rfcAuth + "A"}, {rfcP256dh, "!"},
	} {
		if _, err := webpush.ReadBrowser(c[0], c[1]); err == nil {
			t.Errorf("%q, %q are taken", c[0], c[1])
		}
	}
	if _, err := webpush.ReadBrowser(rfcP256dh+"=", rfcAuth+"=="); err != nil {
		t.Errorf("padded: %v", err)
	}
}

// A key that isn't one, and an endpoint that isn't one, are errors, and none of them
// repeats the endpoint.
func TestAuthorizationErrors(t *testing.T) {
	t.Parallel()
	key, err := webpush.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key      []byte
		endpoint string
	}{{nil, "https://push.vn/secret"}, {key[:31], "https://push.vn/secret"}, {key, "https://push.vn/%secret"}} {
		if _, err := webpush.Authorization(c.key, c.endpoint, "", time.Now()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", c.endpoint, err)
		}
	}
}
