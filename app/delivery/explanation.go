package delivery

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"baoco/app"
	"baoco/app/appsscript"
	"baoco/app/target"
)

// Explanation says in a sentence or two why an attempt failed and what to do
// next; empty after a success. It shows nothing that could be secret: no query
// of a URL, nothing of the answer's body.
func (r Result) Explanation() app.Text {
	if r.OK() {
		return app.Text{}
	}
	switch r.Error {
	case ErrorHTTPStatus, ErrorNone:
		return explainStatus(r.StatusCode)
	case ErrorRedirect:
		return explainRedirect(r.StatusCode, r.Detail.Text)
	case ErrorBlocked:
		return explainBlocked(r.Detail.Text)
	case ErrorAnswer:
		return app.Text{
			EN: "Your shop answered that it did not take the transaction: \"success\": false. Its answer says why.",
			VI: "Cửa hàng trả lời là chưa nhận giao dịch: \"success\": false. Lý do nằm trong câu trả lời của cửa hàng.",
		}
	}
	byCause, known := explanations[r.Error]
	if !known {
		byCause = explanations[ErrorInternal]
	}
	if text, found := byCause[r.Detail.Cause]; found {
		return text
	}
	return byCause[""]
}

// explanations is the table of errors without an HTTP answer, by class and
// cause. The cause "" stands for all others.
var explanations = map[ErrorClass]map[Cause]app.Text{
	ErrorTimeout: {
		"": {
			EN: "Your server did not respond within 10 seconds. Check that it can be reached, and return 200 before doing any further processing.",
			VI: "Máy chủ của bạn không phản hồi trong vòng 10 giây. Vui lòng kiểm tra máy chủ có truy cập được không, và trả về 200 trước " +
				"rồi mới xử lý tiếp.",
		},
		CauseDNS: {
			EN: "The domain in the webhook URL could not be resolved in time. Check the domain’s name servers and the DNS resolver of the " +
				"server that baoco runs on.",
			VI: "Không phân giải kịp tên miền trong URL của webhook. Vui lòng kiểm tra máy chủ DNS của tên miền và DNS của máy chủ đang chạy baoco.",
		},
		CauseConnect: {
			EN: "Could not connect to your server within 10 seconds. Check that it is running and that no firewall blocks baoco’s address.",
			VI: "Không kết nối được đến máy chủ của bạn trong vòng 10 giây. Vui lòng kiểm tra máy chủ có đang chạy không và tường lửa có chặn " +
				"địa chỉ của baoco không.",
		},
		CauseTLS: {
			EN: "Your server accepted the connection but did not complete the TLS handshake within 10 seconds. " +
				"Check its HTTPS configuration, its load, and whether a firewall drops a first TLS message of two packets: " +
				"with GODEBUG=tlsmlkem=0 baoco sends one.",
			VI: "Máy chủ của bạn nhận kết nối nhưng không hoàn tất bắt tay TLS trong vòng 10 giây. " +
				"Vui lòng kiểm tra cấu hình HTTPS, tải của máy chủ, và tường lửa có bỏ thông điệp TLS đầu tiên dài hai gói tin không: " +
				"với GODEBUG=tlsmlkem=0, baoco chỉ gửi một gói.",
		},
		CauseResponse: {
			EN: "Your server received the request but did not respond within 10 seconds. Return 200 before doing any further processing.",
			VI: "Máy chủ của bạn đã nhận yêu cầu nhưng không phản hồi trong vòng 10 giây. Hãy trả về 200 trước rồi mới xử lý tiếp.",
		},
	},
	ErrorDNS: {
		"": {
			EN: "The domain in the webhook URL could not be resolved. Check the domain’s name servers and the DNS resolver of the " +
				"server that baoco runs on.",
			VI: "Không phân giải được tên miền trong URL của webhook. Vui lòng kiểm tra máy chủ DNS của tên miền và DNS của máy " +
				"chủ đang chạy baoco.",
		},
		CauseNoSuchName: {
			EN: "The domain in the webhook URL does not exist or has no address. Check the spelling and the domain’s A record.",
			VI: "Tên miền trong URL của webhook không tồn tại hoặc không có địa chỉ. Vui lòng kiểm tra chính tả và bản ghi A của tên miền.",
		},
	},
	ErrorRefused: {"": {
		EN: "Nothing is listening on the host and port of the webhook URL. Start your web server or correct the port.",
		VI: "Không có dịch vụ nào đang chạy tại máy chủ và cổng trong URL của webhook. Vui lòng khởi động máy chủ web hoặc sửa lại cổng.",
	}},
	ErrorReset: {
		"": {
			EN: "Your server closed the connection without responding. Check its error log for a crash, and that no firewall interferes.",
			VI: "Máy chủ của bạn đóng kết nối mà không phản hồi. Vui lòng xem nhật ký lỗi của máy chủ và kiểm tra tường lửa có ngắt kết nối không.",
		},
		CauseTLS: {
			EN: "Your server closed the connection during the TLS handshake. Check that the port uses HTTPS and that no firewall interferes.",
			VI: "Máy chủ của bạn đóng kết nối khi đang bắt tay TLS. Vui lòng kiểm tra cổng này có dùng HTTPS không và tường lửa có " +
				"ngắt kết nối không.",
		},
	},
	ErrorConnection: {
		"": {
			EN: "The connection to your server failed. Check that the host and port of the webhook URL can be reached from the internet.",
			VI: "Kết nối đến máy chủ của bạn bị lỗi. Vui lòng kiểm tra máy chủ và cổng trong URL của webhook có truy cập được từ internet không.",
		},
		CauseUnreachable: {
			EN: "There is no route to your server’s address. Check that its network is up, and add an IPv4 address (A record) if " +
				"the domain only has IPv6.",
			VI: "Không có đường truyền đến địa chỉ máy chủ của bạn. Vui lòng kiểm tra mạng của máy chủ, và thêm địa chỉ IPv4 (bản ghi A) " +
				"nếu tên miền chỉ có IPv6.",
		},
	},
	ErrorTLS: {
		"": {
			EN: "The secure connection to your server failed. Check the certificate and HTTPS configuration of your web server.",
			VI: "Kết nối bảo mật đến máy chủ của bạn bị lỗi. Vui lòng kiểm tra chứng chỉ và cấu hình HTTPS của máy chủ web.",
		},
		CauseExpired: {
			EN: "Your server’s certificate has expired. Renew it and reload the web server.",
			VI: "Chứng chỉ của máy chủ đã hết hạn. Vui lòng gia hạn chứng chỉ rồi nạp lại máy chủ web.",
		},
		CauseNotYetValid: {
			EN: "Your server’s certificate is not valid yet. Check the clock of the server that baoco runs on, or wait until the " +
				"certificate becomes valid.",
			VI: "Chứng chỉ của máy chủ chưa có hiệu lực. Vui lòng kiểm tra đồng hồ của máy chủ đang chạy baoco, hoặc chờ đến khi " +
				"chứng chỉ có hiệu lực.",
		},
		CauseWrongName: {
			EN: "Your server’s certificate is for a different domain. Install one for the domain in the webhook URL, or use the domain " +
				"named in the certificate.",
			VI: "Chứng chỉ của máy chủ được cấp cho tên miền khác. Vui lòng cài chứng chỉ cho tên miền trong URL của webhook, hoặc dùng đúng tên " +
				"miền ghi trong chứng chỉ.",
		},
		CauseSelfSigned: {
			EN: "Your server’s certificate is self-signed and cannot be trusted. Install one from a public authority such as Let’s Encrypt.",
			VI: "Máy chủ của bạn dùng chứng chỉ tự ký nên không được tin cậy. Vui lòng cài chứng chỉ của một tổ chức công khai như Let’s Encrypt.",
		},
		CauseUnknownAuthority: {
			EN: "Your server’s certificate lacks its intermediate certificate or comes from an unknown authority. " +
				"Install the full chain (fullchain.pem) from a public authority such as Let’s Encrypt.",
			VI: "Chứng chỉ của máy chủ thiếu chứng chỉ trung gian hoặc do tổ chức không được tin cậy cấp. " +
				"Vui lòng cài chuỗi chứng chỉ đầy đủ (fullchain.pem) của một tổ chức công khai như Let’s Encrypt.",
		},
		CauseBadCertificate: {
			EN: "Your server’s certificate is not acceptable. Get a new one from a public authority such as Let’s Encrypt.",
			VI: "Chứng chỉ của máy chủ không hợp lệ. Vui lòng xin cấp chứng chỉ mới từ một tổ chức công khai như Let’s Encrypt.",
		},
		CauseNotTLS: {
			EN: "The port in the webhook URL does not use HTTPS. Enter the HTTPS port (usually 443), or enable HTTPS on this port.",
			VI: "Cổng trong URL của webhook không dùng HTTPS. Vui lòng nhập cổng có HTTPS (thường là 443), hoặc bật HTTPS cho cổng này.",
		},
		CauseOldTLS: {
			EN: "Your server only supports outdated, unsafe TLS versions. Enable TLS 1.2 or 1.3.",
			VI: "Máy chủ của bạn chỉ hỗ trợ phiên bản TLS cũ, không còn an toàn. Vui lòng bật TLS 1.2 hoặc 1.3.",
		},
		CauseClientCertificate: {
			EN: "Your server asks for a client certificate, which baoco does not have. " +
				"Turn that off for this URL and verify X-Webhook-Signature instead.",
			VI: "Máy chủ của bạn yêu cầu chứng chỉ phía máy khách, baoco không có chứng chỉ này. " +
				"Vui lòng tắt yêu cầu đó cho URL của webhook và kiểm tra X-Webhook-Signature để thay thế.",
		},
		CauseHandshake: {
			EN: "Your server and baoco could not agree on a secure connection. Enable TLS 1.2 or 1.3 with current ciphers, and check that HTTPS " +
				"is set up for this domain.",
			VI: "Máy chủ của bạn và baoco không thống nhất được kết nối bảo mật. Vui lòng bật TLS 1.2 hoặc 1.3 với bộ mã hoá hiện hành, và kiểm " +
				"tra HTTPS đã được cài cho tên miền này.",
		},
	},
	ErrorProtocol: {"": {
		EN: "Your server’s response is not HTTP/1.1 or has headers beyond 64 KiB. Check that the port in the URL is your web server’s, and use " +
			"https:// if it is an HTTPS port.",
		VI: "Phản hồi của máy chủ không đúng HTTP/1.1 hoặc có header vượt quá 64 KiB. Vui lòng kiểm tra cổng trong URL có phải của máy chủ web " +
			"không, và dùng https:// nếu cổng đó là HTTPS.",
	}},
	ErrorInternal: {"": {
		EN: "This attempt failed inside baoco, not on your server. It will be retried on schedule; the server log of baoco shows the cause.",
		VI: "Lần gửi này bị lỗi trong baoco, không phải do máy chủ của bạn. Hệ thống sẽ gửi lại theo lịch; " +
			"nguyên nhân có trong nhật ký của máy chủ chạy baoco.",
	}},
	ErrorShortage: {"": {
		EN: "baoco’s own server has no files, memory or network ports left, so nothing was sent. This does not count as an attempt; " +
			"please try again in a moment.",
		VI: "Máy chủ chạy baoco đã hết số tệp được mở, bộ nhớ hoặc cổng mạng nên chưa gửi gì đi. Lần này không bị tính là một lần gửi; " +
			"vui lòng thử lại sau giây lát.",
	}},
}

