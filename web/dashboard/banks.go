package dashboard

import (
	"cmp"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/vietqr"
	"baoco/web/wire"
)

func bankPath(id int64) string { return "/banks/" + strconv.FormatInt(id, 10) }

// bankCard is a bank account with its sums and its newest transaction.
type bankCard struct {
	app.BankAccountSummary
	Reason  string           // why it has its status; empty: nothing is wrong
	Last    *app.Transaction // nil: none yet
	Balance *reportedBalance // nil: no provider reported one
}

// reportedBalance is a balance that a provider reported, and how far it can be relied on.
type reportedBalance struct {
	app.Balance
	ReportedBy string // name of the provider
	DateOnly   bool   // only its day is known
	Outdated   bool   // there are newer transactions, which came without a balance
}

// period is the money in and out of a named period.
type period struct {
	Name app.Text
	app.Flow
}

// Flows are the sums of the card.
func (c bankCard) Flows() []period {
	return []period{
		{app.Text{EN: "Today", VI: "Hôm nay"}, c.Today},
		{app.Text{EN: "This week", VI: "Tuần này"}, c.Week},
		{app.Text{EN: "This month", VI: "Tháng này"}, c.Month},
	}
}

type banksData struct {
	Cards []bankCard
	Plan  app.AccountStatus
	Form  bankForm // shown if there is no bank account yet
}

// Full reports whether the plan allows no other bank account.
func (d banksData) Full() bool { return d.Plan.BankAccounts >= int64(d.Plan.MaxBankAccounts) }

