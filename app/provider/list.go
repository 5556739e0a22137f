package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// List is how a provider's list of transactions is read, page by page: what to
// ask for and how an answer is read. The scheduler asks, not too often.
//
// The progress that a provider notes says how to go on without leaving anything
// out. What is read twice is known, so in doubt it is read twice.
type List struct {
	Base   string        // the URL of the provider's API; a source may name another
	Path   string        // of the list, behind Base
	Scheme string        // of the Authorization header, before the API key
	Pace   time.Duration // between two requests, whichever source they are for
	// Ask says what comes next after progress, which is empty in the beginning.
	Ask func(source inbound.Source, progress string, now time.Time, zone *time.Location) Question
	// read reads the elements of a page.
	read func(body []byte, zone *time.Location) ([]inbound.Incoming, error)
}

// Question is what to ask for in one request.
type Question struct {
	Query url.Values
	// Read reads the answer and moves the progress on.
	Read func(body []byte) (inbound.PolledPage, error)
	// Otherwise is the progress to go on from where the provider takes the API
	// key but not the question; empty: that is a fault.
	Otherwise string
}

// pageSize is how many transactions a page has: the most that the providers give.
const pageSize = 100

// elements reads a page that was kept. What is no page becomes an element with
// a fault.
func (l *List) elements(body []byte, zone *time.Location) []inbound.Incoming {
	elements, err := l.read(body, zone)
	if err != nil {
		return []inbound.Incoming{unreadable("body", "is no page of the list", "không phải một trang của danh sách")}
	}
	return elements
}

// parsePage reads the object that an answer is. Nothing is built of one with
// more values than a call with many transactions may have.
func parsePage(body []byte) (exactjson.Value, error) {
	if exactjson.Count(body) > maxManyValues {
		return exactjson.Value{}, unreadablePage("the page has more than %d values", maxManyValues)
	}
	v, err := exactjson.Parse(body)
	if err != nil || v.Kind != exactjson.Object {
		return exactjson.Value{}, unreadablePage("the page is not a JSON object")
	}
	return v, nil
}

func unreadablePage(format string, args ...any) error {
	return &inbound.PollError{Fault: inbound.PollUnreadable, Err: fmt.Errorf(format, args...)}
}

// noID begins the id of an element that has none.
const noID = "~"

// readRecords reads the elements of the array under key with read. One that has
// no id is given one of what it holds, so that it is known on the next page.
func readRecords(v exactjson.Value, key string, zone *time.Location,
	read func(v exactjson.Value, zone *time.Location) inbound.Incoming) ([]inbound.Incoming, error) {
	list := v.Get(key)
	if list.Kind != exactjson.Array || v.Times(key) != 1 {
		return nil, unreadablePage("the page has no list %s", key)
	}
	elements := make([]inbound.Incoming, len(list.Items))
	for i, item := range list.Items {
		elements[i] = readElement(item, zone, read)
		if e := &elements[i]; inbound.BlankID(e.EventID) {
			sum := sha256.Sum256(exactjson.AppendJS(nil, item))
			e.EventID = noID + hex.EncodeToString(sum[:])
			if e.Fault == nil {
				e.Fault = &app.FieldError{Field: "id", Text: required}
			}
		}
	}
	return elements, nil
}

func firstWord(v exactjson.Value, keys ...string) string {
	for _, key := range keys {
		if word := v.Get(key).Word(); word != "" {
			return word
		}
	}
	return ""
}

// isZero tells whether v is null, empty, or 0 as a number or a text.
func isZero(v exactjson.Value) bool {
	return v.Kind == exactjson.Null || (v.Kind == exactjson.Number || v.Kind == exactjson.String) && strings.Trim(v.Text, "0.") == ""
}

// progressText writes a progress of strings and integers.
func progressText(progress any) string {
	text, err := json.Marshal(progress)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// parseProgress reads what progressText wrote. What it can't read is the first time.
func parseProgress[T any](text string) (progress T) {
	var first T
	if json.Unmarshal([]byte(text), &progress) != nil {
		return first
	}
	return progress
}
