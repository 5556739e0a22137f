package app

// explainStatus says what an answer other than 200 means in practice.
func explainStatus(status int) Text {
	if text, found := statusExplanations[status]; found {
		return text
	}
	switch {
	case status > 200 && status < 300:
		return Textf(
			"Your server returned %d, but only 200 counts as received. Return 200 once the transaction is stored.",
			"Máy chủ của bạn trả về %d, nhưng chỉ mã 200 mới được tính là đã nhận. Hãy trả về 200 sau khi đã lưu giao dịch.", status)
	case status >= 400 && status < 500:
		return Textf(
			"Your server rejected the request (%d). Check its log for the reason, and return 200 instead.",
			"Máy chủ của bạn từ chối yêu cầu (%d). Vui lòng xem nguyên nhân trong nhật ký của máy chủ và sửa để trả về 200.", status)
	case status >= 520 && status <= 530:
		return Textf(
			"Cloudflare returned %d because it got no response from your server. Check that the server is running and that its firewall allows Cloudflare.",
			"Cloudflare trả về %d vì không nhận được phản hồi từ máy chủ của bạn. Vui lòng kiểm tra máy chủ có đang chạy và tường lửa có cho phép Cloudflare không.", status)
	case status >= 500 && status < 600:
		return Textf(
			"The program behind the URL failed (%d). Check your server’s error log.",
			"Chương trình xử lý tại URL bị lỗi (%d). Vui lòng xem nhật ký lỗi của máy chủ.", status)
	}
	return Textf(
		"Your server returned %d, which is not a valid response to a POST. Check that the webhook URL points to your program, and return 200.",
		"Máy chủ của bạn trả về %d, không phải phản hồi hợp lệ cho yêu cầu POST. Vui lòng kiểm tra URL của webhook có dẫn đến chương trình của bạn không, và trả về 200.", status)
}

