package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// sepayShop is a shop as SePay's documents have it: it knows who calls, reads one object,
// and answers as it is told.
type sepayShop struct {
	url   string
	calls chan sepayCall
}

type sepayCall struct {
	header http.Header
	body   string
}

func newSepayShop(t *testing.T, answer func(w http.ResponseWriter, body string)) *sepayShop {
	t.Helper()
	s := &sepayShop{calls: make(chan sepayCall, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer(w, string(body))
		s.calls <- sepayCall{r.Header, string(body)}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *sepayShop) next(t *testing.T) sepayCall {
	t.Helper()
	select {
	case c := <-s.calls:
		return c
	case <-time.After(time.Minute):
		t.Fatal("the shop is not called")
		return sepayCall{}
	}
}

// A shop that was made for SePay is called as SePay calls it: with SePay's own values where
// SePay brought the transaction, and else with an id that can't be one of SePay's.
func TestSepayWebhook(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("VCB", "0123499999")
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	byKey := newSepayShop(t, func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusCreated) })
	byHMAC := newSepayShop(t, func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, `{"success":true}`) })
	create := func(fields string) webtest.Answer {
		return w.Do("POST", "/api/v1/webhooks", `{"name":"shop","kind":"sepay","type":"ALL",`+fields+`}`, key...)
	}
	create(`"auth":"apikey","secret":"the-key-of-the-shop","headers":{"X-Firewall":"open sesame"},"webhook_url":"`+byKey.url+`"`).
		WantStatus(t, http.StatusCreated)
	var made struct{ Secret string }
	apptest.Must(t, json.Unmarshal([]byte(create(`"auth":"hmac","webhook_url":"`+byHMAC.url+`"`).Body), &made))
	if strings.Trim(made.Secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || len(made.Secret) < 32 {
		t.Errorf("the key is %q", made.Secret)
	}
	body := `{"id":92704,"gateway":"Vietcombank","transactionDate":"2023-03-25 14:02:37","accountNumber":"0123499999",` +
		`"code":"DH12","content":"chuyen tien mua iphone","transferType":"in","transferAmount":2277000,"accumulated":19077000,` +
		`"subAccount":"VQR001","referenceCode":"MBVCB.3278907687","description":"BankAPINotify \u0111"}`
	w.Wants(webtest.Counts{Recorded: 1}, w.Sepay(), body)
	called := byKey.next(t)
	const want = `{"id":92704,"gateway":"Vietcombank","transactionDate":"2023-03-25 14:02:37","accountNumber":"0123499999",` +
		`"subAccount":"VQR001","code":"DH12","content":"chuyen tien mua iphone","transferType":"in","description":"BankAPINotify đ",` +
		`"transferAmount":2277000,"accumulated":19077000,"referenceCode":"MBVCB.3278907687"}`
	if called.body != want {
		t.Errorf("the body is\n%s, want\n%s", called.body, want)
	}
	if h := called.header; h.Get("Authorization") != "Apikey the-key-of-the-shop" || h.Get("X-Firewall") != "open sesame" ||
		h.Get("Content-Type") != "application/json" || h.Get("Accept") != "application/json" || h.Get("X-Webhook-Signature") != "" ||
		h.Get("Webhook-Id") != "" {
		t.Errorf("the headers are %v", h)
	}
	called = byHMAC.next(t)
	stamp := called.header.Get("X-SePay-Timestamp")
	if called.header.Get("X-SePay-Signature") != "sha256="+delivery.Signature(made.Secret, []byte(stamp+"."+called.body)) ||
		called.body != want || called.header.Get("Authorization") != "" {
		t.Errorf("by HMAC: %v %s", called.header, called.body)
	}

	w.Wants(webtest.Counts{Recorded: 1}, w.Native(), apptest.Batch(apptest.Transfer{ID: "N1", Gateway: "VCB", Account: "0123499999"}.Native()))
	var sent struct {
		ID                                                int64
		Gateway, TransferType, ReferenceCode, Description string
		SubAccount, Code                                  *string
		TransferAmount, Accumulated                       int64
	}
	apptest.Must(t, json.Unmarshal([]byte(byKey.next(t).body), &sent))
	if sent.ID <= 1_000_000_000 || sent.Gateway != "Vietcombank" || sent.TransferType != "in" || sent.SubAccount != nil || sent.Code != nil ||
		sent.TransferAmount != 200_000 || sent.ReferenceCode != strconv.FormatInt(sent.ID, 10) {
		t.Errorf("of another provider, without a number: %+v", sent)
	}

	// What the dashboard and the API show has neither key nor value.
	for _, path := range []string{"/api/v1/webhooks", "/api/v1/webhooks/1", "/api/v1/webhooks/history"} {
		w.Do("GET", path, "", key...).Hides(t, "the-key-of-the-shop", "open sesame", made.Secret)
	}
	w.Do("GET", "/api/v1/webhooks/1", "", key...).Shows(t, `"kind":"sepay"`, `"auth":"apikey"`, `"headers":["X-Firewall"]`)
	w.Do("PUT", "/api/v1/webhooks/1", `{"headers":{}}`, key...).Hides(t, "X-Firewall")
}

