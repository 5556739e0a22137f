package sqlitestore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

func (s *Store) CreateSource(ctx context.Context, src inbound.Source, newName bool, key app.IdempotencyKey,
	now time.Time) (inbound.Source, error) {
	return changingCredentials(ctx, s, func(tx *tx) (inbound.Source, error) {
		if before, found := earlier(tx, src.AccountID, key, now); found {
			return s.withoutSecret(tx, src.AccountID, before.result), nil
		}
		txAccount(tx, src.AccountID)
		count := findValue[int](tx, `SELECT count(*) FROM sources WHERE account_id = ? AND removed_at IS NULL`, src.AccountID)
		tx.refuse(count >= inbound.MaxSources, inbound.ErrTooManySources)
		if src.BankAccountID != 0 {
			linkedBankAccount(tx, src.AccountID, src.BankAccountID)
		}
		if newName {
			nameFree(tx, `SELECT count(*) FROM sources WHERE account_id = ? AND name = ? AND removed_at IS NULL`, src.AccountID, src.Name)
		}
		bearerFree(tx, src)
		s.usernameFree(tx, src)
		options, apiKey, err := s.sealOptions(src)
		if err != nil {
			return src, err
		}
		src.ID = tx.insert(insertInto("sources", `account_id, name, provider, auth, token, secret, bearer_hash, bank_account_id, options,
			api_key, api_url, list_from, created_at`),
			src.AccountID, src.Name, string(src.Provider), string(src.Auth), src.Token, s.sealer.seal(sealSource, src.Secret),
			bearerHash(src), nullIfZero(src.BankAccountID), options, apiKey, src.APIURL, unixOrNull(src.ListFrom), src.CreatedAt.Unix())
		keepKey(tx, src.AccountID, key, keptResult{result: src.ID}, now)
		return src, tx.audit(ctx, src.AccountID, app.DeedSourceCreate, src.ID, app.AuditNamed(src.Name).Changed("provider", "", src.Provider))
	})
}

// withoutSecret reads a source for the answer to a repeated request.
func (s *Store) withoutSecret(tx *tx, accountID, id int64) inbound.Source {
	src := s.txSource(tx, accountID, id)
	src.Secret = ""
	return src
}

// sealOptions seals the options of a source, and its API key; NULL if it has none.
func (s *Store) sealOptions(src inbound.Source) (options []byte, apiKey any, err error) {
	text, err := json.Marshal(src.Options)
	if src.APIKey != "" {
		apiKey = s.sealer.seal(sealAPIKey, src.APIKey)
	}
	return s.sealer.seal(sealOptions, string(text)), apiKey, err
}

func (s *Store) openOptions(src *inbound.Source, options, apiKey []byte) error {
	text, err := s.sealer.open(sealOptions, options)
	if err == nil {
		err = json.Unmarshal([]byte(text), &src.Options)
	}
	if err == nil && apiKey != nil {
		src.APIKey, err = s.sealer.open(sealAPIKey, apiKey)
	}
	return err
}

// bearerHash returns the hash of a secret that calls give as a Bearer token, and by which
// their source is found; NULL if the source authenticates in another way.
func bearerHash(src inbound.Source) any {
	if src.Auth != inbound.AuthBearer {
		return nil
	}
	hash := sha256.Sum256([]byte(src.Secret))
	return hash[:]
}

// bearerFree refuses a Bearer secret that another source in use has: in calls without a token
// in their path the secret identifies the source.
func bearerFree(tx *tx, src inbound.Source) {
	taken := findValue[bool](tx, `SELECT EXISTS (SELECT 1 FROM sources WHERE bearer_hash = ? AND removed_at IS NULL AND id <> ?)`,
		bearerHash(src), src.ID)
	tx.refuse(taken, app.Refused(app.CodeAlreadyExists, app.Text{
		EN: "Another source has this secret; every source needs its own.",
		VI: "Khoá bí mật này đã dùng cho nguồn khác; mỗi nguồn cần một khoá bí mật riêng.",
	}))
}

// usernameFree refuses a user name that another source in use has, as bearerFree does.
func (s *Store) usernameFree(tx *tx, src inbound.Source) {
	if src.Options.Username == "" {
		return
	}
	others := findAll(tx, columnsOnly(s.scanSource), `SELECT `+sourceColumns+` FROM sources WHERE removed_at IS NULL`)
	taken := slices.ContainsFunc(others, func(other inbound.Source) bool { return other.Options.Username == src.Options.Username })
	tx.refuse(taken, app.Refused(app.CodeAlreadyExists, app.Text{
		EN: "Another source has this user name; every source needs its own.",
		VI: "Tên đăng nhập này đã dùng cho nguồn khác; mỗi nguồn cần một tên riêng.",
	}))
}

