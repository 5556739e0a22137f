package dashboard

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/passkey"
	"baoco/web/wire"
)

// passkeysPath is where a user adds passkeys. The page of each passkey is below it.
const passkeysPath = signInPath + "/passkeys"

// passkeyPlace is where a visitor's browser uses passkeys, and why it can't.
type passkeyPlace struct {
	passkey.Place
	Refused app.Text
}

func placeOf(v *visit) passkeyPlace {
	place, ok := passkey.PlaceOf(wire.Origin(v.Request))
	switch {
	case ok:
		return passkeyPlace{Place: place}
	case wire.Secure(v.Request):
		return passkeyPlace{place, app.Text{
			EN: "Passkeys need a name: open this dashboard at a name such as shop.vn, not at the address of the machine.",
			VI: "Passkey cần tên miền: hãy mở trang quản lý bằng tên như shop.vn thay vì địa chỉ IP của máy.",
		}}
	}
	return passkeyPlace{place, app.Text{EN: "Passkeys need https: browsers allow none on a page whose address begins with http.",
		VI: "Passkey cần https: trình duyệt không cho dùng passkey trên trang có địa chỉ bắt đầu bằng http."}}
}

// usablePlace returns an error if passkeys can't be used at the address of the visit.
func usablePlace(v *visit) (passkey.Place, error) {
	place := placeOf(v)
	if place.Refused.EN != "" {
		return place.Place, app.Refused(app.CodeConflict, place.Refused)
	}
	return place.Place, nil
}

// passkeyPace bounds the work that strangers cause. It needn't bound guesses, since nobody can
// guess a passkey: others can't lock a user out.
var passkeyPace = wire.Pace{Burst: 60, PerMinute: 60}

// passkeyVisit returns where a passkey is used, and the user of a halfway session; zero if the
// session isn't halfway.
func (s *Server) passkeyVisit(v *visit) (place passkey.Place, u access.User, err error) {
	if place, err = usablePlace(v); err != nil {
		return place, u, err
	}
	if _, _, may := s.throttle.passkeys.Take(s.Client(v.Request), passkeyPace, v.now); !may {
		return place, u, errTooManyGuesses
	}
	u, err = s.halfway(v)
	return place, u, err
}

func (s *Server) passkeyOptions(v *visit) error {
	place, u, err := s.passkeyVisit(v)
	if err != nil {
		return err
	}
	options, err := s.Services.Access.PasskeyOptions(v.Context(), u, place, v.now)
	return writeOptions(v, options, err)
}

func writeOptions(v *visit, options any, err error) error {
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(v.w).Encode(options)
}

// signInPasskey signs in the user of the passkey that the browser has used, instead of a name and
// password or after them.
func (s *Server) signInPasskey(v *visit) error {
	form := signInForm{Back: localPath(v.PostFormValue("back")), Unsaved: v.PostFormValue("unsaved") == "1"}
	place, halfway, err := s.passkeyVisit(v)
	if halfway.ID != 0 {
		form = s.halfwayForm(v)
	}
	if err == nil {
		u, refused := s.Services.Access.SignInPasskey(v.Context(), halfway, place, v.PostFormValue("answer"), v.now)
		err = s.begin(v, u, refused)
	}
	switch {
	case err == nil:
		return s.redirect(v, form.Back, form.flash())
	case halfway.ID != 0:
		return s.showCode(v, halfway, err)
	}
	return s.showSignIn(v, form, err)
}

func (s *Server) newPasskeyOptions(v *visit) error {
	place, err := usablePlace(v)
	if err != nil {
		return err
	}
	options, err := s.Services.Access.NewPasskeyOptions(v.Context(), v.user, place, v.now)
	return writeOptions(v, options, err)
}

func (s *Server) addPasskey(v *visit) error {
	var codes []string
	name := strings.TrimSpace(v.PostFormValue("name"))
	in := access.PasskeyCreate{Name: cmp.Or(name, v.Browser(v.UserAgent())), Answer: v.PostFormValue("answer"), Key: v.form.key}
	place, err := usablePlace(v)
	if err == nil {
		err = s.withPassword(v, func(present string) error {
			in.Place, in.Present = place, present
			u, made, err := s.Services.Access.AddPasskey(v.Context(), v.user, in, v.now)
			codes = made
			return s.begin(v, u, err)
		})
	}
	if err != nil {
		return s.showSignInSettings(v, signInData{Refused: "passkey", Name: name}, err)
	}
	if codes == nil {
		return s.redirect(v, signInPath, app.Text{EN: "Passkey added.", VI: "Đã thêm passkey."})
	}
	v.user.SecondFactor, v.user.MustEnrol = true, false
	return s.showRecoveryCodes(v, codes)
}

type passkeyData struct {
	Refused string // the form that was refused
	Passkey access.Passkey
	Place   passkeyPlace
}

func passkeyPath(id int64) string { return passkeysPath + "/" + strconv.FormatInt(id, 10) }

func (s *Server) pagePasskey(v *visit) (access.Passkey, error) {
	list, err := s.Services.Access.Passkeys(v.Context(), v.user.ID)
	return named(v, list, err, func(p access.Passkey) int64 { return p.ID }, access.ErrNoPasskey)
}

func (s *Server) showPasskey(v *visit, refused string, wrong error) error {
	p, err := s.pagePasskey(v)
	if err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"passkey", "settings", app.Text{EN: "Passkey", VI: "Passkey"}}, passkeyData{refused, p, placeOf(v)})
}

func (s *Server) renamePasskey(v *visit) error {
	if err := s.Services.Access.RenamePasskey(v.Context(), v.user, v.pathID(), v.PostFormValue("name")); err != nil {
		return s.showPasskey(v, "name", err)
	}
	return s.redirect(v, passkeyPath(v.pathID()), app.Text{EN: "Name saved.", VI: "Đã lưu tên."})
}

func (s *Server) removePasskey(v *visit) error {
	err := s.withPassword(v, func(present string) error {
		u, err := s.Services.Access.EndPasskey(v.Context(), v.user, v.pathID(), present)
		return s.begin(v, u, err)
	})
	if err != nil {
		return s.showPasskey(v, "remove", err)
	}
	return s.redirect(v, signInPath, app.Text{EN: "Passkey removed.", VI: "Đã xoá passkey."})
}
