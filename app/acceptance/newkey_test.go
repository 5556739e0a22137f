package acceptance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/command/terminal"
	"baoco/app/upkeep"
)

// With the key lost, a new one brings the service back: what came in is
// recorded and waits, nothing is signed with what nobody knows, and once the
// secrets are rotated all goes on.
func TestNewKeyAfterLoss(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	do(t, in.dir, "source", "add", "--provider", "generic", "--name", "erp", "--map", "id=id", "--map", "amount=a", "--bank-account-id", "1")
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("123456789:AAAAAAAAAAAAAAAAAAAAAAAAA\n"), 0o600))
	do(t, in.dir, "alert", "telegram", "--chat", "5", "--token-file", token)
	must(t, os.Remove(in.db+".key"))
	refuse(t, in.db, "is missing")

	type named struct {
		Name, Medium string
		Options      bool `json:"options_lost"`
	}
	var lost struct {
		OldKey   *string `json:"old_key_file"`
		Webhooks []named
		Sources  []named
		Alerts   []named `json:"alert_channels"`
	}
	must(t, json.Unmarshal([]byte(do(t, in.dir, "doctor", "--new-key", "-o", "json")), &lost))
	if len(lost.Webhooks) != 1 || len(lost.Sources) != 2 || lost.OldKey != nil || lost.Sources[0].Options || !lost.Sources[1].Options ||
		lost.Sources[1].Name != "erp" ||
		len(lost.Alerts) != 1 || lost.Alerts[0].Medium != "telegram" {
		t.Errorf("%+v", lost)
	}
	if code, checks := examined(t, in.db); code != 0 ||
		!strings.Contains(checks["key"].Message, "webhook 1 (shop), source 1 (till), source 2 (erp), alert channel 1 (telegram) were dropped") {
		t.Errorf("exit %d, %+v", code, checks["key"])
	}

	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	provider := in.provider(p.url)
	if provider.call("FT1") || provider.refusals[401].Load() != 1 {
		t.Error("a call under the lost secret was not refused")
	}
	do(t, in.dir, "transaction", "add", "--amount", "7", "--transaction-number", "FT2")
	for _, c := range []struct {
		exit   int
		says   string // on either output
		args   []string
		absent string
	}{
		{terminal.ExitConflict, "The secret of this webhook is lost, so nothing can be signed.", []string{"webhook", "test", "1"}, "whsec_"},
		{terminal.ExitOK, "baoco webhook rotate-secret 1\n", []string{"webhook", "list"}, "--account"},
		{terminal.ExitOK, `"secret_lost": true`, []string{"webhook", "list", "-o", "json"}, ""},
		{terminal.ExitOK, "Source 2 has lost its secret, so its calls are refused: baoco source rotate 2\n", []string{"source", "list"}, ""},
		{terminal.ExitOK, "Secret: lost, so calls are refused: baoco source rotate 1\n", []string{"source", "show", "1"}, ""},
		{terminal.ExitOK, "once the secret is rotated", []string{"delivery", "pending"}, ""},
		{terminal.ExitOK, "set it up again", []string{"alert", "list"}, ""},
	} {
		code, stdout, stderr := baoco("", append(c.args, "--db", in.db)...)
		if both := oneSpace(stdout) + stderr; code != c.exit || !strings.Contains(strings.ToLower(both), strings.ToLower(c.says)) ||
			c.absent != "" && strings.Contains(both, c.absent) {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, stdout, stderr)
		}
	}

	var rotated struct{ Secret string }
	receiver.signAs("/a", func() string { // what waited may come before the command has ended
		must(t, json.Unmarshal([]byte(do(t, in.dir, "webhook", "rotate-secret", "1", "-o", "json")), &rotated))
		return rotated.Secret
	})
	eventually(t, "what waited goes out", func() bool { return receiver.received()["/a FT2"] })
	must(t, json.Unmarshal([]byte(do(t, in.dir, "source", "rotate", "1", "-o", "json")), &rotated))
	in.source.Secret = rotated.Secret
	if !in.provider(p.url).call("FT3") {
		t.Error("a call under the new secret was refused")
	}
	eventually(t, "what came in goes out", func() bool { return receiver.received()["/a FT3"] })
	if receiver.bad != 0 || receiver.calls.Load() != 2 {
		t.Errorf("%d calls with a wrong signature, %d with the right one", receiver.bad, receiver.calls.Load())
	}
	p.end(t)
	do(t, in.dir, "source", "remove", "2")
	do(t, in.dir, "alert", "telegram", "--chat", "5", "--token-file", token)
	if code, checks := examined(t, in.db); code != 0 || checks["key"].Result != upkeep.CheckOK {
		t.Errorf("exit %d, %+v", code, checks["key"])
	}
}
