package app

import "context"

// exportPage is how many transactions an export reads at a time, and
// exportSpan how many ids it looks at for them: each read ends within
// milliseconds, however few of the ids the filter leaves.
const (
	exportPage = 1000
	exportSpan = 20_000
)

// IDRange is a stretch of ids, both ends included.
type IDRange struct{ First, Last int64 }

// ExportTransactions hands out every transaction of a filter, oldest id first,
// some at a time: those that exist when it begins. Sort and Page of the filter
// don't count. Nothing of the storage is held while take runs, however long
// that takes; its error ends the export.
func (s *Service) ExportTransactions(ctx context.Context, accountID int64, f TransactionFilter, take func([]Transaction) error) error {
	ids, err := s.store.IDsOf(ctx, accountID, f)
	for err == nil && ids.First <= ids.Last {
		var list []Transaction
		span := IDRange{ids.First, min(ids.Last, ids.First+exportSpan-1)}
		if list, err = s.store.TransactionsIn(ctx, accountID, f, span, exportPage); err != nil {
			return err
		}
		ids.First = span.Last + 1
		if len(list) == exportPage {
			ids.First = list[len(list)-1].ID + 1
		}
		if len(list) > 0 {
			err = take(list)
		}
	}
	return err
}
