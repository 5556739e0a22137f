package dashboard

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/alert"
)

// In the form of Telegram an owner types the token of a bot, and chooses one of the chats that wrote to the bot.

// foundBot is a bot whose chats were shown to a user. No page may hold its token, so the token
// is kept here until the user has chosen a chat.
type foundBot struct {
	alert.TelegramSettings
	until time.Time
}

// foundBotKept is how long a user has to choose a chat.
const foundBotKept = 15 * time.Minute

// foundBots are the found bots of all users.
type foundBots struct {
	mu   sync.Mutex
	bots map[int64]foundBot
}

// put keeps the bot of a user, and drops the bots whose time is over.
func (f *foundBots) put(userID int64, t alert.TelegramSettings, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bots == nil {
		f.bots = map[int64]foundBot{}
	}
	maps.DeleteFunc(f.bots, func(_ int64, bot foundBot) bool { return now.After(bot.until) })
	f.bots[userID] = foundBot{t, now.Add(foundBotKept)}
}

// token returns the token that a user typed, and then drops the user's kept bot; else the token
// of the kept bot if it is at apiURL; else "".
func (f *foundBots) token(userID int64, typed, apiURL string, now time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if typed != "" {
		delete(f.bots, userID)
		return typed
	}
	if bot := f.bots[userID]; bot.APIURL == apiURL && now.Before(bot.until) {
		return bot.Token
	}
	return ""
}

// telegramForm reads the form of Telegram. If no token was entered, it takes the token of the bot
// whose chats were shown.
func (s *Server) telegramForm(v *visit) alert.TelegramSettings {
	t := alert.TelegramSettings{Chat: v.PostFormValue("chat"), APIURL: v.PostFormValue("api_url")}
	t.Token = s.bots.token(v.user.ID, strings.TrimSpace(v.PostFormValue("token")), t.APIURL, v.now)
	return t
}

func (s *Server) setAlertTelegram(v *visit) error {
	return s.setAlertChannel(v, alertCard{Channel: alert.Channel{Medium: alert.Telegram, Telegram: s.telegramForm(v)}})
}

// findTelegramChats shows the form with the chats that wrote to the bot.
func (s *Server) findTelegramChats(v *visit) (err error) {
	ctx, cancel := context.WithTimeout(v.Context(), alertTestTime)
	defer cancel()
	form := alertCard{Channel: alert.Channel{Medium: alert.Telegram, Telegram: s.telegramForm(v)}, Open: true}
	form.Chats, err = s.Services.Alerts.TelegramChats(ctx, v.account.ID, form.Channel.Telegram)
	if err == nil {
		s.bots.put(v.user.ID, form.Channel.Telegram, v.now)
	}
	if fault, found := errors.AsType[*alert.Error](err); found {
		err = app.Conflict(fault.Text.EN, fault.Text.VI)
	} else if err == nil && len(form.Chats) == 0 {
		err = app.Conflict("Nobody has written to this bot yet. Write anything to it in Telegram, then press the button again.",
			"Bot này chưa nhận được tin nào. Hãy nhắn gì đó cho bot trong Telegram rồi bấm lại nút tìm.")
	}
	return s.showAlerts(v, sentAlerts{card: form}, err)
}
