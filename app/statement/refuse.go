package statement

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"baoco/app"
)

// kind is what a file is by its first bytes.
type kind int

const (
	kindText kind = iota
	kindZip       // an XLSX file is one
	kindOLE       // a container of old Office programs, or of an encrypted file
	kindHTML      // what some banks name .xls
	kindXML
	kindPDF
	kindEmpty
)

func kindOf(begin []byte) kind {
	if bytes.HasPrefix(begin, []byte("PK\x03\x04")) || bytes.HasPrefix(begin, []byte("PK\x05\x06")) {
		return kindZip
	}
	if bytes.HasPrefix(begin, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")) {
		return kindOLE
	}
	text := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(begin, []byte{0xEF, 0xBB, 0xBF}), " \t\r\n")))
	switch {
	case len(begin) == 0:
		return kindEmpty
	case strings.HasPrefix(text, "%pdf"):
		return kindPDF
	case strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"), strings.HasPrefix(text, "<table"), strings.HasPrefix(text, "<meta"), strings.HasPrefix(text, "<style"):
		return kindHTML
	case strings.HasPrefix(text, "<?xml"):
		return kindXML
	}
	return kindText
}

// refused says why a file isn't read, and what to do.
func refused(file io.ReaderAt, k kind) error {
	var t app.Text
	switch {
	case k == kindEmpty:
		t = app.Text{EN: "The file is empty.", VI: "Tệp rỗng."}
	case k == kindPDF:
		t = app.Text{EN: "This is a PDF file; download the statement from the bank as Excel or CSV.", VI: "Đây là tệp PDF; hãy tải sao kê từ ngân hàng ở dạng Excel hoặc CSV."}
	case k == kindOLE && encrypted(file):
		t = app.Text{EN: "The workbook is protected by a password; remove it (File, Info, Protect Workbook) and save it again.", VI: "Bảng tính có mật khẩu; hãy gỡ mật khẩu (Tệp, Thông tin, Bảo vệ sổ làm việc) rồi lưu lại."}
	case k == kindOLE:
		t = app.Text{EN: "This is a workbook of the old binary format (.xls); open it in Excel or LibreOffice and save it as .xlsx or .csv.", VI: "Đây là bảng tính định dạng nhị phân cũ (.xls); hãy mở bằng Excel hoặc LibreOffice rồi lưu lại thành .xlsx hoặc .csv."}
	default:
		t = app.Text{EN: "This is a web page or XML, whatever its name says; open it in Excel or LibreOffice and save it as .xlsx or .csv.", VI: "Đây là trang web hoặc XML dù tên tệp có đuôi gì; hãy mở bằng Excel hoặc LibreOffice rồi lưu lại thành .xlsx hoặc .csv."}
	}
	return app.Refused(app.CodeValidation, t)
}

// encrypted tells whether an OLE container holds an encrypted workbook, by the
// name of the stream that it is in (MS-OFFCRYPTO 2.3.4.4), in UTF-16.
func encrypted(file io.ReaderAt) bool {
	var name []byte
	for _, c := range []byte("EncryptedPackage") {
		name = append(name, c, 0)
	}
	const size = 1 << 20
	buf := make([]byte, size)
	for at := int64(0); ; at += size - int64(len(name)) {
		n, err := file.ReadAt(buf, at)
		if bytes.Contains(buf[:n], name) {
			return true
		}
		if err != nil {
			return false
		}
	}
}

func noHeader(o Options) error {
	t := app.Text{
		EN: "No header row with a date and an amount (or debit and credit) is in the first 120 lines; say where they are with --map, such as --map date=A --map amount=D.",
		VI: "Không tìm thấy dòng tiêu đề có ngày và số tiền (hoặc nợ và có) trong 120 dòng đầu; hãy chỉ định cột bằng --map, ví dụ --map date=A --map amount=D.",
	}
	if len(o.Map) > 0 {
		t = app.Text{
			EN: "No line of the first 120 has the columns that --map names, with an amount (or debit or credit) among them; headers must be written as in the file, or as letters or numbers of columns.",
			VI: "Không có dòng nào trong 120 dòng đầu có các cột mà --map nêu, trong đó phải có số tiền (hoặc nợ, có); tiêu đề phải viết như trong tệp, hoặc dùng chữ cái hay số thứ tự của cột.",
		}
	}
	return app.Refused(app.CodeValidation, t)
}

func noSheet(book *workbook, o Options) error {
	names := make([]string, len(book.sheets))
	for i, s := range book.sheets {
		names[i] = s.name
	}
	list := strings.Join(names, ", ")
	return app.Refused(app.CodeValidation, app.Text{
		EN: "No sheet is named " + o.Sheet + "; there are: " + list,
		VI: "Không có trang tính tên " + o.Sheet + "; các trang hiện có: " + list,
	})
}

// refusedAt refuses a file for what one of its lines says.
func refusedAt(line int, en, vi string, args ...any) error {
	t := app.Textf(en, vi, args...)
	return app.Refused(app.CodeValidation, app.Text{
		EN: fmt.Sprintf("Line %d: %s. Nothing of the file is imported.", line, t.EN),
		VI: fmt.Sprintf("Dòng %d: %s. Không nhập gì từ tệp này.", line, t.VI),
	})
}

func severalSheets(one, other string) error {
	return app.Refused(app.CodeValidation, app.Textf(
		"The workbook has transactions on several sheets, “%s” and “%s”: name one with --sheet on the command line, or save each to a file of its own.",
		"Bảng tính có giao dịch ở nhiều trang, “%s” và “%s”: hãy chọn một trang bằng --sheet trên dòng lệnh, hoặc lưu mỗi trang thành một tệp riêng.", one, other))
}

func errHeader(line, column int, name string, problem app.Text) error {
	letters := columnName(column)
	return app.Refused(app.CodeValidation, app.Text{
		EN: fmt.Sprintf("Line %d: column %s, “%s”, is not read, since %s. The command line takes other columns with --map, such as --map debit=%s.", line, letters, name, problem.EN, letters),
		VI: fmt.Sprintf("Dòng %d: không đọc cột %s, “%s”, vì %s. Dùng dòng lệnh để chỉ cột khác bằng --map, ví dụ --map debit=%s.", line, letters, name, problem.VI, letters),
	})
}

// damaged says where a file can't be read on.
func damaged(line int, err error) error {
	return &app.Error{
		Code: app.CodeValidation,
		Text: app.Text{
			EN: fmt.Sprintf("The file is damaged at line %d; open it in a spreadsheet program and save it again as .xlsx or .csv.", line),
			VI: fmt.Sprintf("Tệp bị hỏng ở dòng %d; hãy mở bằng phần mềm bảng tính rồi lưu lại thành .xlsx hoặc .csv.", line),
		},
		Err: err,
	}
}
