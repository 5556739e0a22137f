package dashboard

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/upkeep"
	"baoco/web/wire"
)

// The guide leads an owner from the first visit to the first payment of which the
// shop is told, on one page. It keeps no progress of its own: a step is done when
// the file holds what it makes. Its forms are those of the other pages; they carry
// a field that leads back here.

const guidePath = "/guide"

// inGuide tells whether an owner is on the guide or sent a form of it.
func (v *visit) inGuide() bool {
	return v.may(ownerOnly) && (v.URL.Path == guidePath || v.PostForm.Get("guide") != "")
}

// next is the page that follows an action: the guide where its form stood there.
func (v *visit) next(page string) string {
	if v.inGuide() {
		return guidePath
	}
	return page
}

// nextAt is next for an action whose result is seen at its step of the guide.
func (v *visit) nextAt(step, page string) string {
	if v.inGuide() {
		return guidePath + "?step=" + step + "#step-" + step
	}
	return page
}

// stepState is how far a step is.
type stepState string

const (
	stepDone    stepState = "done"
	stepWaiting stepState = "waiting" // for somebody else
	stepOpen    stepState = "open"    // it is shown with its form
	stepLater   stepState = "later"
)

// guideStep is one step. Its name is part of its address and of its template.
type guideStep struct {
	Name  string
	Title app.Text
	State stepState
	Made  string // what it made, if it is done
	To    string // the page of that
}

// guideSource is a source that waits for its first call.
type guideSource struct {
	sourceRow
	Steps []string
}

// guideWebhook is a webhook with its last attempt; nil: there was none.
type guideWebhook struct {
	delivery.Webhook
	Last *delivery.Attempt
}

// guideData is the page. The handler of a form that was refused fills in the form
// and names its step.
type guideData struct {
	Steps       []guideStep
	Open        string // name of the step that is shown; empty: all are done
	Bank        bankForm
	Groups      []providerGroup // to choose from
	Source      sourceForm      // empty until a kind is chosen
	Waiting     []guideSource
	Webhook     webhookForm
	Webhooks    []guideWebhook
	Telegram    alertCard
	BackupOnce  string
	BackupCron  string
	Banks       []app.BankAccount
	CounterForm payment.CounterLinkCreate
	Newest      *transactionRow // nil: no source brought any yet
	Hidden      bool            // it isn't shown on the overview
}

// Done tells whether all steps are done.
func (d guideData) Done() bool {
	return !slices.ContainsFunc(d.Steps, func(s guideStep) bool { return s.State != stepDone })
}

func (s *Server) guidePage(v *visit) error { return s.showGuide(v, guideData{}, nil) }

// showGuide completes data and shows the page. wrong is why the form in data is
// refused.
func (s *Server) showGuide(v *visit, data guideData, wrong error) error {
	facts, err := s.readGuide(v)
	if err != nil {
		return err
	}
	data.Steps, data.Banks, data.Hidden = facts.steps, facts.banks, facts.hidden
	data.Open = openStep(data.Steps, cmp.Or(data.Open, v.URL.Query().Get("step")))
	if err := s.fillSources(v, &data, facts.sources); err != nil {
		return err
	}
	data.Bank.Banks = app.Banks()
	data.Webhook.Type = cmp.Or(data.Webhook.Type, string(delivery.WebhookIn))
	if err := s.fillChoices(v, &data.Webhook); err != nil {
		return err
	}
	if data.Webhooks, err = s.guideWebhooks(v, facts.webhooks); err != nil {
		return err
	}
	data.Telegram.Saved = savedChannel(facts.channels, alert.Telegram)
	for _, c := range facts.channels {
		if c.Medium == alert.Telegram && data.Telegram.Channel.Medium == "" {
			data.Telegram.Channel = c
		}
	}
	data.Telegram.Channel.Telegram.Token = ""
	storage, err := s.Services.Upkeep.StorageStatus(v.now)
	if err != nil {
		return err
	}
	data.BackupOnce = backupCommand(s.Installation.Program, storage.Path)
	data.BackupCron = cronLine(data.BackupOnce)
	if data.Newest, err = s.broughtLast(v, facts.sources); err != nil {
		return err
	}
	return s.renderForm(v, wrong, "guide", "guide", app.Text{EN: "Set up", VI: "Thiết lập"}, data)
}

