package scheduler_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/apptest"
	"baoco/scheduler/courier"
)

// answerBody is the body of an answer: size bytes, then silence until the
// attempt gives it up. A size below 0 never ends.
type answerBody struct {
	ctx          context.Context
	size         int
	silent       bool
	read, closed int
}

func (b *answerBody) Read(p []byte) (int, error) {
	if b.size >= 0 && b.read >= b.size {
		if !b.silent {
			return 0, io.EOF
		}
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	n := len(p)
	if b.size >= 0 {
		n = min(n, b.size-b.read)
	}
	copy(p, bytes.Repeat([]byte("x"), n))
	b.read += n
	return n, nil
}

func (b *answerBody) Close() error {
	b.closed++
	return errors.New("nobody asks")
}

// RoundTrip answers 200 with the body.
func (b *answerBody) RoundTrip(r *http.Request) (*http.Response, error) {
	b.ctx = r.Context()
	response := respond(200)
	response.Body = b
	return response, nil
}

// Of an answer's body 64 KiB are read, so that a receiver that is still
// writing isn't cut off, and 4 KiB kept; it has a second, and is closed
// whatever became of it.
func TestAnswerBody(t *testing.T) {
	for _, c := range []struct {
		name       string
		body       answerBody
		read, kept int
		took       time.Duration
	}{
		{"none", answerBody{}, 0, 0, 0},
		{"short", answerBody{size: 100}, 100, 100, 0},
		{"longer than what is kept", answerBody{size: 60 << 10}, 60 << 10, 4 << 10, 0},
		{"endless", answerBody{size: -1}, 64 << 10, 4 << 10, 0},
		{"stalls", answerBody{size: 10, silent: true}, 10, 10, time.Second},
		{"stalls late", answerBody{size: 10 << 10, silent: true}, 10 << 10, 4 << 10, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				body := c.body
				policy := apptest.Targets(t)
				started := time.Now()
				r := courier.NewSender(policy, "test", &body).Send(t.Context(), outgoing("https://shop.example.vn/"))
				if !r.OK() || r.Duration != 0 {
					t.Errorf("%d, %q, after %v; the body changes neither verdict nor duration", r.StatusCode, r.Error, r.Duration)
				}
				if took := time.Since(started); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if body.read != c.read || len(r.Body) != c.kept || body.closed == 0 {
					t.Errorf("read %d bytes, kept %d, closed %d times; want %d, %d and closed", body.read, len(r.Body), body.closed, c.read, c.kept)
				}
			})
		})
	}
}
