package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"baoco/app/command/terminal"
	"baoco/app/inbound"
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
		d.pays(p, n)
		select {
		case <-ctx.Done():
			return
		case <-time.After(every + rand.N(every/3+1)):
		}
	}
}

// pays calls with the n-th payment, as SePay does.
func (d *demo) pays(p transfer, n int) {
	bank := banks[p.bank]
	status, answer := d.call(sepayBody(93000+n, inbound.Incoming{
		Gateway: bank.gateway, AccountNumber: bank.number, Number: fmt.Sprintf("FT25314700%02d", n),
		Type: p.direction, Amount: p.amount, Content: p.content,
	}), d.source.Secret)
	if status != 200 || answer["recorded"] != 1.0 {
		d.say("SePay's call with %s VND, %s: answered %d, %v", terminal.VND(p.amount), p.content, status, answer)
	}
}
