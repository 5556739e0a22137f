package dashboard

import (
	"net/url"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/payment"
)

func shiftPath(id int64) string { return "/shifts/" + strconv.FormatInt(id, 10) }

type shiftsData struct {
	Pages pages
	Rows  []payment.Shift
}

// shiftsPage lists all shifts, or the visitor's own shifts: see seesShifts.
func (s *Server) shiftsPage(v *visit) error {
	page := pageOf(v)
	userID := v.user.ID
	if v.seesShifts() {
		userID = 0
	}
	rows, total, err := s.Services.Payments.Shifts(v.Context(), v.account.ID, userID, page)
	data := shiftsData{Pages: pagesOf(page, total, url.Values{}, "/shifts"), Rows: rows}
	return s.render(v, err, pageHead{"shifts", "till", app.Text{EN: "Shifts", VI: "Các ca"}}, data)
}

// seesShifts reports whether the visitor sees the shifts of all cashiers.
func (v *visit) seesShifts() bool { return v.may(seeMoney) && !v.user.Limit.On }

// shiftData is the page of a shift, with its sums, or the form that closes it.
type shiftData struct {
	payment.Shift
	Closing  payment.Closing
	Open     []payment.ClosingBill
	MayClose bool
	Form     shiftForm
}

// shiftForm is the form that closes a shift, as it was entered.
type shiftForm struct{ Cash, Note string }

// Later is the money that came after the shift was closed, in VND.
func (d shiftData) Later() int64 {
	if d.ClosedAt.IsZero() {
		return 0
	}
	return d.Received - d.ReceivedAtClosing
}

// pageShift is the shift that the path names, if the visitor sees it.
func (s *Server) pageShift(v *visit) (shiftData, error) {
	shift, err := s.Services.Payments.Shift(v.Context(), v.account.ID, v.pathID())
	if err == nil && shift.UserID != v.user.ID && !v.seesShifts() {
		err = payment.ErrNoShift
	}
	return shiftData{Shift: shift}, err
}

// mayClose reports whether the visitor may close a shift: their own, or any if they are an owner.
func (v *visit) mayClose(shift payment.Shift) bool {
	return shift.UserID == v.user.ID || v.may(ownerOnly)
}

func (s *Server) showShift(v *visit, data shiftData, wrong error) (err error) {
	data.MayClose = data.ClosedAt.IsZero() && v.mayClose(data.Shift)
	if data.Closing, err = s.Services.Payments.ShiftClosing(v.Context(), v.account.ID, data.ID, v.now); err != nil {
		return err
	}
	data.Open = data.Closing.OpenBills()
	title := app.Textf("Shift of %s", "Ca của %s", app.Isolated(data.UserName))
	if v.URL.Query().Get("paper") == "58" && wrong == nil {
		return s.writeSlip(v, "shift-slip", s.view(v, "till", title, data))
	}
	return s.render(v, wrong, pageHead{"shift", "till", title}, data)
}

func (s *Server) closeShift(v *visit) error {
	data, err := s.pageShift(v)
	if err == nil && !v.mayClose(data.Shift) {
		err = payment.ErrNoShift
	}
	if err != nil {
		return err
	}
	data.Form = shiftForm{strings.TrimSpace(v.PostFormValue("cash")), v.PostFormValue("note")}
	in := payment.ShiftCount{Note: data.Form.Note}
	var bad app.Invalid
	if data.Form.Cash != "" {
		in.Cash = new(app.ReadShortAmountBound("cash", data.Form.Cash, true, &bad))
	}
	if err = bad.Err(); err == nil {
		err = s.Services.Payments.CloseShift(v.Context(), v.account.ID, data.ID, in, v.now)
	}
	if err != nil {
		return s.showShift(v, data, err)
	}
	return s.redirect(v, shiftPath(data.ID), app.Text{EN: "Shift closed.", VI: "Đã đóng ca."})
}
