package web

import (
	"errors"
	"html/template"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// This file is how the dashboard writes things, in the language of the visit.

// T picks the language of a text that stands in a template.
func (v view) T(en, vi string) string { return app.Text{EN: en, VI: vi}.In(v.Lang) }

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

// Number groups the digits of n as the language does.
func (v view) Number(n int64) string { return groupDigits(n, v.Lang) }

func groupDigits(n int64, lang app.Lang) string {
	mark := byte(',')
	if lang == app.Vietnamese {
		mark = '.'
	}
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(mark)
		}
		b.WriteByte(digits[i])
	}
	return sign + b.String()
}

// Count writes how many there are of something; English tells one from many.
func (v view) Count(n int64, one, many, vi string) string {
	if n == 1 {
		many = one
	}
	return v.Number(n) + " " + v.T(many, vi)
}

// Money writes an amount of VND, such as 1.234.567 ₫.
func (v view) Money(n int64) string { return groupDigits(n, v.Lang) + nbsp + "₫" }

// Signed writes a transaction's amount: with the sign that its direction has.
func (v view) Signed(t app.Transaction) string {
	if t.Type == app.Out {
		return "−" + v.Money(t.Amount)
	}
	return "+" + v.Money(t.Amount)
}

// Short abbreviates an amount for the axis of a chart.
func (v view) Short(n int64) string {
	for _, unit := range []struct {
		size   int64
		en, vi string
	}{{1e12, "T", " nghìn tỷ"}, {1e9, "B", " tỷ"}, {1e6, "M", " tr"}, {1e3, "K", " k"}} {
		if n >= unit.size {
			whole, tenth := n/unit.size, n%unit.size*10/unit.size
			text := strconv.FormatInt(whole, 10)
			if tenth > 0 && whole < 100 {
				text += v.T(".", ",") + strconv.FormatInt(tenth, 10)
			}
			return text + strings.ReplaceAll(v.T(unit.en, unit.vi), " ", nbsp)
		}
	}
	return strconv.FormatInt(n, 10)
}

// When writes an instant with its day, the time first: what people look for.
func (v view) When(t time.Time) string {
	if t.IsZero() {
		return v.T("never", "chưa có")
	}
	return app.WriteTime(t, v.zone).In(v.Lang)
}

// Clock writes the time of an instant alone if it is today, else its day too.
func (v view) Clock(t time.Time) string {
	if app.DayOf(t, v.zone) == app.DayOf(v.now, v.zone) {
		return t.In(v.zone).Format("15:04:05")
	}
	return t.In(v.zone).Format(v.T("02 Jan 15:04", "02/01 15:04"))
}

// Stamp writes an instant for machines: the datetime of a time element.
func (v view) Stamp(t time.Time) string { return t.In(v.zone).Format(time.RFC3339) }

// Date writes a day.
func (v view) Date(d app.Day) string {
	return d.Start(v.zone).In(v.zone).Format(v.T("02 Jan 2006", "02/01/2006"))
}

// Direction names a direction.
func (v view) Direction(d app.Direction) string {
	if d == app.Out {
		return v.T("Out", "Tiền ra")
	}
	return v.T("In", "Tiền vào")
}

// BankName is the short name of a bank.
func (v view) BankName(code string) string { return app.BankShortName(code) }

// Tail is the end of an account number, enough for its owner to know it.
func (v view) Tail(number string) string { return app.Tail(number) }

// Pill says in a few words how far a delivery has come.
func (v view) Pill(p app.DeliveryProgress) string {
	what := v.T("waiting", "đang chờ")
	if p.HistoryID != 0 {
		if what = strconv.Itoa(p.StatusCode); p.StatusCode == 0 {
			what = v.ErrorWord(p.Error)
		}
	}
	switch p.State {
	case app.DeliveryDelivered:
		return what + " · " + strconv.FormatInt(p.Duration.Milliseconds(), 10) + nbsp + "ms"
	case app.DeliveryFailed:
		return what + " · " + v.T("failed", "thất bại")
	case app.DeliveryCancelled:
		return v.T("cancelled", "đã huỷ")
	}
	if p.HistoryID == 0 {
		return what
	}
	return what + " · " + v.T("retry", "thử lại") + nbsp + strconv.Itoa(p.Attempts+1) + "/" + strconv.Itoa(len(app.RetrySchedule))
}

// ErrorWord is a class of errors in a word or two.
func (v view) ErrorWord(class app.ErrorClass) string {
	switch class {
	case app.ErrorTimeout:
		return v.T("timeout", "hết giờ")
	case app.ErrorDNS:
		return v.T("no such name", "lỗi tên miền")
	case app.ErrorRefused:
		return v.T("refused", "từ chối kết nối")
	case app.ErrorReset, app.ErrorConnection:
		return v.T("connection lost", "mất kết nối")
	case app.ErrorTLS:
		return v.T("TLS error", "lỗi TLS")
	case app.ErrorBlocked:
		return v.T("blocked address", "địa chỉ bị chặn")
	}
	return v.T("error", "lỗi")
}

