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
