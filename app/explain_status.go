package app

// explainStatus says what an answer other than 200 means in practice.
func explainStatus(status int) Text {
	if text, found := statusExplanations[status]; found {
		return text
	}
	switch {
	case status > 200 && status < 300:
		return Textf(
			"Your server answered %d; only 200 counts as received: have it answer 200 once the transaction is stored.",
			"Máy chủ của bạn trả về %d, nhưng chỉ mã 200 mới được tính là đã nhận: hãy trả về 200 sau khi đã lưu giao dịch.", status)
	case status >= 400 && status < 500:
		return Textf(
			"Your server refused the request (%d): its log tells why, and 200 is what it should answer.",
			"Máy chủ của bạn từ chối yêu cầu (%d): vui lòng xem nguyên nhân trong nhật ký của máy chủ, và sửa để trả về 200.", status)
	case status >= 520 && status <= 530:
		return Textf(
			"Cloudflare answered %d because it could not get an answer from your server: check that the server is running and that its firewall lets Cloudflare in.",
			"Cloudflare trả về %d vì không nhận được trả lời từ máy chủ của bạn: vui lòng kiểm tra xem máy chủ có đang chạy và tường lửa có cho phép Cloudflare không.", status)
	case status >= 500 && status < 600:
		return Textf(
			"The program behind the URL failed (%d): look for the error in the log of your server.",
			"Chương trình xử lý tại URL bị lỗi (%d): vui lòng xem lỗi trong nhật ký của máy chủ.", status)
	}
	return Textf(
		"Your server answered %d, which is not an answer to a POST: check that the webhook's URL leads to your program, and have it answer 200.",
		"Máy chủ của bạn trả về %d, không phải câu trả lời cho yêu cầu POST: vui lòng kiểm tra URL của webhook có dẫn đến chương trình của bạn không, và trả về 200.", status)
}

