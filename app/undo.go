package app

import (
	"context"
	"time"
)

// ImportedFile is a statement file that transactions were recorded of.
type ImportedFile struct {
	ID       int64
	File     string
	At       time.Time
	In, Out  Amounts   // of what was recorded, taken back or not
	UndoneAt time.Time // zero: it wasn't taken back
	Kept     int64     // transactions that stay although it was taken back
}

// Undoing is what taking back an import removes, and what stays.
type Undoing struct {
	File        ImportedFile
	In, Out     Amounts   // of what goes
	First, Last time.Time // of what goes
	Told        []int64   // transactions that stay, since a shop was told of them or may be
	Named       []int64   // that stay, since a provider, or somebody by hand, named them too
	ToldCount   int64     // Told and Named hold the first hundred
	NamedCount  int64
}

// listedKept is how many ids of transactions that stay are listed.
const listedKept = 100

// Count adds a transaction of the import.
func (u *Undoing) Count(t Transaction, told, named bool) {
	switch {
	case told:
		if u.ToldCount++; len(u.Told) < listedKept {
			u.Told = append(u.Told, t.ID)
		}
		return
	case named:
		if u.NamedCount++; len(u.Named) < listedKept {
			u.Named = append(u.Named, t.ID)
		}
		return
	}
	sum := &u.In
	if t.Type == Out {
		sum = &u.Out
	}
	sum.Count, sum.Total = sum.Count+1, sum.Total+t.Amount
	if u.First.IsZero() || t.Time.Before(u.First) {
		u.First = t.Time
	}
	if t.Time.After(u.Last) {
		u.Last = t.Time
	}
}

type importStore interface {
	// Imports lists the files, newest first.
	Imports(ctx context.Context, accountID int64, page Page) ([]ImportedFile, error)
	// Undoable looks at what taking back an import would remove. CodeNotFound
	// where the account has none with this id.
	Undoable(ctx context.Context, accountID, id int64, now time.Time) (Undoing, error)
	// UndoImport looks at a bounded number of transactions of an import, those
	// with the least ids above after, removes what may go and gives the last id;
	// 0: none was left, and the import counts as taken back. What was told to a
	// shop, or may be, stays, and so does what a call or a person named too: it
	// was acknowledged. The event ids are free again.
	UndoImport(ctx context.Context, accountID, id, after int64, zone *time.Location, now time.Time) (last int64, err error)
}

// Imports lists the files that transactions were recorded of, newest first.
func (s *Service) Imports(ctx context.Context, accountID int64, page Page) ([]ImportedFile, error) {
	return s.store.Imports(ctx, accountID, page)
}

// Undoable tells what UndoImport would remove.
func (s *Service) Undoable(ctx context.Context, accountID, id int64, now time.Time) (Undoing, error) {
	return s.store.Undoable(ctx, accountID, id, now)
}

// UndoImport takes back an import, in steps that let others write in between:
// one that is interrupted goes on where it is called again.
func (s *Service) UndoImport(ctx context.Context, accountID, id int64, now time.Time) error {
	for after := int64(0); ; {
		last, err := s.store.UndoImport(ctx, accountID, id, after, s.zone, now)
		if err != nil || last == 0 {
			return err
		}
		after = last
	}
}

// ErrNoImport says that an id names no import.
func ErrNoImport() error {
	return NotFound("There is no import with this id.", "Không có lần nhập tệp với id này.")
}
