package dashboard

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/web/wire"
)

type settingsData struct {
	pageParts
	SignOut confirmation

	// These are for owners.
	ShopName string // as it was entered; empty: it wasn't refused
	Status   app.AccountStatus

	// This is for the operator.
	Serve []serveFlag
}

type serveFlag struct {
	Flag  string
	Name  app.Text
	Value string
}

func (s *Server) settingsPage(v *visit) error {
	return s.showSettings(v, "", nil, nil)
}

// showSettings shows the page. wrong is why the form named refused is refused, and sent is that
// form as it was entered: password, name, or the form of a part.
func (s *Server) showSettings(v *visit, refused string, sent any, wrong error) (err error) {
	data := settingsData{pageParts: s.partsOf(v, refused, sent), SignOut: everySignOut(v)}
	if refused == "name" {
		data.ShopName, _ = sent.(string)
	}
	if v.may(ownerOnly) {
		if data.Status, err = s.Services.Ledger.AccountStatus(v.Context(), v.account.ID); err != nil {
			return err
		}
	}
	if v.operator() {
		data.Serve = s.serveFlags(v)
	}
	return s.render(v, wrong, pageHead{"settings", "settings", app.Text{EN: "Settings", VI: "Cài đặt"}}, data)
}

// serveFlags are the settings of the installation, given by flags of serve.
func (s *Server) serveFlags(v *visit) []serveFlag {
	in := s.Installation
	targets := app.Text{EN: "Public addresses only", VI: "Chỉ địa chỉ công khai"}
	if len(in.AllowTargets) > 0 {
		list := strings.Join(in.AllowTargets, ", ")
		targets = app.Textf("Public addresses and %s", "Địa chỉ công khai và %s", list)
	}
	return []serveFlag{
		{"--timezone", app.Text{EN: "Time zone", VI: "Múi giờ"}, v.zone.String()},
		{"--listen", app.Text{EN: "Listen address", VI: "Địa chỉ lắng nghe"}, in.Listen},
		{"--base-url", app.Text{EN: "Public address", VI: "Địa chỉ công khai"}, in.BaseURL},
		{"--domain", app.Text{EN: "Domain (automatic HTTPS)", VI: "Tên miền (HTTPS tự động)"}, in.Domain},
		{"--allow-target", app.Text{EN: "Allowed webhook targets", VI: "Webhook được gửi đến"}, targets.In(v.Lang)},
		{"--keep-inbound", app.Text{EN: "Inbound calls kept for", VI: "Lưu lịch sử nhận"}, keepText(v.Lang, in.Keep.Inbound)},
		{"--keep-history", app.Text{EN: "Delivery history kept for", VI: "Lưu lịch sử gửi"}, keepText(v.Lang, in.Keep.History)},
	}
}

func keepText(lang app.Lang, d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return app.Text{EN: "Forever", VI: "Mãi mãi"}.In(lang)
	case d%day == 0:
		return strconv.Itoa(int(d/day)) + app.Text{EN: " days", VI: " ngày"}.In(lang)
	}
	return d.String()
}

// changeOwnPassword checks the present password, sets the new one and ends all
// other sessions of the user.
func (s *Server) changeOwnPassword(v *visit) error {
	if !s.throttle.bySignedIn(v.user.ID, v.now) {
		return s.showSettings(v, "password", nil, errTooManyGuesses)
	}
	secret, err := repeatedPassword(v)
	var u access.User
	if err == nil {
		u, err = s.Services.Access.ChangePassword(v.Context(), v.user, v.PostFormValue("present_password"), secret, v.now)
	}
	err = s.begin(v, u, err)
	if err != nil {
		return s.showSettings(v, "password", nil, err)
	}
	return s.redirect(v, "/settings", app.Text{
		EN: "Password changed. You are signed out in your other browsers.", VI: "Đã đổi mật khẩu. Bạn đã bị đăng xuất trên các trình duyệt khác.",
	})
}

// renameShop changes the name of the account, which is on printed pages and in the titles of
// its pages.
func (s *Server) renameShop(v *visit) error {
	name := v.PostFormValue("shop_name")
	err := v.unchanged(v.account.Name)
	if err == nil {
		_, err = s.Services.Ledger.UpdateAccount(v.Context(), v.account.ID, app.AccountUpdate{Name: &name})
	}
	if err != nil {
		return s.showSettings(v, "name", name, err)
	}
	return s.redirect(v, "/settings#shop", app.Text{EN: "Saved.", VI: "Đã lưu."})
}

// everySignOut asks before the visitor is signed out of all devices, including this one.
func everySignOut(v *visit) confirmation {
	return confirmation{
		Path: "/settings/sign-out", Back: "/settings", section: "settings",
		Title: v.T("Sign out of all devices?", "Đăng xuất khỏi mọi thiết bị?"),
		Texts: []string{v.T("Every browser in which you are signed in asks for your password again, this one too.",
			"Mọi trình duyệt bạn đang đăng nhập sẽ hỏi lại mật khẩu, kể cả trình duyệt này.")},
		Button: v.T("Sign out of all devices", "Đăng xuất khỏi mọi thiết bị"),
	}
}

// signOutEverywhere ends all sessions of the user, including this one.
func (s *Server) signOutEverywhere(v *visit) error {
	if v.Method != http.MethodPost {
		return s.confirm(v, everySignOut(v))
	}
	if _, err := s.Services.Access.EndSessions(v.Context(), v.account.ID, v.user.ID); err != nil {
		return err
	}
	return s.signOut(v)
}

// switchLook stores the language or the theme that a visitor chose.
func (s *Server) switchLook(v *visit) error {
	set := func(name, value string) {
		http.SetCookie(v.w, &http.Cookie{
			Name: name, Value: value, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, Secure: wire.Secure(v.Request),
			SameSite: http.SameSiteLaxMode,
		})
	}
	switch l := v.PostFormValue("lang"); app.Lang(l) {
	case app.Vietnamese, app.English:
		set("lang", l)
	}
	switch theme := v.PostFormValue("theme"); theme {
	case "light", "dark", "auto":
		set("theme", theme)
	}
	return s.redirect(v, localPath(v.PostFormValue("back")), app.Text{})
}
