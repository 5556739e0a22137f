package statement

import (
	"errors"
	"os"
)

// Texts are stored in chunks of so many bytes. The first ones stay in memory,
// the others go to a temporary file, of which so many are held.
const (
	chunkSize  = 64 << 10
	ramChunks  = 8 << 20 / chunkSize
	heldChunks = 64
)

// textStore is one long text, written once and then read in pieces, in little
// memory however long it is.
type textStore struct {
	chunks [][]byte // the first ones
	file   *os.File // the others
	whole  int      // chunks stored
	rest   []byte   // less than a chunk, behind them
	held   [heldChunks]struct {
		number int
		text   []byte
	}
}

// size is how many bytes are stored.
func (s *textStore) size() int { return s.whole*chunkSize + len(s.rest) }

// add appends text.
func (s *textStore) add(text string) error {
	s.rest = append(s.rest, text...)
	for len(s.rest) >= chunkSize {
		if err := s.put(s.rest[:chunkSize]); err != nil {
			return err
		}
		s.rest = append(s.rest[:0], s.rest[chunkSize:]...)
	}
	return nil
}

func (s *textStore) put(chunk []byte) error {
	if s.whole < ramChunks {
		s.chunks = append(s.chunks, append([]byte(nil), chunk...))
		s.whole++
		return nil
	}
	if s.file == nil {
		file, err := os.CreateTemp("", "baoco-")
		if err != nil {
			return err
		}
		s.file = file
		_ = os.Remove(file.Name()) // while it is open, where the system can: a kill leaves nothing behind
	}
	if _, err := s.file.Write(chunk); err != nil {
		return err
	}
	s.whole++
	return nil
}

// text gives the bytes from begin to before end.
func (s *textStore) text(begin, end int) (string, error) {
	var buf []byte
	for begin < end {
		chunk, err := s.chunk(begin / chunkSize)
		if err != nil {
			return "", err
		}
		at := begin % chunkSize
		part := chunk[at:min(len(chunk), at+end-begin)]
		begin += len(part)
		if begin == end && buf == nil {
			return string(part), nil
		}
		buf = append(buf, part...)
	}
	return string(buf), nil
}

func (s *textStore) chunk(n int) ([]byte, error) {
	if n < len(s.chunks) {
		return s.chunks[n], nil
	}
	if n == s.whole {
		return s.rest, nil
	}
	h := &s.held[n%heldChunks]
	if h.text == nil || h.number != n {
		if h.text == nil {
			h.text = make([]byte, chunkSize)
		}
		h.number = -1
		if _, err := s.file.ReadAt(h.text, int64(n-ramChunks)*chunkSize); err != nil {
			return nil, err
		}
		h.number = n
	}
	return h.text, nil
}

func (s *textStore) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return errors.Join(err, removed)
	}
	return err
}
