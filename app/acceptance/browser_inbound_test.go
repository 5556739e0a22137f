package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// TestBrowserInbound looks at the inbound log and at calls of several
// providers, of every kind of end.
func TestBrowserInbound(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort)
	createOwner(t, dir)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	calls := 0
	source := func(scheme string, flags ...string) func(body string) {
		var s struct {
			URLPath string `json:"url_path"`
			Secret  string `json:"secret"`
		}
		must(t, json.Unmarshal([]byte(do(t, dir, append([]string{"source", "add", "-o", "json"}, flags...)...)), &s))
		return func(body string) {
			calls++
			request, err := http.NewRequest("POST", p.url+s.URLPath, strings.NewReader(body))
			must(t, err)
			request.Header.Set("Authorization", scheme+" "+s.Secret)
			response, err := http.DefaultClient.Do(request)
			must(t, err)
			response.Body.Close()
		}
	}
	element := func(id, account, direction string, amount int64, content string) string {
		encoded, err := json.Marshal(map[string]any{
			"id": id, "gateway": "ACB", "accountNumber": account, "transferType": direction, "transferAmount": amount, "content": content,
			"transactionNumber": "FT" + id, "transactionDate": time.Now().UTC().Add(7 * time.Hour).Format(app.TimeLayout),
		})
		must(t, err)
		return string(encoded)
	}
	till := source("Bearer", "--provider", "native", "--name", "Máy bán hàng")
	sepay := source("Apikey", "--provider", "sepay", "--name", "SePay", "--auth", "apikey")
	pay2s := source("Bearer", "--provider", "pay2s", "--name", "Pay2S cửa hàng Quận 1")
	batch := func(elements ...string) string { return `{"transactions":[` + strings.Join(elements, ",") + `]}` }
	call := func(id int, amount int, content string) string {
		return fmt.Sprintf(`{"id":%d,"gateway":"ACB","accountNumber":"19354957","transferType":"in","transferAmount":%d,"content":%q`+
			`,"referenceCode":"FT%d","transactionDate":"2026-01-02 03:04:05"}`, id, amount, content, id)
	}
	sepay(call(92704, 1549000, "DH10293 thanh toan don hang"))  // 1
	sepay(call(92704, 1549000, "DH10293 thanh toan don hang"))  // 2: a duplicate
	sepay(call(92704, 15490000, "DH10293 thanh toan don hang")) // 3: in conflict
	till(batch(element("1", "19354957", "IN", 200000, "NGUYEN THI HOA chuyen tien mua hang DH10294"),
		element("2", "19354957", "OUT", 85000, "Phi SMS thang 11"),
		element("3", "88880000", "IN", 99000, "<script>alert(1)</script>"))) // 4: one of three waits
	till(batch(element("4", "55556666", "IN", 450000, "DH10295"))) // 5: it waits
	till(`{"transactions":[{"id":"5","transferAmount":"nhieu"}]}`) // 6: unreadable
	till("<html>")                                                 // 7: no JSON
	till(batch())                                                  // 8: nothing in it
	pay2s(batch(element("p1", "19354957", "IN", 9999999999999, strings.Repeat("x", 300)), element("1", "19354957", "IN", 200000, "DH10294")))
	tools.drive(t, "pages.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "paths": []string{
		"/inbound/events", "/inbound/events/1", "/inbound/events/3", "/inbound/events/4", "/inbound/events/8",
	}})
}
