package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"baoco/app/command/terminal"
)

// live makes a payment about every so often, until ctx is done. Every fourth
// time the shop pays, else a customer does. The ledger fails at first for a third
// of the shop's payments, so that the history shows retries.
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
