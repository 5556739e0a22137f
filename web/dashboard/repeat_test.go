package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// What may be a repeat is seen on the overview, the log and the till, and the owner ends it
// with one tap. A cashier sees only that there is something.
func TestMayBeRepeatIsSettled(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thu", access.RoleCashier)
	w.User(1, "viet", access.RoleDeveloper)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	sepay, native := w.Sepay(), w.Native()
	lan, thu, viet := w.Browser().SignIn("lan"), w.Browser().SignIn("thu"), w.Browser().SignIn("viet")
	lan.Get("/inbound/sources/new?provider=casso").Shows(t, "A transfer that two sources report is recorded once", sepay.Name, native.Name)
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "1", Content: "ANH BA TRA TIEN BAN"})
	for i, repeat := range []string{"1", "0"} {
		w.Names(webtest.Counts{MayRepeat: 1}, native, apptest.Transfer{ID: fmt.Sprint("n", i), Content: fmt.Sprint("ban ", i)})
		event := w.NewestEvent().ID
		path := fmt.Sprintf("/inbound/events/%d", event)
		lan.Get("/").Shows(t, "1 received item may be money that is recorded already", "/inbound/events?state=may_be_repeat")
		lan.Get("/inbound/events?state=may_be_repeat").Shows(t, "May be a repeat", path)
		lan.Get("/inbound").Shows(t, "may be money that is recorded already")
		lan.Get("/till").Shows(t, "say which it is")
		thu.Get("/till").Shows(t, "the owner says which it is")
		page := lan.Get(path)
		page.Shows(t, "Same as transaction", "Another transfer: record it", []string{"ANH BA TRA TIEN BAN", "CHI TU TRA TIEN GHE"}[i],
			fmt.Sprintf(`href="/transactions/%d"`, i+1))
		viet.Get(path).WantStatus(t, http.StatusOK)
		viet.Post(path+"/settle", "item_id", fmt.Sprint(w.Items(event)[0].ID), "repeat", repeat).WantStatus(t, http.StatusForbidden)
		lan.Post(path+"/settle", "item_id", fmt.Sprint(w.Items(event)[0].ID)).WantStatus(t, http.StatusUnprocessableEntity)
		lan.Post(path+"/settle", "item_id", fmt.Sprint(w.Items(event)[0].ID), "repeat", repeat).Goes(t, path)
		if e := w.Event(event); e.Open != 0 || e.Recorded != i || e.Duplicates != 1-i {
			t.Errorf("settled as %+v", e)
		}
		lan.Post(path+"/settle", "item_id", fmt.Sprint(w.Items(event)[0].ID), "repeat", repeat).Shows(t, "It may have been decided meanwhile")
		if i == 0 { // the next one may be a repeat of another transaction
			w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "2", Content: "CHI TU TRA TIEN GHE"})
		}
	}
	w.WantTransactions(3)
}

// The page of a transaction says what each report said. The owner makes one that was taken for
// it a transaction of its own, once, and the shop is told.
func TestReportIsParted(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "IN")
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "ke", access.RoleAccountant)
	w.Link("ACB", apptest.SomeAccount)
	sepay, native := w.Sepay(), w.Native()
	first := apptest.Transfer{ID: "1", Content: "ANH BA TRA TIEN BAN"}
	second := apptest.Transfer{ID: "n", Content: "CT DEN ANH BA TRA TIEN BAN"}
	w.Names(webtest.Recorded, sepay, first)
	w.Names(webtest.Duplicate, native, second)
	lan, ke := w.Browser().SignIn("lan"), w.Browser().SignIn("ke")
	lan.Get("/transactions/1").Shows(t, "Also reported by", native.Name, "CT DEN ANH BA TRA TIEN BAN", "Another transfer")
	form := []string{"source_id", fmt.Sprint(native.ID), "channel", "call", "event_id", "n"}
	ke.Post("/transactions/1/part", form...).WantStatus(t, http.StatusForbidden)
	lan.Post("/transactions/1/part", "source_id", "9", "channel", "call", "event_id", "n").WantStatus(t, http.StatusConflict)
	lan.Post("/transactions/1/part", form...).Goes(t, "/transactions/2")
	lan.Post("/transactions/1/part", form...).WantStatus(t, http.StatusConflict)
	if strings.Contains(lan.Get("/transactions/1").Body+lan.Get("/transactions/2").Body, "Also reported by") {
		t.Error("a page names the parted report")
	}
	list := w.WantTransactions(2)
	if list[1].Content != second.Content || list[1].Amount != list[0].Amount || list[1].Type != list[0].Type ||
		!list[1].Time.Equal(list[0].Time) {
		t.Errorf("parted as %+v", list[1])
	}
	// What the two said before, they may say again.
	w.Names(webtest.Duplicate, sepay, first)
	w.Names(webtest.Duplicate, native, second)
	w.WantTransactions(2)
	// Each of the two is one that the other channel hasn't told.
	w.Names(webtest.Duplicate, native, apptest.Transfer{ID: "n1", Content: first.Content})
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "2", Content: second.Content})
	w.WantTransactions(2)
	shop.Waits(w, "/a 1", "/a 2")
	w.Tallies()
}
