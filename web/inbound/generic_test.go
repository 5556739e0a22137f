package inbound_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

func TestGenericReads(t *testing.T) {
	t.Parallel()
	const flat = `{"id":%q,"amount":200000,"acc":"19354957","type":"in","time":"2025-10-14 10:59:30","text":"DH123","ref":"FT1","bank":"ACB"}`
	for _, c := range []struct {
		name   string
		fields map[string]string
		body   string
	}{
		{"flat", apptest.FlatMap, fmt.Sprintf(flat, "3521")},
		{"an array needs no list", apptest.FlatMap, `[` + fmt.Sprintf(flat, "3521") + `]`},
		{"under the native names", apptest.Mapped("id", "id", "transferAmount", "a", "accountNumber", "b", "transferType", "c", "transactionDate",
			"d", "transactionNumber", "e", "bank", "f", "content", "g"),
			`{"id":"3521","a":"200000","b":19354957,"c":"CREDIT","d":1760414370,"e":"FT1","f":"ACB","g":"DH123"}`},
		{"a list", apptest.Mapped("list", `data."x.y"`, "id", "id", "amount", "sums[0].value", "account", `"to.number"`, "time", "when",
			"direction", "kind", "number", "refs.1", "gateway", "bank", "content", "text"),
			`{"data":{"x.y":[{"id":"3521","sums":[{"value":200000.0}],"to.number":"19354957","when":1760414370000,"kind":"+","refs":["x","FT1"]` +
				`,"bank":"ACB","text":"DH123"}]}}`},
		{"a list in a list", apptest.Mapped("list", `data."x.y".0.rows`, "id", "id", "amount", "sums[0].value", "account", `"to.number"`, "date",
			"when", "direction", "kind", "number", "refs[1]", "gateway", "bank", "content", "text"),
			`{"data":{"x.y":[{"rows":[{"id":3521,"sums":[{"value":2e5}],"to.number":"1935 4957","when":"14/10/2025 10:59:30","kind":"Tiền vào"` +
				`,"refs":["x","FT1"],"bank":"ACB","text":"DH123"}]}]}}`},
		{"elements that are arrays", apptest.Mapped("list", "rows", "id", "0", "amount", "[1]", "account", "2", "time", "3", "content", "4",
			"number", "5", "gateway", "6"),
			`{"rows":[["3521",200000,"19354957","2025-10-14T03:59:30.000Z","DH123","FT1","ACB"]]}`},
		{"a number that is a key", apptest.Mapped("id", "0.id", "amount", "0.amount", "account", "0.acc", "time", "0.time", "content", "0.text",
			"number", "0.ref", "gateway", "0.bank"), `{"0":` + fmt.Sprintf(flat, "3521") + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := webtest.NewWorld(t)
			w.Link("ACB", apptest.SomeAccount)
			w.Link("VCB", apptest.SomeAccount)
			s := w.AddSource(inbound.SourceAdd{Provider: "generic", Options: inbound.SourceOptions{Map: c.fields}})
			w.Wants(webtest.Recorded, s, c.body)
			w.Wants(webtest.Duplicate, s, c.body)
			got := w.WantTransactions(1)[0]
			if got.Bank != "ACB" || got.AccountNumber != apptest.SomeAccount || got.Type != app.In || got.Amount != 200000 || got.Number != "FT1" ||
				got.Content != "DH123" ||
				app.FormatTime(got.Time, w.Services.Ledger.Zone()) != apptest.SomeDate || got.DateFlaw != "" {
				t.Errorf("recorded %+v", got)
			}
		})
	}
}

