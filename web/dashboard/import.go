package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/statement"
)

// A statement file is sent twice. The first time nothing is recorded: the page
// says what would be. The second time it is recorded if it is the same file. The
// server keeps nothing of it in between.

// Bounds of a file that is imported within one request. The command line takes
// larger ones.
const (
	maxStatement     = 32 << 20
	maxStatementRows = 10_000
	maxFormField     = 1 << 10
	uploadTime       = 2 * time.Minute // 32 MiB at 2.2 Mbit/s
)

// importData is the form of an import and the result of reading the file.
type importData struct {
	Banks         []app.BankAccount
	Imports       []app.ImportedFile // the newest
	BankAccountID string
	Notify        bool
	Sum           string // digest of the file and the account that the preview was of; empty: there was none
	File          string // its name
	Found         *statement.Result
	Recorded      bool // true: the result was recorded; false: it is a preview
	Other         bool // the file or the account differs from that of the preview
}

func (s *Server) importPage(v *visit) error {
	return s.showImport(v, importData{}, nil)
}

func (s *Server) showImport(v *visit, data importData, wrong error) (err error) {
	if data.Banks, err = s.Service.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	if data.Imports, err = s.Service.Imports(v.Context(), v.account.ID, app.Page{Number: 1, Size: listedImports}); err != nil {
		return err
	}
	return s.renderForm(v, wrong, "import", "transactions", app.Text{EN: "Import statement", VI: "Nhập sao kê"}, data)
}

// importStatement previews a file, or records it if it is the file of the preview.
func (s *Server) importStatement(v *visit) error {
	upload, err := readUpload(v)
	defer upload.remove()
	data := importData{
		BankAccountID: upload.fields["bank_account_id"], Notify: upload.fields["notify"] == "1", File: app.CleanText(upload.name, 100),
	}
	data.Sum = upload.sum + "-" + data.BankAccountID
	if err == nil {
		data.Recorded = upload.fields["sum"] != "" && upload.fields["sum"] == data.Sum
		data.Other = upload.fields["sum"] != "" && !data.Recorded
		data.Found, err = s.importUpload(v, upload, &data)
	}
	if err != nil {
		data.Recorded, data.Sum = false, ""
	}
	return s.showImport(v, data, err)
}

// upload is a form with a file, which lies in a temporary file of its own.
type upload struct {
	fields          map[string]string
	path, name, sum string
}

func (u upload) remove() {
	if u.path != "" {
		_ = os.Remove(u.path)
	}
}

// readUpload reads the form as it arrives. It needs no more memory than a buffer,
// however large the file is.
func readUpload(v *visit) (u upload, err error) {
	u.fields = map[string]string{}
	control := http.NewResponseController(v.w)
	if err := errors.Join(control.SetReadDeadline(v.now.Add(uploadTime)), control.SetWriteDeadline(v.now.Add(uploadTime+time.Minute))); err != nil {
		return u, err
	}
	parts, err := v.MultipartReader()
	if err != nil {
		return u, app.Refused(app.CodeValidation, app.Text{EN: "Choose a file.", VI: "Hãy chọn một tệp."})
	}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF) && u.path == "":
			return u, app.Refused(app.CodeValidation, app.Text{EN: "Choose a file.", VI: "Hãy chọn một tệp."})
		case errors.Is(err, io.EOF):
			return u, nil
		case err != nil:
			return u, uploadError(err)
		case part.FormName() == "file" && part.FileName() != "" && u.path == "":
			err = u.keep(part)
		case slices.Contains([]string{"bank_account_id", "notify", "sum"}, part.FormName()):
			var value []byte
			value, err = io.ReadAll(io.LimitReader(part, maxFormField))
			u.fields[part.FormName()] = string(value)
		}
		if err != nil {
			return u, uploadError(err)
		}
	}
}

// keep copies the file of a form into a temporary file.
func (u *upload) keep(part *multipart.Part) error {
	file, err := os.CreateTemp("", "baoco-statement-*")
	if err != nil {
		return app.Unavailable(err)
	}
	sum := sha256.New()
	u.path, u.name = file.Name(), part.FileName()
	_, err = io.Copy(io.MultiWriter(file, sum), part)
	u.sum = hex.EncodeToString(sum.Sum(nil))
	return errors.Join(err, file.Close())
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
	return app.Refused(app.CodeValidation, app.Text{EN: "The upload was interrupted. Please try again.", VI: "Tệp chưa được tải lên trọn vẹn. Vui lòng thử lại."})
}

func errStatementTooLarge() error {
	return app.Refused(app.CodePayloadTooLarge, app.Textf(
		"The file is too large to import here (at most %d rows and 32 MiB). Use the command line instead: baoco transaction import FILE",
		"Tệp quá lớn để nhập tại đây (tối đa %d dòng và 32 MiB). Hãy dùng dòng lệnh: baoco transaction import TỆP", maxStatementRows))
}

// importUpload records the rows of the file, or says what would be recorded.
func (s *Server) importUpload(v *visit, u upload, data *importData) (*statement.Result, error) {
	in := statement.Import{
		Path: u.path, Read: statement.Options{Zone: v.zone}, Now: v.now, MaxRows: maxStatementRows,
		Record: app.ImportOptions{AccountID: v.account.ID, File: data.File, Notify: data.Notify, DryRun: !data.Recorded},
		Rejected: func(_ statement.Row, outcome app.Outcome, e app.Incoming) (string, error) {
			return importRejection(outcome, e).In(v.Lang), nil
		},
	}
	var err error
	if in.Record.BankAccountID, err = readBankAccountID(data.BankAccountID); err != nil {
		return nil, err
	}
	result, err := in.Run(v.Context(), s.Service)
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
func importRejection(outcome app.Outcome, e app.Incoming) app.Text {
	switch {
	case outcome == app.OutcomeConflict:
		return app.Text{EN: "This transaction number is already recorded with a different amount, direction or account.", VI: "Mã giao dịch này đã được ghi nhận với số tiền, loại giao dịch hoặc tài khoản khác."}
	case outcome == app.OutcomeUnassigned && e.AccountNumber == "":
		return app.Text{EN: "The row does not name a bank account.", VI: "Dòng này không nêu tài khoản ngân hàng."}
	case outcome == app.OutcomeUnassigned:
		return app.Textf("Bank account %s %s is not linked.", "Tài khoản ngân hàng %s %s chưa liên kết.", e.Gateway, e.AccountNumber)
	}
	name := app.FieldName(e.Fault.Field)
	return app.Text{EN: name.EN + " " + e.Fault.Text.EN + ".", VI: name.VI + " " + e.Fault.Text.VI + "."}
}

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
