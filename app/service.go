package app

import (
	"slices"
	"time"
)

// Service is the use cases of the ledger. It is safe for concurrent use.
type Service struct {
	Records
	store Store
	zone  *time.Location
}

// NewService makes the use cases over a store.
func NewService(store Store, zone *time.Location) *Service {
	return &Service{Records: store, store: store, zone: zone}
}

// Zone is the zone of every Y-m-d H:i:s.
func (s *Service) Zone() *time.Location { return s.zone }

// Find gives the first member of a list that is the wanted one, or the error
// that there is none. err is the error of reading the list.
func Find[T any](list []T, err error, wanted func(T) bool, none error) (T, error) {
	i := slices.IndexFunc(list, wanted)
	if err == nil && i < 0 {
		err = none
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return list[i], nil
}

// IdempotencyKey makes a request safe to repeat within IdempotencyWindow: the
// same key and hash give the first result again, another hash is a conflict.
// The zero value is no key.
type IdempotencyKey struct {
	Key       string
	Operation string
	Hash      [32]byte
}

// IdempotencyWindow is how long a key is remembered.
const IdempotencyWindow = 24 * time.Hour

// ErrIdempotencyReused refuses a key that came with another request before.
var ErrIdempotencyReused error = Refused(CodeConflict, Text{
	"This Idempotency-Key was used with another request.",
	"Idempotency-Key này đã được dùng với một yêu cầu khác.",
})

// ErrSameName refuses a name that another one in use has. The form can be sent again
// as it is.
var ErrSameName = InvalidField("name",
	"is that of another one in use. Change it, so that you can tell the two apart, or send the form again to keep it",
	"đang được dùng cho một mục khác. Hãy đổi tên để dễ phân biệt, hoặc bấm lần nữa nếu vẫn muốn dùng tên này")

// ErrFormUsed refuses a form of the dashboard that was sent before. A page that
// shows a secret must not make a second one because a browser sends its form
// again.
var ErrFormUsed = Refused(CodeConflict, Text{
	"This form was already submitted, so nothing was done again. Secrets are shown only once.",
	"Biểu mẫu này đã được gửi trước đó nên không thực hiện lại. Nội dung chỉ hiển thị một lần sẽ không hiện lại.",
})
