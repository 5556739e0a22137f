package app

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Cause tells apart what one class of errors can come from.
type Cause string

// The causes, by class. Other classes have none.
const (
	// timeout, and connection_reset after connect: the phase it fell into.
	CauseDNS      Cause = "dns"
	CauseConnect  Cause = "connect"
	CauseTLS      Cause = "tls"
	CauseResponse Cause = "response"

	// dns
	CauseNoSuchName   Cause = "no_such_name"
	CauseLookupFailed Cause = "lookup_failed"

	// connection
	CauseUnreachable Cause = "unreachable"

	// tls
	CauseExpired           Cause = "expired"
	CauseNotYetValid       Cause = "not_yet_valid"
	CauseWrongName         Cause = "wrong_name"
	CauseSelfSigned        Cause = "self_signed"
	CauseUnknownAuthority  Cause = "unknown_authority"
	CauseBadCertificate    Cause = "bad_certificate"
	CauseNotTLS            Cause = "not_tls"
	CauseOldTLS            Cause = "old_tls"
	CauseClientCertificate Cause = "client_certificate"
	CauseHandshake         Cause = "handshake"
)

// Detail is the detail of a result: its cause, and what was said about it.
func Detail(cause Cause, said string) string {
	if said == "" {
		return string(cause)
	}
	return string(cause) + ": " + said
}

// Explanation says in a sentence or two why an attempt failed and what to do
// next; it is empty for one that succeeded. It names nothing that could be a
// secret: no query of a URL, nothing of the answer's body.
func (r Result) Explanation() Text {
	if r.OK() {
		return Text{}
	}
	switch r.Error {
	case ErrorHTTPStatus, ErrorNone:
		return explainStatus(r.StatusCode)
	case ErrorRedirect:
		return explainRedirect(r.StatusCode, r.Detail)
	case ErrorBlocked:
		return explainBlocked(r.Detail)
	}
	causes, known := explanations[r.Error]
	if !known {
		causes = explanations[ErrorInternal]
	}
	cause, _, _ := strings.Cut(r.Detail, ": ")
	if text, found := causes[Cause(cause)]; found {
		return text
	}
	return causes[""]
}

