package sqlitestore

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"baoco/app"
	"baoco/app/alert"
)

func (s *Store) AlertPreferences(ctx context.Context, accountID int64) (alert.Preferences, error) {
	var p alert.Preferences
	var muted string
	err := s.queryRow(ctx, `SELECT lang, muted FROM alert_preferences WHERE account_id = ?`, accountID).Scan(&p.Lang, &muted)
	if noRows(err) {
		p.Lang, err = readOne[app.Lang](ctx, s, settingIfAny, "lang")
		p.Lang = cmp.Or(p.Lang, app.Vietnamese) // no server ran on the file yet
	}
	for _, kind := range strings.Fields(muted) {
		p.Muted = append(p.Muted, alert.AttentionKind(kind))
	}
	return p, err
}

func (s *Store) SetAlertPreferences(ctx context.Context, accountID int64, p alert.Preferences) error {
	muted := make([]string, len(p.Muted))
	for i, kind := range p.Muted {
		muted[i] = string(kind)
	}
	return s.write(ctx, func(tx *tx) error {
		txAccount(tx, accountID)
		var lang, mutedBefore string
		err := tx.queryRow(`SELECT lang, muted FROM alert_preferences WHERE account_id = ?`, accountID).Scan(&lang, &mutedBefore)
		tx.fail(noRowsAs(err, nil))
		tx.exec(`INSERT INTO alert_preferences (account_id, lang, muted) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE
			SET lang = ?2, muted = ?3`, accountID, string(p.Lang), strings.Join(muted, " "))
		d := app.AuditDetail{}.Changed("lang", lang, p.Lang).Changed("muted", mutedBefore, strings.Join(muted, " "))
		return tx.auditChange(ctx, accountID, app.DeedAlertsChange, 0, d)
	})
}

const (
	alertChannelColumns = `c.id, c.account_id, c.medium, c.settings, c.version, c.set_at, c.sent_ms, c.failures, c.problem_en, c.problem_vi,
		c.retry_ms, c.report_time, c.reported_day, coalesce(c.reported_month, 0),
	f.channel_id IS NOT NULL, coalesce(f.bank_account_id, 0), coalesce(f.type, ''), coalesce(f.least, 0), coalesce(f.content, 0),
	coalesce(f.told_to, 0), f.sent_ms, coalesce(f.failures, 0), coalesce(f.problem_en, ''), coalesce(f.problem_vi, ''), f.retry_ms`
	alertChannelFrom = ` FROM alert_channels c LEFT JOIN payment_feeds f ON f.channel_id = c.id`
)

// alertSettings are the settings of every medium, as they are sealed.
type alertSettings struct {
	Telegram alert.TelegramSettings
	Email    alert.EmailSettings
	Chat     alert.ChatSettings
}

func (s *Store) scanAlertChannel(row scanner) (alert.Channel, error) {
	var c alert.Channel
	var sealed []byte
	f := &c.Feed
	err := row.Scan(&c.ID, &c.AccountID, &c.Medium, &sealed, &c.Version, secondsInto(&c.SetAt), millisInto(&c.SentAt), &c.Failures,
		&c.Problem.EN, &c.Problem.VI, millisInto(&c.RetryAt), &c.ReportTime, &c.ReportedDay, &c.ReportedMonth, &f.On, &f.BankAccountID, &f.Type,
		&f.Least, &f.Content, &f.SentThrough, millisInto(&f.SentAt), &f.Failures, &f.Problem.EN, &f.Problem.VI, millisInto(&f.RetryAt))
	if err != nil {
		return c, err
	}
	if len(sealed) == 0 {
		return c.WithoutSettings(), nil
	}
	text, err := s.sealer.open(sealAlert, sealed)
	if err != nil {
		return c, err
	}
	var settings alertSettings
	err = json.Unmarshal([]byte(text), &settings)
	c.Telegram, c.Email, c.Chat = settings.Telegram, settings.Email, settings.Chat
	return c, err
}

func (s *Store) AlertChannels(ctx context.Context, accountID int64) ([]alert.Channel, error) {
	return readAll(ctx, s, s.scanAlertChannel, `SELECT `+alertChannelColumns+alertChannelFrom+` WHERE ? IN (0, c.account_id) ORDER BY c.id`,
		accountID)
}

