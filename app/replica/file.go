package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// directory is a place of this machine.
type directory string

func (d directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// Get reads regular files only: to open a pipe would wait until somebody writes to it.
func (d directory) Get(_ context.Context, name string) ([]byte, error) {
	info, err := os.Stat(d.path(name))
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", d.path(name))
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readObject(f, name)
}

// Create writes a draft and links it to its name, so that nobody sees half of it.
func (d directory) Create(_ context.Context, name string, data []byte) error {
	return d.write(name, data, os.Link)
}

func (d directory) Put(_ context.Context, name string, data []byte) error {
	return d.write(name, data, os.Rename)
}

func (d directory) write(name string, data []byte, publish func(draft, path string) error) error {
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeFile(path, data, nil, publish)
}

// writeFile puts a file in its place in one step, with mode 0600 and, where one is given, the owner of another file.
func writeFile(path string, data []byte, owner fs.FileInfo, publish func(draft, path string) error) error {
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".draft-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(data)
	if owner != nil {
		err = errors.Join(err, ownAs(draft, owner))
	}
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := publish(draft.Name(), path); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

func (d directory) List(ctx context.Context, dir string) (list []Object, err error) {
	changed := map[string]time.Time{} // by directory
	err = filepath.WalkDir(d.path(dir), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile, or not there at all
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.IsDir() {
			changed[path] = info.ModTime()
			return nil
		}
		name, err := filepath.Rel(string(d), path)
		if len(list) == maxObjects {
			return tooManyObjects()
		}
		list = append(list,
			Object{Name: filepath.ToSlash(name), Size: info.Size(), Modified: changed[filepath.Dir(path)], Tag: info.ModTime().String()})
		return err
	})
	return list, err
}

func (directory) Close() error { return nil }