func TestGenericMoney(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	typed := w.AddSource(inbound.SourceAdd{Provider: "generic",
		Options: inbound.SourceOptions{Map: apptest.Mapped("number", "id", "amount", "n", "account", "acc", "type", "t")}})
	signed := w.AddSource(inbound.SourceAdd{Provider: "generic",
		Options: inbound.SourceOptions{Map: apptest.Mapped("id", "id", "amount", "n", "account", "acc")}})
	n := 0
	body := func(amount, direction string) string {
		n++
		return fmt.Sprintf(`{"id":%d,"n":%s,"acc":"19354957","t":%s}`, n, amount, direction)
	}
	for _, c := range []struct {
		amount, direction string
		want              int64 // with the sign of its direction; 0: a fault
		field             string
	}{
		{"5", `"IN"`, 5, ""}, {"5", `"out"`, -5, ""}, {"5", `"credit"`, 5, ""}, {"5", `"Debit"`, -5, ""}, {"5", `"C"`, 5, ""},
		{"5", `"d"`, -5, ""}, {"5", `"CR"`, 5, ""}, {"5", `" dr "`, -5, ""},
		{"5", `"+"`, 5, ""}, {"5", `"-"`, -5, ""}, {"5", `"money_in"`, 5, ""}, {"5", `"MONEY_OUT"`, -5, ""}, {"5", `"tien vao"`, 5, ""},
		{"5", `"Tiền ra"`, -5, ""},
		{`"5"`, `"in"`, 5, ""}, {"-5", `"out"`, -5, ""}, {`"-5.0"`, `"D"`, -5, ""}, {"-5", `"in"`, 0, "amount"}, {"-5", `"credit"`, 0, "amount"},
		{"5", `"both"`, 0, "type"}, {"5", `""`, 0, "type"}, {"5", `null`, 0, "type"}, {"5", `1`, 0, "type"}, {"5", `true`, 0, "type"},
		{"5", `"INOUT"`, 0, "type"},
		{`"200000.00"`, `"in"`, 200000, ""}, {`"200.0000"`, `"in"`, 200, ""}, {`"-700.0"`, `"out"`, -700, ""}, {"200.000", `"in"`, 200, ""},
		{"2e5", `"in"`, 200000, ""},
		{`"200.000"`, `"in"`, 0, "amount"}, {`"-200.000"`, `"out"`, 0, "amount"}, {`"1.549.000"`, `"in"`, 0, "amount"},
		{`"1 549 000"`, `"in"`, 0, "amount"}, {`"200.5"`, `"in"`, 0, "amount"}, {`"2e5"`, `"in"`, 0, "amount"},
		{`"200000đ"`, `"in"`, 0, "amount"},
		{"0", `"in"`, 0, "amount"}, {`"5,000"`, `"in"`, 0, "amount"}, {`"5 VND"`, `"in"`, 0, "amount"}, {`""`, `"in"`, 0, "amount"},
		{"null", `"in"`, 0, "amount"}, {"5.5", `"in"`, 0, "amount"},
		{"true", `"in"`, 0, "amount"}, {"[5]", `"in"`, 0, "amount"}, {"99999999999999", `"in"`, 0, "amount"}, {`5,"n":6`, `"in"`, 0, "amount"},
		{`5,"N":6`, `"in"`, 0, "amount"}, {`5,"id":6`, `"in"`, 0, "number"},
		{`5,"acc":"1"`, `"in"`, 0, "account"}, {"5", `"in","T":"out"`, 0, "type"},
	} {
		b := body(c.amount, c.direction)
		if c.want == 0 {
			w.Wants(webtest.Rejected, typed, b)
			keptAsRejected(w, b, c.field)
			continue
		}
		w.Wants(webtest.Recorded, typed, b)
		list := w.Transactions()
		if got := list[len(list)-1]; got.Amount != max(c.want, -c.want) || (got.Type == app.In) != (c.want > 0) {
			t.Errorf("%s: recorded %+v", b, got)
		}
	}
	// Where no type is mapped, the sign tells.
	before := len(w.Transactions())
	w.Wants(webtest.Recorded, signed, body("-701", `"in"`))
	w.Wants(webtest.Recorded, signed, body(`"801"`, "null"))
	if list := w.Transactions()[before:]; list[0].Type != app.Out || list[0].Amount != 701 || list[1].Type != app.In || list[1].Amount != 801 {
		t.Errorf("recorded %+v", list)
	}
	for field, b := range map[string]string{
		"account": `{"id":900,"n":5}`, "id": `{"n":5,"acc":"19354957"}`, "element": `"x"`, "json": `{"id":1`,
	} {
		w.Wants(webtest.Rejected, signed, b)
		keptAsRejected(w, b, field)
	}
	for i, b := range []string{`{"id":901,"n":5,"acc":null}`, `{"id":902,"n":5,"acc":1.5}`,
		`{"id":[],"n":5,"acc":"19354957"}`, `null`, ``, `1`} {
		if got := w.Sends(signed, b).Counts(t); got != webtest.Rejected {
			t.Errorf("%d %s: %+v", i, b, got)
		}
	}
	// One bad element doesn't cost the others.
	w.Wants(webtest.Counts{Recorded: 2, Rejected: 1}, signed, `[`+body("1", "0")+`,{},`+body("2", "0")+`]`)
	w.Wants(webtest.Counts{}, signed, `[]`)
}