func (s *Server) banksPage(v *visit) error {
	list, err := s.Services.Ledger.BankAccountSummaries(v.Context(), v.account.ID, v.now)
	if err != nil {
		return err
	}
	data := banksData{}
	if data.Plan, err = s.Services.Ledger.AccountStatus(v.Context(), v.account.ID); err != nil {
		return err
	}
	sources, err := s.Services.Inbound.Sources(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	for _, b := range list {
		card, err := s.bankCard(v, b, sources)
		if err != nil {
			return err
		}
		data.Cards = append(data.Cards, card)
	}
	return s.render(v, nil, pageHead{"banks", "banks", app.Text{EN: "Bank accounts", VI: "Tài khoản ngân hàng"}}, data)
}

func (s *Server) bankCard(v *visit, b app.BankAccountSummary, sources []inbound.Source) (bankCard, error) {
	card := bankCard{BankAccountSummary: b, Reason: inbound.BankAccountReason(b.BankAccount, sources).In(v.Lang)}
	last := app.TransactionFilter{BankAccountID: b.ID, Sort: app.SortDateDesc, Page: app.Page{Number: 1, Size: 1},
		From: v.now.AddDate(0, -1, 0)}
	newest, err := s.Services.Ledger.Transactions(v.Context(), v.account.ID, last)
	if err == nil && len(newest.Rows) == 0 {
		last.From = time.Time{}
		newest, err = s.Services.Ledger.Transactions(v.Context(), v.account.ID, last)
	}
	if len(newest.Rows) > 0 {
		card.Last = &newest.Rows[0]
	}
	if card.Balance = s.reportedBalance(v, b.Balance); card.Balance != nil {
		card.Balance.Outdated = card.Last != nil && card.Last.Time.After(b.Balance.At)
	}
	return card, err
}

func (s *Server) reportedBalance(v *visit, b *app.Balance) *reportedBalance {
	if b == nil {
		return nil
	}
	kind, _ := s.Services.Inbound.ProviderKind(b.Provider)
	return &reportedBalance{Balance: *b, ReportedBy: kind.Name, DateOnly: b.At.Equal(app.DayOf(b.At, v.zone).Start(v.zone))}
}

// setBankLook sets the nickname and the colour of a bank account.
func (s *Server) setBankLook(v *visit, b *app.BankAccountSummary) error {
	err := v.unchanged(b.Nickname, b.Colour)
	b.BankAccountLabel = app.BankAccountLabel{Nickname: v.PostFormValue("nickname"), Colour: app.Colour(v.PostFormValue("colour"))}
	if err == nil {
		err = s.Services.Ledger.SetBankAccountLabel(v.Context(), v.account.ID, b.ID, b.BankAccountLabel)
	}
	return s.done(v, err, bankPath(b.ID), app.Text{EN: "Saved.", VI: "Đã lưu."})
}

func (s *Server) setHolder(v *visit, b *app.BankAccountSummary) error {
	err := v.unchanged(b.AccountName)
	b.AccountName = v.PostFormValue("account_name")
	if err == nil {
		_, err = s.Services.Ledger.SetAccountName(v.Context(), v.account.ID, b.ID, b.AccountName)
	}
	return s.done(v, err, bankPath(b.ID), app.Text{EN: "Saved.", VI: "Đã lưu."})
}

// setBankReceiving sets the receiving numbers and the content prefix of a bank account.
func (s *Server) setBankReceiving(v *visit, b *app.BankAccountSummary) error {
	err := v.unchanged(b.ReceivingNumbers, b.ContentPrefix)
	b.BankAccountReceiving = app.BankAccountReceiving{
		ReceivingNumbers: v.PostFormValue("receiving_numbers"), ContentPrefix: v.PostFormValue("content_prefix"),
	}
	if err == nil {
		_, err = s.Services.Ledger.SetBankAccountReceiving(v.Context(), v.account.ID, b.ID, b.BankAccountReceiving)
	}
	return s.done(v, err, bankPath(b.ID), app.Text{EN: "Saved.", VI: "Đã lưu."})
}

// receivingNumbers lists the receiving numbers of bank accounts.
func receivingNumbers(banks []app.BankAccount) (list []app.ReceivingNumber) {
	for _, b := range banks {
		list = append(list, b.Receiving()...)
	}
	return list
}

// numberChoice is the receiving number of a limit, and the numbers that may be chosen.
type numberChoice struct {
	ReceivingNumber string // empty: all
	Numbers         []app.ReceivingNumber
}

// chooseNumber offers the receiving numbers of bank accounts. It also offers the chosen number if
// no bank account has it any longer: the limit stays until somebody lifts it.
func chooseNumber(chosen string, banks []app.BankAccount) numberChoice {
	c := numberChoice{chosen, receivingNumbers(banks)}
	if chosen != "" && !c.entered() {
		c.Numbers = append(c.Numbers, app.ReceivingNumber{Number: chosen})
	}
	return c
}

func (c numberChoice) entered() bool {
	return slices.ContainsFunc(c.Numbers, func(n app.ReceivingNumber) bool { return n.Number == c.ReceivingNumber })
}

// numberText names the receiving number of a limit; empty: there is no limit.
func (w words) numberText(number string, banks []app.BankAccount) string {
	if number == "" {
		return ""
	}
	text := w.T("receiving number", "số nhận tiền") + " " + number
	if !(numberChoice{number, receivingNumbers(banks)}).entered() {
		text += " " + w.T("(no longer entered)", "(đã bị xoá)")
	}
	return text
}

// PlanEnded reports whether the plan has expired: then no bank account can be turned on.
func (v view) PlanEnded() bool { return v.Account.Expired(v.now) }

type bankForm struct {
	Bank, AccountNumber, AccountName string
	Pending                          bool
	Notify                           string
}

// usualBanks are the codes of the banks that most shops use, which are listed first.
var usualBanks = []string{"VCB", "MBB", "TCB", "ACB", "VPB", "BIDV", "CTG", "VBA"}

// otherBankNames are former or other names of banks, by bank code.
var otherBankNames = map[string]string{"LPB": "LienVietPostBank", "MBV": "OceanBank", "VIKKI": "DongABank", "VNCB": "VCBNeo"}

// bankGroup is a part of the list of banks.
type bankGroup struct {
	Title app.Text
	Banks []app.Bank
}

// BankGroups are the banks to choose from, each once. A bank that changed its name has its
// former name in brackets.
func (view) BankGroups() []bankGroup {
	usual := bankGroup{Title: app.Text{EN: "Most used", VI: "Hay dùng"}}
	all := bankGroup{Title: app.Text{EN: "All others", VI: "Các ngân hàng khác"}}
	for _, code := range usualBanks {
		bank, _ := app.FindBank(code)
		usual.Banks = append(usual.Banks, bank)
	}
	for _, bank := range app.Banks() {
		renamed := slices.ContainsFunc(slices.Collect(maps.Keys(otherBankNames)), func(code string) bool {
			return code != bank.Code && bank.Is(code)
		})
		if other := otherBankNames[bank.Code]; other != "" {
			bank.ShortName += " (" + other + ")"
		}
		if !renamed && !slices.Contains(usualBanks, bank.Code) {
			all.Banks = append(all.Banks, bank)
		}
	}
	return []bankGroup{usual, all}
}

var bankStep = guideStep{
	Name: "bank", Title: app.Text{EN: "Bank account", VI: "Tài khoản ngân hàng"}, To: "/banks",
	form: "bank_new", read: (*Server).readBankStep, show: (*Server).showBankStep,
}

func (s *Server) readBankStep(v *visit) (guideProgress, error) {
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	return doneByFirst(banks, err, app.BankAccount.Title)
}

func (s *Server) showBankStep(_ *visit, page view, sent any) (template.HTML, error) {
	form, _ := sent.(bankForm)
	return s.showPart(page, "guide-bank", form)
}

func (s *Server) showNewBank(v *visit, form bankForm, wrong error) error {
	return s.render(v, wrong, pageHead{"bank_new", "banks", app.Text{EN: "Link a bank account", VI: "Liên kết tài khoản ngân hàng"}}, form)
}

func (s *Server) linkBank(v *visit) error {
	form := bankForm{
		Bank: v.PostFormValue("bank"), AccountNumber: v.PostFormValue("account_number"), AccountName: v.PostFormValue("account_name"),
		Pending: v.PostFormValue("pending") == "1", Notify: v.PostFormValue("notify"),
	}
	var bad app.Invalid
	in := inbound.BankAccountLink{Bank: form.Bank, AccountNumber: form.AccountNumber, AccountName: form.AccountName, Pending: form.Pending,
		Notify: inbound.ReadNotifyOnLink(form.Notify, &bad)}
	r, err := inbound.LinkResult{}, bad.Err()
	if err == nil {
		r, err = s.Services.Inbound.LinkBankAccount(v.Context(), v.account.ID, in, v.now)
	}
	if err != nil {
		return s.showNewBank(v, form, err)
	}
	flash := app.Text{EN: "Bank account linked.", VI: "Đã liên kết tài khoản ngân hàng."}
	if r.Recorded > 0 {
		waited := app.Textf(" Waiting transactions recorded: %d. Notifications sent to your shop: %d.",
			" Đã ghi nhận %d giao dịch đang chờ, trong đó có %d thông báo cho cửa hàng.", r.Recorded, r.Deliveries)
		flash = app.Text{EN: flash.EN + waited.EN, VI: flash.VI + waited.VI}
	}
	if r.More {
		flash = app.Text{EN: flash.EN + inbound.RestFollows.EN, VI: flash.VI + inbound.RestFollows.VI}
	}
	return s.redirect(v, v.next(bankPath(r.BankAccount.ID)), flash)
}

// readBankAccountID reads the choice of a bank account in a form; 0: none.
func readBankAccountID(text string, bad *app.Invalid) int64 {
	id, found := wire.ParseID(text)
	if text != "" && !found {
		bad.Merge(app.ErrUnknownBankAccountID)
	}
	return id
}

// chosenBankAccounts reads the bank accounts that were ticked in a form.
func (v *visit) chosenBankAccounts() (ids []int64, _ error) {
	var bad app.Invalid
	for _, text := range v.PostForm["bank_account_id"] {
		ids = append(ids, readBankAccountID(text, &bad))
	}
	return ids, bad.Err()
}

// bankAccount finds a bank account of the list by id. It returns zero if none has the id:
// none was chosen, or the bank account was unlinked.
func bankAccount(list []app.BankAccount, id int64) (found app.BankAccount) {
	if i := slices.IndexFunc(list, func(b app.BankAccount) bool { return b.ID == id }); i >= 0 {
		found = list[i]
	}
	return found
}

func (s *Server) pageBank(v *visit) (app.BankAccountSummary, error) {
	list, err := s.Services.Ledger.BankAccountSummaries(v.Context(), v.account.ID, v.now)
	return named(v, list, err, func(b app.BankAccountSummary) int64 { return b.ID }, app.ErrNoBankAccount)
}

// bankData is the page of a bank account. QR is the address of the VietQR code of Amount and
// Content.
type bankData struct {
	bankCard
	Amount, Content string
	ReceivingNumber string
	Numbers         []app.ReceivingNumber
	QR              string
	Colours         []app.Colour
	Cut             bool // the content is longer than banks carry
}

func (s *Server) showBank(v *visit, b app.BankAccountSummary, refused error) error {
	sources, err := s.Services.Inbound.Sources(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	query := v.URL.Query()
	data := bankData{Colours: app.Colours, Amount: query.Get("amount"), Content: query.Get("content"),
		ReceivingNumber: query.Get("receiving_number"), Numbers: b.Receiving()}
	if data.bankCard, err = s.bankCard(v, b, sources); err != nil {
		return err
	}
	transfer, _, wrong := transferTo(b.BankAccount, query)
	if wrong == nil {
		data.QR = bankPath(b.ID) + "/qr.png?" + query.Encode()
		data.Cut = len(transfer.Content) > vietqr.MaxContent
	}
	return s.render(v, cmp.Or(refused, wrong), pageHead{"bank", "banks", app.Text{EN: b.Title(), VI: b.Title()}}, data)
}

// transferTo returns the transfer of a VietQR code, and the text of the code. With an empty
// amount the payer enters it.
func transferTo(b app.BankAccount, query url.Values) (transfer vietqr.Transfer, text string, err error) {
	var bad app.Invalid
	var n int64
	if amount := query.Get("amount"); strings.TrimSpace(amount) != "" {
		n = app.ReadShortAmountBound("amount", amount, false, &bad)
	}
	to, err := b.PayTo(query.Get("receiving_number"))
	bad.Merge(err)
	transfer, text, err = b.Transfer(n, query.Get("content"), to)
	bad.Merge(err)
	return transfer, text, bad.Err()
}

// bankQR answers with the picture of the VietQR code.
func (s *Server) bankQR(v *visit, b app.BankAccountSummary) error {
	_, text, err := transferTo(b.BankAccount, v.URL.Query())
	if err != nil {
		return err
	}
	code, err := vietqr.Code(text)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "image/png")
	_, _ = v.w.Write(code.PNG())
	return nil
}

// switchBank sets the status that the form names, so that a form that is sent
// twice doesn't switch it back.
func (s *Server) switchBank(v *visit, sum *app.BankAccountSummary) (err error) {
	b := sum.BankAccount
	if on := v.PostFormValue("active") == "1"; on != (b.Status == app.BankAccountActive) && (on || b.Status != app.BankAccountInactive) {
		if b, err = s.Services.Ledger.ToggleBankAccount(v.Context(), v.account.ID, b.ID, v.now); err != nil {
			return err
		}
	}
	flash := app.Text{EN: "Bank account turned on. Your shop is notified of its transactions.",
		VI: "Đã bật tài khoản. Giao dịch của tài khoản sẽ được báo cho cửa hàng."}
	if b.Status == app.BankAccountInactive {
		flash = app.Text{EN: "Bank account turned off. Transactions are recorded, but your shop is not notified.",
			VI: "Đã tắt tài khoản. Giao dịch vẫn được ghi nhận nhưng cửa hàng không được báo."}
	}
	return s.redirect(v, bankPath(b.ID), flash)
}

func (s *Server) bankUnlink(v *visit, b app.BankAccountSummary) confirmation {
	return confirmation{
		Path: bankPath(b.ID) + "/unlink", Back: bankPath(b.ID), section: "banks", to: "/banks",
		Title: v.T("Unlink bank account", "Huỷ liên kết tài khoản ngân hàng"), Button: v.T("Unlink", "Huỷ liên kết"),
		Texts: []string{
			v.T("Transactions kept: ", "Số giao dịch được giữ lại: ") + v.Number(b.All.Count) + ".",
			v.T("New transactions of this account will wait in the inbound log, and your shop will not be notified.",
				"Giao dịch mới của tài khoản này sẽ nằm chờ trong lịch sử nhận và không được báo cho cửa hàng."),
			v.T("Link the account again to restore it and record the transactions that waited.",
				"Khi liên kết lại, tài khoản trở về như cũ và các giao dịch đang chờ được ghi nhận."),
		},
		Word: b.AccountNumber, Prompt: v.T("Type the account number to confirm:", "Nhập số tài khoản để xác nhận:"),
		same: func(typed, number string) bool { return app.NormalizeAccountNumber(typed) == number },
		do:   func() error { return s.Services.Ledger.UnlinkBankAccount(v.Context(), v.account.ID, b.ID, v.now) },
		done: app.Text{EN: "Bank account unlinked. Its transactions are kept.", VI: "Đã huỷ liên kết tài khoản. Các giao dịch vẫn được giữ."},
	}
}