// broughtLast is the newest transaction, once a source has brought one: what was
// imported or entered by hand shows nothing of the way. What waited for its bank account
// is of a source too, which doesn't know that it was recorded.
func (s *Server) broughtLast(v *visit, sources []inbound.SourceHealth) (*transactionRow, error) {
	newest, _, err := s.transactionRows(v, app.TransactionFilter{Page: app.Page{Number: 1, Size: 1}})
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	origin, err := s.Services.Ledger.TransactionOrigin(v.Context(), v.account.ID, newest[0].ID)
	if origin.SourceID != 0 || slices.ContainsFunc(sources, func(src inbound.SourceHealth) bool { return !src.LastTransactionAt.IsZero() }) {
		return &newest[0], err
	}
	return nil, err
}

// openStep opens a step and gives its name: the wanted one, else the first that
// the owner can go on with. A done one isn't opened again.
func openStep(steps []guideStep, wanted string) string {
	at := slices.IndexFunc(steps, func(s guideStep) bool { return s.Name == wanted && s.State != stepDone })
	if at < 0 {
		at = slices.IndexFunc(steps, func(s guideStep) bool { return s.State == stepLater })
	}
	if at < 0 {
		return ""
	}
	if steps[at].State == stepLater {
		steps[at].State = stepOpen
	}
	return steps[at].Name
}

// fillSources fills in the choice of a provider, or the form of the one that is
// chosen, and the sources that wait for their first call.
func (s *Server) fillSources(v *visit, data *guideData, sources []inbound.SourceHealth) error {
	for _, src := range sources {
		kind, _ := s.Services.Inbound.ProviderKind(src.Provider)
		if !hasCalled(src) {
			data.Waiting = append(data.Waiting, guideSource{s.sourceRow(v, src), splitNumbered(kind.Setup(src.Source).In(v.Lang))})
		}
	}
	data.Groups = s.providerGroups()
	if data.Source.Kind.Provider == "" {
		if kind, known := s.Services.Inbound.ProviderKind(app.Provider(v.URL.Query().Get("provider"))); known {
			data.Source = newSourceForm(kind)
		}
	}
	data.Source.Banks = data.Banks
	return nil
}

// guideWebhooksShown is how many webhooks are shown with their last attempt.
const guideWebhooksShown = 10

func (s *Server) guideWebhooks(v *visit, hooks []delivery.Webhook) (list []guideWebhook, err error) {
	for _, hook := range hooks[:min(len(hooks), guideWebhooksShown)] {
		last, _, err := s.Services.Deliveries.History(v.Context(), v.account.ID, delivery.HistoryFilter{WebhookID: hook.ID, Page: app.Page{Number: 1, Size: 1}})
		if err != nil {
			return nil, err
		}
		one := guideWebhook{Webhook: hook}
		if len(last) > 0 {
			one.Last = &last[0]
		}
		list = append(list, one)
	}
	return list, nil
}

// hasCalled tells whether a call of a source was accepted, or its list read.
func hasCalled(src inbound.SourceHealth) bool {
	return !src.LastCallAt.IsZero() || !src.PolledAt.IsZero()
}

// guideFacts is what the file says of the steps.
type guideFacts struct {
	steps    []guideStep
	sum      app.Overview
	banks    []app.BankAccount
	sources  []inbound.SourceHealth
	webhooks []delivery.Webhook
	channels []alert.Channel
	counters []payment.CounterLink
	messages []alert.Message
	backup   upkeep.BackupStatus
	hidden   bool
}

