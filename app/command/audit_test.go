package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/command/session"
	"baoco/app/payment"
	"baoco/sqlitestore"
)

// deedsOfCommands is every command that does something for somebody, in an order in
// which each can be done, with the deed and the id that its line has.
var deedsOfCommands = []struct {
	command string
	deed    app.Deed
	noun    int64
}{
	{"apikey create shop", app.DeedAPIKeyCreate, 1},
	{"apikey revoke 1", app.DeedAPIKeyRevoke, 1},
	{"bank link --bank ACB --number 19354957 --name A", app.DeedBankAccountLink, 1},
	{"bank toggle 1", app.DeedBankAccountChange, 1},
	{"bank update 1 --receiving-number 7", app.DeedBankAccountChange, 1},
	{"bank toggle 1", app.DeedBankAccountChange, 1},
	{"transaction add --amount 20000 --transaction-number FT1 --date 2026-11-01", app.DeedTransactionRecord, 1},
	{"transaction export --output-file DIR/out.csv", app.DeedTransactionExport, 0},
	{"transaction import DIR/statement.csv", app.DeedImportRecord, 1},
	{"source settle 3 --repeat", app.DeedInboundSettle, 3},
	{"transaction import --undo 1", app.DeedImportUndo, 1},
	{"webhook create --name shop --url https://shop.vn --type ALL", app.DeedWebhookCreate, 1},
	{"webhook update 1 --name b", app.DeedWebhookChange, 1},
	{"webhook test 1", app.DeedWebhookTest, 1},
	{"webhook rotate-secret 1", app.DeedWebhookRotate, 1},
	{"webhook activate-secret 1", app.DeedWebhookActivate, 1},
	{"webhook toggle 1", app.DeedWebhookChange, 1},
	{"webhook toggle 1", app.DeedWebhookChange, 1},
	{"code create --prefix DH --min-length 6", app.DeedCodePatternCreate, 1},
	{"payment create --amount 5000", app.DeedPaymentCreate, 0},
	{"payment match 1 --transaction-id 1", app.DeedPaymentMatch, 1},
	{"payment unmatch 1 --transaction-id 1", app.DeedPaymentUnmatch, 1},
	{"payment put-aside 1", payment.DeedPutAside, 1},
	{"payment cancel 1", app.DeedPaymentCancel, 1},
	{"payment settings --tolerance 500", app.DeedAccountChange, 1},
	{"code delete 1", app.DeedCodePatternDelete, 1},
	{"stream create --name ledger --url nats://127.0.0.1:1 --topic shop", app.DeedStreamCreate, 1},
	{"stream update 1 --name b", app.DeedStreamChange, 1},
	{"stream test 1", app.DeedStreamTest, 1},
	{"stream rotate-secret 1", app.DeedStreamRotate, 1},
	{"stream toggle 1", app.DeedStreamChange, 1},
	{"stream toggle 1", app.DeedStreamChange, 1},
	{"stream delete 1", app.DeedStreamDelete, 1},
	{"delivery resend 1", app.DeedDeliveryResend, 2},
	{"delivery send-now 2", app.DeedDeliverySendNow, 2},
	{"webhook delete 1", app.DeedWebhookDelete, 1},
	{"source add --provider capcom6 --name phone", app.DeedSourceCreate, 2},
	{"source rotate 2", app.DeedSourceRotate, 2},
	{"source allow 2 --sender VCB", app.DeedSourceChange, 2},
	{"source retry 1", app.DeedInboundRetry, 1},
	{"source discard 2", app.DeedInboundDiscard, 2},
	{"source link 1 --name A", app.DeedInboundLink, 1},
	{"source remove 2", app.DeedSourceRemove, 2},
	{"bank unlink 1", app.DeedBankAccountUnlink, 1},
	{"book s2e --period 2025 --format csv", book.DeedExport, 0},
	{"report --format csv", book.DeedExport, 0},
	{"book close --period 2025", book.DeedClose, 1},
	{"book open", book.DeedOpen, 1},
	{"counter create till", app.DeedCounterLinkCreate, 1},
	{"counter revoke 1", app.DeedCounterLinkRevoke, 1},
	{"alert telegram --token-file DIR/token --chat 5", app.DeedAlertSet, 1},
	{"alert payments telegram", app.DeedAlertChange, 1},
	{"alert email --host mail.example.vn --from a@example.vn --to b@example.vn", app.DeedAlertSet, 2},
	{"alert chat ntfy --url-file DIR/topic", app.DeedAlertSet, 3},
	{"alert set --mute plan", app.DeedAlertsChange, 0},
	{"alert remove telegram", app.DeedAlertRemove, 1},
	{"account set --plan gold", app.DeedAccountChange, 1},
	{"user create lan", app.DeedUserCreate, 1},
	{"user create minh --role cashier", app.DeedUserCreate, 2},
	{"user passwd lan", app.DeedUserPassword, 1},
	{"user role minh --role accountant", app.DeedUserRole, 2},
	{"user limit minh --bank-account-id 2", app.DeedUserLimit, 2},
	{"user sign-out lan", app.DeedUserSignOut, 1},
	{"user remove minh", app.DeedUserRemove, 2},
	{"backup DIR/copy.db", app.DeedDatabaseBackup, 0},
	{"restore DIR/copy.db", app.DeedDatabaseRestore, 0},
	{"replica setup file://DIR/to --litestream DIR/litestream", app.DeedReplicaSetUp, 0},
	{"replica seal-key --passphrase-file DIR/words", app.DeedReplicaSealKey, 0},
	{"replica remove", app.DeedReplicaRemove, 0},
	{"doctor --new-key", app.DeedDatabaseNewKey, 0},
}

