package dashboard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	"baoco/app"
)

// upload is the form of an import, with its file in a temporary file of its own.
type upload struct {
	fields          map[string]string
	path, name, sum string
}

func (u upload) remove() {
	if u.path != "" {
		_ = os.Remove(u.path)
	}
}

var errNoFile = app.Refused(app.CodeValidation, app.Text{EN: "Choose a file.", VI: "Hãy chọn một tệp."})

// keep copies the file of a form into a temporary file.
func (u *upload) keep(file io.Reader) error {
	temporary, err := os.CreateTemp("", "baoco-statement-*")
	if err != nil {
		return app.Unavailable(err)
	}
	sum := sha256.New()
	u.path = temporary.Name()
	_, err = io.Copy(io.MultiWriter(temporary, sum), file)
	u.sum = hex.EncodeToString(sum.Sum(nil))
	return errors.Join(err, temporary.Close())
}

// heldFiles keep, in memory, the statement file that each user sent last, so that
// it needn't be chosen again to be imported, or after a refusal.
type heldFiles struct {
	mu       sync.Mutex
	files    map[int64]heldFile // by user
	arriving map[int64]int      // uploads by user
	all      int                // uploads
}

// The bounds of uploads at a time. Each takes up to 32 MiB of the disk.
const (
	maxUploads       = 8
	maxUploadsOfUser = 2
)

var errTooManyUploads = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many files are being uploaded. Wait until one has arrived and try again.",
	VI: "Đang có quá nhiều tệp được tải lên. Hãy đợi một tệp tải xong rồi thử lại.",
})

// begin counts an upload of a user; end gives its place back. errTooManyUploads if a
// bound is reached.
func (h *heldFiles) begin(userID int64) (end func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all >= maxUploads || h.arriving[userID] >= maxUploadsOfUser {
		return nil, errTooManyUploads
	}
	if h.arriving == nil {
		h.arriving = map[int64]int{}
	}
	h.all++
	h.arriving[userID]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all--
		if h.arriving[userID]--; h.arriving[userID] == 0 {
			delete(h.arriving, userID)
		}
	}, nil
}

type heldFile struct {
	name, sum string
	data      []byte
	until     time.Time
}

// The bounds of held files. One that is too large, or for which there is no room,
// must be chosen again.
const (
	maxHeldFile  = 4 << 20
	maxHeldFiles = 16 << 20
	heldFor      = 15 * time.Minute
)

// hold keeps the file of an upload in the place of the user's last one. It reports
// whether it is kept.
func (h *heldFiles) hold(userID int64, u upload, now time.Time) bool {
	h.drop(userID)
	info, err := os.Stat(u.path)
	if err != nil || info.Size() > maxHeldFile {
		return false
	}
	data, err := os.ReadFile(u.path)
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(now)
	size := len(data)
	for _, other := range h.files {
		size += len(other.data)
	}
	if size > maxHeldFiles {
		return false
	}
	if h.files == nil {
		h.files = map[int64]heldFile{}
	}
	h.files[userID] = heldFile{u.name, u.sum, data, now.Add(heldFor)}
	time.AfterFunc(heldFor, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.end(now.Add(heldFor))
	})
	return true
}

// end forgets the files whose time is over. h.mu is held.
func (h *heldFiles) end(now time.Time) {
	maps.DeleteFunc(h.files, func(_ int64, f heldFile) bool { return !f.until.After(now) })
}

func (h *heldFiles) drop(userID int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.files, userID)
}

// find gives the file that is held for a user, if it is the one with this digest.
func (h *heldFiles) find(userID int64, sum string, now time.Time) heldFile {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(now)
	if f := h.files[userID]; f.sum == sum {
		return f
	}
	return heldFile{}
}

// takeHeld makes a held file that of the upload.
func (u *upload) takeHeld(f heldFile) error {
	switch {
	case f.data != nil:
		u.name = f.name
		return u.keep(bytes.NewReader(f.data))
	case u.fields["held"] != "":
		return app.Refused(app.CodeValidation, app.Text{
			EN: "The file is no longer kept here. Choose it again.", VI: "Tệp không còn được giữ ở đây. Hãy chọn lại tệp.",
		})
	}
	return errNoFile
}
