package paymentcode_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"baoco/app/paymentcode"
)

// row is a content of contents.tsv. It has a code, or why says "none: " of what
// has no code and "miss: " of a code that a person would have seen.
type row struct {
	bank, patterns, content, code, why string
}

func rows(t testing.TB) (list []row) {
	table, err := os.ReadFile("testdata/contents.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 5 {
			t.Fatalf("%q has %d columns", line, len(columns))
		}
		list = append(list, row{columns[0], columns[1], columns[2], columns[3], columns[4]})
	}
	return list[1:]
}

// parsePatterns reads the patterns of a row, as "DH:6,KH:4-8a": the prefix, how
// many characters follow, and a where they can be letters.
func parsePatterns(t testing.TB, s string) (patterns []paymentcode.Pattern) {
	if s == "" {
		return nil
	}
	for one := range strings.SplitSeq(s, ",") {
		prefix, length, _ := strings.Cut(one, ":")
		p := paymentcode.Pattern{Prefix: prefix, Alphabet: paymentcode.Digits}
		if short, letters := strings.CutSuffix(length, "a"); letters {
			p.Alphabet, length = paymentcode.LettersAndDigits, short
		}
		least, most, ranges := strings.Cut(length, "-")
		if !ranges {
			most = least
		}
		var err, err2 error
		p.Least, err = strconv.Atoi(least)
		p.Most, err2 = strconv.Atoi(most)
		if err != nil || err2 != nil {
			t.Fatalf("pattern %q", one)
		}
		patterns = append(patterns, p)
	}
	return patterns
}

func TestContents(t *testing.T) {
	misses := map[string]int{}
	found, none, missed := 0, 0, 0
	banks, seen := map[string]bool{}, map[string]bool{}
	list := rows(t)
	for _, r := range list {
		code, ok := paymentcode.NewFinder(parsePatterns(t, r.patterns)).Find(r.content)
		if code != r.code || ok != (code != "") {
			t.Errorf("%s, %s, %q (%s): %q, %t, want %q", r.bank, r.patterns, r.content, r.why, code, ok, r.code)
		}
		miss, isMiss := strings.CutPrefix(r.why, "miss: ")
		switch isNone := strings.HasPrefix(r.why, "none: "); {
		case r.why == "" || (isMiss || isNone) != (r.code == ""):
			t.Errorf("%q: code %q, why %q", r.content, r.code, r.why)
		case isMiss:
			missed++
			misses[miss]++
		case isNone:
			none++
		default:
			found++
		}
		if key := r.patterns + "\t" + r.content; seen[key] {
			if r.bank != "BAB" {
				t.Errorf("twice: %q", key)
			}
		} else {
			seen[key] = true
		}
		banks[r.bank] = true
	}
	if len(list) < 280 || len(banks) < 25 {
		t.Errorf("%d contents of %d banks", len(list), len(banks))
	}
	t.Logf("%d contents of %d banks: %d with a code, %d without one, %d missed", len(list), len(banks), found, none, missed)
	for miss, n := range misses {
		t.Logf("missed %d: %s", n, miss)
	}
}
