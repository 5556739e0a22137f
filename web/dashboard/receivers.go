package dashboard

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"baoco/app"
	"baoco/app/delivery"
)

// receiver is a sample receiver in one programming language, for one webhook.
type receiver struct {
	ID, Name, File string
	Run            string // the command that starts it
	Code           string
}

var receiverKinds = []receiver{
	{ID: "php", Name: "PHP", File: "receiver.php", Run: "php -S 127.0.0.1:9000 receiver.php"},
	{ID: "node", Name: "Node.js", File: "receiver.mjs", Run: "PORT=9000 node receiver.mjs"},
	{ID: "python", Name: "Python", File: "receiver.py", Run: "PORT=9000 python3 receiver.py"},
	{ID: "go", Name: "Go", File: "receiver.go", Run: "PORT=9000 go run receiver.go"},
}

// receiverComments are the texts of the comments in «» in the code.
var receiverComments = map[string]app.Text{
	"where":   {EN: "Put this file at the URL of the webhook", VI: "Đặt tệp này tại đúng URL của webhook"},
	"bytes":   {EN: "the raw bytes as received", VI: "giữ nguyên từng byte nhận được"},
	"foreign": {EN: "not from baoco", VI: "không phải do baoco gửi"},
	"again": {EN: "A transaction may be sent again: keep its id in a UNIQUE column",
		VI: "Một giao dịch có thể được gửi lại: hãy lưu id vào một cột UNIQUE"},
	"atomic": {EN: "in the database transaction that marks the order as paid.",
		VI: "trong cùng giao tác cơ sở dữ liệu với việc đánh dấu đơn đã thanh toán."},
	"done": {EN: "status 200: baoco will not send it again", VI: "trạng thái 200: baoco sẽ không gửi lại"},
}

// receivers are sample receivers for the webhook, one for each programming language. The
// code never holds the secret: it reads the secret from the environment, where the start
// command puts it. secret is empty if it isn't known. A webhook to a sheet, or to a shop
// that was made for SePay, has no receivers.
func receivers(hook delivery.Webhook, secret string, lang app.Lang) []receiver {
	if hook.Kind != delivery.WebhookStandard && hook.Kind != "" {
		return nil
	}
	marks := []string{`"/HOOK-PATH"`, pathLiteral(hook.URL)}
	for mark, text := range receiverComments {
		marks = append(marks, "«"+mark+"»", text.In(lang))
	}
	filled := strings.NewReplacer(marks...)
	list := make([]receiver, len(receiverKinds))
	for i, r := range receiverKinds {
		code, err := dashboardFiles.ReadFile("templates/shop/receivers/" + r.File + ".txt")
		if err != nil {
			panic(err) // the file is in the binary
		}
		r.Run = "BAOCO_SECRET=" + cmp.Or(secret, "whsec_…") + " " + r.Run
		r.Code = filled.Replace(string(code))
		list[i] = r
	}
	return list
}

// pathLiteral is the path of a URL as a string of JavaScript, Python and Go,
// in quotes. It is escaped as in a URL, so that nothing in it can end a comment
// or PHP.
func pathLiteral(raw string) string {
	path := "/"
	if u, err := url.Parse(raw); err == nil && u.EscapedPath() != "" {
		path = u.EscapedPath()
	}
	literal, err := json.Marshal(path)
	if err != nil {
		panic(err) // every string can be encoded
	}
	return string(literal)
}
