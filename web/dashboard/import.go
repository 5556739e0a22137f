package dashboard

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/statement"
	"baoco/web/wire"
)

// A statement file is sent twice. The first time nothing is recorded: the page shows a
// preview. The second time the file is recorded if it is the same file, read in the same
// way. In between the server holds the file (upload.go), or the visitor chooses it again.

// These bounds are of a file that is imported in one request. The command line takes
// larger files.
const (
	maxStatement     = 32 << 20
	maxStatementRows = 10_000
)

// importData is the form of an import, and the result of reading its file.
type importData struct {
	Banks         []app.BankAccount
	Imports       []inbound.ImportedFile // the newest
	BankAccountID string
	Notify        bool
	Accept        bool   // accept the differences in the file
	Sum           string // digest of the file, and how the preview read it; empty: there was no preview
	Held          string // digest of the file that is held; empty: no file is held
	File          string // the name of the file
	Found         *statement.Result
	Recorded      bool // the result was recorded; false: it is a preview
	Other         bool // the file, or how it is read, differs from the preview

	Preview statement.Preview // of a file whose columns or sheet may be chosen
	Sheet   string            // the chosen sheet; empty: none was chosen
	Columns map[string]string // the fields that were chosen, by the letters of their columns
	Choose  bool              // the file is refused, and other columns may help
}

func (s *Server) showImport(v *visit, data importData, wrong error) (err error) {
	if data.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	if data.Imports, err = s.Services.Inbound.Imports(v.Context(), v.account.ID, app.Page{Number: 1, Size: listedImports}); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"import", "transactions", app.Text{EN: "Import statement", VI: "Nhập sao kê"}}, data)
}

// importStatement previews a file, or records the file of the preview.
func (s *Server) importStatement(v *visit) error {
	end, err := s.held.begin(v.user.ID)
	if err != nil {
		return err
	}
	defer end()
	data, err := s.readImport(v)
	if err != nil && v.Context().Err() != nil { // the browser has disconnected, or the time is over
		return err // nothing more can be read for the form
	}
	return s.showImport(v, data, err)
}

// readImport reads the form and its file. It removes its temporary file.
func (s *Server) readImport(v *visit) (importData, error) {
	upload, err := s.readUpload(v)
	defer upload.remove()
	data := importData{
		BankAccountID: upload.fields["bank_account_id"], Notify: upload.fields["notify"] == "1",
		Accept: upload.fields["accept_differences"] == "1", File: app.CleanText(upload.name, 100),
		Sheet: upload.fields["sheet"], Columns: upload.columns(),
	}
	data.Sum = upload.sum + "-" + data.BankAccountID + data.reading()
	if err == nil {
		data.Recorded = upload.fields["sum"] != "" && upload.fields["sum"] == data.Sum
		data.Other = upload.fields["sum"] != "" && !data.Recorded
		data.Found, err = s.importUpload(v, upload, &data)
		s.keepForLater(v, upload, &data, err)
	}
	if err != nil {
		data.Recorded, data.Sum = false, ""
	}
	return data, err
}

// keepForLater holds a file that isn't recorded yet, and fills in the preview of its columns.
func (s *Server) keepForLater(v *visit, u upload, data *importData, refused error) {
	if data.Recorded && refused == nil {
		s.held.drop(v.user.ID)
		return
	}
	preview, err := statement.Peek(v.Context(), u.path, statement.Options{Sheet: data.Sheet, MaxRows: maxStatementRows})
	if err != nil || len(preview.Lines) == 0 {
		return // it is no table
	}
	if s.held.hold(v.user.ID, u, v.now) {
		data.Held = u.sum
	}
	data.Preview = preview
	e := wire.AsError(refused)
	data.Choose = refused != nil && e.Code == app.CodeValidation && len(e.Fields) == 0
}

// columns are the fields that were chosen, by the letters of their columns.
func (u upload) columns() map[string]string {
	chosen := map[string]string{}
	for name, field := range u.fields {
		if letters, ok := strings.CutPrefix(name, columnPrefix); ok && field != "" {
			chosen[letters] = field
		}
	}
	return chosen
}

// reading is the chosen columns and sheet in one text; empty: none were chosen.
func (d importData) reading() (text string) {
	for _, letters := range slices.Sorted(maps.Keys(d.Columns)) {
		text += "-" + letters + "=" + d.Columns[letters]
	}
	if d.Sheet != "" {
		text += "-" + d.Sheet
	}
	return text
}

// byField has the letters of the chosen columns by their fields, as statement.Options.Map.
func (d importData) byField() (map[string]string, error) {
	byField := map[string]string{}
	for letters, field := range d.Columns {
		if byField[field] != "" {
			return nil, app.Refused(app.CodeValidation, app.Text{EN: "Two columns are chosen for the same thing.",
				VI: "Có hai cột được chọn cho cùng một mục."})
		}
		byField[field] = letters
	}
	return byField, nil
}

