package sqlitestore

import (
	"context"
	"encoding/json"
	"strings"

	"baoco/app"
)

func (s *Store) AlertPreferences(ctx context.Context, accountID int64) (app.AlertPreferences, error) {
	var p app.AlertPreferences
	var muted string
	err := s.queryRow(ctx, `SELECT lang, muted FROM alert_preferences WHERE account_id = ?`, accountID).Scan(&p.Lang, &muted)
	if noRows(err) {
		p.Lang = app.Vietnamese
		err = s.queryRow(ctx, `SELECT value FROM settings WHERE name = 'lang'`).Scan(&p.Lang)
	}
	if noRows(err) { // no server ran on the file yet
		err = nil
	}
	for _, kind := range strings.Fields(muted) {
		p.Muted = append(p.Muted, app.AttentionKind(kind))
	}
	return p, storageError(err)
}

func (s *Store) SetAlertPreferences(ctx context.Context, accountID int64, p app.AlertPreferences) error {
	muted := make([]string, len(p.Muted))
	for i, kind := range p.Muted {
		muted[i] = string(kind)
	}
	return s.write(ctx, func(tx *tx) error {
		if _, err := txAccount(tx, accountID); err != nil {
			return err
		}
		return tx.exec(`INSERT INTO alert_preferences (account_id, lang, muted) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET lang = ?2, muted = ?3`,
			accountID, string(p.Lang), strings.Join(muted, " "))
	})
}

const alertChannelColumns = `id, account_id, medium, settings, version, set_at, sent_ms, failures, problem_en, problem_vi, retry_ms, report_time, reported_day`

// alertSettings are the settings of either medium, as they are sealed.
type alertSettings struct {
	Telegram app.TelegramSettings
	Email    app.EmailSettings
}

func (s *Store) scanAlertChannel(row scanner) (app.AlertChannel, error) {
	var c app.AlertChannel
	var sealed []byte
	err := row.Scan(&c.ID, &c.AccountID, &c.Medium, &sealed, &c.Version, secondsInto(&c.SetAt), millisInto(&c.SentAt), &c.Failures, &c.Problem.EN, &c.Problem.VI, millisInto(&c.RetryAt), &c.ReportTime, &c.ReportedDay)
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
	c.Telegram, c.Email = settings.Telegram, settings.Email
	return c, err
}

func (s *Store) AlertChannels(ctx context.Context, accountID int64) ([]app.AlertChannel, error) {
	where, args := ``, []any{}
	if accountID != 0 {
		where, args = ` WHERE account_id = ?`, []any{accountID}
	}
	return readAll(ctx, s, s.scanAlertChannel, `SELECT `+alertChannelColumns+` FROM alert_channels`+where+` ORDER BY id`, args...)
}

func (s *Store) SetAlertChannel(ctx context.Context, c app.AlertChannel) (app.AlertChannel, error) {
	text, err := json.Marshal(alertSettings{c.Telegram, c.Email})
	if err != nil {
		return c, err
	}
	return writing(ctx, s, func(tx *tx) (app.AlertChannel, error) {
		if _, err := txAccount(tx, c.AccountID); err != nil {
			return c, err
		}
		err := tx.exec(`INSERT INTO alert_channels (account_id, medium, settings, version, set_at, failures, problem_en, problem_vi) VALUES (?1, ?2, ?3, 1, ?4, 0, '', '')
				ON CONFLICT DO UPDATE SET settings = ?3, version = version + 1, set_at = ?4, failures = 0, problem_en = '', problem_vi = '', retry_ms = NULL`,
			c.AccountID, string(c.Medium), s.sealer.seal(sealAlert, string(text)), c.SetAt.Unix())
		if err != nil {
			return c, err
		}
		c, err := s.scanAlertChannel(tx.queryRow(`SELECT `+alertChannelColumns+` FROM alert_channels WHERE account_id = ? AND medium = ?`, c.AccountID, string(c.Medium)))
		if err != nil {
			return c, err
		}
		return c, tx.exec(`DELETE FROM alert_conditions WHERE channel_id = ?`, c.ID)
	})
}

func (s *Store) RemoveAlertChannel(ctx context.Context, accountID int64, medium app.AlertMedium) error {
	return s.write(ctx, func(tx *tx) error {
		return tx.changeOne(app.ErrNoAlertChannel, `DELETE FROM alert_channels WHERE account_id = ? AND medium = ?`, accountID, string(medium))
	})
}

func (s *Store) SetReport(ctx context.Context, accountID int64, medium app.AlertMedium, at app.ReportTime, reported app.Day) error {
	return s.write(ctx, func(tx *tx) error {
		return tx.changeOne(app.ErrNoAlertChannel, `UPDATE alert_channels SET report_time = ?, reported_day = ? WHERE account_id = ? AND medium = ?`,
			string(at), int64(reported), accountID, string(medium))
	})
}

