package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/api"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// contract is the OpenAPI document that requests and answers are checked against. Answers
// are checked more strictly than the document demands: a member that isn't described is an
// error, so that none is forgotten, though clients must accept such members.
type contract struct {
	Doc    *openapi3.T
	router routers.Router
}

var TheContract = sync.OnceValues(func() (contract, error) {
	var raw map[string]any
	if err := json.Unmarshal(api.OpenAPIJSON("test"), &raw); err != nil {
		return contract{}, err
	}
	closeAnswers(raw)
	text, err := json.Marshal(raw)
	if err != nil {
		return contract{}, err
	}
	var c contract
	if c.Doc, err = openapi3.NewLoader().LoadFromData(text); err != nil {
		return contract{}, err
	}
	c.Doc.Servers = nil
	openapi3filter.RegisterBodyDecoder(EventStreamType, openapi3filter.PlainBodyDecoder)
	c.router, err = gorillamux.NewRouter(c.Doc)
	return c, err
})

// MemberAt returns the part of a document under a path of members.
func MemberAt(document any, path ...string) any {
	for _, name := range path {
		object, _ := document.(map[string]any)
		document = object[name]
	}
	return document
}

func referred(document map[string]any, ref string) map[string]any {
	found, _ := MemberAt(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
	return found
}

func closeAnswers(document map[string]any) {
	closeContent := func(holder any) {
		if media, found := MemberAt(holder, "content", "application/json").(map[string]any); found {
			media["schema"] = closed(document, media["schema"].(map[string]any), true)
		}
	}
	for _, item := range document["paths"].(map[string]any) {
		for _, operation := range item.(map[string]any) {
			if responses, found := MemberAt(operation, "responses").(map[string]any); found {
				for _, response := range responses {
					closeContent(response)
				}
			}
		}
	}
	for _, response := range MemberAt(document, "components", "responses").(map[string]any) {
		closeContent(response)
	}
	for _, item := range document["webhooks"].(map[string]any) {
		closeContent(MemberAt(item, "post", "requestBody"))
	}
}

// closed returns a schema with its references replaced by what they name, and with objects
// that allow only the described members. A part of an allOf isn't closed by itself, since
// the other parts have members too.
func closed(document, schema map[string]any, whole bool) map[string]any {
	if ref, found := schema["$ref"].(string); found {
		schema = referred(document, ref)
	}
	result := map[string]any{}
	for key, value := range schema {
		switch value := value.(type) {
		case map[string]any:
			switch key {
			case "properties":
				properties := map[string]any{}
				for name, property := range value {
					properties[name] = closed(document, property.(map[string]any), true)
				}
				result[key] = properties
				continue
			case "items", "additionalProperties":
				result[key] = closed(document, value, true)
				continue
			}
		case []any:
			if key == "allOf" || key == "anyOf" {
				var parts []any
				for _, part := range value {
					parts = append(parts, closed(document, part.(map[string]any), whole && key == "anyOf"))
				}
				result[key] = parts
				continue
			}
		}
		result[key] = value
	}
	if _, open := schema["additionalProperties"]; whole && !open && (schema["properties"] != nil || schema["allOf"] != nil) {
		result["unevaluatedProperties"] = false
	}
	return result
}

func described(path string) bool {
	return slices.ContainsFunc([]string{"/api/", "/bank/", "/healthz", "/readyz"},
		func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// Route finds the operation of a request; if the document has none, it returns one that
// only refuses.
func (c contract) Route(r *http.Request) (*routers.Route, map[string]string) {
	route, params, err := c.router.FindRoute(r)
	switch {
	case path.Clean(r.URL.Path) != r.URL.Path:
		route = c.only(http.StatusNotFound, "NotFound")
	case errors.Is(err, routers.ErrMethodNotAllowed):
		route = c.only(http.StatusMethodNotAllowed, "MethodNotAllowed")
	case err != nil:
		route = c.only(http.StatusNotFound, "NotFound")
	}
	return route, params
}

// only returns an operation that has one answer, for an address without an operation.
func (c contract) only(status int, response string) *routers.Route {
	ref := c.Doc.Components.Responses[response]
	return &routers.Route{Spec: c.Doc, Operation: &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, ref))}}
}

