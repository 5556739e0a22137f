package sqlitestore_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/paymentcode"
	"baoco/app/services"
	"baoco/app/stream"
	"baoco/sqlitestore"
)

// limitedReads are the queries that read bank accounts, transactions or sums, each as
// it is asked about a bank account and a transaction of it, and SetNote, which tells
// whether there is one. A new query belongs here or to unlimitedReads.
var limitedReads = map[string]func(ctx context.Context, s *sqlitestore.Store, bank, transaction int64) (any, error){
	"BankAccounts": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.BankAccounts(ctx, 1)
	},
	"Balances": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.Balances(ctx, 1, limitedDay)
	},
	"BankAccountSummaries": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.BankAccountSummaries(ctx, 1, limitedDay)
	},
	"FirstDay": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) { return s.FirstDay(ctx, 1, 0) },
	"BankAccountDays": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.BankAccountDays(ctx, 1, limitedDay)
	},
	"HoursBetween": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.HoursBetween(ctx, 1, limitedDay.Start(time.UTC), (limitedDay + 1).Start(time.UTC))
	},
	"Days": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		all, err := s.Days(ctx, 1, 0, 0, limitedDay)
		one, err2 := s.Days(ctx, 1, bank, 0, limitedDay)
		return fmt.Sprint(all, one, err2), err
	},
	"Transaction": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		return s.Transaction(ctx, 1, id)
	},
	"TransactionOrigin": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		return s.TransactionOrigin(ctx, 1, id)
	},
	"Note": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) { return s.Note(ctx, 1, id) },
	"Noted": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.Noted(ctx, 1, "note", 100)
	},
	"SetNote": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		return nil, s.SetNote(ctx, 1, id, func(app.Note) error { return nil }, app.Note{Text: "note of somebody", ChangedAt: time.Unix(0, 0)})
	},
	"DeliveriesOf": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		return s.DeliveriesOf(ctx, 1, []int64{1, id})
	},
	"NewestIDs": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) { return s.NewestIDs(ctx) },
	"Transactions": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		var all []any
		page := app.Page{Number: 1, Size: 20}
		for _, f := range []app.TransactionFilter{
			{}, {Type: app.In}, {Sort: app.SortDateDesc}, {From: time.Unix(0, 0)}, {From: time.Unix(0, 0), Sort: app.SortDate}, {Query: "pay"},
			{MinAmount: 1}, {MinAmount: 1, Query: "pay"}, {DeliveryState: app.DeliveryPending},
			{DeliveryState: app.DeliveryUnsent}, {DeliveryState: app.DeliveryDelivered}, {BankAccountID: bank},
			{Query: "pay", Or: app.SearchMeaning{BankAccounts: []app.BankAccount{{ID: bank}}}},
			{Query: "pay", Or: app.SearchMeaning{Amount: 222_222}},
			{Code: "DH1000"}, {Query: "pay", Or: app.SearchMeaning{Code: "DH1000"}}, {Query: "only there"},
			{Query: "only there", DeliveryState: app.DeliveryPending}, {Query: "only there", MinAmount: 1, MaxAmount: 222_222},
		} {
			for _, f.Page = range []app.Page{page, {Number: 2, Size: 20}, {Number: 1, Size: 20, CountTo: 2000}} {
				f.Sums = true
				p, err := s.Transactions(ctx, 1, f)
				all = append(all, p.Rows, p.Total, err)
				if p.Sums != nil {
					all = append(all, *p.Sums)
				}
			}
		}
		return all, nil
	},
	"PaymentRequest": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		own, err := s.PaymentRequest(ctx, 1, 1)
		other, err2 := s.PaymentRequest(ctx, 1, 2)
		return fmt.Sprint(own, other, err2), err
	},
	"PaymentRequests": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		var all []any
		for _, f := range []payment.Filter{{}, {Status: app.PaymentUnderpaid}, {BankAccountID: bank}, {Reference: "HD-1"}} {
			f.Page = app.Page{Number: 1, Size: 20}
			p, err := s.PaymentRequests(ctx, 1, f, time.Unix(0, 0))
			all = append(all, p, err)
		}
		return all, nil
	},
	"PaymentTransfers": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		own, err := s.PaymentTransfers(ctx, 1, 1, 100)
		other, err2 := s.PaymentTransfers(ctx, 1, 2, 100)
		return fmt.Sprint(own, other, err2), err
	},
	"UnmatchedTransactions": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		list, total, err := s.UnmatchedTransactions(ctx, 1, payment.UnmatchedFilter{Page: app.Page{Number: 1, Size: 20}})
		return fmt.Sprint(list, total), err
	},
	"PaymentCandidates": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.PaymentCandidates(ctx, 1, 100)
	},
	"RequestsAsking": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		var all []any
		for _, amount := range []int64{111_111, 222_222} {
			list, err := s.RequestsAsking(ctx, 1, bank, amount)
			all = append(all, list, err)
		}
		return all, nil
	},
	"MatchedByHand": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.MatchedByHand(ctx, 1, 0, time.Unix(0, 0))
	},
	"Refunds": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		var all []any
		for _, f := range []payment.RefundFilter{{}, {OutID: id}, {InID: id}, {RequestID: 1}} {
			list, err := s.Refunds(ctx, 1, f)
			all = append(all, list, err)
		}
		return all, nil
	},
	"AskedMatches": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.AskedMatches(ctx, 1, time.Unix(0, 0), 100)
	},
	"TakeTransaction": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		_, err := s.TakeTransaction(ctx, 1, payment.Take{RequestID: 2, TransactionID: id}, time.Unix(0, 0), nil)
		return nil, err
	},
	"AskToMatch": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		return nil, s.AskToMatch(ctx, 1, payment.Take{RequestID: 2, TransactionID: id}, time.Unix(0, 0), nil)
	},
	"CancelPaymentRequest": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		_, err := s.CancelPaymentRequest(ctx, 1, 2, time.Unix(0, 0))
		return nil, err
	},
	"MatchTransaction": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		_, err := s.MatchTransaction(ctx, 1, 2, id, time.Unix(0, 0))
		return nil, err
	},
	"UnmatchTransaction": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		_, err := s.UnmatchTransaction(ctx, 1, 2, id)
		return nil, err
	},
	"RemovedTransactions": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		all, _, err := s.RemovedTransactions(ctx, stream.Stream{AccountID: 1, Type: delivery.WebhookAll}, 0, math.MaxInt64)
		one, _, err2 := s.RemovedTransactions(ctx, stream.Stream{AccountID: 1, Type: delivery.WebhookAll, BankAccountID: bank}, 0, math.MaxInt64)
		return fmt.Sprint(all, one, err2), err
	},
	"SetMark": func(ctx context.Context, s *sqlitestore.Store, _, id int64) (any, error) {
		return nil, s.SetMark(ctx, 1, id, book.Mark{Kind: book.Loan})
	},
	"PossibleTransfers": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.PossibleTransfers(ctx, 1, book.TransferSearch{To: time.Unix(1<<40, 0), Within: 24 * time.Hour, Limit: 100})
	},
	"BookAccounts": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.BookAccounts(ctx, 1)
	},
	"Cash": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.Cash(ctx, 1, 0, math.MaxInt32)
	},
	"SetOpening": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		return nil, s.SetOpening(ctx, 1, book.BankAccount{BankAccount: app.BankAccount{ID: bank}, HasOpening: true, OpenedOn: limitedDay})
	},
	"Entries": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		st := book.Stretch{To: time.Unix(1<<40, 0), UntilID: math.MaxInt64}
		all, err := s.Entries(ctx, 1, book.EntryQuery{Stretch: st, Revenue: true, Limit: 1000})
		one, err2 := s.Entries(ctx, 1, book.EntryQuery{Stretch: st, BankAccountID: bank, Limit: 1000})
		return fmt.Sprint(all, one, err2), err
	},
	"EntrySums": func(ctx context.Context, s *sqlitestore.Store, _, _ int64) (any, error) {
		return s.EntrySums(ctx, 1, book.EntryQuery{Stretch: book.Stretch{To: time.Unix(1<<40, 0), UntilID: math.MaxInt64, Late: true}})
	},
	"ReportParts": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (parts any, err error) {
		var list []book.ReportPart
		q := book.ReportQuery{To: (limitedDay + 1).Start(time.UTC), By: book.ByAccount}
		err = s.ReportParts(ctx, 1, q, func(p book.ReportPart) { list = append(list, p) })
		q.BankAccountID = bank
		err2 := s.ReportParts(ctx, 1, q, func(p book.ReportPart) { list = append(list, p) })
		return fmt.Sprint(list, err2), err
	},
	"TransactionsAfter": func(ctx context.Context, s *sqlitestore.Store, bank, _ int64) (any, error) {
		all, _, err := s.TransactionsAfter(ctx, 1, app.TransactionFilter{}, app.ExportPlace{}, 1000)
		one, _, err2 := s.TransactionsAfter(ctx, 1, app.TransactionFilter{BankAccountID: bank}, app.ExportPlace{}, 1000)
		return fmt.Sprint(all, one, err2), err
	},
}

