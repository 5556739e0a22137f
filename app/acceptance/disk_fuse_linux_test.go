//go:build !386 && !arm

package acceptance_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// mount makes the disk a directory that programs can use, until the test ends.
// Only other processes may: this one answers for it, and would wait for itself.
// Never let a process start in it either, for the same reason.
func (d *disk) mount(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	server, err := fuse.NewServer(&diskServer{fuse.NewDefaultRawFileSystem(), d}, dir, &fuse.MountOptions{
		FsName: "baoco-test", Name: "baoco-test", DirectMountStrict: true, DisableXAttrs: true, DisableReadDirPlus: true,
		ExplicitDataCacheControl: true, // what the kernel has is true: nobody else changes a file
	})
	if err != nil {
		t.Skipf("needs root and FUSE, to mount a disk that fails: %v", err)
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.setFault(nil)
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	})
	return dir
}

// diskServer answers the kernel. Locks and the cache are the kernel's own, so
// that they are those of any local file system.
type diskServer struct {
	fuse.RawFileSystem
	*disk
}

// longTime is how long the kernel may remember what it was told.
const longTime = time.Hour

func (s *diskServer) String() string { return "baoco-test" }

// file is the file of an inode and its name; nil is the directory.
func (s *diskServer) file(inode uint64) (*diskFile, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inode < firstInode {
		return nil, "."
	}
	f := s.files[inode-firstInode]
	return f, f.name
}

func (s *diskServer) attr(f *diskFile, out *fuse.Attr) {
	*out = fuse.Attr{Ino: 1, Mode: syscall.S_IFDIR | 0o700, Nlink: 2, Owner: *fuse.CurrentOwner(), Blksize: 4096}
	if f == nil {
		return
	}
	out.Ino, out.Mode, out.Size, out.Nlink = f.inode, syscall.S_IFREG|f.mode, uint64(len(f.data)), 0
	out.Blocks = (out.Size + sectorSize - 1) / sectorSize
	for _, other := range s.names {
		if other == f {
			out.Nlink++
		}
	}
}

func (s *diskServer) entry(f *diskFile, out *fuse.EntryOut) {
	out.NodeId, out.Generation = f.inode, 1
	out.SetEntryTimeout(longTime)
	out.SetAttrTimeout(longTime)
	s.attr(f, &out.Attr)
}

func (s *diskServer) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.names[name]
	if f == nil {
		return fuse.ENOENT
	}
	s.entry(f, out)
	return fuse.OK
}

func (s *diskServer) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	f, _ := s.file(in.NodeId)
	s.mu.Lock()
	defer s.mu.Unlock()
	out.SetTimeout(longTime)
	s.attr(f, &out.Attr)
	return fuse.OK
}

func (s *diskServer) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	f, name := s.file(in.NodeId)
	if size, ok := in.GetSize(); ok && f != nil {
		if errno := s.ask(diskOp{kind: opTruncate, file: name}); errno != 0 {
			return fuse.Status(errno)
		}
		s.mu.Lock()
		f.truncate(int(size))
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if mode, ok := in.GetMode(); ok && f != nil {
		f.mode = mode & 0o7777
	}
	out.SetTimeout(longTime)
	s.attr(f, &out.Attr)
	return fuse.OK
}

func (s *diskServer) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	if errno := s.ask(diskOp{kind: opName, file: name}); errno != 0 {
		return fuse.Status(errno)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.newFile(name, in.Mode&0o7777&^in.Umask)
	s.move(func(names map[string]*diskFile) { names[name] = f })
	s.entry(f, &out.EntryOut)
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

func (s *diskServer) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	if errno := s.ask(diskOp{kind: opName, file: name}); errno != 0 {
		return fuse.Status(errno)
	}
	f, _ := s.file(in.Oldnodeid)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.name = name
	s.move(func(names map[string]*diskFile) { names[name] = f })
	s.entry(f, out)
	return fuse.OK
}

func (s *diskServer) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	if errno := s.ask(diskOp{kind: opName, file: to}); errno != 0 {
		return fuse.Status(errno)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.names[from]
	f.name = to
	s.move(func(names map[string]*diskFile) {
		delete(names, from)
		names[to] = f
	})
	return fuse.OK
}

func (s *diskServer) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	if errno := s.ask(diskOp{kind: opName, file: name}); errno != 0 {
		return fuse.Status(errno)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.move(func(names map[string]*diskFile) { delete(names, name) })
	return fuse.OK
}

func (s *diskServer) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

func (s *diskServer) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	f, name := s.file(in.NodeId)
	if errno := s.ask(diskOp{kind: opRead, file: name}); errno != 0 {
		return nil, fuse.Status(errno)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	if in.Offset < uint64(len(f.data)) {
		n = copy(buf, f.data[in.Offset:])
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

func (s *diskServer) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	f, name := s.file(in.NodeId)
	if errno := s.ask(diskOp{kind: opWrite, file: name, size: len(data)}); errno != 0 {
		return 0, fuse.Status(errno)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.write(int(in.Offset), data)
	return uint32(len(data)), fuse.OK
}

func (s *diskServer) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	f, name := s.file(in.NodeId)
	if errno := s.ask(diskOp{kind: opSync, file: name}); errno != 0 {
		return fuse.Status(errno)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lies {
		f.sync()
	}
	return fuse.OK
}

func (s *diskServer) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if errno := s.ask(diskOp{kind: opSyncDir, file: "."}); errno != 0 {
		return fuse.Status(errno)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lies {
		s.syncDir()
	}
	return fuse.OK
}

func (s *diskServer) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.OK
}

func (s *diskServer) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.names))
	for i := int(in.Offset); i < len(names); i++ {
		if !out.AddDirEntry(fuse.DirEntry{Name: names[i], Ino: s.names[names[i]].inode, Mode: syscall.S_IFREG}) {
			break
		}
	}
	return fuse.OK
}

func (s *diskServer) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	*out = fuse.StatfsOut{Blocks: 1 << 20, Bfree: 1 << 20, Bavail: 1 << 20, Bsize: 4096, NameLen: 255, Frsize: 4096}
	return fuse.OK
}
