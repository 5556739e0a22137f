package sqlitestore_test

import (
	"testing"

	"baoco/app/inbound"
)

// An import records thousands of transactions a second: the index of search texts, which
// goes on once a second, keeps up.
func TestIndexKeepsUp(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 0)
	defer h.store.Close()
	for range 3 { // as many as an import records in three seconds
		for range 2 {
			h.record(h.elements(inbound.MaxElements, "1000"))
		}
	}
	before, err := h.store.Unindexed(t.Context())
	must(t, err)
	for range 3 {
		must(t, h.service.Ledger.IndexSearch(t.Context()))
	}
	left, err := h.store.Unindexed(t.Context())
	must(t, err)
	if before < 10_000 || left > 1000 {
		t.Errorf("of %d or more transactions %d are not indexed after three seconds", before, left)
	}
}
