package api_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// TestInboundLinkMasked: a masked number is recorded once it is told whose it
// is, and by the same rules for duplicates.
func TestInboundLinkMasked(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	phone := w.Native()
	first := textEvent(w, phone, inbound.Incoming{EventID: "1", Number: "FT1", AccountNumber: "7220xxxx2005"})
	refusesLink(w, first, `{"account_name":"A"}`, 422, app.CodeValidation)
	refusesLink(w, first, `{"account_name":"A","account_number":"72201112006"}`, 422, app.CodeValidation)
	l := linksEvent(w, first, `{"account_name":"A","account_number":"7220 111 2005"}`)
	if !l.Linked || l.Recorded != 1 || l.Deliveries != 1 || l.Open != 0 || l.BankAccount.Bank != "VCB" ||
		l.BankAccount.AccountNumber != "72201112005" || !slices.Equal(l.TransactionIDs, []string{"1"}) {
		t.Errorf("linked as %+v", l)
	}
	// The same transfer as another source names it is known by its number.
	w.Names(webtest.Duplicate, w.Native(), apptest.Transfer{Number: "FT1", Gateway: "VCB", Account: "72201112005",
		Date: app.FormatTime(time.Now(), w.Services.Ledger.Zone())})

	// A second account fits too: whose it is must be told, and is told for this
	// event alone.
	other := w.Link("VCB", "72209992005")
	second := textEvent(w, phone, inbound.Incoming{EventID: "2", Number: "FT2", AccountNumber: "7220xxxx2005", Content: "TIEN DIEN THANG 10"},
		inbound.Incoming{EventID: "3", Number: "FT3", AccountNumber: "7220xxxx2005"},
		inbound.Incoming{EventID: "4", Number: "FT4", AccountNumber: "88xx99"})
	third := textEvent(w, phone, inbound.Incoming{EventID: "5", Number: "FT5", AccountNumber: "7220xxxx2005"})
	online := apptest.Transfer{ID: "x", Number: "FT3", Gateway: "VCB", Account: "72209992005",
		Date: app.FormatTime(time.Now(), w.Services.Ledger.Zone())}
	w.Names(webtest.Recorded, w.Native(), online)
	l = linksEvent(w, second, `{"account_number":"72209992005"}`)
	if l.Linked || l.BankAccount.ID != other.ID || l.Recorded != 1 || l.Duplicates != 1 || l.Open != 1 || l.Waiting != 0 ||
		!slices.Equal(l.TransactionIDs, []string{"3", "2"}) {
		t.Errorf("assigned as %+v", l)
	}
	refusesLink(w, second, `{"account_number":"72209992005"}`, 422, app.CodeValidation)
	if e := w.Event(second); e.Recorded != 1 || e.Duplicates != 1 || e.Unassigned != 1 || e.Open != 1 {
		t.Errorf("the event is %+v", e)
	}
	if e := w.Event(third); e.Unassigned != 1 || e.Open != 1 {
		t.Errorf("another event of the same masked number is %+v", e)
	}
	// Repeated it is a duplicate, as what it became.
	again := textEvent(w, phone, inbound.Incoming{EventID: "2", Number: "FT2", AccountNumber: "7220xxxx2005"})
	if e := w.Event(again); e.Duplicates != 1 || e.Open != 0 {
		t.Errorf("repeated: %+v", e)
	}
	list := w.WantTransactions(3)
	if list[2].BankAccountID != other.ID || list[2].Number != "FT2" {
		t.Errorf("recorded %+v", list)
	}
	shop.Waits(w, "/a 1", "/a 2", "/a 3")
}

// TestInboundMaskedFitsLater: linking the one account that a masked number can
// be records it, as a link by its full number does.
func TestInboundMaskedFitsLater(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	phone := w.Native()
	e := textEvent(w, phone, inbound.Incoming{EventID: "1", AccountNumber: "7220xxxx2005"},
		inbound.Incoming{EventID: "2", AccountNumber: "7220xxxx2006"})
	w.Links("ACB", "72201112005", inbound.NotifyRecent, 0, 0) // another bank
	account := w.Links("VCB", "72201112005", inbound.NotifyRecent, 1, 0)
	if list := w.WantTransactions(1); list[0].BankAccountID != account.ID {
		t.Errorf("recorded %+v", list)
	}
	if e := w.Event(e); e.Recorded != 1 || e.Unassigned != 1 || e.Open != 1 {
		t.Errorf("the event is %+v", e)
	}
}

