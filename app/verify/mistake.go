package verify

import (
	"baoco/app"
	"baoco/app/delivery"
)

// Mistake is one reason why a signature doesn't match, with what to do.
type Mistake struct {
	Code string // for programs; it never changes its meaning
	Text app.Text
}

// naming gives the mistake with the names of webhooks in its text.
func (m Mistake) naming(webhooks ...delivery.Webhook) Mistake {
	var names []any
	for _, w := range webhooks {
		names = append(names, app.Isolated(w.Name))
	}
	return Mistake{m.Code, app.Textf(m.Text.EN, m.Text.VI, names...)}
}

// The mistakes that receivers make.
var (
	secretSpace = Mistake{"secret_space", app.Text{
		EN: "The secret has spaces, a line break or quotes around it. " +
			"Remove them where your server stores it, or trim the value after reading it.",
		VI: "Khoá bí mật bị lẫn khoảng trắng, ký tự xuống dòng hoặc dấu nháy. " +
			"Hãy xoá đi ở nơi máy chủ lưu khoá bí mật, hoặc cắt đi (trim) sau khi đọc.",
	}}
	secretOther = Mistake{"secret_other", app.Text{
		EN: "The call is genuine: it was signed with a secret of the webhook “%s”. The secret or the webhook that you entered is another. " +
			"Each webhook has its own secret: configure the right one, or rotate the secret if you no longer have it.",
		VI: "Lần gửi này là thật: được ký bằng khoá bí mật của webhook “%s”. Khoá bí mật hoặc webhook bạn nhập không đúng. " +
			"Mỗi webhook có khoá bí mật riêng: hãy cấu hình đúng khoá bí mật, hoặc đổi khoá bí mật nếu không còn giữ.",
	}}
	secretRotated = Mistake{"secret_rotated", app.Text{
		EN: "The call was signed with the other secret of a rotation. Until the overlap ends X-Webhook-Signature is made with the old secret, " +
			"afterwards with the new one. Configure the one that signs now, or activate the new one; then check a newer call.",
		VI: "Lần gửi này được ký bằng khoá bí mật kia của lần đổi khoá bí mật. Đến hết thời gian chuyển tiếp X-Webhook-Signature được ký bằng " +
			"khoá bí mật cũ, sau đó bằng khoá bí mật mới. Hãy cấu hình khoá bí mật đang dùng, hoặc kích hoạt khoá bí mật mới, rồi kiểm " +
			"tra một lần gửi mới hơn.",
	}}
	bodyEncodedAgain = Mistake{"body_values", app.Text{
		EN: "The JSON was written again: it says the same, in other bytes. Compute the signature over the raw body.",
		VI: "JSON đã bị viết lại: cùng ý nghĩa nhưng khác byte. Hãy tính chữ ký trên nội dung gốc.",
	}}
	bodyChanged = Mistake{"body_changed", app.Text{
		EN: "The body is not the one that was sent. Something on the way, or your own code, changed it before the signature was checked.",
		VI: "Nội dung không giống nội dung đã gửi. Phần nào đó trên đường đi, hoặc chính mã của bạn, đã sửa trước khi kiểm tra chữ ký.",
	}}
	signatureOfOtherHeader = Mistake{"signature_shape", app.Text{
		EN: "This is not a whole X-Webhook-Signature: that header is 64 hexadecimal digits. " +
			"Check that you took the right header. With webhook-signature (v1,…), enter webhook-id and webhook-timestamp too.",
		VI: "Đây không phải X-Webhook-Signature đầy đủ: header này gồm 64 chữ số thập lục phân. " +
			"Hãy kiểm tra đã lấy đúng header chưa. Với webhook-signature (v1,…), hãy nhập thêm webhook-id và webhook-timestamp.",
	}}
	signaturePrefix = Mistake{"signature_prefix", app.Text{
		EN: "The value begins with sha256=. That is overlooked here, but baoco sends the bare digits: " +
			"code that compares them with the prefix answers 401.",
		VI: "Giá trị bắt đầu bằng sha256=. Ở đây bỏ qua, nhưng baoco chỉ gửi các chữ số: mã so sánh kèm tiền tố này sẽ trả về 401.",
	}}
	signatureBase64 = Mistake{"signature_base64", app.Text{
		EN: "This value is the right signature written in base64. X-Webhook-Signature is hexadecimal: in Node.js digest('hex'), in PHP " +
			"hash_hmac without true.",
		VI: "Giá trị này là chữ ký đúng nhưng viết ở dạng base64. X-Webhook-Signature ở dạng thập lục phân: Node.js dùng digest('hex'), PHP " +
			"dùng hash_hmac không có true.",
	}}
	timestampExpired = Mistake{"timestamp_expired", app.Text{
		EN: "webhook-timestamp is more than five minutes from the present time. Libraries for Standard Webhooks refuse such a call. " +
			"If they refuse new calls too, set the clock of your server.",
		VI: "webhook-timestamp lệch hơn 5 phút so với hiện tại. Thư viện Standard Webhooks từ chối lần gửi như vậy. " +
			"Nếu lần gửi mới cũng bị từ chối, hãy chỉnh lại đồng hồ máy chủ.",
	}}
)

// What is said where a call can't be judged.
var (
	secretLost = Mistake{"secret_lost", app.Text{
		EN: "baoco no longer has the secret of this webhook, so it can’t compare with what was sent. " +
			"Rotate the secret, or choose a webhook that still exists.",
		VI: "baoco không còn giữ khoá bí mật của webhook này nên không thể so với nội dung đã gửi. " +
			"Hãy đổi khoá bí mật, hoặc chọn webhook còn tồn tại.",
	}}
	unexplained = Mistake{"unknown", app.Text{
		EN: "None of the usual mistakes explains this. Check that body and header are from the same call, copied whole, and that the secret is " +
			"that of this webhook. With the webhook and the delivery chosen, baoco compares with what it sent.",
		VI: "Không có lỗi thường gặp nào giải thích được. Hãy kiểm tra nội dung và header là của cùng một lần gửi, chép trọn, và khoá bí mật " +
			"đúng của webhook này. Khi chọn webhook và thông báo, baoco so với nội dung đã gửi.",
	}}
)
