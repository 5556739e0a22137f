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

// upload is the form of an import, and its file as a temporary file.
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

// heldFiles keeps in memory the statement file that each user sent last, so that the user needn't
// choose it again after the preview or a refusal.
type heldFiles struct {
	mu       sync.Mutex
	files    map[int64]heldFile // by user
	arriving map[int64]int      // uploads under way, by user
	all      int                // uploads under way of all users
}

// These bound the uploads at one time. Each takes up to 32 MiB of the disk.
const (
	maxUploads       = 8
	maxUploadsOfUser = 2
)

var errTooManyUploads = app.Refused(app.CodeUnavailable, app.Text{
	EN: "Too many files are being uploaded. Wait until one has arrived and try again.",
	VI: "Đang có quá nhiều tệp được tải lên. Hãy đợi một tệp tải xong rồi thử lại.",
})

// begin counts an upload of a user, until end is called. It returns errTooManyUploads if a bound
// is reached.
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

// These bound the held files, in bytes. A file that is too large, or for which there is no room,
// must be chosen again.
const (
	maxHeldFile  = 4 << 20
	maxHeldFiles = 16 << 20
	heldFor      = 15 * time.Minute
)

// hold replaces the user's held file by the file of an upload. It reports whether the file is
// held.
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

// end drops the files whose time is over. The caller holds h.mu.
func (h *heldFiles) end(now time.Time) {
	maps.DeleteFunc(h.files, func(_ int64, f heldFile) bool { return !f.until.After(now) })
}

func (h *heldFiles) drop(userID int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.files, userID)
}

// find returns the file that is held for a user, if it has this digest.
func (h *heldFiles) find(userID int64, sum string, now time.Time) heldFile {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(now)
	if f := h.files[userID]; f.sum == sum {
		return f
	}
	return heldFile{}
}

// takeHeld makes a held file the file of the upload.
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