// limitedDay is a day of the transactions of TestEveryReadIsLimitedOrNot.
const limitedDay app.Day = 20_000

// unlimitedReads need no limit: they are for those whose role can't be limited, for the
// server, or about nothing that belongs to a bank account.
var unlimitedReads = []string{
	// About the account, its users and its keys. The numbers of Overview and
	// AccountStatus are for owners.
	"Account", "Accounts", "AccountStatus", "Overview", "APIKeys", "APIKeyByHash", "CounterLinks", "CounterLinkByHash", "User", "Users",
	"UserByName", "SecondFactor", "TOTP", "Passkeys", "PasskeyByCredential", "SetUpOpen", "Session", "Sessions", "AuditLines",
	// About sources and what they sent. A bank account that is in error names its source.
	"Sources", "SourcesHealth", "SourceByID", "SourceByToken", "SourceByBearer", "SourceByUsername", "PolledSources", "RefusedCalls",
	"InboundEvents", "InboundEventsBefore", "InboundEvent", "InboundItems", "InboundBodies",
	"InboundSources", "KnownEvents", "OpenInbound", "Imports", "Undoable",
	// About streams, webhooks and deliveries.
	"CodePatterns", "CodesTaken", "AnyReference", "Stream", "Streams", "StreamWork", "StreamTransactions", "StreamBehind",
	"Webhook", "Webhooks", "WebhookSecrets", "WebhookHealth", "RecentAttempts", "Backlogs", "Due", "OldestDue", "PendingDeliveries", "Pending",
	"Replayable", "FailedDeliveries", "DeliveryFacts", "History", "QueueStatus", "NewestTime", "AnswerTimes",
	// For whoever has the token.
	"PaymentRequestByToken",
	// A shift is what a cashier did, on whatever bank account.
	"OpenShift", "Shift", "Shifts", "ShiftClosing",
	// For owners.
	"Rules",
	// About whole books, not about a bank account of them.
	"Closings", "Heading",
	// About alerts, the file and the machine.
	"AlertPreferences", "AlertChannels", "AlertMessages", "AlertConditions", "PaymentsToSend", "Phones", "PaymentsToPush",
	"StorageStatus", "BackupStatus", "GuideHidden",
	"Prunable", "Reclaimable", "Unindexed", "WriterBeat", "Beat",
}

