package sqlitestore

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"baoco/app"
)

const insertAudit = `INSERT INTO audit (account_id, at_ms, way, actor, actor_id, address, deed, noun, noun_id, detail)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// errNobodyActs refuses a deed without an actor. Its line would have no time, and prune
// would take it for an old one.
var errNobodyActs = errors.New("the context doesn't say who acts: see app.ActingAs")

// auditRow returns the arguments of insertAudit for a deed of the actor in ctx.
func auditRow(ctx context.Context, accountID int64, deed app.Deed, id int64, d app.AuditDetail) ([]any, error) {
	a, named := app.ActorOf(ctx)
	if !named {
		return nil, errNobodyActs
	}
	detail, err := json.Marshal(d)
	return []any{accountID, a.At.UnixMilli(), string(a.Way), app.CleanText(a.Name, 100), a.ID, a.Address, string(deed), deed.Noun(), id,
		string(detail)}, err
}

// audit writes a line of the audit log in the transaction of the deed. id is that of the
// noun; 0: it has none. ctx has the actor.
func (t *tx) audit(ctx context.Context, accountID int64, deed app.Deed, id int64, d app.AuditDetail) error {
	t.auditLine(ctx, accountID, deed, id, d)
	return t.failed
}

// auditChange is audit for a change. If no value has changed, it writes no line.
func (t *tx) auditChange(ctx context.Context, accountID int64, deed app.Deed, id int64, d app.AuditDetail) error {
	if len(d.Changes) == 0 {
		return nil
	}
	return t.audit(ctx, accountID, deed, id, d)
}

// auditTime is an instant in a change; empty: none.
func auditTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// acting returns ctx, with the actor of Options.Unnamed if ctx has none.
func (t *tx) acting(ctx context.Context) context.Context {
	if _, named := app.ActorOf(ctx); !named && t.unnamed != nil {
		return app.ActingAs(ctx, t.unnamed())
	}
	return ctx
}

func (t *tx) auditLine(ctx context.Context, accountID int64, deed app.Deed, id int64, d app.AuditDetail) (line int64) {
	row, err := auditRow(t.acting(ctx), accountID, deed, id, d)
	t.fail(err)
	return t.insert(insertAudit, row...)
}

// auditCount is audit for a deed in steps: the first step writes the line, and the next
// ones update its count. l.ID is the id that the step before returned, 0 in the first step.
// While l.Count is 0, nothing was done yet, and no line is written.
func (t *tx) auditCount(ctx context.Context, l app.AuditLine) (id int64) {
	switch {
	case l.Count == 0:
	case l.ID == 0:
		return t.auditLine(ctx, l.AccountID, l.Deed, l.NounID, l.AuditDetail)
	default:
		t.exec(`UPDATE audit SET detail = json_set(detail, '$.count', ?) WHERE id = ?`, l.Count, l.ID)
	}
	return l.ID
}

// auditOften is audit for frequent deeds: if the same actor did the same within a time
// before, that line gets a higher count. l.Count is how many times it was done now. Only
// the last 20 lines about the noun are searched.
func (t *tx) auditOften(ctx context.Context, within time.Duration, l app.AuditLine) error {
	a, _ := app.ActorOf(t.acting(ctx))
	n := t.change(`UPDATE audit SET detail = json_set(detail, '$.count', json_extract(detail, '$.count') + ?1), address = ?2 WHERE id = (
			SELECT max(id) FROM (SELECT * FROM audit INDEXED BY audit_noun WHERE account_id = ?3 AND noun = ?4 AND noun_id = ?5 ORDER BY id DESC
			LIMIT 20)
			WHERE deed = ?6 AND at_ms > ?7 AND way = ?8 AND actor_id = ?9 AND actor = ?10)`,
		l.Count, a.Address, l.AccountID, l.Deed.Noun(), l.NounID, string(l.Deed),
		a.At.Add(-within).UnixMilli(), string(a.Way), a.ID, app.CleanText(a.Name, 100))
	if n > 0 {
		return nil
	}
	return t.audit(ctx, l.AccountID, l.Deed, l.NounID, l.AuditDetail)
}

func (s *Store) Audit(ctx context.Context, accountID int64, deed app.Deed, id int64, d app.AuditDetail) error {
	return s.write(ctx, func(tx *tx) error { return tx.audit(ctx, accountID, deed, id, d) })
}

// auditGone is true if the noun of a line was removed; nouns without a page of their own
// count as present. Only the branch of the line's noun is evaluated.
var auditGone = func() string {
	var b strings.Builder
	for _, noun := range []struct{ name, rows string }{
		{"user", "users n WHERE true"}, {"source", "sources n WHERE removed_at IS NULL"},
		{"bank_account", "bank_accounts n WHERE unlinked_at IS NULL"},
		{"webhook", "webhooks n WHERE deleted_at IS NULL"}, {"stream", "streams n WHERE deleted_at IS NULL"},
		{"transaction", "transactions n WHERE true"},
		{"inbound_event", "inbound_events n WHERE true"}, {"delivery", "deliveries n WHERE true"},
		{"payment_request", "payment_requests n WHERE true"},
	} {
		b.WriteString(" WHEN '" + noun.name + "' THEN NOT EXISTS (SELECT 1 FROM " + noun.rows + " AND n.id = audit.noun_id)")
	}
	return "CASE noun" + b.String() + " ELSE 0 END"
}()

// AuditLines reads the log, or the lines about one noun, from the newest line on.
func (s *Store) AuditLines(ctx context.Context, accountID int64, f app.AuditFilter, limit int) ([]app.AuditLine, error) {
	var c conditions
	c.add("account_id = ?", accountID)
	index := "audit_account"
	if f.Noun != "" {
		c.add("noun = ?", f.Noun)
		if f.NounID != 0 {
			index = "audit_noun"
			c.add("noun_id = ?", f.NounID)
		}
	}
	c.addIf(f.Deed != "", "deed = ?", string(f.Deed))
	c.addIf(f.Way != "", "way = ?", string(f.Way))
	c.addIf(f.Who != "", "actor = ?", f.Who)
	c.between("at_ms", unixMilliOrNull(f.From), unixMilliOrNull(f.To))
	c.addIf(f.Before != 0, "id < ?", f.Before)
	return readAll(ctx, s, scanAuditLine,
		`SELECT id, account_id, at_ms, way, actor, actor_id, address, deed, noun_id, detail, `+auditGone+` FROM audit INDEXED BY `+index+
			` WHERE `+c.where.String()+` ORDER BY id DESC LIMIT ?`, append(c.args, limit)...)
}

func scanAuditLine(row scanner) (l app.AuditLine, err error) {
	var detail string
	err = row.Scan(&l.ID, &l.AccountID, millisInto(&l.Actor.At), &l.Actor.Way, &l.Actor.Name, &l.Actor.ID, &l.Actor.Address, &l.Deed,
		&l.NounID, &detail, &l.Gone)
	if err == nil {
		err = json.Unmarshal([]byte(detail), &l.AuditDetail)
	}
	return l, err
}

// pruneAudit removes a step of lines older than AuditKept: those before the first that
// is younger.
func pruneAudit(tx *tx, now time.Time) (more bool) {
	return pruneRows(tx, `DELETE FROM audit WHERE id IN (SELECT id FROM audit
			WHERE id < coalesce((SELECT id FROM audit WHERE at_ms >= ? ORDER BY id LIMIT 1), `+maxID+`)`+stepLimit+`)`,
		now.Add(-app.AuditKept).UnixMilli())
}