// TestInboundLinkRecordsWhatWaits: linking one event's account records what had
// been waiting for it in others, and notifies as asked.
func TestInboundLinkRecordsWhatWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		notify     string
		deliveries int
	}{{"", 2}, {`,"notify":"recent"`, 2}, {`,"notify":"all"`, 3}, {`,"notify":"none"`, 0}} {
		w := webtest.NewWorld(t)
		shop := webtest.NewShop(t)
		w.Webhook(shop.URL+"/a", "ALL")
		source := w.Native()
		w.Came(25*time.Hour, source, apptest.Transfer{ID: "1", Number: "FT1"})
		w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "2", Number: "FT2"})
		w.Names(webtest.Unassigned, w.Sepay(), apptest.Transfer{ID: "9", Number: "FT2"}) // the same transfer
		w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "3", Account: "111"})
		w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "4", Number: "FT4"})
		l := linksEvent(w, 2, `{"account_name":"A"`+c.notify+`}`)
		if !l.Linked || l.Recorded != 1 || l.Waiting != 2 || l.Deliveries != c.deliveries {
			t.Errorf("notify %s: %+v", c.notify, l)
		}
		w.WantTransactions(3)
		if n := w.Rows("deliveries"); n != c.deliveries {
			t.Errorf("notify %s: %d deliveries", c.notify, n)
		}
	}
}

// TestInboundLinkWithinPlan: a link needs a plan, an assignment doesn't.
func TestInboundLinkWithinPlan(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx, source := context.Background(), w.Native()
	most, past := 1, time.Now().Add(-time.Hour)
	w.Link("VCB", "555")
	w.Link("VCB", "575")
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "1", Account: "555"}) // of another bank
	_, err := w.Services.Ledger.UpdateAccount(ctx, 1, app.AccountUpdate{MaxBankAccounts: &most})
	apptest.Must(t, err)
	refusesLink(w, 1, `{"account_name":"A"}`, 409, app.CodePlanLimit)
	_, err = w.Services.Ledger.UpdateAccount(ctx, 1, app.AccountUpdate{ExpiresAt: &past})
	apptest.Must(t, err)
	refusesLink(w, 1, `{"account_name":"A"}`, 403, app.CodePlanExpired)
	if e := w.Event(1); e.Open != 1 || e.Unassigned != 1 {
		t.Errorf("after refusals: %+v", e)
	}
	textEvent(w, source, inbound.Incoming{EventID: "2", AccountNumber: "5xx5"})
	if l := linksEvent(w, 2, `{"account_number":"575"}`); l.Linked || l.Recorded != 1 {
		t.Errorf("assigned as %+v", l)
	}
}

// TestInboundLinkNarrowed: a source that is for one bank account records on no
// other, whoever says so.
func TestInboundLinkNarrowed(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	mine := w.Link("VCB", "333")
	w.Link("ACB", "111")
	source, err := w.Services.Inbound.AddSource(context.Background(), 1,
		inbound.SourceAdd{Provider: "native", Name: "narrow", BankAccountID: mine.ID}, time.Now())
	apptest.Must(t, err)
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "1", Account: "111"})
	w.Names(webtest.Unassigned, source, apptest.Transfer{ID: "2", Account: "222"})
	refusesLink(w, 1, `{"account_number":"111"}`, 409, app.CodeConflict)
	refusesLink(w, 2, `{"account_number":"222","account_name":"A"}`, 409, app.CodeConflict)
	refusesLink(w, 2, `{"account_name":"A"}`, 422, app.CodeValidation)
	if banks, err := w.Services.Ledger.BankAccounts(context.Background(), 1); err != nil || len(banks) != 2 {
		t.Errorf("a refused link linked: %+v, %v", banks, err)
	}
	// Its own, which was away for a while, and which the call doesn't name.
	w.Unlinks(mine.ID)
	textEvent(w, source, inbound.Incoming{EventID: "3"})
	l := linksEvent(w, 3, `{"account_name":"A"}`)
	if !l.Linked || l.BankAccount.ID != mine.ID || l.Recorded != 1 {
		t.Errorf("%+v", l)
	}
}

