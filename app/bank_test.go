package app_test

import (
	"os"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/inbound"
)

func TestFindBank(t *testing.T) {
	for name, code := range map[string]string{
		"VCB": "VCB", "vcb": "VCB", "Vietcombank": "VCB", "VIETCOMBANK": "VCB", "Viet Com Bank": "VCB",
		"MBBank": "MBB", "MB": "MBB", "MB Bank": "MBB", "mb-bank": "MBB", "MBB": "MBB",
		"ACB": "ACB", "TCB": "TCB", "Techcombank": "TCB", "BIDV": "BIDV", "BID": "BIDV",
		"VietinBank": "CTG", "ICB": "CTG", "CTG": "CTG", "Agribank": "VBA", "Sacombank": "STB", "TPBank": "TPB", "VPBank": "VPB",
		"ShinhanBank": "SHBVN", "SVB": "SHBVN", "SHB": "SHB", "NVB": "NCB", "VCCB": "BVB", "VIB": "VIB", "VietBank": "VBB", "VietABank": "VAB",
		"LPBank": "LPB", "Co-opBank": "COOPBANK", "CO-OP BANK": "COOPBANK", "MoMo": "MOMO", " OCB ": "OCB",
	} {
		bank, ok := app.FindBank(name)
		if !ok || bank.Code != code {
			t.Errorf("FindBank(%q) = %q, %t; want %s", name, bank.Code, ok, code)
		}
	}
	for _, name := range []string{"", " ", "-", "XYZ", "VC", "VCBX", "Ngân hàng", "970436", "code", "0"} {
		if bank, ok := app.FindBank(name); ok {
			t.Errorf("FindBank(%q) = %s; it is no bank", name, bank.Code)
		}
	}
}

// Every row of banks.tsv is found by its code, its short name and its aliases,
// except where a name is another bank's code or short name.
func TestFindBankRows(t *testing.T) {
	data, err := os.ReadFile("banks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	// The bank is listed under its former name too; the former code goes first.
	formerNames := map[string]string{"LienVietPostBank": "LIENVIETPOST_BANK"}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")[1:]
	if len(lines) < 60 {
		t.Errorf("%d banks", len(lines))
	}
	for _, line := range lines {
		columns := strings.Split(line, "\t")
		if len(columns) != 5 {
			t.Errorf("not a row: %q", line)
			continue
		}
		want := app.Bank{Code: columns[0], BIN: columns[1], ShortName: columns[2], Name: columns[3]}
		names := []string{columns[0], strings.ToLower(columns[0]), columns[2], strings.ToUpper(columns[2])}
		if columns[4] != "" {
			names = append(names, strings.Split(columns[4], ",")...)
		}
		for _, name := range names {
			bank, ok := app.FindBank(name)
			if code := formerNames[name]; ok && code != "" && bank.Code == code {
				continue
			}
			if !ok || bank != want {
				t.Errorf("FindBank(%q) = %+v, %t; want %s", name, bank, ok, want.Code)
			}
		}
	}
}

// A bank that changed its name is the same bank, by either name. Two banks are
// two, even with one account number.
func TestMatchRenamedBank(t *testing.T) {
	for _, c := range []struct{ linked, named string }{
		{"DONGABANK", "VIKKI"}, {"VIKKI", "DONGABANK"}, {"OCEANBANK", "MBV"}, {"LIENVIETPOST_BANK", "LPB"},
	} {
		linked := []app.BankAccount{{ID: 1, Bank: "ACB", AccountNumber: "123"}, {ID: 2, Bank: c.linked, AccountNumber: "123"}}
		if b, found := app.MatchBankAccount(linked, c.named); !found || b.ID != 2 {
			t.Errorf("%s of %s: %+v, %t", c.linked, c.named, b, found)
		}
		known := inbound.RecordedAs{Bank: c.linked, AccountNumber: "123", Type: app.In, Amount: 5000}
		for gateway, want := range map[string]inbound.Outcome{c.named: inbound.OutcomeDuplicate, "ACB": inbound.OutcomeConflict} {
			if got := known.Compare(inbound.Incoming{Gateway: gateway, AccountNumber: "123", Type: app.In, Amount: 5000}); got != want {
				t.Errorf("%s of %s: %s, want %s", c.linked, gateway, got, want)
			}
		}
	}
}