// TestGenericForOneBankAccount: a source for one bank account needs no account
// in its calls; one that is mapped must be there.
func TestGenericForOneBankAccount(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	account := w.Link("VCB", "0123499999")
	bare := w.AddSource(inbound.SourceAdd{Provider: "generic", BankAccountID: account.ID,
		Options: inbound.SourceOptions{Map: apptest.Mapped("id", "id", "amount", "n")}})
	named := w.AddSource(inbound.SourceAdd{Provider: "generic", BankAccountID: account.ID,
		Options: inbound.SourceOptions{Map: apptest.Mapped("id", "id", "amount", "n", "account", "acc")}})
	w.Wants(webtest.Recorded, bare, `{"id":1,"n":5,"acc":"19354957"}`)
	if got := w.WantTransactions(1)[0]; got.BankAccountID != account.ID {
		t.Errorf("recorded %+v", got)
	}
	w.Wants(webtest.Rejected, named, `{"id":2,"n":5}`)
	w.Wants(webtest.Unassigned, named, `{"id":3,"n":5,"acc":"19354957"}`)
	w.Wants(webtest.Recorded, named, `{"id":4,"n":6,"acc":"0123499999"}`)
}

func TestGenericCredentials(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	options := inbound.SourceOptions{Map: apptest.Mapped("id", "id", "amount", "n", "account", "acc")}
	bearer := w.AddSource(inbound.SourceAdd{Provider: "generic", Options: options})
	options.Header = "X-Api-Key"
	header := w.AddSource(inbound.SourceAdd{Provider: "generic", Options: options})
	if bearer.Auth != inbound.AuthBearer || header.Auth != inbound.AuthToken {
		t.Errorf("auths %s and %s", bearer.Auth, header.Auth)
	}
	const body = `{"id":1,"n":5,"acc":"19354957"}`
	for i, c := range []struct {
		source inbound.Source
		header []string
	}{
		{bearer, nil}, {bearer, []string{"X-Api-Key", bearer.Secret}}, {bearer, []string{"Authorization", bearer.Secret}},
		{bearer, []string{"Authorization", "Bearer " + header.Secret}},
		{header, nil}, {header, []string{"Authorization", "Bearer " + header.Secret}}, {header, []string{"Authorization", header.Secret}},
		{header, []string{"X-Api-Key", "Bearer " + header.Secret}},
		{header, []string{"X-Api-Key", header.Secret + "x"}}, {header, []string{"X-Api-Key", ""}}, {header, []string{"X-Api-Key", bearer.Secret}},
		{header, []string{"X-Api-Key", header.Secret, "X-Api-Key", header.Secret}}, {header, []string{"X-Api-Keys", header.Secret}},
	} {
		if a := w.Do("POST", c.source.URLPath(), body, c.header...); a.Status != http.StatusUnauthorized {
			t.Errorf("%d: %d %s", i, a.Status, a.Body)
		}
	}
	// The bare path is for native sources alone.
	if a := w.Do("POST", inboundPath, body, "Authorization", "Bearer "+bearer.Secret); a.Status != http.StatusUnauthorized {
		t.Errorf("on the bare path: %d %s", a.Status, a.Body)
	}
	nothingStored(w)
	w.Wants(webtest.Recorded, bearer, body)
	if a := w.Do("POST", header.URLPath(), `{"id":1,"n":6,"acc":"19354957"}`, "x-api-key", header.Secret); a.Counts(t) != webtest.Recorded {
		t.Errorf("%s", a.Body)
	}
}

