// Package audit says in plain sentences what a line of the audit log holds, in both
// languages: never with a code.
//
// A new deed gets a line in deeds, and a new field of a change one in fields: the
// tests of this package ask for both.
package audit

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/book"
	"baoco/app/payment"
)

// deed is how a deed is said. In its text {it} is what it was done to, and {n} how
// many were counted.
type deed struct {
	deed app.Deed
	text app.Text
	kind kind
}

// kind is how the rest of a line is said.
type kind int

const (
	plain   kind = iota // what was done; what is noted beside follows in brackets
	changes             // the text names what was changed, and each change is said
)

// deeds are all deeds, by their nouns.
var deeds = []deed{
	{app.DeedAccountCreate, app.Text{EN: "created account {it}", VI: "tạo tài khoản {it}"}, plain},
	{app.DeedAccountChange, app.Text{EN: "account {it}", VI: "tài khoản {it}"}, changes},

	{app.DeedUserSignIn, app.Text{EN: "signed in", VI: "đăng nhập"}, plain},
	{app.DeedUserRecoveryUsed, app.Text{EN: "used up a recovery code", VI: "dùng một mã khôi phục"}, plain},
	{app.DeedUserSignInRefused, app.Text{EN: "failed to sign in as {it}: wrong password, code or passkey",
		VI: "đăng nhập sai vào tên {it}: sai mật khẩu, mã hoặc passkey"}, plain},
	{app.DeedUserCreate, app.Text{EN: "added user {it}", VI: "thêm người dùng {it}"}, plain},
	{app.DeedUserRole, app.Text{EN: "user {it}", VI: "người dùng {it}"}, changes},
	{app.DeedUserLimit, app.Text{EN: "user {it}", VI: "người dùng {it}"}, changes},
	{app.DeedUserPassword, app.Text{EN: "changed the password of user {it}", VI: "đổi mật khẩu của người dùng {it}"}, plain},
	{app.DeedUserSecondFactor,
		app.Text{EN: "set up the second factor of user {it}", VI: "thiết lập bước xác thực thứ hai của người dùng {it}"}, plain},
	{app.DeedUserFactorOff,
		app.Text{EN: "turned off the second factor of user {it}", VI: "tắt bước xác thực thứ hai của người dùng {it}"}, plain},
	{app.DeedUserRecovery, app.Text{EN: "made new recovery codes for user {it}", VI: "tạo mã khôi phục mới cho người dùng {it}"}, plain},
	{app.DeedUserPasskeyAdd, app.Text{EN: "added a passkey of user {it}", VI: "thêm passkey cho người dùng {it}"}, plain},
	{app.DeedUserPasskeyRename, app.Text{EN: "a passkey of user {it}", VI: "một passkey của người dùng {it}"}, changes},
	{app.DeedUserPasskeyRemove, app.Text{EN: "removed a passkey of user {it}", VI: "xoá passkey của người dùng {it}"}, plain},
	{app.DeedUserSignOut, app.Text{EN: "signed user {it} out of all devices", VI: "đăng xuất người dùng {it} khỏi mọi thiết bị"}, plain},
	{app.DeedUserSessionEnd, app.Text{EN: "ended a session of user {it}", VI: "kết thúc một phiên đăng nhập của người dùng {it}"}, plain},
	{app.DeedUserRemove, app.Text{EN: "removed user {it}", VI: "xoá người dùng {it}"}, plain},

	{app.DeedAPIKeyCreate, app.Text{EN: "created API key {it}", VI: "tạo khoá API {it}"}, plain},
	{app.DeedAPIKeyRevoke, app.Text{EN: "revoked API key {it}", VI: "thu hồi khoá API {it}"}, plain},

	{app.DeedCounterLinkCreate, app.Text{EN: "created counter screen link {it}", VI: "tạo đường dẫn màn hình quầy {it}"}, plain},
	{app.DeedCounterLinkRevoke, app.Text{EN: "revoked counter screen link {it}", VI: "thu hồi đường dẫn màn hình quầy {it}"}, plain},

	{app.DeedBankAccountLink, app.Text{EN: "linked bank account {it}", VI: "liên kết tài khoản ngân hàng {it}"}, plain},
	{app.DeedBankAccountChange, app.Text{EN: "bank account {it}", VI: "tài khoản ngân hàng {it}"}, changes},
	{app.DeedBankAccountUnlink, app.Text{EN: "unlinked bank account {it}", VI: "huỷ liên kết tài khoản ngân hàng {it}"}, plain},

	{app.DeedSourceCreate, app.Text{EN: "added source {it}", VI: "thêm nguồn {it}"}, plain},
	{app.DeedSourceChange, app.Text{EN: "source {it}", VI: "nguồn {it}"}, changes},
	{app.DeedSourceRotate, app.Text{EN: "rotated the secret of source {it}", VI: "đổi khoá bí mật của nguồn {it}"}, plain},
	{app.DeedSourceAPIKey,
		app.Text{EN: "changed the provider’s API key of source {it}", VI: "đổi khoá API của nhà cung cấp ở nguồn {it}"}, plain},
	{app.DeedSourceRemove, app.Text{EN: "removed source {it}", VI: "xoá nguồn {it}"}, plain},

	{app.DeedInboundRetry, app.Text{EN: "had call {it} read again", VI: "xử lý lại lần nhận {it}"}, plain},
	{app.DeedInboundLink, app.Text{EN: "linked a bank account for call {it}", VI: "liên kết tài khoản ngân hàng cho lần nhận {it}"}, plain},
	{app.DeedInboundSettle,
		app.Text{EN: "said whether an item of call {it} is a repeat", VI: "xác nhận một mục của lần nhận {it} có trùng hay không"}, plain},
	{app.DeedInboundDiscard, app.Text{EN: "discarded {n} of call {it}", VI: "bỏ qua {n} của lần nhận {it}"}, plain},

	{app.DeedTransactionRecord, app.Text{EN: "recorded {n} by hand", VI: "nhập tay {n}"}, plain},
	{app.DeedTransactionNote, app.Text{EN: "transaction {it}", VI: "giao dịch {it}"}, changes},
	{app.DeedTransactionExport, app.Text{EN: "exported transactions", VI: "xuất giao dịch ra tệp"}, plain},

	{payment.DeedPutAside,
		app.Text{EN: "put transaction {it} aside: it belongs to no order", VI: "để riêng giao dịch {it}: không thuộc đơn nào"}, plain},
	{payment.DeedTakeBack,
		app.Text{EN: "took transaction {it} back to the unmatched money", VI: "đưa giao dịch {it} về lại tiền chưa ghép"}, plain},
	{payment.DeedRefund, app.Text{EN: "linked refund {it}", VI: "ghi nhận hoàn tiền {it}"}, plain},
	{payment.DeedRefundUndo, app.Text{EN: "undid the link of refund {it}", VI: "bỏ ghi nhận hoàn tiền {it}"}, plain},
	{book.DeedMark, app.Text{EN: "transaction {it}", VI: "giao dịch {it}"}, changes},

	{book.DeedRuleAdd, app.Text{EN: "added a rule for what is not revenue: {it}", VI: "thêm quy tắc không phải doanh thu: {it}"}, plain},
	{book.DeedRuleRemove, app.Text{EN: "removed a rule for what is not revenue: {it}", VI: "xoá quy tắc không phải doanh thu: {it}"}, plain},

	{book.DeedClose, app.Text{EN: "closed the books through {it}", VI: "chốt sổ đến hết ngày {it}"}, plain},
	{book.DeedOpen, app.Text{EN: "opened the book again that was closed through {it}", VI: "mở lại sổ đã chốt đến hết ngày {it}"}, plain},
	{book.DeedHeading, app.Text{EN: "books of account {it}", VI: "thông tin đầu sổ của tài khoản {it}"}, changes},
	{book.DeedCash, app.Text{EN: "entered the cash of {it}", VI: "nhập doanh thu tiền mặt ngày {it}"}, plain},
	{book.DeedOpening, app.Text{EN: "entered the opening balance of {it}", VI: "nhập số dư đầu kỳ của {it}"}, plain},
	{book.DeedExport, app.Text{EN: "exported book or report {it}", VI: "xuất sổ, báo cáo {it} ra tệp"}, plain},

	{app.DeedImportRecord, app.Text{EN: "imported statement {it}", VI: "nhập sao kê {it}"}, plain},
	{app.DeedImportUndo, app.Text{EN: "undid the import of statement {it}", VI: "hoàn tác nhập sao kê {it}"}, plain},

	{app.DeedWebhookCreate, app.Text{EN: "created webhook {it}", VI: "tạo webhook {it}"}, plain},
	{app.DeedWebhookChange, app.Text{EN: "webhook {it}", VI: "webhook {it}"}, changes},
	{app.DeedWebhookDelete, app.Text{EN: "deleted webhook {it}", VI: "xoá webhook {it}"}, plain},
	{app.DeedWebhookRotate, app.Text{EN: "rotated the secret of webhook {it}", VI: "đổi khoá bí mật của webhook {it}"}, plain},
	{app.DeedWebhookActivate, app.Text{EN: "ended the old secret of webhook {it}", VI: "ngừng dùng khoá bí mật cũ của webhook {it}"}, plain},
	{app.DeedWebhookTest, app.Text{EN: "sent a test to webhook {it}", VI: "gửi thử đến webhook {it}"}, plain},
	{app.DeedWebhookReplay, app.Text{EN: "resent {n} of webhook {it}", VI: "gửi lại {n} của webhook {it}"}, plain},
	{app.DeedWebhookSendNow, app.Text{EN: "had {n} of webhook {it} sent at once", VI: "cho gửi ngay {n} của webhook {it}"}, plain},

	{app.DeedCodePatternCreate, app.Text{EN: "added code pattern {it}", VI: "thêm mẫu mã thanh toán {it}"}, plain},
	{app.DeedCodePatternDelete, app.Text{EN: "deleted code pattern {it}", VI: "xoá mẫu mã thanh toán {it}"}, plain},

	{app.DeedPaymentCreate, app.Text{EN: "created {n}", VI: "tạo {n}"}, plain},
	{app.DeedPaymentCancel, app.Text{EN: "cancelled payment request {it}", VI: "huỷ yêu cầu thanh toán {it}"}, plain},
	{app.DeedPaymentMatch,
		app.Text{EN: "matched a transaction with payment request {it}", VI: "ghép một giao dịch với yêu cầu thanh toán {it}"}, plain},
	{app.DeedPaymentTake,
		app.Text{EN: "took money without a code for bill {it}", VI: "nhận tiền không có mã cho đơn {it}"}, plain},
	{app.DeedPaymentUnmatch,
		app.Text{EN: "undid a match with payment request {it}", VI: "bỏ ghép một giao dịch với yêu cầu thanh toán {it}"}, plain},
	{app.DeedReceiptPrint, app.Text{EN: "printed the receipt of bill {it}", VI: "in biên nhận của đơn {it}"}, plain},
	{app.DeedShiftClose, app.Text{EN: "closed the shift of {it}", VI: "đóng ca của {it}"}, plain},

	{app.DeedStreamCreate, app.Text{EN: "created stream {it}", VI: "tạo luồng {it}"}, plain},
	{app.DeedStreamChange, app.Text{EN: "stream {it}", VI: "luồng {it}"}, changes},
	{app.DeedStreamDelete, app.Text{EN: "deleted stream {it}", VI: "xoá luồng {it}"}, plain},
	{app.DeedStreamRotate, app.Text{EN: "rotated the secret of stream {it}", VI: "đổi khoá bí mật của luồng {it}"}, plain},
	{app.DeedStreamTest, app.Text{EN: "sent a test to stream {it}", VI: "gửi thử đến luồng {it}"}, plain},

	{app.DeedDeliveryResend, app.Text{EN: "resent {n}", VI: "gửi lại {n}"}, plain},
	{app.DeedDeliverySendNow, app.Text{EN: "had delivery {it} sent at once", VI: "cho gửi ngay thông báo {it}"}, plain},

	{app.DeedAlertSet, app.Text{EN: "set up alerts by {it}", VI: "cài đặt kênh cảnh báo {it}"}, plain},
	{app.DeedAlertChange, app.Text{EN: "alerts by {it}", VI: "kênh cảnh báo {it}"}, changes},
	{app.DeedAlertTest, app.Text{EN: "sent a test alert by {it}", VI: "gửi thử cảnh báo qua {it}"}, plain},
	{app.DeedAlertRemove, app.Text{EN: "removed alerts by {it}", VI: "gỡ kênh cảnh báo {it}"}, plain},
	{app.DeedAlertsChange, app.Text{EN: "all alerts", VI: "mọi cảnh báo"}, changes},

	{app.DeedAuditExport, app.Text{EN: "exported the audit log", VI: "xuất nhật ký thao tác"}, plain},

	{app.DeedDatabaseBackup, app.Text{EN: "made backup {it}", VI: "tạo bản sao lưu {it}"}, plain},
	{app.DeedDatabaseRestore, app.Text{EN: "restored backup {it}", VI: "khôi phục bản sao lưu {it}"}, plain},
	{app.DeedDatabaseNewKey, app.Text{EN: "made a new key for the database", VI: "tạo khoá mới cho cơ sở dữ liệu"}, plain},
	{app.DeedDatabasePrune, app.Text{EN: "removed {n}", VI: "xoá {n}"}, plain},
	{app.DeedReplicaSetUp, app.Text{EN: "set up a replica at {it}", VI: "thiết lập bản sao ngoài máy tại {it}"}, plain},
	{app.DeedReplicaSealKey, app.Text{EN: "put the sealed key at {it}", VI: "đặt tệp khoá đã mã hoá tại {it}"}, plain},
	{app.DeedReplicaRemove, app.Text{EN: "ended the replica at {it}", VI: "ngừng bản sao ngoài máy tại {it}"}, plain},
}

