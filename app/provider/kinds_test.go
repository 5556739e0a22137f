package provider_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/services"
)

// TestKinds: what a kind needs to be told, and what it doesn't take.
func TestKinds(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	t.Cleanup(w.Close)
	bank := w.Link("ACB", apptest.SomeAccount)
	key := inbound.SourceOptions{AccessKey: "AK"}
	for name, c := range map[string]struct {
		add  inbound.SourceAdd
		code app.Code
	}{
		"casso":                 {inbound.SourceAdd{Provider: "casso"}, ""},
		"casso caught up":       {inbound.SourceAdd{Provider: "casso", APIKey: "AK_CS.1"}, ""},
		"casso has no hmac":     {inbound.SourceAdd{Provider: "casso", Auth: inbound.AuthHMAC}, app.CodeValidation},
		"casso-v2 has no token": {inbound.SourceAdd{Provider: "casso-v2", Auth: inbound.AuthToken}, app.CodeValidation},
		"casso-v2 caught up":    {inbound.SourceAdd{Provider: "casso-v2", APIKey: "AK_CS.1"}, ""},
		"sepay caught up":       {inbound.SourceAdd{Provider: "sepay", Auth: inbound.AuthHMAC, APIKey: "k"}, ""},
		"payos has no bearer": {inbound.SourceAdd{Provider: "payos", Secret: "a checksum key", Auth: inbound.AuthBearer},
			app.CodeValidation},
		"payos has no list":         {inbound.SourceAdd{Provider: "payos", Secret: "a checksum key", APIKey: "k"}, app.CodeValidation},
		"payos without its key":     {inbound.SourceAdd{Provider: "payos"}, app.CodeValidation},
		"pay2s without a key":       {inbound.SourceAdd{Provider: "pay2s"}, ""},
		"pay2s has no list":         {inbound.SourceAdd{Provider: "pay2s", APIKey: "k"}, app.CodeValidation},
		"pay2s takes no access key": {inbound.SourceAdd{Provider: "pay2s", Options: key}, app.CodeValidation},
		"pay2s-ipn": {inbound.SourceAdd{Provider: "pay2s-ipn", Secret: "a secret key", Options: key,
			BankAccountID: bank.ID}, ""},
		"pay2s-ipn without its key": {inbound.SourceAdd{Provider: "pay2s-ipn", Options: key, BankAccountID: bank.ID}, app.CodeValidation},
		"pay2s-ipn without access key": {inbound.SourceAdd{Provider: "pay2s-ipn", Secret: "a secret key", BankAccountID: bank.ID},
			app.CodeValidation},
		"pay2s-ipn, a space in the key": {inbound.SourceAdd{Provider: "pay2s-ipn", Secret: "a secret key", BankAccountID: bank.ID,
			Options: inbound.SourceOptions{AccessKey: "AK "}}, app.CodeValidation},
		"pay2s-ipn without bank account":  {inbound.SourceAdd{Provider: "pay2s-ipn", Secret: "a secret key", Options: key}, app.CodeValidation},
		"the Bearer secret of two kinds":  {inbound.SourceAdd{Provider: "native", Secret: "a secret of pay2s"}, app.CodeAlreadyExists},
		"an unknown kind of a known name": {inbound.SourceAdd{Provider: "Casso"}, app.CodeValidation},
	} {
		if name == "the Bearer secret of two kinds" {
			w.Source("pay2s", "", "a secret of pay2s")
		}
		c.add.Name = name
		if _, err := w.Services.Inbound.AddSource(context.Background(), 1, c.add, time.Now()); err == nil && c.code != "" || err != nil &&
			app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What to do at the provider names the way of authenticating that was chosen, and no other.
	for _, kind := range provider.Facts() {
		said := map[string]bool{}
		for _, auth := range kind.Auths {
			setup := kind.Setup(inbound.Source{Provider: kind.Provider, Auth: auth, Options: inbound.SourceOptions{Header: "X-Shop"}})
			if setup.EN == "" || setup.VI == "" || strings.Count(setup.EN, "--") != strings.Count(setup.VI, "--") ||
				strings.Contains(setup.EN+setup.VI, "%!") {
				t.Errorf("%s, %s: what to do at the provider: %+v", kind.Provider, auth, setup)
			}
			if said[setup.EN] || said[setup.VI] {
				t.Errorf("%s: what to do at the provider is the same for two ways of authenticating", kind.Provider)
			}
			said[setup.EN], said[setup.VI] = true, true
		}
		if kind.NeedsSecret(kind.DefaultAuth) != (kind.Before.EN != "" && kind.Before.VI != "") {
			t.Errorf("%s: what to get from the provider before: %+v", kind.Provider, kind.Before)
		}
	}
}
