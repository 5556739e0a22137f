//go:build !unix

package sqlitestore

import (
	"errors"
	"os"
)

func lockFile(string) (*os.File, error) {
	return nil, errors.New("baoco serve needs a Unix system, such as Linux")
}
