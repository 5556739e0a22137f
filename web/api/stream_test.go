package api_test

import (
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/webtest"
)

// A stream that was made over the API sends under the secret that it answered, until
// another one takes its place.
func TestStreamSecret(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	secret := func(method, path, body string) string {
		t.Helper()
		return w.Do(method, path, body, key...).JSON(t)["secret"].(string)
	}
	signed := func(what, secret string, n int) {
		t.Helper()
		w.Until(what, func() bool { return len(w.Brokers.All()) == n })
		m := w.Brokers.All()[n-1]
		for _, h := range m.Headers {
			if want := delivery.Signature(secret, m.Body); h.Name == "X-Webhook-Signature" && h.Value != want {
				t.Errorf("%s: signed %s, want %s", what, h.Value, want)
			}
		}
	}
	first := secret("POST", "/api/v1/streams", `{"name":"s","url":"nats://nats.example.com","topic":"a","username":"u","password":"p"}`)
	w.Pay(1, "one", "one")
	signed("a transaction", first, 1)
	w.Until("the list tells of it", func() bool {
		return strings.Contains(w.Do("GET", "/api/v1/streams", "", key...).Body, `"since_id":"1","sent":1,"last_sent_at":"2`)
	})
	second := secret("POST", "/api/v1/streams/1/rotate-secret", "")
	w.Do("POST", "/api/v1/streams/1/test", "", key...)
	signed("a test under the new secret", second, 2)

	w.Change(`UPDATE streams SET secret = x''`)
	if a := w.Do("GET", "/api/v1/streams", "", key...); !strings.Contains(a.Body, `"secret_lost":true`) {
		t.Errorf("lost, but %s", a.Body)
	}
	if a := w.Do("POST", "/api/v1/streams/1/test", "", key...); a.Status != 409 || a.JSON(t)["code"] != "secret_lost" {
		t.Errorf("a test without a secret: %d %s", a.Status, a.Body)
	}
	if a := w.Do("POST", "/api/v1/streams/1/rotate-secret", "", key...); !strings.Contains(a.JSON(t)["messages"].(string),
		"The password of the broker is lost, too") {
		t.Errorf("rotated after a loss: %s", a.Body)
	}
}
