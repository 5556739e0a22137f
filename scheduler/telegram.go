package scheduler

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"

	"baoco/app"
	"baoco/app/alert"
)

// telegramURL is the base of the Bot API (https://core.telegram.org/bots/api).
const telegramURL = "https://api.telegram.org"

const telegramText = 4096 // the most that sendMessage takes, in UTF-16 units

type telegramAnswer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Description string          `json:"description"`
	Parameters  struct {
		MigrateToChatID int64 `json:"migrate_to_chat_id"`
		RetryAfter      int64 `json:"retry_after"` // in seconds
	} `json:"parameters"`
}

func (a *Alerter) sendTelegram(ctx context.Context, t alert.TelegramSettings, m alert.Message) error {
	_, err := a.callTelegram(ctx, t, "sendMessage", map[string]any{
		"chat_id": t.Chat, "text": clipUTF16(m.Text, telegramText), "link_preview_options": map[string]bool{"is_disabled": true},
	})
	return err
}

const (
	updatesRead = 50 // at most; each may have a text of 4096 characters
	chatsShown  = 10
)

// telegramUpdate is an Update of the Bot API.
type telegramUpdate struct {
	Message      telegramEvent `json:"message"`
	ChannelPost  telegramEvent `json:"channel_post"`
	MyChatMember telegramEvent `json:"my_chat_member"`
}

type telegramEvent struct {
	Chat struct {
		ID        int64  `json:"id"`
		Title     string `json:"title"` // of a group or a channel
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Username  string `json:"username"`
	} `json:"chat"`
}

// TelegramChats lists the chats of the updates that wait for a bot, newest first. The
// updates stay unread.
func (a *Alerter) TelegramChats(ctx context.Context, t alert.TelegramSettings) (chats []alert.TelegramChat, _ error) {
	result, err := a.callTelegram(ctx, t, "getUpdates", map[string]any{"limit": updatesRead})
	if err != nil {
		return nil, err
	}
	var updates []telegramUpdate
	if err := json.Unmarshal(result, &updates); err != nil {
		return nil, &alert.Error{Text: app.Text{EN: "Telegram answered with something that baoco can't read.",
			VI: "Telegram trả lời nội dung mà baoco không đọc được."}}
	}
	for _, update := range slices.Backward(updates) {
		for _, event := range []telegramEvent{update.Message, update.ChannelPost, update.MyChatMember} {
			chat := event.Chat
			known := slices.ContainsFunc(chats, func(other alert.TelegramChat) bool { return other.ID == chat.ID })
			if chat.ID != 0 && !known && len(chats) < chatsShown {
				name := cmp.Or(said(chat.Title), said(chat.FirstName+" "+chat.LastName), said(chat.Username), strconv.FormatInt(chat.ID, 10))
				chats = append(chats, alert.TelegramChat{ID: chat.ID, Name: conceal(name, t.Token)})
			}
		}
	}
	return chats, nil
}

func (a *Alerter) callTelegram(ctx context.Context, t alert.TelegramSettings, method string, content any) (json.RawMessage, error) {
	response, data, err := a.post(ctx, cmp.Or(t.APIURL, telegramURL)+"/bot"+t.Token+"/"+method, "", content)
	if err != nil {
		return nil, err
	}
	var answer telegramAnswer
	if json.Unmarshal(data, &answer) != nil || answer.OK != (response.StatusCode == http.StatusOK) {
		return nil, &alert.Error{Text: app.Textf(
			"%s answered %d, but not as Telegram's Bot API does: check the address of the API.",
			"%s trả về %d nhưng không giống Bot API của Telegram: vui lòng kiểm tra địa chỉ API.", response.Request.URL.Host, response.StatusCode)}
	}
	if answer.OK {
		return answer.Result, nil
	}
	answer.Description = conceal(answer.Description, t.Token)
	return nil, &alert.Error{Text: explainTelegram(response.StatusCode, answer),
		RetryAfter: time.Duration(min(max(answer.Parameters.RetryAfter, 0), 24*3600)) * time.Second}
}

// explainTelegram says what an answer means in practice, with Telegram's own
// words.
func explainTelegram(status int, answer telegramAnswer) app.Text {
	words := cmp.Or(said(answer.Description), strconv.Itoa(status))
	what := app.Text{EN: "the message was not taken", VI: "tin không được nhận"}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusNotFound:
		what = app.Text{EN: "it doesn't know this bot token; copy it again from @BotFather",
			VI: "mã token của bot không đúng; hãy sao chép lại từ @BotFather"}
	case answer.Parameters.MigrateToChatID != 0:
		what = app.Textf("the group has a new chat id; enter %d", "nhóm đã có mã cuộc trò chuyện mới; hãy nhập %d",
			answer.Parameters.MigrateToChatID)
	case status == http.StatusTooManyRequests:
		what = app.Text{EN: "too many messages; it is tried again later", VI: "gửi quá nhiều tin; hệ thống sẽ thử lại sau"}
	case status == http.StatusForbidden:
		what = app.Text{EN: "the bot may not write there; open the bot and press Start, or add it to the group again",
			VI: "bot không được phép gửi vào đây; hãy mở bot và bấm Start (Bắt đầu), hoặc thêm lại bot vào nhóm"}
	case status == http.StatusBadRequest:
		what = app.Text{EN: "check the chat id; a person must have pressed Start in the bot, and a group must have it as a member",
			VI: "hãy kiểm tra mã cuộc trò chuyện; cá nhân phải bấm Start (Bắt đầu) trong bot trước, nhóm phải có bot là thành viên"}
	case status == http.StatusConflict:
		what = app.Text{EN: "another program reads what is written to this bot (a webhook is set); " +
			"make a bot of its own for baoco, or enter the chat id",
			VI: "một chương trình khác đang nhận tin của bot này (đã đặt webhook); hãy tạo bot riêng cho baoco hoặc nhập mã cuộc trò chuyện"}
	case status >= 500:
		what = app.Text{EN: "Telegram has trouble of its own; it is tried again later", VI: "Telegram đang gặp sự cố; hệ thống sẽ thử lại sau"}
	}
	return app.Text{EN: "Telegram answered “" + words + "”: " + what.EN + ".", VI: "Telegram trả lời “" + words + "”: " + what.VI + "."}
}

// clipUTF16 shortens a text to at most that many UTF-16 units.
func clipUTF16(s string, most int) string {
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > most {
			return s[:i]
		}
	}
	return s
}
