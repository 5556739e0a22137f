package provider_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/exactjson"
	"baoco/app/provider"
)

// nodeScript runs a script of testdata/provider, where node is installed.
func nodeScript(t *testing.T, input, script string, args ...string) []byte {
	t.Helper()
	script = filepath.Join("..", "..", "testdata", "provider", script)
	if _, err := os.Stat(script); err != nil { // so that a cached result depends on it
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: what JavaScript signs was not compared")
	}
	command := exec.Command(node, append([]string{script}, args...)...)
	command.Stdin = strings.NewReader(input)
	output, err := command.Output()
	apptest.Must(t, err)
	return output
}

func TestVectorsByNode(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../../testdata/provider/vectors.json")
	apptest.Must(t, err)
	if !bytes.Equal(nodeScript(t, "", "make.mjs", "--stdout"), committed) {
		t.Error("make.mjs makes another vectors.json than the one that stands there")
	}
}

// hostileJSON are bodies on which writers of JSON differ. Keys that are numbers, half surrogates
// and numbers beyond all doubles, which JavaScript treats otherwise than RFC 8785, aren't among them: no
// provider sends them, and such a call is refused.
var hostileJSON = []string{
	"{}", `{"data":{}}`, `{"data":[]}`, `{"data":null}`, `{"b":1,"a":2,"B":3,"":4," ":5}`, `{"01":4,"-1":5,"1.0":6,"1e3":10,"+1":11}`,
	`{"\ue000":1,"\ud83e\uddfe":2,"\uffff":3,"z":7}`, `{"e":"\uD83E\uDDFE"}`,
	`{"data":{"x":[{"b":"x","a":[1]}],"y":{"b":1},"z":true,"n":null,"u":"undefined","v":"null","f":false}}`,
	`{"a":[1.0,1e3,1E-7,0.000001,1e21,1e20,123456789012345678901,-0,-0.0,0e5,1e-400,5e-324,1.7976931348623157e308,0.1` +
		`,0.30000000000000004,9007199254740993,4.35,1.5e300]}`,
	`{"data":{"a":1e3,"b":-0,"e":1.10,"f":1e21,"g":1e-7,"h":"1e3"}}`,
	`{"a":"</script>\u2028\u2029\u007f\u0080\u0000\u001f\b\f\n\r\t\"\\\/'"}`, "{\"a\":\"\u2028\u2029\u007f\ufeff</>&\"}",
	"\n{ \"b\" :\t[ ] ,\r\n \"a\" : { } }\n", `{"hasOwnProperty":1,"constructor":2,"toString":3,"length":4,"toJSON":5}`,
	`{"data":{"toJSON":1,"00":"y"}}`,
}

// TestSignedAsByJavaScript compares what is signed with what node signs.
func TestSignedAsByJavaScript(t *testing.T) {
	t.Parallel()
	bodies := slices.Clone(hostileJSON)
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		bodies = append(bodies, `{"data":`+randomObject(random, 0)+`}`)
	}
	for _, v := range apptest.Vectors(t) {
		if v.Provider == "casso-v2" || v.Provider == "payos" {
			bodies = append(bodies, v.Body)
		}
	}
	var input strings.Builder
	for _, body := range bodies {
		for _, kind := range []string{"casso", "payos"} {
			fmt.Fprintf(&input, "{\"kind\":%q,\"body\":%q}\n", kind, base64.StdEncoding.EncodeToString([]byte(body)))
		}
	}
	lines := strings.Split(strings.TrimSpace(string(nodeScript(t, input.String(), "signed.mjs"))), "\n")
	if len(lines) != 2*len(bodies) {
		t.Fatalf("%d lines for %d bodies", len(lines), len(bodies))
	}
	signedByNode := func(line string) (text []byte, ok bool) {
		var encoded *string
		apptest.Must(t, json.Unmarshal([]byte(line), &encoded))
		if encoded == nil {
			return nil, false
		}
		text, err := base64.StdEncoding.DecodeString(*encoded)
		apptest.Must(t, err)
		return text, true
	}
	agreed := 0
	for i, body := range bodies {
		if want, _ := signedByNode(lines[2*i]); true {
			if got := exactjson.Canonical([]byte(body)); string(got) != string(want) {
				t.Errorf("Casso, %s:\n%s\n%s", body, got, want)
			}
		}
		// payOS's own code fails on a list of anything but objects, or signs nothing of it.
		got, ok := provider.SignedPayOS([]byte(body))
		if want, signed := signedByNode(lines[2*i+1]); ok && (!signed || string(got) != string(want)) {
			t.Errorf("payOS, %s:\n%s\n%s", body, got, want)
		} else if ok {
			agreed++
		}
	}
	if agreed < 500 {
		t.Errorf("only %d of payOS's texts were compared", agreed)
	}
}

// randomObject is an object of what hostileJSON is made of.
func randomObject(r *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	seen, parts := map[string]bool{}, []string{}
	for range r.IntN(6) {
		key := pick("a", "b", "Z", "é", "01", `\ud83e\uddfe`, `\uffff`, "amount", "code")
		if seen[key] {
			continue
		}
		seen[key] = true
		value := pick(`null`, `true`, `""`, `"null"`, `"x&y=z"`, `"\u2028\u0001\""`, `"Đơn 🧾"`, fmt.Sprint(r.IntN(1e9)),
			fmt.Sprint(r.Float64()*1e25), fmt.Sprint(r.NormFloat64()*1e-6), fmt.Sprintf("%de%d", r.IntN(100), r.IntN(40)-20))
		if n := r.IntN(5); n == 0 && depth < 3 {
			value = randomObject(r, depth+1)
		} else if n == 1 && depth < 3 {
			value = "[" + randomObject(r, 3) + "," + randomObject(r, 3) + "]" // payOS sorts the keys of its objects, not those within them
		}
		parts = append(parts, fmt.Sprintf("\"%s\":%s", key, value))
	}
	return "{" + strings.Join(parts, ",") + "}"
}
