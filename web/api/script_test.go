package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/stream"
	"baoco/web/webtest"
)

// The contract of the management API stands in testdata/api as scripts of
// requests and answers. A script is lines of four kinds:
//
//	# a comment
//	@ bank main ACB 0123456789          something prepared, see prepare
//	> POST /api/v1/webhooks             a request: header lines, then the body
//	Accept-Language: vi
//	{"name":"Shop"}
//	< 201                               its answer: header lines, then the JSON
//	{"status":true,"messages":"<any>","id":"{{hook=<int>}}"}
//
// A request carries "Authorization: Bearer $full", the key that every script
// begins with, unless it says otherwise; "Authorization: -" sends none.
// The answer's JSON must have exactly the members that are written. A refusal
// is written short: the status, the code and the message, then a line for each
// field at fault, indented.
//
//	< 422 validation_failed Some fields are not valid.
//	  type: must be IN, OUT or ALL
//
// Requests that are accepted, and all answers, must be as openapi.yaml has them.
// One that is accepted though the document asks for another form begins with
// ">~".
//
// In an answer "<int>", "<digits>", "<time>" and "<secret>" stand for any value
// of that form, "<any>" for any at all but null and "", and "{{name=<any>}}"
// keeps it for later as $name. $today,
// also as $today-6 or $today+1, is the date in the zone of the installation.

// script is one file of testdata/api.
type script struct {
	name  string
	steps []step
}

// step is one line of preparation, or a request with its answer.
type step struct {
	line    int
	prepare []string
	method  string
	path    string
	header  []string
	body    string
	lenient bool
	want    expectation
}

// expectation is what a request must be answered with.
type expectation struct {
	status  int
	code    string // of a refusal
	message string
	fields  map[string]string
	header  [][2]string
	json    string
}

