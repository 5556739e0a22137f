package sqlitestore

import "context"

// Write runs fn in the next commit, with what runs a statement in it.
func (s *Store) Write(ctx context.Context, fn func(exec func(query string, args ...any) error) error) error {
	return s.write(ctx, func(tx *tx) error { return fn(tx.exec) })
}

// LockDir is the lock of a backup that is being made.
var LockDir = lockDir
