package statement

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"baoco/app"
)

// notTable refuses a file by its first bytes where it is no text file, and says
// what to do.
func notTable(begin []byte) error {
	text := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(begin[:min(len(begin), 512)], []byte("\xEF\xBB\xBF")), " \t\r\n")))
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
	}
	switch {
	case len(begin) == 0:
		return refused("The file is empty.", "Tệp rỗng.")
	case begins("%pdf"):
		return refused("This is a PDF file; download the statement from the bank as Excel or CSV.",
			"Đây là tệp PDF; hãy tải sao kê từ ngân hàng ở dạng Excel hoặc CSV.")
	case bytes.HasPrefix(begin, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")): // a container of old Office programs, or of an encrypted file
		return refused("This is a workbook of the old binary format (.xls), or it is protected by a password; "+
			"open it in Excel or LibreOffice, remove its password if there is one (File, Info, Protect Workbook), and save it as .xlsx or .csv.",
			"Đây là bảng tính định dạng nhị phân cũ (.xls) hoặc có mật khẩu; hãy mở bằng Excel hoặc LibreOffice, gỡ mật khẩu nếu có (Tệp, Thông "+
				"tin, Bảo vệ sổ làm việc) rồi lưu lại thành .xlsx hoặc .csv.")
	case begins("<?xml", "<!doctype html", "<html", "<table", "<meta", "<style"): // some banks name such a page .xls
		return refused("This is a web page or XML, whatever its name says; open it in Excel or LibreOffice and save it as .xlsx or .csv.",
			"Đây là trang web hoặc XML dù tên tệp có đuôi gì; hãy mở bằng Excel hoặc LibreOffice rồi lưu lại thành .xlsx hoặc .csv.")
	}
	return nil
}

func refused(en, vi string, args ...any) error {
	return app.Refused(app.CodeValidation, app.Textf(en, vi, args...))
}

// withFlag adds to a refusal the flag of the command line that helps. Pages, which
// offer the same as a choice, don't show it.
func withFlag(flag string, refused error) error {
	var e *app.Error
	if errors.As(refused, &e) {
		e.Err = errors.New("such as " + flag)
	}
	return refused
}

func noHeader(o Options) error {
	if len(o.Map) > 0 {
		return refused("No line of the first 120 has the columns that were named, with an amount (or debit or credit) among them; "+
			"headers must be written as in the file, or as letters or numbers of columns.",
			"Không có dòng nào trong 120 dòng đầu có các cột đã chỉ định, trong đó phải có số tiền (hoặc nợ, có); "+
				"tiêu đề phải viết như trong tệp, hoặc dùng chữ cái hay số thứ tự của cột.")
	}
	return withFlag("--map date=A --map amount=D",
		refused("No header row with a date and an amount (or debit and credit) is in the first 120 lines. Choose which columns these are.",
			"Không tìm thấy dòng tiêu đề có ngày và số tiền (hoặc nợ và có) trong 120 dòng đầu. Hãy chọn đó là những cột nào."))
}

func noSheet(book *workbook, o Options) error {
	names := make([]string, len(book.sheets))
	for i, s := range book.sheets {
		names[i] = s.name
	}
	list := strings.Join(names, ", ")
	return refused("No sheet is named %s; there are: %s", "Không có trang tính tên %s; các trang hiện có: %s", o.Sheet, list)
}

// refusedAt refuses a file for what one of its lines says.
var errDelimiter = refused("Two different characters may stand between the columns of this file, such as a comma and a semicolon, so "+
	"amounts could be cut. Save it as XLSX, or give its columns a header row with the names that banks use.",
	"Không rõ các cột của tệp này ngăn nhau bằng dấu nào, dấu phẩy hay dấu chấm phẩy, nên số tiền có thể bị cắt. "+
		"Hãy lưu tệp dạng XLSX, hoặc thêm dòng tiêu đề có tên cột như các ngân hàng vẫn dùng.")

func refusedAt(line int, en, vi string, args ...any) error {
	t := app.Textf(en, vi, args...)
	return app.Refused(app.CodeValidation, app.Text{
		EN: fmt.Sprintf("Line %d: %s. Nothing of the file is imported.", line, t.EN),
		VI: fmt.Sprintf("Dòng %d: %s. Không nhập gì từ tệp này.", line, t.VI),
	})
}

// errDiffers refuses a file that doesn't agree with itself.
func errDiffers(list []Difference) error {
	first := list[0]
	return withFlag("--accept-differences", app.Refused(app.CodeValidation, app.Text{
		EN: fmt.Sprintf("Line %d: %s. Nothing of the file is imported until you accept its differences; there are %d.", first.Line,
			first.Text.EN, len(list)),
		VI: fmt.Sprintf("Dòng %d: %s. Chưa nhập gì cho đến khi bạn chấp nhận các chỗ không khớp; có %d chỗ.", first.Line,
			first.Text.VI, len(list)),
	}))
}

func severalSheets(one, other string) error {
	return withFlag("--sheet NAME",
		refused("The workbook has transactions on several sheets, “%s” and “%s”: choose one, or save each to a file of its own.",
			"Bảng tính có giao dịch ở nhiều trang, “%s” và “%s”: hãy chọn một trang, hoặc lưu mỗi trang thành một tệp riêng.", one, other))
}

// errManyStrings refuses a workbook with more than maxSharedStrings of text.
func errManyStrings() error {
	return refused("The workbook holds too much text to be read as .xlsx (more than 64 MiB); save it as .csv in a spreadsheet "+
		"program and import that file.",
		"Bảng tính chứa quá nhiều văn bản để đọc ở dạng .xlsx (hơn 64 MiB); hãy lưu lại thành .csv bằng phần mềm bảng tính rồi nhập tệp đó.")
}

func errHeader(line, column int, name string, problem app.Text) error {
	letters := columnName(column)
	return withFlag("--map debit="+letters, app.Refused(app.CodeValidation, app.Text{
		EN: fmt.Sprintf("Line %d: column %s, “%s”, is not read, since %s. Choose the columns yourself.", line, letters, name, problem.EN),
		VI: fmt.Sprintf("Dòng %d: không đọc cột %s, “%s”, vì %s. Hãy tự chọn cột.", line, letters, name, problem.VI),
	}))
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
