package inbound_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

func TestProviderAmounts(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"native", "sepay"} {
		t.Run(provider, func(t *testing.T) {
			w := webtest.NewWorld(t)
			w.Link("ACB", apptest.SomeAccount)
			source := w.Native()
			write := func(id int, member string) string {
				body := apptest.Batch(apptest.Transfer{ID: fmt.Sprint("a", id)}.Native())
				if provider == "sepay" {
					body = apptest.Transfer{ID: fmt.Sprint("a", id)}.Sepay()
				}
				return strings.Replace(body, `,"transferAmount":200000`, member, 1)
			}
			if provider == "sepay" {
				source = w.Sepay()
			}
			sum, n := int64(0), 0
			bad := func(literal, body string, isJSON bool) {
				t.Helper()
				switch {
				case provider == "sepay":
					w.Wants(webtest.Rejected, source, body)
				case isJSON:
					w.WantsRefusal(source, body, http.StatusUnprocessableEntity, app.CodeValidation, "transactions[0].transferAmount")
				default:
					w.WantsRefusal(source, body, http.StatusBadRequest, app.CodeInvalidJSON, "")
				}
				if isJSON {
					keptAsRejected(w, body, "transferAmount")
				} else {
					keptAsRejected(w, body, "json")
				}
			}
			for i, c := range apptest.Amounts {
				body := write(i, `,"transferAmount":`+c.Literal)
				if c.VND <= 0 {
					bad(c.Literal, body, c.VND == 0)
					continue
				}
				w.Wants(webtest.Recorded, source, body)
				sum, n = sum+c.VND, n+1
				if list := w.WantTransactions(n); list[n-1].Amount != c.VND {
					t.Errorf("%s was recorded as %d", c.Literal, list[n-1].Amount)
				}
			}
			bad("missing", write(1000, ""), true)
			bad("another key", write(1001, `,"TransferAmount":100000,"transfer_amount":100000,"amount":100000`), true)

			// A string is bad in the native format; SePay's may be read, exactly.
			body := write(1002, `,"transferAmount":"100000"`)
			if provider == "native" {
				bad("a string", body, true)
			} else if got := w.Sends(source, body).Counts(t); got == webtest.Recorded {
				if list := w.WantTransactions(n + 1); list[n].Amount != 100000 {
					t.Errorf("a string was recorded as %d", list[n].Amount)
				}
				sum += 100000
			} else if got != webtest.Rejected {
				t.Errorf("a string: %+v", got)
			}
			if o, err := w.Services.Ledger.Overview(context.Background(), 1); err != nil || o.TotalIn != sum {
				t.Errorf("total %d, want %d (%v)", o.TotalIn, sum, err)
			}
		})
	}
}

