package dashboard

import (
	"cmp"
	"errors"
	"html/template"
	"slices"
	"strings"
	"sync"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/wire"
)

// The guide is one page that leads an owner from the first visit until the shop is notified of
// the first payment. It stores no progress: a step is done when the file has what the step
// makes. The steps and their forms belong to other pages; a hidden field of these forms leads
// back to the guide.

// shownStep is a step on a page.
type shownStep struct {
	guideStep
	guideProgress
	write func(page view) (template.HTML, error)
}

// Content is the HTML of a step that isn't done.
func (step shownStep) Content(page view) (template.HTML, error) { return step.write(page) }

type guideData struct {
	Steps    shownSteps
	Webhooks []guideWebhook
	Newest   *transactionRow // nil: see broughtLast
	Hidden   bool            // the overview doesn't show the steps
}

// shownSteps are the steps of a visitor.
type shownSteps []shownStep

// Done reports whether all steps are done or skipped.
func (l shownSteps) Done() bool {
	return !slices.ContainsFunc(l, func(step shownStep) bool { return step.State != stepDone && step.State != stepSkipped })
}

func (s *Server) guidePage(v *visit) error { return s.showGuide(v, "", nil, nil) }

// showGuide shows the page. wrong is why the form of a step is refused, and sent is the data
// of that form's own page.
func (s *Server) showGuide(v *visit, step string, sent any, wrong error) (err error) {
	data := guideData{Hidden: v.skipped(overviewSteps)}
	if data.Steps, err = s.readSteps(v); err != nil {
		return err
	}
	openStep(data.Steps, cmp.Or(step, v.URL.Query().Get("step")))
	for i := range data.Steps {
		shown := &data.Steps[i]
		var refused any
		if shown.Name == step {
			refused = sent
		}
		shown.write = func(page view) (template.HTML, error) { return shown.show(s, v, page, refused) }
	}
	if data.Webhooks, err = s.guideWebhooks(v); err != nil {
		return err
	}
	if data.Newest, err = s.broughtLast(v); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"guide", "guide", app.Text{EN: "Set up", VI: "Thiết lập"}}, data)
}

// readSteps finds out how far each step of the visitor is.
func (s *Server) readSteps(v *visit) (steps shownSteps, err error) {
	for _, step := range s.steps {
		progress, err := step.read(s, v)
		if err != nil {
			return nil, err
		}
		if progress.State == stepLater && v.skipped(step.Name) {
			progress.State = stepSkipped
		}
		if progress.State != "" {
			steps = append(steps, shownStep{guideStep: step, guideProgress: progress})
		}
	}
	return steps, nil
}

// broughtLast is the newest transaction if it, or a transaction before, came from a source; else
// nil: imported transactions don't show that a source works. An item that waited for its bank
// account counts by the origin of its transaction, since its source doesn't note that.
func (s *Server) broughtLast(v *visit) (*transactionRow, error) {
	newest, _, err := s.transactionRows(v, app.TransactionFilter{Page: app.Page{Number: 1, Size: 1}})
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	origin, err := s.Services.Ledger.TransactionOrigin(v.Context(), v.account.ID, newest[0].ID)
	if err != nil || origin.SourceID != 0 {
		return &newest[0], err
	}
	sources, err := s.Services.Inbound.SourcesHealth(v.Context(), v.account.ID)
	if slices.ContainsFunc(sources, func(src inbound.SourceHealth) bool { return !src.LastTransactionAt.IsZero() }) {
		return &newest[0], err
	}
	return nil, err
}

// openStep opens the wanted step if it isn't done, else the first step that is left.
func openStep(steps shownSteps, wanted string) {
	at := slices.IndexFunc(steps, func(step shownStep) bool { return step.Name == wanted && step.State != stepDone })
	if at < 0 {
		at = slices.IndexFunc(steps, func(step shownStep) bool { return step.State == stepLater })
	}
	if at >= 0 && steps[at].State == stepLater {
		steps[at].State = stepOpen
	}
}

// guideShownUntil is the number of transactions from which on the overview doesn't
// show the guide any more, even if some steps are left.
const guideShownUntil = 20

// stepsOnOverview are the steps that the overview shows to an owner, until all are done or they
// are hidden.
func (s *Server) stepsOnOverview(v *visit) (shownSteps, error) {
	if !v.may(ownerOnly) || v.skipped(overviewSteps) {
		return nil, nil
	}
	sum, err := s.Services.Ledger.Overview(v.Context(), v.account.ID)
	if err != nil || sum.Transactions >= guideShownUntil {
		return nil, err
	}
	steps, err := s.readSteps(v)
	if err != nil || steps.Done() {
		return nil, err
	}
	openStep(steps, "")
	return steps, nil
}

// skipStep skips a step, or hides the steps on the overview, or undoes that.
func (s *Server) skipStep(v *visit) error {
	skip, undo := v.PostFormValue("skip"), v.PostFormValue("undo")
	name := cmp.Or(skip, undo)
	if name != overviewSteps && !slices.ContainsFunc(s.steps, func(step guideStep) bool { return step.Optional && step.Name == name }) {
		return wire.ErrNothingHere()
	}
	names := slices.DeleteFunc(strings.Fields(v.account.GuideSkipped), func(other string) bool { return other == name })
	if skip != "" {
		names = append(names, name)
	}
	skipped := strings.Join(names, " ")
	if _, err := s.Services.Ledger.UpdateAccount(v.Context(), v.account.ID, app.AccountUpdate{GuideSkipped: &skipped}); err != nil {
		return err
	}
	switch {
	case name != overviewSteps && skip != "":
		return s.redirect(v, guidePath, app.Text{})
	case name != overviewSteps:
		return s.redirect(v, v.nextAt(name, guidePath), app.Text{})
	case skip != "":
		return s.redirect(v, "/",
			app.Text{EN: "Hidden here. You find it under Settings: Set up.", VI: "Đã ẩn ở đây. Bạn tìm lại trong Cài đặt: Thiết lập."})
	}
	return s.redirect(v, "/", app.Text{})
}

// testPace bounds the test payments of an account.
var testPace = wire.Pace{Burst: 1, PerMinute: 12}

// testPayment tests what follows when a payment is recorded, and records nothing: the counter
// screens show a test, and active webhooks get a signed sample, at most guideWebhooksShown.
// It waits for the receivers, at most as long as one attempt takes.
func (s *Server) testPayment(v *visit) error {
	if _, _, may := s.testPayments.Take(v.account.ID, testPace, v.now); !may {
		return s.redirect(v, guidePath+"#test",
			app.Text{EN: "A test was sent just now. Wait a few seconds.", VI: "Vừa gửi thử xong. Hãy đợi vài giây."})
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
		return s.redirect(v, guidePath+"#test", app.Text{EN: "Test sent to the open counter screens. No webhook is turned on.",
			VI: "Đã gửi thử đến các màn hình quầy đang mở. Chưa có webhook nào đang bật."})
	}
	return s.redirect(v, guidePath+"#test", app.Textf(
		"Test on its way to the counter screens and to webhooks: %d. Each webhook shows how it went.",
		"Đang gửi thử đến màn hình quầy và %d webhook. Kết quả hiện ở từng webhook.", len(hooks)))
}
