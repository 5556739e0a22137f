package app

import (
	"context"
	"slices"
)

// What an inbound event said is not kept beside its body: it is read again
// when somebody looks, and what became of it follows from what its event ids
// are known as. Recording costs nothing for it.
//
//	kept body → Config.ReadInbound → elements, normalised as in recording →
//	their event ids looked up, all of a page at once → settle: what each became

// InboundElement is one element of an inbound event as its body is read again,
// with what became of it.
type InboundElement struct {
	Position int // in the event, from 0
	Incoming
	State         Outcome      // empty: its event id isn't known
	TransactionID int64        // that it is or, in a conflict, that its event id was recorded as; 0: none
	WaitsIn       int64        // the inbound event of the unassigned item that has its event id; 0: none other
	Item          *InboundItem // nil: it needed nobody's attention
}

// EventRef names an event id.
type EventRef struct {
	SourceID int64
	Channel  Channel
	EventID  string
}

// KnownEvent is what an event id is known as.
type KnownEvent struct {
	Known
	TransactionID    int64 // 0: it isn't recorded
	TransactionEvent int64 // the inbound event that recorded it; 0: there was none
	ItemEvent        int64 // the inbound event of its unassigned item; 0: none, or pruned
	ItemState        Outcome
}

// How much is read again for a listing, so that it is quick whatever came in:
// bodies that aren't longer, in bytes; all of a page together, each element for
// so many bytes more; and so many elements at each end of a call that was
// recorded in part, to find one that was. A list of transactions has the new
// ones at one end.
const (
	ListedBody   = 64 << 10
	listedPage   = 1 << 20
	elementBytes = 100
	listedEnd    = 3
)

// ReadInboundEvent finds an event with its body, its items and what it said:
// at most ShownItems elements, in their order, but every item among them.
func (s *Service) ReadInboundEvent(ctx context.Context, accountID, id int64) (InboundEvent, error) {
	e, source, err := s.store.InboundEvent(ctx, accountID, id)
	if err != nil {
		return e, err
	}
	if e.Items, err = s.store.InboundItems(ctx, accountID, id, ShownItems); err != nil {
		return e, err
	}
	s.readAgain(&e, source, e.Body, false)
	if err := s.settleElements(ctx, accountID, []*InboundEvent{&e}); err != nil {
		return e, err
	}
	e.addItems()
	return e, nil
}

// InboundEventsBefore lists the newest events of the inbound log that have a
// lower id than f.Before (0: all), and tells whether there are older ones. Of
// the page only its size counts. Each has one element of what it said, where
// its body is short enough: the first that it recorded, else the first.
func (s *Service) InboundEventsBefore(ctx context.Context, accountID int64, f InboundFilter) ([]InboundEvent, bool, error) {
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
	read, room := make([]*InboundEvent, len(list)), listedPage
	for i := range list {
		e := &list[i]
		read[i] = e
		body, short := bodies[e.ID]
		if e.Unread = !short || room < 0; !e.Unread {
			s.readAgain(e, known[e.SourceID], body, true)
			room -= len(body) + elementBytes*e.Named
		}
	}
	if err := s.settleElements(ctx, accountID, read); err != nil {
		return nil, false, err
	}
	for _, e := range read {
		if len(e.Elements) > 0 {
			lead := max(0, slices.IndexFunc(e.Elements, func(i InboundElement) bool { return i.State == OutcomeRecorded }))
			e.Elements = e.Elements[lead : lead+1]
		}
	}
	return list, more, nil
}

// readAgain gives an event its elements as they are recorded, without what
// became of them, and notes how many there are, or what the body is instead.
func (s *Service) readAgain(e *InboundEvent, source Source, body []byte, listing bool) {
	read := s.readInbound(source, e.Channel, body, e.ReceivedAt, s.zone)
	e.Named, e.Nothing = len(read.Elements), read.Nothing
	first, last := min(e.Named, ShownItems), e.Named // first elements, and those from last on
	switch {
	case listing && (e.Recorded == 0 || e.Recorded == e.Named):
		first = min(e.Named, 1) // all became the same
	case listing && e.Named > 2*listedEnd:
		first, last = listedEnd, e.Named-listedEnd
	}
	call := InboundCall{
		Source: source, Channel: e.Channel, ReceivedAt: e.ReceivedAt, Elements: slices.Concat(read.Elements[:first], read.Elements[last:]),
	}
	s.normalize(&call)
	e.Elements = make([]InboundElement, len(call.Elements))
	for i, element := range call.Elements {
		e.Elements[i] = InboundElement{Position: i, Incoming: element}
		if i >= first {
			e.Elements[i].Position += last - first
		}
	}
}

// settleElements finds what became of the elements of events, with one look-up
// for all.
func (s *Service) settleElements(ctx context.Context, accountID int64, events []*InboundEvent) error {
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

// settle says what became of an element of e, by the rules of recording, from
// what its event id is known as now.
func (i *InboundElement) settle(e *InboundEvent, known *KnownEvent, recorded map[int64]bool) {
	switch {
	case known == nil && i.Fault == nil:
		return
	case known == nil && e.Channel == ChannelPoll:
		i.State = OutcomeDuplicate // a list shows it again and again; it is kept once
		return
	case known == nil:
		i.State = OutcomeRejected
		return
	}
	i.TransactionID = known.TransactionID
	if known.TransactionID == 0 && known.ItemState == OutcomeUnassigned && known.ItemEvent != e.ID {
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

// addItems gives the elements of an event their items. An item that the body
// isn't read to any more, or that lies beyond what is shown, is an element of
// its own.
func (e *InboundEvent) addItems() {
	at := map[int]int{}
	for n, i := range e.Elements {
		at[i.Position] = n
	}
	for n := range e.Items {
		item := &e.Items[n]
		found, known := at[item.Position]
		if known && item.State.Open() && e.Elements[found].Item != nil && e.Elements[found].State.Open() {
			known = false // a retry found it at fault in another way: somebody decides about both
		}
		if !known {
			found = len(e.Elements)
			at[item.Position] = found
			e.Elements = append(e.Elements, InboundElement{Position: item.Position})
		}
		e.Elements[found].judge(item)
	}
	e.Named = max(e.Named, len(e.Elements))
	slices.SortStableFunc(e.Elements, func(a, b InboundElement) int { return a.Position - b.Position })
	for n := len(e.Elements) - 1; n >= 0 && len(e.Elements) > ShownItems; n-- {
		if e.Elements[n].Item == nil {
			e.Elements = slices.Delete(e.Elements, n, n+1)
		}
	}
}

// judge makes an element what its item says of it, as it was read then, unless
// a retry did better since: it leaves what somebody discarded.
func (i *InboundElement) judge(item *InboundItem) {
	discarded := item.State == OutcomeDiscarded
	if discarded && (i.Item != nil || i.Fault == nil && i.TransactionID != 0 && i.State != OutcomeConflict) {
		return
	}
	i.Incoming, i.State, i.TransactionID, i.Item = item.Incoming, item.State, item.TransactionID, item
	if i.State == OutcomeRecorded || i.State == OutcomeDuplicate {
		i.Fault = nil // it was settled
	}
}