func (s *Store) Sources(ctx context.Context, accountID int64) ([]inbound.Source, error) {
	return readAll(ctx, s, columnsOnly(s.scanSource),
		`SELECT `+sourceColumns+` FROM sources WHERE account_id = ? AND removed_at IS NULL ORDER BY id`, accountID)
}

// SourcesHealth reads all refused calls, since these are few.
func (s *Store) SourcesHealth(ctx context.Context, accountID int64) ([]inbound.SourceHealth, error) {
	sources, err := s.Sources(ctx, accountID)
	if err != nil {
		return nil, err
	}
	list, byID := make([]inbound.SourceHealth, len(sources)), map[int64]*inbound.SourceHealth{}
	for i, src := range sources {
		list[i].Source = src
		byID[src.ID] = &list[i]
	}
	refused, err := s.RefusedCalls(ctx, accountID, 0, false, inbound.KeptRefusedCalls)
	for _, c := range refused { // newest first
		if h := byID[c.SourceID]; h != nil {
			if h.RefusedCalls++; h.RefusedCalls == 1 {
				h.LastRefused = c
			}
		}
	}
	return list, err
}

func (s *Store) SourceByToken(ctx context.Context, token string) (inbound.Source, bool, error) {
	return lookUp(ctx, s, func(d *credentials) map[string]inbound.Source { return d.tokens }, token)
}

func (s *Store) SourceByBearer(ctx context.Context, hash [32]byte) (inbound.Source, bool, error) {
	return lookUp(ctx, s, func(d *credentials) map[[32]byte]inbound.Source { return d.bearers }, hash)
}

func (s *Store) SourceByUsername(ctx context.Context, username string) (inbound.Source, bool, error) {
	return lookUp(ctx, s, func(d *credentials) map[string]inbound.Source { return d.usernames }, username)
}

func (s *Store) SourceByID(ctx context.Context, id int64) (inbound.Source, bool, error) {
	return lookUp(ctx, s, func(d *credentials) map[int64]inbound.Source { return d.sources }, id)
}

// txSource finds a source in use.
func (s *Store) txSource(tx *tx, accountID, id int64) inbound.Source {
	return find(tx, inbound.ErrNoSource, columnsOnly(s.scanSource),
		`SELECT `+sourceColumns+` FROM sources WHERE account_id = ? AND id = ? AND removed_at IS NULL`, accountID, id)
}

func (s *Store) AddSourceSenders(ctx context.Context, accountID, id int64, senders []string) (inbound.Source, error) {
	return changingCredentials(ctx, s, func(tx *tx) (inbound.Source, error) {
		src := s.txSource(tx, accountID, id)
		before := strings.Join(src.Options.Senders, ", ")
		for _, sender := range senders {
			if !slices.Contains(src.Options.Senders, sender) {
				src.Options.Senders = append(src.Options.Senders, sender)
			}
		}
		options, _, err := s.sealOptions(src)
		if err != nil {
			return src, err
		}
		tx.exec(`UPDATE sources SET options = ? WHERE id = ?`, options, id)
		return src, tx.auditChange(ctx, accountID, app.DeedSourceChange, id,
			app.AuditNamed(src.Name).Changed("senders", before, strings.Join(src.Options.Senders, ", ")))
	})
}

func (s *Store) SetSourceSecret(ctx context.Context, accountID, id int64, in inbound.SourceRotate, now time.Time) (inbound.Source, error) {
	return changingCredentials(ctx, s, func(tx *tx) (inbound.Source, error) {
		if before, found := earlier(tx, accountID, in.Key, now); found {
			return s.withoutSecret(tx, accountID, before.result), nil
		}
		src := s.txSource(tx, accountID, id)
		src.Secret, src.SecretLost = in.Secret, false
		bearerFree(tx, src)
		tx.exec(`UPDATE sources SET secret = ?, bearer_hash = ? WHERE id = ?`, s.sealer.seal(sealSource, in.Secret), bearerHash(src), id)
		keepKey(tx, accountID, in.Key, keptResult{result: id}, now)
		return src, tx.audit(ctx, accountID, app.DeedSourceRotate, id, app.AuditNamed(src.Name))
	})
}

func (s *Store) SetSourceAPIKey(ctx context.Context, accountID, id int64, apiKey string, now time.Time) (inbound.Source, error) {
	return changingCredentials(ctx, s, func(tx *tx) (inbound.Source, error) {
		src := s.txSource(tx, accountID, id)
		src.APIKey, src.PollError = apiKey, ""
		if src.ListFrom.IsZero() {
			src.ListFrom = now
		}
		tx.exec(`UPDATE sources SET api_key = ?, list_from = ?, poll_error = '' WHERE id = ?`,
			s.sealer.seal(sealAPIKey, apiKey), unixOrNull(src.ListFrom), id)
		return src, tx.audit(ctx, accountID, app.DeedSourceAPIKey, id, app.AuditNamed(src.Name))
	})
}

