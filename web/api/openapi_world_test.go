package api_test

import (
	"context"
	"net/http"

	"baoco/web/webtest"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// checkRequest tells whether a request is as the document has it.
func checkRequest(method, target, body string, header ...string) error {
	c, err := webtest.TheContract()
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
	request := webtest.NewRequest(method, target, body, h)
	if request == nil {
		return nil
	}
	input := &openapi3filter.RequestValidationInput{Request: request, Options: webtest.ContractOptions}
	input.Route, input.PathParams = c.Route(request)
	if input.Route.Operation.RequestBody == nil {
		request.Body = http.NoBody // what is sent is ignored
	}
	return openapi3filter.ValidateRequest(context.Background(), input)
}
