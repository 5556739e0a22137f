package app

// Mistake is one reason why a signature doesn't match, with what to do.
type Mistake struct {
	Code string // for programs; it never changes its meaning
	Text Text
}

// mistakeCode is the code of a mistake, whose text is in mistakeTexts.
type mistakeCode string

// mistake is the mistake, with what its text names, the same in both languages.
func (m mistakeCode) mistake(names ...any) Mistake {
	text := mistakeTexts[m]
	if len(names) > 0 {
		text = Textf(text.EN, text.VI, names...)
	}
	return Mistake{string(m), text}
}

func mistakesOf(codes []mistakeCode) (list []Mistake) {
	for _, m := range codes {
		list = append(list, m.mistake())
	}
	return list
}

// The mistakes in the secret that was entered.
const (
	mistakeSecretSpace   mistakeCode = "secret_space"
	mistakeSecretQuotes  mistakeCode = "secret_quotes"
	mistakeSecretName    mistakeCode = "secret_name"
	mistakeSecretPlus    mistakeCode = "secret_plus"
	mistakeSecretPadding mistakeCode = "secret_padding"
	mistakeSecretPrefix  mistakeCode = "secret_prefix"
	mistakeSecretDecoded mistakeCode = "secret_decoded"
	mistakeSecretShape   mistakeCode = "secret_shape"
	mistakeSecretOther   mistakeCode = "secret_other"
	mistakeSecretUnknown mistakeCode = "secret_unknown"
	mistakeSecretWebhook mistakeCode = "secret_of_other_webhook"
	mistakeSecretEarly   mistakeCode = "secret_next"
	mistakeSecretFormer  mistakeCode = "secret_former"
	mistakeSecretStale   mistakeCode = "secret_replaced"
	mistakeSecretLost    mistakeCode = "secret_lost"
	mistakeSecretRight   mistakeCode = "secret_right"
	mistakeCallFormer    mistakeCode = "call_before_change"
	mistakeCallNext      mistakeCode = "call_under_next"
	mistakeCallWebhook   mistakeCode = "call_of_other_webhook"
)

// The mistakes in the body that was seen.
const (
	mistakeBodyEmpty   mistakeCode = "body_empty"
	mistakeBodyObject  mistakeCode = "body_object"
	mistakeBodyMark    mistakeCode = "body_bom"
	mistakeBodyEnd     mistakeCode = "body_line_break"
	mistakeBodySpaces  mistakeCode = "body_spaces"
	mistakeBodySlashes mistakeCode = "body_slashes"
	mistakeBodyUnicode mistakeCode = "body_unicode"
	mistakeBodyOrder   mistakeCode = "body_order"
	mistakeBodyValues  mistakeCode = "body_values"
	mistakeBodyCut     mistakeCode = "body_cut"
	mistakeBodyChanged mistakeCode = "body_changed"
	mistakeBodyBase64  mistakeCode = "body_base64"
	mistakeBodyString  mistakeCode = "body_string"
	mistakeBodyForm    mistakeCode = "body_form"
	mistakeBodyHTML    mistakeCode = "body_html"
	mistakeBodyQuoted  mistakeCode = "body_backslashes"
	mistakeBodyLatin   mistakeCode = "body_encoding"
	mistakeBodyPart    mistakeCode = "body_part"
	mistakeBodyResign  mistakeCode = "body_of_other_secret"
)

// The mistakes in the header's value, or in how it was computed.
const (
	mistakeSignatureShape    mistakeCode = "signature_shape"
	mistakeSignatureIsSecret mistakeCode = "signature_is_secret"
	mistakeSignaturePrefix   mistakeCode = "signature_prefix"
	mistakeSignatureCapitals mistakeCode = "signature_capitals"
	mistakeSignatureChecksum mistakeCode = "signature_is_checksum"
	mistakeSignatureBase64   mistakeCode = "signature_base64"
	mistakeSignatureStandard mistakeCode = "signature_is_standard"
	mistakeSignatureNotSent  mistakeCode = "signature_not_sent"
	mistakeKeyStripped       mistakeCode = "key_without_prefix"
	mistakeKeyDecoded        mistakeCode = "key_decoded"
	mistakeKeyNone           mistakeCode = "key_none"
	mistakeKeyJoined         mistakeCode = "key_joined"
	mistakeKeySwapped        mistakeCode = "key_swapped"
	mistakeOtherHash         mistakeCode = "other_hash"
	mistakeStandardNeeds     mistakeCode = "standard_needs_headers"
	mistakeStandardKey       mistakeCode = "standard_key"
	mistakeStandardMessage   mistakeCode = "standard_message"
	mistakeStandardTime      mistakeCode = "standard_timestamp"
	mistakeMessageID         mistakeCode = "message_id_unknown"
	mistakeUnknown           mistakeCode = "unknown"
)