func (s *Store) SetAlertChannel(ctx context.Context, c alert.Channel) (alert.Channel, error) {
	text, err := json.Marshal(alertSettings{c.Telegram, c.Email, c.Chat})
	if err != nil {
		return c, err
	}
	return writing(ctx, s, func(tx *tx) (alert.Channel, error) {
		txAccount(tx, c.AccountID)
		tx.exec(`INSERT INTO alert_channels (account_id, medium, settings, version, set_at, failures, problem_en, problem_vi)
			VALUES (?1, ?2, ?3, 1, ?4, 0, '', '')
				ON CONFLICT DO UPDATE SET settings = ?3, version = version + 1, set_at = ?4, failures = 0, problem_en = '', problem_vi = '',
					retry_ms = NULL`, c.AccountID, string(c.Medium), s.sealer.seal(sealAlert, string(text)), c.SetAt.Unix())
		c := find(tx, nil, s.scanAlertChannel, `SELECT `+alertChannelColumns+alertChannelFrom+` WHERE c.account_id = ? AND c.medium = ?`,
			c.AccountID, string(c.Medium))
		endFeedFailures(tx, c.ID)
		tx.audit(ctx, c.AccountID, app.DeedAlertSet, c.ID, app.AuditNamed(string(c.Medium)).Changed("to", "", c.Destination()))
		return c, tx.exec(`DELETE FROM alert_conditions WHERE channel_id = ?`, c.ID)
	})
}

func (s *Store) RemoveAlertChannel(ctx context.Context, accountID int64, medium alert.Medium) error {
	return s.write(ctx, func(tx *tx) error {
		id := txAlertChannel(tx, accountID, medium)
		tx.exec(`DELETE FROM alert_channels WHERE id = ?`, id)
		return tx.audit(ctx, accountID, app.DeedAlertRemove, id, app.AuditNamed(string(medium)))
	})
}

func (s *Store) SetReport(ctx context.Context, accountID int64, medium alert.Medium, at alert.ReportTime, reported app.Day) error {
	return s.write(ctx, func(tx *tx) error {
		id := txAlertChannel(tx, accountID, medium)
		before := findValue[string](tx, `SELECT report_time FROM alert_channels WHERE id = ?`, id)
		tx.exec(`UPDATE alert_channels SET report_time = ?, reported_day = ? WHERE id = ?`, string(at), int64(reported), id)
		return tx.auditChange(ctx, accountID, app.DeedAlertChange, id, app.AuditNamed(string(medium)).Changed("report_time", before, at))
	})
}

func (s *Store) SetMonthReport(ctx context.Context, accountID int64, medium alert.Medium, month app.Day) error {
	return s.write(ctx, func(tx *tx) error {
		id := txAlertChannel(tx, accountID, medium)
		tx.exec(`UPDATE alert_channels SET reported_month = ? WHERE id = ?`, nullIfZero(int64(month)), id)
		return tx.auditChange(ctx, accountID, app.DeedAlertChange, id,
			app.AuditNamed(string(medium)).Changed("month_report", month == 0, month != 0))
	})
}

func txAlertChannel(tx *tx, accountID int64, medium alert.Medium) int64 {
	return find(tx, alert.ErrNoChannel, scanOne[int64], `SELECT id FROM alert_channels WHERE account_id = ? AND medium = ?`, accountID,
		string(medium))
}

// AlertConditions are in the order in which they were kept.
func (s *Store) AlertConditions(ctx context.Context, channelID int64) ([]alert.Condition, error) {
	return readAll(ctx, s, func(row scanner) (c alert.Condition, err error) {
		return c, row.Scan(&c.Key, &c.Kind, &c.Name.EN, &c.Name.VI, millisInto(&c.BeganAt), millisInto(&c.SentAt), millisInto(&c.GoneAt))
	}, `SELECT key, kind, name_en, name_vi, began_ms, told_ms, gone_ms FROM alert_conditions WHERE channel_id = ? ORDER BY id`, channelID)
}

