package command

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// TestJSONGivesNoOrders: JSON on a terminal gives it no orders, and programs read from it
// what is recorded.
func TestJSONGivesNoOrders(t *testing.T) {
	t.Parallel()
	const content = "DH1 \u009b31m\u202e\x7f\u0085 đỏ"
	w := newImportWorld(t)
	w.run(0, "transaction", "add", "--amount", "200000", "--content", content)
	for _, args := range [][]string{{"transaction", "list", "-o", "json"}, {"transaction", "tail", "--once", "-o", "json"}} {
		stdout, _ := w.run(0, args...)
		if at := strings.IndexFunc(stdout,
			func(r rune) bool { return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); at >= 0 {
			t.Errorf("%v prints %q", args, stdout[at:])
		}
		var one struct{ Content string }
		must(t, json.Unmarshal([]byte(strings.Trim(strings.TrimSpace(stdout), "[]")), &one))
		if one.Content != content {
			t.Errorf("%v gives %q", args, one.Content)
		}
	}
}
