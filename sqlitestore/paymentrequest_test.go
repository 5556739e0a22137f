package sqlitestore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"

	"github.com/google/go-cmp/cmp"
)

// An import that is undone takes its transfers out of the requests that they were for.
func TestUndoImportOfPayments(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	now := time.Now()
	r := w.PaymentRequest(payment.RequestCreate{Amount: 1_649_000, ExpiresIn: time.Hour})
	other := w.PaymentRequest(payment.RequestCreate{Amount: 5000})
	w.Pay(1, "1", r.Code)
	result, err := w.Services.Inbound.RecordTransactions(t.Context(),
		inbound.Call{AccountID: 1, Channel: app.ChannelFile, File: "a.csv", ReceivedAt: now, NoDeliveries: true, Elements: []inbound.Incoming{
			{EventID: "a", Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: 100_000, Content: r.Code, Time: now},
			{EventID: "b", Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: 5000, Content: other.Code, Time: now},
		}})
	must(t, err)
	is := func(r payment.Request, status app.PaymentStatus, received int64, transfers int) {
		t.Helper()
		now, err := w.Services.Payments.PaymentRequest(t.Context(), 1, r.ID)
		must(t, err)
		list, err := w.Services.Payments.PaymentTransfers(t.Context(), 1, r.ID, 100)
		must(t, err)
		if now.Status(time.Now()) != status || now.Received != received || now.Transfers != transfers || len(list) != transfers {
			t.Errorf("%s, received %d in %d transfers, %d listed", now.Status(time.Now()), now.Received, now.Transfers, len(list))
		}
	}
	is(r, app.PaymentPaid, 1_649_000, 2)
	is(other, app.PaymentPaid, 5000, 1)
	must(t, w.Services.Inbound.UndoImport(t.Context(), 1, result.ImportID, now))
	is(r, app.PaymentUnderpaid, 1_549_000, 1)
	is(other, app.PaymentOpen, 0, 0)
	whole(t, w.Path, time.Now())
}

// The doctor finds sums that aren't those of the transfers, and makes them anew.
func TestPaymentSumsAreRecounted(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	r := w.PaymentRequest(payment.RequestCreate{Amount: 300_000})
	w.Pay(1, "1", r.Code)
	w.Change(`UPDATE payment_requests SET received = received + 1, transfers = 5`)
	wrongTotals(t, w.Path, "payment_requests")
	must(t, w.Store.Recount(t.Context(), time.Now()))
	if now, err := w.Services.Payments.PaymentRequest(t.Context(), 1, r.ID); err != nil || now.Received != 1_549_000 || now.Transfers != 1 {
		t.Errorf("recounted: %+v, %v", now, err)
	}
	whole(t, w.Path, time.Now())
}

// The doctor finds a request that is paid without its money, and one that isn't with it.
func TestWronglyPaidRequests(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{PaymentTolerance: new(int64(1000))})
	must(t, err)
	short, paid := w.PaymentRequest(payment.RequestCreate{Amount: 1_550_001}), w.PaymentRequest(payment.RequestCreate{Amount: 1_550_000})
	w.Pay(1, "1", short.Code)
	w.Pay(1, "2", paid.Code)
	whole(t, w.Path, time.Now())
	for id, change := range map[int64][2]string{short.ID: {"1", "NULL"}, paid.ID: {"NULL", "1"}} {
		w.Change(`UPDATE payment_requests SET paid_at = `+change[0]+` WHERE id = ?`, id)
		wrongTotals(t, w.Path, "paid payment requests")
		w.Change(`UPDATE payment_requests SET paid_at = `+change[1]+` WHERE id = ?`, id)
	}
	whole(t, w.Path, time.Now())
}

// The rules, the list and the doctor agree on the status of every payment request, and so
// does what a transaction carries of its request.
func TestStatusIsOneRule(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	now := time.Now()
	make := func(amount int64, paid, ended, cancelled bool) int64 {
		r := w.PaymentRequest(payment.RequestCreate{Amount: amount, ExpiresIn: time.Hour})
		if ended {
			w.Change(`UPDATE payment_requests SET expires_at = ? WHERE id = ?`, now.Add(-time.Minute).Unix(), r.ID)
		}
		if paid {
			w.Pay(1, fmt.Sprint("FT", r.ID), r.Code)
		}
		if cancelled {
			_, err := w.Services.Payments.CancelPaymentRequest(t.Context(), 1, r.ID, now)
			must(t, err)
		}
		return r.ID
	}
	want := map[int64]app.PaymentStatus{
		make(1_549_000, true, false, false): app.PaymentPaid, make(1_000_000, true, false, false): app.PaymentOverpaid,
		make(2_000_000, true, false, false): app.PaymentUnderpaid, make(2_000_000, true, false, true): app.PaymentCancelled,
		make(5000, false, false, false): app.PaymentOpen, make(5000, false, true, false): app.PaymentExpired,
		make(5000, false, true, true): app.PaymentCancelled, make(1_549_000, true, true, false): app.PaymentPaidLate,
		make(1_000_000, true, true, false): app.PaymentPaidLate,
	}
	listed := map[int64]app.PaymentStatus{}
	for _, status := range []app.PaymentStatus{
		app.PaymentOpen, app.PaymentUnderpaid, app.PaymentPaid, app.PaymentOverpaid, app.PaymentPaidLate, app.PaymentExpired,
		app.PaymentCancelled,
	} {
		page, err := w.Services.Payments.PaymentRequests(t.Context(), 1,
			payment.Filter{Status: status, Page: app.Page{Number: 1, Size: 100}}, now)
		must(t, err)
		for _, r := range page.Rows {
			listed[r.ID] = status
			if got := r.Status(now); got != status {
				t.Errorf("request %d is %s by the rules and %s in the list", r.ID, got, status)
			}
		}
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Error(diff)
	}
	transactions, err := w.Services.Ledger.Transactions(t.Context(), 1, app.TransactionFilter{Page: app.Page{Number: 1, Size: 100}})
	must(t, err)
	for _, transaction := range transactions.Rows {
		if p := transaction.PaymentRequest; p.Status != want[p.ID] {
			t.Errorf("transaction %d carries %+v, want %s", transaction.ID, p, want[p.ID])
		}
	}
	if n := len(transactions.Rows); n != 6 {
		t.Errorf("%d transactions", n)
	}
	whole(t, w.Path, now) // the doctor counts the paid ones anew
}

