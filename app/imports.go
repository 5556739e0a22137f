package app

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"time"

	"baoco/app/fold"
)

// Importing a statement file: rows come in the order of the file, are given
// an event id that they have in every file, and are recorded as a source's
// elements are.
//
//	a file's rows → Import.Add, a few hundred at a time → fileID → recorded in
//	one commit, without an inbound event: the file itself is what was sent

// ImportOptions say what becomes of a file's transactions.
type ImportOptions struct {
	AccountID     int64
	BankAccountID int64 // that the file is about; 0: it says so itself
	File          string
	Notify        bool // tell the webhooks
	DryRun        bool // record nothing, and tell what would be
}

// Import is one file on its way in. It is for one goroutine.
type Import struct {
	service *Service
	options ImportOptions
	linked  map[string][]BankAccount // by number
	alike   map[uint64]int32         // how many rows there are of each digest, by its first 8 bytes
	id      int64
}

// ID is the import that rows were recorded as; 0: none was recorded yet.
func (i *Import) ID() int64 { return i.id }

// NewImport begins to import a file. CodeValidation for an unknown bank
// account.
func (s *Service) NewImport(ctx context.Context, o ImportOptions) (*Import, error) {
	list, err := s.BankAccounts(ctx, o.AccountID)
	if err != nil {
		return nil, err
	}
	i := &Import{service: s, options: o, linked: map[string][]BankAccount{}, alike: map[uint64]int32{}}
	for _, b := range list {
		if o.BankAccountID == 0 || o.BankAccountID == b.ID {
			i.linked[b.AccountNumber] = append(i.linked[b.AccountNumber], b)
		}
	}
	if o.BankAccountID != 0 && len(i.linked) == 0 {
		return nil, ErrUnknownBankAccountID
	}
	return i, nil
}

// Add records the next rows of the file in one commit. OutcomeUnassigned means
// that no linked bank account fits; nothing is kept of such a row, nor of one
// with a fault, such as a date that is missing, impossible or in the future: a
// file is no call, whose time of receipt would do. Files may overlap, and a file
// may be added again: what is known already is a duplicate.
func (i *Import) Add(ctx context.Context, rows []Incoming, now time.Time) (Recording, error) {
	call := InboundCall{
		AccountID: i.options.AccountID, Source: Source{BankAccountID: i.options.BankAccountID}, Channel: ChannelFile,
		ReceivedAt: now, Elements: rows, NoDeliveries: !i.options.Notify, DryRun: i.options.DryRun,
		File: CleanText(i.options.File, maxKey), ImportID: i.id,
	}
	for n := range rows {
		i.identify(&rows[n])
		e := &rows[n]
		if flaw := e.dateFlaw(now); flaw != "" && e.Fault == nil {
			e.Fault = &FieldError{Field: "transactionDate", Text: flaw.fault()}
		}
	}
	i.service.normalize(&call)
	recording, err := i.service.store.RecordInbound(ctx, call, i.service.zone)
	if err == nil && !i.options.DryRun {
		i.id = recording.ImportID
		i.service.wake(recording.Webhooks, recording.Ready)
	}
	return recording, err
}

// identify finds the bank account of a row, and gives it an event id that it
// has in every file: one with a transaction number is known by its day, number,
// direction and amount, since two exports of a bank's write times and contents
// in two ways; one without, by all that it says. Rows alike within a file are
// counted, so that two of them are two transactions, in this file and in
// another that overlaps.
func (i *Import) identify(e *Incoming) {
	candidates := i.linked[NormalizeAccountNumber(e.AccountNumber)]
	if e.AccountNumber == "" && i.options.BankAccountID != 0 {
		for _, only := range i.linked {
			candidates = only
		}
	}
	if b, found := MatchBankAccount(candidates, e.Gateway); found {
		e.Gateway, e.AccountNumber = b.Bank, b.AccountNumber
	}
	if e.EventID != "" { // the file's own
		return
	}
	day := "-"
	if !e.Time.IsZero() {
		day = DayOf(e.Time, i.service.zone).String()
	}
	parts := []string{e.Gateway, e.AccountNumber, day, e.Number, string(e.Type), strconv.FormatInt(e.Amount, 10)}
	if e.Number == "" {
		parts = append(parts, strconv.FormatInt(e.Time.Unix(), 10), fold.String(e.Content))
	}
	sum := digest(parts...)
	key := binary.BigEndian.Uint64(sum[:])
	i.alike[key]++
	if n := i.alike[key]; n > 1 {
		sum = digest(string(sum[:]), strconv.Itoa(int(n)))
	}
	// The day goes first: the index of event ids grows at its end then.
	e.EventID = day + ":" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// digest tells lists of texts apart.
func digest(parts ...string) [sha256.Size]byte {
	var b []byte
	for _, part := range parts {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return sha256.Sum256(b)
}

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
var ErrNoImport error = NotFound("There is no import with this id.", "Không có lần nhập tệp với id này.")