// Every query that reads money answers within the limit of its context as if there
// were no other bank account, whatever is asked and whatever happens to others.
func TestEveryReadIsLimitedOrNot(t *testing.T) {
	t.Parallel()
	store := reflect.TypeFor[services.Store]()
	for i := range store.NumMethod() {
		name := store.Method(i).Name
		if limitedReads[name] == nil && !slices.Contains(unlimitedReads, name) && !slices.Contains(audited, name) &&
			!slices.Contains(notAudited, name) {
			t.Errorf("%s is neither in limitedReads nor in unlimitedReads: decide whether it reads within the limit of its context", name)
		}
	}
	t.Run("bank accounts", func(t *testing.T) {
		w := apptest.Open(t, create(t), services.Config{})
		defer w.Close()
		own, hidden := w.Link("ACB", "111111"), w.Link("ACB", "222222")
		readsWithin(t, w, paidTo{own, ""}, paidTo{hidden, ""},
			access.BankAccountLimit{On: true, IDs: []int64{own.ID}}, access.BankAccountLimit{On: true})
	})
	t.Run("receiving numbers", func(t *testing.T) {
		w := apptest.Open(t, create(t), services.Config{})
		defer w.Close()
		b, err := w.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, w.Link("ACB", "111111").ID,
			app.BankAccountReceiving{ReceivingNumbers: "VA222222 = other\nVA111111 = own"})
		must(t, err)
		readsWithin(t, w, paidTo{b, "VA111111"}, paidTo{b, "VA222222"},
			access.BankAccountLimit{On: true, IDs: []int64{b.ID}, ReceivingNumber: "VA111111"})
	})
}

// paidTo is where money comes in: a bank account, or a receiving number of one.
type paidTo struct {
	app.BankAccount
	number string
}

