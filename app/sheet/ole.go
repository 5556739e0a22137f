package sheet

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"
)

// sectors are the sectors of one size in an OLE container ([MS-CFB]), in which Excel 97 keeps a
// workbook, with the number of the next sector for each: a stream is a chain of sectors.
//
// baoco reads them itself, since the library for Go (mscfb) panics on a container without names, and
// a file of 512 bytes can make it take any amount of memory.
type sectors struct {
	data []byte
	size int
	next []byte
}

const (
	smallStream = 4096 // bytes; a smaller one is a chain of smaller sectors, within another stream
	dirEntry    = 128  // bytes
	lastSector  = 0xFFFFFFFE
	noSector    = 0xFFFFFFFF
)

var (
	errChain = errors.New("a chain of sectors that leads out of the file or in a circle")
	little   = binary.LittleEndian
)

// readOLE returns the first of these names, in lower case, that a stream of the container has, and
// the stream; empty: no stream has one. The streams of documents within the container don't count.
func readOLE(file []byte, names ...string) (name string, stream []byte, err error) {
	if len(file) < 512 || little.Uint16(file[30:]) != 9 && little.Uint16(file[30:]) != 12 {
		return "", nil, errChain
	}
	field := func(at int) uint32 { return little.Uint32(file[at:]) }
	s := sectors{size: 1 << little.Uint16(file[30:])}
	s.data = file[min(s.size, len(file)):]
	if s.next, err = s.readNext(file[76:512], field(68)); err != nil {
		return "", nil, err
	}
	dir, err := s.chain(field(48))
	if err != nil || len(dir) == 0 {
		return "", nil, errChain
	}
	best, entry := len(names), dir
	ids := []uint32{little.Uint32(dir[76:])} // entries still to visit in the tree of names of the root
	for left := len(dir) / dirEntry; len(ids) > 0; {
		id := ids[0]
		if ids = ids[1:]; id == noSector {
			continue
		}
		if left--; left < 0 || id >= uint32(len(dir)/dirEntry) {
			return "", nil, errChain
		}
		e := dir[id*dirEntry:][:dirEntry]
		ids = append(ids, little.Uint32(e[68:]), little.Uint32(e[72:]))
		if i := slices.Index(names, oleName(e)); e[66] == 2 && i >= 0 && i < best {
			best, entry = i, e
		}
	}
	if best == len(names) {
		return "", nil, nil
	}
	begin, size := little.Uint32(entry[116:]), little.Uint32(entry[120:])
	if size < smallStream {
		small := sectors{size: 64}
		if small.next, err = s.chain(field(60)); err == nil {
			small.data, err = s.chain(little.Uint32(dir[116:]))
		}
		s = small
	}
	if err == nil {
		stream, err = s.chain(begin)
	}
	if err != nil || uint64(len(stream)) < uint64(size) {
		return "", nil, errChain
	}
	return names[best], stream[:size], nil
}

func oleName(entry []byte) string {
	var name []uint16
	for i := 0; i < 64 && little.Uint16(entry[i:]) != 0; i += 2 {
		name = append(name, little.Uint16(entry[i:]))
	}
	return strings.ToLower(string(utf16.Decode(name)))
}

// readNext joins the sectors that hold the numbers of next sectors. list is the beginning of the list of
// these sectors. Its rest is in sectors from more on, each of which ends with the number of the next one.
func (s sectors) readNext(list []byte, more uint32) (next []byte, err error) {
	for range len(s.data)/s.size + 1 {
		for ; len(list) >= 4; list = list[4:] {
			if id := little.Uint32(list); id != noSector {
				part := s.sector(id)
				if next = append(next, part...); part == nil || len(next) > len(s.data) {
					return nil, errChain
				}
			}
		}
		if more >= lastSector {
			return next, nil
		}
		if list = s.sector(more); list == nil {
			break
		}
		more, list = little.Uint32(list[s.size-4:]), list[:s.size-4]
	}
	return nil, errChain
}

// sector returns sector id; nil: the file has no such sector.
func (s sectors) sector(id uint32) []byte {
	if id >= uint32(len(s.data)/s.size) {
		return nil
	}
	return s.data[int(id)*s.size:][:s.size]
}

// chain joins sectors from the first one to the last one.
func (s sectors) chain(id uint32) (joined []byte, err error) {
	for id != lastSector {
		part := s.sector(id)
		if joined = append(joined, part...); part == nil || int(id)*4+4 > len(s.next) || len(joined) > len(s.data) {
			return nil, errChain
		}
		id = little.Uint32(s.next[id*4:])
	}
	return joined, nil
}
