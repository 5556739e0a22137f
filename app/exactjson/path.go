package exactjson

import (
	"regexp"
	"strconv"
	"strings"
)

// Path says where a value stands in JSON: keys and array indexes with dots
// between them. items.0.sum and items[0].sum are one path; a key with one of
// . [ ] ' \ in it is written in quotes: "a.b".sum.
type Path []step

// step goes into an object by key unless that is empty, and into an array by index
// where that isn't negative. A bare number does both.
type step struct {
	key   string
	index int
}

// stepForm is a key in quotes, a bare one, or an index in brackets.
var stepForm = regexp.MustCompile(`^(?:\.(?:"([^"]+)"|([^."'\\\[\]]+))|\[(\d{1,7})\])`)

// ParsePath reads a path of at least one step.
func ParsePath(s string) (p Path, ok bool) {
	if !strings.HasPrefix(s, "[") {
		s = "." + s
	}
	for s != "" {
		part := stepForm.FindStringSubmatch(s)
		if part == nil {
			return nil, false
		}
		st := step{part[1] + part[2], -1}
		if n, err := strconv.ParseUint(part[2]+part[3], 10, 24); err == nil {
			st.index = int(n)
		}
		p, s = append(p, st), s[len(part[0]):]
	}
	return p, true
}

// At gives the value at the end of p; null where there is none. once is false
// where a key of p is there more than once, in whatever case: then nobody can
// say which was meant.
func (v Value) At(p Path) (value Value, once bool) {
	once = true
	for _, st := range p {
		switch {
		case v.Kind == Object && st.key != "":
			once = once && v.Times(st.key) <= 1
			v = v.Get(st.key)
		case v.Kind == Array && st.index >= 0 && st.index < len(v.Items):
			v = v.Items[st.index]
		default:
			return Value{Kind: Null}, once
		}
	}
	return v, once
}
