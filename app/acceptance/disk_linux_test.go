package acceptance_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// disk is a directory on a disk that can fail in every way a test asks for
// (disk_fuse_linux_test.go mounts it). Of each file it knows two
// contents: what programs see, and what a power cut would leave for certain.
// A write is certain once its file was synced, a name once the directory was;
// no file system promises more. What is not certain may be there after a cut,
// in part, in any order.
type disk struct {
	mu      sync.Mutex
	files   []*diskFile // by inode, from firstInode on
	names   map[string]*diskFile
	certain map[string]*diskFile // names
	moves   []move               // since the directory was synced
	lies    bool                 // a sync succeeds and does nothing

	ops   atomic.Int64
	fault atomic.Pointer[func(op diskOp) syscall.Errno]
}

// diskFile is one file.
type diskFile struct {
	inode   uint64
	name    string // that it had last
	mode    uint32
	data    []byte
	certain []byte
	edits   []edit // since the file was synced
}

// edit is a write, or a truncation where data is nil.
type edit struct {
	at   int
	data []byte
}

// move is a change of names.
type move func(names map[string]*diskFile)

// diskOp is what a program asks of the disk.
type diskOp struct {
	kind opKind
	file string
	size int   // of a write
	n    int64 // counts the changes of lasting files, from 1; 0 for any other
}

type opKind string

const (
	opRead     opKind = "read"
	opWrite    opKind = "write"
	opTruncate opKind = "truncate"
	opSync     opKind = "sync"
	opName     opKind = "name" // create, link, rename, unlink
	opSyncDir  opKind = "syncdir"
)

func newDisk() *disk {
	return &disk{names: map[string]*diskFile{}, certain: map[string]*diskFile{}}
}

// setFault has every operation ask f first: an error keeps it from happening
// and is the program's answer. It may block. nil ends it.
func (d *disk) setFault(f func(op diskOp) syscall.Errno) {
	if f == nil {
		d.fault.Store(nil)
		return
	}
	d.fault.Store(&f)
}

func (d *disk) ask(op diskOp) syscall.Errno {
	// The shared memory file is written whenever the kernel likes, and nobody
	// needs it after a crash: it would only blur the count.
	if op.kind != opRead && !strings.HasSuffix(op.file, "-shm") {
		op.n = d.ops.Add(1)
	}
	if f := d.fault.Load(); f != nil {
		return (*f)(op)
	}
	return 0
}

// setLies lets syncs succeed without effect.
func (d *disk) setLies(lies bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lies = lies
}

func (f *diskFile) write(at int, data []byte) {
	f.data = writeAt(f.data, at, data)
	f.edits = append(f.edits, edit{at, slices.Clone(data)})
}

func (f *diskFile) truncate(size int) {
	f.data = resize(f.data, size)
	f.edits = append(f.edits, edit{at: size})
}

func (f *diskFile) sync() {
	for _, e := range f.edits {
		f.certain = e.apply(f.certain)
	}
	f.edits = nil
}

func (e edit) apply(content []byte) []byte {
	if e.data == nil {
		return resize(content, e.at)
	}
	return writeAt(content, e.at, e.data)
}

func writeAt(content []byte, at int, data []byte) []byte {
	if end := at + len(data); end > len(content) {
		content = resize(content, end)
	}
	copy(content[at:], data)
	return content
}

func resize(content []byte, size int) []byte {
	if size <= len(content) {
		clear(content[size:])
		return content[:size]
	}
	return append(content, make([]byte, size-len(content))...)
}

// move changes names at once for programs, and some time for the disk.
func (d *disk) move(m move) {
	m(d.names)
	d.moves = append(d.moves, m)
}

func (d *disk) syncDir() {
	for _, m := range d.moves {
		m(d.certain)
	}
	d.moves = nil
}

const sectorSize = 512

// cut gives what a power cut at this moment leaves: all that is certain, and
// each sector of the rest with the given chance. Of the changes of names any
// number of the first may be there: file systems log them in order.
func (d *disk) cut(chance float64) map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := map[string]*diskFile{}
	for name, f := range d.certain {
		names[name] = f
	}
	for _, m := range d.moves {
		if rand.Float64() >= chance {
			break
		}
		m(names)
	}
	image := map[string][]byte{}
	for name, f := range names {
		content := slices.Clone(f.certain)
		for _, e := range f.edits {
			content = e.applyInPart(content, chance)
		}
		image[name] = content
	}
	return image
}

// leftover is what a power cut leaves of a disk.
type leftover struct {
	op    diskOp // that was to come next; zero: the program had ended
	image map[string][]byte
}

// cutsWhile has a command change a disk in a directory twice: the first time counts its
// changes, the second time the power is cut before n of them, with these chances for what
// isn't synced; 1 is a kill. It gives them with what is there at the end, and from how many
// they are taken: a disk has megabytes, and a command makes some hundred changes.
func cutsWhile(t *testing.T, n int, image map[string][]byte, command func(dir string), chances ...float64) (cuts []leftover, of int) {
	t.Helper()
	var mu sync.Mutex // what was in flight may still arrive
	var chosen []int
	var d *disk
	for range 2 {
		d = newDisk()
		d.load(image)
		dir := d.mount(t)
		d.setFault(func(op diskOp) syscall.Errno {
			mu.Lock()
			defer mu.Unlock()
			for i, chance := range chances {
				if slices.Contains(chosen, int(op.n-1)*len(chances)+i) {
					cuts = append(cuts, leftover{op, d.cut(chance)})
				}
			}
			return 0
		})
		command(dir)
		d.setFault(nil)
		mu.Lock()
		of = int(d.ops.Load()) * len(chances)
		chosen = sample(n, of)
		mu.Unlock()
	}
	mu.Lock()
	defer mu.Unlock()
	return append(slices.Clone(cuts), leftover{image: d.cut(1)}), of
}

func (e edit) applyInPart(content []byte, chance float64) []byte {
	if e.data == nil {
		if rand.Float64() < chance {
			content = e.apply(content)
		}
		return content
	}
	for at, rest := e.at, e.data; len(rest) > 0; {
		n := min(len(rest), sectorSize-at%sectorSize)
		if rand.Float64() < chance {
			content = writeAt(content, at, rest[:n])
		}
		at, rest = at+n, rest[n:]
	}
	return content
}

// loseUnsynced is what Linux does when a sync fails: programs go on seeing
// what they wrote, later syncs succeed, and the disk never gets it.
func (d *disk) loseUnsynced(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.names[file]; f != nil {
		f.edits = nil
	}
}

// load puts an image onto the disk before anybody uses it, for certain.
func (d *disk) load(image map[string][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, content := range image {
		f := d.newFile(name, 0o600)
		f.data, f.certain = slices.Clone(content), slices.Clone(content)
		d.names[name], d.certain[name] = f, f
	}
}

const firstInode = 2 // 1 is the directory

func (d *disk) newFile(name string, mode uint32) *diskFile {
	f := &diskFile{inode: uint64(len(d.files)) + firstInode, name: name, mode: mode}
	d.files = append(d.files, f)
	return f
}
