package dashboard

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/fold"
)

func userPath(id int64) string { return "/settings/users/" + strconv.FormatInt(id, 10) }

// userName derives the user name of a person's name: chihoa of "Chị Hoa". A name that is a valid
// user name is only put into lower case.
func userName(called string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._-@", r) {
			return r
		}
		return -1
	}, fold.String(called))
	return name[:min(len(name), access.MaxUserName)]
}

// sameNames is how many users may have the same derived name.
const sameNames = 9

// addUser adds a user who is called in.Name. If the derived user name is taken, it gets a number
// at its end.
func (s *Server) addUser(v *visit, in access.UserCreate) (access.User, error) {
	called := in.Name
	in.Name = userName(called)
	u, err := s.Services.Access.CreateUser(v.Context(), v.account.ID, in, v.now)
	if in.Name == strings.ToLower(strings.TrimSpace(called)) {
		return u, err
	}
	name := in.Name[:min(len(in.Name), access.MaxUserName-1)]
	for n := 2; n <= sameNames && app.CodeOf(err) == app.CodeAlreadyExists; n++ {
		in.Name = name + strconv.Itoa(n)
		u, err = s.Services.Access.CreateUser(v.Context(), v.account.ID, in, v.now)
	}
	return u, err
}

// createUser adds a user. A generated password is shown once. A password that the
// owner entered isn't shown.
func (s *Server) createUser(v *visit) error {
	in := access.UserCreate{
		Name: v.PostFormValue("name"), Role: access.ReadRole(v.PostFormValue("role")),
		Password: v.PostFormValue("password"),
		Key:      v.form.key,
	}
	generated := in.Password == ""
	if generated {
		in.Password = access.GeneratePassword()
	}
	err := s.checkPasswordForOwner(v, in.Role)
	var u access.User
	if err == nil {
		u, err = s.addUser(v, in)
	}
	if err != nil {
		return s.showSettings(v, "users", access.UserCreate{Name: in.Name, Role: in.Role}, err)
	}
	if generated {
		return s.showOnce(v, "settings", app.Textf("User %s", "Người dùng %s", u.Name), passwordPage(v, in.Password, u, "/settings"))
	}
	return s.redirect(v, "/settings", app.Textf("%s can now sign in.", "%s đã có thể đăng nhập.", u.Name))
}

var userStep = guideStep{
	Name: "user", Title: app.Text{EN: "User", VI: "Người dùng"}, To: "/settings",
	read: func(_ *Server, v *visit) (guideProgress, error) { return doneIf(v.user.Name), nil },
}

type usersPart struct {
	Users   []access.User
	Banks   []app.BankAccount
	Form    access.UserCreate // without its password
	Refused bool
}

func (s *Server) showUsersPart(v *visit, page view, sent any) (html template.HTML, err error) {
	data := usersPart{Form: access.UserCreate{Role: access.RoleCashier}}
	if form, refused := sent.(access.UserCreate); refused {
		data.Form, data.Refused = form, true
	}
	if data.Users, err = s.Services.Access.Users(v.Context(), v.account.ID); err != nil {
		return "", err
	}
	if data.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return "", err
	}
	return s.showPart(page, "settings-users", data)
}

func passwordPage(v *visit, secret string, u access.User, back string) secretPage {
	return secretPage{
		Lead: app.Textf("Give this password to %s, who can change it in Settings.",
			"Hãy gửi mật khẩu này cho %s. Người này có thể đổi lại trong phần Cài đặt.", u.Name).In(v.Lang),
		Label: app.Text{EN: "Password", VI: "Mật khẩu"}.In(v.Lang), Secret: secret, Back: back,
	}
}

type userData struct {
	Visited access.User
	Self    bool
	Remove  confirmation
	Banks   []limitChoice
	Limited string // the bank accounts of the limit; empty: no limit
	numberChoice

	Sessions []access.Session
	Passkeys []access.Passkey
}

// limitChoice is a bank account that a user may be limited to.
type limitChoice struct {
	ID     int64
	Name   string
	Chosen bool
}

// limitChoices are the linked bank accounts, and the unlinked ones that are in the limit.
func (v *visit) limitChoices(limit access.BankAccountLimit, banks []app.BankAccount) (list []limitChoice) {
	for _, b := range banks {
		list = append(list, limitChoice{b.ID, b.Title(), slices.Contains(limit.IDs, b.ID)})
	}
	for _, id := range limit.IDs {
		if bankAccount(banks, id).ID == 0 {
			list = append(list, limitChoice{id, v.unlinkedName(id), true})
		}
	}
	return list
}

