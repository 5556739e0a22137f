package sqlitestore

import (
	"container/list"
	"context"
	"database/sql"
	"errors"
	"sync"
)

// keptReads is how many read statements stay prepared, on up to four connections
// each. Listings have thousands, one for every combination of filters; what
// everybody asks for all the time is far fewer.
const keptReads = 128

// readStatements are the prepared statements of a database that were used last. The zero
// value is empty.
type readStatements struct {
	mu      sync.Mutex
	byQuery map[string]*list.Element // of *readStatement
	order   list.List                // the last used first
}

// readStatement is a prepared statement. One that makes room for others is closed once
// nobody uses it.
type readStatement struct {
	query   string
	stmt    *sql.Stmt
	users   int
	dropped bool
}

// take gives the statement of a query, until it is given back.
func (r *readStatements) take(ctx context.Context, db *sql.DB, query string) (*readStatement, error) {
	if one := r.find(query, nil); one != nil {
		return one, nil
	}
	stmt, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, storageError(err)
	}
	one := r.find(query, stmt)
	if one.stmt != stmt { // another was quicker
		_ = stmt.Close()
	}
	return one, nil
}

// find gives the statement that is kept of a query, or keeps stmt where there
// is none; nil where that is nil.
func (r *readStatements) find(query string, stmt *sql.Stmt) *readStatement {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.byQuery[query]
	switch {
	case at != nil:
		r.order.MoveToFront(at)
	case stmt == nil:
		return nil
	default:
		if r.byQuery == nil {
			r.byQuery = map[string]*list.Element{}
		}
		at = r.order.PushFront(&readStatement{query: query, stmt: stmt})
		r.byQuery[query] = at
		if r.order.Len() > keptReads {
			r.drop(r.order.Back())
		}
	}
	one := at.Value.(*readStatement)
	one.users++
	return one
}

func (r *readStatements) drop(at *list.Element) {
	one := r.order.Remove(at).(*readStatement)
	delete(r.byQuery, one.query)
	if one.dropped = true; one.users == 0 {
		_ = one.stmt.Close()
	}
}

// giveBack ends the use of a statement. Rows that are still read keep it open by
// themselves.
func (r *readStatements) giveBack(one *readStatement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.users--; one.users == 0 && one.dropped {
		_ = one.stmt.Close()
	}
}

func (r *readStatements) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for at := r.order.Front(); at != nil; at = at.Next() {
		errs = append(errs, at.Value.(*readStatement).stmt.Close())
	}
	return errors.Join(errs...)
}
