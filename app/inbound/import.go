package inbound

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/fold"
)

// The import of a statement file gives each row an event id that it has in every
// file, and records the rows as it does a source's elements. The walk:
//
//	rows of the file → Import.Add, a few hundred at a time → identify → recorded
//	in one commit, without an inbound event, since nobody called

// ImportOptions are about one file.
type ImportOptions struct {
	AccountID     int64
	BankAccountID int64 // the account of the statement; 0: the file names it
	File          string
	Notify        bool // make deliveries
	DryRun        bool // record nothing, but return the results
}

// Import is the import of one file. It is for one goroutine.
type Import struct {
	service *Service
	options ImportOptions
	linked  map[string][]app.BankAccount // by number, which is theirs or a receiving number of theirs
	alike   map[uint64]int32             // how many rows there are of each digest, by its first 8 bytes
	id      int64
}

// ID is the id of the import; 0: nothing was recorded yet.
func (i *Import) ID() int64 { return i.id }

// NewImport begins to import a file. CodeValidation for an unknown bank
// account.
func (s *Service) NewImport(ctx context.Context, o ImportOptions) (*Import, error) {
	list, err := s.ledger.BankAccounts(ctx, o.AccountID)
	if err != nil {
		return nil, err
	}
	i := &Import{service: s, options: o, linked: map[string][]app.BankAccount{}, alike: map[uint64]int32{}}
	for _, b := range list {
		if o.BankAccountID == 0 || o.BankAccountID == b.ID {
			i.linked[b.AccountNumber] = append(i.linked[b.AccountNumber], b)
			for _, r := range b.Receiving() {
				i.linked[r.Number] = append(i.linked[r.Number], b)
			}
		}
	}
	if o.BankAccountID != 0 && len(i.linked) == 0 {
		return nil, app.ErrUnknownBankAccountID
	}
	return i, nil
}

// Add records the next rows of the file in one commit. A row without a fitting
// linked bank account is OutcomeUnassigned, and a row with a fault is rejected;
// neither is kept. A missing, impossible or future date is a fault here: unlike
// a call, a file has no time of receipt that could stand for it. Files may
// overlap, and a file may be added again: known rows are duplicates.
func (i *Import) Add(ctx context.Context, rows []Incoming, now time.Time) (Recording, error) {
	call := Call{
		AccountID: i.options.AccountID, Source: Source{BankAccountID: i.options.BankAccountID}, Channel: app.ChannelFile,
		ReceivedAt: now, Elements: rows, NoDeliveries: !i.options.Notify, DryRun: i.options.DryRun,
		File: app.CleanText(i.options.File, maxKey), ImportID: i.id,
	}
	for n := range rows {
		i.identify(&rows[n])
		e := &rows[n]
		if flaw := e.dateFlaw(now); flaw != "" && e.Fault == nil {
			e.Fault = &app.FieldError{Field: "transactionDate", Text: flaw.Fault()}
		}
	}
	i.service.normalize(&call)
	recording, err := i.service.store.RecordInbound(ctx, call, i.service.zone)
	for n, outcome := range recording.Outcomes {
		if outcome == OutcomeRejected && rows[n].Fault == nil { // the store's own reason
			rows[n].Fault = &app.FieldError{Field: "transferAmount", Text: SumTooLarge}
		}
	}
	if err == nil && !i.options.DryRun {
		i.id = recording.ImportID
		i.service.counted(Source{}, recording)
	}
	return recording, err
}

// identify finds the bank account of a row and gives the row an event id that
// is the same in every file. With a transaction number, the id is made of day,
// number, direction and amount, since two exports of a bank may write times and
// contents in different ways; without one, of everything in the row. Equal rows
// within a file are counted, so that two of them are two transactions, here and
// in a file that overlaps.
func (i *Import) identify(e *Incoming) {
	number := app.NormalizeAccountNumber(e.AccountNumber)
	candidates := i.linked[number]
	if e.AccountNumber == "" && i.options.BankAccountID != 0 {
		for _, only := range i.linked {
			candidates = only
		}
	}
	b, found := app.MatchBankAccount(candidates, e.Gateway)
	if found && (number == "" || number == b.AccountNumber) { // a receiving number stays: the transaction keeps it
		e.Gateway, e.AccountNumber = b.Bank, b.AccountNumber
	}
	if e.EventID != "" { // the file's own
		return
	}
	day := "-"
	if !e.Time.IsZero() {
		day = app.DayOf(e.Time, i.service.zone).String()
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
	// With the day first, the index of event ids grows at its end.
	e.EventID = day + ":" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// digest is the SHA-256 of a list of texts. Different lists have different
// digests.
func digest(parts ...string) [sha256.Size]byte {
	var b []byte
	for _, part := range parts {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return sha256.Sum256(b)
}

// ImportedFile is a statement file from which transactions were recorded.
type ImportedFile struct {
	ID       int64
	File     string
	At       time.Time
	In, Out  app.Amounts // all that was recorded, also what was undone
	UndoneAt time.Time   // zero: not undone
	Kept     int64       // transactions that stayed when it was undone
}

// Undoing is what the undoing of an import removes and keeps.
type Undoing struct {
	File          ImportedFile
	app.Flow                // what is removed
	First, Last   time.Time // times of the removed transactions
	Notified      []int64   // transactions that stay because of deliveries to a shop
	Named         []int64   // transactions that stay because a provider or a person named them too
	NotifiedCount int64     // Notified and Named hold the first hundred
	NamedCount    int64
	ClosedCount   int64 // how many stay because they are in a closed book
}

// listedKept is how many ids Notified and Named list at most.
const listedKept = 100

// Count adds a transaction of the import to the side where it belongs.
func (u *Undoing) Count(t app.Transaction, notified, named, closed bool) {
	switch {
	case closed:
		u.ClosedCount++
		return
	case notified:
		if u.NotifiedCount++; len(u.Notified) < listedKept {
			u.Notified = append(u.Notified, t.ID)
		}
		return
	case named:
		if u.NamedCount++; len(u.Named) < listedKept {
			u.Named = append(u.Named, t.ID)
		}
		return
	}
	u.Add(t.Type, app.Amounts{Count: 1, Total: t.Amount})
	if u.First.IsZero() || t.Time.Before(u.First) {
		u.First = t.Time
	}
	if t.Time.After(u.Last) {
		u.Last = t.Time
	}
}

// MaxRemovals is how many removals of an account are kept for programs that follow its
// transactions. A removal has at most a hundred transactions.
const MaxRemovals = 1000

// UndoStep is how far an undo of an import has come.
type UndoStep struct {
	ImportID int64
	After    int64 // the transactions up to this id were looked at; 0: none was
}

// UndoImport undoes an import in steps, between which other writes run. After an
// interruption, another call continues.
func (s *Service) UndoImport(ctx context.Context, accountID, id int64, now time.Time) error {
	for at := (UndoStep{ImportID: id}); ; {
		last, err := s.store.UndoImport(ctx, accountID, at, s.zone, now)
		if err != nil || last == 0 {
			return err
		}
		at.After = last
	}
}

// ErrNoImport says that an id names no import.
var ErrNoImport error = app.NotFound("There is no import with this id.", "Không có lần nhập tệp với id này.")
