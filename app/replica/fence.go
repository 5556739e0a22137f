package replica

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"time"

	"baoco/app/pattern"
)

// The fence keeps two servers from serving the same shop. Beside the replica lies one
// small object for each epoch, made exclusively: the machine that makes the next one is
// the server from then on. A server that finds an epoch above its own stops. A server
// that can't reach the place continues: a shop can skip a delivery that comes twice, but
// it doesn't know of one that never came. So no machine takes over by itself.

// Epoch is the time in which one server serves a database and writes its replica. Its
// number is in the name of its object: the machine that made the object has the epoch.
// The content is for people; the fields are empty if it can't be read.
type Epoch struct {
	Number int64     `json:"epoch"`
	Host   string    `json:"host"` // the machine that took it
	At     time.Time `json:"at"`
	Mark   string    `json:"mark"` // random: two machines may try to take the same epoch
}

// NewEpoch is an epoch that a machine wants to take.
func NewEpoch(number int64, host string, now time.Time) Epoch {
	if !hostText().MatchString(host) {
		host = "unnamed"
	}
	return Epoch{number, host, now.UTC().Truncate(time.Second), rand.Text()}
}

// ErrEpochTaken says that another server was faster.
var ErrEpochTaken = errors.New("another server has taken over at the same time")

const epochsDir = "epochs"

var epochName = pattern.Lazy(`^epochs/([0-9]{6})\.json$`)

func epochObject(number int64) string { return fmt.Sprintf("%s/%06d.json", epochsDir, number) }

// Take takes an epoch for this machine. If the place's answer was lost, the mark shows that
// the epoch is this machine's.
func (e Epoch) Take(ctx context.Context, o Objects) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	err = o.Create(ctx, epochObject(e.Number), text)
	if err == nil {
		return nil
	}
	if present, e2 := readEpoch(ctx, o, e.Number); e2 == nil {
		if present.Mark == e.Mark {
			return nil
		}
		return fmt.Errorf("%w: %s", ErrEpochTaken, present)
	}
	return fmt.Errorf("take epoch %d: %w", e.Number, err)
}

// String says who took the epoch, for people.
func (e Epoch) String() string {
	if e.Host == "" {
		return fmt.Sprintf("epoch %d was taken, and %s doesn't say by whom", e.Number, epochObject(e.Number))
	}
	return fmt.Sprintf("epoch %d was taken at %s by %s", e.Number, e.At.Format(time.RFC3339), e.Host)
}

// EpochAfter returns the epoch number+1 if it is taken: then another server has taken
// over. It makes one request.
func EpochAfter(ctx context.Context, o Objects, number int64) (e Epoch, taken bool, err error) {
	e, err = readEpoch(ctx, o, number+1)
	if errors.Is(err, fs.ErrNotExist) {
		return e, false, nil
	}
	return e, err == nil, err
}

// Newest returns the last epoch of a place; zero where it has none.
func Newest(ctx context.Context, o Objects) (e Epoch, err error) {
	list, err := o.List(ctx, epochsDir)
	if err != nil {
		return e, err
	}
	var last int64
	for _, object := range list {
		if name := epochName().FindStringSubmatch(object.Name); name != nil {
			n, _ := strconv.ParseInt(name[1], 10, 64)
			last = max(last, n)
		}
	}
	if last == 0 {
		return e, nil
	}
	return readEpoch(ctx, o, last)
}

func readEpoch(ctx context.Context, o Objects, number int64) (e Epoch, err error) {
	text, err := o.Get(ctx, epochObject(number))
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil || e.Number != number || !hostText().MatchString(e.Host) {
		return Epoch{Number: number}, nil
	}
	return e, nil
}

// Copy is what a place holds of one epoch.
type Copy struct {
	Epoch   int64
	Objects int
	Newest  time.Time // when it was last written to, by the clock of the place
}

// CopyOf looks at the copy of an epoch. Without objects there is no copy.
func CopyOf(ctx context.Context, o Objects, epoch int64) (c Copy, err error) {
	look, err := LookAt(ctx, o, epoch)
	return Copy{Epoch: epoch, Objects: len(look.objects), Newest: look.Newest}, err
}

// mostWithoutCopy is how many epochs in a row are searched for a copy.
const mostWithoutCopy = 1000

// LastCopy is the copy of the last epoch up to a number that has one.
func LastCopy(ctx context.Context, o Objects, upTo int64) (Copy, error) {
	for number := upTo; number > max(0, upTo-mostWithoutCopy); number-- {
		if c, err := CopyOf(ctx, o, number); err != nil || c.Objects > 0 {
			return c, err
		}
	}
	return Copy{}, errors.New("the place holds no copy of a database")
}

// EpochTime is when an epoch was taken by the clock of the place, which is that of its
// copies too.
func EpochTime(ctx context.Context, o Objects, number int64) (time.Time, error) {
	list, err := o.List(ctx, epochsDir)
	for _, object := range list {
		if object.Name == epochObject(number) {
			return object.Modified, nil
		}
	}
	return time.Time{}, errors.Join(err, fmt.Errorf("%s is gone", epochObject(number)))
}

// TryExclusive refuses a place where two writers can create the same object: a bucket
// whose service ignores If-None-Match. Its object stays: baoco removes no object.
func TryExclusive(ctx context.Context, o Objects, now time.Time) error {
	name := path.Join("tried", now.UTC().Format("20060102T150405Z")+"-"+rand.Text()[:8])
	if err := o.Create(ctx, name, []byte("baoco tried this place\n")); err != nil {
		return err
	}
	switch err := o.Create(ctx, name, []byte("and replaced it\n")); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return errors.New("this place lets a second writer replace an object that was made exclusively (If-None-Match), so two servers couldn't " +
		"be kept apart: use another service")
}
