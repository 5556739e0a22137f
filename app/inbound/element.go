package inbound

import (
	"context"
	"slices"

	"baoco/app"
)

// The elements of an inbound event are not stored: only its body is. They are read
// again when somebody looks at the event, and their outcomes follow from what is
// known of their event ids, so they cost nothing in recording. The walk:
//
//	stored body → Config.Read → elements, normalised as in recording →
//	one look-up of the event ids of a page → settle: the outcome of each

// Element is one element of an inbound event, read again from its body,
// with its outcome.
type Element struct {
	Position int // in the event, from 0
	Incoming
	State         Outcome // empty: the event id isn't known
	TransactionID int64   // recorded under the event id, perhaps with other values; 0: none
	WaitsIn       int64   // another inbound event whose unassigned item has the event id; 0: none
	Item          *Item   // nil: the element never needed attention
}

// EventRef names an event id.
type EventRef struct {
	SourceID int64
	Channel  app.Channel
	EventID  string
}

// KnownEvent is what was recorded under an event id.
type KnownEvent struct {
	RecordedAs
	TransactionID    int64 // 0: it isn't recorded
	TransactionEvent int64 // the inbound event that recorded the transaction; 0: none
	ItemEvent        int64 // the inbound event of an unassigned item; 0: none, or pruned
	ItemState        Outcome
}

// These limits bound what a listing reads again, so that it is always quick.
// ListedBody is the longest body in bytes. listedPage is the sum for a page in
// bytes, where each element counts elementBytes more. Of a call that was
// recorded in part, listedEnd elements at each end are read, to find a recorded
// one: a provider's list has its new transactions at one end.
const (
	ListedBody   = 64 << 10
	listedPage   = 1 << 20
	elementBytes = 100
	listedEnd    = 3
)

// ReadInboundEvent finds an event with its body, its items and its elements in
// their order: at most ShownItems, but every item among them.
func (s *Service) ReadInboundEvent(ctx context.Context, accountID, id int64) (Event, error) {
	e, source, err := s.store.InboundEvent(ctx, accountID, id)
	if err != nil {
		return e, err
	}
	if e.Items, err = s.store.InboundItems(ctx, accountID, id, ShownItems); err != nil {
		return e, err
	}
	s.readAgain(&e, source, e.Body, false)
	if err := s.settleElements(ctx, accountID, []*Event{&e}); err != nil {
		return e, err
	}
	e.addItems()
	return e, nil
}

// InboundEventsBefore lists the newest events with a lower id than f.Before (0:
// all), and returns whether there are older ones. It uses only the size of
// f.Page. Each event has one element if its body is short enough: the first
// that it recorded, else the first.
func (s *Service) InboundEventsBefore(ctx context.Context, accountID int64, f Filter) ([]Event, bool, error) {
	list, more, err := s.store.InboundEventsBefore(ctx, accountID, f)
	if err != nil || len(list) == 0 {
		return list, more, err
	}
	ids, sources := make([]int64, len(list)), make([]int64, len(list))
	for i, e := range list {
		ids[i], sources[i] = e.ID, e.SourceID
	}
	bodies, err := s.store.InboundBodies(ctx, accountID, ids, ListedBody)
	if err != nil {
		return nil, false, err
	}
	known, err := s.store.InboundSources(ctx, accountID, sources)
	if err != nil {
		return nil, false, err
	}
	read, room := make([]*Event, len(list)), listedPage
	for i := range list {
		e := &list[i]
		read[i] = e
		body, short := bodies[e.ID]
		if e.Unread = !short || room < 0; !e.Unread {
			s.readAgain(e, known[e.SourceID], body, true)
			room -= len(body) + elementBytes*e.ElementCount
		}
	}
	if err := s.settleElements(ctx, accountID, read); err != nil {
		return nil, false, err
	}
	for _, e := range read {
		if len(e.Elements) > 0 {
			lead := max(0, slices.IndexFunc(e.Elements, func(i Element) bool { return i.State == OutcomeRecorded }))
			e.Elements = e.Elements[lead : lead+1]
		}
	}
	return list, more, nil
}