// Shortage says in a few words what this machine lacks for an attempt; empty
// for other causes.
func (c Cause) Shortage() app.Text {
	switch c {
	case CauseFiles:
		return app.Text{EN: "waiting: baoco’s server has no free file handles", VI: "đang chờ: máy chủ chạy baoco hết số tệp được mở"}
	case CauseMemory:
		return app.Text{EN: "waiting: baoco’s server has no free memory", VI: "đang chờ: máy chủ chạy baoco hết bộ nhớ"}
	case CausePorts:
		return app.Text{EN: "waiting: baoco’s server has no free network ports", VI: "đang chờ: máy chủ chạy baoco hết cổng mạng"}
	}
	return app.Text{}
}

// explainRedirect explains a redirect; of the target it shows what shownURL
// allows.
func explainRedirect(status int, location string) app.Text {
	if status == 304 {
		return app.Text{
			EN: "Your server returned 304 (not modified), which is not a valid response to a POST. Return 200 once the transaction is stored.",
			VI: "Máy chủ của bạn trả về 304 (không thay đổi), không phù hợp với yêu cầu POST. Hãy trả về 200 sau khi đã lưu giao dịch.",
		}
	}
	if appsscript.Ran(status, location) {
		return app.Text{
			EN: "This is a Google Apps Script: it ran and then answered with a redirect (302), which doesn’t count as 200 here, so the same row " +
				"is written again. Create a webhook of the kind Google Sheets for it, and delete this one.",
			VI: "Đây là Google Apps Script: mã đã chạy rồi trả về chuyển hướng (302), ở webhook này không được tính là 200 nên cùng một dòng sẽ " +
				"bị ghi lại nhiều lần. Hãy tạo webhook loại Google Sheets cho địa chỉ này và xoá webhook hiện tại.",
		}
	}
	if appsscript.AsksForLogin(location) {
		return app.Text{
			EN: "Google asks for a login. Deploy the Apps Script again as a web app that runs as you and that “Anyone” has access to.",
			VI: "Google yêu cầu đăng nhập. Hãy triển khai lại Apps Script dạng ứng dụng web, thực thi với tư cách là bạn và cho phép " +
				"“Bất kỳ ai” truy cập.",
		}
	}
	to := shownURL(location)
	if to == "" {
		return app.Textf(
			"Your server returned a redirect (%d), and redirects are not followed. Enter the final URL, the one that returns 200, in the webhook.",
			"Máy chủ của bạn trả về chuyển hướng (%d), nhưng baoco không đi theo chuyển hướng. "+
				"Vui lòng nhập vào webhook URL cuối cùng, là URL trả về 200.", status)
	}
	return app.Text{
		EN: fmt.Sprintf("Your server returned %d and redirects to %s, but redirects are not followed. "+
			"Enter that URL in the webhook or, if it is a login page, allow the current URL to be called without a login.", status, to),
		VI: fmt.Sprintf("Máy chủ của bạn trả về %d và chuyển hướng đến %s, nhưng baoco không đi theo chuyển hướng. "+
			"Vui lòng nhập URL đó vào webhook, hoặc nếu đó là trang đăng nhập, hãy cho phép gọi URL hiện tại mà không cần đăng nhập.", status, to),
	}
}

