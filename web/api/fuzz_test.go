package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/web"
	"baoco/web/webtest"
)

// fuzzed is an installation that answers in this process and sends nothing.
type fuzzed struct {
	handler http.Handler
	key     string
	sources []inbound.Source
}

func newFuzzed(f *testing.F) *fuzzed {
	f.Helper()
	w := apptest.Open(f, apptest.NewFile(f), services.Config{
		Targets: apptest.Targets(f),
		Send: func(context.Context, delivery.Outgoing) delivery.Result {
			return delivery.Result{StartedAt: time.Now(), StatusCode: 500, Error: delivery.ErrorHTTPStatus, Body: []byte("\xff<b>")}
		},
	})
	f.Cleanup(w.Close)
	z := &fuzzed{handler: web.New(web.Config{Services: w.Services, Limit: 1_000_000, ListingLimit: 1_000_000}),
		key: w.APIKey(access.ScopeFull)}
	w.Link("ACB", apptest.SomeAccount)
	w.Webhook("https://shop.vn/", delivery.WebhookAll)
	for _, add := range []inbound.SourceAdd{
		{Provider: "native", Auth: inbound.AuthBearer}, {Provider: "native", Auth: inbound.AuthHMAC},
		{Provider: "sepay", Auth: inbound.AuthAPIKey}, {Provider: "sepay", Auth: inbound.AuthHMAC},
		{Provider: "generic", Options: inbound.SourceOptions{Map: apptest.FlatMap}}, {Provider: "capcom6"},
		{Provider: "sms-to-url", Options: inbound.SourceOptions{Header: "X-Key"}}, {Provider: "vietqr"}, {Provider: "casso"}, {Provider: "pay2s"},
	} {
		z.sources = append(z.sources, w.AddSource(add))
	}
	return z
}

// do answers a request that need not be one that a server would let through.
func (z *fuzzed) do(t *testing.T, method string, to url.URL, body []byte, header ...string) webtest.Answer {
	t.Helper()
	request := &http.Request{
		Method: method, URL: &to, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, ContentLength: int64(len(body)), Host: "baoco.vn", RemoteAddr: "192.0.2.1:1",
	}
	if len(body) > 0 {
		request.Body = readCloser{bytes.NewReader(body)}
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	z.handler.ServeHTTP(recorder, request)
	a := webtest.Answer{Status: recorder.Code, Header: recorder.Header(), Body: recorder.Body.String()}
	valid := json.Valid([]byte(a.Body)) || a.Header.Get("Content-Type") == webtest.EventStreamType
	if a.Status >= 500 || a.Status >= 300 && a.Status < 400 || !valid {
		t.Errorf("%s %q ?%q %q %q: %d %s", method, to.Path, to.RawQuery, body, header, a.Status, a.Body)
	}
	return a
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// FuzzRequest: no request with a valid key, whatever its path, query, body and
// headers, is answered by anything but JSON that isn't our own fault.
func FuzzRequest(f *testing.F) {
	for i, query := range []string{
		"", "page=2&per_page=5", "type=IN&from=2024-01-01&to=2030-01-01 00:00:00", "q=%C4%91%C6%A1n&sort=-date", "since_id=9223372036854775808",
		"min_amount=1e309&max_amount=1.5", "per_page=%zz", "a;b",
		"range=weekly", "webhook_id=1&status=0&q=%00", "q=%25_%5C%27--",
	} {
		f.Add(byte(i), "1?"+query,
			[]byte(`{"id":"A1","gateway":"ACB","accountNumber":"19354957","transferType":"IN","transferAmount":100,"content":"DH"`+
				`,"transactionDate":"2024-01-02 10:00:00"}`), "vi k1")
	}
	for i, body := range []string{
		`{"name":"A","webhook_url":"https://shop.vn/","type":"IN","bank_account_id":1}`,
		`{"name":"\u0000","webhook_url":"http://①②⑦.⓪.⓪.①/","type":null}`, `{"overlap_hours":24}`, `{"from":"2024-01-01","to":"x"}`,
		"[]", "{", "null", "",
	} {
		f.Add(byte(9+i), "1?", []byte(body), "en ")
		f.Add(byte(9+i), "..;?x=1", []byte(body), " "+strings.Repeat("k", 300))
	}
	z := newFuzzed(f)
	f.Fuzz(func(t *testing.T, which byte, idAndQuery string, body []byte, headers string) {
		id, query, _ := strings.Cut(idAndQuery, "?")
		language, idempotencyKey, _ := strings.Cut(headers, " ")
		e := endpoints[int(which)%len(endpoints)]
		z.do(t, e.Method, url.URL{Path: e.at(id), RawQuery: query}, body, "Authorization", "Bearer "+z.key, "Accept-Language", language,
			"Idempotency-Key", idempotencyKey)
	})
}

// FuzzProviderCall: a call that isn't the source's records nothing and is
// refused; one that is, whatever it holds, isn't answered as our fault.
func FuzzProviderCall(f *testing.F) {
	for i := range 10 {
		for _, h := range []string{"", "Bearer x", "Apikey x", "sha256=00", "sha256=", strings.Repeat("0", 64), "9223372036854775808", "-1",
			"1763000000", "\x00", "é"} {
			f.Add(byte(i), h, h, []byte(apptest.Batch(apptest.Transfer{}.Native())))
		}
		f.Add(byte(i), "", "", []byte(apptest.Transfer{}.Sepay()))
		f.Add(byte(i), "", "", []byte("\xff{"))
	}
	f.Add(byte(5), "1763000000", "", []byte(apptest.PhoneText{}.Capcom6()))
	f.Add(byte(6), "", "", []byte(apptest.PhoneText{}.SMSToURL()))
	f.Add(byte(7), "Bearer v1.8.1763000000.x", "", []byte(apptest.VietQRBody()))
	z := newFuzzed(f)
	f.Fuzz(func(t *testing.T, which byte, first, second string, body []byte) {
		source := z.sources[int(which)%len(z.sources)]
		names := []string{"Authorization", "Authorization"}
		switch {
		case source.Auth == inbound.AuthHMAC && source.Provider == "native":
			names = []string{"X-Webhook-Signature", "X-Webhook-Signature"}
		case source.Auth == inbound.AuthHMAC && source.Provider == "capcom6":
			names = []string{"X-Timestamp", "X-Signature"}
		case source.Auth == inbound.AuthHMAC:
			names = []string{"X-SePay-Timestamp", "X-SePay-Signature"}
		case source.Provider == "casso":
			names = []string{"Secure-Token", "Secure-Token"}
		case source.Auth == inbound.AuthToken:
			names = []string{source.Options.Header, "Authorization"}
		}
		a := z.do(t, "POST", url.URL{Path: source.URLPath()}, body, names[0], first, names[1], second)
		if a.Status != 401 && a.Status != 429 {
			t.Errorf("%q, %q: %d %s", first, second, a.Status, a.Body)
		}
		a = z.do(t, "POST", url.URL{Path: source.URLPath()}, body, apptest.Credentials(source, string(body), time.Now())...)
		if a.Status != 200 && a.Status != 400 && a.Status != 413 && a.Status != 422 {
			t.Errorf("%q with a valid credential: %d %s", body, a.Status, a.Body)
		}
	})
}
