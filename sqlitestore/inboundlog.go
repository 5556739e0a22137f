package sqlitestore

import (
	"context"
	"encoding/json"

	"baoco/app"
	"baoco/app/inbound"
)

const inboundEventColumns = `e.id, coalesce(e.source_id, 0), coalesce(s.name, ''), coalesce(s.provider, ''), e.channel, e.received_ms,
	e.recorded, e.duplicates, e.unassigned, e.conflicts, e.rejected, e.open`

func scanInboundEvent(row scanner, after ...any) (inbound.Event, error) {
	var e inbound.Event
	err := row.Scan(append([]any{&e.ID, &e.SourceID, &e.SourceName, &e.Provider, &e.Channel, millisInto(&e.ReceivedAt),
		&e.Recorded, &e.Duplicates, &e.Unassigned, &e.Conflicts, &e.Rejected, &e.Open}, after...)...)
	e.EventID = e.ID
	return e, err
}

func (s *Store) InboundEvents(ctx context.Context, accountID int64, f inbound.Filter) ([]inbound.Event, int64, error) {
	if err := s.ownSource(ctx, accountID, f.SourceID); err != nil {
		return nil, 0, err
	}
	c := inboundConditions(accountID, f)
	total, err := readOne[int64](ctx, s, `SELECT count(*) FROM inbound_events e WHERE `+c.where.String(), c.args...)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.listInboundEvents(ctx, c, f.Page.Size, f.Page.Offset())
	return list, total, err
}

// InboundEventsBefore reads one event more than it lists.
func (s *Store) InboundEventsBefore(ctx context.Context, accountID int64, f inbound.Filter) ([]inbound.Event, bool, error) {
	if err := s.ownSource(ctx, accountID, f.SourceID); err != nil {
		return nil, false, err
	}
	c := inboundConditions(accountID, f)
	c.addIf(f.Before != 0, "e.id < ?", f.Before)
	list, err := s.listInboundEvents(ctx, c, f.Page.Size+1, 0)
	return list[:min(len(list), f.Page.Size)], len(list) > f.Page.Size, err
}

func (s *Store) OpenInbound(ctx context.Context, accountID int64, most int) (open inbound.OpenItems, err error) {
	count := func(state inbound.Outcome) string {
		return `(SELECT count(*) FROM (SELECT 1 FROM inbound_items INDEXED BY inbound_items_open WHERE account_id = ?1 AND state = '` +
			string(state) + `' AND ` + isOpen + ` LIMIT ?2))`
	}
	err = s.queryRow(ctx,
		`SELECT `+count(inbound.OutcomeUnassigned)+`, `+count(inbound.OutcomeConflict)+`, `+count(inbound.OutcomeRejected)+`, `+
			count(inbound.OutcomeMayBeRepeat), accountID, most).Scan(&open.Unassigned, &open.Conflicts, &open.Rejected, &open.MayBeRepeats)
	return open, err
}

// listInboundEvents reads the newest events that meet conditions, with their first open items. It reads the
// ids first, then the rows.
func (s *Store) listInboundEvents(ctx context.Context, c *conditions, limit int, offset int64) ([]inbound.Event, error) {
	list, err := readAll(ctx, s, columnsOnly(scanInboundEvent), `SELECT `+inboundEventColumns+`
		FROM (SELECT e.id FROM inbound_events e WHERE `+c.where.String()+` ORDER BY e.id DESC LIMIT ? OFFSET ?) page
		CROSS JOIN inbound_events e ON e.id = page.id LEFT JOIN sources s ON s.id = e.source_id ORDER BY e.id DESC`,
		append(c.args, limit, offset)...)
	if err != nil {
		return nil, err
	}
	return list, s.addOpenItems(ctx, list)
}

// inboundConditions returns the conditions of a filter. An index serves each of them.
func inboundConditions(accountID int64, f inbound.Filter) *conditions {
	var c conditions
	c.add("e.account_id = ?", accountID)
	if f.State != "" {
		c.add("e.id IN (SELECT inbound_event_id FROM inbound_items INDEXED BY inbound_items_open WHERE account_id = ? AND state = ? AND "+
			isOpen+")", accountID, string(f.State))
	}
	c.addIf(f.OpenOnly, "e.open > 0")
	c.addIf(f.SourceID != 0, "e.source_id = ?", f.SourceID)
	c.between("e.received_ms", unixMilliOrNull(f.From), unixMilliOrNull(f.To))
	return &c
}

