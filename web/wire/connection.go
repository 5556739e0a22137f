package wire

import "context"

// KeyConnection is where the context of a request holds its connection.
type KeyConnection struct{}

// Dispensable allows the server to close the connection of a request during its answer if
// it has no room for another connection. end is called when the answer ends.
func Dispensable(ctx context.Context) (end func()) {
	conn, ok := ctx.Value(KeyConnection{}).(interface{ Keep(requests int) })
	if !ok {
		return func() {}
	}
	conn.Keep(-1)
	return func() { conn.Keep(+1) }
}

// Share is how many connections may be held for one purpose: at most most, and at most
// 1/part of all that may be open.
func (r *Responder) Share(most, part int) int {
	if r.Connections == 0 {
		return most
	}
	return max(1, min(most, r.Connections/part))
}
