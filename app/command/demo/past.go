package demo

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/app/statement"
)

// pastDays is how many days the shop traded before it began with baoco.
const pastDays = 60

// past imports a statement of both bank accounts, like a shop that begins with baoco. No
// webhook gets these transactions.
func (d *demo) past(ctx context.Context) error {
	now, payments := time.Now(), d.trade.past
	path := filepath.Join(filepath.Dir(d.db), "statement.csv")
	if err := writeStatement(path, payments); err != nil {
		return err
	}
	service := d.server.Services
	result, err := statement.Import{
		Path: path, Now: now, Read: statement.Options{Zone: service.Ledger.Zone(), Map: map[string]string{"account": "Số tài khoản"}},
		Record: inbound.ImportOptions{AccountID: app.DefaultAccountID},
		Rejected: func(row statement.Row, outcome inbound.Outcome, _ inbound.Incoming) (string, error) {
			return "", fmt.Errorf("line %d of the statement: %s", row.Line, outcome)
		},
	}.Run(ctx, service.Ledger, service.Inbound)
	if err != nil {
		return err
	}
	if result.Recorded != int64(len(payments)) || result.Deliveries != 0 {
		return terminal.Exit(terminal.ExitCheck, fmt.Errorf("of %d transactions of the statement %d were recorded, with %d deliveries",
			len(payments), result.Recorded, result.Deliveries))
	}
	d.narrate("\n6. Two months of a shop's past: %d transactions imported from a statement, nobody told",
		"\n6. Hai tháng trước đó của cửa hàng: nhập %d giao dịch từ sao kê, không báo cho ai", result.Recorded)
	return nil
}

// days makes the payments of the days up to now, oldest first.
func (t *trade) days(now time.Time) (list []transfer) {
	year, month, day := now.Date()
	for n := pastDays - 1; n >= 0; n-- {
		list = append(list, t.day(time.Date(year, month, day-n, 0, 0, 0, 0, now.Location()))...)
	}
	list = slices.DeleteFunc(list, func(p transfer) bool { return p.at.After(now) })
	slices.SortStableFunc(list, func(a, b transfer) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.content, b.content)) })
	for _, p := range list {
		t.book(p)
	}
	return list
}

func writeStatement(path string, payments []transfer) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	rows := [][]string{{"Ngày giao dịch", "Ngân hàng", "Số tài khoản", "Số giao dịch", "Diễn giải", "Tiền ra", "Tiền vào"}}
	for n, p := range payments {
		bank, out, in := banks[p.bank], "", strconv.FormatInt(p.amount, 10)
		if p.direction == app.Out {
			out, in = in, ""
		}
		rows = append(rows, []string{p.at.Format("02/01/2006 15:04:05"), bank.code, bank.number,
			fmt.Sprintf("FT%s%04d", p.at.Format("060102"), n), p.content, out, in})
	}
	return errors.Join(csv.NewWriter(file).WriteAll(rows), file.Close())
}
