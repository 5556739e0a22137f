package audit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/audit"
)

var zone = time.FixedZone("", 7*3600)

// source reads the Go files of a folder, without its tests.
func source(t *testing.T, folder string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	apptest.Must(t, err)
	var all strings.Builder
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		apptest.Must(t, err)
		all.Write(text)
	}
	return all.String()
}

// Every deed of packages app and book is said in both languages, under a noun that has a name,
// and no text of it is a code.
func TestEveryDeedIsSaid(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`Deed\w+\s+(?:app\.)?Deed\s*= "([^"]+)"`).FindAllStringSubmatch(source(t, "..")+source(t, "../book"), -1)
	if len(found) < 50 {
		t.Fatalf("only %d deeds are found", len(found))
	}
	var offered []app.Deed
	for _, n := range audit.Nouns {
		if n.Name.EN == "" || n.Name.VI == "" || len(n.Deeds) == 0 {
			t.Errorf("noun %+v", n)
		}
		offered = append(offered, n.Deeds...)
	}
	named := map[string]app.Deed{}
	for _, match := range found {
		d := app.Deed(match[1])
		if other, twice := named[audit.DeedName(d).VI]; twice {
			t.Errorf("%s and %s have one name", d, other)
		}
		named[audit.DeedName(d).VI] = d
		if !audit.Known(d) {
			t.Errorf("package audit doesn't say %s", d)
			continue
		}
		if !slices.Contains(offered, d) {
			t.Errorf("audit.Nouns doesn't have the noun of %s", d)
		}
		for _, l := range []app.AuditLine{
			{Deed: d, NounID: 7, Actor: app.Actor{Way: app.WayDashboard, Name: "lan"}},
			{Deed: d, NounID: 7, Actor: app.Actor{Way: app.WayDashboard, Name: "lan"}, AuditDetail: app.AuditDetail{Name: "Kho", Count: 3}},
		} {
			s, name := audit.Sentence(l, zone), audit.DeedName(d)
			for _, text := range []string{s.EN, s.VI, name.EN, name.VI} {
				if strings.ContainsAny(text, "{}_") || strings.Contains(text, string(d)) || strings.Contains(text, "  ") || text == "" {
					t.Errorf("%s: %q", d, text)
				}
			}
			if s.EN == s.VI || !strings.Contains(s.VI, " đã ") || strings.HasSuffix(s.EN, " ") {
				t.Errorf("%s: %q", d, s)
			}
			for _, last := range []string{" của", " qua", " tại", " ngày", " đến", " of", " by", " at", " for", " through"} {
				if strings.HasSuffix(name.VI, last) || strings.HasSuffix(name.EN, last) {
					t.Errorf("%s: %q ends in the middle", d, name)
				}
			}
			if first := []rune(name.VI)[0]; unicode.IsLower(first) && d.Noun() != "webhook" {
				t.Errorf("%s: %q", d, name)
			}
		}
	}
}

