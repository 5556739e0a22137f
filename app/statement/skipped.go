package statement

import "baoco/app"

// Skip is a kind of lines that are no transactions.
type Skip struct {
	Reason app.Text
	Lines  int64
	First  int // line
}

// Why a line is no transaction.
var (
	skipAccount = app.Text{EN: "names the account", VI: "nêu tài khoản"}
	skipHeader  = app.Text{EN: "header again", VI: "lặp lại tiêu đề"}
	skipSum     = app.Text{EN: "total or balance", VI: "dòng tổng hoặc số dư"}
	skipZero    = app.Text{EN: "the amount is 0", VI: "số tiền bằng 0"}
	skipText    = app.Text{EN: "neither date nor amount", VI: "không có ngày và số tiền"}
	skipDay     = app.Text{EN: "nothing but a date", VI: "chỉ có ngày"}
	skipCharge  = app.Text{
		EN: "fee, tax or interest in a column of its own: not recorded, only the amount of the row is",
		VI: "phí, thuế hoặc lãi ở cột riêng: không ghi nhận, chỉ ghi số tiền của dòng",
	}
)

func (r *Reader) skip(line int, reason app.Text) {
	for i := range r.skips {
		if r.skips[i].Reason == reason {
			r.skips[i].Lines++
			return
		}
	}
	r.skips = append(r.skips, Skip{reason, 1, line})
}

// Skipped lists what lines below the header held something and were no
// transaction, and which columns of transactions aren't recorded.
func (r *Reader) Skipped() []Skip { return r.skips }