// counted is what {n} counts.
type counted struct{ one, many, vi string }

var counts = map[app.Deed]counted{
	app.DeedInboundDiscard:    {"item", "items", "mục"},
	app.DeedTransactionRecord: {"transaction", "transactions", "giao dịch"},
	app.DeedPaymentCreate:     {"payment request", "payment requests", "yêu cầu thanh toán"},
	app.DeedWebhookReplay:     {"delivery", "deliveries", "thông báo"},
	app.DeedWebhookSendNow:    {"delivery", "deliveries", "thông báo"},
	app.DeedDeliveryResend:    {"delivery", "deliveries", "thông báo"},
	app.DeedDatabasePrune:     {"old record", "old records", "bản ghi cũ"},
}

// byDeed finds how a deed is said.
var byDeed = func() map[app.Deed]deed {
	known := map[app.Deed]deed{}
	for _, d := range deeds {
		known[d.deed] = d
	}
	return known
}()

// Known tells whether there is such a deed.
func Known(d app.Deed) bool { _, known := byDeed[d]; return known }

// Noun is a kind of thing that deeds are done to, and its deeds.
type Noun struct {
	ID    string
	Name  app.Text
	Deeds []app.Deed
}

// Nouns are all nouns.
var Nouns = nounsOf([]Noun{
	{ID: "user", Name: app.Text{EN: "Users", VI: "Người dùng"}},
	{ID: "api_key", Name: app.Text{EN: "API keys", VI: "Khoá API"}},
	{ID: "counter_link", Name: app.Text{EN: "Counter screens", VI: "Màn hình quầy"}},
	{ID: "bank_account", Name: app.Text{EN: "Bank accounts", VI: "Tài khoản ngân hàng"}},
	{ID: "source", Name: app.Text{EN: "Sources", VI: "Nguồn giao dịch"}},
	{ID: "inbound_event", Name: app.Text{EN: "Inbound log", VI: "Lịch sử nhận"}},
	{ID: "transaction", Name: app.Text{EN: "Transactions", VI: "Giao dịch"}},
	{ID: "book", Name: app.Text{EN: "Books", VI: "Sổ sách"}},
	{ID: "import", Name: app.Text{EN: "Statements", VI: "Sao kê"}},
	{ID: "webhook", Name: app.Text{EN: "Webhooks", VI: "Webhook"}},
	{ID: "code_pattern", Name: app.Text{EN: "Payment codes", VI: "Mã thanh toán"}},
	{ID: "payment_request", Name: app.Text{EN: "Payment requests", VI: "Yêu cầu thanh toán"}},
	{ID: "shift", Name: app.Text{EN: "Shifts", VI: "Các ca"}},
	{ID: "stream", Name: app.Text{EN: "Streams", VI: "Luồng giao dịch"}},
	{ID: "delivery", Name: app.Text{EN: "Deliveries", VI: "Thông báo"}},
	{ID: "alert_channel", Name: app.Text{EN: "Alert channels", VI: "Kênh cảnh báo"}},
	{ID: "alerts", Name: app.Text{EN: "Alerts", VI: "Cảnh báo"}},
	{ID: "account", Name: app.Text{EN: "Account", VI: "Tài khoản"}},
	{ID: "audit_log", Name: app.Text{EN: "Audit log", VI: "Nhật ký thao tác"}},
	{ID: "database", Name: app.Text{EN: "Database", VI: "Cơ sở dữ liệu"}},
})

