package sqlitestore

import (
	"time"

	"baoco/app"
)

// origin is where an element comes from: a source, and whether it both calls
// and is polled.
type origin struct {
	source int64
	polled bool
}

func (r *recorder) origin() origin {
	return origin{r.call.Source.ID, r.call.Source.APIKey != ""}
}

// sameNumbered looks up the transactions of a number by amount and time too: a
// source may give the same number to all of them.
const sameNumbered = `SELECT t.id FROM transactions t INDEXED BY transactions_number
	WHERE t.bank_account_id = ?1 AND t.number = ?2 AND t.number <> '' AND t.type = ?3 AND t.amount = ?4
		AND t.occurred_at BETWEEN ?5 - ?6 AND ?5 + ?6
		AND NOT (t.source_id = ?7 AND t.channel = ?8)
		AND NOT EXISTS (SELECT 1 FROM event_ids k WHERE k.transaction_id = t.id AND k.merged = 1 AND k.source_id = ?7 AND k.channel = ?8)
	ORDER BY t.id LIMIT 1`

// sameTransfer finds the transaction that another source, or another channel
// of this one, has recorded of the same transfer. One that this source and
// channel has named already is another transfer: it would have had the same
// event id.
func (r *recorder) sameTransfer(b app.BankAccount, from origin, e app.Incoming) (int64, error) {
	var id int64
	if e.Number != "" {
		err := r.tx.queryRow(sameNumbered,
			b.ID, e.Number, string(e.Type), e.Amount, e.Time.Unix(), int64(app.SameTransferWindow/time.Second),
			from.source, string(e.IDs)).Scan(&id)
		if !noRows(err) {
			return id, err
		}
	}
	if from.polled && e.DateFlaw == "" && (e.IDs == app.ChannelCall || e.IDs == app.ChannelPoll) {
		return r.sameUnnumbered(b, from, e)
	}
	return 0, nil
}

// sameUnnumbered finds what the other channel of a source that calls and is
// polled has recorded of the same transfer, where one of the two has no
// number: the same content in the same second. Each of the other channel's
// stands for one of this channel's at most, so two alike stay two.
func (r *recorder) sameUnnumbered(b app.BankAccount, from origin, e app.Incoming) (int64, error) {
	other := app.ChannelCall
	if e.IDs == app.ChannelCall {
		other = app.ChannelPoll
	}
	var id int64
	err := r.tx.queryRow(`SELECT t.id FROM transactions t INDEXED BY transactions_time
		WHERE t.account_id = ?1 AND t.occurred_at = ?2 AND t.bank_account_id = ?3 AND t.type = ?4 AND t.amount = ?5 AND t.content = ?6
			AND (?7 = '' OR t.number = '') AND t.source_id = ?8 AND t.channel = ?9
			AND NOT EXISTS (SELECT 1 FROM event_ids k WHERE k.transaction_id = t.id AND k.merged = 1 AND k.source_id = ?8 AND k.channel = ?10)
		ORDER BY t.id LIMIT 1`,
		b.AccountID, e.Time.Unix(), b.ID, string(e.Type), e.Amount, e.Content, e.Number, from.source, string(other), string(e.IDs)).Scan(&id)
	if noRows(err) {
		return 0, nil
	}
	return id, err
}
