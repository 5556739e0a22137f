package apptest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// AddSource adds a source to account 1; one without a name is called till.
func (w *World) AddSource(add inbound.SourceAdd) inbound.Source {
	w.T.Helper()
	add.Name = cmp.Or(add.Name, "till")
	if kind, _ := w.Services.Inbound.ProviderKind(add.Provider); add.Secret == "" && kind.NeedsSecret(cmp.Or(add.Auth, kind.DefaultAuth)) {
		add.Secret = fmt.Sprint("a key of the provider's, ", w.Rows("sources"))
	}
	source, err := w.Services.Inbound.AddSource(context.Background(), 1, add, time.Now())
	Must(w.T, err)
	return source
}

// Source adds a source. If secret is empty, one is made.
func (w *World) Source(provider app.Provider, auth inbound.Auth, secret string) inbound.Source {
	w.T.Helper()
	return w.AddSource(inbound.SourceAdd{Provider: provider, Auth: auth, Secret: secret})
}

// Native adds a source of the native format.
func (w *World) Native() inbound.Source {
	w.T.Helper()
	return w.Source("native", inbound.AuthBearer, "")
}

// Sepay adds a source of SePay.
func (w *World) Sepay() inbound.Source {
	w.T.Helper()
	return w.Source("sepay", inbound.AuthAPIKey, "")
}