// In whatever format SePay calls, and whatever bytes are in it, a shop gets JSON that it can
// read, with an id that no other transaction has.
func TestSepayFormats(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	shop := newSepayShop(t, func(http.ResponseWriter, string) {})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","kind":"sepay","auth":"apikey","type":"IN","webhook_url":"`+shop.url+`"}`,
		"Authorization", "Bearer "+w.APIKey(access.ScopeFull)).WantStatus(t, http.StatusCreated)
	source, ids := w.Sepay(), map[int64]bool{}
	multipart := func(fields ...string) string {
		var b strings.Builder
		for i := 0; i < len(fields); i += 2 {
			fmt.Fprintf(&b, "--x\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", fields[i], fields[i+1])
		}
		return b.String() + "--x--\r\n"
	}
	const money = `"gateway":"ACB","accountNumber":"` + apptest.SomeAccount + `","transferType":"in","transferAmount":200000`
	const form = "&gateway=ACB&accountNumber=" + apptest.SomeAccount + "&transferType=in&transferAmount=200000"
	for _, c := range []struct{ call, code, content, accumulated string }{
		{`{"id":7,"code":"DH7","content":"a","accumulated":"007",` + money + `}`, `"DH7"`, "a", "7"},
		{`{"id":"07","content":"another",` + money + `}`, "null", "another", "0"},
		{`{"id":"+7","content":"one more",` + money + `}`, "null", "one more", "0"},
		{`{"id":11,"code":null,"content":"b","accumulated":99999999999999999999,` + money + `}`, "null", "b", "0"},
		{`{"id":12,"code":"","content":"c","content":"other","accumulated":-5,` + money + `}`, "null", "c", "-5"},
		{`{"id":8,"content":"d` + "\xff" + `","accumulated":1.5,` + money + `}`, "null", "d\ufffd", "0"},
		{"id=9&code=DH9&content=e%ff&accumulated=0012" + form, `"DH9"`, "e\ufffd", "12"},
		{multipart("id", "10", "code", "DH10", "content", "f & content=x", "accumulated", "5", "gateway", "ACB", "accountNumber",
			apptest.SomeAccount, "transferType", "in", "transferAmount", "200000"), `"DH10"`, "f & content=x", "5"},
	} {
		w.Wants(webtest.Counts{Recorded: 1}, source, c.call)
		body := shop.next(t).body
		var sent struct {
			ID                int64
			Content           string
			Code, Accumulated json.RawMessage
		}
		if err := json.Unmarshal([]byte(body), &sent); err != nil || !utf8.ValidString(body) {
			t.Errorf("%q makes %q: %v", c.call, body, err)
		} else if ids[sent.ID] || string(sent.Code) != c.code || sent.Content != c.content || string(sent.Accumulated) != c.accumulated {
			t.Errorf("%q makes %s", c.call, body)
		}
		ids[sent.ID] = true
	}
}

