package inbound_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// TestProviderMutationsByHTTP has a sample of them come in as they would, and
// nothing is stored.
func TestProviderMutationsByHTTP(t *testing.T) {
	t.Parallel()
	bodyStep, headerStep := apptest.Rounds(15, 5), apptest.Rounds(9, 3) // from one changed byte to the next
	for _, v := range apptest.Vectors(t) {
		if v.Provider == "native" || v.Provider == "sepay" {
			continue // TestProviderMutations has all of theirs
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			w := webtest.NewWorld(t).Peers()
			source, calls, constant := prepare(w, v), 0, ""
			refused := func(what, body string, header []string) {
				t.Helper()
				calls++
				a := w.Do("POST", source.URLPath(), body, append(header, "X-Test-Peer", webtest.Peer(calls/25))...)
				if constant == "" {
					constant = refusal(t, a)
				}
				if a.Status != http.StatusUnauthorized || refusal(t, a) != constant {
					t.Errorf("%s: %d %s", what, a.Status, a.Body)
				}
			}
			if v.Auth == inbound.AuthHMAC {
				for i := 0; i < len(v.Body); i += bodyStep {
					changed := flipped(v.Body, i, 1)
					if apptest.RefusalOf(v.Source(), []byte(changed), v.HTTPHeader(), time.Now()).Code != "" {
						refused(fmt.Sprint("byte ", i), changed, headerOf(v))
					}
				}
				if calls < len(v.Body)/(2*bodyStep) {
					t.Errorf("only %d of the mutations are refused", calls)
				}
			}
			for name, value := range v.Headers {
				for i := 0; i < len(value) && name != "Content-Type"; i += headerStep {
					refused(fmt.Sprint(name, i), v.Body, append(headerOf(v), name, value)) // twice
					refused(fmt.Sprint(name, i), v.Body, []string{name, flipped(value, i, 1)})
				}
			}
			nothingStored(w)
			if got := w.Do("POST", source.URLPath(), v.Body, headerOf(v)...).Counts(t); got != (webtest.Counts{Recorded: len(v.Normalized)}) {
				t.Errorf("the call itself: %+v", got)
			}
		})
	}
}
