package replica

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Objects are the files of a place: those of Litestream, and the few that baoco keeps
// beside them. Names are relative to the place, with slashes.
type Objects interface {
	// Get reads an object. The error is fs.ErrNotExist if the object doesn't exist.
	Get(ctx context.Context, name string) ([]byte, error)
	// Create writes a new object whole. Of several that create the same name at the
	// same time one succeeds; the error of the others is fs.ErrExist.
	Create(ctx context.Context, name string, data []byte) error
	// Put writes an object, and replaces one of that name.
	Put(ctx context.Context, name string, data []byte) error
	// List lists the objects whose names begin with a directory's name and a slash.
	// A directory that isn't there is empty.
	List(ctx context.Context, dir string) ([]Object, error)
	Close() error
}

// Object is one object of a list.
type Object struct {
	Name string // relative to the place
	Size int64
	// Modified is when the object was written, by the clock of the place. For a file it is
	// when its directory was last changed, since Litestream sets the times of files itself.
	Modified time.Time
	Tag      string // changes with the content
}

const (
	// objectTime is how long one request to a place may take.
	objectTime = 10 * time.Second
	// maxObject is how many bytes an object of baoco has at most.
	maxObject = 64 << 10
	// maxObjects is how many objects are listed at most. Litestream has some thousand.
	maxObjects = 100_000
)

// Open opens the objects of a place.
func Open(ctx context.Context, p Place, c Credentials) (Objects, error) {
	if err := c.Check(p); err != nil {
		return nil, err
	}
	switch p.Scheme {
	case File:
		return directory(p.Path), nil
	case SFTP:
		return dialSFTP(ctx, p, c)
	}
	return newBucket(p, c), nil
}

func readObject(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxObject+1))
	if err == nil && len(data) > maxObject {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxObject)
	}
	return data, err
}

func tooManyObjects() error {
	return fmt.Errorf("the place has more than %d objects: it holds something else too", maxObjects)
}
