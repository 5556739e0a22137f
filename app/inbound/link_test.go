package inbound_test

import (
	"testing"

	"baoco/app"
	"baoco/app/inbound"
)

// TestInboundLinkComplete: what isn't given is what the items name without
// doubt; what is in doubt must be given.
func TestInboundLinkComplete(t *testing.T) {
	named := func(gateway, number string) inbound.Incoming {
		return inbound.Incoming{Gateway: gateway, AccountNumber: number}
	}
	masked := func(gateway, number string) inbound.Incoming {
		return inbound.Incoming{Gateway: gateway, AccountNumber: number, Masked: true}
	}
	linked := []app.BankAccount{
		{ID: 1, Bank: "VCB", AccountNumber: "72201112005"}, {ID: 2, Bank: "ACB", AccountNumber: "72209992005"},
		{ID: 3, Bank: "ACB", AccountNumber: "555"}, {ID: 4, Bank: "VCB", AccountNumber: "555"},
	}
	own := linked[0]
	for _, c := range []struct {
		name         string
		given        inbound.EventLink
		items        []inbound.Incoming
		own          app.BankAccount
		bank, number string
		fault        string
	}{
		{"named", inbound.EventLink{}, []inbound.Incoming{named("ACB", "1"), named("acb", "1")}, app.BankAccount{}, "ACB", "1", ""},
		{"named by one of two", inbound.EventLink{}, []inbound.Incoming{named("ACB", "1"), named("?", "1")}, app.BankAccount{}, "ACB", "1", ""},
		{"given as named", inbound.EventLink{Bank: "ACB", AccountNumber: "1"}, []inbound.Incoming{named("ACB", "1")},
			app.BankAccount{}, "ACB", "1", ""},
		{"two numbers", inbound.EventLink{}, []inbound.Incoming{named("ACB", "1"), named("ACB", "2")}, app.BankAccount{}, "",
			"", "account_number"},
		{"two numbers, one of that bank", inbound.EventLink{Bank: "VCB"}, []inbound.Incoming{named("ACB", "1"), named("VCB", "2")},
			app.BankAccount{}, "VCB", "2", ""},
		{"two numbers, one given", inbound.EventLink{AccountNumber: "2"}, []inbound.Incoming{named("ACB", "1"), named("VCB", "2")},
			app.BankAccount{}, "VCB", "2", ""},
		{"two banks", inbound.EventLink{}, []inbound.Incoming{named("ACB", "1"), named("VCB", "1")}, app.BankAccount{}, "", "", "bank"},
		{"no bank", inbound.EventLink{}, []inbound.Incoming{named("?", "1")}, app.BankAccount{}, "", "", "bank"},
		{"no bank, given", inbound.EventLink{Bank: "TCB"}, []inbound.Incoming{named("?", "1")}, app.BankAccount{}, "TCB", "1", ""},
		{"no bank, one linked account", inbound.EventLink{AccountNumber: "72209992005"}, []inbound.Incoming{masked("", "7220xxxx2005")},
			app.BankAccount{}, "ACB", "72209992005", ""},
		{"no bank, two linked accounts", inbound.EventLink{}, []inbound.Incoming{named("", "555")}, app.BankAccount{}, "", "", "bank"},
		{"another bank", inbound.EventLink{Bank: "VCB"}, []inbound.Incoming{named("ACB", "1")}, app.BankAccount{}, "", "", "bank"},
		{"another bank and number", inbound.EventLink{Bank: "VCB", AccountNumber: "1"}, []inbound.Incoming{named("ACB", "1")},
			app.BankAccount{}, "", "", "bank"},
		{"another number", inbound.EventLink{AccountNumber: "2"}, []inbound.Incoming{named("ACB", "1")}, app.BankAccount{}, "",
			"", "account_number"},
		{"masked", inbound.EventLink{}, []inbound.Incoming{masked("VCB", "7220xxxx2005")}, app.BankAccount{}, "", "", "account_number"},
		{"masked, given", inbound.EventLink{AccountNumber: "72201112005"}, []inbound.Incoming{masked("VCB", "7220xxxx2005")}, app.BankAccount{},
			"VCB", "72201112005", ""},
		{"masked, not that one", inbound.EventLink{AccountNumber: "72201112006"}, []inbound.Incoming{masked("VCB", "7220xxxx2005")},
			app.BankAccount{}, "", "", "account_number"},
		{"masked, too short to be it", inbound.EventLink{AccountNumber: "72202005"}, []inbound.Incoming{masked("VCB", "7220xxxx2005")},
			app.BankAccount{}, "", "", "account_number"},
		{"x in a number that isn't masked", inbound.EventLink{AccountNumber: "72201112005"}, []inbound.Incoming{named("VCB", "7220xxxx2005")},
			app.BankAccount{}, "", "", "account_number"},
		{"of the source's account", inbound.EventLink{}, []inbound.Incoming{named("", "")}, own, "VCB", "72201112005", ""},
		{"of the source's account, masked", inbound.EventLink{}, []inbound.Incoming{masked("VCB", "7220xxxx2005")}, own,
			"VCB", "72201112005", ""},
		{"of the source's account, its bank given", inbound.EventLink{Bank: "VCB"}, []inbound.Incoming{masked("VCB", "7220xxxx2005")}, own,
			"VCB", "72201112005", ""},
		{"another bank than the source's", inbound.EventLink{Bank: "ACB"}, []inbound.Incoming{named("", "")}, own, "", "", "bank"},
		{"another number than the source's", inbound.EventLink{Bank: "VCB", AccountNumber: "1"}, []inbound.Incoming{named("", "")},
			own, "VCB", "1", ""},
		{"the number of one and the bank of another", inbound.EventLink{Bank: "VCB", AccountNumber: "1"},
			[]inbound.Incoming{named("ACB", "1"), named("VCB", "2")}, app.BankAccount{}, "", "", "bank"},
		{"not of the source's account", inbound.EventLink{}, []inbound.Incoming{named("VCB", "1")}, own, "", "", "account_number"},
	} {
		got, err := c.given.Complete(c.items, c.own, linked)
		if c.fault != "" {
			if e, ok := err.(*app.Error); !ok || e.Code != app.CodeValidation || len(e.Fields) != 1 || e.Fields[0].Field != c.fault ||
				e.Fields[0].Text.VI == "" {
				t.Errorf("%s: %v, want %s at fault", c.name, err, c.fault)
			}
			continue
		}
		if err != nil || got.Bank != c.bank || got.AccountNumber != c.number {
			t.Errorf("%s: %s %s, %v; want %s %s", c.name, got.Bank, got.AccountNumber, err, c.bank, c.number)
		}
	}
}
