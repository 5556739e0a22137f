package scheduler

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf16"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
)

// telegramURL is the base of the Bot API (https://core.telegram.org/bots/api).
const telegramURL = "https://api.telegram.org"

const (
	telegramText = 4096 // the most that sendMessage takes, in UTF-16 units
	telegramBody = 64 << 10
)

// telegramAnswer is what every method answers.
type telegramAnswer struct {
	OK          bool   `json:"ok"`
	Description string `json:"description"`
	Parameters  struct {
		MigrateToChatID int64 `json:"migrate_to_chat_id"`
		RetryAfter      int64 `json:"retry_after"` // in seconds
	} `json:"parameters"`
}

// sendTelegram calls sendMessage. The token stands in the address, so that no
// error of the client leaves this function as it is.
func (a *Alerter) sendTelegram(ctx context.Context, t alert.TelegramSettings, m alert.Message) error {
	base := telegramURL
	if t.APIURL != "" {
		base = t.APIURL
	}
	body, err := json.Marshal(map[string]any{
		"chat_id": t.Chat, "text": clipUTF16(m.Text, telegramText), "link_preview_options": map[string]bool{"is_disabled": true},
	})
	if err != nil {
		return errors.New("encode a message for Telegram")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/bot"+t.Token+"/sendMessage", bytes.NewReader(body))
	if err != nil {
		return errors.New("the address of Telegram's API can't be read")
	}
	where := request.URL.Host
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", delivery.UserAgent(a.version))
	response, err := a.chats.Do(request)
	if err != nil {
		return unreachableAlert(where, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, telegramBody))
	var answer telegramAnswer
	if err != nil || json.Unmarshal(data, &answer) != nil || answer.OK != (response.StatusCode == http.StatusOK) {
		return &alert.Error{Text: app.Textf(
			"%s answered %d, but not as Telegram's Bot API does: check the address of the API.",
			"%s trả về %d nhưng không giống Bot API của Telegram: vui lòng kiểm tra địa chỉ API.", where, response.StatusCode)}
	}
	if answer.OK {
		return nil
	}
	answer.Description = conceal(answer.Description, t.Token)
	return &alert.Error{Text: explainTelegram(response.StatusCode, answer),
		RetryAfter: time.Duration(min(max(answer.Parameters.RetryAfter, 0), 24*3600)) * time.Second}
}

// explainTelegram says what an answer means in practice, with Telegram's own
// words.
func explainTelegram(status int, answer telegramAnswer) app.Text {
	words := cmp.Or(said(answer.Description), strconv.Itoa(status))
	what := app.Text{EN: "the message was not taken", VI: "tin không được nhận"}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusNotFound:
		what = app.Text{EN: "it doesn't know this bot token; copy it anew from @BotFather",
			VI: "mã token của bot không đúng; hãy sao chép lại từ @BotFather"}
	case answer.Parameters.MigrateToChatID != 0:
		what = app.Textf("the group has a new chat id; enter %d", "nhóm đã có chat id mới; hãy nhập %d", answer.Parameters.MigrateToChatID)
	case status == http.StatusTooManyRequests:
		what = app.Text{EN: "too many messages; it is tried again later", VI: "gửi quá nhiều tin; hệ thống sẽ thử lại sau"}
	case status == http.StatusForbidden:
		what = app.Text{EN: "the bot may not write there; open the bot and press Start, or add it to the group again",
			VI: "bot không được phép gửi vào đây; hãy mở bot và bấm Start (Bắt đầu), hoặc thêm lại bot vào nhóm"}
	case status == http.StatusBadRequest:
		what = app.Text{EN: "check the chat id; a person must have pressed Start in the bot, and a group must have it as a member",
			VI: "hãy kiểm tra chat id; cá nhân phải bấm Start (Bắt đầu) trong bot trước, nhóm phải có bot là thành viên"}
	case status >= 500:
		what = app.Text{EN: "Telegram has trouble of its own; it is tried again later", VI: "Telegram đang gặp sự cố; hệ thống sẽ thử lại sau"}
	}
	return app.Text{EN: "Telegram answered “" + words + "”: " + what.EN + ".", VI: "Telegram trả lời “" + words + "”: " + what.VI + "."}
}

// clipUTF16 shortens a text to so many UTF-16 units.
func clipUTF16(s string, most int) string {
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > most {
			return s[:i]
		}
	}
	return s
}