func nounsOf(list []Noun) []Noun {
	for i := range list {
		for _, d := range deeds {
			if d.deed.Noun() == list[i].ID {
				list[i].Deeds = append(list[i].Deeds, d.deed)
			}
		}
	}
	return list
}

// NounName names a noun; empty: there is no such noun.
func NounName(id string) app.Text {
	for _, n := range Nouns {
		if n.ID == id {
			return n.Name
		}
	}
	return app.Text{}
}

// DeedName says a deed without what it was done to.
func DeedName(d app.Deed) app.Text {
	switch d { // of one noun, and said by what was changed
	case app.DeedUserRole:
		return app.Text{EN: "Changed the role", VI: "Đổi vai trò của người dùng"}
	case book.DeedMark:
		return app.Text{EN: "Marked as revenue or not", VI: "Đánh dấu doanh thu của giao dịch"}
	case app.DeedUserLimit:
		return app.Text{EN: "Changed the limit to bank accounts", VI: "Đổi giới hạn tài khoản ngân hàng"}
	}
	s := byDeed[d]
	if s.kind == changes {
		s.text = app.Text{EN: "changed " + s.text.EN, VI: "đổi " + s.text.VI}
	}
	n := counts[d]
	bare := func(text, n string) string {
		text = strings.NewReplacer(" {it}", "", "{n}", n, " of {it}", "", " of user {it}", "", " as {it}", "", " vào tên {it}", "",
			" by {it}", "", " at {it}", "", " through {it}", "", " qua {it}", "", " tại {it}", "", " của {it}", "", " đến hết ngày {it}", "",
			" ngày {it}", "").Replace(text)
		text, _, _ = strings.Cut(text, ":")
		return text
	}
	return capital(app.Text{EN: bare(s.text.EN, n.many), VI: bare(s.text.VI, n.vi)})
}