// explanations is the table of what has no HTTP answer, by class and cause;
// the cause "" stands for every other.
var explanations = map[ErrorClass]map[Cause]Text{
	ErrorTimeout: {
		"": {
			"Your server did not answer within 10 seconds: check that it can be reached, and have it answer 200 first and do the work afterwards.",
			"Máy chủ của bạn không trả lời trong vòng 10 giây: vui lòng kiểm tra xem có truy cập được không, và để máy chủ trả về 200 trước rồi mới xử lý.",
		},
		CauseDNS: {
			"The host name in the webhook's URL could not be looked up in time: check the name servers of the domain, and the resolver of the machine that baoco runs on.",
			"Không tra cứu được tên máy chủ trong URL của webhook kịp thời gian: vui lòng kiểm tra máy chủ DNS của tên miền và DNS của máy đang chạy baoco.",
		},
		CauseConnect: {
			"No connection to your server came about within 10 seconds: check that it is running, and that no firewall drops what comes from baoco's address.",
			"Không kết nối được đến máy chủ của bạn trong vòng 10 giây: vui lòng kiểm tra xem máy chủ có đang chạy không và tường lửa có chặn địa chỉ của baoco không.",
		},
		CauseTLS: {
			"Your server took the connection but did not complete the TLS handshake within 10 seconds: check its HTTPS configuration and its load.",
			"Máy chủ của bạn nhận kết nối nhưng không hoàn tất bắt tay TLS trong vòng 10 giây: vui lòng kiểm tra cấu hình HTTPS và tải của máy chủ.",
		},
		CauseResponse: {
			"Your server took the request but did not answer within 10 seconds: have it answer 200 first and do the work afterwards.",
			"Máy chủ của bạn đã nhận yêu cầu nhưng không trả lời trong vòng 10 giây: hãy trả về 200 trước rồi mới xử lý công việc sau.",
		},
	},
	ErrorDNS: {
		"": {
			"Looking up the host name in the webhook's URL failed: check the name servers of the domain, and the resolver of the machine that baoco runs on.",
			"Tra cứu tên máy chủ trong URL của webhook bị lỗi: vui lòng kiểm tra máy chủ DNS của tên miền và DNS của máy đang chạy baoco.",
		},
		CauseNoSuchName: {
			"The host name in the webhook's URL does not exist or has no address: check its spelling, and the A record of the domain.",
			"Tên máy chủ trong URL của webhook không tồn tại hoặc không có địa chỉ: vui lòng kiểm tra lại chính tả và bản ghi A của tên miền.",
		},
	},
	ErrorRefused: {"": {
		"Nothing listens at the host and port of the webhook's URL: start your web server, or correct the port.",
		"Không có dịch vụ nào đang chạy tại máy chủ và cổng trong URL của webhook: vui lòng khởi động máy chủ web, hoặc sửa lại cổng.",
	}},
	ErrorReset: {
		"": {
			"Your server closed the connection without an answer: look in its error log for a crash, and check that no firewall cuts in.",
			"Máy chủ của bạn đóng kết nối mà không trả lời: vui lòng xem nhật ký lỗi của máy chủ và kiểm tra xem tường lửa có ngắt kết nối không.",
		},
		CauseTLS: {
			"Your server closed the connection during the TLS handshake: check that its port speaks HTTPS, and that no firewall cuts in.",
			"Máy chủ của bạn đóng kết nối khi đang bắt tay TLS: vui lòng kiểm tra xem cổng này có dùng HTTPS không và tường lửa có ngắt kết nối không.",
		},
	},
	ErrorConnection: {
		"": {
			"The connection to your server failed: check that the host and port of the webhook's URL can be reached from the internet.",
			"Kết nối đến máy chủ của bạn bị lỗi: vui lòng kiểm tra xem máy chủ và cổng trong URL của webhook có truy cập được từ internet không.",
		},
		CauseUnreachable: {
			"There is no route to the address of your server: check that its network is up, and give its name an IPv4 address (A record) if it only has an IPv6 one.",
			"Không có đường truyền đến địa chỉ máy chủ của bạn: vui lòng kiểm tra mạng của máy chủ, và thêm địa chỉ IPv4 (bản ghi A) nếu tên miền chỉ có IPv6.",
		},
	},
	ErrorTLS: {
		"": {
			"The secure connection to your server failed: check the certificate and the HTTPS configuration of your web server.",
			"Kết nối bảo mật đến máy chủ của bạn bị lỗi: vui lòng kiểm tra chứng chỉ và cấu hình HTTPS của máy chủ web.",
		},
		CauseExpired: {
			"The certificate of your server has expired: renew it and reload the web server.",
			"Chứng chỉ trên máy chủ của bạn đã hết hạn: vui lòng gia hạn chứng chỉ rồi nạp lại máy chủ web.",
		},
		CauseNotYetValid: {
			"The certificate of your server is not valid yet: check the clock of the machine that baoco runs on, or wait until the certificate is valid.",
			"Chứng chỉ trên máy chủ của bạn chưa đến thời gian có hiệu lực: vui lòng kiểm tra đồng hồ của máy đang chạy baoco, hoặc chờ đến khi chứng chỉ có hiệu lực.",
		},
		CauseWrongName: {
			"The certificate of your server is for another host name: install one for the name in the webhook's URL, or enter the name that the certificate has.",
			"Chứng chỉ trên máy chủ của bạn cấp cho tên miền khác: vui lòng cài chứng chỉ cho tên trong URL của webhook, hoặc nhập tên có trong chứng chỉ.",
		},
		CauseSelfSigned: {
			"The certificate of your server is self-signed, so that it proves nothing: install one of a public authority such as Let's Encrypt.",
			"Chứng chỉ trên máy chủ của bạn là chứng chỉ tự ký nên không được tin cậy: vui lòng cài chứng chỉ của tổ chức công cộng như Let's Encrypt.",
		},
		CauseUnknownAuthority: {
			"The certificate of your server comes without its intermediate certificate or from an unknown authority: install the full chain (fullchain.pem) of a public authority such as Let's Encrypt.",
			"Chứng chỉ trên máy chủ của bạn thiếu chứng chỉ trung gian hoặc do tổ chức không được tin cậy cấp: vui lòng cài chuỗi chứng chỉ đầy đủ (fullchain.pem) của tổ chức công cộng như Let's Encrypt.",
		},
		CauseBadCertificate: {
			"The certificate of your server cannot be accepted: have a new one issued by a public authority such as Let's Encrypt.",
			"Chứng chỉ trên máy chủ của bạn không thể chấp nhận được: vui lòng xin cấp chứng chỉ mới từ tổ chức công cộng như Let's Encrypt.",
		},
		CauseNotTLS: {
			"The port of the webhook's URL does not speak HTTPS: enter the port that does (usually 443), or switch HTTPS on there.",
			"Cổng trong URL của webhook không dùng HTTPS: vui lòng nhập cổng có HTTPS (thường là 443), hoặc bật HTTPS cho cổng này.",
		},
		CauseOldTLS: {
			"Your server only offers versions of TLS that are no longer safe: enable TLS 1.2 or 1.3 on it.",
			"Máy chủ của bạn chỉ hỗ trợ phiên bản TLS cũ, không còn an toàn: vui lòng bật TLS 1.2 hoặc 1.3.",
		},
		CauseClientCertificate: {
			"Your server asks for a client certificate, which baoco does not have: switch that off for this URL and verify X-Webhook-Signature instead.",
			"Máy chủ của bạn yêu cầu chứng chỉ phía máy khách mà baoco không có: vui lòng tắt yêu cầu này cho URL của webhook và kiểm tra X-Webhook-Signature thay thế.",
		},
		CauseHandshake: {
			"Your server and baoco could not agree on a secure connection: enable TLS 1.2 or 1.3 with current ciphers, and check that HTTPS is set up for this host name.",
			"Máy chủ của bạn và baoco không thống nhất được kết nối bảo mật: vui lòng bật TLS 1.2 hoặc 1.3 với bộ mã hoá hiện hành, và kiểm tra HTTPS đã được cài cho tên miền này.",
		},
	},
	ErrorProtocol: {"": {
		"What your server answered is not HTTP/1.1 or has headers beyond 64 KiB: check that the port of the URL is that of your web server, and begin the URL with https:// if it speaks HTTPS.",
		"Nội dung máy chủ của bạn trả lời không đúng HTTP/1.1 hoặc có header vượt quá 64 KiB: vui lòng kiểm tra cổng trong URL có phải của máy chủ web không, và dùng https:// nếu cổng đó là HTTPS.",
	}},
	ErrorInternal: {"": {
		"This attempt failed inside baoco and not at your server: it is repeated on schedule, and baoco's operator finds the reason in its log.",
		"Lần gửi này bị lỗi trong baoco, không phải do máy chủ của bạn: hệ thống sẽ gửi lại theo lịch, và người vận hành baoco có thể xem nguyên nhân trong nhật ký.",
	}},
}