// ownSource returns an error for a field source_id that names no source of the
// account.
func (s *Store) ownSource(ctx context.Context, accountID, sourceID int64) error {
	if sourceID == 0 {
		return nil
	}
	return s.exists(ctx, `SELECT 1 FROM sources WHERE id = ? AND account_id = ?`, sourceID, accountID, app.ErrUnknownReference("source_id"))
}

// addOpenItems adds to each event of a listing its first open items.
func (s *Store) addOpenItems(ctx context.Context, list []inbound.Event) error {
	byID, open := map[int64]*inbound.Event{}, []int64{}
	for i := range list {
		if e := &list[i]; e.Open > 0 {
			byID[e.ID] = e
			open = append(open, e.ID)
		}
	}
	if len(open) == 0 {
		return nil
	}
	if err := s.countOpenItems(ctx, byID, open); err != nil {
		return err
	}
	items, err := readAll(ctx, s, scanInboundItem, `SELECT `+inboundItemColumns+` FROM json_each(?1) page CROSS JOIN inbound_items i
			ON i.id IN (SELECT id FROM inbound_items WHERE inbound_event_id = page.value AND `+isOpen+` ORDER BY id LIMIT ?2)`+inboundItemJoin+`
		ORDER BY i.inbound_event_id, i.position, i.id`, jsonArray(open), inbound.ListedItems)
	for _, i := range items {
		e := byID[i.InboundEventID]
		e.Items = append(e.Items, i)
	}
	return err
}

// countOpenItems adds the numbers of open items to events by their ids.
func (s *Store) countOpenItems(ctx context.Context, byID map[int64]*inbound.Event, ids []int64) error {
	numbers, err := readMap(ctx, s, func(row scanner) (id int64, n inbound.OpenItems, err error) {
		err = row.Scan(&id, &n.Unassigned, &n.Conflicts, &n.Rejected, &n.MayBeRepeats)
		return id, n, err
	}, `SELECT i.inbound_event_id, sum(i.state = 'unassigned'), sum(i.state = 'conflict'), sum(i.state = 'rejected'), sum(i.state =
			'may_be_repeat')
		FROM json_each(?) page CROSS JOIN inbound_items i ON i.inbound_event_id = page.value WHERE i.`+isOpen+` GROUP BY i.inbound_event_id`,
		jsonArray(ids))
	for id, n := range numbers {
		byID[id].OpenBy = n
	}
	return err
}

func (s *Store) InboundEvent(ctx context.Context, accountID, id int64) (inbound.Event, inbound.Source, error) {
	var body []byte
	e, err := scanInboundEvent(s.queryRow(ctx,
		`SELECT `+inboundEventColumns+`, e.body FROM inbound_events e LEFT JOIN sources s ON s.id = e.source_id
			WHERE e.account_id = ? AND e.id = ?`, accountID, id), &body)
	e.Body = body
	if err == nil {
		err = s.countOpenItems(ctx, map[int64]*inbound.Event{id: &e}, []int64{id})
	}
	if err != nil || e.SourceID == 0 {
		return e, inbound.Source{}, noRowsAs(err, inbound.ErrNoEvent)
	}
	src, err := s.scanSource(s.queryRow(ctx, `SELECT `+sourceColumns+` FROM sources WHERE id = ?`, e.SourceID))
	return e, src, err
}

const (
	inboundItemColumns = `i.id, i.inbound_event_id, i.position, i.state, coalesce(k.transaction_id, i.transaction_id, 0), i.reason_field,
		i.reason_en, i.reason_vi, i.event_id, i.gateway,
		i.account_number, i.number, i.type, i.amount, i.content, i.occurred_at, i.date_only, i.date_flaw, i.masked`
	inboundItemJoin = ` LEFT JOIN event_ids k ON k.account_id = i.account_id AND k.source_id = i.source_id AND k.channel = i.channel
		AND k.event_id = i.event_id`
)

func scanInboundItem(row scanner) (inbound.Item, error) {
	var i inbound.Item
	i.Fault = &app.FieldError{}
	err := row.Scan(&i.ID, &i.InboundEventID, &i.Position, &i.State, &i.TransactionID, &i.Fault.Field, &i.Fault.Text.EN, &i.Fault.Text.VI,
		&i.EventID, &i.Gateway, &i.AccountNumber, &i.Number, &i.Type, &i.Amount, &i.Content, secondsInto(&i.Time), &i.DateOnly, &i.DateFlaw,
		&i.Masked)
	return i, err
}