func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/api/*.txt")
	apptest.Must(t, err)
	if len(paths) < 10 {
		t.Fatalf("only %d scripts found", len(paths))
	}
	for _, path := range paths {
		s := readScript(t, path)
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			failures, crossed := s.run(t)
			if len(failures) > 0 && crossed { // midnight came between two steps
				failures, _ = s.run(t)
			}
			for _, f := range failures {
				t.Error(f)
			}
		})
	}
}

var headerLine = regexp.MustCompile(`^([A-Z][A-Za-z-]*): ?(.*)$`)

func readScript(t *testing.T, path string) script {
	t.Helper()
	text, err := os.ReadFile(path)
	apptest.Must(t, err)
	s := script{name: strings.TrimSuffix(filepath.Base(path), ".txt")}
	var current *step
	answering, inBody := false, false
	for i, line := range strings.Split(string(text), "\n") {
		fail := func(why string) { t.Fatalf("%s:%d: %s: %s", path, i+1, why, line) }
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
		case "@":
			s.steps = append(s.steps, step{line: i + 1, prepare: strings.Fields(rest)})
			current = nil
		case ">", ">~":
			method, target, found := strings.Cut(rest, " ")
			if !found {
				fail("not a request")
			}
			s.steps = append(s.steps, step{line: i + 1, method: method, path: target, lenient: kind == ">~"})
			current, answering, inBody = &s.steps[len(s.steps)-1], false, false
		case "<":
			if current == nil || current.want.status != 0 {
				fail("an answer without its request")
			}
			parts := strings.SplitN(rest, " ", 3)
			current.want.status, err = strconv.Atoi(parts[0])
			if err != nil {
				fail("not a status")
			}
			if len(parts) == 3 {
				current.want.code, current.want.message = parts[1], parts[2]
				current.want.fields = map[string]string{}
			}
			answering, inBody = true, false
		default:
			if current == nil {
				if strings.TrimSpace(line) != "" {
					fail("belongs to nothing")
				}
				continue
			}
			header := headerLine.FindStringSubmatch(line)
			switch {
			case strings.TrimSpace(line) == "" && !inBody:
			case answering && strings.HasPrefix(line, "  ") && current.want.code != "":
				field, message, _ := strings.Cut(line[2:], ": ")
				current.want.fields[field] = message
			case header != nil && !inBody && answering:
				current.want.header = append(current.want.header, [2]string{header[1], header[2]})
			case header != nil && !inBody:
				current.header = append(current.header, header[1], header[2])
			case answering:
				inBody = true
				current.want.json += line + "\n"
			default:
				inBody = true
				current.body += line + "\n"
			}
		}
	}
	for i := range s.steps {
		if s.steps[i].prepare == nil && s.steps[i].want.status == 0 {
			t.Fatalf("%s:%d: a request without its answer", path, s.steps[i].line)
		}
		s.steps[i].body = strings.TrimSuffix(strings.TrimRight(s.steps[i].body, "\n"), "\n")
	}
	return s
}

// run plays the script in a world of its own and gives what was not as
// written, and whether a midnight was crossed meanwhile.
func (s script) run(t *testing.T) (failures []string, crossed bool) {
	w := webtest.NewWorld(t)
	r := &play{World: w, values: map[string]string{}}
	r.values["full"] = w.APIKey(access.ScopeFull)
	began := app.DayOf(time.Now(), w.Services.Ledger.Zone())
	r.today = began
	for _, st := range s.steps {
		if st.prepare != nil {
			if err := r.prepare(st.prepare); err != nil {
				t.Fatalf("%s.txt:%d: %v", s.name, st.line, err)
			}
			continue
		}
		for _, f := range r.exchange(st) {
			failures = append(failures, fmt.Sprintf("%s.txt:%d: %s %s: %s", s.name, st.line, st.method, webtest.Short(st.path), f))
		}
	}
	return failures, app.DayOf(time.Now(), w.Services.Ledger.Zone()) != began
}

// play is a script under way.
type play struct {
	*webtest.World
	values map[string]string
	today  app.Day
}

var variable = regexp.MustCompile(`\$([a-z_]+)([+-]\d+)?`)

// fill puts the values into a text.
func (r *play) fill(text string) string {
	return variable.ReplaceAllStringFunc(text, func(match string) string {
		parts := variable.FindStringSubmatch(match)
		if parts[1] == "today" {
			offset, _ := strconv.Atoi(parts[2])
			return (r.today + app.Day(offset)).String()
		}
		value, known := r.values[parts[1]]
		if !known {
			r.T.Fatalf("no value for %s", match)
		}
		return value + parts[2]
	})
}

// prepare does what the API can't:
//
//	account NAME                         another account, $NAME its id
//	key NAME [scope=read] [account=ID] [expired] [revoked]
//	bank NAME CODE NUMBER [account=ID] [pending]
//	plan [account=ID] [max=N] [expires=Y-m-d] [trial] [name=NAME]
//	source NAME [account=ID]             a native source, $NAME its Bearer secret, $NAME_token its token
//	webhooks N                           so many webhooks
//	streams N                            so many streams
//	receiver NAME STATUS                 a receiver that answers so, $NAME its URL
//	history N                            waits until there are N attempts
//	refused N                            waits until N calls are noted as refused
//	text NAME STRING N                   $NAME is N times STRING
func (r *play) prepare(args []string) error {
	options := map[string]string{"account": "1", "scope": "full"}
	var words []string
	for _, arg := range args[1:] {
		name, value, found := strings.Cut(r.fill(arg), "=")
		switch {
		case found:
			options[name] = value
		case slices.Contains([]string{"expired", "revoked", "pending", "trial"}, arg):
			options[arg] = "yes"
		default:
			words = append(words, name)
		}
	}
	ctx, now := context.Background(), time.Now()
	account, err := strconv.ParseInt(options["account"], 10, 64)
	if err != nil {
		return err
	}
	switch args[0] {
	case "account":
		a, err := r.Services.Ledger.CreateAccount(ctx, words[0], now)
		r.values[words[0]] = strconv.FormatInt(a.ID, 10)
		return err
	case "key":
		var expires time.Time
		if options["expired"] != "" {
			expires = now.Add(-2 * time.Second)
		}
		k, key, err := r.Services.Access.CreateAPIKey(ctx, account, access.APIKeyCreate{
			Name: words[0], Scope: access.Scope(options["scope"]), ExpiresAt: expires,
		}, now)
		r.values[words[0]] = key
		if err == nil && options["revoked"] != "" {
			err = r.Services.Access.RevokeAPIKey(ctx, account, k.ID, now)
		}
		return err
	case "bank":
		result, err := r.Services.Inbound.LinkBankAccount(ctx, account, inbound.BankAccountLink{
			Bank: words[1], AccountNumber: words[2], AccountName: "NGUYEN VAN A", Pending: options["pending"] != "",
		}, now)
		r.values[words[0]] = strconv.FormatInt(result.BankAccount.ID, 10)
		return err
	case "plan":
		return r.plan(account, options)
	case "source":
		s, err := r.Services.Inbound.AddSource(ctx, account, inbound.SourceAdd{Provider: "native", Name: words[0]}, now)
		r.values[words[0]], r.values[words[0]+"_token"] = s.Secret, s.Token
		return err
	case "webhooks":
		n, err := strconv.Atoi(words[0])
		for range n {
			if err == nil {
				_, _, err = r.Services.Deliveries.CreateWebhook(ctx, account,
					delivery.WebhookCreate{Name: "many", URL: "https://shop.example.com/", Type: delivery.WebhookAll}, now)
			}
		}
		return err
	case "streams":
		n, err := strconv.Atoi(words[0])
		for range n {
			if err == nil {
				_, _, err = r.Services.Streams.CreateStream(ctx, account, stream.Create{Name: "many", URL: "nats://nats.example.com", Topic: "a"}, now)
			}
		}
		return err
	case "receiver":
		status, err := strconv.Atoi(words[1])
		r.values[words[0]] = newReceiver(r.T, status)
		return err
	case "history":
		n, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return err
		}
		return r.WaitHistory(n)
	case "refused":
		r.Until(words[0]+" refused calls", func() bool { return strconv.Itoa(r.Rows("refused_calls")) == words[0] })
		return nil
	case "text":
		n, err := strconv.Atoi(words[2])
		r.values[words[0]] = strings.Repeat(words[1], n)
		return err
	}
	return fmt.Errorf("nothing is called %s", args[0])
}

func (r *play) plan(account int64, options map[string]string) error {
	var u app.AccountUpdate
	if text := options["max"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		u.MaxBankAccounts = &n
	}
	if text := options["expires"]; text != "" {
		at, err := app.ParseExpiry(text, r.Services.Ledger.Zone())
		if err != nil {
			return err
		}
		u.ExpiresAt = &at
	}
	if options["trial"] != "" {
		yes := true
		u.IsTrial = &yes
	}
	if text := options["name"]; text != "" {
		u.Plan = &text
	}
	_, err := r.Services.Ledger.UpdateAccount(context.Background(), account, u)
	return err
}

// newReceiver is a shop's server that always answers with status.
func newReceiver(t testing.TB, status int) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "answer "+strconv.Itoa(status))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// exchange sends the request of a step and gives what of the answer is not as
// written.
func (r *play) exchange(st step) []string {
	var header []string
	credential := false
	for i := 0; i < len(st.header); i += 2 {
		name, value := st.header[i], r.fill(st.header[i+1])
		credential = credential || name == "Authorization"
		if value != "-" {
			header = append(header, name, value)
		}
	}
	if !credential {
		header = append(header, "Authorization", "Bearer "+r.values["full"])
	}
	body := r.fill(st.body)
	a, err := r.Send(st.method, r.fill(st.path), body, header...)
	if err != nil {
		return []string{err.Error()}
	}
	failures := checkAnswer(st.method, st.path, a)
	if a.Status < 400 {
		switch err := checkRequest(st.method, r.fill(st.path), body, header...); {
		case err != nil && !st.lenient:
			failures = append(failures, fmt.Sprintf("it was accepted, but is not as openapi.yaml has it: %v", err))
		case err == nil && st.lenient:
			failures = append(failures, "it is marked with ~, but is as openapi.yaml has it")
		}
	}
	if a.Status != st.want.status {
		return append(failures, fmt.Sprintf("status %d, want %d\n%s", a.Status, st.want.status, webtest.Short(a.Body)))
	}
	for _, pair := range st.want.header {
		got := strings.Join(a.Header.Values(pair[0]), " | ")
		if want := r.fill(pair[1]); want == "-" && got != "" || want != "-" && !r.matchText(want, got) {
			failures = append(failures, fmt.Sprintf("header %s is %q, want %q", pair[0], got, want))
		}
	}
	want := r.fill(st.want.json)
	if st.want.code != "" {
		want = refusalJSON(st.want, r.fill)
	}
	switch {
	case st.method == http.MethodHead || want == "":
		return failures
	}
	expected, err := decode(want)
	if err != nil {
		return append(failures, "the script's JSON: "+err.Error())
	}
	got, err := decode(a.Body)
	if err != nil {
		return append(failures, err.Error())
	}
	mismatches := r.match("", expected, got)
	if len(mismatches) > 0 {
		mismatches = append(mismatches, "answer: "+strings.TrimSpace(a.Body))
	}
	return append(failures, mismatches...)
}

// refusalJSON writes a refusal in full.
func refusalJSON(e expectation, fill func(string) string) string {
	body := map[string]any{"status": false, "messages": fill(e.message), "code": e.code, "request_id": "<any>"}
	if len(e.fields) > 0 {
		fields := map[string]any{}
		for name, message := range e.fields {
			fields[fill(name)] = fill(message)
		}
		body["errors"] = fields
	}
	text, _ := json.Marshal(body)
	return string(text)
}

func decode(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w: %s", err, webtest.Short(text))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one JSON value: %s", webtest.Short(text))
	}
	return v, nil
}

// checkAnswer holds any answer against what all of them have in common.
func checkAnswer(method, path string, a webtest.Answer) (failures []string) {
	fail := func(format string, args ...any) { failures = append(failures, fmt.Sprintf(format, args...)) }
	lasts := a.Header.Get("Content-Type") == webtest.EventStreamType
	if got := a.Header.Get("Content-Type"); got != "application/json; charset=utf-8" && !lasts {
		fail("Content-Type %q", got)
	}
	id := a.Header.Get("X-Request-Id")
	if id == "" {
		fail("no X-Request-Id")
	}
	if method == http.MethodHead && a.Body != "" {
		fail("an answer to HEAD with a body")
	}
	if method == http.MethodHead || lasts {
		return append(failures, webtest.CheckContract(method, path, a)...)
	}
	v, err := decode(a.Body)
	if err != nil {
		fail("%v", err)
		return failures
	}
	body, isObject := v.(map[string]any)
	if !isObject {
		fail("not a JSON object: %s", webtest.Short(a.Body))
		return failures
	}
	if message, isText := body["messages"].(string); !isText || message == "" {
		fail("no messages: %s", webtest.Short(a.Body))
	}
	if body["status"] != (a.Status < 400) {
		fail("status %v with HTTP %d", body["status"], a.Status)
	}
	if a.Status >= 400 {
		if body["request_id"] != id {
			fail("request_id %v, header %q", body["request_id"], id)
		}
		code, _ := body["code"].(string)
		if !slices.Contains(documented[a.Status], code) {
			fail("code %q with HTTP %d", code, a.Status)
		}
	}
	failures = append(failures, webtest.CheckContract(method, path, a)...)
	managed := strings.HasPrefix(path, "/api/v1/") && !slices.Contains([]int{401, 404, 405}, a.Status)
	if managed && (a.Header.Get("X-Ratelimit-Limit") == "" || a.Header.Get("X-Ratelimit-Remaining") == "") {
		fail("no rate limit headers with HTTP %d", a.Status)
	}
	return failures
}

// documented are the codes that go with each status.
var documented = map[int][]string{
	400: {"invalid_json"},
	401: {"unauthorized"},
	403: {"forbidden", "plan_expired"},
	404: {"not_found"},
	405: {"method_not_allowed"},
	409: {"conflict", "already_exists", "limit_reached", "plan_limit", "webhook_deleted", "webhook_inactive",
		"delivery_pending", "secret_lost"},
	413: {"payload_too_large"},
	415: {"unsupported_media_type"},
	422: {"validation_failed"},
	429: {"rate_limited"},
}

var captured = regexp.MustCompile(`^\{\{([a-z_]+)=(.*)\}\}$`)

var wildcards = map[string]*regexp.Regexp{
	"<any>":    regexp.MustCompile(`(?s)^.+$`),
	"<digits>": regexp.MustCompile(`^[1-9][0-9]*$`),
	"<time>":   regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`),
	"<secret>": regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`),
}

// matchText compares a text with one that may be a wildcard, and keeps what is
// captured.
func (r *play) matchText(want, got string) bool {
	if parts := captured.FindStringSubmatch(want); parts != nil {
		r.values[parts[1]] = got
		want = parts[2]
	}
	if pattern := wildcards[want]; pattern != nil {
		return pattern.MatchString(got)
	}
	return want == got
}

var integer = regexp.MustCompile(`^-?[0-9]+$`)

// match gives where got is not as want.
func (r *play) match(where string, want, got any) []string {
	differs := func() []string {
		return []string{fmt.Sprintf("%s is %s, want %s", strings.TrimPrefix(where, "."), webtest.Shown(got), webtest.Shown(want))}
	}
	switch want := want.(type) {
	case map[string]any:
		object, isObject := got.(map[string]any)
		if !isObject {
			return differs()
		}
		var all []string
		for key, value := range want {
			if inner, found := object[key]; found {
				all = append(all, r.match(where+"."+key, value, inner)...)
			} else {
				all = append(all, fmt.Sprintf("%s.%s is missing", where, key))
			}
		}
		for key := range object {
			if _, found := want[key]; !found {
				all = append(all, fmt.Sprintf("%s.%s is too much", where, key))
			}
		}
		slices.Sort(all)
		return all
	case []any:
		list, isList := got.([]any)
		if !isList || len(list) != len(want) {
			return differs()
		}
		var all []string
		for i := range want {
			all = append(all, r.match(fmt.Sprintf("%s[%d]", where, i), want[i], list[i])...)
		}
		return all
	case string:
		pattern := want
		if parts := captured.FindStringSubmatch(want); parts != nil {
			pattern = parts[2]
			r.values[parts[1]] = fmt.Sprint(got)
		}
		if pattern == "<any>" && got != nil && got != "" {
			return nil
		}
		if number, isNumber := got.(json.Number); isNumber {
			if pattern == "<int>" && integer.MatchString(number.String()) {
				return nil
			}
			return differs()
		}
		text, isText := got.(string)
		if !isText || !r.matchText(pattern, text) {
			return differs()
		}
		return nil
	}
	if want != got {
		return differs()
	}
	return nil
}
