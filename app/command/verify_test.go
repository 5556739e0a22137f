package command

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/app/delivery"
	"baoco/app/verify"
	"baoco/sqlitestore"

	"github.com/google/go-cmp/cmp"
)

// The command says what the page says: with a database what was sent, without
// one what can be told from the call alone.
func TestWebhookVerify(t *testing.T) {
	db := apptest.NewFile(t)
	dir := filepath.Dir(db)
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
	must(t, err)
	must(t, store.SetAllowTargets(context.Background(), []string{"127.0.0.1/32"}))
	must(t, store.Close())
	t.Setenv("BAOCO_DB", db)
	var body string
	var header http.Header
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, header = string(b), r.Header
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer receiver.Close()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	code, stdout, stderr := baoco("", "webhook", "create", "--name", "shop", "--url", receiver.URL, "--type", "ALL", "-o", "json")
	var made struct{ Secret string }
	if must(t, json.Unmarshal([]byte(stdout), &made)); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := baoco("", "webhook", "test", "1"); code != terminal.ExitCheck {
		t.Fatal(stderr)
	}
	signature := header.Get("X-Webhook-Signature")
	right, secret := file("body.json", body), file("secret.txt", made.Secret+"\n")
	missing := "--db=" + filepath.Join(dir, "missing.db")
	for _, c := range []struct {
		name, stdin string
		args        []string
		code        int
		want        []string // parts of stdout, or of stderr
	}{
		{"by the webhook", "", []string{"1", "--body-file", right, "--signature", signature}, 0, []string{"✓ The signature matches.\n"}},
		{"by the delivery", "", []string{"--delivery-id", "1", "--body-file", right}, 0, []string{"✓"}},
		{"by the secret", "", []string{"--secret-file", secret, "--body-file", right, "--signature", signature, missing}, 0, []string{"✓"}},
		{"the body from standard input", body,
			[]string{"--secret-file", secret, "--body-file", "-", "--signature", signature, missing}, 0, []string{"✓"}},
		{"the secret from standard input", made.Secret,
			[]string{"--secret-file", "-", "--body-file", right, "--signature", signature, missing}, 0, []string{"✓"}},
		{"the standard header", "", []string{"--secret-file", secret, "--body-file", right, "--signature", header.Get("Webhook-Signature"),
			"--message-id", header.Get("Webhook-Id"), "--timestamp", header.Get("Webhook-Timestamp")}, 0, []string{"✓"}},
		{"a prefix", "", []string{"1", "--body-file", right, "--signature", "sha256=" + signature}, 0,
			[]string{"✓", "- The value begins with sha256="}},
		{"two line breaks in the secret", "", []string{"--secret-file", file("breaks.txt", made.Secret+"\n\n"), "--body-file", right,
			"--signature", signature}, terminal.ExitCheck,
			[]string{"✗ The signature does not match.\n", "- The secret has spaces, a line break or quotes"}},
		{"another body", "", []string{"--delivery-id", "1", "--body-file",
			file("other.json", strings.Replace(body, "BAOCO TEST", "BAOCO\u00a0TEST", 1))}, terminal.ExitCheck,
			[]string{"✗ The signature does not match.\n", "First difference: byte ", "⟦ TEST", "⟦‹U+00A0›TEST"}},
		{"another secret", "", []string{"1", "--secret-file", file("other.txt", "whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="),
			"--body-file", right, "--signature", signature}, terminal.ExitCheck,
			[]string{"signed with a secret of the webhook"}},
		{"no such webhook", "", []string{"9", "--body-file", right, "--signature", signature}, terminal.ExitNotFound, []string{"no webhook"}},
		{"no such delivery", "", []string{"--delivery-id", "9", "--body-file", right}, terminal.ExitNotFound, []string{"no delivery"}},
		{"no such file", "", []string{"1", "--body-file", filepath.Join(dir, "none"), "--signature", signature},
			terminal.ExitDatabase, []string{"none"}},
		{"no such database", "", []string{"1", "--body-file", right, "--signature", signature, missing}, terminal.ExitDatabase,
			[]string{"missing.db"}},
		{"nothing to verify with", "", []string{"--body-file", right, "--signature", signature}, terminal.ExitUsage,
			[]string{"needs the ID of a webhook, --delivery-id or --secret-file"}},
		{"no body", "", []string{"1", "--signature", signature}, terminal.ExitUsage, []string{"--body-file is required"}},
		{"no signature", "", []string{"1", "--body-file", right}, terminal.ExitUsage, []string{"signature is required"}},
		{"both from standard input", "", []string{"--body-file", "-", "--secret-file", "-", "--signature", signature}, terminal.ExitUsage,
			[]string{"only one"}},
		{"too large", "", []string{"1", "--body-file", file("large", strings.Repeat("x", verify.MaxBody+1)), "--signature", signature},
			terminal.ExitUsage, []string{"at most 64 KiB"}},
		{"no such format", "", []string{"--secret-file", secret, "--body-file", right, "--signature", signature, "-o", "xml"}, terminal.ExitUsage,
			[]string{"--output"}},
	} {
		code, stdout, stderr := baoco(c.stdin, append([]string{"webhook", "verify"}, c.args...)...)
		if code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.name, code, c.code, stdout, stderr)
		}
		for _, part := range c.want {
			if !strings.Contains(stdout+stderr, part) {
				t.Errorf("%s: no %q in\n%s%s", c.name, part, stdout, stderr)
			}
		}
		if strings.Contains(stdout+stderr, made.Secret[6:]) || strings.Contains(stdout+stderr, signature) {
			t.Errorf("%s: it repeats the secret, or a signature", c.name)
		}
	}

	code, stdout, _ = baoco("", "webhook", "verify", "--secret-file", secret, "--body-file", file("break.json", body+"\n"), "--signature",
		signature, "-o", "json")
	var got map[string]any
	must(t, json.Unmarshal([]byte(stdout), &got))
	mistakes, _ := got["mistakes"].([]any)
	if len(mistakes) != 1 || code != terminal.ExitCheck {
		t.Fatalf("exit %d, %s", code, stdout)
	}
	delete(got, "mistakes")
	if diff := cmp.Diff(map[string]any{
		"matches": false, "notes": []any{},
		"difference": map[string]any{"byte": float64(len(body) + 1), "before": body[len(body)-16:], "sent": "", "seen": "‹U+000A›"},
	}, got); diff != "" {
		t.Error(diff)
	}
	if m := mistakes[0].(map[string]any); m["code"] != "body_values" || m["text"] == "" {
		t.Error(m)
	}

	// With its key the secret is lost: nothing counts as signed with no key.
	must(t, os.Remove(db+".key"))
	if code, _, stderr := baoco("", "doctor", "--new-key"); code != terminal.ExitOK && code != terminal.ExitCheck {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, signature := range []string{delivery.Signature("", []byte(body)), signature, header.Get("Webhook-Signature")} {
		code, stdout, _ := baoco("", "webhook", "verify", "1", "--body-file", right, "--signature", signature)
		if code != terminal.ExitCheck || !strings.Contains(stdout, "no longer has the secret of this webhook") {
			t.Errorf("%s with a lost secret: exit %d\n%s", signature, code, stdout)
		}
	}
}