// shownURL is a URL without its query; "" if it isn't an http or https URL, is
// long or has unusual characters.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	shown := u.Scheme + "://" + u.Host + u.EscapedPath()
	if len(shown) > 200 || strings.IndexFunc(shown, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return ""
	}
	return shown
}

// explainBlocked names the refused address and what would allow it.
func explainBlocked(detail string) app.Text {
	first, _, _ := strings.Cut(detail, " ")
	addr, err := netip.ParseAddr(first)
	if err != nil {
		return app.Text{
			EN: "The webhook URL leads to an address that is not public, so nothing was sent. " +
				"Correct the URL or the DNS record of its domain, or allow the address on the server with serve --allow-target.",
			VI: "URL của webhook dẫn đến địa chỉ không công khai nên không gửi được. Vui lòng sửa URL hoặc bản ghi DNS của tên miền, hoặc cho " +
				"phép địa chỉ này trên máy chủ chạy baoco bằng serve --allow-target.",
		}
	}
	addr = addr.WithZone("").Unmap()
	if target.IsMetadata(addr) {
		return app.Textf(
			"The webhook URL leads to %s, a cloud metadata address, which is never allowed. Correct the URL or the DNS record of its domain.",
			"URL của webhook dẫn đến %s, địa chỉ metadata của máy chủ đám mây, không bao giờ được phép. "+
				"Vui lòng sửa URL hoặc bản ghi DNS của tên miền.", addr)
	}
	setting := netip.PrefixFrom(addr, addr.BitLen()).String()
	if _, said, found := strings.Cut(detail, "--allow-target "); found { // with the port
		setting, _, _ = strings.Cut(said, " ")
	}
	return app.Textf(
		"The webhook URL leads to %s, which is not a public address, so nothing was sent. "+
			"Correct the URL or the DNS record of its domain, or allow that address on the server (serve --allow-target %s).",
		"URL của webhook dẫn đến %s, không phải địa chỉ công khai, nên không gửi được. Vui lòng sửa URL hoặc bản ghi DNS của tên miền, hoặc "+
			"cho phép địa chỉ này trên máy chủ chạy baoco (serve --allow-target %s).",
		addr, setting)
}

