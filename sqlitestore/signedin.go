package sqlitestore

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"baoco/app"
)

// signedIn is what a standby keeps in memory of those who sign in: their sessions, and
// what may be used once. Sessions of the server don't count here. A code that was used
// here can be used once more at the server.
type signedIn struct {
	mu       sync.Mutex
	last     int64 // id of a session
	sessions map[string]*keptSession
	steps    map[int64]int64 // the last of which a user entered a code
	codes    map[[32]byte]bool
	counts   map[int64]uint32 // of passkeys
}

type keptSession struct {
	app.Session
	data []byte // nil: it has ended
}

// mostSessions is how many sessions a standby keeps. Only who knows a password gets one.
const mostSessions = 1000

func (s *Standby) Session(_ context.Context, token string, now time.Time) ([]byte, bool, error) {
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.sessions[token]
	if n == nil || n.data == nil || !n.EndAt.After(now) {
		return nil, false, nil
	}
	return n.data, true, nil
}

func (s *Standby) Sessions(_ context.Context, _, userID int64, token string, now time.Time) (list []app.Session, _ error) {
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	for t, n := range m.sessions {
		if n.UserID == userID && n.data != nil && n.EndAt.After(now) {
			one := n.Session
			one.This = t == token
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b app.Session) int { return cmp.Compare(b.ID, a.ID) })
	return list, nil
}

func (s *Standby) SetSession(_ context.Context, token string, session app.Session, data []byte) error {
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.sessions[token]
	if n == nil {
		m.makeRoom()
		m.last++
		session.ID, session.SeenAt = m.last, session.StartedAt
		m.sessions[token] = &keptSession{session, data}
		return nil
	}
	if n.data != nil {
		session.ID, session.SeenAt = n.ID, n.SeenAt
		*n = keptSession{session, data}
	}
	return nil
}

// makeRoom removes the session that ends first where there are as many as there may be.
func (m *signedIn) makeRoom() {
	if m.sessions == nil {
		m.sessions = map[string]*keptSession{}
	}
	if len(m.sessions) < mostSessions {
		return
	}
	first := ""
	for token, n := range m.sessions {
		if first == "" || n.EndAt.Before(m.sessions[first].EndAt) {
			first = token
		}
	}
	delete(m.sessions, first)
}

func (s *Standby) SeeSession(_ context.Context, token, address string, now time.Time) error {
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.sessions[token]; n != nil {
		n.SeenAt, n.Address = now, address
	}
	return nil
}

func (s *Standby) RemoveSession(_ context.Context, token string) error {
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.sessions[token]; n != nil {
		n.data = nil
	}
	return nil
}

func (s *Standby) UseTOTPStep(_ context.Context, userID, step int64) (bool, error) {
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	if step <= m.steps[userID] {
		return false, nil
	}
	if m.steps == nil {
		m.steps = map[int64]int64{}
	}
	m.steps[userID] = step
	return true, nil
}

func (s *Standby) UseRecoveryCode(ctx context.Context, u app.User, hash [32]byte) (bool, error) {
	there, err := readOne[bool](ctx, s.Store, `SELECT EXISTS (SELECT 1 FROM recovery_codes WHERE user_id = ? AND hash = ?)`, u.ID, hash[:])
	if err != nil || !there {
		return false, err
	}
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.codes[hash] {
		return false, nil
	}
	if m.codes == nil {
		m.codes = map[[32]byte]bool{}
	}
	m.codes[hash] = true
	return true, nil
}

func (s *Standby) UsePasskey(ctx context.Context, id int64, count uint32, _ time.Time) error {
	before, err := readOne[uint32](ctx, s.Store, `SELECT sign_count FROM passkeys WHERE id = ?`, id)
	if err != nil {
		return noRowsAs(err, app.ErrNoPasskey)
	}
	m := &s.signedIn
	m.mu.Lock()
	defer m.mu.Unlock()
	if before = max(before, m.counts[id]); copiedPasskey(before, count) {
		return app.ErrPasskeyCopied
	}
	if m.counts == nil {
		m.counts = map[int64]uint32{}
	}
	m.counts[id] = count
	return nil
}

// NoteSignIn logs it: the audit log is the server's.
func (s *Standby) NoteSignIn(ctx context.Context, u app.User, _ time.Time) error {
	by, _ := app.ActorOf(ctx)
	s.log.Info("somebody signed in at the standby", "user", u.Name, "address", by.Address)
	return nil
}
