package webtest

import (
	"encoding/json"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
)

// API makes a request of the management API with a key of full scope and reads
// the answer into v.
func (w *World) API(method, path, body string, status int, v any) {
	w.T.Helper()
	a := w.Do(method, path, body, "Authorization", "Bearer "+w.APIKey(access.ScopeFull))
	if a.Status != status {
		w.T.Fatalf("%s %s %s: %d %s, want %d", method, path, body, a.Status, a.Body, status)
	}
	if v != nil {
		apptest.Must(w.T, json.Unmarshal([]byte(a.Body), v))
	}
}

// Tallies checks that what every event said adds up to what was counted when
// it was recorded.
func (w *World) Tallies() {
	w.T.Helper()
	for _, e := range w.Events() {
		list, _ := w.Reads(e.ID)
		var r inbound.Recording
		for _, s := range list {
			r.Add(s.State, 0)
		}
		got, want := CountsOf(r), Counts{e.Recorded, e.Duplicates, e.Unassigned, e.Conflicts, e.Rejected, int(e.OpenBy.MayBeRepeats)}
		if got != want {
			w.T.Errorf("event %d is read as %+v and was counted as %+v", e.ID, got, want)
		}
	}
}
