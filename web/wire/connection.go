package wire

import "context"

// KeyConnection is where the context of a request holds its connection.
type KeyConnection struct{}

// Dispensable lets the connection of a request be closed, although its answer lasts, where
// there is no room for another connection. end is called when the answer ends.
func Dispensable(ctx context.Context) (end func()) {
	conn, ok := ctx.Value(KeyConnection{}).(interface{ Keep(requests int) })
	if !ok {
		return func() {}
	}
	conn.Keep(-1)
	return func() { conn.Keep(+1) }
}

// Share is how many connections may be held for one purpose: most, and no more than that
// part of all that may be open.
func (r *Responder) Share(most, part int) int {
	if r.Connections == 0 {
		return most
	}
	return max(1, min(most, r.Connections/part))
}
