package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/fold"
)

// demoBanks are the shop's bank accounts: what a bank is called in baoco and by
// SePay.
var demoBanks = []struct{ code, gateway, number string }{
	{"ACB", "ACB", "19354957"},
	{"VCB", "Vietcombank", "0123499999"},
}

const demoOwner = "CUA HANG HOA SEN"

// demoPayment is one line of the shop's statements.
type demoPayment struct {
	at        time.Time
	bank      int // of demoBanks
	direction app.Direction
	amount    int64
	content   string
}

// demoTrade makes up what a small shop takes and pays. It does so in the same
// way every time: nothing but the days differ.
type demoTrade struct {
	random *rand.Rand
	order  int // number of the latest
}

// demoOrder is the order that the story is about. The past is of some 430.
const demoOrder = 10293

func newDemoTrade() *demoTrade {
	return &demoTrade{random: rand.New(rand.NewPCG(1935, 4957)), order: demoOrder - 450}
}

// busy is how many customers pay by transfer on a day, Sunday first.
var busy = [7]int{9, 4, 5, 5, 6, 8, 11}

// day makes the payments of the day that begins at start, none in order.
func (t *demoTrade) day(start time.Time) (list []demoPayment) {
	for range busy[start.Weekday()] + t.random.IntN(5) - 2 {
		p := t.customer()
		// Before noon, or after work.
		p.at = start.Add(t.between(8*time.Hour, 12*time.Hour))
		if t.random.IntN(5) > 1 {
			p.at = start.Add(t.between(16*time.Hour, 21*time.Hour))
		}
		list = append(list, p)
	}
	for _, p := range t.bills(start) {
		p.at = start.Add(t.between(9*time.Hour, 17*time.Hour))
		list = append(list, p)
	}
	return list
}

func (t *demoTrade) between(from, to time.Duration) time.Duration {
	return from + time.Duration(t.random.IntN(int((to-from)/time.Second)))*time.Second
}

var demoCustomers = []string{
	"Nguyễn Thị Mai", "Trần Văn Hùng", "Lê Thị Hương", "Phạm Minh Đức", "Hoàng Thu Trang", "Vũ Quốc Bảo", "Đặng Thị Ngọc", "Bùi Thanh Tùng",
	"Đỗ Khánh Linh", "Hồ Văn Phúc", "Ngô Thị Yến", "Dương Gia Huy", "Lý Bích Phượng", "Võ Thành Đạt", "Phan Thị Thảo", "Trương Mỹ Duyên",
}

// customer is somebody who pays for an order, in the words that people use.
func (t *demoTrade) customer() demoPayment {
	t.order++
	p := demoPayment{direction: app.In, amount: t.price(), bank: t.random.IntN(5) / 3}
	name, number := t.pick(demoCustomers), t.random.IntN(1e6)
	plain := strings.ToUpper(fold.Letters(name))
	given := name[strings.LastIndex(name, " ")+1:]
	switch t.random.IntN(14) {
	case 0, 1:
		p.content = fmt.Sprintf("DH%d thanh toan don hang", t.order)
	case 2:
		p.content = fmt.Sprintf("Thanh toán đơn hàng DH%d", t.order)
	case 3:
		p.content = fmt.Sprintf("dh%d", t.order)
	case 4, 5:
		p.content = fmt.Sprintf("%s chuyen tien DH%d", plain, t.order)
	case 6:
		p.content = name + " chuyển tiền mua hàng"
	case 7, 8:
		p.bank = 1
		p.content = fmt.Sprintf("MBVCB.%d.%06d.DH%d.CT tu 1%09d %s toi %s %s", 10_900_000_000+int64(t.order)*7919, number, t.order, number*31, plain, demoBanks[1].number, demoOwner)
	case 9:
		p.bank = 0
		p.content = fmt.Sprintf("%s CHUYEN TIEN DH%d GD %06d", plain, t.order, number)
	case 10:
		p.content = fmt.Sprintf("MOMO 09%08d DH%d", number*17%1e8, t.order)
	case 11:
		p.content = given + " gửi tiền hàng ạ"
	case 12:
		p.content = fmt.Sprintf("%s dat coc don DH%d", plain, t.order)
	default:
		p.content = fmt.Sprintf("Trả nốt tiền đơn DH%d, cảm ơn shop", t.order-t.random.IntN(9))
	}
	return p
}

// price is what an order costs: mostly a little, now and then a lot.
func (t *demoTrade) price() int64 {
	amount := int64(0)
	switch n := t.random.IntN(100); {
	case n < 55:
		amount = 35_000 + 5_000*t.random.Int64N(40)
	case n < 90:
		amount = 240_000 + 10_000*t.random.Int64N(76)
	case n < 99:
		amount = 1_050_000 + 50_000*t.random.Int64N(50)
	default:
		amount = 4_000_000 + 100_000*t.random.Int64N(90)
	}
	if amount > 35_000 && t.random.IntN(4) == 0 {
		amount -= 1_000 // 99.000
	}
	return amount
}

// supplier is somebody whom the shop pays for its goods.
func (t *demoTrade) supplier() demoPayment {
	return t.bill(1_200_000+50_000*t.random.Int64N(70), "Thanh toan tien hang "+t.pick([]string{"NCC Minh Phat", "cty An Binh", "xuong Thanh Cong"}))
}

// refund gives a customer money back.
func (t *demoTrade) refund() demoPayment {
	return t.bill(50_000+10_000*t.random.Int64N(35), fmt.Sprintf("Hoan tien DH%d", t.order-t.random.IntN(20)))
}

func (t *demoTrade) bill(amount int64, content string) demoPayment {
	return demoPayment{direction: app.Out, amount: amount, content: content, bank: t.random.IntN(2)}
}

// bills are what the shop pays on a day.
func (t *demoTrade) bills(day time.Time) (list []demoPayment) {
	before := day.AddDate(0, 0, -day.Day()) // of last month
	switch day.Weekday() {
	case time.Monday, time.Thursday:
		list = append(list, t.supplier())
	case time.Saturday:
		list = append(list, t.bill(180_000+5_000*t.random.Int64N(100), "GHTK phi van chuyen tuan "+day.Format("02/01")))
	}
	if t.random.IntN(6) == 0 {
		list = append(list, t.refund())
	}
	switch day.Day() {
	case 1:
		list = append(list, t.bill(9_000_000, "Tien thue mat bang thang "+day.Format("1/2006")), t.bill(11_000, "Phi quan ly tai khoan"))
	case 5:
		list = append(list, t.bill(6_500_000, "Luong thang "+before.Format("1/2006")+" Tran Thi Lan"), t.bill(6_200_000, "Luong thang "+before.Format("1/2006")+" Nguyen Van Nam"))
	case 12:
		list = append(list, t.bill(1_000_000+1_370*t.random.Int64N(400), "EVNHCMC tien dien ky "+before.Format("1/2006")))
	}
	return list
}

func (t *demoTrade) pick(list []string) string { return list[t.random.IntN(len(list))] }
