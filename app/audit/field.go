package audit

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/book"
	"baoco/app/delivery"
	"baoco/app/provider"
)

// field is a value that can change.
type field struct {
	name  app.Text
	value func(text string, zone *time.Location) app.Text // nil: as it is
	// on and off are said in place of name where the value is true or false; {of} is
	// what the field is of.
	on, off app.Text
}

var fields = map[string]field{
	"name":              {name: app.Text{EN: "name", VI: "tên"}},
	"plan":              {name: app.Text{EN: "plan", VI: "gói dịch vụ"}},
	"expires_at":        {name: app.Text{EN: "end of the plan", VI: "hạn dùng"}, value: instant},
	"max_bank_accounts": {name: app.Text{EN: "largest number of bank accounts", VI: "số lượng tài khoản ngân hàng tối đa"}},
	"is_trial": {
		on:  app.Text{EN: "made {of} a trial", VI: "chuyển {of} sang dùng thử"},
		off: app.Text{EN: "ended the trial of {of}", VI: "kết thúc dùng thử của {of}"},
	},
	"payment_tolerance": {name: app.Text{EN: "amount that may be missing from a payment", VI: "mức chấp nhận thiếu tối đa"}},
	"distinct_amounts": {
		on: app.Text{EN: "allowed distinct amounts for payment requests of {of}",
			VI: "cho phép dùng số tiền riêng cho yêu cầu thanh toán của {of}"},
		off: app.Text{EN: "no longer allowed distinct amounts for payment requests of {of}",
			VI: "không cho phép dùng số tiền riêng cho yêu cầu thanh toán của {of} nữa"},
	},
	"bills":    {name: app.Text{EN: "number of bills", VI: "số đơn"}},
	"received": {name: app.Text{EN: "received", VI: "đã nhận"}, value: money},
	"over":     {name: app.Text{EN: "sum of what was too much", VI: "số tiền thừa"}, value: money},
	"under":    {name: app.Text{EN: "sum of what was missing", VI: "số tiền thiếu"}, value: money},
	"unbilled": {name: app.Text{EN: "money without a bill", VI: "tiền không có đơn"}, value: money},
	"cash":     {name: app.Text{EN: "cash that was counted", VI: "tiền mặt đếm được"}, value: money},
	"cashiers_match": {
		on: app.Text{EN: "let cashiers of {of} take money without a code", VI: "cho thu ngân của {of} nhận tiền không có mã"},
		off: app.Text{EN: "no longer let cashiers of {of} take money without a code",
			VI: "không cho thu ngân của {of} nhận tiền không có mã nữa"},
	},
	"small_amount":   {name: app.Text{EN: "amount below which money is announced with a warning", VI: "mức tiền nhỏ được đọc kèm cảnh báo"}},
	"guide_skipped":  {name: app.Text{EN: "skipped steps of the set-up", VI: "các bước thiết lập đã bỏ qua"}, value: guideSteps},
	"transaction_id": {name: app.Text{EN: "transaction", VI: "mã giao dịch"}},
	"needs_second_factor": {
		on: app.Text{EN: "demanded the second factor of all users of {of}", VI: "bắt buộc mọi người dùng của {of} có bước xác thực thứ hai"},
		off: app.Text{EN: "no longer demanded the second factor of the users of {of}",
			VI: "không còn bắt buộc người dùng của {of} có bước xác thực thứ hai"},
	},
	"role":       {name: app.Text{EN: "role", VI: "vai trò"}, value: named[access.Role]},
	"scope":      {name: app.Text{EN: "permissions", VI: "quyền"}, value: named[access.Scope]},
	"status":     {name: app.Text{EN: "status", VI: "trạng thái"}, value: named[app.BankAccountStatus]},
	"nickname":   {name: app.Text{EN: "nickname", VI: "tên gợi nhớ"}},
	"colour":     {name: app.Text{EN: "colour", VI: "màu"}, value: named[app.Colour]},
	"provider":   {name: app.Text{EN: "provider", VI: "nhà cung cấp"}, value: providerName},
	"senders":    {name: app.Text{EN: "allowed senders", VI: "người gửi được phép"}},
	"note":       {name: app.Text{EN: "note", VI: "ghi chú"}},
	"url":        {name: app.Text{EN: "address", VI: "địa chỉ"}},
	"type":       {name: app.Text{EN: "transactions to send", VI: "giao dịch cần báo"}, value: named[delivery.WebhookType]},
	"min_length": {name: app.Text{EN: "least number of characters after it", VI: "số ký tự ít nhất phía sau"}},
	"max_length": {name: app.Text{EN: "greatest number of characters after it", VI: "số ký tự nhiều nhất phía sau"}},
	"alphabet": {name: app.Text{EN: "characters after it", VI: "loại ký tự phía sau"}, value: choice(map[string]app.Text{
		"digits": {EN: "digits", VI: "chữ số"}, "letters_and_digits": {EN: "letters and digits", VI: "chữ cái và chữ số"},
	})},
	"code_prefix": {name: app.Text{EN: "payment codes that begin with", VI: "mã thanh toán bắt đầu bằng"}},
	"topic":       {name: app.Text{EN: "topic", VI: "chủ đề"}},
	"username":    {name: app.Text{EN: "user name or password", VI: "tên đăng nhập hoặc mật khẩu"}},
	"since_id":    {name: app.Text{EN: "last transaction that was sent", VI: "giao dịch gửi gần nhất"}},
	"is_active":   {on: app.Text{EN: "turned on {of}", VI: "bật {of}"}, off: app.Text{EN: "turned off {of}", VI: "tắt {of}"}},
	"bank_accounts": {name: app.Text{EN: "limit to bank accounts", VI: "giới hạn tài khoản ngân hàng"}, value: choice(map[string]app.Text{
		"all": {EN: "All bank accounts", VI: "Tất cả tài khoản"}, "none": {EN: "None", VI: "Không có"},
	})},

	"address":  {name: app.Text{EN: "postal address", VI: "địa chỉ hộ kinh doanh"}},
	"place":    {name: app.Text{EN: "place of business", VI: "địa điểm kinh doanh"}},
	"tax_code": {name: app.Text{EN: "tax code", VI: "mã số thuế"}},
	"amount":   {name: app.Text{EN: "the amount", VI: "số tiền"}},
	"day":      {name: app.Text{EN: "beginning of", VI: "đầu ngày"}, value: day},

	"revenue_kind": {name: app.Text{EN: "kind of money", VI: "loại tiền"}, value: named[book.Kind]},
	"revenue_note": {name: app.Text{EN: "reason", VI: "lý do"}},

	"account_name":      {name: app.Text{EN: "account holder", VI: "chủ tài khoản"}},
	"content_prefix":    {name: app.Text{EN: "beginning of contents", VI: "phần đầu nội dung"}},
	"receiving_number":  {name: app.Text{EN: "receiving number", VI: "số nhận tiền"}},
	"receiving_numbers": {name: app.Text{EN: "receiving numbers", VI: "các số nhận tiền"}},

	"bank_account": {name: app.Text{EN: "bank account", VI: "tài khoản"}},
	"from":         {name: app.Text{EN: "from", VI: "từ"}, value: day},
	"to":           {name: app.Text{EN: "to", VI: "đến"}, value: day}, // or a chat
	"lang": {name: app.Text{EN: "language", VI: "ngôn ngữ"}, value: choice(map[string]app.Text{
		string(app.English): {EN: "English", VI: "Tiếng Anh"}, string(app.Vietnamese): {EN: "Vietnamese", VI: "Tiếng Việt"},
	})},
	"muted":        {name: app.Text{EN: "list of muted kinds", VI: "danh sách loại bị tắt"}, value: alertNames},
	"daily_at":     {name: app.Text{EN: "time of the daily backup", VI: "giờ sao lưu hằng ngày"}},
	"month_report": {name: app.Text{EN: "report of the month", VI: "báo cáo tháng"}},
	"report_time":  {name: app.Text{EN: "time of the day’s report", VI: "giờ gửi sổ ngày"}},
	"payment_feed": {
		on:  app.Text{EN: "set which payments are reported with {of}", VI: "đặt những khoản tiền được báo cùng {of}"},
		off: app.Text{EN: "ended the messages about payments with {of}", VI: "ngừng báo các khoản tiền cùng {of}"},
	},
}

