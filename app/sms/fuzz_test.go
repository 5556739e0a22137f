package sms_test

import (
	"regexp"
	"testing"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/sms"
)

var shownAccount = regexp.MustCompile(`^[0-9]*x*[0-9]*$`)

// FuzzRead: a Balance is money that can be recorded, and what stands after the
// content of a sample changes none of it.
func FuzzRead(f *testing.F) {
	for _, s := range samples {
		f.Add(s.bank, s.text, int64(1_792_000_000))
	}
	for _, texts := range kinds {
		for _, text := range texts {
			f.Add("Vietcombank", text, int64(0))
		}
	}
	f.Fuzz(func(t *testing.T, sender, text string, received int64) {
		at := time.Unix(received%253_402_300_800, 0)
		m, kind, fault := sms.Read(sms.Message{Sender: sender, Text: text, ReceivedAt: at}, zone)
		if (fault != nil) != (kind == sms.Unreadable) {
			t.Fatalf("%v, %v", kind, fault)
		}
		if kind != sms.Balance {
			if m.Amount != 0 || m.Type != "" || kind == sms.Other && m != (sms.Movement{}) {
				t.Errorf("%v, %+v", kind, m)
			}
			return
		}
		if m.Amount < 1 || m.Amount > app.MaxAmount || m.Type != app.In && m.Type != app.Out {
			t.Errorf("%q of %d", m.Type, m.Amount)
		}
		if !shownAccount.MatchString(m.AccountNumber) || len(m.AccountNumber) < 3 || len(m.AccountNumber) > 50 {
			t.Errorf("account %q", m.AccountNumber)
		}
		if !utf8.ValidString(m.Content) || utf8.RuneCountInString(m.Content) > app.MaxContent || !utf8.ValidString(m.Number) {
			t.Errorf("content %q, number %q", m.Content, m.Number)
		}
		if m.Bank != "" {
			if _, known := app.FindBank(m.Bank); !known {
				t.Errorf("bank %q", m.Bank)
			}
		}
	})
}

// FuzzContent: whatever is written after a sample, the money stays.
func FuzzContent(f *testing.F) {
	for _, s := range samples {
		f.Add(s.text)
	}
	f.Add("\u0301\n SODU:+1. SD: 1) (")
	f.Fuzz(func(t *testing.T, content string) {
		for _, s := range samples {
			at := time.Unix(1_792_000_000, 0)
			want, _, _ := sms.Read(sms.Message{Sender: s.bank, Text: s.text, ReceivedAt: at}, zone)
			got, kind, fault := sms.Read(sms.Message{Sender: s.bank, Text: s.text + content, ReceivedAt: at}, zone)
			got.Content, got.Number, want.Content, want.Number = "", "", "", ""
			if kind != sms.Unreadable && (kind != sms.Balance || got != want) {
				t.Fatalf("%s, %q: %v, %v, %+v", s.bank, content, kind, fault, got)
			}
		}
	})
}