// TestInboundLinkTwice: of many links at once one records and the others are
// told that there is nothing left.
func TestInboundLinkTwice(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	key, source := w.APIKey(access.ScopeFull), w.Native()
	w.Wants(webtest.Counts{Unassigned: 2}, source, apptest.Batch(apptest.Transfer{ID: "1"}.Native(), apptest.Transfer{ID: "2"}.Native()))
	var mu sync.Mutex
	var wg sync.WaitGroup
	statuses := map[int]int{}
	for n := range 12 {
		wg.Go(func() {
			body := `{"account_name":"A"}`
			path := "/api/v1/inbound/1/link"
			switch n % 4 {
			case 2:
				path, body = "/api/v1/inbound/1/retry", ""
			case 3: // the bulk way
				_, err := w.Services.Inbound.LinkBankAccount(context.Background(), 1,
					inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "A"}, time.Now())
				if err != nil && app.CodeOf(err) != app.CodeAlreadyExists {
					t.Error(err)
				}
				return
			}
			a, err := w.Send("POST", path, body, "Authorization", "Bearer "+key)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if n%4 < 2 {
				statuses[a.Status]++
			}
		})
	}
	wg.Wait()
	if statuses[200] > 1 || statuses[200]+statuses[409] != 6 {
		t.Errorf("answers %v", statuses)
	}
	w.WantTransactions(2)
	if e := w.Event(1); e.Recorded != 2 || e.Unassigned != 0 || e.Open != 0 {
		t.Errorf("the event is %+v", e)
	}
	shop.Waits(w, "/a 1", "/a 2")
}

// TestInboundBodies: a body is shown as it came, whatever it is.
func TestInboundBodies(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	source := w.Native()
	for i, body := range []string{"", "{", "\x00\x1b[2J<script>&\u2028 đ\ufffd", "\xef\xbb\xbf{}", "\xff\xfe\x00", "{\"a\":\"\xc3\"}"} {
		w.Sends(source, body)
		var got struct {
			Event struct {
				Body   *string
				Base64 *string `json:"body_base64"`
			}
		}
		w.API("GET", fmt.Sprintf("/api/v1/inbound/%d", i+1), "", 200, &got)
		switch e := got.Event; {
		case (e.Body == nil) == (e.Base64 == nil):
			t.Errorf("%q is shown as %v and %v", body, e.Body, e.Base64)
		case e.Body != nil && *e.Body != body:
			t.Errorf("%q is shown as %q", body, *e.Body)
		case e.Base64 != nil:
			if raw, err := base64.StdEncoding.DecodeString(*e.Base64); err != nil || string(raw) != body {
				t.Errorf("%q is shown as %q, %v", body, raw, err)
			}
		}
	}
}

