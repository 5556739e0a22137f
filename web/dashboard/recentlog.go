package dashboard

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// These bounds are of the log lines that are kept for the operator.
const (
	recentLines  = 100
	longestValue = 1000 // bytes of a message or a value
)

// RecentLog passes log records on and keeps the last ones in memory.
type RecentLog struct {
	next  slog.Handler
	attrs []logAttr // of With
	group string    // names of groups, each followed by a dot
	ring  *logRing
}

// NewRecentLog makes a RecentLog that passes all records on to next.
func NewRecentLog(next slog.Handler) *RecentLog { return &RecentLog{next: next, ring: &logRing{}} }

type logLine struct {
	At      time.Time
	Level   slog.Level
	Message string
	Attrs   []logAttr
}

type logAttr struct{ Key, Value string }

type logRing struct {
	mu    sync.Mutex
	lines [recentLines]logLine
	next  int // counts all lines
}

// Enabled implements slog.Handler.
func (l *RecentLog) Enabled(ctx context.Context, level slog.Level) bool {
	return l.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (l *RecentLog) Handle(ctx context.Context, r slog.Record) error {
	line := logLine{At: r.Time, Level: r.Level, Message: cut(r.Message), Attrs: slices.Clone(l.attrs)}
	r.Attrs(func(a slog.Attr) bool {
		line.Attrs = flatten(line.Attrs, l.group, a)
		return true
	})
	l.ring.mu.Lock()
	l.ring.lines[l.ring.next%recentLines] = line
	l.ring.next++
	l.ring.mu.Unlock()
	return l.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l *RecentLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *l
	with.next, with.attrs = l.next.WithAttrs(attrs), slices.Clone(l.attrs)
	for _, a := range attrs {
		with.attrs = flatten(with.attrs, l.group, a)
	}
	return &with
}

// WithGroup implements slog.Handler.
func (l *RecentLog) WithGroup(name string) slog.Handler {
	with := *l
	with.next = l.next.WithGroup(name)
	if name != "" {
		with.group += name + "."
	}
	return &with
}

// flatten adds an attribute; of a group, it adds each attribute.
func flatten(list []logAttr, group string, a slog.Attr) []logAttr {
	value := a.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		if a.Equal(slog.Attr{}) {
			return list
		}
		return append(list, logAttr{group + a.Key, cut(value.String())})
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, member := range value.Group() {
		list = flatten(list, group, member)
	}
	return list
}

// cut bounds the memory of a line.
func cut(text string) string {
	if len(text) <= longestValue {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	end := longestValue
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD") + "…"
}

// newestFirst lists the kept lines; a nil log has none.
func (l *RecentLog) newestFirst() []logLine {
	if l == nil {
		return nil
	}
	l.ring.mu.Lock()
	defer l.ring.mu.Unlock()
	var list []logLine
	for i := l.ring.next - 1; i >= max(0, l.ring.next-recentLines); i-- {
		list = append(list, l.ring.lines[i%recentLines])
	}
	return list
}