// AlertConditions are in the order in which they were kept.
func (s *Store) AlertConditions(ctx context.Context, channelID int64) ([]app.AlertCondition, error) {
	rows, err := s.query(ctx, `SELECT key, kind, name_en, name_vi, began_ms, told_ms, gone_ms FROM alert_conditions WHERE channel_id = ? ORDER BY id`, channelID)
	return collect(rows, err, func(row scanner) (app.AlertCondition, error) {
		var c app.AlertCondition
		err := row.Scan(&c.Key, &c.Kind, &c.Name.EN, &c.Name.VI, millisInto(&c.BeganAt), millisInto(&c.ToldAt), millisInto(&c.GoneAt))
		return c, err
	})
}

func (s *Store) SettleAlert(ctx context.Context, o app.AlertOutcome) error {
	return s.write(ctx, func(tx *tx) error {
		c := o.Channel
		same, err := scanOne[bool](tx.queryRow(`SELECT EXISTS (SELECT 1 FROM alert_channels WHERE id = ? AND version = ?)`, c.ID, c.Version))
		if err != nil || !same {
			return err
		}
		if err := tx.exec(`DELETE FROM alert_conditions WHERE channel_id = ?`, c.ID); err != nil {
			return err
		}
		for _, condition := range o.Conditions {
			if err := tx.exec(`INSERT INTO alert_conditions (channel_id, key, kind, name_en, name_vi, began_ms, told_ms, gone_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
				c.ID, condition.Key, string(condition.Kind), condition.Name.EN, condition.Name.VI,
				condition.BeganAt.UnixMilli(), unixMilliOrNull(condition.ToldAt), unixMilliOrNull(condition.GoneAt)); err != nil {
				return err
			}
		}
		if o.Message == nil {
			return nil
		}
		if err := tx.exec(`UPDATE alert_channels SET sent_ms = ?, failures = ?, problem_en = ?, problem_vi = ?, retry_ms = ?,
				reported_day = iif(report_time = ?, ?, reported_day) WHERE id = ?`,
			unixMilliOrNull(c.SentAt), c.Failures, c.Problem.EN, c.Problem.VI, unixMilliOrNull(c.RetryAt), string(c.ReportTime), int64(c.ReportedDay), c.ID); err != nil {
			return err
		}
		return keepAlertMessage(tx, c.AccountID, *o.Message)
	})
}

func (s *Store) NoteAlertTest(ctx context.Context, c app.AlertChannel, m app.AlertMessage) error {
	return s.write(ctx, func(tx *tx) error {
		if m.Sent && m.Problem == (app.Text{}) {
			if err := tx.exec(`UPDATE alert_channels SET failures = 0, problem_en = '', problem_vi = '', retry_ms = NULL WHERE id = ? AND version = ?`, c.ID, c.Version); err != nil {
				return err
			}
		}
		return keepAlertMessage(tx, c.AccountID, m)
	})
}

// keepAlertMessage stores a message. It removes the row of its last try that failed,
// and the oldest messages.
func keepAlertMessage(tx *tx, accountID int64, m app.AlertMessage) error {
	if m.Tries > 1 {
		if err := tx.exec(`DELETE FROM alert_messages WHERE id = (SELECT max(id) FROM alert_messages WHERE account_id = ? AND medium = ? AND test = 0 AND sent = 0)`,
			accountID, string(m.Medium)); err != nil {
			return err
		}
	}
	err := tx.exec(`INSERT INTO alert_messages (account_id, medium, at_ms, test, subject, text, sent, tries, problem_en, problem_vi) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		accountID, string(m.Medium), m.At.UnixMilli(), m.Test, m.Subject, m.Text, m.Sent, m.Tries, m.Problem.EN, m.Problem.VI)
	if err != nil {
		return err
	}
	return tx.exec(`DELETE FROM alert_messages WHERE account_id = ?1 AND id NOT IN (SELECT id FROM alert_messages WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2)`,
		accountID, app.KeptAlertMessages)
}

func (s *Store) AlertMessages(ctx context.Context, accountID int64, most int) ([]app.AlertMessage, error) {
	rows, err := s.query(ctx, `SELECT medium, at_ms, test, subject, text, sent, tries, problem_en, problem_vi FROM alert_messages WHERE account_id = ? ORDER BY id DESC LIMIT ?`,
		accountID, most)
	return collect(rows, err, func(row scanner) (app.AlertMessage, error) {
		var m app.AlertMessage
		err := row.Scan(&m.Medium, millisInto(&m.At), &m.Test, &m.Subject, &m.Text, &m.Sent, &m.Tries, &m.Problem.EN, &m.Problem.VI)
		return m, err
	})
}