// The id of a transaction is SePay's own or one of ours, which no other transaction or test has. It
// is the same on a resend, and after a restart.
func TestSepayIDs(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	shop := newSepayShop(t, func(http.ResponseWriter, string) {})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","kind":"sepay","auth":"apikey","type":"ALL","webhook_url":"`+shop.url+`"}`, key...).
		WantStatus(t, http.StatusCreated)
	next := func() (body string, id int64) {
		t.Helper()
		var sent struct{ ID int64 }
		body = shop.next(t).body
		apptest.Must(t, json.Unmarshal([]byte(body), &sent))
		return body, sent.ID
	}
	var bodies []string // of the history records 1, 2, …
	ids := map[int64]bool{}
	send := func(least, end int64) {
		t.Helper()
		body, id := next()
		if id < least || id >= end || ids[id] {
			t.Errorf("call %d has the id %d, which is known, or not from %d on before %d", len(bodies)+1, id, least, end)
		}
		bodies, ids[id] = append(bodies, body), true
		apptest.Must(t, w.WaitHistory(int64(len(bodies))))
	}
	const own, tests = 1_000_000_000, 2_000_000_000
	sepay, native := w.Sepay(), w.Native()
	for i := range 2 {
		w.Wants(webtest.Counts{Recorded: 1}, sepay, fmt.Sprintf(`{"id":%d,"gateway":"ACB","accountNumber":"%s","transferType":"in",
			"content":"%d","transferAmount":200000}`, 501+i, apptest.SomeAccount, i))
		send(int64(501+i), int64(502+i))
		w.Wants(webtest.Counts{Recorded: 1}, native,
			apptest.Batch(apptest.Transfer{ID: fmt.Sprint("N", i), Content: fmt.Sprint("n", i)}.Native()))
		send(own+1, tests)
		w.Do("POST", "/api/v1/webhooks/1/test", "", key...).WantStatus(t, http.StatusOK)
		send(tests+1, 1<<31)
	}
	for restart := range 2 {
		for i, body := range bodies {
			w.Do("POST", fmt.Sprintf("/api/v1/webhooks/%d/resend", i+1), "", key...).WantStatus(t, http.StatusAccepted)
			if again, _ := next(); again != body {
				t.Errorf("record %d is sent again as %s, and was %s", i+1, again, body)
			}
		}
		if restart == 0 {
			w.Stop()
			w.Start()
		}
	}
	w.Do("POST", "/api/v1/webhooks/1/test", "", key...).WantStatus(t, http.StatusOK)
	if _, id := next(); id <= tests || ids[id] {
		t.Errorf("a test after a restart has the id %d", id)
	}
}

// A shop of SePay's took a delivery where it answers 2xx and doesn't say that it failed.
func TestAnswersOfSepayShops(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	answers := []struct {
		status int
		body   string
		class  string // of the failure; empty: it was taken
	}{
		{200, `{"success":true}`, ""}, {201, "", ""}, {204, "", ""}, {299, "ok", ""}, {200, "<html>thanks</html>", ""},
		{200, `{"success":"true"}`, ""}, {200, `[{"success":false}]`, ""}, {200, `{"data":{"success":false}}`, ""},
		{200, strings.Repeat("x", 10<<20), ""}, {200, `{"success":false,"pad":"` + strings.Repeat("x", 64<<10) + `"}`, ""},
		{200, `{"success":false,"message":"no order DH12"}`, "answer"}, {201, ` { "success" : false } `, "answer"},
		{200, `{"success":"false","message":"no order DH12"}`, "answer"},
		{200, "<br />\n<b>Warning</b>: Undefined key in s.php<br />\n" + `{"success":false}`, "answer"},
		{200, "\ufeff" + `{"success":false}`, "answer"}, {200, `{"success":false}` + "\n<!-- 12 ms -->", "answer"},
		{302, "", "redirect"}, {404, `{"success":true}`, "http_status"}, {500, "", "http_status"},
	}
	shop := newSepayShop(t, func(w http.ResponseWriter, body string) {
		var sent struct{ Content string }
		_ = json.Unmarshal([]byte(body), &sent)
		n, _ := strconv.Atoi(sent.Content)
		w.WriteHeader(answers[n].status)
		_, _ = io.WriteString(w, answers[n].body)
	})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","kind":"sepay","auth":"apikey","type":"IN","webhook_url":"`+shop.url+`"}`, key...).
		WantStatus(t, http.StatusCreated)
	source := w.Native()
	for n := range answers {
		w.Wants(webtest.Counts{Recorded: 1}, source, apptest.Batch(apptest.Transfer{ID: fmt.Sprint(n), Content: fmt.Sprint(n)}.Native()))
	}
	seen := map[int]string{}
	for _, a := range w.Attempts(1, len(answers)) {
		n, _ := strconv.Atoi(a.Payload.Content)
		if seen[n] = string(a.Result.Error); a.Result.OK() != (a.Result.Error == "") {
			t.Errorf("answer %d: %+v", n, a.Result)
		}
	}
	for n, a := range answers {
		if seen[n] != a.class {
			t.Errorf("%d %.60q: %q, want %q", a.status, a.body, seen[n], a.class)
		}
	}
}

