package statement

import (
	"errors"
	"fmt"
	"strings"

	"baoco/app"
	"baoco/app/sheet"
)

func refused(en, vi string, args ...any) error {
	return app.Refused(app.CodeValidation, app.Textf(en, vi, args...))
}

// withFlag adds to a refusal the flag of the command line that helps. Pages don't show the
// flag, since they offer the same as a choice.
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

func noSheet(file *sheet.File, o Options) error {
	return refused("No sheet is named %s; there are: %s", "Không có trang tính tên %s; các trang hiện có: %s", o.Sheet,
		strings.Join(file.Sheets, ", "))
}

var errDelimiter = refused("Two different characters may stand between the columns of this file, such as a comma and a semicolon, so "+
	"amounts could be cut. Save it as XLSX, or give its columns a header row with the names that banks use.",
	"Không rõ các cột của tệp này ngăn nhau bằng dấu nào, dấu phẩy hay dấu chấm phẩy, nên số tiền có thể bị cắt. "+
		"Hãy lưu tệp dạng XLSX, hoặc thêm dòng tiêu đề có tên cột như các ngân hàng vẫn dùng.")

// refusedAt refuses a file because of one of its lines.
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

func errHeader(line, column int, name string, problem app.Text) error {
	letters := columnName(column)
	return withFlag("--map debit="+letters, app.Refused(app.CodeValidation, app.Text{
		EN: fmt.Sprintf("Line %d: column %s, “%s”, is not read, since %s. Choose the columns yourself.", line, letters, name, problem.EN),
		VI: fmt.Sprintf("Dòng %d: không đọc cột %s, “%s”, vì %s. Hãy tự chọn cột.", line, letters, name, problem.VI),
	}))
}
