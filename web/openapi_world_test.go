package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"baoco/web/api"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// contract is the OpenAPI document, for holding requests and answers against
// it. What baoco sends is held more strictly than the document tells its
// readers: a member that isn't described is at fault, so that none is
// forgotten, while clients must expect more.
type contract struct {
	doc    *openapi3.T
	router routers.Router
}

var theContract = sync.OnceValues(func() (contract, error) {
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
	if c.doc, err = openapi3.NewLoader().LoadFromData(text); err != nil {
		return contract{}, err
	}
	c.doc.Servers = nil
	c.router, err = gorillamux.NewRouter(c.doc)
	return c, err
})

// memberAt is the part of a document under a path of members.
func memberAt(document any, path ...string) any {
	for _, name := range path {
		object, _ := document.(map[string]any)
		document = object[name]
	}
	return document
}

// referred is the part of a document that a reference names.
func referred(document map[string]any, ref string) map[string]any {
	found, _ := memberAt(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
	return found
}

// closeAnswers closes the schemas of all that baoco sends.
func closeAnswers(document map[string]any) {
	closeContent := func(holder any) {
		if media, found := memberAt(holder, "content", "application/json").(map[string]any); found {
			media["schema"] = closed(document, media["schema"].(map[string]any), true)
		}
	}
	for _, item := range document["paths"].(map[string]any) {
		for _, operation := range item.(map[string]any) {
			if responses, found := memberAt(operation, "responses").(map[string]any); found {
				for _, response := range responses {
					closeContent(response)
				}
			}
		}
	}
	for _, response := range memberAt(document, "components", "responses").(map[string]any) {
		closeContent(response)
	}
	for _, item := range document["webhooks"].(map[string]any) {
		closeContent(memberAt(item, "post", "requestBody"))
	}
}

// closed is a schema with its references written out, and with objects that
// have the described members only. A part of an allOf is not closed by itself:
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

// described tells whether the contract is about a path.
func described(path string) bool {
	return slices.ContainsFunc([]string{"/api/", "/bank/", "/healthz", "/readyz"}, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// route finds the operation that a request is to; where there is none, one that
// only refuses.
func (c contract) route(r *http.Request) (*routers.Route, map[string]string) {
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

// only is what an address without an operation answers.
func (c contract) only(status int, response string) *routers.Route {
	ref := c.doc.Components.Responses[response]
	return &routers.Route{Spec: c.doc, Operation: &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, ref))}}
}

// newRequest is a request as a server reads it; nil where the document has
// nothing to say of its target.
func newRequest(method, target, body string, header http.Header) *http.Request {
	parsed, err := url.ParseRequestURI(target)
	if err != nil || !described(parsed.Path) {
		return nil
	}
	values := parsed.Query()
	maps.DeleteFunc(values, func(_ string, v []string) bool { return v[0] == "" }) // the same as none
	parsed.RawQuery = values.Encode()
	r := &http.Request{Method: method, URL: parsed, Host: "localhost", Header: header.Clone(), Body: io.NopCloser(strings.NewReader(body))}
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json") // as which it is read
	}
	return r
}

var contractOptions = &openapi3filter.Options{
	IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true,
}

// checkContract gives what of an answer is not as the document has it.
func checkContract(method, target string, a answer) []string {
	c, err := theContract()
	if err != nil {
		return []string{err.Error()}
	}
	head := method == http.MethodHead
	if head {
		method = http.MethodGet
	}
	request := newRequest(method, target, "", http.Header{})
	if request == nil {
		return nil
	}
	route, params := c.route(request)
	if head {
		return checkHead(route, a)
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: route, PathParams: params, Options: contractOptions},
		Status:                 a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)), Options: contractOptions,
	})
	if err != nil {
		return []string{fmt.Sprintf("the answer %d is not as openapi.yaml has it: %v", a.status, err)}
	}
	return nil
}

// checkHead holds an answer without body against that of GET.
func checkHead(route *routers.Route, a answer) []string {
	response := route.Operation.Responses.Status(a.status)
	if response == nil {
		return []string{fmt.Sprintf("the answer %d to HEAD is not in openapi.yaml", a.status)}
	}
	for name := range response.Value.Headers {
		if a.header.Get(name) == "" {
			return []string{fmt.Sprintf("the answer to HEAD has no %s", name)}
		}
	}
	return nil
}

// checkRequest tells whether a request is as the document has it.
func checkRequest(method, target, body string, header ...string) error {
	c, err := theContract()
	if err != nil {
		return err
	}
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	request := newRequest(method, target, body, h)
	if request == nil {
		return nil
	}
	input := &openapi3filter.RequestValidationInput{Request: request, Options: contractOptions}
	input.Route, input.PathParams = c.route(request)
	if input.Route.Operation.RequestBody == nil {
		request.Body = http.NoBody // what is sent is ignored
	}
	return openapi3filter.ValidateRequest(context.Background(), input)
}

// checkDelivery gives what of a request to a shop is not as the document has
// it.
func (c contract) checkDelivery(header http.Header, body []byte) []string {
	operation := c.doc.Webhooks["transactions"].Post
	var failures []string
	for _, p := range operation.Parameters {
		value := header.Get(p.Value.Name)
		if err := p.Value.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
			failures = append(failures, fmt.Sprintf("header %s: %v", p.Value.Name, err))
		}
	}
	var v any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&v); err != nil {
		return append(failures, err.Error())
	}
	schema := operation.RequestBody.Value.Content["application/json"].Schema.Value
	if err := schema.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
		failures = append(failures, fmt.Sprintf("body: %v", err))
	}
	return failures
}
