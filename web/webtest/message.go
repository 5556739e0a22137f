package webtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// Texts has the phone of a source forward a text, and checks what became of it.
func (w *World) Texts(want Counts, s app.Source, x apptest.PhoneText) {
	w.T.Helper()
	body := map[app.Provider]func() string{
		"capcom6": x.Capcom6, "sms-to-url": x.SMSToURL, "smsforwarder": func() string { return x.Forwarder(s, time.Now()).Encode() },
	}[s.Provider]()
	w.Wants(want, s, body)
}

const (
	TokenPath = "/api/token_generate"
	SyncPath  = "/bank/api/transaction-sync"
)

func Basic(username, password string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}
}

// VietQRToken asks for a token as VietQR does, at base.
func (w *World) VietQRToken(base string, s app.Source) string {
	w.T.Helper()
	a := w.Do("POST", base+TokenPath, "", Basic(s.Options.Username, s.Secret)...)
	v := a.JSON(w.T)
	token, _ := v["access_token"].(string)
	if a.Status != http.StatusOK || token == "" || v["token_type"] != "Bearer" || fmt.Sprint(v["expires_in"]) != "300" || len(v) != 3 {
		w.T.Fatalf("no token: %d %s", a.Status, a.Body)
	}
	return token
}

// Syncs tells of a transaction and checks the answer's reference.
func (w *World) Syncs(base, token, body, reference string) {
	w.T.Helper()
	a := w.Do("POST", base+SyncPath, body, "Authorization", "Bearer "+token)
	v := a.JSON(w.T)
	object, _ := v["object"].(map[string]any)
	if a.Status != http.StatusOK || v["error"] != false || v["errorReason"] != nil || v["toastMessage"] == "" || len(v) != 4 || object["reftransactionid"] != reference {
		w.T.Errorf("%s: %d %s, want the reference %s", body, a.Status, a.Body, reference)
	}
}

// Adds adds a source to account 1.
func (w *World) Adds(add app.SourceAdd) app.Source {
	w.T.Helper()
	add.Name = "test"
	s, err := w.Service.AddSource(context.Background(), 1, add, time.Now())
	apptest.Must(w.T, err)
	return s
}