// readAgain gives an event its elements in recorded form, without outcomes. For
// a listing it leaves out elements in the middle.
func (s *Service) readAgain(e *Event, source Source, body []byte, listing bool) {
	if e.Channel == app.ChannelFile {
		return // its event has items only
	}
	read := s.config.Read(source, e.Channel, body, e.ReceivedAt, s.zone)
	e.ElementCount, e.Explanation = len(read.Elements), read.Explanation
	first, last := min(e.ElementCount, ShownItems), e.ElementCount // first elements, and those from last on
	switch {
	case listing && (e.Recorded == 0 || e.Recorded == e.ElementCount):
		first = min(e.ElementCount, 1) // all elements have the same outcome
	case listing && e.ElementCount > 2*listedEnd:
		first, last = listedEnd, e.ElementCount-listedEnd
	}
	call := Call{
		Source: source, Channel: e.Channel, ReceivedAt: e.ReceivedAt, Elements: slices.Concat(read.Elements[:first], read.Elements[last:]),
	}
	s.normalize(&call)
	e.Elements = make([]Element, len(call.Elements))
	for i, element := range call.Elements {
		e.Elements[i] = Element{Position: i, Incoming: element}
		if i >= first {
			e.Elements[i].Position += last - first
		}
	}
}

// settleElements finds the outcomes of the elements of events, with one look-up
// for all.
func (s *Service) settleElements(ctx context.Context, accountID int64, events []*Event) error {
	var refs []EventRef
	for _, e := range events {
		for _, i := range e.Elements {
			refs = append(refs, EventRef{e.SourceID, i.EventIDChannel, i.EventID})
		}
	}
	if len(refs) == 0 {
		return nil
	}
	known, err := s.store.KnownEvents(ctx, accountID, refs)
	if err != nil {
		return err
	}
	for _, e := range events {
		recorded := map[int64]bool{} // transactions of this event that an element before was recorded as
		for i := range e.Elements {
			e.Elements[i].settle(e, known[0], recorded)
			known = known[1:]
		}
	}
	return nil
}

// settle finds the outcome of an element of e by the rules of recording, from
// what is known of its event id now. recorded holds the transactions of e that
// earlier elements were recorded as.
func (i *Element) settle(e *Event, known *KnownEvent, recorded map[int64]bool) {
	switch {
	case known == nil && i.Fault == nil:
		return
	case known == nil && e.Channel == app.ChannelPoll:
		i.State = OutcomeDuplicate // a list shows it again and again; it is kept once
		return
	case known == nil:
		i.State = OutcomeRejected
		return
	}
	i.TransactionID = known.TransactionID
	if known.TransactionID == 0 && (known.ItemState == OutcomeUnassigned || known.ItemState == OutcomeMayBeRepeat) && known.ItemEvent != e.ID {
		i.WaitsIn = known.ItemEvent
	}
	switch {
	case i.Fault == nil && (known.TransactionID != 0 || known.ItemEvent != 0) && known.Compare(i.Incoming) == OutcomeConflict:
		i.State = OutcomeConflict
	case known.TransactionID != 0 && known.TransactionEvent == e.ID && !recorded[known.TransactionID]:
		i.State = OutcomeRecorded
		recorded[known.TransactionID] = true
	default:
		i.State = OutcomeDuplicate
	}
}

// addItems gives the elements of an event their items. An item whose element
// isn't read any more, or isn't shown, becomes an element of its own.
func (e *Event) addItems() {
	at := map[int]int{}
	for n, i := range e.Elements {
		at[i.Position] = n
	}
	for n := range e.Items {
		item := &e.Items[n]
		found, known := at[item.Position]
		if known && item.State.Open() && e.Elements[found].Item != nil && e.Elements[found].State.Open() {
			known = false // a retry found another fault; a person decides about both items
		}
		if !known {
			found = len(e.Elements)
			at[item.Position] = found
			e.Elements = append(e.Elements, Element{Position: item.Position})
		}
		e.Elements[found].judge(item)
	}
	e.ElementCount = max(e.ElementCount, len(e.Elements))
	slices.SortStableFunc(e.Elements, func(a, b Element) int { return a.Position - b.Position })
	for n := len(e.Elements) - 1; n >= 0 && len(e.Elements) > ShownItems; n-- {
		if e.Elements[n].Item == nil {
			e.Elements = slices.Delete(e.Elements, n, n+1)
		}
	}
}

// judge gives an element the values and the outcome of its item, which are
// those of the time of receipt. A discarded item doesn't count if a retry
// recorded the element since.
func (i *Element) judge(item *Item) {
	discarded := item.State == OutcomeDiscarded
	if discarded && (i.Item != nil || i.Fault == nil && i.TransactionID != 0 && i.State != OutcomeConflict) {
		return
	}
	sender := i.Sender // items don't keep it
	i.Incoming, i.State, i.TransactionID, i.Item = item.Incoming, item.State, item.TransactionID, item
	i.Sender = sender
	if i.State == OutcomeRecorded || i.State == OutcomeDuplicate {
		i.Fault = nil // the item was settled
	}
}
