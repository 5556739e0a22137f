package command

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/command/serve"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/sqlitestore"
	"baoco/web"

	"github.com/urfave/cli/v2"
)

// fullDisk is a standard output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// lostOutputs is every command with what its stderr says when its output can't
// be written: what is done all the same, and what to do. Silent ones print on
// stderr only, where JSON isn't asked for.
var lostOutputs = []struct {
	command string
	says    string
	silent  bool
}{
	{command: "help"},
	{command: "webhook --help"},
	{command: "version"},
	{command: "audit list"},
	{command: "openapi"},
	{command: "systemd"},
	{command: "config"},
	{command: "completion words ba"},
	{command: "completion bash"},
	{command: "completion zsh"},
	{command: "completion fish"},
	{"apikey create shop", "API key 1 was created, but nobody has seen it. Revoke it and create another: baoco apikey revoke 1", false},
	{command: "apikey list"},
	{"apikey revoke 1", "API key 1 is revoked.", true},
	{"bank link --bank ACB --number 19354957 --name A", "Bank account 1 is linked: ACB 19354957", false},
	{command: "bank list"},
	{command: "bank qr 1"},
	{"code create --prefix DH --min-length 6", "Code pattern 1: DH and 6 digits", false},
	{command: "code list"},
	{"payment create --amount 20000 --reference HD-1", "Payment request 1: 20.000 VND with the content DH", false},
	{command: "payment list"},
	{command: "book s1a --period 2025"},
	{command: "book s2e --period 2025"},
	{command: "report --from 2025-01-01 --to 2025-12-31"},
	{"book close --period 2025", "The books are closed through 2025-12-31.", false},
	{command: "book status"},
	{"book open", "The book that was closed through 2025-12-31 is open again.", false},
	{command: "payment show 1"},
	{command: "payment qr 1"},
	{command: "payment settings"},
	{"payment settings --tolerance 500", "Tolerance: 500 VND. Distinct amounts: no.", false},
	{"bank update 1 --receiving-number 7=Till", "Bank account 1 is paid to 7 = Till.", false},
	{"bank toggle 1", "Bank account 1 is inactive now.", false},
	{"transaction add --amount 20000 --transaction-number FT1", "Transaction 1 is recorded: IN 20.000 VND on ACB 19354957.", false},
	{command: "transaction list"},
	{command: "payment unmatched"},
	{"payment match 1 --transaction-id 1", "Payment request 1 is paid now: received 20.000 of 20.000 VND.", false},
	{"payment unmatch 1 --transaction-id 1", "Payment request 1 is open now: received 0 of 20.000 VND.", false},
	{"payment put-aside 1", "Transaction 1 is put aside now.", false},
	{"payment cancel 1", "Payment request 1 is cancelled.", false},
	{command: "transaction tail --once"},
	{command: "transaction export"},
	{"transaction export --output-file DIR/out.csv", "out.csv holds 1 transactions.", false},
	{command: "transaction import DIR/out.csv --dry-run"},
	{"transaction import DIR/out.csv", "out.csv: 0 recorded, 1 known already, 0 rejected.", false},
	{"bank unlink 1", "Bank account 1 is unlinked", true},
	{"webhook create --name shop --url URL/hook --type IN",
		"Webhook 1 was created, but nobody has seen its secret. Make a new one: baoco webhook rotate-secret 1", false},
	{command: "webhook list"},
	{"webhook update 1 --name b", "Webhook 1: b, ", false},
	{"webhook test 1", "The test was sent: HTTP 200", false},
	{command: "webhook verify --secret-file DIR/secret --body-file DIR/secret --signature 00"},
	{"webhook rotate-secret 1", "Webhook 1 has a new secret, but nobody has seen it. Make another: baoco webhook rotate-secret 1", false},
	{"webhook activate-secret 1", "The new secret of webhook 1 is now the only one in use.", true},
	{"code delete 1", "Code pattern 1 is deleted", true},
	{"stream create --name ledger --url nats://127.0.0.1:1 --topic shop",
		"Stream 1 was created, but nobody has seen its secret. Make a new one: baoco stream rotate-secret 1", false},
	{command: "stream list"},
	{"stream update 1 --name b", "Stream 1: b, ", false},
	{"stream test 1", "can’t be reached", false},
	{"stream rotate-secret 1", "Stream 1 has a new secret, but nobody has seen it. Make another: baoco stream rotate-secret 1", false},
	{"stream toggle 1", "Stream 1 is off", false},
	{"stream delete 1", "Stream 1 is deleted", true},
	{command: "delivery list"},
	{command: "delivery pending"},
	{command: "delivery show 1"},
	{"delivery resend 1", "Delivery 2 is queued", false},
	{"delivery send-now 2", "Deliveries that are due now: 1", false},
	{"delivery replay --webhook-id 1", "0 deliveries are queued", false},
	{"webhook toggle 1", "Webhook 1 is off", false},
	{"webhook delete 1", "Webhook 1 is deleted", true},
	{"source add --provider capcom6 --name phone",
		"Source 2 was added, but nobody has seen the secret. Make another: baoco source rotate 2", false},
	{"source add --provider sepay --auth hmac --name mine --secret-file DIR/secret", "Source 3 was added.", false},
	{command: "source list"},
	{command: "source show 2"},
	{"source rotate 2", "Source 2 has a new secret, but nobody has seen the secret. Make another: baoco source rotate 2", false},
	{"source allow 2 --sender VCB", "Source 2 accepts messages", false},
	{command: "source log"},
	{command: "source log --refused"},
	{command: "source event 1"},
	{"source retry 1", "Event 1: 0 recorded", false},
	{"source link 1 --name A", "Event 1: 1 recorded on bank account 2", false},
	{"source discard 1", "Event 1: 0 discarded.", false},
	{"source remove 2", "Source 2 is removed", true},
	{"counter create till", "Counter link 1 was created, but nobody has seen it. Revoke it and create another: baoco counter revoke 1", false},
	{command: "counter list"},
	{"counter revoke 1", "Counter link 1 is revoked.", true},
	{"alert telegram --token-file DIR/token --chat 5", "Alerts go to ", true},
	{"alert email --host mail.example.vn --from a@example.vn --to b@example.vn", "Alerts go to ", true},
	{"alert chat ntfy --url-file DIR/topic", "Alerts go to ", true},
	{"alert payments telegram", "Telegram tells of every payment that fits, from now on.", true},
	{"alert set --mute plan", "Alerts are in Vietnamese", true},
	{command: "alert list"},
	{"alert remove telegram", "Alerts by Telegram are not sent any more.", true},
	{"account create second", "Account 2 (second)", false},
	{command: "account list"},
	{"account set --plan gold", "Account 1 (default): plan gold", false},
	{"user set-up", "A set-up link was made, but nobody has seen it. Make another: baoco user set-up", false},
	{"user create lan", "User lan was created, but nobody has seen the password. Make another: baoco user passwd lan", false},
	{command: "user list"},
	{"user passwd lan", "User lan has a new password, but nobody has seen the password. Make another: baoco user passwd lan", false},
	{"user role lan --role owner", "User lan is owner now, and signed out everywhere.", true},
	{"user limit lan --all", "User lan sees all bank accounts now.", true},
	{"user second-factor-off lan", "User lan has no second factor. Nothing was changed.", true},
	{"user sign-out lan", "User lan is signed out everywhere.", true},
	{"user create minh", "User minh was created", false},
	{"user remove minh", "User minh is removed.", true},
	{"prune --keep-inbound 30d --keep-history 0", "Removed: inbound calls, 0; attempts, 0.", false},
	{"replica setup file://DIR/to --litestream DIR/litestream", "The copy is set up: ", false},
	{command: "replica show"},
	{"replica seal-key --passphrase-file DIR/words", "The sealed key lies beside the copy.", false},
	{"replica open-key file://DIR/to --passphrase-file DIR/words --to DIR/opened", "The key is ", false},
	{"replica remove", "is not kept up to date any more", true},
	{"backup DIR/copy.db", "copy.db, whole and checked.", false},
	{command: "restore DIR/copy.db --dry-run"},
	{"restore DIR/copy.db", "is restored from", false},
	{command: "doctor"},
	{"doctor --new-key", "The database has a new key file", false},
}

