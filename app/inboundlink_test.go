package app_test

import (
	"testing"

	"baoco/app"
)

// TestInboundLinkComplete: what isn't given is what the items name without
// doubt; what is in doubt must be given.
func TestInboundLinkComplete(t *testing.T) {
	named := func(gateway, number string) app.Incoming {
		return app.Incoming{Gateway: gateway, AccountNumber: number}
	}
	masked := func(gateway, number string) app.Incoming {
		return app.Incoming{Gateway: gateway, AccountNumber: number, Masked: true}
	}
	linked := []app.BankAccount{
		{ID: 1, Bank: "VCB", AccountNumber: "72201112005"}, {ID: 2, Bank: "ACB", AccountNumber: "72209992005"},
		{ID: 3, Bank: "ACB", AccountNumber: "555"}, {ID: 4, Bank: "VCB", AccountNumber: "555"},
	}
	own := linked[0]
	for _, c := range []struct {
		name         string
		given        app.InboundLink
		items        []app.Incoming
		own          app.BankAccount
		bank, number string
		fault        string
	}{
		{"named", app.InboundLink{}, []app.Incoming{named("ACB", "1"), named("acb", "1")}, app.BankAccount{}, "ACB", "1", ""},
		{"named by one of two", app.InboundLink{}, []app.Incoming{named("ACB", "1"), named("?", "1")}, app.BankAccount{}, "ACB", "1", ""},
		{"given as named", app.InboundLink{Bank: "ACB", AccountNumber: "1"}, []app.Incoming{named("ACB", "1")}, app.BankAccount{}, "ACB", "1", ""},
		{"two numbers", app.InboundLink{}, []app.Incoming{named("ACB", "1"), named("ACB", "2")}, app.BankAccount{}, "", "", "account_number"},
		{"two numbers, one of that bank", app.InboundLink{Bank: "VCB"}, []app.Incoming{named("ACB", "1"), named("VCB", "2")}, app.BankAccount{}, "VCB", "2", ""},
		{"two numbers, one given", app.InboundLink{AccountNumber: "2"}, []app.Incoming{named("ACB", "1"), named("VCB", "2")}, app.BankAccount{}, "VCB", "2", ""},
		{"two banks", app.InboundLink{}, []app.Incoming{named("ACB", "1"), named("VCB", "1")}, app.BankAccount{}, "", "", "bank"},
		{"no bank", app.InboundLink{}, []app.Incoming{named("?", "1")}, app.BankAccount{}, "", "", "bank"},
		{"no bank, given", app.InboundLink{Bank: "TCB"}, []app.Incoming{named("?", "1")}, app.BankAccount{}, "TCB", "1", ""},
		{"no bank, one linked account", app.InboundLink{AccountNumber: "72209992005"}, []app.Incoming{masked("", "7220xxxx2005")}, app.BankAccount{}, "ACB", "72209992005", ""},
		{"no bank, two linked accounts", app.InboundLink{}, []app.Incoming{named("", "555")}, app.BankAccount{}, "", "", "bank"},
		{"another bank", app.InboundLink{Bank: "VCB"}, []app.Incoming{named("ACB", "1")}, app.BankAccount{}, "", "", "bank"},
		{"another bank and number", app.InboundLink{Bank: "VCB", AccountNumber: "1"}, []app.Incoming{named("ACB", "1")}, app.BankAccount{}, "", "", "bank"},
		{"another number", app.InboundLink{AccountNumber: "2"}, []app.Incoming{named("ACB", "1")}, app.BankAccount{}, "", "", "account_number"},
		{"masked", app.InboundLink{}, []app.Incoming{masked("VCB", "7220xxxx2005")}, app.BankAccount{}, "", "", "account_number"},
		{"masked, given", app.InboundLink{AccountNumber: "72201112005"}, []app.Incoming{masked("VCB", "7220xxxx2005")}, app.BankAccount{}, "VCB", "72201112005", ""},
		{"masked, not that one", app.InboundLink{AccountNumber: "72201112006"}, []app.Incoming{masked("VCB", "7220xxxx2005")}, app.BankAccount{}, "", "", "account_number"},
		{"masked, too short to be it", app.InboundLink{AccountNumber: "72202005"}, []app.Incoming{masked("VCB", "7220xxxx2005")}, app.BankAccount{}, "", "", "account_number"},
		{"x in a number that isn't masked", app.InboundLink{AccountNumber: "72201112005"}, []app.Incoming{named("VCB", "7220xxxx2005")}, app.BankAccount{}, "", "", "account_number"},
		{"of the source's account", app.InboundLink{}, []app.Incoming{named("", "")}, own, "VCB", "72201112005", ""},
		{"of the source's account, masked", app.InboundLink{}, []app.Incoming{masked("VCB", "7220xxxx2005")}, own, "VCB", "72201112005", ""},
		{"of the source's account, its bank given", app.InboundLink{Bank: "VCB"}, []app.Incoming{masked("VCB", "7220xxxx2005")}, own, "VCB", "72201112005", ""},
		{"another bank than the source's", app.InboundLink{Bank: "ACB"}, []app.Incoming{named("", "")}, own, "", "", "bank"},
		{"another number than the source's", app.InboundLink{Bank: "VCB", AccountNumber: "1"}, []app.Incoming{named("", "")}, own, "VCB", "1", ""},
		{"the number of one and the bank of another", app.InboundLink{Bank: "VCB", AccountNumber: "1"}, []app.Incoming{named("ACB", "1"), named("VCB", "2")}, app.BankAccount{}, "", "", "bank"},
		{"not of the source's account", app.InboundLink{}, []app.Incoming{named("VCB", "1")}, own, "", "", "account_number"},
	} {
		got, err := c.given.Complete(c.items, c.own, linked)
		if c.fault != "" {
			if e, ok := err.(*app.Error); !ok || e.Code != app.CodeValidation || len(e.Fields) != 1 || e.Fields[0].Field != c.fault || e.Fields[0].Text.VI == "" {
				t.Errorf("%s: %v, want %s at fault", c.name, err, c.fault)
			}
			continue
		}
		if err != nil || got.Bank != c.bank || got.AccountNumber != c.number {
			t.Errorf("%s: %s %s, %v; want %s %s", c.name, got.Bank, got.AccountNumber, err, c.bank, c.number)
		}
	}
}
