package sheet

import (
	"math"
	"unicode/utf16"
)

// records reads the records of a workbook from one on. After an error, all that is read is zero.
type records struct {
	book *oldWorkbook
	at   int    // where the next record begins
	body []byte // what wasn't read yet of the present record
	err  error
}

// next goes to the next record and returns what it is.
func (r *records) next() int {
	r.body = nil
	if rest := r.book.stream[min(r.at, len(r.book.stream)):]; r.err == nil && len(rest) >= 4 {
		id, end := int(little.Uint16(rest)), 4+int(little.Uint16(rest[2:]))
		r.at, r.book.read = r.at+end, r.book.read+end
		if end <= len(rest) && r.book.read <= 4*len(r.book.stream) { // sheets, which are read twice, may not overlap
			r.body = rest[4:end]
			return id
		}
	}
	r.fail(errRecord)
	return -1
}

func (r *records) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// take returns the next n bytes of the record, and zeros where it has fewer.
func (r *records) take(n int) (part []byte) {
	if n > len(r.body) || r.err != nil {
		r.fail(errRecord)
		return make([]byte, n)
	}
	part, r.body = r.body[:n], r.body[n:]
	return part
}

func (r *records) u8() int     { return int(r.take(1)[0]) }
func (r *records) u16() int    { return int(little.Uint16(r.take(2))) }
func (r *records) u32() uint32 { return little.Uint32(r.take(4)) }

// fill goes on in the record that continues this one, where this one is read to its end.
func (r *records) fill() (continued bool) {
	for len(r.body) == 0 && r.err == nil {
		if continued = true; r.next() != recordContinue {
			r.fail(errRecord)
		}
	}
	return continued
}

// text reads a text of n characters.
func (r *records) text(n int) string {
	if letters := r.book.letters; letters != nil {
		text, err := letters.NewDecoder().Bytes(r.take(n))
		r.fail(err)
		return string(text)
	}
	flags, skip := r.u8(), int64(0)
	if flags&8 != 0 { // in several fonts
		skip = int64(r.u16()) * 4
	}
	if flags&4 != 0 { // with its pronunciation
		skip += int64(r.u32())
	}
	var units []uint16
	for wide := flags&1 != 0; len(units) < n && r.err == nil; {
		switch {
		case r.fill():
			wide = r.u8()&1 != 0
		case wide:
			units = append(units, uint16(r.u16()))
		default:
			units = append(units, uint16(r.u8()))
		}
	}
	for skip > 0 && r.err == nil {
		r.fill()
		part := min(skip, int64(len(r.body)))
		r.body, skip = r.body[part:], skip-part
	}
	return string(utf16.Decode(units))
}

// rk is a number in 30 bits: an integer, or the beginning of one with a fraction; perhaps of 100
// times the value.
func rk(n uint32) float64 {
	value := math.Float64frombits(uint64(n&^3) << 32)
	if n&2 != 0 {
		value = float64(int32(n) >> 2)
	}
	if n&1 != 0 {
		value /= 100
	}
	return value
}