// withoutOutput are the commands that are not in the table, and why.
var withoutOutput = map[string]string{
	"serve": "prints nothing on stdout", "ready": "prints nothing", "source catch-up": "asks a provider", "alert test": "asks Telegram",
	"takeover": "needs Litestream", "replica check": "needs Litestream",
	"source settle": "nothing may be a repeat there",
	"demo":          "takes its time", "listen": "takes its time", "bench": "takes its time",
}

// commandNames are the commands without further commands below them.
func commandNames() (names []string) {
	var walk func(prefix string, commands []*cli.Command)
	walk = func(prefix string, commands []*cli.Command) {
		for _, c := range commands {
			name := strings.TrimSpace(prefix + " " + c.Name)
			walk(name, c.Subcommands)
			if len(c.Subcommands) == 0 {
				names = append(names, name)
			}
		}
	}
	walk("", rootCommand(nil, nil, nil).Commands)
	return names
}

// Output that can't be written is exit 1 on every command, as text and as
// JSON; where something was done all the same, stderr says what and what to do.
func TestLostOutput(t *testing.T) {
	for _, name := range commandNames() {
		tested := slices.ContainsFunc(lostOutputs, func(c struct {
			command string
			says    string
			silent  bool
		}) bool {
			return c.command == name || strings.HasPrefix(c.command, name+" ")
		})
		if _, left := withoutOutput[name]; tested == left {
			t.Errorf("%s: add it either to lostOutputs, or to withoutOutput with a reason", name)
		}
	}
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) { loseOutputs(t, format) })
	}
}

