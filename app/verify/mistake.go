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
		EN: "The secret has spaces or a line break in it. Remove them where your server stores it, or trim the value after reading it.",
		VI: "Khoá bí mật bị lẫn khoảng trắng hoặc ký tự xuống dòng. Hãy xoá đi ở nơi máy chủ lưu khoá bí mật, hoặc cắt khoảng trắng (trim) sau khi đọc.",
	}}
	secretQuotes = Mistake{"secret_quotes", app.Text{
		EN: "The secret has quotes around it. Store it without them: they are not part of the key.",
		VI: "Khoá bí mật bị bao trong dấu nháy. Hãy lưu không có dấu nháy: dấu nháy không thuộc về khoá.",
	}}
	secretWithoutPrefix = Mistake{"secret_prefix", app.Text{
		EN: "The secret lacks whsec_ at its beginning. The key of X-Webhook-Signature is the whole secret, whsec_ included.",
		VI: "Khoá bí mật thiếu whsec_ ở đầu. Khoá của X-Webhook-Signature là toàn bộ khoá bí mật, kể cả whsec_.",
	}}
	secretOfOtherWebhook = Mistake{"secret_of_other_webhook", app.Text{
		EN: "The secret you entered is that of the webhook “%s”, but the call is from the webhook “%s”. Each webhook has its own secret.",
		VI: "Khoá bí mật bạn nhập là của webhook “%s”, nhưng lần gửi đến từ webhook “%s”. Mỗi webhook có khoá bí mật riêng.",
	}}
	secretNext = Mistake{"secret_next", app.Text{
		EN: "You entered the new secret of a rotation, but X-Webhook-Signature is still made with the old one until the overlap ends. Activate the new secret now, or keep the old one until then.",
		VI: "Bạn nhập khoá bí mật mới của lần đổi khoá bí mật, nhưng X-Webhook-Signature vẫn được ký bằng khoá bí mật cũ đến hết thời gian chuyển tiếp. Hãy kích hoạt khoá bí mật mới ngay, hoặc giữ khoá bí mật cũ đến lúc đó.",
	}}
	secretFormer = Mistake{"secret_former", app.Text{
		EN: "You entered the old secret, but the new one has replaced it. Configure the new secret.",
		VI: "Bạn nhập khoá bí mật cũ, nhưng khoá bí mật mới đã thay thế. Hãy cấu hình khoá bí mật mới.",
	}}

	bodyEmpty = Mistake{"body_empty", app.Text{
		EN: "The body is empty. Something read it before: in PHP read php://input once, in Node.js take the raw body before express.json().",
		VI: "Nội dung rỗng. Phần khác đã đọc mất: với PHP hãy đọc php://input một lần, với Node.js hãy lấy nội dung gốc trước express.json().",
	}}
	bodySpace = Mistake{"body_line_break", app.Text{
		EN: "A line break or space was added before or after the body. Compute the signature over the bytes that arrived, without it.",
		VI: "Có ký tự xuống dòng hoặc khoảng trắng thừa ở đầu hoặc cuối nội dung. Hãy tính chữ ký trên đúng các byte nhận được.",
	}}
	bodyEncodedAgain = Mistake{"body_values", app.Text{
		EN: "The JSON was written anew: it says the same, in other bytes. Compute the signature over the raw body.",
		VI: "JSON đã bị viết lại: cùng ý nghĩa nhưng khác byte. Hãy tính chữ ký trên nội dung gốc.",
	}}
	bodyChanged = Mistake{"body_changed", app.Text{
		EN: "The body is not the one that was sent. Something on the way, or your own code, changed it before the signature was checked.",
		VI: "Nội dung không giống nội dung đã gửi. Phần nào đó trên đường đi, hoặc chính mã của bạn, đã sửa trước khi kiểm tra chữ ký.",
	}}

	signatureShape = Mistake{"signature_shape", app.Text{
		EN: "This is not a signature: X-Webhook-Signature is 64 hexadecimal digits. Check that the whole value was copied, from the right header.",
		VI: "Đây không phải chữ ký: X-Webhook-Signature gồm 64 chữ số thập lục phân. Hãy kiểm tra đã chép trọn giá trị, từ đúng header chưa.",
	}}
	signaturePrefix = Mistake{"signature_prefix", app.Text{
		EN: "The value begins with sha256=. That is overlooked here, but baoco sends the bare digits: code that compares them with the prefix answers 401.",
		VI: "Giá trị bắt đầu bằng sha256=. Ở đây bỏ qua, nhưng baoco chỉ gửi các chữ số: mã so sánh kèm tiền tố này sẽ trả về 401.",
	}}
	signatureBase64 = Mistake{"signature_base64", app.Text{
		EN: "This value is the right signature written in base64. X-Webhook-Signature is hexadecimal: in Node.js digest('hex'), in PHP hash_hmac without true.",
		VI: "Giá trị này là chữ ký đúng nhưng viết ở dạng base64. X-Webhook-Signature ở dạng thập lục phân: Node.js dùng digest('hex'), PHP dùng hash_hmac không có true.",
	}}
	signatureIsChecksum = Mistake{"signature_is_checksum", app.Text{
		EN: "This value is the checksum of a transaction, not the signature. The signature is in the X-Webhook-Signature header and is made over the whole body.",
		VI: "Giá trị này là checksum của một giao dịch, không phải chữ ký. Chữ ký nằm trong header X-Webhook-Signature và được tạo trên toàn bộ nội dung.",
	}}
	timestampExpired = Mistake{"timestamp_expired", app.Text{
		EN: "webhook-timestamp is more than five minutes from the present time. Libraries for Standard Webhooks refuse such a call. If they refuse new calls too, set the clock of your server.",
		VI: "webhook-timestamp lệch hơn 5 phút so với hiện tại. Thư viện Standard Webhooks từ chối lần gửi như vậy. Nếu lần gửi mới cũng bị từ chối, hãy chỉnh lại đồng hồ máy chủ.",
	}}
)