// statusExplanations are the answers whose cause is known from experience.
var statusExplanations = map[int]Text{
	400: {
		"Your server found the request malformed (400): look in its log for what it expects, and have it answer 200 once the transaction is stored.",
		"Máy chủ của bạn cho rằng yêu cầu không hợp lệ (400): vui lòng xem nhật ký để biết máy chủ cần gì, và trả về 200 sau khi đã lưu giao dịch.",
	},
	401: {
		"Your server did not accept the signature or asks for a login (401): verify with this webhook's secret over the raw body, and let the URL be called without a login.",
		"Máy chủ của bạn không chấp nhận chữ ký hoặc yêu cầu đăng nhập (401): vui lòng kiểm tra chữ ký bằng secret của webhook này trên nội dung gốc, và cho phép gọi URL mà không cần đăng nhập.",
	},
	403: {
		"Your server or the firewall in front of it forbids the request (403): let POST requests from baoco through, without a login, CSRF check or bot protection.",
		"Máy chủ của bạn hoặc tường lửa phía trước chặn yêu cầu (403): vui lòng cho phép yêu cầu POST của baoco đi qua, không cần đăng nhập, kiểm tra CSRF hay chống bot.",
	},
	404: {
		"There is nothing at this URL on your server (404): check the path, and that the program behind it is deployed.",
		"Không có gì tại URL này trên máy chủ của bạn (404): vui lòng kiểm tra đường dẫn và chương trình xử lý đã được triển khai chưa.",
	},
	405: {
		"This URL does not take POST requests (405): add a POST route for it, or enter the URL that has one.",
		"URL này không nhận yêu cầu POST (405): vui lòng thêm route POST cho URL, hoặc nhập URL có nhận POST.",
	},
	406: {
		"A filter on your server refused the request (406), often ModSecurity: have your hosting provider exempt this URL.",
		"Bộ lọc trên máy chủ của bạn từ chối yêu cầu (406), thường là ModSecurity: vui lòng nhờ nhà cung cấp hosting loại trừ URL này.",
	},
	408: {
		"Your server gave up waiting for the request (408): check its load and the proxy in front of it.",
		"Máy chủ của bạn chờ yêu cầu quá lâu (408): vui lòng kiểm tra tải của máy chủ và proxy phía trước.",
	},
	409: {
		"Your server answered that the request conflicts with something (409): if it means that it has the transaction already, have it answer 200.",
		"Máy chủ của bạn báo xung đột (409): nếu điều đó nghĩa là đã nhận giao dịch này rồi, hãy trả về 200.",
	},
	410: {
		"Your server says that this URL is gone (410): enter the present URL in the webhook, or delete the webhook if nobody needs it.",
		"Máy chủ của bạn báo rằng URL này không còn nữa (410): vui lòng nhập URL hiện tại vào webhook, hoặc xoá webhook nếu không cần nữa.",
	},
	413: {
		"Your server takes smaller bodies than this one (413): allow at least 64 KB for this URL, in nginx with client_max_body_size.",
		"Máy chủ của bạn không nhận nội dung lớn như vậy (413): vui lòng cho phép ít nhất 64 KB cho URL này, với nginx là client_max_body_size.",
	},
	415: {
		"Your server does not take this type of body (415): have it read application/json.",
		"Máy chủ của bạn không nhận kiểu nội dung này (415): hãy để máy chủ đọc application/json.",
	},
	419: {
		"The CSRF check of your server refused the request (419, as Laravel does): except the path of this URL from CSRF verification.",
		"Cơ chế kiểm tra CSRF trên máy chủ của bạn từ chối yêu cầu (419, thường gặp ở Laravel): vui lòng loại trừ đường dẫn của URL này khỏi kiểm tra CSRF.",
	},
	422: {
		"Your server read the request but found a field invalid (422): compare its validation with the fields that baoco sends.",
		"Máy chủ của bạn đọc được yêu cầu nhưng cho rằng có trường không hợp lệ (422): vui lòng đối chiếu phần kiểm tra dữ liệu với các trường mà baoco gửi.",
	},
	429: {
		"Your server or the protection in front of it limits how many requests it takes (429): exempt this URL or baoco's address from that limit.",
		"Máy chủ của bạn hoặc lớp bảo vệ phía trước giới hạn số yêu cầu (429): vui lòng loại trừ URL này hoặc địa chỉ của baoco khỏi giới hạn đó.",
	},
	500: {
		"The program behind the URL failed (500): look for the error in its log, correct it and resend.",
		"Chương trình xử lý tại URL bị lỗi (500): vui lòng xem lỗi trong nhật ký, sửa rồi gửi lại.",
	},
	501: {
		"This URL does not take POST requests (501): add a POST route for it, or enter the URL that has one.",
		"URL này không nhận yêu cầu POST (501): vui lòng thêm route POST cho URL, hoặc nhập URL có nhận POST.",
	},
	502: {
		"Your web server got no answer from the program behind it (502): check that the program (PHP-FPM, Node or another) is running, and read its log.",
		"Máy chủ web của bạn không nhận được trả lời từ chương trình phía sau (502): vui lòng kiểm tra chương trình đó (PHP-FPM, Node, ...) có đang chạy không và xem nhật ký.",
	},
	503: {
		"Your server is overloaded or in maintenance (503): end the maintenance, or start the program behind it and check its load.",
		"Máy chủ của bạn đang quá tải hoặc bảo trì (503): vui lòng kết thúc bảo trì, hoặc khởi động chương trình phía sau và kiểm tra tải.",
	},
	504: slowBehindProxy(504),
	507: {
		"The disk of your server is full (507): make room on it.",
		"Ổ đĩa máy chủ của bạn đã đầy (507): vui lòng giải phóng dung lượng.",
	},
	509: {
		"Your hosting plan has used up its traffic (509): ask your hosting provider to raise the limit.",
		"Gói hosting của bạn đã dùng hết băng thông (509): vui lòng liên hệ nhà cung cấp hosting để nâng giới hạn.",
	},
	524: slowBehindProxy(524),
	525: proxyTLS(525),
	526: proxyTLS(526),
}

func slowBehindProxy(status int) Text {
	return Textf(
		"The program behind your web server or proxy was too slow (%d): have it answer 200 first and do the work afterwards.",
		"Chương trình phía sau máy chủ web hoặc proxy của bạn xử lý quá chậm (%d): hãy trả về 200 trước rồi mới xử lý công việc sau.", status)
}

func proxyTLS(status int) Text {
	return Textf(
		"Cloudflare could not connect to your server over TLS (%d): install a valid certificate there, or a Cloudflare origin certificate.",
		"Cloudflare không kết nối TLS được đến máy chủ của bạn (%d): vui lòng cài chứng chỉ hợp lệ hoặc chứng chỉ gốc của Cloudflare trên máy chủ.", status)
}