// commandWorld is a database with a source that has reported two transactions of
// accounts that aren't linked, and files for commands beside it.
func commandWorld(t *testing.T) (db, dir string) {
	t.Helper()
	ctx := context.Background()
	db = apptest.NewFile(t)
	dir = filepath.Dir(db)
	store, err := sqlitestore.Open(ctx, db, sqlitestore.Options{Unnamed: apptest.Unnamed})
	must(t, err)
	must(t, store.SetAllowTargets(ctx, []string{"127.0.0.1/32"}))
	service, _, err := serve.NewService(ctx, store, nil)
	must(t, err)
	source, err := service.Inbound.AddSource(ctx, 1, inbound.SourceAdd{Provider: "native", Name: "till"}, time.Now())
	must(t, err)
	for _, transfer := range []string{`"id":"A1","gateway":"VCB","accountNumber":"7220111112005"`,
		`"id":"A2","gateway":"VCB","accountNumber":"7220111112006"`} {
		call := httptest.NewRequest("POST", source.URLPath(),
			strings.NewReader(`{"transactions":[{`+transfer+`,"transferType":"IN","transferAmount":200000}]}`))
		call.Header.Set("Authorization", "Bearer "+source.Secret)
		web.New(web.Config{Services: service}).ServeHTTP(httptest.NewRecorder(), call)
	}
	must(t, store.Close())
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "topic"), []byte("https://ntfy.sh/some-topic"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte("123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "words"), []byte("năm từ dễ nhớ của cửa hàng\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "litestream"), []byte("#!/bin/sh\necho v0.5.18\n"), 0o700))
	return db, dir
}

