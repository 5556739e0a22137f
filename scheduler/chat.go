package scheduler

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
)

// These chats take a message as one POST of JSON. For each the list says where that is
// documented, and which answer means that the chat took the message:
//
//   - Zalo (bot.zaloplatforms.com/docs): as Telegram's Bot API, {"ok": true}.
//   - Discord (docs.discord.com, Execute Webhook): 204, or 200.
//   - Slack (docs.slack.dev, incoming webhooks): 200 with the text "ok".
//   - Lark and Feishu (open.larksuite.com, custom bots): 200 with {"code": 0}; a
//     refusal is 200 too.
//   - ntfy (docs.ntfy.sh/publish): 200 with the message and its id.

const zaloURL = "https://bot-api.zaloplatforms.com"

// discordText is the most that Discord takes, in characters; zaloText and ntfyText are
// those of Zalo, and of ntfy in bytes.
const (
	discordText = 2000
	zaloText    = 2000
	ntfyText    = 4000
)

const chatBody = 1 << 20 // the largest answer that is read, in bytes: Telegram may list 50 messages

func (a *Alerter) sendChat(ctx context.Context, c alert.Channel, m alert.Message) error {
	address, content := chatRequest(c.Medium, c.Chat, m, time.Now())
	token := ""
	if c.Medium == alert.Ntfy {
		token = c.Chat.Token
	}
	response, data, err := a.post(ctx, address, token, content)
	if err != nil {
		return err
	}
	if chatTook(c.Medium, response.StatusCode, data) {
		return nil
	}
	return explainChat(c, response, data)
}

// post sends content as JSON, with a token where there is one, and reads the answer. The
// address holds a secret, so that no error of the client leaves this function as it is.
func (a *Alerter) post(ctx context.Context, address, token string, content any) (response *http.Response, data []byte, err error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, nil, errors.New("encode a message for a chat")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, errors.New("the address of a chat can't be read")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", delivery.UserAgent(a.version))
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if response, err = a.chats.Do(request); err != nil {
		return nil, nil, unreachableAlert(request.URL.Host, err)
	}
	defer response.Body.Close()
	response.Request = request
	if data, err = io.ReadAll(io.LimitReader(response.Body, chatBody)); err != nil {
		return nil, nil, unreachableAlert(request.URL.Host, err)
	}
	return response, data, nil
}

// chatRequest returns the address and the body by which a medium takes a message.
func chatRequest(medium alert.Medium, chat alert.ChatSettings, m alert.Message, now time.Time) (address string, body map[string]any) {
	switch medium {
	case alert.Zalo:
		return zaloURL + "/bot" + chat.Token + "/sendMessage", map[string]any{"chat_id": chat.Chat, "text": clipUTF16(m.Text, zaloText)}
	case alert.Discord: // 4: no previews of links
		return chat.URL, map[string]any{"content": clipUTF16(escapeMarkdown(m.Text), discordText),
			"allowed_mentions": map[string]any{"parse": []string{}}, "flags": 4}
	case alert.Slack:
		return chat.URL, map[string]any{"text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(m.Text), "mrkdwn": false}
	case alert.Lark:
		// Tags such as <at user_id="all"> would be read.
		body = map[string]any{"msg_type": "text", "content": map[string]string{"text": strings.ReplaceAll(m.Text, "<", "‹")}}
		if chat.Token != "" {
			timestamp := strconv.FormatInt(now.Unix(), 10)
			mac := hmac.New(sha256.New, []byte(timestamp+"\n"+chat.Token)) // of an empty message
			body["timestamp"], body["sign"] = timestamp, base64.StdEncoding.EncodeToString(mac.Sum(nil))
		}
		return chat.URL, body
	}
	i := strings.LastIndexByte(chat.URL, '/')
	return chat.URL[:i+1],
		map[string]any{"topic": chat.URL[i+1:], "title": m.Subject, "message": app.CleanText(clipBytes(m.Text, ntfyText), ntfyText)}
}

// escapeMarkdown escapes all but links, in which Discord reads no markup.
func escapeMarkdown(text string) string {
	words := strings.SplitAfter(text, " ")
	for i, word := range words {
		if at := strings.Index(word, "https://"); at >= 0 && strings.TrimSpace(word[:at]) == "" {
			continue
		}
		words[i] = markdown.Replace(word)
	}
	return strings.Join(words, "")
}

var markdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "[", `\[`, "]", `\]`, "<", `\<`,
	">", `\>`, "#", `\#`)

func clipBytes(s string, most int) string {
	for len(s) > most {
		s = s[:most]
		s = strings.ToValidUTF8(s, "")
	}
	return s
}

// chatAnswer holds the JSON answers of all media.
type chatAnswer struct {
	OK          *bool           `json:"ok"`          // Zalo
	Code        json.RawMessage `json:"code"`        // Lark: a number; ntfy and Discord have codes of errors
	ID          string          `json:"id"`          // ntfy
	Description string          `json:"description"` // Zalo
	Message     string          `json:"message"`     // Discord
	Msg         string          `json:"msg"`         // Lark
	Error       string          `json:"error"`       // ntfy
	RetryAfter  float64         `json:"retry_after"` // Discord, in seconds
}

func chatTook(medium alert.Medium, status int, data []byte) bool {
	var answer chatAnswer
	unreadable := json.Unmarshal(data, &answer) != nil
	switch {
	case medium == alert.Discord:
		return status == http.StatusNoContent || status == http.StatusOK
	case status != http.StatusOK:
		return false
	case medium == alert.Slack:
		return strings.TrimSpace(string(data)) == "ok"
	case unreadable:
		return false
	case medium == alert.Zalo:
		return answer.OK != nil && *answer.OK
	case medium == alert.Lark:
		return string(answer.Code) == "0"
	}
	return answer.ID != ""
}

// explainChat says what an answer means in practice, in the medium's own words.
func explainChat(c alert.Channel, response *http.Response, data []byte) error {
	var answer chatAnswer
	words := string(data)
	if json.Unmarshal(data, &answer) == nil {
		words = answer.Description + answer.Message + answer.Msg + answer.Error
	}
	if words = said(conceal(words, c.Secrets()...)); words == "" || strings.HasPrefix(words, "<") {
		words = strconv.Itoa(response.StatusCode)
	}
	what := app.Text{EN: "the message was not taken; check what was entered", VI: "tin không được nhận; hãy kiểm tra thông tin đã nhập"}
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests:
		what = app.Text{EN: "too many messages; it is tried again later", VI: "gửi quá nhiều tin; hệ thống sẽ thử lại sau"}
	case status >= 500:
		what = app.Text{EN: "the service has trouble of its own; it is tried again later", VI: "dịch vụ đang gặp sự cố; hệ thống sẽ thử lại sau"}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusGone:
		what = app.Text{EN: "the URL or token is not valid any more; copy it again",
			VI: "URL hoặc token không còn hiệu lực; hãy sao chép lại"}
	}
	seconds, err := strconv.ParseFloat(response.Header.Get("Retry-After"), 64)
	if err != nil {
		seconds = answer.RetryAfter
	}
	name := c.Medium.Name()
	return &alert.Error{
		Text: app.Text{EN: name.EN + " answered “" + words + "”: " + what.EN + ".",
			VI: name.VI + " trả lời “" + words + "”: " + what.VI + "."},
		RetryAfter: time.Duration(min(max(seconds, 0), 24*3600) * float64(time.Second)),
	}
}
