package exactjson

import (
	"strconv"
	"strings"

	"baoco/app"
)

// Path says where a value stands in JSON: keys and array indexes with dots
// between them. items.0.sum and items[0].sum are one path; a key with one of
// . [ ] " ' \ in it is written in quotes, "a.b".sum, or with a backslash
// before each of them, a\.b.sum.
type Path []step

// step goes into an object by key where keyed, and into an array by index
// where that isn't negative. A bare number does both.
type step struct {
	key   string
	keyed bool
	index int
}

// ParsePath reads a path of at least one step.
func ParsePath(s string) (p Path, ok bool) {
	for {
		var st step
		switch {
		case strings.HasPrefix(s, "["):
			digits, rest, found := strings.Cut(s[1:], "]")
			if st.index, ok = pathIndex(digits); !found || !ok {
				return nil, false
			}
			s = rest
		case len(p) > 0 && !strings.HasPrefix(s, "."):
			return nil, false
		default:
			if len(p) > 0 {
				s = s[1:]
			}
			if st, s, ok = parseKey(s); !ok {
				return nil, false
			}
		}
		if p = append(p, st); s == "" {
			return p, true
		}
	}
}

func pathIndex(digits string) (int, bool) {
	n, err := strconv.Atoi(digits)
	return n, err == nil && app.AllDigits(digits) && len(digits) < 8
}

// parseKey reads the key at the beginning of s and gives what follows it.
func parseKey(s string) (st step, rest string, ok bool) {
	st = step{keyed: true, index: -1}
	var key strings.Builder
	quote, plain := byte(0), true
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		quote, plain, s = s[0], false, s[1:]
	}
	for s != "" && s[0] != quote && (quote != 0 || s[0] != '.' && s[0] != '[') {
		switch {
		case s[0] == '\\':
			if s, plain = s[1:], false; s == "" {
				return st, "", false
			}
		case quote == 0 && strings.IndexByte("]\"'", s[0]) >= 0:
			return st, "", false
		}
		key.WriteByte(s[0])
		s = s[1:]
	}
	if quote != 0 {
		if s == "" {
			return st, "", false // never closed
		}
		s = s[1:]
	}
	if st.key = key.String(); st.key == "" {
		return st, "", false
	}
	if n, isIndex := pathIndex(st.key); plain && isIndex {
		st.index = n
	}
	return st, s, true
}

// At gives the value at the end of p; null where there is none. once is false
// where a key of p is there more than once, in whatever case: then nobody can
// say which was meant.
func (v Value) At(p Path) (value Value, once bool) {
	once = true
	for _, st := range p {
		switch {
		case v.Kind == Object && st.keyed:
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