// explainStatus says what an answer other than 200 means in practice.
func explainStatus(status int) app.Text {
	if text, found := statusExplanations[status]; found {
		return text
	}
	switch {
	case status == 200: // at a webhook of WebhookSheet alone
		return app.Text{
			EN: "Google answered with a page instead of the script’s redirect: the script stopped with an error. " +
				"Open the script’s Executions to see it, and check that its newest version is deployed with the token that baoco showed.",
			VI: "Google trả về một trang thay vì chuyển hướng của mã: mã đã dừng vì lỗi. Hãy mở mục Lượt thực thi của mã để xem lỗi, và kiểm tra " +
				"đã triển khai phiên bản mới nhất với đúng mã token mà baoco hiển thị chưa.",
		}
	case status > 200 && status < 300:
		return app.Textf(
			"Your server returned %d, but only 200 counts as received. Return 200 once the transaction is stored.",
			"Máy chủ của bạn trả về %d, nhưng chỉ mã 200 mới được tính là đã nhận. Hãy trả về 200 sau khi đã lưu giao dịch.", status)
	case status >= 400 && status < 500:
		return app.Textf(
			"Your server rejected the request (%d). Check its log for the reason, and return 200 instead.",
			"Máy chủ của bạn từ chối yêu cầu (%d). Vui lòng xem nguyên nhân trong nhật ký của máy chủ và sửa để trả về 200.", status)
	case status >= 520 && status <= 530:
		return app.Textf(
			"Cloudflare returned %d because it got no response from your server. Check that the server is running and that its "+
				"firewall allows Cloudflare.",
			"Cloudflare trả về %d vì không nhận được phản hồi từ máy chủ của bạn. Vui lòng kiểm tra máy chủ có đang chạy và tường lửa có cho "+
				"phép Cloudflare không.", status)
	case status >= 500 && status < 600:
		return app.Textf(
			"The program behind the URL failed (%d). Check its error log, fix the error and resend.",
			"Chương trình xử lý tại URL bị lỗi (%d). Vui lòng xem nhật ký lỗi, sửa rồi gửi lại.", status)
	}
	return app.Textf(
		"Your server returned %d, which is not a valid response to a POST. Check that the webhook URL points to your program, and return 200.",
		"Máy chủ của bạn trả về %d, không phải phản hồi hợp lệ cho yêu cầu POST. Vui lòng kiểm tra URL của webhook có dẫn đến chương trình của "+
			"bạn không, và trả về 200.", status)
}

