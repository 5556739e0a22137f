package listen

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app/command/terminal"
)

const (
	streamPath = "/api/v1/transactions/stream"
	maxLine    = 1 << 20          // bytes of a line of the stream, and of the data of an event
	silence    = 45 * time.Second // after which a connection is lost: the server sends something every 15 seconds
)

// newClient limits the wait for the begin of an answer, but not how long the answer lasts.
func newClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the API key must not go to another server
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			ResponseHeaderTimeout: 30 * time.Second},
	}
}

// refusedError is an answer that would be the same at the next try.
type refusedError struct{ error }

// follow reads one stream until it ends, and handles its events.
func (l *listener) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server+streamPath, nil)
	if err != nil {
		return &refusedError{err}
	}
	request.Header.Set("Authorization", "Bearer "+l.key)
	request.Header.Set("Accept", "text/event-stream")
	if last, known := l.memory.Last[l.pair()]; known { // 0: no transaction was received yet
		request.Header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	}
	response, err := l.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusal(response)
	}
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return &refusedError{fmt.Errorf("%s is not a baoco: it answers with %q", l.server, kind)}
	}
	quiet := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing was heard for %s", silence)) })
	defer quiet.Stop()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxLine)
	var e event
	for lines.Scan() {
		quiet.Reset(silence)
		if whole, err := e.add(lines.Text()); err != nil {
			return &refusedError{err}
		} else if !whole {
			continue
		}
		quiet.Stop() // the call of the program may take longer
		if err := l.take(ctx, e); err != nil {
			return err
		}
		quiet.Reset(silence)
		e = event{}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errors.New("the server ended it")
}

func refusal(response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	var said struct{ Messages string }
	if json.Unmarshal(body, &said) != nil || said.Messages == "" {
		said.Messages = "it is not what a baoco answers"
	}
	err := fmt.Errorf("the server answers %d: %s", response.StatusCode, terminal.OneLine(said.Messages))
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= 500 {
		return err
	}
	return &refusedError{err}
}

// event is an event of the stream, as far as its lines are read.
type event struct {
	name string
	id   int64
	data string
	seen bool // a line of the event was read
}

// add reads a line. An empty line after other lines completes the event.
func (e *event) add(line string) (whole bool, err error) {
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "":
		if whole = len(bytes.TrimSpace([]byte(line))) == 0 && e.seen; whole && e.name == "" && e.data != "" {
			e.name = "message"
		}
		return whole, nil
	case "id":
		e.seen = true
		if e.id, err = strconv.ParseInt(value, 10, 64); err != nil {
			err = fmt.Errorf("an event has the id %q", terminal.Clip(value, 40))
		}
		return false, err
	case "event":
		e.seen, e.name = true, value
	case "data":
		e.seen = true
		if e.data += value; len(e.data) > maxLine {
			return false, errors.New("an event is longer than 1 MiB")
		}
	}
	return false, nil
}