// columnNames name the fields of statement.Fields.
var columnNames = map[string]app.Text{
	"date": {EN: "Date (day/month/year)", VI: "Ngày (ngày/tháng/năm)"}, "amount": {EN: "Amount, + in and − out", VI: "Số tiền, + vào và − ra"},
	"credit": {EN: "Money in", VI: "Tiền vào"}, "debit": {EN: "Money out", VI: "Tiền ra"}, "type": {EN: "In or out", VI: "Loại: vào hay ra"},
	"content": {EN: "Content", VI: "Nội dung"}, "number": {EN: "Transaction number", VI: "Mã giao dịch"}, "id": {EN: "ID", VI: "ID"},
	"account": {EN: "Account number", VI: "Số tài khoản"}, "gateway": {EN: "Bank", VI: "Ngân hàng"},
}

// ColumnFields are the fields that a column may hold.
func (importData) ColumnFields() []string { return statement.Fields() }

func (importData) ColumnName(field string, lang app.Lang) string { return columnNames[field].In(lang) }

// Understood names the field that was found in column i, from 0; empty: none that is recorded.
func (d importData) Understood(i int, lang app.Lang) string {
	if d.Found == nil || i >= len(d.Found.Layout.Columns) {
		return ""
	}
	return d.ColumnName(d.Found.Layout.Columns[i], lang)
}

// importUpload records the rows of the file, or previews them.
func (s *Server) importUpload(v *visit, u upload, data *importData) (*statement.Result, error) {
	columns, err := data.byField()
	if err != nil {
		return nil, err
	}
	in := statement.Import{
		Path: u.path, Now: v.now, AcceptDifferences: data.Accept,
		Read:   statement.Options{Zone: v.zone, Map: columns, Sheet: data.Sheet, MaxRows: maxStatementRows},
		Record: inbound.ImportOptions{AccountID: v.account.ID, File: data.File, Notify: data.Notify, DryRun: !data.Recorded},
		Rejected: func(_ statement.Row, outcome inbound.Outcome, e inbound.Incoming) (string, error) {
			return importRejection(outcome, e).In(v.Lang), nil
		},
	}
	var bad app.Invalid
	if in.Record.BankAccountID = readBankAccountID(data.BankAccountID, &bad); bad.Err() != nil {
		return nil, bad.Err()
	}
	result, err := in.Run(v.Context(), s.Services.Ledger, s.Services.Inbound)
	var unclear *statement.UnclearAccountError
	switch {
	case errors.As(err, &unclear):
		return nil, app.InvalidField("bank_account_id", "must be chosen because the file does not name it", "phải được chọn vì tệp không nêu rõ")
	case errors.Is(err, statement.ErrTooManyRows), err != nil && result == nil && v.Context().Err() != nil:
		return nil, errStatementTooLarge()
	case err != nil:
		return nil, err
	}
	return result, nil
}

// importRejection says why a row is not recorded.
func importRejection(outcome inbound.Outcome, e inbound.Incoming) app.Text {
	switch {
	case outcome == inbound.OutcomeConflict:
		return app.Text{EN: "This transaction number is already recorded with a different amount, direction or account.",
			VI: "Mã giao dịch này đã được ghi nhận với số tiền, loại giao dịch hoặc tài khoản khác."}
	case outcome == inbound.OutcomeMayBeRepeat:
		return app.Text{EN: "This may be the same money as a recorded transaction: the inbound log keeps it until you say which.",
			VI: "Có thể trùng với giao dịch đã ghi nhận: lịch sử nhận giữ lại để bạn xác nhận."}
	case outcome == inbound.OutcomeUnassigned && e.AccountNumber == "":
		return app.Text{EN: "The row does not name a bank account.", VI: "Dòng này không nêu tài khoản ngân hàng."}
	case outcome == inbound.OutcomeUnassigned:
		return app.Textf("Bank account %s %s is not linked.", "Tài khoản ngân hàng %s %s chưa liên kết.", e.Gateway, e.AccountNumber)
	}
	name := app.FieldName(e.Fault.Field)
	return app.Text{EN: name.EN + " " + e.Fault.Text.EN + ".", VI: name.VI + " " + e.Fault.Text.VI + "."}
}

// An import can be undone: a page shows what would be removed, and asks.

// listedImports is how many imports the page of the import shows.
const listedImports = 10

// pageImport is the import that the path names, with what an undo would remove.
func (s *Server) pageImport(v *visit) (inbound.Undoing, error) {
	return s.Services.Inbound.Undoable(v.Context(), v.account.ID, v.pathID(), v.now)
}

