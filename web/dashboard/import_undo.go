package dashboard

import (
	"strconv"

	"baoco/app"
)

// The undoing of an import: a page shows what would be removed and asks.

// listedImports is how many imports the page of the import shows.
const listedImports = 10

func (s *Server) undoImport(v *visit) error {
	u, err := s.Service.Undoable(v.Context(), v.account.ID, v.pathID(), v.now)
	if err != nil {
		return err
	}
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
	return s.confirm(v, "transactions", confirmation{
		Path: "/transactions/import/" + strconv.FormatInt(u.File.ID, 10) + "/undo", Back: "/transactions/import",
		Title: v.T("Undo the import of “", "Hoàn tác nhập tệp “") + u.File.File + "”?", Button: v.T("Undo import", "Hoàn tác"),
		Texts: append(texts, v.T("You can import the file again.", "Bạn có thể nhập lại tệp này.")),
		do:    func() error { return s.Service.UndoImport(v.Context(), v.account.ID, u.File.ID, v.now) },
		done: app.Textf("Import of “%s”: transactions removed: %d, kept: %d.", "Hoàn tác nhập tệp “%s”: đã xoá %d giao dịch, giữ lại %d giao dịch.",
			u.File.File, u.In.Count+u.Out.Count, u.ToldCount+u.NamedCount),
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