// Every field of a change that the program notes has a name in both languages.
func TestEveryChangeIsSaid(t *testing.T) {
	t.Parallel()
	code := source(t, "..") + source(t, "../../sqlitestore")
	found := regexp.MustCompile(`\.Changed\("([^"]+)"`).FindAllStringSubmatch(code, -1)
	if all := strings.Count(code, ".Changed("); all != len(found) || all < 20 {
		t.Errorf("%d of %d fields are constants", len(found), all)
	}
	for _, match := range found {
		for _, value := range []string{"true", "false", "A"} {
			l := app.AuditLine{Deed: app.DeedWebhookChange, AuditDetail: app.AuditNamed("Kho").Changed(match[1], "B", value)}
			for _, text := range []string{audit.Sentence(l, zone).EN, audit.Sentence(l, zone).VI} {
				if said := strings.ReplaceAll(text, " "+match[1]+" ", " "); strings.Contains(text, "_") || !strings.Contains(said, "Kho") {
					t.Errorf("%s: %q", match[1], text)
				}
			}
			if s := audit.Sentence(l, zone); strings.TrimPrefix(s.EN, "Somebody ") == strings.TrimPrefix(s.VI, "Có người đã ") ||
				strings.Contains(s.VI, " "+match[1]+" ") {
				t.Errorf("%s: %q", match[1], s)
			}
		}
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	lan := app.Actor{Way: app.WayDashboard, ID: 1, Name: "lan", Address: "192.0.2.1"}
	for _, c := range []struct {
		actor  app.Actor
		deed   app.Deed
		detail app.AuditDetail
		en, vi string
	}{
		{lan, app.DeedWebhookChange, app.AuditNamed("Kho").Changed("url", "https://a", "https://b"),
			"lan changed the address of webhook Kho: https://a → https://b", "lan đã đổi địa chỉ của webhook Kho: https://a → https://b"},
		{lan, app.DeedWebhookChange, app.AuditNamed("Kho").Changed("type", "IN", "ALL").Changed("is_active", "true", "false"),
			"lan changed the transactions to send of webhook Kho: Money in → Money in and out; turned off webhook Kho",
			"lan đã đổi giao dịch cần báo của webhook Kho: Tiền vào → Tiền vào và tiền ra; tắt webhook Kho"},
		{lan, app.DeedWebhookChange, app.AuditNamed("Kho"), "lan changed webhook Kho", "lan đã đổi webhook Kho"},
		{lan, app.DeedWebhookCreate, app.AuditNamed("Kho").Changed("url", "", "https://a"), "lan created webhook Kho (address: https://a)",
			"lan đã tạo webhook Kho (địa chỉ: https://a)"},
		{app.Actor{Way: app.WayAPI, ID: 2, Name: "till"}, app.DeedTransactionRecord, app.AuditDetail{Count: 1200},
			"API key till recorded 1,200 transactions by hand", "Khoá API till đã nhập tay 1.200 giao dịch"},
		{app.Actor{Way: app.WayCommand, Name: "root"}, app.DeedTransactionRecord, app.AuditDetail{}, "root recorded 1 transaction by hand",
			"root đã nhập tay 1 giao dịch"},
		{app.Actor{Way: app.WayServer}, app.DeedDatabasePrune, app.AuditDetail{Count: 1}, "baoco removed 1 old record",
			"baoco đã xoá 1 bản ghi cũ"},
		{app.Actor{Way: app.WayDashboard}, app.DeedUserSignInRefused, app.AuditDetail{Name: "lan", Count: 3},
			"Somebody failed to sign in as lan: wrong password, code or passkey (3 times)",
			"Có người đã đăng nhập sai vào tên lan: sai mật khẩu, mã hoặc passkey (3 lần)"},
		{lan, app.DeedTransactionNote, app.AuditDetail{}.Changed("note", "", "giữ"), "lan set the note of transaction 7: giữ",
			"lan đã đặt ghi chú của giao dịch #7: giữ"},
		{lan, app.DeedTransactionNote, app.AuditDetail{}.Changed("note", "giữ", ""), "lan removed the note of transaction 7: giữ",
			"lan đã bỏ ghi chú của giao dịch #7: giữ"},
		{lan, app.DeedUserRole, app.AuditNamed("hoa").Changed("role", "developer", "cashier"),
			"lan changed the role of user hoa: Developer → Cashier", "lan đã đổi vai trò của người dùng hoa: Lập trình viên → Thu ngân"},
		{lan, app.DeedUserLimit, app.AuditNamed("hoa").Changed("bank_accounts", "all", "ACB 1, VCB 2"),
			"lan changed the limit to bank accounts of user hoa: All bank accounts → ACB 1, VCB 2",
			"lan đã đổi giới hạn tài khoản ngân hàng của người dùng hoa: Tất cả tài khoản → ACB 1, VCB 2"},
		{lan, app.DeedAccountChange, app.AuditNamed("shop").Changed("expires_at", "2026-11-30T16:59:59Z", ""),
			"lan removed the end of the plan of account shop: 23:59:59, 30 Nov 2026", "lan đã bỏ hạn dùng của tài khoản shop: 23:59:59 30/11/2026"},
		{lan, app.DeedTransactionExport, app.AuditDetail{}.Changed("from", "", "2026-11-01").Changed("to", "", "2026-11-30"),
			"lan exported transactions (from: 01 Nov 2026, to: 30 Nov 2026)", "lan đã xuất giao dịch ra tệp (từ: 01/11/2026, đến: 30/11/2026)"},
		{lan, app.DeedAlertsChange, app.AuditDetail{}.Changed("muted", "", "webhook plan"),
			"lan set the list of muted kinds of all alerts: A webhook is not reaching your shop, Your plan expires within a week, or has expired",
			""},
		{lan, app.DeedAlertSet, app.AuditNamed("telegram").Changed("to", "", "-100123"), "lan set up alerts by Telegram (to: -100123)",
			"lan đã cài đặt kênh cảnh báo Telegram (đến: -100123)"},
		{lan, app.DeedSourceCreate, app.AuditNamed("q").Changed("provider", "", "sepay"), "lan added source q (provider: SePay)",
			"lan đã thêm nguồn q (nhà cung cấp: SePay)"},
		{lan, app.DeedAPIKeyCreate, app.AuditNamed("k").Changed("scope", "", "read"), "lan created API key k (permissions: Read only)",
			"lan đã tạo khoá API k (quyền: Chỉ đọc)"},
		{lan, app.DeedBankAccountChange,
			app.AuditNamed("ACB 1").Changed("status", "active", "inactive").Changed("colour", "", "red").Changed("nickname", "a", "b"),
			"lan changed the status of bank account ACB 1: Active → Off; set the colour of bank account ACB 1: Red; " +
				"changed the nickname of bank account ACB 1: a → b", ""},
		{lan, app.DeedWebhookReplay, app.AuditDetail{Name: "{n} {it} {of}", Count: 2}, "lan resent 2 deliveries of webhook {n} {it} {of}",
			"lan đã gửi lại 2 thông báo của webhook {n} {it} {of}"},
		{lan, "kite.fly", app.AuditNamed("k").Changed("string", "", "9"), "lan did what this version doesn’t know (kite.fly) (string: 9)", ""},
	} {
		s := audit.Sentence(app.AuditLine{Actor: c.actor, Deed: c.deed, NounID: 7, AuditDetail: c.detail}, zone)
		if en, vi := audit.Bare(s.EN), audit.Bare(s.VI); en != c.en || c.vi != "" && vi != c.vi {
			t.Errorf("got  %q\nwant %q\n     %q\nwant %q", en, c.en, vi, c.vi)
		}
	}
}

// Where a name isn't a box of its own it stands in quotation marks, so that it can't read
// as a part of the sentence.
func TestNamesAreSetApart(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	line := app.AuditLine{Actor: app.Actor{Way: app.WayCommand, Name: "root", At: at}, Deed: app.DeedWebhookDelete, NounID: 7,
		AuditDetail: app.AuditNamed("a”. lan removed user “hoa")}
	if got, want := audit.Quoted(audit.Sentence(line, time.UTC).EN), `“root” deleted webhook “a". lan removed user "hoa”`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