// What a webhook gets can be changed, for transactions that are recorded afterwards.
func TestChangedFilters(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	first, second := w.Link("ACB", apptest.SomeAccount), w.Link("VCB", "0123499999")
	w.CodePattern("DH")
	w.CodePattern("HD")
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	shop := newSepayShop(t, func(http.ResponseWriter, string) {})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","type":"IN","webhook_url":"`+shop.url+`","code_only":true}`, key...).
		WantStatus(t, http.StatusCreated)
	source, n := w.Native(), 0
	heard := func(want bool, bank, account, content string) {
		t.Helper()
		n++
		before := w.Rows("deliveries")
		w.Wants(webtest.Counts{Recorded: 1}, source,
			apptest.Batch(apptest.Transfer{ID: fmt.Sprint(n), Gateway: bank, Account: account, Content: content}.Native()))
		if got := w.Rows("deliveries") > before; got != want {
			t.Errorf("%q on %s is delivered: %t", content, account, got)
		}
	}
	change := func(fields string) webtest.Answer { return w.Do("PUT", "/api/v1/webhooks/1", "{"+fields+"}", key...) }
	heard(false, "ACB", apptest.SomeAccount, "tien com")
	heard(true, "ACB", apptest.SomeAccount, "DH00000001")
	change(`"code_prefixes":["HD"]`).WantStatus(t, http.StatusOK)
	heard(false, "ACB", apptest.SomeAccount, "DH00000002")
	heard(true, "VCB", "0123499999", "HD00000003")
	change(fmt.Sprintf(`"code_prefixes":[],"code_only":false,"bank_account_ids":[%d]`, second.ID)).WantStatus(t, http.StatusOK)
	heard(false, "ACB", apptest.SomeAccount, "DH00000004")
	heard(true, "VCB", "0123499999", "tien com")
	change(fmt.Sprintf(`"bank_account_ids":[%d,%d]`, first.ID, second.ID)).Shows(t,
		fmt.Sprintf(`"bank_account_ids":[%d,%d]`, first.ID, second.ID))
	heard(true, "ACB", apptest.SomeAccount, "tien com")
	change(`"bank_account_ids":[]`).Shows(t, `"bank_account_id":null`)
	change(`"code_prefixes":["NONE"]`).Shows(t, "this webhook gets nothing")
	for _, bad := range []string{`"bank_account_ids":[99]`, `"code_prefixes":["d"]`, `"code_prefixes":[""]`, `"kind":"sepay"`,
		`"headers":{"Host":"x"}`, `"headers":{"Content-Length":"1"}`, `"headers":{"webhook-id":"x"}`, `"headers":{"X-A":"a\nb"}`,
		`"headers":{"X A":"b"}`, `"headers":{"X-A":""}`, `"headers":{"a":"1","b":"2","c":"3","d":"4","e":"5","f":"6"}`,
		`"headers":{"X-A":"1","x-a":"2"}`, `"headers":{"X-SePay-Signature":"sha256=1"}`, `"headers":{"x-sepay-timestamp":"1"}`,
		`"headers":{"X-Webhook-Signature":"1"}`, `"headers":{"X-A":"` + strings.Repeat("b", 1001) + `"}`} {
		change(bad).WantStatus(t, http.StatusUnprocessableEntity)
	}
	change(`"headers":{"X-A":"`+strings.Repeat("b", 1000)+`"}`).WantStatus(t, http.StatusOK)
	for _, bad := range []string{`"kind":"sepay"`, `"kind":"sepay","auth":"basic"`, `"kind":"sepay","auth":"apikey","secret":"short"`,
		`"kind":"sepay","auth":"apikey","secret":"1234567"`, `"kind":"sepay","auth":"hmac","secret":"` + strings.Repeat("k", 201) + `"`,
		`"kind":"sepay","auth":"apikey","secret":"with a blank in it"`, `"kind":"sepay","auth":"apikey","headers":{"Authorization":"x"}`,
		`"auth":"apikey"`, `"secret":"the-key-of-the-shop"`} {
		w.Do("POST", "/api/v1/webhooks", `{"name":"shop","type":"IN","webhook_url":"`+shop.url+`",`+bad+`}`, key...).
			WantStatus(t, http.StatusUnprocessableEntity)
	}
}