func loseOutputs(t *testing.T, format string) {
	ctx := context.Background()
	db, dir := commandWorld(t)
	shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer shop.Close()
	t.Setenv("BAOCO_DB", db)
	t.Setenv("BAOCO_OUTPUT", format)
	for _, c := range lostOutputs {
		if c.command == "replica remove" {
			setUpLongAgo(t, db)
		}
		args := words(c.command, "DIR", dir, "URL", shop.URL)
		var stderr strings.Builder
		code := Run(ctx, append([]string{"baoco"}, args...), strings.NewReader(""), fullDisk{}, &stderr)
		if c.silent && format == "text" {
			if code != 0 {
				t.Errorf("$ %s: exit %d, %s", c.command, code, &stderr)
			}
			continue
		}
		if code != terminal.ExitError &&
			!(code == terminal.ExitCheck && (strings.HasPrefix(c.command, "webhook verify") || strings.HasPrefix(c.command, "stream test"))) {
			t.Errorf("$ %s: exit %d, %s", c.command, code, &stderr)
		}
		if !strings.Contains(stderr.String(), "the output could not be written") || !strings.Contains(stderr.String(), c.says) ||
			c.says == "" && strings.Contains(stderr.String(), "has done its work") {
			t.Errorf("$ %s: %s", c.command, &stderr)
		}
	}
}

// Every command that opens the database refuses that of a newer baoco as it is, and
// says what to do.
func TestNewerDatabase(t *testing.T) {
	db := apptest.NewFile(t)
	dir := filepath.Dir(db)
	kept := db + ".before-schema-99"
	content, err := os.ReadFile(db)
	must(t, err)
	must(t, os.WriteFile(kept, content, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw="), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte("123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi"), 0o600))
	apptest.Exec(t, db, `PRAGMA user_version = 99`)
	before := apptest.Digests(db)
	t.Setenv("BAOCO_DB", db)
	commands := []string{"serve --listen 127.0.0.1:0", "source catch-up", "alert test telegram"}
	for _, c := range lostOutputs {
		first, _, _ := strings.Cut(c.command, " ")
		if !slices.Contains([]string{"help", "version", "openapi", "systemd", "config", "completion", "restore", "doctor"}, first) &&
			!strings.Contains(c.command, "--help") && !strings.HasPrefix(c.command, "webhook verify") &&
			!strings.HasPrefix(c.command, "replica open-key") {
			commands = append(commands, c.command)
		}
	}
	advice := ": use the newer one, or go back to what it was before, without what came in since: baoco restore " + app.ShellWord(kept)
	for _, command := range commands {
		args := words(command, "DIR", dir, "URL", "https://shop.vn")
		var stdout, stderr strings.Builder
		code := Run(t.Context(), append([]string{"baoco"}, args...), strings.NewReader(""), &stdout, &stderr)
		if code != terminal.ExitDatabase || stdout.Len() > 0 || !strings.Contains(stderr.String(), db+" has schema 99, this baoco knows ") ||
			!strings.Contains(stderr.String(), advice) {
			t.Errorf("$ %s: exit %d, %s%s", command, code, &stdout, &stderr)
		}
	}
	if apptest.Digests(db) != before {
		t.Error("the file was changed")
	}
}

// An error of usage is exit 2, with nothing on stdout, whatever the command.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	file, _ := commandWorld(t)
	for _, name := range commandNames() {
		words := func(args ...string) []string { return append(strings.Fields(name), args...) }
		lines := [][]string{words("--no-such-flag"), words("--db"), words("a", "b", "c", "d", "--db", file)}
		if _, serves := withoutOutput[name]; !serves {
			lines = append(lines, words("--db", filepath.Join(t.TempDir(), "none.db"))) // so that it doesn't go on
		}
		for i, line := range lines {
			var stdout, stderr bytes.Buffer
			code := Run(t.Context(), append([]string{"baoco"}, line...), strings.NewReader(""), &stdout, &stderr)
			if strings.HasPrefix(name, "completion") {
				continue // it takes words as they are
			}
			if i < 3 && code != terminal.ExitUsage || code == terminal.ExitError || code == terminal.ExitUsage && stdout.Len() > 0 {
				t.Errorf("%s: exit %d, stdout %.80q, stderr %q", strings.Join(line, " "), code, stdout.String(), stderr.String())
			}
		}
	}
}