func capital(t app.Text) app.Text {
	upper := func(text string) string {
		for i, r := range text {
			return strings.ToUpper(string(r)) + text[i+len(string(r)):]
		}
		return text
	}
	return app.Text{EN: upper(t.EN), VI: upper(t.VI)}
}

// Who names who acted.
func Who(a app.Actor) app.Text {
	switch {
	case a.Way == app.WayServer:
		return app.Text{EN: "baoco", VI: "baoco"}
	case a.Name == "":
		return app.Text{EN: "Somebody", VI: "Có người"}
	case a.Way == app.WayAPI:
		return app.Textf("API key %s", "Khoá API %s", app.Isolated(a.Name))
	}
	name := app.Isolated(a.Name)
	return app.Text{EN: name, VI: name}
}

// Address says from where somebody acted.
func Address(a app.Actor) app.Text {
	if a.Address == "" {
		return app.Text{EN: "this server", VI: "máy chủ này"}
	}
	return app.Text{EN: a.Address, VI: a.Address}
}

// Sentence says who did what. Times in it are written in zone. Names in it are
// isolated: see [Bare].
func Sentence(l app.AuditLine, zone *time.Location) app.Text {
	who, done := Who(l.Actor), doneBy(l, zone)
	return app.Text{EN: who.EN + " " + done.EN, VI: strings.TrimSpace(who.VI + " đã " + done.VI)}
}

