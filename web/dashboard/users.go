package dashboard

import (
	"strconv"
	"strings"

	"baoco/app"
)

func userPath(id int64) string { return "/settings/users/" + strconv.FormatInt(id, 10) }

// createUser adds a user. A generated password is shown once. A password that the
// owner entered isn't shown.
func (s *Server) createUser(v *visit) error {
	in := app.UserCreate{
		Name: strings.ToLower(strings.TrimSpace(v.PostFormValue("name"))), Role: app.ReadRole(v.PostFormValue("role")), Password: v.PostFormValue("password"),
		Key: v.form.key,
	}
	generated := in.Password == ""
	if generated {
		in.Password = app.GeneratePassword()
	}
	u, err := s.Service.CreateUser(v.Context(), v.account.ID, in, v.now)
	if err != nil {
		return s.showSettings(v, settingsData{Refused: "users", UserForm: app.UserCreate{Name: in.Name, Role: in.Role}}, err)
	}
	if generated {
		return s.showOnce(v, "settings", app.Textf("User %s", "Người dùng %s", u.Name), passwordPage(v, in.Password, u, "/settings"))
	}
	return s.redirect(v, "/settings", app.Textf("%s can now sign in.", "%s đã có thể đăng nhập.", u.Name))
}

func passwordPage(v *visit, secret string, u app.User, back string) secretPage {
	return secretPage{
		Lead:  app.Textf("Give this password to %s, who can change it in Settings.", "Hãy gửi mật khẩu này cho %s. Người này có thể đổi lại trong phần Cài đặt.", u.Name).In(v.Lang),
		Label: app.Text{EN: "Password", VI: "Mật khẩu"}.In(v.Lang), Secret: secret, Back: back,
	}
}

type userData struct {
	Visited app.User
	Self    bool
	Remove  confirmation

	Sessions []app.Session
}

// pageUser finds the user that the path names.
func (s *Server) pageUser(v *visit) (app.User, error) {
	users, err := s.Service.Users(v.Context(), v.account.ID)
	return named(v, users, err, func(u app.User) int64 { return u.ID }, app.ErrNoUser)
}

func (s *Server) userPage(v *visit) error {
	u, err := s.pageUser(v)
	if err != nil {
		return err
	}
	return s.showUser(v, u, nil)
}

func (s *Server) showUser(v *visit, u app.User, wrong error) error {
	sessions, err := s.Service.Sessions(v.Context(), v.account.ID, u.ID, s.storedToken(v), v.now)
	if err != nil {
		return err
	}
	data := userData{Visited: u, Self: u.ID == v.user.ID, Remove: s.userRemoval(v, u), Sessions: sessions}
	return s.renderForm(v, wrong, "user", "settings", app.Textf("User %s", "Người dùng %s", u.Name), data)
}

// setUserPassword gives a user a new password and signs them out.
func (s *Server) setUserPassword(v *visit) error {
	u, err := s.pageUser(v)
	if err != nil {
		return err
	}
	secret := v.PostFormValue("password")
	generated := secret == ""
	if generated {
		secret = app.GeneratePassword()
	}
	changed, err := s.Service.SetPassword(v.Context(), v.account.ID, u.ID, secret, v.form.key, v.now)
	if err == nil && u.ID == v.user.ID {
		err = s.begin(v, changed) // an owner who sets their own stays signed in
	}
	if err != nil {
		return s.showUser(v, u, err)
	}
	if generated {
		return s.showOnce(v, "settings", app.Textf("User %s", "Người dùng %s", u.Name), passwordPage(v, secret, u, userPath(u.ID)))
	}
	return s.redirect(v, userPath(u.ID), app.Textf("Password of %s changed; this user is signed out of all devices.", "Đã đổi mật khẩu của %s và đăng xuất người này khỏi mọi thiết bị.", u.Name))
}

func (s *Server) setUserRole(v *visit) error {
	u, err := s.pageUser(v)
	if err != nil {
		return err
	}
	if err := v.unchanged(u.Role); err != nil {
		return s.showUser(v, u, err)
	}
	role := app.ReadRole(v.PostFormValue("role"))
	if u.ID == v.user.ID && role != app.RoleOwner && v.PostFormValue("sure") != "1" {
		return s.showUser(v, u, app.Refused(app.CodeConflict, app.Text{
			EN: "Your role was not changed. Confirm first that you can then change nothing here any more.",
			VI: "Chưa đổi vai trò của bạn. Hãy đánh dấu xác nhận rằng sau đó bạn không thay đổi được gì ở đây nữa.",
		}))
	}
	changed, err := s.Service.SetRole(v.Context(), v.account.ID, u.ID, role)
	if err != nil {
		return s.showUser(v, u, err)
	}
	name := v.RoleName(changed.Role)
	if u.ID == v.user.ID {
		if err := s.begin(v, changed); err != nil { // an owner who changes their own stays signed in
			return err
		}
		// The other page is for owners, and this user may be none any more.
		return s.redirect(v, "/settings", app.Textf("Role of %s changed to %s.", "Đã đổi vai trò của %s thành %s.", u.Name, name))
	}
	return s.redirect(v, userPath(u.ID), app.Textf("Role of %s changed to %s; this user is signed out of all devices.",
		"Đã đổi vai trò của %s thành %s và đăng xuất người này khỏi mọi thiết bị.", u.Name, name))
}

// userRemoval removes a user.
func (s *Server) userRemoval(v *visit, u app.User) confirmation {
	return confirmation{
		Path: userPath(u.ID) + "/remove", Back: userPath(u.ID), to: "/settings",
		Title: v.T("Remove ", "Xoá người dùng ") + u.Name + "?", Button: v.T("Remove user", "Xoá người dùng"),
		Texts: []string{
			v.T("This user is signed out of all devices immediately and can no longer sign in. Nothing they created is removed.",
				"Người này bị đăng xuất khỏi mọi thiết bị ngay lập tức và không đăng nhập được nữa. Những gì họ đã tạo vẫn được giữ."),
			v.T("API keys and counter screen links keep working: revoke any that this user knows.",
				"Khoá API và đường dẫn màn hình quầy vẫn dùng được: hãy thu hồi những khoá và đường dẫn mà người này biết."),
		},
		do:   func() error { return s.Service.RemoveUser(v.Context(), v.account.ID, u.ID) },
		done: app.Textf("User %s removed.", "Đã xoá người dùng %s.", u.Name),
	}
}

func (s *Server) removeUser(v *visit) error {
	u, err := s.pageUser(v)
	if err != nil {
		return err
	}
	return s.confirm(v, "settings", s.userRemoval(v, u))
}

// Roles are for templates.
func (words) Roles() []app.Role { return app.Roles }

// RoleName names a role.
func (w words) RoleName(role app.Role) string { return role.Name().In(w.Lang) }

// RoleText says what somebody with a role may do.
func (w words) RoleText(role app.Role) string {
	switch role {
	case app.RoleOwner:
		return w.T("does everything", "làm được mọi việc")
	case app.RoleAccountant:
		return w.T("reads and exports the money and writes notes; changes nothing else", "xem và xuất số liệu tiền, viết ghi chú; ngoài ra không thay đổi gì")
	case app.RoleDeveloper:
		return w.T("sources, webhooks, deliveries and API keys; sees no sums", "lo nguồn, webhook, thông báo và khoá API; không xem tổng tiền")
	}
	return w.T("the counter screen and the money that came in today", "màn hình quầy và tiền vào hôm nay")
}