// withoutDeeds are the other commands, and why.
var withoutDeeds = map[string]string{
	"serve": "it acts for others", "demo": "a file of its own", "listen": "it works elsewhere", "bench": "a file of its own",
	"ready": "it asks", "systemd": "it prints",
	"openapi": "it prints", "version": "it prints", "config": "it prints",
	"completion bash": "it prints", "completion zsh": "it prints", "completion fish": "it prints", "completion words": "it prints",
	"webhook verify": "it calculates", "takeover": "see TestTakeover in acceptance", "replica check": "it reads", "replica show": "it reads",
	"replica open-key": "there may be no database",
	"apikey list":      "it reads", "bank list": "it reads", "bank qr": "it reads", "transaction list": "it reads",
	"transaction tail": "it reads", "webhook list": "it reads", "stream list": "it reads", "code list": "it reads", "payment list": "it reads",
	"payment show": "it reads", "payment qr": "it reads", "payment unmatched": "it reads", "delivery list": "it reads",
	"delivery pending": "it reads", "delivery show": "it reads", "source list": "it reads", "source show": "it reads",
	"source log": "it reads", "source event": "it reads", "counter list": "it reads",
	"alert list": "it reads", "account list": "it reads", "user list": "it reads", "audit list": "it reads",
	"book s1a": "as book s2e", "book status": "it reads",
	"source catch-up": "what the provider has is recorded as if it had called",
	"user set-up":     "the link is used on a page, which has a line",
	"delivery replay": "see TestDeedsOfPages: nothing has failed here", "user second-factor-off": "see TestDeedsOfPages: nobody has one here",
	"alert test":     "see TestDeedsOfPages: it asks Telegram",
	"account create": "its line is of the new account", "prune": "see TestPruneIsAudited: nothing is old here",
}

// Whatever a command does has one line: the user of the machine, the command line, when
// and to what.
func TestDeedsOfCommands(t *testing.T) {
	ctx := t.Context()
	db, dir := commandWorld(t)
	must(t,
		os.WriteFile(filepath.Join(dir, "statement.csv"),
			[]byte("Số tài khoản:,19354957,,,\nNgày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi "+
				"vào\n02/11/2026,FT8,x,,5.000\n01/11/2026,,ck,,20.000\n"), 0o600))
	t.Setenv("BAOCO_DB", db)
	newest := func() []app.AuditLine {
		t.Helper()
		store, err := sqlitestore.Open(ctx, db, sqlitestore.Options{})
		must(t, err)
		defer store.Close()
		list, err := store.AuditLines(ctx, app.DefaultAccountID, app.AuditFilter{}, 1000)
		must(t, err)
		return list
	}
	who, _ := app.ActorOf(session.Operating(ctx, time.Now()))
	for _, c := range deedsOfCommands {
		if c.command == "replica remove" {
			setUpLongAgo(t, db)
		}
		var last int64
		if before := newest(); len(before) > 0 {
			last = before[0].ID
		}
		began := time.Now()
		var stdout, stderr strings.Builder
		code := Run(context.Background(), append([]string{"baoco"}, words(c.command, "DIR", dir)...), strings.NewReader(""), &stdout, &stderr)
		if code != 0 && c.deed != app.DeedWebhookTest && c.deed != app.DeedStreamTest {
			t.Errorf("$ %s: exit %d, %s", c.command, code, &stderr)
		}
		added := slices.DeleteFunc(newest(), func(l app.AuditLine) bool { return l.ID <= last })
		if len(added) != 1 {
			t.Errorf("$ %s: %d lines: %+v", c.command, len(added), added)
			continue
		}
		l := added[0]
		who.At = l.Actor.At
		if l.Actor != who || l.Deed != c.deed || l.NounID != c.noun || l.Actor.At.Before(began.Add(-time.Millisecond)) ||
			l.Actor.At.After(time.Now()) {
			t.Errorf("$ %s: %+v, want %s of %d by %+v", c.command, l, c.deed, c.noun, who)
		}
	}
	for _, name := range commandNames() {
		done := slices.ContainsFunc(deedsOfCommands, func(c struct {
			command string
			deed    app.Deed
			noun    int64
		}) bool {
			return c.command == name || strings.HasPrefix(c.command, name+" ")
		})
		if why, without := withoutDeeds[name]; done == without {
			t.Errorf("%s: has a deed in deedsOfCommands, or stands in withoutDeeds (%q)", name, why)
		}
	}
}

// What prune removed has a line of whoever ran it, and an account that is made has its
// first line.
func TestPruneIsAudited(t *testing.T) {
	db, _ := commandWorld(t)
	t.Setenv("BAOCO_DB", db)
	apptest.Exec(t, db, `UPDATE inbound_events SET open = 0, received_ms = 0`)
	for _, command := range []string{"prune --keep-inbound 30d --keep-history 0", "account create second"} {
		if code, _, stderr := baoco("", words(command)...); code != 0 {
			t.Errorf("$ %s: exit %d, %s", command, code, stderr)
		}
	}
	store, err := sqlitestore.Open(t.Context(), db, sqlitestore.Options{})
	must(t, err)
	defer store.Close()
	for account, deed := range map[int64]app.Deed{1: app.DeedDatabasePrune, 2: app.DeedAccountCreate} {
		list, err := store.AuditLines(t.Context(), account, app.AuditFilter{Deed: deed, Way: app.WayCommand}, 10)
		if err != nil || len(list) != 1 || list[0].Actor.Name == "" {
			t.Errorf("%s: %+v, %v", deed, list, err)
		}
	}
}