// Bare is a text without the marks that isolate names in it, for places that show
// them as boxes.
func Bare(text string) string { return isolation.Replace(text) }

var isolation = strings.NewReplacer("\u2068", "", "\u2069", "")

// Quoted is a text in which the names that are isolated stand in quotation marks, for
// places that show plain text: else a name could read as a part of the sentence. Such
// marks within a name are plain ones.
func Quoted(text string) string {
	var b strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '\u2068':
			if depth++; depth == 1 {
				b.WriteRune('“')
			}
		case r == '\u2069' && depth > 0:
			if depth--; depth == 0 {
				b.WriteRune('”')
			}
		case depth > 0 && (r == '“' || r == '”'):
			b.WriteRune('"')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func doneBy(l app.AuditLine, zone *time.Location) app.Text {
	d, known := byDeed[l.Deed]
	if !known { // a newer version wrote it
		d.text = app.Textf("did what this version doesn’t know (%s)", "làm việc mà phiên bản này chưa biết (%s)", string(l.Deed))
	}
	text, n := d.text, max(l.Count, 1)
	if c, has := counts[l.Deed]; has {
		many := c.many
		if n == 1 {
			many = c.one
		}
		text = fill(text, "{n}", app.Text{EN: app.GroupDigits(n, app.English) + " " + many, VI: app.GroupDigits(n, app.Vietnamese) + " " + c.vi})
	} else if n > 1 {
		text.EN += " (" + app.GroupDigits(n, app.English) + " times)"
		text.VI += " (" + app.GroupDigits(n, app.Vietnamese) + " lần)"
	}
	text = fill(text, "{it}", itOf(l)) // last: a name may have {n} in it
	var en, vi []string
	for _, c := range l.Changes {
		said := change(c, text, d.kind, zone)
		en, vi = append(en, said.EN), append(vi, said.VI)
	}
	switch {
	case d.kind == changes && len(en) == 0:
		return app.Text{EN: "changed " + text.EN, VI: "đổi " + text.VI}
	case d.kind == changes:
		return app.Text{EN: strings.Join(en, "; "), VI: strings.Join(vi, "; ")}
	case len(en) > 0:
		return app.Text{EN: text.EN + " (" + strings.Join(en, ", ") + ")", VI: text.VI + " (" + strings.Join(vi, ", ") + ")"}
	}
	return text
}

// itOf names what a line is about: by its name, else by its id.
func itOf(l app.AuditLine) app.Text {
	switch {
	case l.Deed.Noun() == "alert_channel":
		return alert.Medium(l.Name).Name()
	case l.Name == "":
		id := strconv.FormatInt(l.NounID, 10)
		return app.Text{EN: id, VI: "#" + id}
	}
	name := app.Isolated(l.Name)
	return app.Text{EN: name, VI: name}
}

func fill(t app.Text, place string, with app.Text) app.Text {
	return app.Text{EN: strings.ReplaceAll(t.EN, place, with.EN), VI: strings.ReplaceAll(t.VI, place, with.VI)}
}

// change says one change of what a text names.
func change(c app.AuditChange, of app.Text, k kind, zone *time.Location) app.Text {
	f, known := fields[c.Field]
	if !known { // a newer version wrote it
		f.name = app.Text{EN: c.Field, VI: c.Field}
	}
	if f.on.EN != "" {
		if c.To == "true" {
			return fill(f.on, "{of}", of)
		}
		return fill(f.off, "{of}", of)
	}
	from, to := f.write(c.From, zone), f.write(c.To, zone)
	switch {
	case k == plain && (c.From == "" || c.From == "0"):
		return app.Text{EN: f.name.EN + ": " + to.EN, VI: f.name.VI + ": " + to.VI}
	case k == plain:
		return app.Text{EN: f.name.EN + ": " + from.EN + " → " + cmp.Or(to.EN, "–"), VI: f.name.VI + ": " + from.VI + " → " + cmp.Or(to.VI, "–")}
	case c.From == "":
		return app.Text{EN: "set the " + f.name.EN + " of " + of.EN + ": " + to.EN, VI: "đặt " + f.name.VI + " của " + of.VI + ": " + to.VI}
	case c.To == "":
		return app.Text{EN: "removed the " + f.name.EN + " of " + of.EN + ": " + from.EN,
			VI: "bỏ " + f.name.VI + " của " + of.VI + ": " + from.VI}
	}
	return app.Text{EN: "changed the " + f.name.EN + " of " + of.EN + ": " + from.EN + " → " + to.EN,
		VI: "đổi " + f.name.VI + " của " + of.VI + ": " + from.VI + " → " + to.VI}
}
