package dashboard

import (
	"html/template"
	"slices"

	"baoco/app"
	"baoco/app/access"
)

// place is an entry of the navigation: a link to a page.
type place struct {
	Section  string // the pages of this section mark the entry
	To, Icon string
	Name     app.Text
	takes    permission // the permission of the page at To
	operator bool       // only the operator sees it
}

type placeView struct {
	To, Name string
	Here     bool
	Icon     template.HTML
}

func (v view) Place(p place) placeView {
	return placeView{p.To, p.Name.In(v.Lang), p.Section == v.Section, v.Icon(p.Icon)}
}

// placeGroup is a group of the navigation.
type placeGroup struct {
	ID     string
	Name   app.Text
	Places []place
}

// navigation has all places; a user sees the places that the role permits.
var navigation = []placeGroup{
	{"money", app.Text{EN: "Money", VI: "Tiền"}, []place{
		{"overview", "/", "layout-dashboard", app.Text{EN: "Overview", VI: "Tổng quan"}, anyUser, false},
		{"transactions", "/transactions", "arrow-left-right", app.Text{EN: "Transactions", VI: "Giao dịch"}, anyUser, false},
		{"till", "/till", "qr-code", app.Text{EN: "Till", VI: "Thu tiền"}, useTill, false},
		{"payments", "/payments", "circle-check", app.Text{EN: "Payment requests", VI: "Yêu cầu thanh toán"}, seeMoney, false},
		{"day", "/day", "clock", app.Text{EN: "Day book", VI: "Sổ ngày"}, seeMoney, false},
		{"book", "/book", "pencil", app.Text{EN: "Books", VI: "Sổ sách"}, seeMoney, false},
		{"banks", "/banks", "landmark", app.Text{EN: "Bank accounts", VI: "Tài khoản ngân hàng"}, seeMoney, false},
		{"counter", "/counter", "volume-2", app.Text{EN: "Counter screen", VI: "Màn hình quầy"}, useCounter, false},
	}},
	{"connections", app.Text{EN: "Connections", VI: "Kết nối"}, []place{
		{"inbound", "/inbound", "inbox", app.Text{EN: "Sources", VI: "Nguồn giao dịch"}, connect, false},
		{"webhooks", "/webhooks", "webhook", app.Text{EN: "Webhooks", VI: "Webhook"}, connect, false},
		{"deliveries", "/deliveries", "history", app.Text{EN: "Delivery history", VI: "Lịch sử gửi"}, connect, false},
		{"keys", "/keys", "key-round", app.Text{EN: "API keys", VI: "Khoá API"}, connect, false},
	}},
	{"administration", app.Text{EN: "Administration", VI: "Quản trị"}, []place{
		{"settings", "/settings", "settings", app.Text{EN: "Settings", VI: "Cài đặt"}, anyUser, false},
		{"system", "/system", "activity", app.Text{EN: "System", VI: "Hệ thống"}, ownerOnly, true},
		{"help", "/help", "circle-question-mark", app.Text{EN: "Help", VI: "Hướng dẫn"}, anyUser, false},
	}},
}

// onBar has the three places that each role needs most, for the bar at the bottom of a phone.
var onBar = map[access.Role][]string{
	access.RoleOwner:      {"overview", "transactions", "till"},
	access.RoleAccountant: {"overview", "transactions", "day"},
	access.RoleDeveloper:  {"overview", "webhooks", "deliveries"},
	access.RoleCashier:    {"overview", "till", "counter"},
}

// Navigation is the navigation of the visitor, and Bar are its places on the bar.
func (v view) Navigation() (groups []placeGroup) {
	for _, group := range navigation {
		group.Places = slices.DeleteFunc(slices.Clone(group.Places), func(p place) bool {
			return !may(v.User.Role, p.takes) || p.operator && !v.Operator
		})
		if len(group.Places) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

func (v view) Bar() (places []place) {
	for _, group := range v.Navigation() {
		for _, p := range group.Places {
			if slices.Contains(onBar[v.User.Role], p.Section) {
				places = append(places, p)
			}
		}
	}
	return places
}