// unlinkedName names a bank account that was unlinked.
func (w words) unlinkedName(id int64) string {
	return "#" + strconv.FormatInt(id, 10) + " " + w.T("(unlinked)", "(đã huỷ liên kết)")
}

// limitNamed is how many bank accounts of a limit are named at most.
const limitNamed = 3

// limitText names the bank accounts of a limit for a visitor with a role; empty: no limit.
func (w words) limitText(role access.Role, limit access.BankAccountLimit, banks []app.BankAccount) string {
	if !limit.On {
		return ""
	}
	var names []string
	for _, id := range limit.IDs[:min(len(limit.IDs), limitNamed)] {
		name := w.unlinkedName(id)
		if b := bankAccount(banks, id); b.ID != 0 {
			name = w.bankTitle(role, b)
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if more := len(limit.IDs) - limitNamed; more > 0 {
		text += " +" + strconv.Itoa(more)
	}
	text = cmp.Or(text, w.T("no bank account", "không có tài khoản nào"))
	if number := w.numberText(limit.ReceivingNumber, banks); number != "" {
		text += "; " + number
	}
	return text
}

func (v view) LimitText(limit access.BankAccountLimit, banks []app.BankAccount) string {
	return v.limitText(v.User.Role, limit, banks)
}

// limitUser limits a user to the bank accounts that were chosen, or removes the limit.
func (s *Server) limitUser(v *visit, u *access.User) error {
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	if err := v.unchanged(v.limitText(v.user.Role, u.Limit, banks), u.Limit.IDs); err != nil {
		return err
	}
	limit := access.BankAccountLimit{On: v.PostFormValue("limit") != "all", ReceivingNumber: v.PostFormValue("receiving_number")}
	if limit.IDs, err = v.chosenBankAccounts(); err != nil {
		return err
	}
	u.Limit = limit // the refused form keeps the choice
	if limit.On && len(limit.IDs) == 0 {
		return app.InvalidField("bank_account_id", "must be at least one bank account", "phải có ít nhất một tài khoản")
	}
	changed, err := s.Services.Access.LimitUser(v.Context(), v.account.ID, u.ID, limit)
	if err != nil {
		return err
	}
	if !changed.Limit.On {
		return s.redirect(v, userPath(u.ID), app.Textf("%s sees all bank accounts now.", "%s xem được mọi tài khoản.", u.Name))
	}
	return s.redirect(v, userPath(u.ID), app.Textf("%s sees only these bank accounts now: %s.", "%s chỉ xem được các tài khoản: %s.", u.Name,
		v.limitText(v.user.Role, changed.Limit, banks)))
}

func (s *Server) pageUser(v *visit) (access.User, error) {
	users, err := s.Services.Access.Users(v.Context(), v.account.ID)
	return named(v, users, err, func(u access.User) int64 { return u.ID }, access.ErrNoUser)
}

func (s *Server) showUser(v *visit, u access.User, wrong error) error {
	sessions, err := s.Services.Access.Sessions(v.Context(), v.account.ID, u.ID, s.storedToken(v), v.now)
	if err != nil {
		return err
	}
	passkeys, err := s.Services.Access.Passkeys(v.Context(), u.ID)
	if err != nil {
		return err
	}
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := userData{Visited: u, Self: u.ID == v.user.ID, Remove: s.userRemoval(v, u), Banks: v.limitChoices(u.Limit, banks),
		numberChoice: chooseNumber(u.Limit.ReceivingNumber, banks),
		Limited:      v.limitText(v.user.Role, u.Limit, banks), Sessions: sessions, Passkeys: passkeys}
	return s.render(v, wrong, pageHead{"user", "settings", app.Textf("User %s", "Người dùng %s", u.Name)}, data)
}

// errOwnPassword refuses to set the visitor's own password without the present password.
var errOwnPassword = app.Conflict("Change your own password in Settings, with your current one.",
	"Hãy đổi mật khẩu của chính bạn ở phần Cài đặt, bằng mật khẩu hiện tại.")

// setUserPassword gives another user a new password and signs them out.
func (s *Server) setUserPassword(v *visit, u *access.User) (err error) {
	secret := v.PostFormValue("password")
	generated := secret == ""
	if generated {
		secret = access.GeneratePassword()
	}
	if u.ID == v.user.ID {
		err = errOwnPassword
	} else if err = s.checkPasswordForOwner(v, u.Role); err == nil {
		_, err = s.Services.Access.SetPassword(v.Context(), *u, secret, v.form.key, v.now)
	}
	if err != nil {
		return err
	}
	if generated {
		return s.showOnce(v, "settings", app.Textf("User %s", "Người dùng %s", u.Name), passwordPage(v, secret, *u, userPath(u.ID)))
	}
	return s.redirect(v, userPath(u.ID), app.Textf("Password of %s changed; this user is signed out of all devices.",
		"Đã đổi mật khẩu của %s và đăng xuất người này khỏi mọi thiết bị.", u.Name))
}

func (s *Server) setUserRole(v *visit, u *access.User) error {
	if err := v.unchanged(u.Role); err != nil {
		return err
	}
	role := access.ReadRole(v.PostFormValue("role"))
	if u.ID == v.user.ID && role != access.RoleOwner && v.PostFormValue("sure") != "1" {
		return app.Conflict("Your role was not changed. Confirm first that you can then change nothing here any more.",
			"Chưa đổi vai trò của bạn. Hãy đánh dấu xác nhận rằng sau đó bạn không thay đổi được gì ở đây nữa.")
	}
	if err := s.checkPasswordForOwner(v, role); err != nil {
		return err
	}
	changed, err := s.Services.Access.SetRole(v.Context(), v.account.ID, u.ID, role)
	if err != nil {
		return err
	}
	name := v.In(changed.Role.Name())
	if u.ID == v.user.ID {
		if err := s.begin(v, changed, nil); err != nil { // an owner who changes their own role stays signed in
			return err
		}
		// The other page is for owners, and this user may no longer be an owner.
		return s.redirect(v, "/settings", app.Textf("Role of %s changed to %s.", "Đã đổi vai trò của %s thành %s.", u.Name, name))
	}
	return s.redirect(v, userPath(u.ID), app.Textf("Role of %s changed to %s; this user is signed out of all devices.",
		"Đã đổi vai trò của %s thành %s và đăng xuất người này khỏi mọi thiết bị.", u.Name, name))
}

func (s *Server) userRemoval(v *visit, u access.User) confirmation {
	return confirmation{
		Path: userPath(u.ID) + "/remove", Back: userPath(u.ID), section: "settings", to: "/settings",
		Title: v.T("Remove ", "Xoá người dùng ") + u.Name + "?", Button: v.T("Remove user", "Xoá người dùng"),
		Texts: []string{
			v.T("This user is signed out of all devices immediately and can no longer sign in. Nothing they created is removed.",
				"Người này bị đăng xuất khỏi mọi thiết bị ngay lập tức và không đăng nhập được nữa. Những gì họ đã tạo vẫn được giữ."),
			v.T("API keys and counter screen links keep working: revoke any that this user knows.",
				"Khoá API và đường dẫn màn hình quầy vẫn dùng được: hãy thu hồi những khoá và đường dẫn mà người này biết."),
		},
		do:   func() error { return s.Services.Access.RemoveUser(v.Context(), v.account.ID, u.ID) },
		done: app.Textf("User %s removed.", "Đã xoá người dùng %s.", u.Name),
	}
}

func (words) Roles() []access.Role { return access.Roles }

// RoleText says what somebody with a role may do.
func (w words) RoleText(role access.Role) string {
	switch role {
	case access.RoleOwner:
		return w.T("does everything", "làm được mọi việc")
	case access.RoleAccountant:
		return w.T("reads and exports the money and writes notes; changes nothing else",
			"xem và xuất số liệu tiền, viết ghi chú; ngoài ra không thay đổi gì")
	case access.RoleDeveloper:
		return w.T("sources, webhooks, deliveries and API keys; sees no sums", "lo nguồn, webhook, thông báo và khoá API; không xem tổng tiền")
	}
	return w.T("the counter screen and the money that came in today", "màn hình quầy và tiền vào hôm nay")
}

func (s *Server) endUserSession(v *visit, u access.User) error {
	return s.endSession(v, u.ID, v.PathValue("session"), userPath(u.ID))
}