func named[T interface {
	~string
	Name() app.Text
}](text string, _ *time.Location) app.Text {
	return T(text).Name()
}

func choice(names map[string]app.Text) func(string, *time.Location) app.Text {
	return func(text string, _ *time.Location) app.Text {
		if name, known := names[text]; known {
			return name
		}
		return app.Text{EN: app.Isolated(text), VI: app.Isolated(text)}
	}
}

func day(text string, zone *time.Location) app.Text {
	d, err := app.ParseDay(text)
	if err != nil {
		return app.Text{EN: app.Isolated(text), VI: app.Isolated(text)}
	}
	start := d.Start(zone).In(zone)
	return app.Text{EN: start.Format("02 Jan 2006"), VI: start.Format("02/01/2006")}
}

func money(text string, _ *time.Location) app.Text {
	amount, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return app.Text{EN: app.Isolated(text), VI: app.Isolated(text)}
	}
	return app.Text{EN: app.GroupDigits(amount, app.English) + "\u00a0₫", VI: app.GroupDigits(amount, app.Vietnamese) + "\u00a0₫"}
}

func instant(text string, zone *time.Location) app.Text {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return app.Text{EN: text, VI: text}
	}
	return app.WriteTime(t, zone)
}

func providerName(text string, _ *time.Location) app.Text {
	for _, k := range provider.Facts() {
		if string(k.Provider) == text {
			return app.Text{EN: k.Name, VI: k.Name}
		}
	}
	return app.Text{EN: text, VI: text}
}

// guideSteps names the steps of a list of theirs.
func guideSteps(text string, _ *time.Location) app.Text {
	var en, vi []string
	for _, step := range strings.Fields(text) {
		name := choice(map[string]app.Text{
			"codes": {EN: "code patterns", VI: "mẫu mã"}, "webhook": {EN: "webhook", VI: "webhook"},
			"alerts": {EN: "alert channels", VI: "kênh cảnh báo"}, "backup": {EN: "backup", VI: "sao lưu"},
			"counter": {EN: "counter screen", VI: "màn hình quầy"}, "overview": {EN: "list on the overview", VI: "danh sách ở trang Tổng quan"},
		})(step, nil)
		en, vi = append(en, name.EN), append(vi, name.VI)
	}
	return app.Text{EN: strings.Join(en, ", "), VI: strings.Join(vi, ", ")}
}

// alertNames writes the names of the kinds of alerts in a list of theirs.
func alertNames(text string, _ *time.Location) app.Text {
	var en, vi []string
	for _, kind := range strings.Fields(text) {
		name := alert.AttentionKind(kind).AlertName()
		en, vi = append(en, cmp.Or(name.EN, kind)), append(vi, cmp.Or(name.VI, kind))
	}
	return app.Text{EN: strings.Join(en, ", "), VI: strings.Join(vi, ", ")}
}

func (f field) write(text string, zone *time.Location) app.Text {
	switch {
	case text == "":
		return app.Text{}
	case f.value != nil:
		return f.value(text, zone)
	}
	text = app.Isolated(text)
	return app.Text{EN: text, VI: text}
}