// What another provider brings keeps its direction, and nothing of it is taken for SePay's
// own; what SePay says is passed on, but for what the money is and where it came.
func TestSepayMoney(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	w.Do("PUT", "/api/v1/bank-accounts/1", `{"receiving_numbers":[{"number":"VQR1"}]}`, key...).WantStatus(t, http.StatusOK)
	shop := newSepayShop(t, func(http.ResponseWriter, string) {})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","kind":"sepay","auth":"apikey","type":"ALL","webhook_url":"`+shop.url+`"}`, key...).
		WantStatus(t, http.StatusCreated)
	sepay, payos := w.Sepay(), w.Source("payos", "", "")
	sepayCall := func(id, more string) string {
		return `{"id":` + id + `,"gateway":"ACB","transferType":"in",` + more + `}`
	}
	paid, header, _ := apptest.SignedCall(payos, strings.Replace(apptest.SignedFields["payos"], `"DH7"`,
		`"DH00000002","virtualAccountNumber":"VQR1"`, 1))
	for n, c := range []struct {
		source inbound.Source
		body   string
		header []string
		want   string // without the id
	}{
		{w.Native(), apptest.Batch(apptest.Transfer{ID: "92704", Direction: "OUT", Date: "2025-10-14", Content: "DH00000001"}.Native()), nil,
			`2025-10-14 00:00:00 out 200000 ` + apptest.SomeAccount + ` null "DH00000001" DH00000001`},
		{payos, paid, header, `2025-10-14 10:59:30 in 5000 ` + apptest.SomeAccount + ` "VQR1" "DH00000002" DH00000002`},
		{sepay, sepayCall("1000000004", `"transactionDate":"2025-10-14 10:59:31","accountNumber":"`+apptest.SomeAccount+
			`","content":"a  b","transferAmount":6000`), nil,
			`2025-10-14 10:59:31 in 6000 ` + apptest.SomeAccount + ` null null a  b`},
		{sepay, sepayCall("8",
			`"transactionDate":"2025-10-14 10:59:32","accountNumber":"VQR1","code":{"a":1},"content":"a\nb","transferAmount":7000`), nil,
			`2025-10-14 10:59:32 in 7000 ` + apptest.SomeAccount + ` "VQR1" null a` + "\nb"},
	} {
		if c.header == nil {
			c.header = apptest.Credentials(c.source, c.body, time.Now())
		}
		if got := w.Do("POST", c.source.URLPath(), c.body, c.header...).Counts(t); got != webtest.Recorded {
			t.Fatalf("%s: %+v", c.body, got)
		}
		var sent struct {
			ID                                                    int64
			TransactionDate, TransferType, AccountNumber, Content string
			TransferAmount                                        int64
			SubAccount, Code                                      json.RawMessage
		}
		apptest.Must(t, json.Unmarshal([]byte(shop.next(t).body), &sent))
		id := int64(1_000_000_001 + n) // of its own
		if n == 3 {
			id = 8
		}
		if got := fmt.Sprintf("%s %s %d %s %s %s %s", sent.TransactionDate, sent.TransferType, sent.TransferAmount, sent.AccountNumber,
			sent.SubAccount, sent.Code, sent.Content); got != c.want || sent.ID != id {
			t.Errorf("%s is delivered as %d %s, want %d %s", c.body, sent.ID, got, id, c.want)
		}
	}
}

// A webhook's own headers are on each of its calls, also after a change that doesn't name
// them. What a filter can't be is refused, and doesn't become no filter.
func TestOwnHeadersAndBadFilters(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	w.CodePattern("HD")
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	shop := newSepayShop(t, func(http.ResponseWriter, string) {})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","type":"IN","headers":{"X-Firewall":"open sesame"},"code_prefixes":["DH","HD"],`+
		`"webhook_url":"`+shop.url+`"}`, key...).WantStatus(t, http.StatusCreated)
	w.Do("POST", "/api/v1/webhooks", `{"name":"off","kind":"sepay","auth":"apikey","type":"OUT","webhook_url":"`+shop.url+`"}`, key...).
		WantStatus(t, http.StatusCreated)
	source := w.Native()
	for n, content := range []string{"DH00000001", "HD00000002"} {
		w.Names(webtest.Recorded, source, apptest.Transfer{ID: fmt.Sprint(n), Content: content})
		called := shop.next(t)
		if called.header.Get("X-Firewall") != "open sesame" || !strings.Contains(called.body, content) {
			t.Errorf("%v %s", called.header, called.body)
		}
		w.Do("PUT", "/api/v1/webhooks/1", `{"name":"another"}`, key...).WantStatus(t, http.StatusOK)
	}
	for _, bad := range []string{`"bank_account_ids":["1"]`, `"bank_account_ids":1`, `"bank_account_ids":{}`, `"receiving_number":"VQR9"`} {
		w.Do("PUT", "/api/v1/webhooks/1", `{`+bad+`}`, key...).WantStatus(t, http.StatusUnprocessableEntity)
	}
	w.Do("PUT", "/api/v1/webhooks/2", `{"headers":{"Authorization":"Basic eA=="}}`, key...).WantStatus(t, http.StatusUnprocessableEntity)
	w.Do("PUT", "/api/v1/webhooks/1", `{"headers":{"Authorization":"Basic eA=="}}`, key...).WantStatus(t, http.StatusOK)
}

