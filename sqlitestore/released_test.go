package sqlitestore_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/paymentcode"
	"baoco/app/stream"
	"baoco/app/upkeep"
	"baoco/sqlitestore"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what testdata/schema holds of a new migration")

// What is in testdata/schema: the sums of its migrations, as
// sha256sum prints them, and a file of every version with its key.
const (
	releasedSums = "../testdata/schema/migration.sha256"
	releasedFile = "../testdata/schema/%d"
)

// A released schema never changes: files of it stand at people's. Whatever else
// a later baoco needs is one more migration, with one more file here, which -update
// makes. To change a migration that no release has yet, remove its line from
// migration.sha256 first.
func TestReleasedSchema(t *testing.T) {
	t.Parallel()
	sums := migrationSums(t)
	kept, err := os.ReadFile(releasedSums)
	must(t, err)
	added, found := strings.CutPrefix(sums, string(kept))
	if !found {
		t.Fatalf("a released migration was changed or removed: take it back, and write a new one. The migrations are\n%swhere %s has\n%s",
			sums, releasedSums, kept)
	}
	checkDigests(t)
	versions := strings.Count(sums, "\n")
	switch file := fmt.Sprintf(releasedFile, versions); {
	case added == "":
	case strings.Count(added, "\n") > 1:
		t.Fatalf("these migrations are new; add one at a time:\n%s", added)
	case !*update:
		t.Fatalf("a migration is new: go test ./sqlitestore -run TestReleasedSchema -update writes its line into %s, and %s.gz and .key:\n%s",
			releasedSums, file, added)
	default:
		writeReleased(t, file)
	}
	for version := 1; version <= versions; version++ {
		if version > 1 && version < versions-1 && !apptest.Full() {
			continue // the proofs open them all
		}
		t.Run(fmt.Sprint(version), func(t *testing.T) { checkReleased(t, fmt.Sprintf(releasedFile, version)) })
	}
	if added != "" && !t.Failed() {
		must(t, os.WriteFile(releasedSums, []byte(sums), 0o644))
	}
}

// checkDigests checks that the program knows the schema that its migrations make.
func checkDigests(t *testing.T) {
	t.Helper()
	const file = "migration/digests"
	has, err := os.ReadFile(file)
	must(t, err)
	made, err := sqlitestore.MakeDigests()
	must(t, err)
	switch {
	case *update:
		must(t, os.WriteFile(file, []byte(made), 0o644))
	case string(has) != made:
		t.Fatalf("%s isn't what the migrations make: go test ./sqlitestore -run TestReleasedSchema -update writes it", file)
	}
}

func migrationSums(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("migration/*.sql")
	must(t, err)
	var sums strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		must(t, err)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
	}
	return sums.String()
}

// checkReleased examines a file as it was released, serves it, works with it
// and examines it again.
func checkReleased(t *testing.T, released string) {
	path := unpackReleased(t, released)
	for table, n := range rowsOf(t, path) {
		if n == 0 {
			t.Errorf("%s has no row in the table %s: fill it in fillEveryTable", released, table)
		}
	}
	h := &history{t: t, now: time.Unix(peek(t, path, `SELECT max(created_at) FROM transactions`)[0][0].(int64), 0)}
	whole(t, path, h.now)
	was := contentOf(t, path)
	h.reopen(path)
	sameRows(t, path, was, slices.Concat(sqlitestore.KeptTables(), droppedTables, []string{"webhooks"})) // see TestWebhooksStayWhatTheyAre
	if kept := fmt.Sprintf("%s.before-schema-%d", path, present); released != fmt.Sprintf(releasedFile, present) {
		sameRows(t, kept, was, nil)
	}
	before := lastIDs(t, path)
	fillEveryTable(t, h)
	must(t, h.store.Close())
	for table, id := range lastIDs(t, path) {
		if id <= before[table] {
			t.Errorf("nothing was added to the table %s after id %d", table, id)
		}
	}
	whole(t, path, h.now)
}

