package dashboard

import (
	"strconv"

	"baoco/app"
	"baoco/web/wire"
)

// The undoing of an import: a page shows what would be removed and asks.

// listedImports is how many imports the page of the import shows.
const listedImports = 10

// undoable is the import that the path names, with what would be removed.
func (s *Server) undoable(v *visit) (app.Undoing, error) {
	id, _ := wire.ParseID(v.PathValue("id"))
	return s.Service.Undoable(v.Context(), v.account.ID, id, v.now)
}

func (s *Server) undoImportPage(v *visit) error {
	u, err := s.undoable(v)
	if err != nil {
		return err
	}
	address := "/transactions/import/" + strconv.FormatInt(u.File.ID, 10) + "/undo"
	texts := []string{v.T("To be removed: ", "Sẽ xoá: ") + v.Sum(app.In, u.In) + ", " + v.Sum(app.Out, u.Out) + "."}
	if !u.First.IsZero() {
		texts = append(texts, v.T("Dated ", "Ngày giao dịch từ ")+v.Date(app.DayOf(u.First, v.zone))+v.T(" to ", " đến ")+v.Date(app.DayOf(u.Last, v.zone))+".")
	}
	if u.ToldCount > 0 {
		texts = append(texts, v.T("They stay because your shop was notified, or may be: ", "Giữ lại vì đã hoặc đang báo cho cửa hàng: ")+v.kept(u.Told, u.ToldCount)+".")
	}
	if u.NamedCount > 0 {
		texts = append(texts, v.T("They stay because a provider or a person reported them too: ", "Giữ lại vì nhà cung cấp hoặc người dùng cũng đã báo: ")+v.kept(u.Named, u.NamedCount)+".")
	}
	return s.ask(v, "transactions", confirmation{
		Title: v.T("Undo the import of “", "Hoàn tác nhập tệp “") + u.File.File + v.T("”?", "”?"), Texts: append(texts, v.T("You can import the file again.", "Bạn có thể nhập lại tệp này.")),
		Action: address, Button: v.T("Undo import", "Hoàn tác"), Back: "/transactions/import",
	})
}

// kept lists the transactions that stay.
func (w words) kept(ids []int64, n int64) string {
	text := w.Count(n, "transaction", "transactions", "giao dịch") + " ("
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