// NewRequest returns a request as a server reads it; nil: the document doesn't describe its
// target.
func NewRequest(method, target, body string, header http.Header) *http.Request {
	parsed, err := url.ParseRequestURI(target)
	if err != nil || !described(parsed.Path) {
		return nil
	}
	values := parsed.Query()
	maps.DeleteFunc(values, func(_ string, v []string) bool { return v[0] == "" }) // an empty value means the same as none
	parsed.RawQuery = values.Encode()
	r := &http.Request{Method: method, URL: parsed, Host: "localhost", Header: header.Clone(), Body: io.NopCloser(strings.NewReader(body))}
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json") // the server reads it as this type
	}
	return r
}

var ContractOptions = &openapi3filter.Options{
	IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true,
}

// CheckContract returns the differences between an answer and the document.
func CheckContract(method, target string, a Answer) []string {
	c, err := TheContract()
	if err != nil {
		return []string{err.Error()}
	}
	head := method == http.MethodHead
	if head {
		method = http.MethodGet
	}
	request := NewRequest(method, target, "", http.Header{})
	if request == nil {
		return nil
	}
	route, params := c.Route(request)
	if head {
		return checkHead(route, a)
	}
	same := sameAnswer(route.Operation.Responses.Status(a.Status), a)
	if _, checked := checkedAnswers.Load(same); checked {
		return nil
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: route, PathParams: params,
			Options: ContractOptions},
		Status: a.Status, Header: a.Header, Body: io.NopCloser(strings.NewReader(a.Body)), Options: ContractOptions,
	})
	if err != nil {
		return []string{fmt.Sprintf("the answer %d is not as openapi.yaml has it: %v", a.Status, err)}
	}
	checkedAnswers.Store(same, true)
	return nil
}

// checkedAnswers are the answers that were checked without an error. To compile the schemas
// of one takes half a millisecond of CPU, and most answers of a test differ only in the id
// of the request.
var checkedAnswers sync.Map // keys are of sameAnswer

var requestID = regexp.MustCompile(`^[0-9a-f]{24}$`)

// sameAnswer returns the parts of an answer on which its check against a response of the
// document depends. The digits of the request's id aren't among them.
func sameAnswer(response *openapi3.ResponseRef, a Answer) any {
	if response == nil {
		response = &openapi3.ResponseRef{Value: &openapi3.Response{}} // it equals no other response
	}
	headers := []string{"Content-Type"}
	for name := range response.Value.Headers {
		headers = append(headers, name)
	}
	slices.Sort(headers)
	text := fmt.Sprint(a.Status)
	for _, name := range headers {
		text += fmt.Sprintf("\n%s: %q", name, a.Header.Values(name))
	}
	text += "\n\n" + a.Body
	if id := a.Header.Get("X-Request-Id"); requestID.MatchString(id) {
		text = strings.ReplaceAll(text, id, "(id)")
	}
	return struct {
		response *openapi3.Response
		text     string
	}{response.Value, text}
}

// checkHead checks an answer to HEAD, which has no body, against the answer to GET.
func checkHead(route *routers.Route, a Answer) []string {
	response := route.Operation.Responses.Status(a.Status)
	if response == nil {
		return []string{fmt.Sprintf("the answer %d to HEAD is not in openapi.yaml", a.Status)}
	}
	for name := range response.Value.Headers {
		if a.Header.Get(name) == "" {
			return []string{fmt.Sprintf("the answer to HEAD has no %s", name)}
		}
	}
	return nil
}

func Short(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}

// WaitHistory waits until account 1 has n attempts.
func (w *World) WaitHistory(n int64) error {
	var total int64
	var err error
	w.Until(fmt.Sprintf("%d attempts", n), func() bool {
		_, total, err = w.Services.Deliveries.History(context.Background(), 1, delivery.HistoryFilter{Page: app.Page{Number: 1, Size: 1}})
		return err != nil || total >= n
	})
	if err == nil && total > n {
		err = fmt.Errorf("the history has %d records, not %d", total, n)
	}
	return err
}

func Shown(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// From returns a function that sends requests to h from the address remote.
func From(h http.Handler, remote string) func(method, path, body string, header ...string) Answer {
	return func(method, path, body string, header ...string) Answer {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.RemoteAddr = remote
		maps.Copy(request.Header, apptest.Header(header))
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		return Answer{recorder.Code, recorder.Header(), recorder.Body.String()}
	}
}