// statusExplanations are the answers whose cause is known from experience.
var statusExplanations = map[int]app.Text{
	401: {
		EN: "Your server did not accept the signature or requires a login (401). Verify the raw body with this webhook’s secret, and allow the " +
			"URL to be called without a login.",
		VI: "Máy chủ của bạn không chấp nhận chữ ký hoặc yêu cầu đăng nhập (401). Vui lòng kiểm tra chữ ký trên nội dung gốc bằng khoá bí mật " +
			"của webhook này, và cho phép gọi URL mà không cần đăng nhập.",
	},
	403: {
		EN: "Your server or the firewall in front of it blocks the request (403). Allow POST requests from baoco without a login, CSRF " +
			"check or bot protection.",
		VI: "Máy chủ của bạn hoặc tường lửa phía trước chặn yêu cầu (403). Vui lòng cho phép yêu cầu POST của baoco đi qua, không cần đăng " +
			"nhập, kiểm tra CSRF hay chống bot.",
	},
	404: {
		EN: "There is nothing at this URL on your server (404). Check the path and that the program behind it is deployed.",
		VI: "Không có gì tại URL này trên máy chủ của bạn (404). Vui lòng kiểm tra đường dẫn và chương trình xử lý đã được triển khai chưa.",
	},
	405: noPostRoute(405),
	406: {
		EN: "A filter on your server, often ModSecurity, rejected the request (406). Ask your hosting provider to exempt this URL.",
		VI: "Bộ lọc trên máy chủ của bạn, thường là ModSecurity, từ chối yêu cầu (406). Vui lòng nhờ nhà cung cấp hosting loại trừ URL này.",
	},
	408: {
		EN: "Your server timed out waiting for the request (408). Check its load and the proxy in front of it.",
		VI: "Máy chủ của bạn hết thời gian chờ yêu cầu (408). Vui lòng kiểm tra tải của máy chủ và proxy phía trước.",
	},
	409: {
		EN: "Your server reported a conflict (409). If it means that the transaction was already received, return 200.",
		VI: "Máy chủ của bạn báo xung đột (409). Nếu điều đó nghĩa là đã nhận giao dịch này rồi, hãy trả về 200.",
	},
	410: {
		EN: "Your server reports that this URL is gone (410). Enter the current URL in the webhook, or delete the webhook if " +
			"it is no longer needed.",
		VI: "Máy chủ của bạn báo rằng URL này không còn nữa (410). Vui lòng nhập URL hiện tại vào webhook, hoặc xoá webhook nếu không cần nữa.",
	},
	413: {
		EN: "Your server does not accept a body of this size (413). Allow at least 64 KB for this URL (client_max_body_size in nginx).",
		VI: "Máy chủ của bạn không nhận nội dung lớn như vậy (413). Vui lòng cho phép ít nhất 64 KB cho URL này " +
			"(client_max_body_size với nginx).",
	},
	415: {
		EN: "Your server does not accept this content type (415). Make it accept application/json.",
		VI: "Máy chủ của bạn không nhận kiểu nội dung này (415). Hãy cấu hình để máy chủ nhận application/json.",
	},
	419: {
		EN: "Your server’s CSRF check rejected the request (419, common with Laravel). Exclude the path of this URL from CSRF verification.",
		VI: "Cơ chế kiểm tra CSRF trên máy chủ của bạn từ chối yêu cầu (419, thường gặp ở Laravel). " +
			"Vui lòng loại trừ đường dẫn của URL này khỏi kiểm tra CSRF.",
	},
	422: {
		EN: "Your server read the request but found a field invalid (422). Compare its validation with the fields that baoco sends.",
		VI: "Máy chủ của bạn đọc được yêu cầu nhưng cho rằng có trường không hợp lệ (422). Vui lòng đối chiếu phần kiểm tra dữ liệu với " +
			"các trường mà baoco gửi.",
	},
	429: {
		EN: "Your server or the protection in front of it limits the number of requests (429). " +
			"Exempt this URL or baoco’s address from that limit.",
		VI: "Máy chủ của bạn hoặc lớp bảo vệ phía trước giới hạn số yêu cầu (429). Vui lòng loại trừ URL này hoặc địa chỉ của " +
			"baoco khỏi giới hạn đó.",
	},
	501: noPostRoute(501),
	502: {
		EN: "Your web server got no response from the program behind it (502). Check that the program (PHP-FPM, Node or another) is " +
			"running, and read its log.",
		VI: "Máy chủ web của bạn không nhận được phản hồi từ chương trình phía sau (502). Vui lòng kiểm tra chương trình đó (PHP-FPM, Node…) " +
			"có đang chạy không và xem nhật ký.",
	},
	503: {
		EN: "Your server is overloaded or in maintenance (503). End the maintenance, or start the program behind it and check its load.",
		VI: "Máy chủ của bạn đang quá tải hoặc bảo trì (503). Vui lòng kết thúc bảo trì, hoặc khởi động chương trình phía sau và kiểm tra tải.",
	},
	504: slowBehindProxy(504),
	507: {
		EN: "Your server’s disk is full (507). Free up some space.",
		VI: "Ổ đĩa máy chủ của bạn đã đầy (507). Vui lòng giải phóng dung lượng.",
	},
	509: {
		EN: "Your hosting plan has used up its bandwidth (509). Ask your hosting provider to raise the limit.",
		VI: "Gói hosting của bạn đã dùng hết băng thông (509). Vui lòng liên hệ nhà cung cấp hosting để nâng giới hạn.",
	},
	524: slowBehindProxy(524),
	525: proxyTLS(525),
	526: proxyTLS(526),
}

func noPostRoute(status int) app.Text {
	return app.Textf(
		"This URL does not accept POST requests (%d). Add a POST route for it, or enter the URL that has one.",
		"URL này không nhận yêu cầu POST (%d). Vui lòng thêm route POST cho URL, hoặc nhập URL có nhận POST.", status)
}

func slowBehindProxy(status int) app.Text {
	return app.Textf(
		"The program behind your web server or proxy was too slow (%d). Return 200 before doing any further processing.",
		"Chương trình phía sau máy chủ web hoặc proxy của bạn xử lý quá chậm (%d). Hãy trả về 200 trước rồi mới xử lý tiếp.", status)
}

func proxyTLS(status int) app.Text {
	return app.Textf(
		"Cloudflare could not connect to your server over TLS (%d). Install a valid certificate or a Cloudflare origin certificate on it.",
		"Cloudflare không kết nối TLS được đến máy chủ của bạn (%d). Vui lòng cài chứng chỉ hợp lệ hoặc chứng chỉ gốc của "+
			"Cloudflare trên máy chủ.", status)
}
