package inbound_test

import (
	"testing"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/paymentcode"
)

// What two reports of one amount and time are, by what they say.
func TestRepeatRule(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 16, 59, 30, 0, time.UTC) // a minute later the banks' day is the 28th
	rule := inbound.RepeatRule{
		Codes: app.NewCodeReader([]app.CodePattern{{Pattern: paymentcode.Pattern{Prefix: "DH", Least: 6, Most: 6,
			Alphabet: paymentcode.Digits}}}),
		Own: []string{"19354957", "0901234567", "555"},
	}
	const same, another, unknown = inbound.SameMovement, inbound.AnotherMovement, inbound.NotKnown
	say := func(content string) inbound.Report { return inbound.Report{Content: content} }
	for _, c := range []struct {
		name string
		a, b inbound.Report
		want inbound.Likeness
	}{
		{"one balance", inbound.Report{Content: "tien dien thang 10", Balance: 5}, inbound.Report{Content: "mua hai ao khoac", Balance: 5}, same},
		{"two balances", inbound.Report{Content: "mua hai ao khoac", Balance: 5},
			inbound.Report{Content: "mua hai ao khoac", Balance: 6}, another},
		{"one balance, numbers of one form", inbound.Report{Number: "FT1001", Content: "ck", Balance: 5},
			inbound.Report{Number: "FT1002", Content: "ck", Balance: 5}, unknown},
		{"one balance, numbers of two forms", inbound.Report{Number: "5389.82579", Balance: 5},
			inbound.Report{Number: "FT1002", Balance: 5}, same},
		{"two balances, one number", inbound.Report{Number: "FT1001", Balance: 5}, inbound.Report{Number: "FT1001", Balance: 6}, another},
		{"a balance in one", inbound.Report{Content: "ck", Balance: 5}, inbound.Report{Content: "ck 2"}, unknown},
		{"what can be spent", inbound.Report{Available: 5}, inbound.Report{Available: 5}, same},
		{"what can be spent, and a balance", inbound.Report{Available: 5}, inbound.Report{Balance: 5}, unknown},
		{"numbers of one form", inbound.Report{Number: "FT1001", Content: "ck"}, inbound.Report{Number: "FT1002", Content: "ck"}, another},
		{"numbers of two forms", inbound.Report{Number: "5389.82579", Content: "ck"}, inbound.Report{Number: "FT1002", Content: "ck"}, same},
		{"one number", inbound.Report{Number: "FT1001", Content: "ck"}, inbound.Report{Number: "FT1001", Content: "ck"}, same},
		{"numbers of two lengths", inbound.Report{Number: "FT1001", Content: "ck"}, inbound.Report{Number: "FT10012", Content: "ck"}, same},
		{"numbers with other letters", inbound.Report{Number: "FT1001", Content: "ck"}, inbound.Report{Number: "IB1002", Content: "ck"}, same},
		{"numbers with one letter", inbound.Report{Number: "F1001", Content: "ck"}, inbound.Report{Number: "F1002", Content: "ck"}, same},
		{"numbers that begin with a digit", inbound.Report{Number: "1FT1001", Content: "ck"},
			inbound.Report{Number: "1FT1002", Content: "ck"}, same},
		{"numbers that end with a letter", inbound.Report{Number: "FT1001A", Content: "ck"},
			inbound.Report{Number: "FT1002A", Content: "ck"}, same},
		{"equal, with marks and without", say("Trả tiền"), say("tra tien"), same},
		{"equal and short", say("ck"), say("CK."), same},
		{"one in the other", say("LE VAN C chuyen tien"), say("CT DEN:LE VAN C chuyen tien; tai iPay"), same},
		{"without blanks", say("LE VAN C chuyen tien"), say("LEVANCchuyentien"), same},
		{"a short one in the other", say("LE VAN"), say("LE VAN C chuyen tien"), unknown},
		{"seven letters in the other", say("LE VAN CU"), say("LE VAN CU chuyen tien"), unknown},
		{"eight letters in the other", say("LE VAN CUA"), say("LE VAN CUA chuyen tien"), same},
		{"a code", say("thanh toan DH123456 nha"), say("DH123456 cua chi Ba"), same},
		{"a long number", say("hoa don 998877 nha chi Ba"), say("998877 thang 10 cua em"), same},
		{"two codes and a common number", say("DH123456 Tap hoa Hoa 02838123456"), say("DH654321 Tap hoa Hoa 02838123456"), unknown},
		{"a code and a common number", say("DH123456 Tap hoa Hoa 70838123456"), say("Tap hoa Hoa 70838123456 anh Ba"), same},
		{"a short number", say("hoa don 99887 nha chi Ba"), say("99887 thang 10 cua em"), unknown},
		{"the shop's account", say("toi 19354957 nha chi Ba"), say("19354957 thang 10 cua em"), unknown},
		{"a part of the shop's account", say("toi 935495 nha chi Ba"), say("935495 thang 10 cua em"), unknown},
		{"the shop's account and more digits", say("toi 19354957001 nha chi Ba"), say("19354957001 thang 10 cua em"), unknown},
		{"digits of an account that is too short to say anything", say("don 885551 nha chi Ba"), say("885551 thang 10 cua em"), same},
		{"a phone number", say("0901234567 nha chi Ba"), say("0901234567 thang 10 cua em"), unknown},
		{"a phone at a desk", say("02438123456 nha chi Ba"), say("02438123456 thang 10 cua em"), unknown},
		{"a hotline", say("19001234 nha chi Ba"), say("19001234 thang 10 cua em"), unknown},
		{"the phone number of another", say("84912345678 nha chi Ba"), say("84912345678 thang 10 cua em"), unknown},
		{"longer than a phone number", say("0912345678901 nha chi Ba"), say("0912345678901 thang 10 cua em"), same},
		{"as long as a phone number, and none", say("0112345678 nha chi Ba"), say("0112345678 thang 10 cua em"), same},
		{"the day", say("CT DEN 271126 nha chi Ba"), say("271126 thang 10 cua em"), unknown},
		{"the day of the later", say("CT DEN 281126 nha chi Ba"), say("281126 thang 10 cua em"), unknown},
		{"the day with its century", say("CT DEN 27112026 nha chi Ba"), say("27112026 thang 10 cua em"), unknown},
		{"the day, its year first", say("CT DEN 261127 nha chi Ba"), say("261127 thang 10 cua em"), unknown},
		{"the day, its year with the century first", say("CT DEN 20261127 nha chi Ba"), say("20261127 thang 10 cua em"), unknown},
		{"another day", say("CT DEN 291126 nha chi Ba"), say("291126 thang 10 cua em"), same},
		{"a number that begins as the day", say("don 20261127001 nha chi Ba"), say("20261127001 thang 10 cua em"), same},
		{"a long number that begins as the short day", say("don 27112600000001 nha chi Ba"), say("27112600000001 thang 10 cua em"), same},
		{"the day and its time", say("20261127100000 nha chi Ba"), say("20261127100000 thang 10 cua em"), unknown},
		{"no common word", say("LE VAN C mua ghe"), say("TRAN THI D hoc phi"), another},
		{"words that everybody writes", say("LE VAN C chuyen tien"), say("TRAN THI D chuyen tien"), another},
		{"a common name", say("NGUYEN VAN A mua ghe"), say("NGUYEN VAN B hoc phi"), unknown},
		{"a common name without blanks", say("NGUYENVANA mua ghe"), say("NGUYEN VAN B hoc phi"), unknown},
		{"a common word of two letters", say("LE mua ghe go"), say("hoc phi LE thu hai"), unknown},
		{"no common word, and one is short", say("LE VAN"), say("TRAN THI D hoc phi"), unknown},
		{"no content", say(""), say(""), unknown},
		{"a content in one", say(""), say("TRAN THI D hoc phi"), unknown},
	} {
		for _, turned := range []bool{false, true} {
			if c.a.Time, c.b.Time = at, at.Add(time.Minute); turned {
				c.a, c.b = c.b, c.a
			}
			e := inbound.Incoming{Number: c.a.Number, Content: c.a.Content, Time: c.a.Time, Balance: c.a.Balance, Available: c.a.Available}
			id, got := rule.Judge(e, []inbound.Reported{{TransactionID: 7, Others: []inbound.Report{c.b}}})
			if got != c.want || (id == 7) != (got != another) {
				t.Errorf("%s, turned %t: %d for transaction %d, want %d", c.name, turned, got, id, c.want)
			}
			if _, got := rule.Judge(e, []inbound.Reported{{TransactionID: 7, Own: []inbound.Report{c.b}}}); got != another {
				t.Errorf("%s: a channel that has reported it reports it again: %d", c.name, got)
			}
		}
	}
}

