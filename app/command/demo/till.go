package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
	"baoco/app/payment"
)

type request struct {
	amount    int64
	bill      bool // it belongs to the user's shift
	reference string
	age       time.Duration // how long ago it was made
	expires   time.Duration
	paid      int64 // with its code; 0: nothing
}

// takeMoney makes a closed shift, payment requests that are paid, overpaid or expired, and
// two open bills at the till. For one of the bills money has come without its code.
func (d *demo) takeMoney(ctx context.Context) error {
	shift := request{bill: true, age: 10 * time.Minute, expires: payment.BillExpiry}
	for _, b := range [][2]int64{{85_000, 85_000}, {120_000, 120_000}, {150_000, 170_000}} {
		shift.amount, shift.paid = b[0], b[1]
		if _, err := d.ask(ctx, shift); err != nil {
			return err
		}
	}
	if err := d.closeShift(ctx); err != nil {
		return err
	}
	for _, r := range []request{
		{amount: 350_000, reference: "Đơn 1040", age: 2 * time.Hour, expires: time.Hour},
		{amount: 420_000, reference: "Đơn 1041", expires: 24 * time.Hour, paid: 420_000},
		{amount: 500_000, reference: "Đơn 1042", expires: 24 * time.Hour, paid: 550_000},
	} {
		if _, err := d.ask(ctx, r); err != nil {
			return err
		}
	}
	if err := d.matchByHand(ctx); err != nil {
		return err
	}
	for _, amount := range []int64{135_000, 65_000} {
		if _, err := d.ask(ctx, request{amount: amount, bill: true, expires: payment.BillExpiry}); err != nil {
			return err
		}
	}
	d.pays(transfer{direction: app.In, amount: 65_000, content: "LE VAN C chuyen tien"})
	d.narrate("\n7. Taking money: a closed shift, payment requests that are paid, overpaid or expired, and two bills that wait at the till",
		"\n7. Thu tiền: một ca đã đóng, các yêu cầu đủ tiền, thừa tiền hoặc hết hạn, và hai đơn đang chờ ở trang thu tiền")
	return nil
}

func (d *demo) ask(ctx context.Context, r request) (payment.Request, error) {
	in := payment.RequestCreate{Amount: r.amount, BankAccountID: d.banks[0].ID, Reference: r.reference, ExpiresIn: r.expires}
	if r.bill {
		in.CashierID = d.user.ID
	}
	made, err := d.server.Services.Payments.CreatePaymentRequest(ctx, app.DefaultAccountID, in, app.IdempotencyKey{}, time.Now().Add(-r.age))
	if err == nil && r.paid > 0 {
		d.pays(transfer{direction: app.In, amount: r.paid, content: d.trade.pick(payers) + " " + made.Code})
	}
	return made, err
}

var payers = []string{"TRAN VAN HUNG chuyen tien", "PHAM THI MAI", "thanh toan", "MBVCB.1093847561.HOANG NAM"}

func (d *demo) closeShift(ctx context.Context) error {
	payments := d.server.Services.Payments
	shift, _, err := payments.OpenShift(ctx, app.DefaultAccountID, d.user.ID)
	if err != nil {
		return err
	}
	cash := int64(1_240_000)
	return payments.CloseShift(ctx, app.DefaultAccountID, shift.ID,
		payment.ShiftCount{Cash: &cash, Note: "Ca sáng, đã nộp tiền mặt cho chị Hoa"}, time.Now())
}

// matchByHand makes a transfer without the code, and matches it by hand.
func (d *demo) matchByHand(ctx context.Context) error {
	services := d.server.Services
	made, err := d.ask(ctx, request{amount: 240_000, reference: "Đơn 1043", expires: 24 * time.Hour})
	if err != nil {
		return err
	}
	d.pays(transfer{direction: app.In, amount: 240_000, content: "Chị Yến gửi tiền hàng ạ"})
	newest, err := services.Ledger.Transactions(ctx, app.DefaultAccountID, app.TransactionFilter{Page: app.Page{Number: 1, Size: 1}})
	if err != nil {
		return err
	}
	_, err = services.Payments.MatchTransaction(ctx, app.DefaultAccountID, made.ID, newest.Rows[0].ID, time.Now())
	return err
}

// live makes payments, one about every interval, until ctx is done. Every fourth one is
// by the shop, the rest are by customers. The ledger fails at first for a third of the
// shop's payments, so that the history shows retries.
func (d *demo) live(ctx context.Context, every time.Duration) {
	d.trade.order = storyOrder
	for n := 1; ; n++ {
		p := d.trade.customer()
		switch n % 12 {
		case 4:
			p = d.trade.supplier()
			d.receiver.failFirst(ledger, 2)
		case 8:
			p = d.trade.refund()
		case 0:
			p = d.trade.supplier()
		}
		d.pays(p)
		select {
		case <-ctx.Done():
			return
		case <-time.After(every + rand.N(every/3+1)):
		}
	}
}

func (d *demo) pays(p transfer) {
	d.calls++
	status, answer := d.call(sepayBody(93000+d.calls, d.trade.incoming(p, fmt.Sprintf("FT25314700%02d", d.calls))), d.source.Secret)
	if status != 200 || answer["recorded"] != 1.0 {
		d.narrate("SePay's call with %s VND, %s: answered %d, %v", "SePay gọi với %s VND, %s: nhận trả lời %d, %v",
			terminal.VND(p.amount), p.content, status, answer)
	}
}
