package sqlitestore_test

import (
	"slices"
	"testing"

	"baoco/sqlitestore"
)

// A table holds what nobody else knows, or follows from others: then the one
// list of these has it, and doctor, repair, prune and seed know it by that.
func TestKeptTables(t *testing.T) {
	t.Parallel()
	firsthand := []string{
		"settings", "accounts", "api_keys", "users", "sessions", "recovery_codes", "passkeys", "user_bank_accounts", "bank_accounts",
		"counter_links", "sources", "bank_account_channels", "inbound_events", "inbound_items",
		"unfinished_links", "imports", "transactions", "event_ids", "refused_calls", "code_patterns", "streams", "webhooks",
		"webhook_bank_accounts", "deliveries", "attempts", "idempotency_keys",
		"transaction_notes", "transaction_reports", "import_repeats", "removed_transactions", "shifts", "payment_requests", "payment_matches",
		"asked_matches", "refunds",
		"bank_account_balances", "audit", "alert_preferences", "alert_channels", "alert_conditions", "alert_messages", "payment_feeds",
		"push_keys", "phones",
		"transaction_marks", "book_rules", "book_closings", "book_cash", "book_openings",
	}
	kept := sqlitestore.KeptTables()
	for _, row := range peek(t, create(t),
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'transactions_search_%'`) {
		if name := row[0].(string); !slices.Contains(kept, name) && !slices.Contains(firsthand, name) {
			t.Errorf("%s is neither in derivedTables nor named here as one that holds what nobody else knows", name)
		}
	}
}