// A text that a phone forwards again is known by its own time and balance; what has only
// one of them may be another.
func TestForwardedAgain(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	const same, another, unknown = inbound.SameMovement, inbound.AnotherMovement, inbound.NotKnown
	for _, c := range []struct {
		name string
		e    inbound.Incoming
		own  inbound.Report
		want inbound.Likeness
	}{
		{"time and balance", inbound.Incoming{Clocked: true, Balance: 5, Time: at, Content: "x"},
			inbound.Report{Balance: 5, Time: at, Content: "cut"}, same},
		{"time and what can be spent", inbound.Incoming{Clocked: true, Available: 5, Time: at}, inbound.Report{Available: 5, Time: at}, same},
		{"time and balance, another content", inbound.Incoming{Clocked: true, Balance: 5, Time: at, Content: "TRAN THI D hoc phi"},
			inbound.Report{Balance: 5, Time: at, Content: "LE VAN C mua ghe"}, unknown},
		{"another balance", inbound.Incoming{Clocked: true, Balance: 5, Time: at, Content: "x"},
			inbound.Report{Balance: 6, Time: at, Content: "x"}, another},
		{"another time", inbound.Incoming{Clocked: true, Balance: 5, Time: at.Add(time.Minute), Content: "x"},
			inbound.Report{Balance: 5, Time: at, Content: "x"}, another},
		{"no balance", inbound.Incoming{Clocked: true, Time: at, Content: "x"}, inbound.Report{Time: at, Content: "x"}, unknown},
		{"no balance, another text", inbound.Incoming{Clocked: true, Time: at, Content: "x"}, inbound.Report{Time: at, Content: "y"}, another},
		{"no balance, the text with other marks", inbound.Incoming{Clocked: true, Time: at, Content: "Cà phê."},
			inbound.Report{Time: at, Content: "ca phe"}, unknown},
		{"another sum that can be spent", inbound.Incoming{Clocked: true, Available: 5, Balance: 5, Time: at, Content: "x"},
			inbound.Report{Available: 6, Balance: 5, Time: at, Content: "x"}, another},
		{"no time", inbound.Incoming{Balance: 5, Time: at.Add(inbound.RepeatWindow), Content: "x"},
			inbound.Report{Balance: 5, Time: at, Content: "x"}, unknown},
		{"no time, later", inbound.Incoming{Balance: 5, Time: at.Add(inbound.RepeatWindow + time.Second), Content: "x"},
			inbound.Report{Balance: 5, Time: at, Content: "x"}, unknown},
		{"no time, a day later", inbound.Incoming{Balance: 5, Time: at.Add(inbound.LateWindow + time.Second), Content: "x"},
			inbound.Report{Balance: 5, Time: at, Content: "x"}, another},
		{"neither, later", inbound.Incoming{Time: at.Add(inbound.RepeatWindow + time.Second), Content: "x"},
			inbound.Report{Time: at, Content: "x"}, another},
	} {
		c.e.Forwarded = true
		if _, got := (inbound.RepeatRule{}).Judge(c.e, []inbound.Reported{{TransactionID: 7, Own: []inbound.Report{c.own}}}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// What is certain goes before what contents suggest, and a text that may be a repeat is none
// of the other transactions.
func TestRepeatOfSeveral(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	e := inbound.Incoming{Content: "chi Ba tra tien", Balance: 5, Time: at}
	by := func(id int64, r inbound.Report) inbound.Reported {
		return inbound.Reported{TransactionID: id, Others: []inbound.Report{r}}
	}
	known := []inbound.Reported{by(1, inbound.Report{}), by(2, inbound.Report{Content: e.Content}), by(3, inbound.Report{Content: e.Content}),
		by(4, inbound.Report{Balance: 5})}
	if id, like := (inbound.RepeatRule{}).Judge(e, known); id != 4 || like != inbound.SameMovement {
		t.Errorf("%d %d, want that of the balance", id, like)
	}
	if id, like := (inbound.RepeatRule{}).Judge(e, known[:3]); id != 2 || like != inbound.SameMovement {
		t.Errorf("%d %d, want the nearest of that content", id, like)
	}
	if id, like := (inbound.RepeatRule{}).Judge(e, known[:1]); id != 1 || like != inbound.NotKnown {
		t.Errorf("%d %d, want a doubt", id, like)
	}
	text := inbound.Incoming{Content: "ck", Time: at, Forwarded: true}
	known = []inbound.Reported{by(1, inbound.Report{Content: "ck"}), {TransactionID: 2, Own: []inbound.Report{{Content: "ck", Time: at}}},
		by(3, inbound.Report{Content: "ck"})}
	if id, like := (inbound.RepeatRule{}).Judge(text, known); id != 2 || like != inbound.NotKnown {
		t.Errorf("%d %d, want a doubt about its own", id, like)
	}
	known[2] = inbound.Reported{TransactionID: 4, Own: known[1].Own}
	if id, like := (inbound.RepeatRule{}).Judge(text, known); id != 2 || like != inbound.NotKnown {
		t.Errorf("%d %d, want a doubt about the nearer of its own", id, like)
	}
	// Money that came, went back and came again leaves one balance twice.
	text.Balance = 5
	known = []inbound.Reported{by(1, inbound.Report{Content: "LE VAN C mua ghe", Balance: 5}),
		{TransactionID: 2, Own: []inbound.Report{{Content: "ck", Time: at, Balance: 5}}}}
	if id, like := (inbound.RepeatRule{}).Judge(text, known); id != 2 || like != inbound.NotKnown {
		t.Errorf("%d %d, want a doubt about its own, whatever balance another channel told", id, like)
	}
}