func (s *Server) importUndo(v *visit, u inbound.Undoing) confirmation {
	texts := []string{v.T("To be removed: ", "Sẽ xoá: ") + v.Sum(app.In, u.In) + ", " + v.Sum(app.Out, u.Out) + "."}
	if !u.First.IsZero() {
		texts = append(texts,
			v.T("Dated ", "Ngày giao dịch từ ")+v.Date(app.DayOf(u.First, v.zone))+v.T(" to ", " đến ")+v.Date(app.DayOf(u.Last, v.zone))+".")
	}
	if u.NotifiedCount > 0 {
		texts = append(texts, v.T("They stay because your shop was notified, or may be: ",
			"Giữ lại vì đã hoặc đang báo cho cửa hàng: ")+v.kept(u.Notified, u.NotifiedCount)+".")
	}
	if u.NamedCount > 0 {
		texts = append(texts, v.T("They stay because a provider, a person or another file reported them too: ",
			"Giữ lại vì nhà cung cấp, người dùng hoặc tệp khác cũng đã báo: ")+v.kept(u.Named, u.NamedCount)+".")
	}
	if u.ClosedCount > 0 {
		texts = append(texts, v.T("They stay because they stand in a closed book: ", "Giữ lại vì thuộc sổ đã chốt: ")+
			v.Count(u.ClosedCount, "transaction", "transactions", "giao dịch")+".")
	}
	return confirmation{
		Path: "/transactions/import/" + strconv.FormatInt(u.File.ID, 10) + "/undo", Back: "/transactions/import", section: "transactions",
		Title: v.T("Undo the import of “", "Hoàn tác nhập tệp “") + u.File.File + "”?", Button: v.T("Undo import", "Hoàn tác"),
		Texts: append(texts, v.T("You can import the file again.", "Bạn có thể nhập lại tệp này.")),
		do:    func() error { return s.Services.Inbound.UndoImport(v.Context(), v.account.ID, u.File.ID, v.now) },
		done: app.Textf("Import of “%s”: transactions removed: %d, kept: %d.",
			"Hoàn tác nhập tệp “%s”: đã xoá %d giao dịch, giữ lại %d giao dịch.",
			u.File.File, u.In.Count+u.Out.Count, u.NotifiedCount+u.NamedCount+u.ClosedCount),
	}
}

// kept names transactions that an undo doesn't remove.
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

// These bounds are of a form with a file.
const (
	maxFormField  = 1 << 10
	maxFormFields = 64
	columnPrefix  = "column-"       // begins the name of a field about a column
	uploadTime    = 2 * time.Minute // 32 MiB at 2.2 Mbit/s
)

func isImportField(name string) bool {
	return slices.Contains([]string{"bank_account_id", "notify", "accept_differences", "sum", "held", "sheet"}, name) ||
		strings.HasPrefix(name, columnPrefix) && len(name) <= len(columnPrefix)+3
}

// readUpload reads the form as it arrives. It needs only the memory of a buffer, however large
// the file is. If no file was chosen, it takes the file that is held.
func (s *Server) readUpload(v *visit) (u upload, err error) {
	u.fields = map[string]string{}
	control := http.NewResponseController(v.w)
	if err := errors.Join(control.SetReadDeadline(v.now.Add(uploadTime)),
		control.SetWriteDeadline(v.now.Add(uploadTime+time.Minute))); err != nil {
		return u, err
	}
	parts, err := v.MultipartReader()
	if err != nil {
		return u, errNoFile
	}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF) && u.path == "":
			return u, u.takeHeld(s.held.find(v.user.ID, u.fields["held"], v.now))
		case errors.Is(err, io.EOF):
			return u, nil
		case err != nil:
			return u, uploadError(err)
		case part.FormName() == "file" && part.FileName() != "" && u.path == "":
			u.name = part.FileName()
			err = u.keep(part)
		case isImportField(part.FormName()) && len(u.fields) < maxFormFields:
			var value []byte
			value, err = io.ReadAll(io.LimitReader(part, maxFormField))
			u.fields[part.FormName()] = string(value)
		}
		if err != nil {
			return u, uploadError(err)
		}
	}
}

func uploadError(err error) error {
	var tooLarge *http.MaxBytesError
	var e *app.Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.As(err, &tooLarge):
		return errStatementTooLarge()
	}
	return app.Refused(app.CodeValidation,
		app.Text{EN: "The upload was interrupted. Please try again.", VI: "Tệp chưa được tải lên trọn vẹn. Vui lòng thử lại."})
}

func errStatementTooLarge() error {
	return app.Refused(app.CodePayloadTooLarge, app.Textf(
		"The file is too large to import here (at most %d rows and 32 MiB). Use the command line instead: baoco transaction import FILE",
		"Tệp quá lớn để nhập tại đây (tối đa %d dòng và 32 MiB). Hãy dùng dòng lệnh: baoco transaction import TỆP", maxStatementRows))
}