// A receiving number is in the body of every attempt, which is the same each time.
func TestReceivingNumberAgain(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	w.Do("PUT", "/api/v1/bank-accounts/1", `{"receiving_numbers":[{"number":"VQR1"}]}`, key...).WantStatus(t, http.StatusOK)
	shop := newSepayShop(t, func(http.ResponseWriter, string) {})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","type":"IN","receiving_number":"VQR1","webhook_url":"`+shop.url+`"}`, key...).
		WantStatus(t, http.StatusCreated)
	w.Names(webtest.Recorded, w.Native(), apptest.Transfer{Account: "VQR1"})
	first := shop.next(t).body
	w.Attempts(1, 1)
	w.Do("POST", "/api/v1/webhooks/1/resend", "", key...).WantStatus(t, http.StatusAccepted)
	if again := shop.next(t).body; again != first || !strings.Contains(first, `"receiving_number":"VQR1"`) {
		t.Errorf("first %s, then %s", first, again)
	}
}

// Two accounts at SePay may give the same id. The shop, which skips what it knows, hears of
// both transactions, each with SePay's words.
func TestTwoSepaysForOneShop(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("VCB", "0123499999")
	shop := newSepayShop(t, func(http.ResponseWriter, string) {})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","kind":"sepay","auth":"apikey","type":"IN","webhook_url":"`+shop.url+`"}`,
		"Authorization", "Bearer "+w.APIKey(access.ScopeFull)).WantStatus(t, http.StatusCreated)
	ids := map[int64]bool{}
	for n, source := range []inbound.Source{w.Sepay(), w.Sepay()} {
		w.Wants(webtest.Counts{Recorded: 1}, source, fmt.Sprintf(`{"id":7,"gateway":"Vietcombank","transactionDate":"2026-03-0%d 14:02:37",
			"accountNumber":"0123499999","code":"DH%d","content":"ck","transferType":"in","transferAmount":5000,"accumulated":0,
			"subAccount":null,"referenceCode":"FT%d","description":""}`, n+1, n, n))
		var sent struct {
			ID   int64
			Code string
		}
		apptest.Must(t, json.Unmarshal([]byte(shop.next(t).body), &sent))
		if ids[sent.ID] = true; sent.Code != fmt.Sprint("DH", n) {
			t.Errorf("%+v", sent)
		}
	}
	if len(ids) != 2 || !ids[7] {
		t.Errorf("the ids are %v", ids)
	}
}

// A shop may say late that it failed.
func TestLateWordsOfASepayShop(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	shop := newSepayShop(t, func(w http.ResponseWriter, _ string) {
		_ = http.NewResponseController(w).Flush()
		time.Sleep(1500 * time.Millisecond) // longer than the words of other receivers are waited for
		_, _ = io.WriteString(w, `{"success":false}`)
	})
	w.Do("POST", "/api/v1/webhooks", `{"name":"shop","kind":"sepay","auth":"apikey","type":"IN","webhook_url":"`+shop.url+`"}`,
		"Authorization", "Bearer "+w.APIKey(access.ScopeFull)).WantStatus(t, http.StatusCreated)
	w.Wants(webtest.Counts{Recorded: 1}, w.Native(), apptest.Batch(apptest.Transfer{}.Native()))
	if a := w.Attempts(1, 1)[0]; a.Result.OK() || a.Result.Error != delivery.ErrorAnswer {
		t.Errorf("%+v", a.Result)
	}
}