// TestProviderMoneyFields breaks every field without which a transaction is
// none.
func TestProviderMoneyFields(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, sepay := w.Native(), w.Sepay()
	element := apptest.Transfer{Number: "FT1"}.Native()
	for _, c := range []struct{ field, old, new string }{
		{"id", `"id":"3521"`, `"id":true`}, {"id", `"id":"3521"`, `"id":1.5`}, {"id", `"id":"3521"`, `"id":[]`}, {"id", `"id":"3521"`, `"id":{}`},
		{"id", `"id":"3521"`, `"id":"3521","id":"3521"`}, {"id", `"id":"3521"`, `"id":"3521","ID":"3522"`},
		{"transactionNumber", `"transactionNumber":"FT1"`, `"transactionNumber":false`},
		{"transactionNumber", `"transactionNumber":"FT1"`, `"transactionNumber":1e5`},
		{"transactionNumber", `"transactionNumber":"FT1"`, `"transactionNumber":"FT1","transactionNumber":"FT2"`},
		{"accountNumber", `"accountNumber":"19354957"`, `"accountNumber":19354957`},
		{"accountNumber", `"accountNumber":"19354957"`, `"accountNumber":""`},
		{"accountNumber", `"accountNumber":"19354957"`, `"accountNumber":null`},
		{"accountNumber", `"accountNumber":"19354957"`, `"accountNumber":" - . "`},
		{"accountNumber", `"accountNumber":"19354957"`, `"accountNumber":"\u0000"`},
		{"accountNumber", `"accountNumber":"19354957"`, `"AccountNumber":"19354957"`},
		{"accountNumber", `"accountNumber":"19354957"`, `"accountNumber":"1","AccountNumber":"19354957"`},
		{"accountNumber", `"accountNumber":"19354957"`, `"accountNumber":["19354957"]`},
		{"transferType", `"transferType":"IN"`, `"transferType":"in"`}, {"transferType", `"transferType":"IN"`, `"transferType":"ALL"`},
		{"transferType", `"transferType":"IN"`, `"x":1`},
		{"transferType", `"transferType":"IN"`, `"transferType":"IN","transfertype":"OUT"`},
		{"transferType", `"transferType":"IN"`, `"transferType":"IN "`},
		{"transferAmount", `"transferAmount":200000`, `"transferAmount":200000,"transferAmount":200000`},
		{"transferAmount", `"transferAmount":200000`, `"transferAmount":200000,"TransferAmount":1`},
		{"transferAmount", `"transferAmount":200000`, `"transferAmount":200000,"transfer\u0041mount":1`},
		{"gateway", `"gateway":"ACB"`, `"gateway":"ACB","gateway":"VCB"`},
	} {
		changed := strings.Replace(element, c.old, c.new, 1)
		if changed == element {
			t.Fatalf("no %s in %s", c.old, element)
		}
		w.WantsRefusal(native, apptest.Batch(changed), http.StatusUnprocessableEntity, app.CodeValidation, "transactions[0]."+c.field)
		keptAsRejected(w, apptest.Batch(changed), c.field)
	}
	none := strings.NewReplacer(`"id":"3521"`, `"id":null`, `"transactionNumber":"FT1"`, `"transactionNumber":""`).Replace(element)
	w.WantsRefusal(native, apptest.Batch(none), http.StatusUnprocessableEntity, app.CodeValidation, "transactions[0].id")

	element = apptest.Transfer{Number: "FT1"}.Sepay()
	for _, c := range [][2]string{
		{`"id":"3521"`, `"id":null`}, {`"id":"3521"`, `"id":""`}, {`"id":"3521"`, `"id":true`}, {`"id":"3521"`, `"id":1,"id":2`},
		{`"id":"3521",`, ``},
		{`"accountNumber":"19354957"`, `"accountNumber":null`}, {`"accountNumber":"19354957"`, `"accountNumber":"1","accountNumber":"19354957"`},
		{`"transferType":"in"`, `"transferType":"both"`}, {`"transferType":"in"`, `"transferType":null`},
		{`"transferType":"in"`, `"transferType":"in","transferType":"out"`},
		{`"transferAmount":200000`, `"transferAmount":200000,"transferAmount":2`},
		{`"transferAmount":200000`, `"transferAmount":200000,"TransferAmount":2`},
	} {
		w.Wants(webtest.Rejected, sepay, strings.Replace(element, c[0], c[1], 1))
	}
	w.WantTransactions(0)

	// What doesn't cost the transaction.
	for i, body := range []string{
		`{"id":7,"transactionNumber":8,"accountNumber":"19354957","transferType":"IN","transferAmount":1,"gateway":"ACB"}`,
		`{"transactionNumber":12345678901234567890,"accountNumber":"19354957","transferType":"OUT","transferAmount":2,"gateway":"ACB"` +
			`,"checksum":{},"extra":[[1]],"Content":"x"}`,
		`{"id":"c","accountNumber":"1935 4957","transferType":"IN","transferAmount":3,"gateway":"ACB","content":5,"transactionDate":[]}`,
		`{"id":"","transactionNumber":"n","accountNumber":"19354957","transferType":"IN","transferAmount":4,"gateway":["ACB"],"content":"a"` +
			`,"content":"b"}`,
	} {
		w.Wants(webtest.Recorded, native, apptest.Batch(body))
		w.Wants(webtest.Duplicate, native, apptest.Batch(body))
		if got := w.WantTransactions(i + 1)[i]; got.Amount != int64(i+1) {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if list := w.Transactions(); list[0].Number != "8" || list[1].Number != "12345678901234567890" {
		t.Errorf("numbers as digits: %+v", list)
	}
	// The integer 7 and the text "7" are one id.
	w.Names(webtest.Duplicate, native, apptest.Transfer{ID: "7", Amount: 1})
}

func TestProviderUnreadableBodies(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native, sepay := w.Native(), w.Sepay()
	good, one := apptest.Batch(apptest.Transfer{}.Native()), apptest.Transfer{}.Sepay()
	for _, c := range []struct {
		name, body string
		field      string // "": isn't JSON
	}{
		{"empty", "", ""}, {"white space", " \n", ""}, {"garbage", "hello", ""}, {"form", "id=1&transferAmount=5", ""},
		{"cut", good[:len(good)-1], ""},
		{"trailing garbage", good + "x", ""}, {"two documents", good + good, ""}, {"trailing comma", `{"transactions":[],}`, ""},
		{"comment", good + "// x", ""},
		{"NUL after it", good + "\x00", ""}, {"UTF-16", "\xff\xfe{\x00}\x00", ""},
		{"two byte order marks", "\xef\xbb\xbf\xef\xbb\xbf" + good, ""},
		{"20 000 brackets", strings.Repeat("[", 20000), ""}, {"12 000 objects", strings.Repeat(`{"a":`, 12000), ""},
		{"raw control character", "{\"transactions\":[{\"content\":\"\x01\"}]}", ""},
		{"array", "[]", "body"}, {"array of elements", "[" + apptest.Transfer{}.Native() + "]", "body"}, {"null", "null", "body"},
		{"number", "1", "body"}, {"text", `"x"`, "body"},
		{"empty object", "{}", "transactions"}, {"null list", `{"transactions":null}`, "transactions"},
		{"an object for a list", `{"transactions":{}}`, "transactions"},
		{"another case", `{"Transactions":[]}`, "transactions"}, {"two lists", `{"transactions":[],"transactions":[]}`, "transactions"},
		{"a bare element", apptest.Transfer{}.Native(), "transactions"},
		{"null element", apptest.Batch("null"), "transactions[0].body"}, {"number as an element", apptest.Batch("7"), "transactions[0].body"},
		{"list as an element", apptest.Batch("[]"), "transactions[0].body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := *w
			w.T = t
			status, code := http.StatusUnprocessableEntity, app.CodeValidation
			if c.field == "" {
				status, code = http.StatusBadRequest, app.CodeInvalidJSON
			}
			a := w.Sends(native, c.body)
			v := a.JSON(t)
			if a.Status != status || v["code"] != string(code) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if errors, _ := v["errors"].(map[string]any); c.field != "" {
				named := false
				for field := range errors {
					named = named || field == c.field || strings.HasPrefix(c.field, field)
				}
				if !named {
					t.Errorf("names no field: %s", a.Body)
				}
			}
			e := w.NewestEvent()
			if string(e.Body) != c.body || e.SourceID != native.ID || e.Rejected != 1 || e.Open != 1 || len(w.Items(e.ID)) != 1 {
				t.Errorf("kept as %+v", e)
			}
			if c.name == "a bare element" {
				return // which is near enough to SePay's format
			}
			body := strings.ReplaceAll(c.body, good, one)
			w.Wants(webtest.Rejected, sepay, body)
			if e := w.NewestEvent(); string(e.Body) != body || e.SourceID != sepay.ID || e.Rejected != 1 || e.Open != 1 {
				t.Errorf("kept as %+v", e)
			}
		})
	}
	// An empty list is nothing, and a byte order mark none of the body's.
	w.Wants(webtest.Counts{}, native, apptest.Batch())
	w.WantTransactions(0)
	w.Wants(webtest.Recorded, native, "\xef\xbb\xbf "+good+"\r\n")
	w.Wants(webtest.Duplicate, sepay, "\xef\xbb\xbf"+one) // the same transfer

	a := w.Do("POST", native.URLPath(), "{}", append(apptest.Credentials(native, "", time.Now()), "Accept-Language", "vi")...)
	if v := a.JSON(t); a.Status != http.StatusUnprocessableEntity || v["messages"] != "Một số trường không hợp lệ." {
		t.Errorf("in Vietnamese: %s", a.Body)
	}
}

// TestProviderDeepElement: one bad element, however deep, costs no good one.
func TestProviderDeepElement(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	native := w.Native()
	w.Wants(webtest.Counts{Rejected: 1, Recorded: 1}, native, apptest.Batch(deep, apptest.Transfer{}.Native()))
	w.Wants(webtest.Recorded, native,
		apptest.Batch(strings.Replace(apptest.Transfer{ID: "x"}.Native(), `"content":`, `"extra":`+deep+`,"content":`, 1)))
}

// TestProviderTexts has texts that break who handles them carelessly.
func TestProviderTexts(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	native, sepay := w.Native(), w.Sepay()
	key := w.APIKey(access.ScopeRead)
	long := strings.Repeat("đ", 1999)
	for i, c := range []struct{ literal, want string }{
		{"a\xffb\xc3", "a\uFFFDb\uFFFD"}, {`\ud800x`, "\uFFFDx"}, {`\ud83d\ude00`, "😀"}, {`a\u0000b`, "ab"}, {`\u0000`, ""},
		{"\u202egnp.exe\u2066", "\u202egnp.exe\u2066"},
		{strings.Repeat("Z\u0351\u036b\u0343", 100), strings.Repeat("Z\u0351\u036b\u0343", 100)}, {long + "x", long + "x"},
		{long + "xy", long + "x"}, {long + "😀😀", long + "😀"},
		{strings.Repeat("x", 1_000_000), strings.Repeat("x", 2000)}, {"", ""},
		{`'; DROP TABLE transactions; --`, `'; DROP TABLE transactions; --`}, {`<script>alert(1)</script>`, `<script>alert(1)</script>`},
		{`=HYPERLINK(\"http://x\",\"y\")`, `=HYPERLINK("http://x","y")`}, {`\r\nlevel=ERROR msg=forged`, "\r\nlevel=ERROR msg=forged"},
		{`{{7*7}}`, `{{7*7}}`},
		{`\u001b[2J\u001b]0;x\u0007`, "\x1b[2J\x1b]0;x\x07"}, {`\u2028\u2029\u0085`, "\u2028\u2029\u0085"},
		{`%s%n%00`, `%s%n%00`}, {`\\\"`, `\"`},
	} {
		body := apptest.Batch(strings.Replace(apptest.Transfer{ID: fmt.Sprint("a", i), Amount: 200_000 + int64(i)}.Native(),
			"NAPTIEN MOMO", c.literal, 1))
		source := native
		if i%2 == 1 {
			source, body = sepay,
				strings.Replace(apptest.Transfer{ID: fmt.Sprint("a", i), Amount: 200_000 + int64(i)}.Sepay(), "NAPTIEN MOMO", c.literal, 1)
		}
		w.Wants(webtest.Recorded, source, body)
		if got := w.WantTransactions(i + 1)[i].Content; got != c.want || !utf8.ValidString(got) {
			t.Errorf("%.60q is kept as %.60q", c.literal, got)
		}
		if e := w.NewestEvent(); string(e.Body) != body {
			t.Errorf("the raw body of %.60q is kept as %.60q", c.literal, e.Body)
		}
		a := w.Do("GET", "/api/v1/transactions?per_page=1", "", "Authorization", "Bearer "+key)
		element := a.JSON(t)["transactions"].([]any)[0].(map[string]any)
		if element["content"] != c.want || a.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%.60q is shown as %.200s", c.literal, a.Body)
		}
	}
	n := len(w.Transactions())
	w.Until("every text is delivered", func() bool { return len(shop.Heard()) == n })
}

// TestProviderHostileNames puts the same into the other fields: what is no
// linked bank account is unassigned, and never the wrong one.
func TestProviderHostileNames(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	native := w.Native()
	for i, account := range []string{"' OR 1=1 --", "%", "19354957'", "0019354957", "19354957" + strings.Repeat(" ", 92) + "123",
		strings.Repeat("9", 5000), "１９３５４９５７", "*"} {
		w.Names(webtest.Unassigned, native, apptest.Transfer{ID: fmt.Sprint("a", i), Account: account})
	}
	for i, gateway := range []string{"ACB'; DROP TABLE transactions; --", "<b>", "\x1b[2J", strings.Repeat("A", 5000)} {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: fmt.Sprint("g", i), Gateway: gateway})
	}
	for i, id := range []string{"'; --", "<script>", "=1+1", "\r\n", "\x1b[2J", "../../x", strings.Repeat("i", 5000)} {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: id, Number: fmt.Sprint(id, i)})
		w.Names(webtest.Duplicate, native, apptest.Transfer{ID: id, Number: fmt.Sprint(id, i)})
	}
	w.WantTransactions(11)
}
