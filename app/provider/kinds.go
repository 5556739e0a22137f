package provider

import (
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// Kinds is the table of the inbound formats.
var Kinds = []Kind{
	native,
	sepay,
	casso,
	cassoV2,
	payOS,
	pay2s,
	pay2sIPN,
	generic,
	capcom6,
	smsToURL,
	smsForwarder,
	vietQR,
}

// Find finds a kind of source.
func Find(p app.Provider) (Kind, bool) {
	for _, kind := range Kinds {
		if kind.Provider == p {
			return kind, true
		}
	}
	return Kind{}, false
}

// Facts lists what the rules need to know of the kinds.
func Facts() []inbound.ProviderKind {
	facts := make([]inbound.ProviderKind, len(Kinds))
	for i, kind := range Kinds {
		facts[i] = kind.ProviderKind
		facts[i].CatchUp = kind.List != nil
	}
	return facts
}

// Read reads a body that came in on a channel of source: a call, a page of the
// provider's list, or what somebody recorded by hand. It never fails: what it
// can't read becomes an element with a fault.
func Read(source inbound.Source, channel app.Channel, body []byte, receivedAt time.Time, zone *time.Location) inbound.Reading {
	if channel == app.ChannelHand {
		return inbound.Reading{Elements: readByHand(body, zone)}
	}
	kind, found := Find(source.Provider)
	switch {
	case !found || channel == app.ChannelPoll && kind.List == nil:
		return inbound.Reading{Elements: []inbound.Incoming{unreadable("body", "is of a format that is no longer known",
			"thuộc định dạng không còn được hỗ trợ")}}
	case channel == app.ChannelPoll:
		return inbound.Reading{Elements: kind.List.elements(body, zone)}
	case len(body) == 0 && kind.Group == inbound.PhoneApps:
		return inbound.Reading{Explanation: codeText}
	}
	read := kind.Elements(Call{source, body, receivedAt, zone})
	if len(read.Elements) == 0 && read.Explanation == (app.Text{}) {
		read.Explanation = nothingNamed
	}
	return read
}

// Names names the kinds of sources of which is is true.
func Names(is func(Kind) bool) string {
	var names []string
	for _, kind := range Kinds {
		if is(kind) {
			names = append(names, string(kind.Provider))
		}
	}
	return strings.Join(names, ", ")
}

// HasList tells whether the list of a kind can be read.
func HasList(k Kind) bool { return k.List != nil }
