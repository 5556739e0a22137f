package web

import (
	"strconv"
	"time"

	"baoco/app"
)

// timeLayouts are the forms, beside Y-m-d H:i:s, in which others write times.
// What names no zone is in the installation's.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", app.DateLayout,
	"02/01/2006 15:04:05", "02/01/2006 15:04", "02/01/2006",
}

// readTime reads a time in one of the usual forms: those of timeLayouts, or
// seconds or milliseconds since 1970 from 2001 on. Zero: in none.
func readTime(s string, zone *time.Location) time.Time {
	if isInteger(s) {
		n, err := strconv.ParseInt(s, 10, 64)
		switch {
		case err != nil:
		case n >= 1e9 && n < 1e11:
			return time.Unix(n, 0)
		case n >= 1e12 && n < 1e14:
			return time.UnixMilli(n)
		}
		return time.Time{}
	}
	if t, err := app.ParseTime(s, zone); err == nil {
		return t
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t
		}
	}
	return time.Time{}
}
