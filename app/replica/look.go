package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"baoco/app/pattern"
)

// A look lists the objects that Litestream has written, which is cheap enough for every
// half minute. A check restores the copy, and so sees more.

// Look is the result of a look.
type Look struct {
	Newest  time.Time // when the copy was last written to, by the clock of the place
	objects map[string]Object
}

var ltxName = pattern.Lazy(`^([0-9a-f]{16})-([0-9a-f]{16})\.ltx$`)

// LookAt lists the copy of an epoch.
func LookAt(ctx context.Context, o Objects, epoch int64) (l Look, err error) {
	list, err := o.List(ctx, EpochDir(epoch))
	l.objects = map[string]Object{}
	for _, object := range list {
		if ltxName().MatchString(path.Base(object.Name)) {
			l.objects[object.Name] = object
			if object.Modified.After(l.Newest) {
				l.Newest = object.Modified
			}
		}
	}
	return l, err
}

// Empty reports whether Litestream has written nothing yet.
func (l Look) Empty() bool { return len(l.objects) == 0 }

// News reports whether new objects were written since the look before.
func (l Look) News(before Look) bool {
	for name := range l.objects {
		if _, known := before.objects[name]; !known {
			return true
		}
	}
	return false
}

// Odd says why only a restore can show whether a copy is good; nil: its list looks right:
// objects never change, and there is no gap between the file's first transaction and its
// last. before is the look before.
func (l Look) Odd(before Look) error {
	for name, object := range l.objects {
		if was, known := before.objects[name]; known && (was.Size != object.Size || was.Tag != object.Tag) {
			return fmt.Errorf("%s was changed", name)
		}
	}
	return l.gap()
}

// gap looks for transactions of the file that no object has.
func (l Look) gap() error {
	type part struct{ first, last uint64 }
	var parts []part
	for name := range l.objects {
		ends := ltxName().FindStringSubmatch(path.Base(name))
		first, _ := strconv.ParseUint(ends[1], 16, 64)
		last, _ := strconv.ParseUint(ends[2], 16, 64)
		parts = append(parts, part{first, last})
	}
	if len(parts) == 0 {
		return errors.New("there is no copy")
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.first, b.first) })
	var reached uint64
	for _, p := range parts {
		if p.first > reached+1 {
			return fmt.Errorf("transactions %d to %d of the file are missing", reached+1, p.first-1)
		}
		reached = max(reached, p.last)
	}
	return nil
}
