package provider_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"

	"github.com/google/go-cmp/cmp"
)

// signsFields are the kinds whose signature is over the fields of a body: white
// space between them, and what stands beside them, is nobody's.
var signsFields = []app.Provider{"casso-v2", "payos", "pay2s-ipn"}

// mutations are s with each byte changed, left out, or another put before it;
// without BAOCO_FULL=1 fewer of each.
func mutations(s []byte) func(yield func(string, []byte) bool) {
	bits, others := []int{0, 1, 2, 3, 4, 5, 6, 7}, []byte("0 \"&=}")
	if !apptest.Full() {
		bits, others = []int{0, 5}, []byte("0 ")
	}
	return func(yield func(string, []byte) bool) {
		for i := range s {
			for _, bit := range bits {
				changed := bytes.Clone(s)
				if changed[i] ^= 1 << bit; !yield(fmt.Sprintf("bit %d of byte %d", bit, i), changed) {
					return
				}
			}
			for _, c := range others {
				changed := bytes.Clone(s)
				if changed[i] = c; s[i] != c && !yield(fmt.Sprintf("%q for byte %d", c, i), changed) {
					return
				}
				if !yield(fmt.Sprintf("%q before byte %d", c, i), slices.Insert(bytes.Clone(s), i, c)) {
					return
				}
			}
			if !yield(fmt.Sprintf("without byte %d", i), slices.Delete(bytes.Clone(s), i, i+1)) {
				return
			}
		}
	}
}

// TestEveryMutation: whatever byte of a call or of its key is another,
// the call is refused; where a signature is over fields, one that leaves them
// as they are may be accepted, and says exactly the same.
func TestEveryMutation(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation(app.DefaultZone)
	apptest.Must(t, err)
	for _, v := range apptest.Vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			source, at := v.Source(), v.SignedAt()
			refused := func(what string, source inbound.Source, body []byte, h http.Header) bool {
				t.Helper()
				why := apptest.RefusalOf(source, body, h, at)
				if why.Code != "" && (why.Text.EN == "" || why.Text.VI == "") {
					t.Errorf("%s: refused without a reason: %+v", what, why)
				}
				return why.Code != ""
			}
			if v.Auth == inbound.AuthHMAC {
				original, accepted := provider.Read(source, app.ChannelCall, []byte(v.Body), at, zone).Elements, 0
				for what, body := range mutations([]byte(v.Body)) {
					if refused(what, source, body, v.HTTPHeader()) {
						continue
					}
					accepted++
					if !slices.Contains(signsFields, v.Provider) {
						t.Errorf("%s is accepted", what)
					} else if diff := cmp.Diff(original, provider.Read(source, app.ChannelCall, body, at, zone).Elements); diff != "" {
						t.Errorf("%s is accepted and says something else: %s\n%s", what, body, diff)
					}
				}
				if accepted > 0 {
					t.Logf("%d mutations leave what is signed as it was", accepted)
				}
			}
			for name, value := range v.Headers {
				if name == "Content-Type" {
					continue
				}
				for what, changed := range mutations([]byte(value)) {
					h := v.HTTPHeader()
					h[http.CanonicalHeaderKey(name)] = []string{string(changed)}
					if !apptest.SameCredential(name, value, string(changed)) && !refused(what, source, []byte(v.Body), h) {
						t.Errorf("%s: %s is accepted", name, what)
					}
				}
				for _, changed := range [][]string{nil, {""}, {value, value}, {value, ""}, {value + "," + value}, {strings.ToUpper(value)}} {
					h := v.HTTPHeader()
					h[http.CanonicalHeaderKey(name)] = changed
					if !(len(changed) == 1 && apptest.SameCredential(name, value, changed[0])) && !refused(name, source, []byte(v.Body), h) {
						t.Errorf("%s: %q is accepted", name, changed)
					}
				}
			}
			for what, key := range mutations([]byte(v.Secret)) {
				other := source
				if other.Secret = string(key); !refused(what, other, []byte(v.Body), v.HTTPHeader()) {
					t.Errorf("the key with %s accepts it", what)
				}
			}
			for what, key := range mutations([]byte(v.AccessKey)) {
				other := source
				if other.Options.AccessKey = string(key); !refused(what, other, []byte(v.Body), v.HTTPHeader()) {
					t.Errorf("the access key with %s accepts it", what)
				}
			}
		})
	}
}