// readGuide reads the facts, each by one query.
func (s *Server) readGuide(v *visit) (f guideFacts, err error) {
	ctx, id := v.Context(), v.account.ID
	for _, read := range []func() error{
		func() (err error) { f.sum, err = s.Services.Ledger.Overview(ctx, id); return err },
		func() (err error) { f.banks, err = s.Services.Ledger.BankAccounts(ctx, id); return err },
		func() (err error) { f.sources, err = s.Services.Inbound.SourcesHealth(ctx, id); return err },
		func() (err error) { f.webhooks, err = s.Services.Deliveries.Webhooks(ctx, id); return err },
		func() (err error) { f.channels, err = s.Services.Alerts.AlertChannels(ctx, id); return err },
		func() (err error) {
			f.messages, err = s.Services.Alerts.AlertMessages(ctx, id, alertMessagesShown)
			return err
		},
		func() (err error) { f.counters, err = s.Services.Payments.CounterLinks(ctx, id); return err },
		func() (err error) { f.backup, err = s.Services.Upkeep.BackupStatus(ctx); return err },
		func() (err error) { f.hidden, err = s.Services.Ledger.GuideHidden(ctx, id); return err },
	} {
		if err := read(); err != nil {
			return f, err
		}
	}
	f.steps = f.list(v)
	return f, nil
}

// list makes the steps of the facts. A step is done by one success, not by an
// attempt.
func (f guideFacts) list(v *visit) []guideStep {
	user := guideStep{Name: "user", Title: app.Text{EN: "User", VI: "Người dùng"}, State: stepDone, Made: v.user.Name, To: "/settings"}
	bank := guideStep{Name: "bank", Title: app.Text{EN: "Bank account", VI: "Tài khoản ngân hàng"}, State: stepLater, To: "/banks"}
	if len(f.banks) > 0 {
		bank.State, bank.Made = stepDone, firstOf(len(f.banks), f.banks[0].Title())
	}
	steps := []guideStep{user, bank, f.source(v), f.webhook(), f.alerts(v)}
	if v.operator() {
		backup := guideStep{Name: "backup", Title: app.Text{EN: "Backup", VI: "Sao lưu"}, State: stepLater, To: "/system#backup"}
		if !f.backup.Last.At.IsZero() {
			backup.State, backup.Made = stepDone, v.When(f.backup.Last.At)
		}
		steps = append(steps, backup)
	}
	counter := guideStep{Name: "counter", Title: app.Text{EN: "Counter screen", VI: "Màn hình quầy"}, State: stepLater, To: "/settings#counters"}
	links := slices.DeleteFunc(slices.Clone(f.counters), func(l payment.CounterLink) bool { return !l.RevokedAt.IsZero() })
	if len(links) > 0 {
		counter.State, counter.Made = stepDone, firstOf(len(links), links[0].Name)
	}
	return append(steps, counter)
}

// firstOf names the first of n things, and says how many there are besides.
func firstOf(n int, first string) string {
	if n > 1 {
		first += " +" + strconv.Itoa(n-1)
	}
	return first
}

// source is done once a call came that was accepted.
func (f guideFacts) source(v *visit) guideStep {
	step := guideStep{Name: "source", Title: app.Text{EN: "Sources", VI: "Nguồn giao dịch"}, State: stepLater, To: "/inbound"}
	if len(f.sources) > 0 {
		step.State = stepWaiting
	}
	for _, src := range f.sources {
		if hasCalled(src) {
			at := src.LastCallAt
			if at.IsZero() {
				at = src.PolledAt
			}
			step.State, step.Made = stepDone, src.Name+", "+v.T("last call ", "lần gọi gần nhất ")+v.When(at)
		}
	}
	return step
}

// webhook is done once an attempt succeeded.
func (f guideFacts) webhook() guideStep {
	step := guideStep{Name: "webhook", Title: app.Text{EN: "Webhook to your shop", VI: "Webhook báo cho cửa hàng"}, State: stepLater, To: "/webhooks"}
	if len(f.webhooks) > 0 && f.sum.WebhooksSent > f.sum.WebhooksErrors {
		step.State, step.Made = stepDone, firstOf(len(f.webhooks), f.webhooks[0].Name)
	}
	return step
}

