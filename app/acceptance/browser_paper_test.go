package acceptance_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/payment"
)

// TestBrowserPaper closes a shift of 40 bills, and prints what a shop prints: on a roll of
// 58 mm, all on one page as long as its lines, and on A4.
func TestBrowserPaper(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort, "--base-url", "http://baoco.shop.vn")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	do(t, dir, "code", "create", "--prefix", "DH", "--min-length", "8")
	createOwner(t, dir)
	admin := (&apptest.World{T: t, Path: filepath.Join(dir, "baoco.db")}).Admin()
	as := app.ActingAs(t.Context(), app.Actor{Way: app.WayDashboard, Name: "lan", At: time.Now()})
	var paths []string // of the payer's pages: paid too much, short, in full, and open
	var codes, open []string
	for i := range 40 {
		amount := int64(50_000 + 1000*i)
		bill, err := admin.Payments.CreatePaymentRequest(as, 1, payment.RequestCreate{Amount: amount, CashierID: 1, ExpiresIn: time.Hour},
			app.IdempotencyKey{}, time.Now())
		must(t, err)
		if i < 4 {
			paths = append(paths, bill.URLPath())
		}
		codes = append(codes, bill.Code)
		pay := func(amount int64, content string) {
			do(t, dir, "transaction", "add", "--amount", strconv.FormatInt(amount, 10), "--content", content)
		}
		switch {
		case i == 0: // three transfers, and too much
			pay(20_000, bill.Code)
			pay(20_000, bill.Code)
			pay(20_000, bill.Code)
		case i == 1:
			open = append(open, bill.Code)
			pay(1000, bill.Code)
		case i == 2: // a content of several lines
			pay(amount, "MBVCB.1093847561."+bill.Code+".CT TU 193822166 HOANG NAM TOI 19354957 NGUYEN VAN A TAI NGAN HANG TMCP A CHAU, TIEN HANG")
		case i%2 == 0:
			pay(amount, "CHUYEN TIEN DON "+bill.Code)
		default:
			open = append(open, bill.Code)
			pay(amount, "LE VAN C CHUYEN TIEN MUA HANG TAI QUAY SO 2")
		}
	}
	for range 12 {
		do(t, dir, "transaction", "add", "--amount", "1000", "--content", "TIEN XE")
	}
	figures := []string{"Đã nhận 1.391.000 ₫", "Đơn 40", "Đủ tiền 19", "Thừa 10.000 ₫", "Thiếu 50.000 ₫", "Tiền không có đơn (31) 1.361.000 ₫"}
	closed := slices.Concat(codes, figures, []string{"Tiền mặt đếm được 1.234.000 ₫", "Ghi chú đủ tờ 500"})
	papers := []map[string]any{
		{"path": "/day?paper=58", "roll": true},
		{"path": "/shifts/1?paper=58", "roll": true, "texts": closed},
		{"path": "/till/1/receipt", "roll": true},
		{"path": "/till/2/receipt", "roll": true},
		{"path": "/till/3/receipt", "roll": true},
		{"path": "/day", "pages": 1, "texts": []string{"Sổ ngày", "Tổng cộng"}},
		{"path": "/report?from=2026-10-01&to=2026-10-31", "pages": 2, "texts": []string{"Báo cáo", "Tổng cộng"}},
		{"path": "/shifts/1", "pages": 4, "texts": append(closed, "Còn chờ tiền lúc đóng ca (20)")},
		{"path": "/transactions?type=IN&min=1k", "pages": 1, "texts": []string{`"Bộ lọc đang dùng: "`, "Tiền vào ≥ 1.000 ₫", "tiền vào (54)",
			"In lúc", "Trang 1 / 3"}},
		{"path": "/transactions?type=IN&min=1k&print=1", "pages": 3, "rows": 54,
			"texts": []string{`"Bộ lọc đang dùng: "`, "Tiền vào ≥ 1.000 ₫", "tiền vào (54)"}},
		{"path": "/transactions?print=1", "pages": 3, "rows": 54, "texts": []string{"tiền vào (54)"}},
		{"path": "/payments?print=1", "pages": 2, "rows": 40, "texts": []string{"40 yêu cầu", "còn chờ"}},
		{"path": "/payer?name=LE+VAN+C&print=1", "pages": 2, "rows": 19, "texts": []string{"LE VAN C", "19 giao dịch"}},
	}
	tools.drive(t, "paper.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword, "pay": paths, "papers": papers,
		"open": open, "figures": figures})
}