func TestGenericTimes(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	s := w.AddSource(inbound.SourceAdd{Provider: "generic",
		Options: inbound.SourceOptions{Map: apptest.Mapped("id", "id", "amount", "n", "account", "acc", "time", "t")}})
	for i, c := range [][2]string{
		{`"2025-10-14 10:59:30"`, apptest.SomeDate}, {`"2025-10-14T10:59:30+07:00"`, apptest.SomeDate},
		{`"2025-10-14T03:59:30Z"`, apptest.SomeDate}, {`"2025-10-14T03:59:30.999Z"`, apptest.SomeDate},
		{`"2025-10-14T10:59:30"`, apptest.SomeDate},
		{`"2025-10-14T03:59:30+0000"`, apptest.SomeDate}, {`"14/10/2025 10:59:30"`, apptest.SomeDate},
		{`"14/10/2025 10:59"`, "2025-10-14 10:59:00"}, {`"14/10/2025"`, "2025-10-14 00:00:00"}, {`"2025-10-14"`, "2025-10-14 00:00:00"},
		{`" 1760414370 "`, apptest.SomeDate}, {`1760414370`, apptest.SomeDate}, {`1760414370123`, apptest.SomeDate},
		{`"1760414370123"`, apptest.SomeDate},
		// And what is none costs the time only.
		{`"10/14/2025"`, ""}, {`"2025-02-30"`, ""}, {`"30/02/2025 10:00"`, ""}, {`20251014`, ""}, {`20251014105930`, ""}, {`0`, ""},
		{`-1760414370`, ""}, {`1.76e9`, ""}, {`99999999999999999999`, ""}, {`null`, ""}, {`{}`, ""}, {`"hôm nay"`, ""},
	} {
		w.Wants(webtest.Recorded, s, fmt.Sprintf(`{"id":"t%d","n":5,"acc":"19354957","t":%s}`, i, c[0]))
		got := w.WantTransactions(i + 1)[i]
		if at := app.FormatTime(got.Time, w.Services.Ledger.Zone()); (got.DateFlaw != "") != (c[1] == "") || c[1] != "" && at != c[1] {
			t.Errorf("%s is read as %s (flaw: %q)", c[0], at, got.DateFlaw)
		}
	}
}

// TestGenericRefusedSources: what can't work is refused when it is added.
func TestGenericRefusedSources(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	good := apptest.Mapped("id", "id", "amount", "n", "account", "acc")
	with := func(field, path string) map[string]string {
		m := apptest.Mapped("id", "id", "amount", "n", "account", "acc")
		m[field] = path
		return m
	}
	for name, c := range map[string]struct {
		add  inbound.SourceAdd
		want string
	}{
		"no map": {inbound.SourceAdd{}, "needs amount"},
		"no amount": {inbound.SourceAdd{Options: inbound.SourceOptions{Map: apptest.Mapped("id", "id", "account", "a")}},
			"needs amount"},
		"no id": {inbound.SourceAdd{Options: inbound.SourceOptions{Map: apptest.Mapped("amount", "n", "account", "a")}},
			"needs id"},
		"no account": {inbound.SourceAdd{Options: inbound.SourceOptions{Map: apptest.Mapped("amount", "n", "id", "a")}},
			"needs account"},
		"unknown field":   {inbound.SourceAdd{Options: inbound.SourceOptions{Map: with("sum", "n")}}, "sum is no field"},
		"under two names": {inbound.SourceAdd{Options: inbound.SourceOptions{Map: with("transferAmount", "n")}}, "amount is given twice"},
		"bearer and a header": {inbound.SourceAdd{Auth: inbound.AuthBearer, Options: inbound.SourceOptions{Map: good, Header: "X-A"}},
			"header"},
		"token and no header":     {inbound.SourceAdd{Auth: inbound.AuthToken, Options: inbound.SourceOptions{Map: good}}, "header"},
		"a header that is none":   {inbound.SourceAdd{Options: inbound.SourceOptions{Map: good, Header: "X A"}}, "header"},
		"a header of the network": {inbound.SourceAdd{Options: inbound.SourceOptions{Map: good, Header: "content-length"}}, "header"},
		"senders":                 {inbound.SourceAdd{Options: inbound.SourceOptions{Map: good, Senders: []string{"x"}}}, "sender"},
		"hmac":                    {inbound.SourceAdd{Auth: inbound.AuthHMAC, Options: inbound.SourceOptions{Map: good}}, "auth"},
	} {
		c.add.Provider, c.add.Name = "generic", "x"
		_, err := w.Services.Inbound.AddSource(context.Background(), 1, c.add, time.Now())
		if app.CodeOf(err) != app.CodeValidation || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[-1]", "a[1", "a]", "a[1]b", "[1]b", `"a`, `a"b`, `a'`, `""`,
		`a\`, `"a"b`, "a[99999999]", "a.[0]", "[0"} {
		_, err := w.Services.Inbound.AddSource(context.Background(), 1,
			inbound.SourceAdd{Provider: "generic", Name: "x", Options: inbound.SourceOptions{Map: with("content", path)}}, time.Now())
		if app.CodeOf(err) != app.CodeValidation || !strings.Contains(err.Error(), "is no path") {
			t.Errorf("path %q: %v", path, err)
		}
	}
}