// alerts is done once a message was sent on a channel that there is.
func (f guideFacts) alerts(v *visit) guideStep {
	step := guideStep{Name: "alerts", Title: app.Text{EN: "Alerts", VI: "Cảnh báo"}, State: stepLater, To: "/settings/alerts"}
	var media []string
	for _, c := range f.channels {
		sent := slices.ContainsFunc(f.messages, func(m alert.Message) bool { return m.Medium == c.Medium && m.Sent && m.Problem == app.Text{} })
		if (sent || !c.SentAt.IsZero()) && c.Failures == 0 {
			media = append(media, c.Medium.Name().In(v.Lang))
		}
	}
	if len(media) > 0 {
		step.State, step.Made = stepDone, strings.Join(media, ", ")
	}
	return step
}

// guideShownUntil is the number of transactions from which on the overview doesn't
// show the guide any more, even if some steps are left.
const guideShownUntil = 20

// overviewSteps are the steps that the overview shows: none for others than owners,
// once all are done, and once they were hidden.
func (s *Server) overviewSteps(v *visit) ([]guideStep, error) {
	if !v.may(ownerOnly) {
		return nil, nil
	}
	f, err := s.readGuide(v)
	if err != nil || f.hidden || f.sum.Transactions >= guideShownUntil || (guideData{Steps: f.steps}).Done() {
		return nil, err
	}
	openStep(f.steps, "")
	return f.steps, nil
}

// hideGuide takes the guide off the overview, or puts it there again.
func (s *Server) hideGuide(v *visit) error {
	hide := v.PostFormValue("hide") == "1"
	if err := s.Services.Ledger.HideGuide(v.Context(), v.account.ID, hide); err != nil {
		return err
	}
	if !hide {
		return s.redirect(v, "/", app.Text{})
	}
	return s.redirect(v, "/", app.Text{EN: "Hidden here. You find it under Settings: Set up.", VI: "Đã ẩn ở đây. Bạn tìm lại trong Cài đặt: Thiết lập."})
}

// testPace bounds the test payments of an account.
var testPace = wire.Pace{Burst: 1, PerMinute: 12}

// testPayment sends a test the whole way after recording, which it doesn't take:
// the counter screens show that it is none, and each active webhook gets its signed
// sample. It waits for the shops, at most as long as one attempt takes.
func (s *Server) testPayment(v *visit) error {
	if _, _, may := s.testPayments.Take(v.account.ID, testPace, v.now); !may {
		return s.redirect(v, guidePath+"#test", app.Text{EN: "A test was sent just now. Wait a few seconds.", VI: "Vừa gửi thử xong. Hãy đợi vài giây."})
	}
	hooks, err := s.Services.Deliveries.Webhooks(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	s.tests.add(v.account.ID)
	s.changes.Wake()
	hooks = slices.DeleteFunc(hooks, func(hook delivery.Webhook) bool { return hook.Sends() != nil })
	hooks = hooks[:min(len(hooks), guideWebhooksShown)]
	faults := make([]error, len(hooks))
	var all sync.WaitGroup
	for i, hook := range hooks {
		all.Go(func() {
			faults[i] = app.Protected(func() error {
				_, err := s.Services.Deliveries.TestWebhook(v.Context(), v.account.ID, hook.ID, v.now)
				return err
			})
		})
	}
	all.Wait()
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if len(hooks) == 0 {
		return s.redirect(v, guidePath+"#test", app.Text{
			EN: "Test sent to the open counter screens. No webhook is turned on.", VI: "Đã gửi thử đến các màn hình quầy đang mở. Chưa có webhook nào đang bật.",
		})
	}
	return s.redirect(v, guidePath+"#test", app.Textf(
		"Test sent to the counter screens and to webhooks: %d.", "Đã gửi thử đến màn hình quầy và webhook: %d.", len(hooks)))
}
