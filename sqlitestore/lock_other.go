//go:build !unix

package sqlitestore

import (
	"errors"
	"os"
)

func lockFile(string) (*os.File, error) {
	return nil, errors.New("baoco serve needs a Unix system, such as Linux")
}

func unlockFile(f *os.File) error { return f.Close() }

func lockDir(string) (unlock func(), err error) { return func() {}, nil }

func isLocked(string) (bool, error) { return false, nil }

func isHeld(string) bool { return false }

func ownerOf(string) (uid int, exists bool) { return 0, false }

func linksOf(os.FileInfo) uint64 { return 1 }

func ownAs(string, os.FileInfo) error { return nil }

// turn does nothing here: no server runs on such a system.
type turn struct{}

func openTurn(string, bool) (*turn, error) { return &turn{}, nil }

func (*turn) begin() {}

func (*turn) end() {}

func (*turn) copyKey(string) error { return errors.ErrUnsupported }

func (*turn) close() error { return nil }