var mistakeTexts = map[mistakeCode]Text{
	mistakeSecretSpace: {
		"The secret has spaces or a line break in it. Remove them where your server stores it, or trim the value after reading it.",
		"Secret bị lẫn khoảng trắng hoặc ký tự xuống dòng. Hãy xoá đi ở nơi máy chủ lưu secret, hoặc cắt khoảng trắng (trim) sau khi đọc.",
	},
	mistakeSecretQuotes: {
		"The secret has quotes around it. Store it without them: they are not part of the key.",
		"Secret bị bao trong dấu nháy. Hãy lưu không có dấu nháy: dấu nháy không thuộc về khoá.",
	},
	mistakeSecretName: {
		"A whole line of the settings was taken as the secret. The key is only the part that begins with whsec_.",
		"Cả dòng cấu hình bị lấy làm secret. Khoá chỉ là phần bắt đầu bằng whsec_.",
	},
	mistakeSecretPlus: {
		"The plus signs in the secret have become spaces, as happens in a form or URL. Enter the secret again as it was shown.",
		"Dấu cộng trong secret đã biến thành khoảng trắng, thường do đi qua form hoặc URL. Hãy nhập lại đúng như lúc hiển thị.",
	},
	mistakeSecretPadding: {
		"The = at the end of the secret is missing; a double click leaves it out. Copy the whole secret.",
		"Secret thiếu dấu = ở cuối; nhấp đúp để chọn thường bỏ sót dấu này. Hãy chép trọn secret.",
	},
	mistakeSecretPrefix: {
		"The secret lacks whsec_ at its beginning. The key of X-Webhook-Signature is the whole secret, whsec_ included.",
		"Secret thiếu whsec_ ở đầu. Khoá của X-Webhook-Signature là toàn bộ secret, kể cả whsec_.",
	},
	mistakeSecretDecoded: {
		"The secret was base64-decoded. Use it as the text that was shown, beginning with whsec_, without decoding.",
		"Secret đã bị giải mã base64. Hãy dùng nguyên chuỗi lúc hiển thị, bắt đầu bằng whsec_, không giải mã.",
	},
	mistakeSecretShape: {
		"This is not a webhook secret: that is whsec_ followed by 44 characters, 50 in all. Check that it was copied whole, and that it is not an API key.",
		"Đây không phải secret của webhook: secret gồm whsec_ và 44 ký tự, tổng cộng 50. Hãy kiểm tra đã chép trọn chưa, và có nhầm với khoá API không.",
	},
	mistakeSecretOther: {
		"The call is genuine: it was signed with a secret of the webhook “%s”. The secret you entered is another. Configure the right one, or rotate the secret if you no longer have it.",
		"Lượt gọi này là thật: được ký bằng secret của webhook “%s”. Secret bạn nhập là secret khác. Hãy cấu hình đúng secret, hoặc đổi secret nếu không còn giữ.",
	},
	mistakeSecretUnknown: {
		"The secret you entered belongs to no webhook here. If it was rotated, configure the new one; if it was lost, rotate it.",
		"Secret bạn nhập không thuộc webhook nào ở đây. Nếu đã đổi secret, hãy cấu hình secret mới; nếu bị mất, hãy đổi secret.",
	},
	mistakeSecretWebhook: {
		"The secret you entered is that of the webhook “%s”, but the call is from the webhook “%s”. Each webhook has its own secret.",
		"Secret bạn nhập là của webhook “%s”, nhưng lượt gọi đến từ webhook “%s”. Mỗi webhook có secret riêng.",
	},
	mistakeSecretEarly: {
		"You entered the new secret of a rotation, but X-Webhook-Signature is still made with the old one until the overlap ends. Activate the new secret now, or keep the old one until then.",
		"Bạn nhập secret mới của lần đổi secret, nhưng X-Webhook-Signature vẫn được ký bằng secret cũ đến hết thời gian chuyển tiếp. Hãy kích hoạt secret mới ngay, hoặc giữ secret cũ đến lúc đó.",
	},
	mistakeSecretFormer: {
		"You entered the old secret, but the new one has replaced it. Configure the new secret.",
		"Bạn nhập secret cũ, nhưng secret mới đã thay thế. Hãy cấu hình secret mới.",
	},
	mistakeSecretStale: {
		"The secret you entered is not the one this webhook signs with now. New calls need the new one.",
		"Secret bạn nhập không còn là secret mà webhook này đang dùng để ký. Các lượt gọi mới cần secret mới.",
	},
	mistakeSecretLost: {
		"baoco no longer has the secret of this webhook, so it can’t compare with what was sent. Rotate the secret, or choose a webhook that still exists.",
		"baoco không còn giữ secret của webhook này nên không thể so với nội dung đã gửi. Hãy đổi secret, hoặc chọn webhook còn tồn tại.",
	},
	mistakeSecretRight: {
		"The secret is right. It is the signature or the body that is not as it was sent.",
		"Secret đúng. Chữ ký hoặc nội dung mới là phần không giống lúc gửi.",
	},
	mistakeCallFormer: {
		"This call was signed with the secret that was in use before the rotation. Check a newer call.",
		"Lượt gọi này được ký bằng secret trước khi đổi. Hãy kiểm tra lượt gọi mới hơn.",
	},
	mistakeCallNext: {
		"The signature is that of the new secret of a rotation.",
		"Chữ ký này được tạo bằng secret mới của lần đổi secret.",
	},
	mistakeCallWebhook: {
		"The call is genuine, but it was sent by the webhook “%s”. Each webhook has its own secret: use that one’s.",
		"Lượt gọi này là thật, nhưng do webhook “%s” gửi. Mỗi webhook có secret riêng: hãy dùng secret của webhook đó.",
	},

	mistakeBodyEmpty: {
		"The body is empty. Something read it before: in PHP read php://input once, in Node.js take the raw body before express.json().",
		"Nội dung rỗng. Phần khác đã đọc mất: với PHP hãy đọc php://input một lần, với Node.js hãy lấy nội dung gốc trước express.json().",
	},
	mistakeBodyObject: {
		"The body was parsed first, and an object is not its text. Compute the signature over the raw body, before JSON is read (in Express: express.raw()).",
		"Nội dung đã bị đọc thành đối tượng, không còn là văn bản gốc. Hãy tính chữ ký trên nội dung gốc, trước khi đọc JSON (Express: express.raw()).",
	},
	mistakeBodyMark: {
		"A byte order mark (BOM) stands before the body. Compute the signature over the bytes that arrived, without it.",
		"Có dấu BOM trước nội dung. Hãy tính chữ ký trên đúng các byte nhận được, không có BOM.",
	},
	mistakeBodyEnd: {
		"A line break or space was added before or after the body. Compute the signature over the bytes that arrived, without it.",
		"Có ký tự xuống dòng hoặc khoảng trắng thừa ở đầu hoặc cuối nội dung. Hãy tính chữ ký trên đúng các byte nhận được.",
	},
	mistakeBodySpaces: {
		"The JSON was written anew with spaces or line breaks in it. Compute the signature over the raw body, not over what json_encode or JSON.stringify makes of it.",
		"JSON đã bị viết lại, thêm khoảng trắng hoặc xuống dòng. Hãy tính chữ ký trên nội dung gốc, không phải trên kết quả của json_encode hay JSON.stringify.",
	},
	mistakeBodySlashes: {
		"The JSON was written anew with / as \\/, which json_encode does in PHP. Compute the signature over the raw body (file_get_contents('php://input')).",
		"JSON đã bị viết lại, / thành \\/, như json_encode của PHP. Hãy tính chữ ký trên nội dung gốc (file_get_contents('php://input')).",
	},
	mistakeBodyUnicode: {
		"The JSON was written anew with characters as \\u…, which json_encode (PHP) and json.dumps (Python) do. Compute the signature over the raw body.",
		"JSON đã bị viết lại, ký tự thành \\u…, như json_encode (PHP) và json.dumps (Python). Hãy tính chữ ký trên nội dung gốc.",
	},
	mistakeBodyOrder: {
		"The JSON was written anew with its fields in another order, or with other fields. Compute the signature over the raw body.",
		"JSON đã bị viết lại, các trường đổi thứ tự hoặc khác đi. Hãy tính chữ ký trên nội dung gốc.",
	},
	mistakeBodyValues: {
		"The JSON was written anew: it says the same, in other bytes. Compute the signature over the raw body.",
		"JSON đã bị viết lại: cùng ý nghĩa nhưng khác byte. Hãy tính chữ ký trên nội dung gốc.",
	},
	mistakeBodyCut: {
		"The end of the body is missing. Check the limits of your server, of its log, and of the field it was copied from.",
		"Nội dung bị cắt mất phần cuối. Hãy kiểm tra giới hạn của máy chủ, của nhật ký, và của ô mà bạn đã chép.",
	},
	mistakeBodyChanged: {
		"The body is not the one that was sent. Something on the way, or your own code, changed it before the signature was checked.",
		"Nội dung không giống nội dung đã gửi. Phần nào đó trên đường đi, hoặc chính mã của bạn, đã sửa trước khi kiểm tra chữ ký.",
	},
	mistakeBodyBase64: {
		"The body is base64, as behind an API gateway (isBase64Encoded). Decode it first, then compute the signature.",
		"Nội dung đang ở dạng base64, thường do API gateway (isBase64Encoded). Hãy giải mã trước rồi mới tính chữ ký.",
	},
	mistakeBodyString: {
		"The body was encoded as a JSON string once more. Compute the signature over the raw body, without json_encode.",
		"Nội dung bị mã hoá thêm một lần thành chuỗi JSON. Hãy tính chữ ký trên nội dung gốc, không qua json_encode.",
	},
	mistakeBodyForm: {
		"The body was read or written as a form (%7B for {). Read the raw body as application/json.",
		"Nội dung bị đọc hoặc ghi như một form (%7B thay cho {). Hãy đọc nội dung gốc dạng application/json.",
	},
	mistakeBodyHTML: {
		"Characters of the body were replaced for HTML (&quot; for \"), by htmlspecialchars or an input filter. Compute the signature over the raw body.",
		"Ký tự trong nội dung bị thay theo HTML (&quot; thay cho \"), do htmlspecialchars hoặc bộ lọc đầu vào. Hãy tính chữ ký trên nội dung gốc.",
	},
	mistakeBodyQuoted: {
		"Backslashes were added to the body, as addslashes and WordPress do. Compute the signature over the raw body (php://input).",
		"Nội dung bị thêm dấu gạch chéo ngược, như addslashes và WordPress. Hãy tính chữ ký trên nội dung gốc (php://input).",
	},
	mistakeBodyLatin: {
		"The body was read in another encoding than UTF-8, so Vietnamese letters have become two or three. Compute the signature over the bytes that arrived, before they are made a text.",
		"Nội dung bị đọc theo bảng mã khác UTF-8 nên chữ tiếng Việt biến thành hai, ba ký tự. Hãy tính chữ ký trên các byte nhận được, trước khi chuyển thành văn bản.",
	},
	mistakeBodyPart: {
		"This is only a part of the body. The signature is made over all of it, beginning with {\"transactions\":[.",
		"Đây chỉ là một phần nội dung. Chữ ký được tạo trên toàn bộ, bắt đầu từ {\"transactions\":[.",
	},
	mistakeBodyResign: {
		"The body is what baoco sends, but its checksum is made with another secret: one that was in use before, or that of another webhook.",
		"Nội dung đúng như baoco gửi, nhưng checksum được tạo bằng secret khác: secret trước đây, hoặc của webhook khác.",
	},

	mistakeSignatureShape: {
		"This is not a signature: X-Webhook-Signature is 64 hexadecimal digits. Check that the whole value was copied, from the right header.",
		"Đây không phải chữ ký: X-Webhook-Signature gồm 64 chữ số thập lục phân. Hãy kiểm tra đã chép trọn giá trị, từ đúng header chưa.",
	},
	mistakeSignatureIsSecret: {
		"You entered the secret where the signature belongs. Enter the value of the X-Webhook-Signature header that your server received.",
		"Bạn nhập secret vào chỗ của chữ ký. Hãy nhập giá trị header X-Webhook-Signature mà máy chủ nhận được.",
	},
	mistakeSignaturePrefix: {
		"The value begins with sha256=. That is overlooked here, but baoco sends the bare digits: code that compares them with the prefix answers 401.",
		"Giá trị bắt đầu bằng sha256=. Ở đây bỏ qua, nhưng baoco chỉ gửi các chữ số: mã so sánh kèm tiền tố này sẽ trả về 401.",
	},
	mistakeSignatureCapitals: {
		"The value is in capital letters. That is overlooked here, but baoco sends small letters: code that compares them with capital ones answers 401.",
		"Giá trị viết hoa. Ở đây bỏ qua, nhưng baoco gửi chữ thường: mã so sánh với chữ hoa sẽ trả về 401.",
	},
	mistakeSignatureChecksum: {
		"This value is the checksum of a transaction, not the signature. The signature is in the X-Webhook-Signature header and is made over the whole body.",
		"Giá trị này là checksum của một giao dịch, không phải chữ ký. Chữ ký nằm trong header X-Webhook-Signature và được tạo trên toàn bộ nội dung.",
	},
	mistakeSignatureBase64: {
		"This value is the right signature written in base64. X-Webhook-Signature is hexadecimal: in Node.js digest('hex'), in PHP hash_hmac without true.",
		"Giá trị này là chữ ký đúng nhưng viết ở dạng base64. X-Webhook-Signature ở dạng thập lục phân: Node.js dùng digest('hex'), PHP dùng hash_hmac không có true.",
	},
	mistakeSignatureStandard: {
		"This value is made as webhook-signature is: over id, timestamp and body. X-Webhook-Signature is made over the body alone, with the whole secret as the key.",
		"Giá trị này được tạo theo cách của webhook-signature: trên id, timestamp và nội dung. X-Webhook-Signature chỉ được tạo trên nội dung, khoá là toàn bộ secret.",
	},
	mistakeSignatureNotSent: {
		"The signature is not the one that baoco sent with this body. Check that header and body are from the same call, and that the value is not one your code computed.",
		"Chữ ký không phải chữ ký baoco đã gửi kèm nội dung này. Hãy kiểm tra header và nội dung có cùng một lượt gọi, và giá trị không phải do mã của bạn tự tính.",
	},
	mistakeKeyStripped: {
		"This value was computed with the secret without whsec_. The key of X-Webhook-Signature is the whole secret, whsec_ included.",
		"Giá trị này được tính bằng secret bỏ whsec_. Khoá của X-Webhook-Signature là toàn bộ secret, kể cả whsec_.",
	},
	mistakeKeyDecoded: {
		"This value was computed with the base64-decoded secret. That is the key of webhook-signature; the key of X-Webhook-Signature is the whole secret as text.",
		"Giá trị này được tính bằng secret đã giải mã base64. Đó là khoá của webhook-signature; khoá của X-Webhook-Signature là toàn bộ secret dạng văn bản.",
	},
	mistakeKeyNone: {
		"This value is the SHA-256 of the body without a key. Use HMAC-SHA256 with the secret as the key (hash_hmac, createHmac).",
		"Giá trị này là SHA-256 của nội dung, không có khoá. Hãy dùng HMAC-SHA256 với secret làm khoá (hash_hmac, createHmac).",
	},
	mistakeKeyJoined: {
		"This value is the SHA-256 of secret and body joined together. Use HMAC-SHA256 with the secret as the key (hash_hmac, createHmac).",
		"Giá trị này là SHA-256 của secret ghép với nội dung. Hãy dùng HMAC-SHA256 với secret làm khoá (hash_hmac, createHmac).",
	},
	mistakeKeySwapped: {
		"Key and body are swapped in the computation of this value. The key is the secret, the message is the body.",
		"Khoá và nội dung bị đổi chỗ khi tính giá trị này. Khoá là secret, thông điệp là nội dung.",
	},
	mistakeOtherHash: {
		"This value was computed with another hash function. X-Webhook-Signature is HMAC-SHA256.",
		"Giá trị này được tính bằng hàm băm khác. X-Webhook-Signature dùng HMAC-SHA256.",
	},
	mistakeStandardNeeds: {
		"webhook-signature is made over webhook-id, webhook-timestamp and body. Enter both headers too.",
		"webhook-signature được tạo trên webhook-id, webhook-timestamp và nội dung. Hãy nhập thêm hai header này.",
	},
	mistakeStandardKey: {
		"This value was computed with the whole secret as text. The key of webhook-signature is the part after whsec_, base64-decoded.",
		"Giá trị này được tính bằng toàn bộ secret dạng văn bản. Khoá của webhook-signature là phần sau whsec_, giải mã base64.",
	},
	mistakeStandardMessage: {
		"This value was computed over the body alone. webhook-signature is made over webhook-id.webhook-timestamp.body.",
		"Giá trị này chỉ được tính trên nội dung. webhook-signature được tạo trên webhook-id.webhook-timestamp.nội dung.",
	},
	mistakeStandardTime: {
		"webhook-timestamp is in seconds; the value you entered is in milliseconds.",
		"webhook-timestamp tính bằng giây; giá trị bạn nhập tính bằng mili giây.",
	},
	mistakeMessageID: {
		"This webhook-id is not that of the delivery, or of none here: the call may be from another installation.",
		"webhook-id này không phải của lượt gửi đó, hoặc không có ở đây: lượt gọi có thể đến từ một hệ thống baoco khác.",
	},
	mistakeUnknown: {
		"None of the usual mistakes explains this. Check that body and header are from the same call, copied whole, and that the secret is that of this webhook. With the webhook and the delivery chosen, baoco compares with what it sent.",
		"Không có lỗi thường gặp nào giải thích được. Hãy kiểm tra nội dung và header có cùng một lượt gọi, chép trọn, và secret đúng của webhook này. Khi chọn webhook và lượt gửi, baoco so với nội dung đã gửi.",
	},
}