func (s *Store) SettleAlert(ctx context.Context, o alert.Outcome) error {
	return s.write(ctx, func(tx *tx) error {
		c := o.Channel
		if !findValue[bool](tx, `SELECT EXISTS (SELECT 1 FROM alert_channels WHERE id = ? AND version = ?)`, c.ID, c.Version) {
			return nil
		}
		tx.exec(`DELETE FROM alert_conditions WHERE channel_id = ?`, c.ID)
		for _, condition := range o.Conditions {
			tx.exec(`INSERT INTO alert_conditions (channel_id, key, kind, name_en, name_vi, began_ms, told_ms, gone_ms)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, c.ID, condition.Key, string(condition.Kind), condition.Name.EN, condition.Name.VI,
				condition.BeganAt.UnixMilli(), unixMilliOrNull(condition.SentAt), unixMilliOrNull(condition.GoneAt))
		}
		if o.Message == nil {
			return nil
		}
		tx.exec(`UPDATE alert_channels SET sent_ms = ?, failures = ?, problem_en = ?, problem_vi = ?, retry_ms = ?,
				reported_day = iif(report_time = ?, ?, reported_day), reported_month = iif(reported_month IS NULL, NULL, ?) WHERE id = ?`,
			unixMilliOrNull(c.SentAt), c.Failures, c.Problem.EN, c.Problem.VI, unixMilliOrNull(c.RetryAt), string(c.ReportTime),
			int64(c.ReportedDay), nullIfZero(int64(c.ReportedMonth)), c.ID)
		return keepAlertMessage(tx, c.AccountID, *o.Message)
	})
}

func (s *Store) NoteAlertTest(ctx context.Context, c alert.Channel, m alert.Message) error {
	return s.write(ctx, func(tx *tx) error {
		if m.Sent && m.Problem == (app.Text{}) {
			tx.exec(`UPDATE alert_channels SET failures = 0, problem_en = '', problem_vi = '', retry_ms = NULL WHERE id = ?
				AND version = ?`, c.ID, c.Version)
			endFeedFailures(tx, c.ID)
		}
		tx.audit(ctx, c.AccountID, app.DeedAlertTest, c.ID, app.AuditNamed(string(c.Medium)))
		return keepAlertMessage(tx, c.AccountID, m)
	})
}

// keepAlertMessage stores a message. It removes the row of its last try that failed,
// and the oldest messages.
func keepAlertMessage(tx *tx, accountID int64, m alert.Message) error {
	if m.Tries > 1 {
		tx.exec(`DELETE FROM alert_messages WHERE id = (SELECT max(id) FROM alert_messages WHERE account_id = ? AND medium = ?
			AND test = 0 AND sent = 0)`, accountID, string(m.Medium))
	}
	tx.exec(`INSERT INTO alert_messages (account_id, medium, at_ms, test, subject, text, sent, tries, problem_en, problem_vi)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		accountID, string(m.Medium), m.At.UnixMilli(), m.Test, m.Subject, m.Text, m.Sent, m.Tries, m.Problem.EN, m.Problem.VI)
	return tx.exec(`DELETE FROM alert_messages WHERE account_id = ?1 AND id NOT IN (SELECT id FROM alert_messages WHERE account_id = ?1
		ORDER BY id DESC LIMIT ?2)`, accountID, alert.KeptMessages)
}

func (s *Store) AlertMessages(ctx context.Context, accountID int64, most int) ([]alert.Message, error) {
	return readAll(ctx, s, func(row scanner) (m alert.Message, err error) {
		return m, row.Scan(&m.Medium, millisInto(&m.At), &m.Test, &m.Subject, &m.Text, &m.Sent, &m.Tries, &m.Problem.EN, &m.Problem.VI)
	}, `SELECT medium, at_ms, test, subject, text, sent, tries, problem_en, problem_vi FROM alert_messages WHERE account_id = ?
		ORDER BY id DESC LIMIT ?`, accountID, most)
}

// endFeedFailures clears the failures of a channel's feed, so that it is tried at once: the
// channel works again, or has new settings.
func endFeedFailures(tx *tx, channelID int64) error {
	return tx.exec(`UPDATE payment_feeds SET failures = 0, problem_en = '', problem_vi = '', retry_ms = NULL WHERE channel_id = ?
		AND failures > 0`, channelID)
}

func (s *Store) SetPaymentFeed(ctx context.Context, channelID int64, f alert.PaymentFeed) error {
	return s.write(ctx, func(tx *tx) error {
		var accountID int64
		var medium string
		var was bool
		err := tx.queryRow(`SELECT account_id, medium, EXISTS (SELECT 1 FROM payment_feeds WHERE channel_id = ?1) FROM alert_channels
			WHERE id = ?1`, channelID).Scan(&accountID, &medium, &was)
		if err != nil {
			return noRowsAs(err, nil)
		}
		tx.audit(ctx, accountID, app.DeedAlertChange, channelID, app.AuditNamed(medium).Changed("payment_feed", was, f.On))
		if !f.On {
			return tx.exec(`DELETE FROM payment_feeds WHERE channel_id = ?`, channelID)
		}
		return tx.exec(`INSERT INTO payment_feeds (channel_id, bank_account_id, type, least, content, told_to, failures, problem_en, problem_vi)
				SELECT ?1, ?2, ?3, ?4, ?5, coalesce((SELECT max(id) FROM transactions), 0), 0, '', '' FROM alert_channels WHERE id = ?1
				ON CONFLICT DO UPDATE SET bank_account_id = ?2, type = ?3, least = ?4, content = ?5`,
			channelID, nullIfZero(f.BankAccountID), string(f.Type), f.Least, f.Content)
	})
}

// feedWindow is how many transactions of the file are read to find the payments of a feed.
const feedWindow = 2000

const lastInWindow = `SELECT coalesce(max(id), 0) FROM (SELECT id FROM transactions WHERE id > ? ORDER BY id LIMIT ?)`

// feedAsRead is true while a feed is as it was read: it wasn't switched off or on, or
// changed. Each query for payments has this condition, since somebody may change the feed
// between two statements.
const feedAsRead = `EXISTS (SELECT 1 FROM payment_feeds WHERE channel_id = ?11 AND told_to = ?1
	AND bank_account_id IS nullif(?4, 0) AND type = ?5 AND least = ?6 AND content = ?12)`

// fromFeedPayments selects the transactions up to ?2 that a feed reports.
const fromFeedPayments = ` FROM transactions t NOT INDEXED JOIN bank_accounts b ON b.id = t.bank_account_id
	WHERE t.id > ?1 AND t.id <= ?2 AND t.account_id = ?3
	AND (?4 = 0 OR t.bank_account_id = ?4) AND (?5 = '' OR t.type = ?5) AND t.amount >= ?6
	AND t.channel <> ?7 AND b.status <> ?8 AND t.occurred_at >= t.created_at - ?9 AND ` + feedAsRead + ` ORDER BY t.id LIMIT ?10`

func (s *Store) PaymentsToSend(ctx context.Context, c alert.Channel) ([]app.Transaction, int64, error) {
	f := c.Feed
	last, err := readOne[int64](ctx, s, lastInWindow, f.SentThrough, feedWindow)
	if err != nil || last == 0 {
		return nil, 0, err
	}
	args := []any{
		f.SentThrough, last, c.AccountID, f.BankAccountID, string(f.Type), f.Least,
		string(app.ChannelFile), string(app.BankAccountInactive), int64(alert.FeedOldest.Seconds()), alert.FeedRead, c.ID, f.Content,
	}
	list, err := readAll(ctx, s, scanTransaction, `SELECT `+transactionColumns+fromFeedPayments, args...)
	if err != nil || len(list) > 0 {
		return list, last, err
	}
	none, err := readOne[bool](ctx, s, `SELECT `+feedAsRead+` AND NOT EXISTS (SELECT 1`+fromFeedPayments+`)`, args...)
	if !none {
		last = 0
	}
	return nil, last, err
}

func (s *Store) SettlePaymentFeed(ctx context.Context, c alert.Channel, sentThrough int64) error {
	f := c.Feed
	return s.write(ctx, func(tx *tx) error {
		return tx.exec(`UPDATE payment_feeds SET told_to = ?, sent_ms = ?, failures = ?, problem_en = ?, problem_vi = ?, retry_ms = ?
			WHERE channel_id = ? AND told_to = ?`,
			f.SentThrough, unixMilliOrNull(f.SentAt), f.Failures, f.Problem.EN, f.Problem.VI, unixMilliOrNull(f.RetryAt), c.ID, sentThrough)
	})
}
