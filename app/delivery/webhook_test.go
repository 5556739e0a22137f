package delivery_test

import (
	"slices"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
)

func TestSecretsAt(t *testing.T) {
	now := time.Date(2025, 10, 14, 10, 0, 0, 0, time.UTC)
	later := now.Add(24 * time.Hour)
	for _, test := range []struct {
		name    string
		secrets delivery.Secrets
		at      time.Time
		signing string
		all     []string
	}{
		{"one secret", delivery.Secrets{Current: "a"}, now, "a", []string{"a"}},
		{"an old overlap without a secret", delivery.Secrets{Current: "a", OverlapTo: now.Add(-time.Hour)}, now, "a", []string{"a"}},
		{"overlap begins", delivery.Secrets{Current: "a", Next: "b", OverlapTo: later}, now, "a", []string{"a", "b"}},
		{"last instant of the overlap", delivery.Secrets{Current: "a", Next: "b", OverlapTo: later}, later.Add(-1), "a", []string{"a", "b"}},
		{"end of the overlap", delivery.Secrets{Current: "a", Next: "b", OverlapTo: later}, later, "b", []string{"b"}},
		{"long after", delivery.Secrets{Current: "a", Next: "b", OverlapTo: later}, later.Add(10000 * time.Hour), "b", []string{"b"}},
		{"another zone", delivery.Secrets{Current: "a", Next: "b", OverlapTo: later}, later.In(time.FixedZone("", 7*3600)), "b", []string{"b"}},
	} {
		signing, all := test.secrets.At(test.at)
		if signing != test.signing || !slices.Equal(all, test.all) {
			t.Errorf("%s: %s of %v; want %s of %v", test.name, signing, all, test.signing, test.all)
		}
	}
}

func TestSecretsRotated(t *testing.T) {
	now := time.Date(2025, 10, 14, 10, 0, 0, 0, time.UTC)
	check := func(name string, s delivery.Secrets, at time.Time, want ...string) {
		t.Helper()
		signing, all := s.At(at)
		if signing != want[0] || !slices.Equal(all, want) {
			t.Errorf("%s: %s of %v; want %v", name, signing, all, want)
		}
	}

	s := delivery.Secrets{Current: "a"}
	check("no overlap", s.Rotated("b", 0, now), now, "b")
	check("an overlap below zero", s.Rotated("b", -time.Hour, now), now, "b")
	if r := s.Rotated("b", 0, now); r.Next != "" || r.Current != "b" {
		t.Errorf("without an overlap a rotation is under way: %+v", r)
	}

	s = s.Rotated("b", 24*time.Hour, now)
	check("rotated", s, now, "a", "b")
	check("23:59:59", s, now.Add(24*time.Hour-time.Second), "a", "b")
	check("24:00:00", s, now.Add(24*time.Hour), "b")

	// Rotated again within the overlap: the receiver still knows only the
	// first, so that one signs, and the newest waits.
	again := s.Rotated("c", 2*time.Hour, now.Add(time.Hour))
	check("again within the overlap", again, now.Add(time.Hour), "a", "c")
	check("the end of the second overlap", again, now.Add(3*time.Hour), "c")
	check("at once within the overlap", s.Rotated("c", 0, now.Add(time.Hour)), now.Add(time.Hour), "c")

	// After the overlap the second is the old one.
	after := s.Rotated("c", 2*time.Hour, now.Add(24*time.Hour))
	check("after the overlap", after, now.Add(24*time.Hour), "b", "c")
	check("after both overlaps", after, now.Add(26*time.Hour), "c")

	check("the longest overlap", delivery.Secrets{Current: "a"}.Rotated("b", delivery.MaxOverlap, now), now.Add(168*time.Hour-1), "a", "b")
}

func TestIsPlainHTTP(t *testing.T) {
	for url, plain := range map[string]bool{
		"http://shop.vn/": true, "HTTP://shop.vn/": true, "hTtP://x": true,
		"https://shop.vn/": false, "HTTPS://shop.vn/": false, "": false, "http:": false, "http://": false, "https://http://": false,
	} {
		if delivery.IsPlainHTTP(url) != plain {
			t.Errorf("IsPlainHTTP(%q) = %t", url, !plain)
		}
	}
}

// An id that no record has finds none, 0 too, which in a filter means all.
func TestHistoryRecordOfNothing(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	hook, _ := w.Webhook("https://shop.vn/a", delivery.WebhookAll)
	w.Record("FT1")
	due, err := w.Store.Due(t.Context(), delivery.DueFilter{WebhookID: hook.ID, Limit: 1}, time.Now())
	apptest.Must(t, err)
	made, err := w.Services.Deliveries.Settle(t.Context(), due[0], delivery.Result{StartedAt: time.Now(), StatusCode: 200})
	apptest.Must(t, err)
	if a, err := w.Services.Deliveries.HistoryRecord(t.Context(), 1, made.ID); err != nil || a.ID != made.ID {
		t.Errorf("%+v, %v", a, err)
	}
	for _, id := range []int64{0, -1, made.ID + 1} {
		if a, err := w.Services.Deliveries.HistoryRecord(t.Context(), 1, id); err != delivery.ErrNoHistory {
			t.Errorf("id %d: %+v, %v", id, a, err)
		}
	}
}
