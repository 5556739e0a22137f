package dashboard

import (
	"fmt"

	"baoco/app"
)

// Live pages. A page that shows what changes by itself holds one stream of
// server-sent events open. The stream says only that something has changed; then
// the page asks for itself anew, and static/live.js puts what differs into it. So
// whatever stands on a page is live, and is rendered in one place.

// liveHeader marks the request with which a live page asks for itself anew.
const liveHeader = "X-Live"

// position writes the newest ids that a page or an event was made with. Those of a
// page were read before its rows, so that it shows all of them.
func position(n app.NewestIDs) string {
	return fmt.Sprintf("%d-%d-%d-%d", n.TransactionID, n.AttemptID, n.InboundEventID, n.DeliveryID)
}

// livePage streams two events: changed, with the position, at first and whenever it
// is another, which pages compare with their own; and alive, at once and every 15
// seconds, by which pages notice a connection that died silently.
func (s *Server) livePage(v *visit) error {
	stream, err := s.openStream(v, streamHolder{account: v.account.ID, user: v.user.ID}, func() error { return s.stillAllowed(v) })
	if err != nil {
		return err
	}
	defer stream.close()
	if err := stream.alive(); err != nil {
		return nil
	}
	sent := ""
	for {
		newest, read, changed := s.changes.state()
		if now := position(newest); read && now != sent {
			if err := stream.event("changed", "", now); err != nil {
				return nil // the page connects anew
			}
			sent = now
		}
		if err := stream.wait(changed, stream.alive); err != nil {
			return nil
		}
	}
}