// What else is said of a call, such as which of its parts is right.
var (
	secretOther = Mistake{"secret_other", app.Text{
		EN: "The call is genuine: it was signed with a secret of the webhook “%s”. The secret you entered is another. Configure the right one, or rotate the secret if you no longer have it.",
		VI: "Lần gửi này là thật: được ký bằng khoá bí mật của webhook “%s”. Khoá bí mật bạn nhập là khoá bí mật khác. Hãy cấu hình đúng khoá bí mật, hoặc đổi khoá bí mật nếu không còn giữ.",
	}}
	secretUnknown = Mistake{"secret_unknown", app.Text{
		EN: "The secret you entered belongs to no webhook here. If it was rotated, configure the new one; if it was lost, rotate it.",
		VI: "Khoá bí mật bạn nhập không thuộc webhook nào ở đây. Nếu đã đổi khoá bí mật, hãy cấu hình khoá bí mật mới; nếu bị mất, hãy đổi khoá bí mật.",
	}}
	secretLost = Mistake{"secret_lost", app.Text{
		EN: "baoco no longer has the secret of this webhook, so it can’t compare with what was sent. Rotate the secret, or choose a webhook that still exists.",
		VI: "baoco không còn giữ khoá bí mật của webhook này nên không thể so với nội dung đã gửi. Hãy đổi khoá bí mật, hoặc chọn webhook còn tồn tại.",
	}}
	secretRight = Mistake{"secret_right", app.Text{
		EN: "The secret is right. It is the signature or the body that is not as it was sent.",
		VI: "Khoá bí mật đúng. Chữ ký hoặc nội dung mới là phần không giống lúc gửi.",
	}}
	callOfOtherWebhook = Mistake{"call_of_other_webhook", app.Text{
		EN: "The call is genuine, but it was sent by the webhook “%s”. Each webhook has its own secret: use that one’s.",
		VI: "Lần gửi này là thật, nhưng do webhook “%s” gửi. Mỗi webhook có khoá bí mật riêng: hãy dùng khoá bí mật của webhook đó.",
	}}
	callBeforeRotation = Mistake{"call_before_change", app.Text{
		EN: "This call was signed with the secret that was in use before the rotation. Check a newer call.",
		VI: "Lần gửi này được ký bằng khoá bí mật trước khi đổi. Hãy kiểm tra một lần gửi mới hơn.",
	}}
	bodyOfOtherSecret = Mistake{"body_of_other_secret", app.Text{
		EN: "The body is what baoco sends, but its checksum is made with another secret: one that was in use before, or that of another webhook.",
		VI: "Nội dung đúng như baoco gửi, nhưng checksum được tạo bằng khoá bí mật khác: khoá bí mật trước đây, hoặc của webhook khác.",
	}}
	standardNeedsHeaders = Mistake{"standard_needs_headers", app.Text{
		EN: "webhook-signature is made over webhook-id, webhook-timestamp and body. Enter both headers too.",
		VI: "webhook-signature được tạo trên webhook-id, webhook-timestamp và nội dung. Hãy nhập thêm hai header này.",
	}}
	unexplained = Mistake{"unknown", app.Text{
		EN: "None of the usual mistakes explains this. Check that body and header are from the same call, copied whole, and that the secret is that of this webhook. With the webhook and the delivery chosen, baoco compares with what it sent.",
		VI: "Không có lỗi thường gặp nào giải thích được. Hãy kiểm tra nội dung và header là của cùng một lần gửi, chép trọn, và khoá bí mật đúng của webhook này. Khi chọn webhook và thông báo, baoco so với nội dung đã gửi.",
	}}
)
