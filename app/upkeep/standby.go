package upkeep

import (
	"time"

	"baoco/app"
)

// A standby is a machine that follows the replica of a server: it shows the copy, and
// accepts, changes and sends nothing.

// Standby is what a standby knows of itself.
type Standby struct {
	Copied bool // there is a copy to show
	// At is as how the copy shows the shop, by the clock of this machine; zero: the
	// server has never written a beat.
	At      time.Time
	Problem app.Text // why it doesn't follow; zero: it does
	Key     app.Text // why a takeover of this machine would lack the key; zero: it wouldn't
}

// Age is how old the copy is.
func (s Standby) Age(now time.Time) time.Duration { return max(0, now.Sub(s.At)) }

// silentServer is for how long a server that lives may write nothing: a beat comes every
// minute.
const silentServer = 2 * time.Minute

// Old reports whether a server that lives would have written something since.
func (s Standby) Old(now time.Time) bool { return !s.At.IsZero() && s.Age(now) > silentServer }

// Problems are what somebody should know who looks at it.
func (s Standby) Problems(now time.Time) (list []app.Text) {
	minutes := int(s.Age(now) / time.Minute)
	switch {
	case s.Problem != app.Text{}:
		list = append(list, s.Problem)
	case s.Old(now):
		list = append(list, app.Textf(
			"The server has written nothing for %d minutes. If it is lost, let this machine serve in its place: baoco takeover.",
			"Máy chủ đã %d phút không ghi gì. Nếu máy chủ đã hỏng, hãy cho máy này tiếp quản: baoco takeover.", minutes))
	}
	if s.Key != (app.Text{}) {
		list = append(list, s.Key)
	}
	return list
}

// Refusal answers what only a server answers. Programs try again later, or elsewhere.
func (s Standby) Refusal(now time.Time) error {
	text := app.Text{EN: "This is a standby, not the server: it accepts nothing.", VI: "Đây là máy dự phòng, không phải máy chủ: không nhận gì cả."}
	if s.Copied && !s.At.IsZero() {
		age := app.Textf(" Its copy is %d seconds old.", " Bản sao của nó đã cũ %d giây.", int(s.Age(now)/time.Second))
		text = app.Text{EN: text.EN + age.EN, VI: text.VI + age.VI}
	}
	for _, problem := range s.Problems(now) {
		text = app.Text{EN: text.EN + " " + problem.EN, VI: text.VI + " " + problem.VI}
	}
	return app.Refused(app.CodeUnavailable, text)
}

// ErrStandby refuses a change in a standby.
var ErrStandby error = app.Refused(app.CodeConflict, app.Text{
	EN: "This is a standby: it shows a copy, and nothing can be changed, sent or exported here. Do that on the server. If the server is lost, let this machine serve in its place: baoco takeover.",
	VI: "Đây là máy dự phòng, chỉ để xem: không thay đổi, gửi hay xuất dữ liệu ở đây được. Hãy làm việc đó trên máy chủ. Nếu máy chủ đã hỏng, hãy cho máy này tiếp quản: baoco takeover.",
})