// TestInboundManyItems: a listing shows the first open items of an event, the
// event alone shows the open ones first.
func TestInboundManyItems(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	source := w.Native()
	const n = inbound.ShownItems + 200
	w.WantsRefusal(source, apptest.Batch(strings.Split(strings.TrimSuffix(strings.Repeat("0,", n), ","), ",")...), 422,
		app.CodeValidation, "transactions[0]")
	type shown struct {
		Open  int
		Items []struct {
			ID       int64
			Position int
			State    inbound.Outcome
		}
	}
	positions := func(s shown) (list []int) {
		for _, i := range s.Items {
			list = append(list, i.Position)
		}
		return list
	}
	var log struct{ Events []shown }
	var one struct{ Event shown }
	for _, position := range []int{0, 2} {
		w.API("GET", "/api/v1/inbound/1", "", 200, &one)
		at := slices.Index(positions(one.Event), position)
		w.API("POST", "/api/v1/inbound/1/discard", fmt.Sprintf(`{"item_id":%d}`, one.Event.Items[at].ID), 200, nil)
	}
	w.API("GET", "/api/v1/inbound", "", 200, &log)
	w.API("GET", "/api/v1/inbound/1", "", 200, &one)
	if e := log.Events[0]; e.Open != n-2 || !cmp.Equal(positions(e), []int{1, 3, 4, 5, 6}) {
		t.Errorf("listed with %d open: %v", e.Open, positions(e))
	}
	if e := one.Event; e.Open != n-2 || len(e.Items) != inbound.ShownItems || !cmp.Equal(positions(e)[:3], []int{1, 3, 4}) {
		t.Errorf("shown with %d open: %d, %v", e.Open, len(e.Items), positions(e)[:5])
	}
	// Once the rest is closed, what was discarded is shown in its place.
	w.API("POST", "/api/v1/inbound/1/discard", "", 200, nil)
	w.API("GET", "/api/v1/inbound/1", "", 200, &one)
	if e := one.Event; e.Open != 0 || len(e.Items) != inbound.ShownItems || positions(e)[2] != 2 ||
		e.Items[2].State != inbound.OutcomeDiscarded {
		t.Errorf("after all were discarded: %+v", e.Items[:3])
	}
}

// TestInboundTenants: the use cases themselves, which the command line comes by
// too, know no event of another account.
func TestInboundTenants(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx, now := context.Background(), time.Now()
	account, err := w.Services.Ledger.CreateAccount(ctx, "another", now)
	apptest.Must(t, err)
	w.Names(webtest.Unassigned, w.Native(), apptest.Transfer{})
	_, shown := w.Services.Inbound.InboundEvent(ctx, account.ID, 1)
	_, link := w.Services.Inbound.LinkInbound(ctx, account.ID, inbound.EventLink{EventID: 1, AccountName: "A"}, now)
	_, retry := w.Services.Inbound.RetryInbound(ctx, account.ID, 1, now)
	_, discard := w.Services.Inbound.DiscardInbound(ctx, account.ID, 1)
	_, item := w.Services.Inbound.DiscardInboundItem(ctx, account.ID, 1, 1)
	for i, err := range []error{shown, link, retry, discard, item} {
		if app.CodeOf(err) != app.CodeNotFound {
			t.Errorf("use case %d: %v", i, err)
		}
	}
	if e := w.Event(1); e.Open != 1 {
		t.Errorf("the event is %+v", e)
	}
}

// linked is the answer to a link.
type linked struct {
	Recorded, Duplicates, Open, Deliveries int
	Waiting                                int      `json:"waiting_recorded"`
	TransactionIDs                         []string `json:"transaction_ids"`
	Linked                                 bool
	BankAccount                            struct {
		ID            int64
		Bank          string
		AccountNumber string `json:"account_number"`
		Status        string
	} `json:"bank_account"`
}

func linksEvent(w *webtest.World, event int64, body string) (l linked) {
	w.T.Helper()
	w.API("POST", fmt.Sprintf("/api/v1/inbound/%d/link", event), body, http.StatusOK, &l)
	return l
}

func refusesLink(w *webtest.World, event int64, body string, status int, code app.Code) {
	w.T.Helper()
	var e struct{ Code app.Code }
	w.API("POST", fmt.Sprintf("/api/v1/inbound/%d/link", event), body, status, &e)
	if e.Code != code {
		w.T.Errorf("link %s is refused as %s, want %s", body, e.Code, code)
	}
}

// textEvent records elements as if the text message of a bank had told them, which
// shows some digits of the account only, and gives their event.
func textEvent(w *webtest.World, s inbound.Source, elements ...inbound.Incoming) int64 {
	w.T.Helper()
	for i := range elements {
		e := &elements[i]
		e.Gateway, e.Masked, e.Type, e.Amount, e.Time = "VCB", true, app.In, 200000, time.Now()
	}
	r, err := w.Services.Inbound.RecordTransactions(context.Background(), inbound.Call{
		AccountID: s.AccountID, Source: s, Channel: app.ChannelCall, Body: []byte("text"), ReceivedAt: time.Now(), Elements: elements,
	})
	apptest.Must(w.T, err)
	return r.EventID
}