// Icon is an icon of the sprite; it is decoration, the words stand beside it.
func (v view) Icon(name string) template.HTML {
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="` + template.HTMLEscapeString(staticURL("icons.svg")) + `#` + template.HTMLEscapeString(name) + `"/></svg>`)
}

// fieldProblems are the fields that err is about, in words; empty for any
// other error.
func fieldProblems(err error, lang app.Lang) string {
	var e *app.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return ""
	}
	var parts []string
	for _, f := range e.Fields {
		parts = append(parts, fieldName(f.Field).In(lang)+" "+f.Text.In(lang)+".")
	}
	return strings.Join(parts, " ")
}

// fieldNames are what the fields of forms are called.
var fieldNames = map[string]app.Text{
	"name":             {EN: "The name", VI: "Tên"},
	"password":         {EN: "The password", VI: "Mật khẩu"},
	"present_password": {EN: "The present password", VI: "Mật khẩu hiện tại"},
	"role":             {EN: "The role", VI: "Vai trò"},
	"bank":             {EN: "The bank", VI: "Ngân hàng"},
	"account_number":   {EN: "The account number", VI: "Số tài khoản"},
	"account_name":     {EN: "The account holder", VI: "Chủ tài khoản"},
	"webhook_url":      {EN: "The address", VI: "Địa chỉ"},
	"type":             {EN: "The direction", VI: "Chiều giao dịch"},
	"bank_account_id":  {EN: "The bank account", VI: "Tài khoản ngân hàng"},
	"scope":            {EN: "The scope", VI: "Phạm vi"},
	"secret":           {EN: "The secret", VI: "Secret"},
	"auth":             {EN: "The way of authenticating", VI: "Cách xác thực"},
	"expires_at":       {EN: "The last day", VI: "Ngày cuối"},
	"overlap_hours":    {EN: "The overlap", VI: "Thời gian chuyển tiếp"},
	"provider":         {EN: "The provider", VI: "Nhà cung cấp"},
	"from":             {EN: "The first day", VI: "Từ ngày"},
	"to":               {EN: "The last day", VI: "Đến ngày"},
	"delivery_state":   {EN: "The state of the delivery", VI: "Trạng thái gửi"},
	"format":           {EN: "The format", VI: "Định dạng"},
	"min":              {EN: "The least amount", VI: "Từ số tiền"},
	"max":              {EN: "The greatest amount", VI: "Đến số tiền"},
	"status":           {EN: "The result", VI: "Kết quả"},
	"webhook_id":       {EN: "The webhook", VI: "Webhook"},
	"transaction_id":   {EN: "The transaction", VI: "Giao dịch"},
	"id":               {EN: "The choice", VI: "Mục chọn"},
	"amount":           {EN: "The amount", VI: "Số tiền"},
	"content":          {EN: "The content", VI: "Nội dung"},
	"bank-account-id":  {EN: "The bank account", VI: "Tài khoản ngân hàng"},
	"api-key":          {EN: "The API key", VI: "Khoá API"},
	"access-key":       {EN: "The access key", VI: "Access Key"},
	"header":           {EN: "The header", VI: "Header"},
	"map":              {EN: "The list of fields", VI: "Danh sách trường"},
	"username":         {EN: "The user name", VI: "Tên đăng nhập"},
	"sender":           {EN: "The sender", VI: "Người gửi"},
	"accountNumber":    {EN: "The account", VI: "Tài khoản"},
	"transferAmount":   {EN: "The amount", VI: "Số tiền"},
	"transferType":     {EN: "The direction", VI: "Chiều giao dịch"},
	"source_id":        {EN: "The source", VI: "Nguồn"},
	"token":            {EN: "The token", VI: "Token"},
	"chat":             {EN: "The chat id", VI: "Chat id"},
	"api-url":          {EN: "The address", VI: "Địa chỉ"},
	"smtp_host":        {EN: "The mail server", VI: "Máy chủ gửi thư"},
	"smtp_port":        {EN: "The port", VI: "Cổng"},
	"smtp_security":    {EN: "The encryption", VI: "Kiểu mã hoá"},
	"smtp_username":    {EN: "The user name", VI: "Tên đăng nhập"},
	"smtp_password":    {EN: "The password", VI: "Mật khẩu"},
	"email_from":       {EN: "The sender", VI: "Địa chỉ gửi"},
	"email_to":         {EN: "The recipients", VI: "Người nhận"},
	"lang":             {EN: "The language", VI: "Ngôn ngữ"},
	"kind":             {EN: "The kind", VI: "Loại cảnh báo"},
	"notify":           {EN: "The choice of what is told", VI: "Lựa chọn báo cho cửa hàng"},
}

func fieldName(field string) app.Text {
	if name, known := fieldNames[field]; known {
		return name
	}
	return app.Text{EN: field, VI: field}
}