// statusExplanations are the answers whose cause is known from experience.
var statusExplanations = map[int]Text{
	400: {
		"Your server considered the request malformed (400). Check its log for what it expects, and return 200 once the transaction is stored.",
		"Máy chủ của bạn cho rằng yêu cầu không hợp lệ (400). Vui lòng xem nhật ký để biết máy chủ cần gì, và trả về 200 sau khi đã lưu giao dịch.",
	},
	401: {
		"Your server did not accept the signature or requires a login (401). Verify the raw body with this webhook’s secret, and allow the URL to be called without a login.",
		"Máy chủ của bạn không chấp nhận chữ ký hoặc yêu cầu đăng nhập (401). Vui lòng kiểm tra chữ ký trên nội dung gốc bằng secret của webhook này, và cho phép gọi URL mà không cần đăng nhập.",
	},
	403: {
		"Your server or the firewall in front of it blocks the request (403). Allow POST requests from baoco without a login, CSRF check or bot protection.",
		"Máy chủ của bạn hoặc tường lửa phía trước chặn yêu cầu (403). Vui lòng cho phép yêu cầu POST của baoco đi qua, không cần đăng nhập, kiểm tra CSRF hay chống bot.",
	},
	404: {
		"There is nothing at this URL on your server (404). Check the path and that the program behind it is deployed.",
		"Không có gì tại URL này trên máy chủ của bạn (404). Vui lòng kiểm tra đường dẫn và chương trình xử lý đã được triển khai chưa.",
	},
	405: {
		"This URL does not accept POST requests (405). Add a POST route for it, or enter the URL that has one.",
		"URL này không nhận yêu cầu POST (405). Vui lòng thêm route POST cho URL, hoặc nhập URL có nhận POST.",
	},
	406: {
		"A filter on your server, often ModSecurity, rejected the request (406). Ask your hosting provider to exempt this URL.",
		"Bộ lọc trên máy chủ của bạn, thường là ModSecurity, từ chối yêu cầu (406). Vui lòng nhờ nhà cung cấp hosting loại trừ URL này.",
	},
	408: {
		"Your server timed out waiting for the request (408). Check its load and the proxy in front of it.",
		"Máy chủ của bạn hết thời gian chờ yêu cầu (408). Vui lòng kiểm tra tải của máy chủ và proxy phía trước.",
	},
	409: {
		"Your server reported a conflict (409). If it means that the transaction was already received, return 200.",
		"Máy chủ của bạn báo xung đột (409). Nếu điều đó nghĩa là đã nhận giao dịch này rồi, hãy trả về 200.",
	},
	410: {
		"Your server reports that this URL is gone (410). Enter the current URL in the webhook, or delete the webhook if it is no longer needed.",
		"Máy chủ của bạn báo rằng URL này không còn nữa (410). Vui lòng nhập URL hiện tại vào webhook, hoặc xoá webhook nếu không cần nữa.",
	},
	413: {
		"Your server does not accept a body of this size (413). Allow at least 64 KB for this URL (client_max_body_size in nginx).",
		"Máy chủ của bạn không nhận nội dung lớn như vậy (413). Vui lòng cho phép ít nhất 64 KB cho URL này (client_max_body_size với nginx).",
	},
	415: {
		"Your server does not accept this content type (415). Make it accept application/json.",
		"Máy chủ của bạn không nhận kiểu nội dung này (415). Hãy cấu hình để máy chủ nhận application/json.",
	},
	419: {
		"Your server’s CSRF check rejected the request (419, common with Laravel). Exclude the path of this URL from CSRF verification.",
		"Cơ chế kiểm tra CSRF trên máy chủ của bạn từ chối yêu cầu (419, thường gặp ở Laravel). Vui lòng loại trừ đường dẫn của URL này khỏi kiểm tra CSRF.",
	},
	422: {
		"Your server read the request but found a field invalid (422). Compare its validation with the fields that baoco sends.",
		"Máy chủ của bạn đọc được yêu cầu nhưng cho rằng có trường không hợp lệ (422). Vui lòng đối chiếu phần kiểm tra dữ liệu với các trường mà baoco gửi.",
	},
	429: {
		"Your server or the protection in front of it limits the number of requests (429). Exempt this URL or baoco’s address from that limit.",
		"Máy chủ của bạn hoặc lớp bảo vệ phía trước giới hạn số yêu cầu (429). Vui lòng loại trừ URL này hoặc địa chỉ của baoco khỏi giới hạn đó.",
	},
	500: {
		"The program behind the URL failed (500). Check its error log, fix the error and resend.",
		"Chương trình xử lý tại URL bị lỗi (500). Vui lòng xem nhật ký lỗi, sửa rồi gửi lại.",
	},
	501: {
		"This URL does not accept POST requests (501). Add a POST route for it, or enter the URL that has one.",
		"URL này không nhận yêu cầu POST (501). Vui lòng thêm route POST cho URL, hoặc nhập URL có nhận POST.",
	},
	502: {
		"Your web server got no response from the program behind it (502). Check that the program (PHP-FPM, Node or another) is running, and read its log.",
		"Máy chủ web của bạn không nhận được phản hồi từ chương trình phía sau (502). Vui lòng kiểm tra chương trình đó (PHP-FPM, Node…) có đang chạy không và xem nhật ký.",
	},
	503: {
		"Your server is overloaded or in maintenance (503). End the maintenance, or start the program behind it and check its load.",
		"Máy chủ của bạn đang quá tải hoặc bảo trì (503). Vui lòng kết thúc bảo trì, hoặc khởi động chương trình phía sau và kiểm tra tải.",
	},
	504: slowBehindProxy(504),
	507: {
		"Your server’s disk is full (507). Free up some space.",
		"Ổ đĩa máy chủ của bạn đã đầy (507). Vui lòng giải phóng dung lượng.",
	},
	509: {
		"Your hosting plan has used up its bandwidth (509). Ask your hosting provider to raise the limit.",
		"Gói hosting của bạn đã dùng hết băng thông (509). Vui lòng liên hệ nhà cung cấp hosting để nâng giới hạn.",
	},
	524: slowBehindProxy(524),
	525: proxyTLS(525),
	526: proxyTLS(526),
}

func slowBehindProxy(status int) Text {
	return Textf(
		"The program behind your web server or proxy was too slow (%d). Return 200 before doing any further processing.",
		"Chương trình phía sau máy chủ web hoặc proxy của bạn xử lý quá chậm (%d). Hãy trả về 200 trước rồi mới xử lý tiếp.", status)
}

func proxyTLS(status int) Text {
	return Textf(
		"Cloudflare could not connect to your server over TLS (%d). Install a valid certificate or a Cloudflare origin certificate on it.",
		"Cloudflare không kết nối TLS được đến máy chủ của bạn (%d). Vui lòng cài chứng chỉ hợp lệ hoặc chứng chỉ gốc của Cloudflare trên máy chủ.", status)
}