func (s *Store) InboundItems(ctx context.Context, accountID, eventID int64, limit int) ([]inbound.Item, error) {
	return readAll(ctx, s, scanInboundItem, `SELECT `+inboundItemColumns+` FROM inbound_items i`+inboundItemJoin+`
		WHERE i.account_id = ? AND i.inbound_event_id = ? ORDER BY i.`+isOpen+` DESC, i.position, i.id LIMIT ?`, accountID, eventID, limit)
}

func (s *Store) RefusedCalls(ctx context.Context, accountID, sourceID int64, unnamed bool, limit int) ([]inbound.RefusedCall, error) {
	if err := s.ownSource(ctx, accountID, sourceID); err != nil {
		return nil, err
	}
	return readAll(ctx, s, func(row scanner) (c inbound.RefusedCall, err error) {
		return c, row.Scan(&c.ID, &c.SourceID, &c.SourceName, millisInto(&c.ReceivedAt), &c.Remote, &c.Code, &c.Text.EN, &c.Text.VI)
	}, `SELECT r.id, coalesce(r.source_id, 0), coalesce(s.name, ''), r.received_ms, r.remote, r.code, r.reason_en, r.reason_vi
		FROM refused_calls r LEFT JOIN sources s ON s.id = r.source_id
		WHERE (s.account_id = ?1 OR ?3 AND r.source_id IS NULL) AND (?2 = 0 OR r.source_id = ?2) ORDER BY r.id DESC LIMIT ?4`,
		accountID, sourceID, unnamed, limit)
}

// InboundBodies doesn't read a body longer than most bytes: the row knows its length.
func (s *Store) InboundBodies(ctx context.Context, accountID int64, ids []int64, most int) (map[int64][]byte, error) {
	return readMap(ctx, s, func(row scanner) (id int64, body []byte, err error) {
		err = row.Scan(&id, &body)
		return id, body, err
	}, `SELECT e.id, e.body FROM json_each(?1) page CROSS JOIN inbound_events e ON e.id = page.value
		WHERE e.account_id = ?2 AND length(e.body) <= ?3`, jsonArray(ids), accountID, most)
}

func (s *Store) InboundSources(ctx context.Context, accountID int64, ids []int64) (map[int64]inbound.Source, error) {
	return readMap(ctx, s, func(row scanner) (int64, inbound.Source, error) {
		src, err := s.scanSource(row)
		return src.ID, src, err
	}, `SELECT `+sourceColumns+` FROM sources WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))`, accountID, jsonArray(ids))
}

// KnownEvents reads what recorder.find reads, and the inbound event that recorded it.
func (s *Store) KnownEvents(ctx context.Context, accountID int64, refs []inbound.EventRef) ([]*inbound.KnownEvent, error) {
	names := make([][3]any, len(refs))
	for i, ref := range refs {
		names[i] = [3]any{ref.SourceID, ref.Channel, ref.EventID}
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	known := make([]*inbound.KnownEvent, len(refs))
	rows, err := s.query(ctx,
		`SELECT page.key, coalesce(k.transaction_id, 0), coalesce(e.id, 0), coalesce(i.inbound_event_id, 0), coalesce(i.state, ''), `+
			knownColumns+`
		FROM json_each(?2) page
		CROSS JOIN event_ids k ON k.account_id = ?1 AND k.source_id = page.value ->> 0 AND k.channel = page.value ->> 1
		AND k.event_id = page.value ->> 2
		`+knownJoins+` `+fromEvent, accountID, string(list))
	err = each(rows, err, func(row scanner) (bool, error) {
		var at int
		var k inbound.KnownEvent
		err := scanKnown(row, &k.RecordedAs, &at, &k.TransactionID, &k.TransactionEvent, &k.ItemEvent, &k.ItemState)
		known[at] = &k
		return false, err
	})
	return known, err
}

// isOpen is the condition on items that need attention. openItems is the number of these
// in an inbound event that a statement updates or reads.
const (
	isOpen    = `state IN ('unassigned', 'rejected', 'conflict', 'may_be_repeat')`
	openItems = `(SELECT count(*) FROM inbound_items WHERE inbound_event_id = inbound_events.id AND ` + isOpen + `)`
)
