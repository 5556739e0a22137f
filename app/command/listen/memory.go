package listen

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"baoco/app/delivery"
)

// memoryFile is the file of a memory. Only its owner may read it.
const memoryFile = ".baoco-listen.json"

type memory struct {
	path   string
	Secret string           `json:"secret"` // signs the calls
	Key    string           `json:"key"`    // the API key in calls of the kind sepay
	Last   map[string]int64 `json:"last"`   // the id of the last transaction that was received, by the addresses of server and program
}

// remember reads the file, or makes it with a new secret.
func remember(path string) (*memory, error) {
	m := &memory{path: path}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.Secret, m.Key = delivery.NewSecret(), rand.Text()
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(data, m); err != nil || !delivery.IsSecret(m.Secret) || m.Key == "" {
			return nil, fmt.Errorf("%s is damaged; remove it to begin with a new secret", path)
		}
		for pair, id := range m.Last {
			if id < 0 || id > 1<<53 {
				return nil, fmt.Errorf("%s names the transaction %d of %s, which can't be; correct or remove it", path, id, pair)
			}
		}
	}
	if m.Last == nil {
		m.Last = map[string]int64{}
	}
	return m, m.save("")
}

// save replaces the whole file, so that a crash leaves the old or the new one. It keeps the
// ids that other commands in this directory have saved meanwhile; own is this command's pair.
func (m *memory) save(own string) error {
	var now memory
	if data, err := os.ReadFile(m.path); err == nil && json.Unmarshal(data, &now) == nil {
		for pair, id := range now.Last {
			if pair != own {
				m.Last[pair] = id
			}
		}
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(m.path), memoryFile+".*") // for its owner only
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err = cmp.Or(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), m.path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