// droppedTables are those that migrations removed: bank_account_channels has what the first
// of them held, and the others followed from other rows.
var droppedTables = []string{"source_bank_accounts", "transaction_blocks", "transaction_amounts", "attempt_blocks"}

// contentOf are the queries of all rows of a file, a table each, and what they give.
func contentOf(t *testing.T, path string) map[string][]string {
	t.Helper()
	content := map[string][]string{}
	db := openToRead(t, path)
	defer db.Close()
	for _, table := range tablesOf(t, db) {
		var columns []string
		for _, c := range ask(t, db, `SELECT name FROM pragma_table_info(?)`, table) {
			columns = append(columns, fmt.Sprintf("%q", c[0]))
		}
		query := `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + table
		content[query] = rowTexts(t, db, query)
	}
	return content
}

// rowTexts are the rows that a query gives, sorted.
func rowTexts(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	for _, row := range ask(t, db, query) {
		list = append(list, fmt.Sprintf("%q", row))
	}
	slices.Sort(list)
	return list
}

// sameRows checks that a file has the rows that another one had, but for some tables.
func sameRows(t *testing.T, path string, was map[string][]string, but []string) {
	t.Helper()
	db := openToRead(t, path)
	defer db.Close()
	for query, rows := range was {
		_, table, _ := strings.Cut(query, " FROM ")
		if slices.Contains(but, table) {
			continue
		}
		if d := cmp.Diff(rows, rowTexts(t, db, query)); d != "" {
			t.Errorf("%s, %s (-was +is):\n%s", filepath.Base(path), query, d)
		}
	}
}

// unpackReleased puts a released file and its key into a directory of its own.
func unpackReleased(t *testing.T, released string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "baoco.db")
	packed, err := os.Open(released + ".gz")
	must(t, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	must(t, err)
	content, err := io.ReadAll(unpacked)
	must(t, err)
	must(t, os.WriteFile(path, content, 0o600))
	copyTo(t, released+".key", path+".key")
	return path
}

// In schema 1 there were owners and viewers.
func TestViewersBecomeCashiers(t *testing.T) {
	t.Parallel()
	path := unpackReleased(t, fmt.Sprintf(releasedFile, 1))
	apptest.Exec(t, path, `UPDATE users SET role = 'viewer' WHERE id = 1`)
	h := &history{t: t}
	h.reopen(path)
	u, found, err := h.service.Access.User(t.Context(), 1)
	must(t, err)
	if !found || u.Role != access.RoleCashier {
		t.Errorf("found %v: %+v", found, u)
	}
	must(t, h.store.Close())
}

// Until schema 11 a webhook of the standard kind was of the kind http, and had one prefix at
// most.
func TestWebhooksStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	path := unpackReleased(t, fmt.Sprintf(releasedFile, 11))
	const query = `SELECT id, account_id, name, %s, url, type, bank_account_id, is_active, created_at, deleted_at, hex(secret),
		hex(next_secret), overlap_to_ms, secrets_changed_ms, %s, receiving_number FROM webhooks ORDER BY id`
	was := peek(t, path, fmt.Sprintf(query, `iif(kind = 'http', 'standard', kind)`, `code_prefix`))
	h := &history{t: t, now: time.Now()}
	h.reopen(path)
	must(t, h.store.Close())
	if is := peek(t, path, fmt.Sprintf(query, `kind`, `code_prefixes`)); len(was) < 3 || !cmp.Equal(was, is) {
		t.Errorf("%s", cmp.Diff(was, is))
	}
}

// Until schema 3 the hours of webhooks counted tests.
func TestHoursLoseTheirTests(t *testing.T) {
	t.Parallel()
	path := unpackReleased(t, fmt.Sprintf(releasedFile, 2))
	attempts := func() int64 { return peek(t, path, `SELECT sum(succeeded + failed) FROM webhook_hours`)[0][0].(int64) }
	tests := peek(t, path, `SELECT count(*) FROM deliveries d JOIN attempts a ON a.delivery_id = d.id
		JOIN webhook_hours h ON h.webhook_id = a.webhook_id AND h.hour = a.started_ms / 3600000 WHERE d.sample IS NOT NULL`)[0][0].(int64)
	before := attempts()
	h := &history{t: t}
	h.reopen(path)
	must(t, h.store.Close())
	if after := attempts(); tests == 0 || after != before-tests {
		t.Errorf("of %d attempts, of which %d are tests, the hours have %d", before, tests, after)
	}
}

// tablesOf are the names of every table but those that SQLite makes.
func tablesOf(t *testing.T, db *sql.DB) (names []string) {
	t.Helper()
	for _, row := range ask(t, db, `SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`) {
		names = append(names, row[0].(string))
	}
	return names
}

// rowsOf counts the rows of every table but those that SQLite makes.
func rowsOf(t *testing.T, path string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	db := openToRead(t, path)
	defer db.Close()
	for _, table := range tablesOf(t, db) {
		counts[table] = ask(t, db, `SELECT count(*) FROM `+table)[0][0].(int64)
	}
	return counts
}

// lastIDs are those that every table has given last.
func lastIDs(t *testing.T, path string) map[string]int64 {
	t.Helper()
	last := map[string]int64{}
	for _, row := range peek(t, path, `SELECT name, seq FROM sqlite_sequence`) {
		last[row[0].(string)] = row[1].(int64)
	}
	return last
}

// writeReleased makes the file of the present version, with its key.
func writeReleased(t *testing.T, released string) {
	t.Helper()
	path := create(t)
	h := &history{t: t, now: time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC)}
	h.reopen(path)
	fillEveryTable(t, h)
	backup := filepath.Join(t.TempDir(), "released.db")
	makeBackup(t, h.store, sqlitestore.BackupTarget{File: backup})
	must(t, h.store.Close())
	content, err := os.ReadFile(backup)
	must(t, err)
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	must(t, err)
	_, err = w.Write(content)
	must(t, err)
	must(t, w.Close())
	must(t, os.WriteFile(released+".gz", packed.Bytes(), 0o644))
	copyTo(t, path+".key", released+".key")
	counts := rowsOf(t, backup)
	for _, table := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[table], table)
	}
}

// fillEveryTable has something happen that leaves rows in every table.
func fillEveryTable(t *testing.T, h *history) {
	t.Helper()
	ctx := t.Context()
	tag := fmt.Sprint(h.now.Unix())
	account := h.account()
	h.populate(11, account)
	boss, err := h.service.Access.CreateUser(ctx, account,
		access.UserCreate{Name: "boss" + tag, Password: "mật khẩu rất dài", Role: access.RoleOwner}, h.now)
	must(t, err)
	must(t, h.service.Access.SetSession(ctx, "token"+tag, access.Session{UserID: boss.ID, Generation: boss.Generation, StartedAt: h.now,
		EndAt: h.now.Add(24 * time.Hour)}, []byte("data")))
	_, _, err = h.service.Access.CreateAPIKey(ctx, account, access.APIKeyCreate{Name: "till", Scope: access.ScopeFull}, h.now)
	must(t, err)
	_, _, err = h.service.Payments.CreateCounterLink(ctx, account, payment.CounterLinkCreate{Name: "counter"}, h.now)
	must(t, err)
	must(t, h.service.Alerts.SetAlertPreferences(ctx, account, alert.Preferences{Lang: app.English,
		Muted: []alert.AttentionKind{alert.AttentionPlan}}))
	_, err = h.service.Alerts.SetAlertChannel(ctx,
		alert.Channel{AccountID: account, Medium: alert.Telegram,
			Telegram: alert.TelegramSettings{Token: "123456:" + strings.Repeat("A", 35), Chat: "42"}}, h.now)
	must(t, err)
	must(t, h.service.Alerts.SetPaymentFeed(ctx, account, alert.Telegram,
		alert.PaymentFeed{On: true, Type: app.In, Least: 1000, Content: true}))
	_, err = h.service.Alerts.PushKey(ctx, account)
	must(t, err)
	_, err = h.service.Alerts.AddPhone(ctx, alert.Phone{AccountID: account, UserID: boss.ID, Name: "phone", Payments: true, CreatedAt: h.now,
		PhoneAddress: alert.PhoneAddress{Endpoint: "https://push.vn/" + tag, Auth: strings.Repeat("A", 22),
			P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}})
	must(t, err)
	_, err = h.service.Ledger.CreateCodePattern(ctx, account,
		paymentcode.Pattern{Prefix: "D" + tag[len(tag)-6:], Least: 6, Most: 6, Alphabet: paymentcode.Digits}, h.now)
	must(t, err)
	_, _, err = h.service.Deliveries.CreateWebhook(ctx, account, delivery.WebhookCreate{
		Name: "orders", URL: "https://shop.vn/orders", Type: delivery.WebhookIn, BankAccountIDs: []int64{h.banks[0].ID, h.banks[1].ID},
		CodePrefixes: []string{"NOORDER"},
	}, h.now)
	must(t, err)
	request, err := h.service.Payments.CreatePaymentRequest(ctx, account,
		payment.RequestCreate{Amount: 200_000, BankAccountID: h.banks[0].ID, Reference: "HD-" + tag}, app.IdempotencyKey{}, h.now)
	must(t, err)
	_, _, err = h.service.Inbound.RecordByHand(ctx, account, inbound.TransactionCreate{Incoming: inbound.Incoming{
		EventID: "paid" + tag, Gateway: h.banks[0].Bank, AccountNumber: h.banks[0].AccountNumber,
		Type: app.In, Amount: 200_000, Content: request.Code, Time: h.now,
	}}, h.now)
	must(t, err)
	bill, err := h.service.Payments.CreatePaymentRequest(ctx, account,
		payment.RequestCreate{Amount: 5000, BankAccountID: h.banks[0].ID, CashierID: boss.ID}, app.IdempotencyKey{}, h.now)
	must(t, err)
	uncoded, _, err := h.service.Inbound.RecordByHand(ctx, account, inbound.TransactionCreate{Incoming: inbound.Incoming{
		EventID: "uncoded" + tag, Gateway: h.banks[0].Bank, AccountNumber: h.banks[0].AccountNumber,
		Type: app.In, Amount: 5000, Content: "ck", Time: h.now,
	}}, h.now)
	must(t, err)
	must(t, h.service.Payments.AskToMatch(ctx, account, payment.Take{RequestID: bill.ID, TransactionID: uncoded.ID}, h.now))
	alerted, err := h.service.Alerts.Alert(ctx, upkeep.Installation{}, h.now)
	must(t, err)
	if len(alerted) == 0 {
		t.Fatal("there was nothing to alert of")
	}
	for _, a := range alerted {
		must(t, a.Err)
	}
	wrong, _ := h.imports("wrong statement of "+tag+".csv", false, h.rows(40, 3))
	must(t, h.service.Inbound.UndoImport(ctx, account, wrong, h.now))
	since := int64(0)
	_, _, err = h.service.Streams.CreateStream(ctx, account,
		stream.Create{Name: "ledger", URL: "nats+tls://nats.shop.vn", Topic: "shop.transactions",
			Credentials: stream.BrokerCredentials{Username: "shop", Password: "s3cret"}, SinceID: &since}, h.now)
	must(t, err)
	h.store.NoteRefusedCall(inbound.RefusedCall{SourceID: h.sources[0].ID, ReceivedAt: h.now})
	h.imports("statement of "+tag+".csv", false, h.rows(0, 20))
	h.imports("overlapping statement of "+tag+".csv", false, h.rows(10, 20))
	for i, said := range []string{"order " + tag, "order " + tag + " of a customer", "ck"} { // recorded, the same, and perhaps the same
		_, err := h.service.Inbound.RecordTransactions(ctx,
			inbound.Call{AccountID: account, Source: h.sources[i%2], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
				Elements: []inbound.Incoming{{
					EventID: fmt.Sprint("told ", i, tag), Gateway: "ACB", AccountNumber: h.banks[0].AccountNumber, Type: app.In,
					Amount: 77_000 + int64(i/2), Content: said, Time: h.now,
				}}})
		must(t, err)
	}
	must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error {
		if err := exec(`INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)`, boss.ID, []byte(tag)); err != nil {
			return err
		}
		return exec(`INSERT INTO passkeys (user_id, name, host, credential_id, public_key, transports, backup_eligible, sign_count, created_at)
			VALUES (?, 'phone', 'shop.vn', ?, x'', '', 0, 0, ?)`,
			boss.ID, []byte(tag), h.now.Unix())
	}))
	till, err := h.service.Access.CreateUser(ctx, account,
		access.UserCreate{Name: "till" + tag, Password: "mật khẩu rất dài", Role: access.RoleCashier}, h.now)
	must(t, err)
	_, err = h.service.Access.LimitUser(ctx, account, till.ID, access.BankAccountLimit{On: true, IDs: []int64{h.banks[0].ID}})
	must(t, err)
	must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error { // as a crash leaves it
		if err := exec(`INSERT INTO bank_account_balances (bank_account_id, day, amount, at, source_id) VALUES (?, ?, 500000, ?, ?)`,
			h.banks[0].ID, int64(app.DayOf(h.now, time.UTC)), h.now.Unix(), h.sources[0].ID); err != nil {
			return err
		}
		return exec(`INSERT INTO unfinished_links (bank_account_id, inbound_event_id, notify, linked_at, item_id) VALUES (?, 0, 0, ?, 0)`,
			h.banks[0].ID, h.now.Unix())
	}))
	must(t, h.service.Books.AddRule(ctx, account, book.Rule{Text: "vay " + tag, Kind: book.Loan}))
	must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error {
		day := int64(app.DayOf(h.now, time.UTC)) - 100
		for _, row := range []struct {
			insert string
			args   []any
		}{
			{`INSERT INTO book_cash (account_id, day, amount, note) VALUES (?, ?, 5000, 'market')`, []any{account, day}},
			{`INSERT INTO refunds (transaction_id, of_id, account_id, occurred_at)
				SELECT max(id), min(id), account_id, 1 FROM transactions WHERE account_id = ?`, []any{account}},
			{`INSERT INTO book_openings (bank_account_id, day, amount) VALUES (?, ?, 70000)`, []any{h.banks[0].ID, day}},
			{`INSERT INTO book_closings (account_id, number, through, zone, ends_at, last_id, heading, closed_at, closed_by)
				VALUES (?, 1, ?, 'UTC', ?, 1, '{}', ?, 'boss')`, []any{account, day, (day + 1) * 86400, h.now.Unix()}},
		} {
			if err := exec(row.insert, row.args...); err != nil {
				return err
			}
		}
		return nil
	}))
	for range 60 {
		h.step()
	}
	for i, id := range []string{"one", "two"} {
		recorded, _, err := h.service.Inbound.RecordByHand(ctx, account, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: id + tag, Gateway: "ACB", AccountNumber: h.banks[0].AccountNumber, Type: app.In, Amount: 5, Time: h.now,
		}, Key: app.IdempotencyKey{Key: id + tag, Operation: "transaction"}}, h.now)
		must(t, err)
		_, err = h.service.Books.SetMark(ctx, account, recorded.ID, book.Mark{Kind: book.OwnMoney, Note: "drawer"})
		must(t, err)
		must(t, h.service.Ledger.SetNote(ctx, account, recorded.ID, "", app.Note{Text: "Đã đối chiếu", ChangedAt: h.now, ChangedBy: boss.Name}))
		for left := int64(1); left > 0; {
			left, err = h.store.IndexSearch(ctx)
			must(t, err)
		}
		must(t, h.service.Deliveries.DeleteWebhook(ctx, account, h.hooks[i].ID, h.now)) // what waits is cancelled
	}
}