// readsWithin compares what limits show, which hide one of two places where money comes in.
func readsWithin(t *testing.T, w *apptest.World, own, hidden paidTo, limits ...access.BankAccountLimit) {
	w.Webhook("https://shop.vn/hook", delivery.WebhookIn)
	at := limitedDay.Start(time.UTC)
	_, err := w.Services.Ledger.CreateCodePattern(t.Context(), 1,
		paymentcode.Pattern{Prefix: "BILL", Least: 8, Most: 8, Alphabet: paymentcode.Digits}, at)
	must(t, err)
	for _, b := range []paidTo{own, hidden} {
		amount := int64(111_111)
		if b == hidden {
			amount = 222_222
		}
		_, err := w.Services.Payments.CreatePaymentRequest(t.Context(), 1,
			payment.RequestCreate{Amount: amount, BankAccountID: b.ID, Reference: "HD-1", ReceivingNumber: b.number}, app.IdempotencyKey{}, at)
		must(t, err)
	}
	record := func(b paidTo, id string, amount int64, at time.Time) int64 {
		tr, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: id, Gateway: "ACB", AccountNumber: b.AccountNumber, SubAccount: b.number, Number: id,
			Type: app.In, Amount: amount, Content: "pay " + id, Time: at, NotRepeat: true,
		}}, at)
		must(t, err)
		must(t, w.Services.Ledger.SetNote(t.Context(), 1, tr.ID, "", app.Note{Text: "note of " + id, ChangedAt: at}))
		w.Change(`INSERT INTO bank_account_balances (bank_account_id, day, amount, at, source_id) VALUES (?, ?, ?, ?, 1)
			ON CONFLICT DO UPDATE SET amount = excluded.amount`,
			b.ID, int64(app.DayOf(at, time.UTC)), amount, at.Unix())
		return tr.ID
	}
	native := w.Native()
	record(own, "mine", 111_111, at)
	theirs := record(hidden, "theirs", 222_222, at)
	_, err = w.Services.Payments.MatchTransaction(t.Context(), 1, 2, theirs, at)
	must(t, err)
	ask := func(limit access.BankAccountLimit, bank, transaction int64) map[string]string {
		ctx := access.SeeingOnly(t.Context(), limit)
		answers := map[string]string{}
		for name, read := range limitedReads {
			value, err := read(ctx, w.Store, bank, transaction)
			answers[name] = fmt.Sprintf("%+v, %v", value, err)
			if strings.HasPrefix(name, "Payment") { // no page lists the numbers of the bank account of a request
				answers[name] = strings.ReplaceAll(answers[name], "VA222222 = other", "")
			}
		}
		return answers
	}
	guess := int64(999)
	if hidden.ID != own.ID {
		guess = hidden.ID
	}
	for _, limit := range limits {
		nowhere, guessed := ask(limit, 999, 999), ask(limit, guess, theirs)
		for i := range 25 {
			record(hidden, fmt.Sprint("more", i, limit), 222_222, at.Add(-time.Duration(i)*time.Hour))
		}
		many := make([]inbound.Incoming, 1500) // more than a search looks at
		for i := range many {
			many[i] = inbound.Incoming{EventID: fmt.Sprint("many", i, limit), Gateway: "ACB", AccountNumber: hidden.AccountNumber,
				SubAccount: hidden.number, Type: app.In,
				Amount: 222_222, Content: "only there", Time: at}
		}
		_, err = w.Services.Inbound.RecordTransactions(t.Context(),
			inbound.Call{AccountID: 1, Source: native, Channel: app.ChannelCall, ReceivedAt: at, Elements: many})
		must(t, err)
		must(t, w.Services.Ledger.IndexSearch(t.Context()))
		record(hidden, fmt.Sprint("first", limit), 222_222, at.AddDate(-1, 0, 0))
		w.Change(`INSERT OR IGNORE INTO removed_transactions (account_id, number, transaction_id, bank_account_id, type, code, receiving_number)
			VALUES (1, 1, 222222, ?, 'IN', '', ?)`, hidden.ID, hidden.number)
		later := ask(limit, guess, theirs)
		for _, name := range slices.Sorted(maps.Keys(limitedReads)) {
			if strings.Contains(later[name], "222222") || limit.IDs == nil && strings.Contains(later[name], "111111") {
				t.Errorf("%v: %s shows what is hidden: %s", limit, name, later[name])
			}
			if limit.IDs != nil && slices.Contains([]string{"Entries", "EntrySums", "Transactions"}, name) &&
				!strings.Contains(later[name], "111111") {
				t.Errorf("%v: %s doesn't show what is not hidden: %s", limit, name, later[name])
			}
			if guessed[name] != nowhere[name] {
				t.Errorf("%v: %s answers\n%s\nabout what is hidden, and\n%s\nabout what is nowhere", limit, name, guessed[name], nowhere[name])
			}
			if later[name] != guessed[name] {
				t.Errorf("%v: %s answered\n%s\nand\n%s\nafter something has happened to what is hidden", limit, name, guessed[name], later[name])
			}
		}
	}
	if note, err := w.Services.Ledger.Note(t.Context(), 1, theirs); err != nil || note.Text != "note of theirs" {
		t.Errorf("the note of what is hidden is %q, %v", note.Text, err)
	}
}