func (s *Store) RemoveSource(ctx context.Context, accountID, id int64, now time.Time) error {
	_, err := changingCredentials(ctx, s, func(tx *tx) (inbound.Source, error) {
		src := s.txSource(tx, accountID, id)
		tx.exec(`UPDATE sources SET removed_at = ? WHERE id = ?`, now.Unix(), id)
		return src, tx.audit(ctx, accountID, app.DeedSourceRemove, id, app.AuditNamed(src.Name))
	})
	return err
}

const sourceColumns = `id, account_id, name, provider, auth, token, secret, coalesce(bank_account_id, 0), options, api_key, api_url,
	created_at, removed_at, last_call_at, last_transaction_at, list_from, progress, polled_at, poll_error`

func (s *Store) scanSource(row scanner, before ...any) (inbound.Source, error) {
	var src inbound.Source
	var sealed, options, apiKey []byte
	err := row.Scan(append(before, &src.ID, &src.AccountID, &src.Name, &src.Provider, &src.Auth, &src.Token, &sealed, &src.BankAccountID,
		&options, &apiKey, &src.APIURL, secondsInto(&src.CreatedAt), secondsInto(&src.RemovedAt), secondsInto(&src.LastCallAt),
		secondsInto(&src.LastTransactionAt), secondsInto(&src.ListFrom), &src.Progress, secondsInto(&src.PolledAt), &src.PollError)...)
	if err != nil {
		return src, err
	}
	if src.Secret, err = s.sealer.open(sealSource, sealed); err != nil {
		return src, err
	}
	src.SecretLost = isLost(src.Secret)
	return src, s.openOptions(&src, options, apiKey)
}

func (s *Store) PolledSources(ctx context.Context) ([]inbound.Source, error) {
	return readAll(ctx, s, columnsOnly(s.scanSource),
		`SELECT `+sourceColumns+` FROM sources WHERE api_key IS NOT NULL AND removed_at IS NULL ORDER BY id`)
}

func (s *Store) RecordPage(ctx context.Context, call inbound.Call, progress string, complete bool,
	zone *time.Location) (inbound.Recording, error) {
	return inSteps(ctx, s, inbound.Recording{},
		func(tx *tx, before inbound.Recording) (recording inbound.Recording, more bool, err error) {
			recording = before
			find(tx, inbound.ErrNoSource, scanOne[int], `SELECT 1 FROM sources WHERE id = ? AND removed_at IS NULL`, call.Source.ID)
			r := &recorder{tx: tx, zone: zone, now: call.ReceivedAt, call: call, event: before.EventID}
			more = r.elements(&recording)
			r.closeEvent(recording)
			if more {
				return recording, true, nil
			}
			return recording, false, tx.exec(`UPDATE sources SET progress = ?2, polled_at = CASE ?3 WHEN 1 THEN ?4 ELSE polled_at END,
				poll_error = CASE ?3 WHEN 1 THEN '' ELSE poll_error END, last_transaction_at = CASE ?5 WHEN 0 THEN last_transaction_at ELSE ?4 END
				WHERE id = ?1`, call.Source.ID, progress, complete, call.ReceivedAt.Unix(), recording.Recorded)
		})
}

func (s *Store) NotePollFault(ctx context.Context, sourceID int64, fault inbound.PollFault) (bool, error) {
	return writing(ctx, s, func(tx *tx) (bool, error) {
		n := tx.change(`UPDATE sources SET poll_error = ?2 WHERE id = ?1 AND poll_error NOT IN (?2, ?3) AND removed_at IS NULL`,
			sourceID, string(fault), string(inbound.PollKeyRefused))
		if n == 0 || fault != inbound.PollKeyRefused {
			return n > 0, nil
		}
		return true, failServed(tx, sourceID)
	})
}

// failServed sets the status of a source's bank accounts to error: of the one that it is
// narrowed to, or else of all that it has recorded on. Inactive ones stay inactive.
func failServed(tx *tx, sourceID int64) error {
	return tx.exec(`UPDATE bank_accounts SET status = ?1 WHERE unlinked_at IS NULL AND status <> ?2 AND id IN
			(SELECT bank_account_id FROM sources WHERE id = ?3
			UNION SELECT b.bank_account_id FROM bank_account_channels b JOIN sources s ON s.id = b.source_id
				WHERE b.source_id = ?3 AND s.bank_account_id IS NULL)`,
		string(app.BankAccountError), string(app.BankAccountInactive), sourceID)
}
