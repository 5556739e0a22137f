package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/fold"
	"baoco/app/inbound"
)

// banks are the shop's bank accounts. gateway is SePay's name of the bank.
var banks = []struct{ code, gateway, number string }{
	{"ACB", "ACB", "19354957"},
	{"VCB", "Vietcombank", "0123499999"},
}

const owner = "CUA HANG HOA SEN"

type transfer struct {
	at        time.Time
	bank      int // index of banks
	direction app.Direction
	amount    int64
	content   string
}

// trade invents the payments of a small shop, in and out. They are the same in each run;
// only the days differ.
type trade struct {
	random   *rand.Rand
	order    int // the number of the latest order
	balances []int64
	past     []transfer // from before the demo
}

const storyOrder = 10293

func newTrade(now time.Time) *trade {
	t := &trade{random: rand.New(rand.NewPCG(1935, 4957)), order: storyOrder - 450, balances: []int64{31_650_000, 24_180_000}}
	t.past = t.days(now.In(vietnam()))
	return t
}

// book adds a transfer to the balance of its bank account, and returns the new balance.
func (t *trade) book(p transfer) int64 {
	if p.direction == app.Out {
		p.amount = -p.amount
	}
	t.balances[p.bank] += p.amount
	return t.balances[p.bank]
}

// incoming returns a transfer of now in the form of a provider.
func (t *trade) incoming(p transfer, number string) inbound.Incoming {
	return inbound.Incoming{Gateway: banks[p.bank].gateway, AccountNumber: banks[p.bank].number, Number: number,
		Type: p.direction, Amount: p.amount, Content: p.content, Balance: t.book(p)}
}

// customersOf is how many customers pay by transfer on a weekday, Sunday first.
var customersOf = [7]int{9, 4, 5, 5, 6, 8, 11}

// day makes the payments of the day that begins at start, unsorted.
func (t *trade) day(start time.Time) (list []transfer) {
	add := func(p transfer) {
		p.at = start.Add(8*time.Hour + time.Duration(t.random.IntN(13*60*60))*time.Second)
		list = append(list, p)
	}
	for range customersOf[start.Weekday()] + t.random.IntN(5) - 2 {
		add(t.customer())
	}
	switch start.Weekday() {
	case time.Monday, time.Thursday:
		add(t.supplier())
	case time.Saturday:
		add(t.refund())
	}
	if start.Day() == 1 {
		add(t.bill(9_000_000, "Tien thue mat bang thang "+start.Format("1/2006")))
	}
	return list
}

var customers = []string{
	"Nguyễn Thị Mai", "Trần Văn Hùng", "Lê Thị Hương", "Phạm Minh Đức", "Hoàng Thu Trang", "Vũ Quốc Bảo", "Đặng Thị Ngọc", "Bùi Thanh Tùng",
	"Đỗ Khánh Linh", "Hồ Văn Phúc", "Ngô Thị Yến", "Dương Gia Huy", "Lý Bích Phượng", "Võ Thành Đạt", "Phan Thị Thảo", "Trương Mỹ Duyên",
}

var contents = []string{
	"DH{order} thanh toan don hang", "Thanh toán đơn hàng DH{order}", "dh{order}", "{plain} chuyen tien DH{order}",
	"{name} chuyển tiền mua hàng",
	"MBVCB.10{number}.DH{order}.CT tu 1{number} {plain} toi {to} " + owner, "{plain} CHUYEN TIEN DH{order} GD {number}",
	"MOMO 09{number} DH{order}",
	"{given} gửi tiền hàng ạ", "{plain} dat coc don DH{order}", "Trả nốt tiền đơn DH{order}, cảm ơn shop",
}

// customer makes the payment of an order: usually a small amount, sometimes a large one.
func (t *trade) customer() transfer {
	t.order++
	name := t.pick(customers)
	words := strings.NewReplacer("{order}", fmt.Sprint(t.order), "{name}", name, "{given}", name[strings.LastIndex(name, " ")+1:],
		"{plain}", strings.ToUpper(fold.Letters(name)), "{number}", fmt.Sprintf("%08d", t.random.IntN(1e8)))
	p := transfer{direction: app.In, bank: t.random.IntN(5) / 3, content: words.Replace(t.pick(contents)),
		amount: 35_000 + 5_000*t.random.Int64N(40)}
	p.content = strings.Replace(p.content, "{to}", banks[p.bank].number, 1)
	if n := t.random.IntN(100); n >= 55 {
		p.amount = 240_000 + 10_000*t.random.Int64N(76)
		if n >= 90 {
			p.amount *= 4
		}
	}
	return p
}

func (t *trade) supplier() transfer {
	return t.bill(1_200_000+50_000*t.random.Int64N(70),
		"Thanh toan tien hang "+t.pick([]string{"NCC Minh Phat", "cty An Binh", "xuong Thanh Cong"}))
}

func (t *trade) refund() transfer {
	return t.bill(50_000+10_000*t.random.Int64N(35), fmt.Sprintf("Hoan tien DH%d", t.order-t.random.IntN(20)))
}

func (t *trade) bill(amount int64, content string) transfer {
	return transfer{direction: app.Out, amount: amount, content: content, bank: t.random.IntN(2)}
}

func (t *trade) pick(list []string) string { return list[t.random.IntN(len(list))] }
