package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
)

// live has somebody pay about every so often, until ctx is done: customers, and
// at every fourth time the shop. Of what the shop pays the ledger fails the
// first and then every third, so that the history shows retries.
func (d *demo) live(ctx context.Context, every time.Duration) {
	d.trade.order = demoOrder
	for n := 1; ; n++ {
		p := d.trade.customer()
		switch n % 12 {
		case 4:
			p = d.trade.supplier()
			d.receiver.failFirst("/ledger", 2)
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

// pays has SePay tell of the n-th payment.
func (d *demo) pays(p demoPayment, n int) {
	direction := "in"
	if p.direction == app.Out {
		direction = "out"
	}
	bank := demoBanks[p.bank]
	status, answer := d.call(sepayBody(93000+n, bank.gateway, bank.number, direction, p.amount, p.content, fmt.Sprintf("FT25314700%02d", n)), d.source.Secret)
	if status != 200 || answer["recorded"] != 1.0 {
		d.say("SePay's call with %s VND, %s: answered %d, %v", terminal.VND(p.amount), p.content, status, answer)
	}
}
