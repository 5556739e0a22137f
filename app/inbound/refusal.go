package inbound

import (
	"context"
	"time"

	"baoco/app"
)

// RefusalCode says which part of a call didn't authenticate, or why its body
// wasn't read.
type RefusalCode string

const (
	RefusalUnknownSource RefusalCode = "unknown_source"  // neither path nor credential names one
	RefusalMissing       RefusalCode = "missing"         // a header or field is missing
	RefusalRepeated      RefusalCode = "repeated"        // a header or field comes twice
	RefusalMalformed     RefusalCode = "malformed"       // a header or field has the wrong form
	RefusalTime          RefusalCode = "wrong_time"      // the time is outside the window
	RefusalKey           RefusalCode = "wrong_key"       // the credential is wrong
	RefusalBody          RefusalCode = "body_altered"    // the signature is that of another body
	RefusalSignature     RefusalCode = "wrong_signature" // the key or the body is another one
	RefusalTooLarge      RefusalCode = "too_large"       // the body is larger than is read
	RefusalBusy          RefusalCode = "busy"            // too many large bodies arrive at once
)

// Refusal is why a call was refused, for the operator only: the answer to a
// caller who doesn't authenticate is always the same. The zero value refuses nothing. It
// never holds a credential.
type Refusal struct {
	Code RefusalCode
	Text app.Text
}

// LikelyCause is a sentence on what to look at first.
func (r Refusal) LikelyCause() app.Text {
	if r.Code == RefusalTooLarge || r.Code == RefusalBusy {
		return r.Text
	}
	return app.Text{EN: "The secret entered at the provider may be wrong.", VI: "Có thể khoá bí mật nhập bên nhà cung cấp bị sai."}
}

// RefusedCall is a call that didn't authenticate or was too large.
type RefusedCall struct {
	ID         int64
	SourceID   int64 // 0: no source was named
	SourceName string
	ReceivedAt time.Time
	Remote     string
	Refusal
}

// KeptRefusedCalls is how many refused calls are kept, of all accounts.
const KeptRefusedCalls = 200

// RefusedCalls lists refused calls, newest first. Calls that named no source
// can be anybody's; only the operator's account sees them.
func (s *Service) RefusedCalls(ctx context.Context, accountID, sourceID int64, limit int) ([]RefusedCall, error) {
	return s.store.RefusedCalls(ctx, accountID, sourceID, accountID == app.DefaultAccountID && sourceID == 0, limit)
}

// RefusedCall finds one of those that RefusedCalls lists.
func (s *Service) RefusedCall(ctx context.Context, accountID, id int64) (RefusedCall, error) {
	list, err := s.RefusedCalls(ctx, accountID, 0, KeptRefusedCalls)
	return app.Find(list, err, func(c RefusedCall) bool { return c.ID == id }, ErrNoRefusedCall)
}

// ErrNoRefusedCall says that an id names no refused call.
var ErrNoRefusedCall error = app.NotFound("There is no refused call with this id.", "Không có lần gọi bị từ chối với id này.")
