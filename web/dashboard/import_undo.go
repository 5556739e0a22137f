package dashboard

import (
	"strconv"

	"baoco/app"
	"baoco/web/wire"
)

// Taking back an import: what would go is shown, on a page that asks.

// listedImports is how many imports the page of the import shows.
const listedImports = 10

// undoable is the import that a path names, with what would go of it.
func (s *Server) undoable(v *visit) (app.Undoing, error) {
	id, _ := wire.ParseID(v.PathValue("id"))
	return s.Service.Undoable(v.Context(), v.account.ID, id, v.now)
}

func (s *Server) undoImportPage(v *visit) error {
	u, err := s.undoable(v)
	if err != nil {
		return err
	}
	w := view{Lang: v.lang, zone: v.zone, now: v.now}
	address := "/transactions/import/" + strconv.FormatInt(u.File.ID, 10) + "/undo"
	texts := []string{w.T("To be removed: ", "Sẽ xoá: ") + w.Sum(app.In, u.In) + ", " + w.Sum(app.Out, u.Out) + "."}
	if !u.First.IsZero() {
		texts = append(texts, w.T("Dated ", "Ngày giao dịch từ ")+w.Date(app.DayOf(u.First, v.zone))+w.T(" to ", " đến ")+w.Date(app.DayOf(u.Last, v.zone))+".")
	}
	if u.ToldCount > 0 {
		texts = append(texts, w.T("They stay because your shop was notified, or may be: ", "Giữ lại vì đã hoặc đang báo cho cửa hàng: ")+w.kept(u.Told, u.ToldCount)+".")
	}
	if u.NamedCount > 0 {
		texts = append(texts, w.T("They stay because a provider or a person reported them too: ", "Giữ lại vì nhà cung cấp hoặc người dùng cũng đã báo: ")+w.kept(u.Named, u.NamedCount)+".")
	}
	return s.ask(v, "transactions", confirmation{
		Title: w.T("Undo the import of “", "Hoàn tác nhập tệp “") + u.File.File + w.T("”?", "”?"), Texts: append(texts, w.T("You can import the file again.", "Bạn có thể nhập lại tệp này.")),
		Action: address, Button: w.T("Undo import", "Hoàn tác"), Back: "/transactions/import",
	})
}

// kept lists transactions that stay.
func (v view) kept(ids []int64, n int64) string {
	text := v.Count(n, "transaction", "transactions", "giao dịch") + " ("
	for i, id := range ids {
		if i > 0 {
			text += ", "
		}
		text += strconv.FormatInt(id, 10)
	}
	if n > int64(len(ids)) {
		text += ", …"
	}
	return text + ")"
}

func (s *Server) undoImport(v *visit) error {
	u, err := s.undoable(v)
	if err == nil {
		err = s.Service.UndoImport(v.Context(), v.account.ID, u.File.ID, v.now)
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/transactions/import", app.Textf("Import of “%s”: transactions removed: %d, kept: %d.", "Hoàn tác nhập tệp “%s”: đã xoá %d giao dịch, giữ lại %d giao dịch.",
		u.File.File, u.In.Count+u.Out.Count, u.ToldCount+u.NamedCount))
}