// wrongTotals checks that the doctor names these totals as the only ones that are wrong.
func wrongTotals(t *testing.T, path, name string) {
	t.Helper()
	checks, err := sqlitestore.Examine(t.Context(), path, sqlitestore.Examination{Full: true, Now: time.Now()})
	must(t, err)
	i := slices.IndexFunc(checks, func(c upkeep.Check) bool { return c.Name == "totals" })
	if i < 0 || checks[i].Result != upkeep.CheckFailed || !strings.HasSuffix(checks[i].Text.EN, ": "+name) {
		t.Errorf("the doctor finds %+v", checks)
	}
}

// The list of payment requests is counted and summed up from an index, whatever it is
// narrowed by, and a period by the time of creation.
func TestPaymentListReadsAnIndex(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	for _, f := range []payment.Filter{{}, {Status: app.PaymentPaid}, {BankAccountID: h.banks[0].ID},
		{From: h.now, To: h.now.Add(time.Hour)}} {
		f.Page = app.Page{Number: 1, Size: 20}
		_, err := h.service.Payments.PaymentRequests(t.Context(), 1, f, h.now)
		must(t, err)
		queries := h.store.ReadQueries()
		i := slices.IndexFunc(queries, func(q string) bool { return strings.HasPrefix(q, "SELECT count(*), coalesce(sum(r.amount)") })
		plan := fmt.Sprint(peek(t, h.store.Path(), "EXPLAIN QUERY PLAN "+queries[i], make([]any, strings.Count(queries[i], "?"))...))
		want := "USING COVERING INDEX payment_requests_created (account_id=?"
		if !f.From.IsZero() {
			want += " AND created_at>? AND created_at<?"
		}
		if !strings.Contains(plan, want) {
			t.Errorf("%+v: %s", f, plan)
		}
	}
}

// Of a request that gets many small transfers the contents of the last ones are read.
func TestCandidateOfManyTransfers(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	r := w.PaymentRequest(payment.RequestCreate{Amount: app.MaxAmount})
	const transfers = 2 * payment.MaxContents
	for i := range transfers {
		w.Pay(1, fmt.Sprint(i), fmt.Sprint(r.Code, " khach ", i, "."))
	}
	list, err := w.Store.PaymentCandidates(t.Context(), 1, 100)
	must(t, err)
	if len(list) != 1 || list[0].Transfers != transfers || strings.Count(list[0].Contents, "khach") != payment.MaxContents ||
		!strings.Contains(list[0].Contents, fmt.Sprint("khach ", transfers-1, ".")) {
		t.Errorf("the candidates are %+v", list)
	}
}

// However much money is matched, what isn't is found in an index, without a look at the rows
// of what is.
func TestUnmatchedReadsAnIndex(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	r := w.PaymentRequest(payment.RequestCreate{Amount: app.MaxAmount})
	for i := range 9 {
		w.Pay(1, fmt.Sprint(i), []string{r.Code, "x", "y"}[i%3])
	}
	list, total, err := w.Store.UnmatchedTransactions(t.Context(), 1, payment.UnmatchedFilter{Page: app.Page{Number: 2, Size: 4}})
	must(t, err)
	if total != 6 || len(list) != 2 || list[0].ID != 3 || list[1].ID != 2 {
		t.Errorf("of %d: %+v", total, list)
	}
	found := 0
	for _, q := range w.Store.ReadQueries() {
		if !strings.Contains(q, "transactions_unmatched") {
			continue
		}
		found++
		plan := fmt.Sprint(peek(t, w.Path, "EXPLAIN QUERY PLAN "+q, make([]any, strings.Count(q, "?"))...))
		if !strings.Contains(plan, "USING COVERING INDEX transactions_unmatched (account_id=? AND unmatched=? AND occurred_at>?)") ||
			strings.Contains(plan, "SCAN t ") {
			t.Errorf("%s\n%s", q, plan)
		}
	}
	first := slices.IndexFunc(w.Store.ReadQueries(),
		func(q string) bool { return strings.HasPrefix(q, "SELECT coalesce(min(created_at), 0)") })
	if plan := fmt.Sprint(peek(t, w.Path, "EXPLAIN QUERY PLAN "+w.Store.ReadQueries()[max(first, 0)], 1)); !strings.Contains(plan,
		"INDEX payment_requests_created (account_id=?)") {
		t.Errorf("the first request: %s", plan)
	}
	if found != 2 {
		t.Errorf("%d queries ask what is unmatched", found)
	}
}
