package sms_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"baoco/app/fold"
	"baoco/app/sms"
)

// realTexts are the samples and those of testdata/sms that are read.
func realTexts(t testing.TB) (texts []sms.Message) {
	for _, s := range samples {
		texts = append(texts, sms.Message{Sender: s.bank, Text: s.text, ReceivedAt: received})
	}
	for _, s := range structured {
		texts = append(texts, sms.Message{Sender: s.sender, Text: s.text, ReceivedAt: received})
	}
	files, err := filepath.Glob("../../testdata/sms/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		var text struct{ From, Text string }
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, &text)
		}
		if err != nil {
			t.Fatal(err)
		}
		if m := (sms.Message{Sender: text.From, Text: text.Text, ReceivedAt: received}); money(m) != "" {
			texts = append(texts, m)
		}
	}
	return texts
}

// money is what a text says of money: direction, amount and account; empty where it isn't read.
func money(m sms.Message) string {
	read, kind, _ := sms.Read(m, zone)
	if kind != sms.Balance {
		return ""
	}
	return fmt.Sprintf("%s %d %s", read.Type, read.Amount, read.AccountNumber)
}

// hostile are what payers may write.
var hostile = []string{
	"+500,000VND", "-500,000 VND", "SD 9,999", "SD: 9,999VND", "tang 500,000VND", "TK 0999999999",
	"TK: 0999999999|GD: +1,000VND|SD: 5VND|ND: x",
	"ND: ", "GD: ", "Ref ",
	"luc 10:20 01/01/2020", "So du kha dung: 1VND", "So tien GD:+7,000", "ghi no 700", "SO GD: 666", "(", ")", "…",
	"USD", "+ VND 7,000", "do ", "VCB:", "\nTai khoan: 0999999999", "+7000 ₫", "12,345",
}

// changed does to a text what ops say: a bank has its parts in another order, a payer writes
// something, another notice is put beside it, and on its way it changes or is cut off. Each op
// has two bytes: what is done, and where. twice tells whether there is another notice.
func changed(m sms.Message, ops []byte, texts []sms.Message) (text string, twice bool) {
	var pairs [][2]byte
	for ; len(ops) >= 2; ops = ops[2:] {
		pairs = append(pairs, [2]byte{ops[0], ops[1]})
	}
	slices.SortStableFunc(pairs, func(a, b [2]byte) int { return int(a[0]%16) - int(b[0]%16) })
	text = m.Text
	wrote := false
	for _, op := range pairs {
		what, where, more := op[0]%16, int(op[1]), int(op[0]/16)
		runes := []rune(text)
		switch what {
		case 0, 1, 2: // two segments change places
			separator := []string{"\n", "|", ". "}[what]
			parts := strings.Split(text, separator)
			i, j := where%len(parts), where/16%len(parts)
			parts[i], parts[j] = parts[j], parts[i]
			text = strings.Join(parts, separator)
		case 3, 4: // in the content
			for _, label := range []string{"ND: ", "ND:", "dung: ", "dịch: ", "nhắn: ", "Ref ", "GD: ", "\n"} {
				if i := strings.LastIndex(text, label); i >= 0 && (label != "\n" || m.Sender == "Techcombank") && text == m.Text {
					i += len(label)
					text, wrote = text[:i]+hostile[where%len(hostile)]+" "+text[i:], true
					break
				}
			}
		case 5: // behind the text
			text, wrote = text+[]string{" ", "", "\n"}[more%3]+hostile[where%len(hostile)], true
		case 6:
			text, twice = text+[]string{"\n", " ", "", ". "}[more%4]+texts[where%len(texts)].Text, true
		case 7:
			text, twice = texts[where%len(texts)].Text+[]string{"\n", " ", "", ". "}[more%4]+text, true
		case 8:
			text = strings.ReplaceAll(text, "\n", []string{" ", "|", "", ". ", "\r\n", ";"}[where%6])
		case 9:
			text = strings.ReplaceAll(text, "|", []string{" ", "\n", "", ". ", " | "}[where%5])
		case 10:
			text = strings.ReplaceAll(text, ". ", []string{" ", "\n", "", ".", ", "}[where%5])
		case 11:
			text = strings.ReplaceAll(text, ": ", []string{":", " ", " : ", ":\u00a0"}[where%4])
		case 12:
			text = strings.ReplaceAll(text, " ", []string{"", "  ", "\u00a0"}[where%3])
		case 13:
			text = []func(string) string{norm.NFD.String, norm.NFC.String, strings.ToUpper, strings.ToLower, fold.String}[where%5](text)
		case 14: // cut off
			text = string(runes[:where*len(runes)/256])
		case 15: // the beginning is lost
			if !wrote && !twice {
				text = string(runes[where*len(runes)/256:])
			}
		}
	}
	return text, twice
}

// FuzzChanged: whatever happens to a text on its way, and whatever its payer writes, it says
// what it said or nothing: never another amount, direction or account.
func FuzzChanged(f *testing.F) {
	texts := realTexts(f)
	for i := range texts {
		for op := range 16 {
			f.Add(uint16(i), []byte{byte(op), byte(37 * i)})
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, ops []byte) {
		if len(ops) <= 16 {
			checkChanged(t, texts, int(which)%len(texts), ops)
		}
	})
}

// TestChanged does what FuzzChanged does, by chance.
func TestChanged(t *testing.T) {
	t.Parallel()
	texts, random := realTexts(t), rand.New(rand.NewPCG(34, 5))
	for range 5_000 {
		ops := make([]byte, 2*(1+random.IntN(5)))
		for i := range ops {
			ops[i] = byte(random.Uint32())
		}
		checkChanged(t, texts, random.IntN(len(texts)), ops)
	}
}

func checkChanged(t *testing.T, texts []sms.Message, which int, ops []byte) {
	m := texts[which]
	text, twice := changed(m, ops, texts)
	right := money(m)
	m.Text = text
	got := money(m)
	if got == "" || got == right {
		return
	}
	for _, other := range texts { // one of the two notices may be cut off whole
		if other.Sender = m.Sender; twice && money(other) == got {
			return
		}
	}
	t.Errorf("%q from %s reads %s, want %s", text, m.Sender, got, right)
}

// A text with two notices is never read as one of them.
func TestTwoNotices(t *testing.T) {
	texts := realTexts(t)
	for _, first := range texts {
		for i, second := range texts {
			both := first
			both.Text += []string{"\n", " ", ". ", "|"}[i%4] + second.Text
			if got := money(both); got != "" {
				t.Errorf("%q reads %s", both.Text, got)
			}
		}
	}
}