// explainRedirect says where to, without what may be secret in it.
func explainRedirect(status int, location string) Text {
	if status == 304 {
		return Text{
			"Your server answered 304 (not modified), which says nothing to a POST: have it answer 200 once the transaction is stored.",
			"Máy chủ của bạn trả về 304 (không thay đổi), không phù hợp với yêu cầu POST: hãy trả về 200 sau khi đã lưu giao dịch.",
		}
	}
	to := shownURL(location)
	if to == "" {
		return Textf(
			"Your server answered with a redirect (%d), which is not followed: enter the URL that answers 200 itself in the webhook.",
			"Máy chủ của bạn trả về chuyển hướng (%d), nhưng baoco không tự đi theo chuyển hướng: vui lòng nhập vào webhook URL trả về 200 trực tiếp.", status)
	}
	return Text{
		fmt.Sprintf("Your server answered %d and redirects to %s (redirects are not followed): enter that URL in the webhook, or, if it is a login page, let the present one be called without a login.", status, to),
		fmt.Sprintf("Máy chủ của bạn trả về %d và chuyển hướng đến %s (baoco không tự đi theo chuyển hướng): vui lòng nhập URL đó vào webhook, hoặc nếu đó là trang đăng nhập thì hãy cho phép gọi URL hiện tại mà không cần đăng nhập.", status, to),
	}
}

// shownURL is an address without its query, or "" where it isn't one that
// could be entered, or holds anything odd.
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

// explainBlocked says which address was refused, and what would open it.
func explainBlocked(detail string) Text {
	first, _, _ := strings.Cut(detail, " ")
	addr, err := netip.ParseAddr(first)
	if err != nil {
		return Text{
			"The host of the webhook's URL leads to an address that is not public, so nothing was sent: correct its DNS record, or have baoco's operator allow the address with serve --allow-target.",
			"Tên máy chủ trong URL của webhook trỏ đến địa chỉ không công khai nên không có gì được gửi đi: vui lòng sửa bản ghi DNS, hoặc nhờ người vận hành baoco cho phép địa chỉ này bằng serve --allow-target.",
		}
	}
	addr = addr.WithZone("").Unmap()
	if isMetadata(addr) {
		return Textf(
			"The host of the webhook's URL leads to %s, a cloud metadata address that no setting opens: correct its DNS record or the URL.",
			"Tên máy chủ trong URL của webhook trỏ đến %s, địa chỉ metadata của đám mây không bao giờ được phép: vui lòng sửa bản ghi DNS hoặc URL.", addr)
	}
	return Textf(
		"The host of the webhook's URL leads to %s, which is not a public address, so nothing was sent: correct its DNS record, or have baoco's operator allow that address (serve --allow-target %s).",
		"Tên máy chủ trong URL của webhook trỏ đến %s, không phải địa chỉ công khai, nên không có gì được gửi đi: vui lòng sửa bản ghi DNS, hoặc nhờ người vận hành baoco cho phép địa chỉ này (serve --allow-target %s).",
		addr, netip.PrefixFrom(addr, addr.BitLen()))
}
