package alert

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/upkeep"
)

// AttentionKind is the kind of an Attention.
type AttentionKind string

// The kinds. Alerts can be about those of Kinds.
const (
	AttentionPlan    AttentionKind = "plan"    // it has expired, or is about to
	AttentionSystem  AttentionKind = "system"  // how the installation was set up; for the operator
	AttentionServer  AttentionKind = "server"  // little room, a certificate that ends, no backup; for the operator
	AttentionWebhook AttentionKind = "webhook" // it doesn't get through
	AttentionStream  AttentionKind = "stream"  // it doesn't get through
	AttentionFailed  AttentionKind = "failed"  // deliveries that aren't tried any more
	AttentionInbound AttentionKind = "inbound" // what came in and wasn't recorded
	AttentionBank    AttentionKind = "bank"    // in error
	AttentionSource  AttentionKind = "source"  // it is silent, or its calls are refused
	AttentionCodes   AttentionKind = "codes"   // those of a pattern are almost used up
	AttentionAlert   AttentionKind = "alert"   // an alert channel doesn't get through
	AttentionMatch   AttentionKind = "match"   // money that a cashier asks an owner to match with a bill
	AttentionRetry   AttentionKind = "retry"   // deliveries that failed so far and are tried again
)

// Attention is one thing that needs somebody.
type Attention struct {
	Kind   AttentionKind
	Key    string   // the same as long as it lasts; no other thing of the account has it
	Name   app.Text // what it is, in a few words that stay true while counts change
	Text   app.Text
	Action app.Text // what to do on the page
	// What else the page depends on; zero where it doesn't apply.
	ID         int64              // of the webhook, stream, bank account, source or transaction
	SecretLost bool               // of the webhook, stream or source
	Refused    string             // the name of the source whose calls are refused
	Since      app.Day            // of AttentionFailed: the day from which deliveries were counted
	State      inbound.Outcome    // of AttentionInbound
	Warning    upkeep.WarningName // of AttentionSystem and AttentionServer
}

// attentionPages are the pages of the kinds; an id follows a slash.
var attentionPages = map[AttentionKind]string{
	AttentionPlan: "/settings", AttentionSystem: "/system", AttentionServer: "/system", AttentionCodes: "/settings/codes",
	AttentionAlert: "/settings/alerts", AttentionFailed: "/deliveries?status=0&from=", AttentionInbound: "/inbound/events?state=",
	AttentionWebhook: "/webhooks/", AttentionRetry: "/webhooks/", AttentionStream: "/streams/", AttentionBank: "/banks/",
	AttentionSource: "/inbound/sources/", AttentionMatch: "/transactions/",
}

// Path is the path, with its query, of the dashboard's page where somebody can settle it.
// Alerts in mailboxes link to it.
func (a Attention) Path() string {
	page, known := attentionPages[a.Kind]
	switch {
	case !known:
		return "/"
	case a.Kind == AttentionFailed:
		return page + a.Since.String()
	case a.Kind == AttentionInbound:
		return page + string(a.State)
	case a.Kind == AttentionSource && a.ID == 0:
		return "/inbound/refused"
	case a.Warning == upkeep.WarningCertificate:
		return page + "#program"
	case a.Warning == upkeep.WarningBackup:
		return page + "#backup"
	case strings.HasSuffix(page, "/"):
		page += strconv.FormatInt(a.ID, 10)
	}
	if a.SecretLost {
		page += "/rotate"
	}
	return page
}

// The limits of Attention.
const (
	// WorryingFailures is how many attempts in a row must fail before a webhook
	// counts as failing, and alerts are sent about it. Fewer may be a restart of the
	// receiver. Test sends aren't counted.
	WorryingFailures = 3
	// CountedUpTo is where counting ends: more needs no exact number.
	CountedUpTo = 100
	// planEndsSoon is how long before the end of a plan its owner gets an alert.
	planEndsSoon = 7 * 24 * time.Hour
	// busyDays is on how many days in a row there must have been transactions
	// before a day without a call is strange.
	busyDays = 7
)

// Attention lists what the owners of an account should look at, worst first.
// Only the operator's account sees what concerns the installation.
func (s *Service) Attention(ctx context.Context, accountID int64, in upkeep.Installation, now time.Time) ([]Attention, error) {
	var list []Attention
	for _, part := range []func(context.Context, int64, time.Time) ([]Attention, error){
		s.matchAttention, s.planAttention,
		func(ctx context.Context, accountID int64, now time.Time) ([]Attention, error) {
			return s.systemAttention(ctx, accountID, in, now)
		},
		s.webhookAttention, s.streamAttention, s.failedAttention, s.inboundAttention, s.bankAttention, s.sourceAttention,
		s.codesAttention, s.alertAttention,
	} {
		more, err := part(ctx, accountID, now)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// matchAttention lists what cashiers ask to match: a customer waits.
func (s *Service) matchAttention(ctx context.Context, accountID int64, now time.Time) (list []Attention, _ error) {
	asked, err := s.rooms.Payments.AskedMatches(ctx, accountID, now)
	for _, a := range asked {
		by := app.Isolated(a.AskedBy)
		en, vi := app.GroupDigits(a.Amount, app.English)+"\u00a0₫", app.GroupDigits(a.Amount, app.Vietnamese)+"\u00a0₫"
		list = append(list, Attention{
			Kind: AttentionMatch, ID: a.TransactionID, Key: fmt.Sprint("match ", a.TransactionID, " ", a.RequestID),
			Name: app.Text{EN: en + " waits to be matched with bill " + a.Code, VI: vi + " đang chờ ghép với đơn " + a.Code},
			Text: app.Text{EN: en + " came without a code. Cashier “" + by + "” asks you to match it with bill " + a.Code + ".",
				VI: vi + " vừa vào, không có mã. Thu ngân “" + by + "” nhờ ghép với đơn " + a.Code + "."},
			Action: app.Text{EN: "Look and match", VI: "Xem và ghép"},
		})
	}
	return list, err
}

func (s *Service) planAttention(ctx context.Context, accountID int64, now time.Time) ([]Attention, error) {
	a, err := s.rooms.Ledger.Account(ctx, accountID)
	if err != nil || a.ExpiresAt.IsZero() {
		return nil, err
	}
	plan := Attention{Kind: AttentionPlan, Key: "plan", Action: app.Text{EN: "View plan", VI: "Xem gói"}}
	switch {
	case a.Expired(now):
		plan.Name = app.Text{EN: "Your plan has expired", VI: "Gói dịch vụ đã hết hạn"}
		plan.Text = app.Text{EN: "Your plan has expired. You can’t link or turn on bank accounts, or add or turn on webhooks and streams.",
			VI: "Gói dịch vụ đã hết hạn. Bạn không thể thêm hay bật tài khoản ngân hàng, webhook và luồng."}
	case a.ExpiresAt.Sub(now) <= planEndsSoon:
		at := app.WriteTime(a.ExpiresAt, s.zone)
		plan.Name = app.Text{EN: "Your plan expires soon", VI: "Gói dịch vụ sắp hết hạn"}
		plan.Text = app.Text{
			EN: "Your plan expires at " + at.EN +
				". Recording and sending continue after that, but you can’t link or turn on bank accounts, or add or turn on webhooks and streams.",
			VI: "Gói dịch vụ sẽ hết hạn lúc " + at.VI +
				". Sau đó giao dịch vẫn được ghi nhận và gửi đi, nhưng bạn không thể thêm hay bật tài khoản ngân hàng, webhook và luồng.",
		}
	default:
		return nil, nil
	}
	return []Attention{plan}, nil
}

// serverAttention are the names of the warnings that are AttentionServer.
var serverAttention = map[upkeep.WarningName]app.Text{
	upkeep.WarningDisk:        {EN: "The disk is almost full", VI: "Ổ đĩa sắp đầy"},
	upkeep.WarningCertificate: {EN: "The HTTPS certificate is not renewed", VI: "Chứng chỉ HTTPS chưa được gia hạn"},
	upkeep.WarningReplica:     {EN: "The replica is not good", VI: "Bản sao ngoài máy có vấn đề"},
	upkeep.WarningClock:       {EN: "The clock of this machine was set", VI: "Đồng hồ của máy này vừa bị chỉnh"},
	upkeep.WarningBackup:      {EN: "There is no recent backup", VI: "Lâu chưa sao lưu"},
}

func (s *Service) systemAttention(ctx context.Context, accountID int64, in upkeep.Installation, now time.Time) (list []Attention, _ error) {
	if accountID != app.DefaultAccountID {
		return nil, nil
	}
	warnings, err := s.rooms.Upkeep.SystemWarnings(ctx, in, now)
	for _, warning := range warnings {
		if !warning.Grave {
			continue
		}
		a := Attention{Kind: AttentionSystem, Key: "system " + string(warning.Name), Text: warning.Text, Name: warning.Text,
			Warning: warning.Name, Action: app.Text{EN: "View system", VI: "Xem hệ thống"}}
		if name, found := serverAttention[warning.Name]; found {
			a.Kind, a.Name = AttentionServer, name
		}
		if warning.Name == upkeep.WarningBackup {
			a.Action = app.Text{EN: "How to back up", VI: "Cách sao lưu"}
		}
		list = append(list, a)
	}
	return list, err
}

// webhookAttention lists the active webhooks that have lost their secret or keep
// failing, and then those with a delivery that failed and is tried again.
func (s *Service) webhookAttention(ctx context.Context, accountID int64, now time.Time) ([]Attention, error) {
	hooks, err := s.rooms.Deliveries.Webhooks(ctx, accountID)
	if err != nil || len(hooks) == 0 {
		return nil, err
	}
	healths, err := s.rooms.Deliveries.WebhookHealths(ctx, accountID, now)
	if err != nil {
		return nil, err
	}
	var list, retries []Attention
	for _, hook := range hooks {
		if !hook.IsActive {
			continue
		}
		id, name, health := strconv.FormatInt(hook.ID, 10), app.Isolated(hook.Name), healths[hook.ID]
		if hook.SecretLost {
			list = append(list, Attention{
				Kind: AttentionWebhook, Key: "secret of webhook " + id,
				Name: app.Textf("Webhook “%s” has lost its secret", "Webhook “%s” đã mất khoá bí mật", name),
				Text: app.Textf("Webhook “%s” has lost its secret, so nothing is sent to your shop. Rotate the secret and waiting deliveries are sent.",
					"Webhook “%s” đã mất khoá bí mật nên không gửi được gì đến cửa hàng. Hãy đổi khoá bí mật, các thông báo đang chờ sẽ được gửi ngay.",
					name),
				ID: hook.ID, SecretLost: true, Action: app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"},
			})
			continue
		}
		if hook.Silent {
			list = append(list, Attention{
				Kind: AttentionWebhook, Key: "silent webhook " + id,
				Name: app.Textf("Webhook “%s” gets nothing", "Webhook “%s” không nhận được gì", name),
				Text: app.Textf("Webhook “%s” gets nothing: what it is limited to is no longer linked or no longer entered.",
					"Webhook “%s” không nhận được gì: tài khoản hoặc số nhận tiền của nó đã bị xoá.", name),
				ID: hook.ID, Action: app.Text{EN: "Edit webhook", VI: "Sửa webhook"},
			})
		}
		failing, err := s.failing(ctx, accountID, health)
		if err != nil {
			return nil, err
		}
		switch {
		case failing:
			list = append(list, Attention{
				Kind: AttentionWebhook, Key: "webhook " + id,
				Name: app.Textf("Webhook “%s” is not reaching your shop", "Webhook “%s” không gửi được", name),
				Text: app.Textf("Webhook “%s” is not reaching your shop: the last %d attempts failed.",
					"Webhook “%s” không gửi được: %d lần gửi gần nhất đều thất bại.", name, health.FailedInRow),
				ID: hook.ID, Action: app.Text{EN: "See why", VI: "Xem lý do"},
			})
		case health.Retrying > 0:
			retries = append(retries, s.retryAttention(hook, health, now))
		}
	}
	return append(list, retries...), nil
}

// failing reports whether WorryingFailures attempts in a row have failed. Test
// sends aren't counted: whoever sends one sees its result.
func (s *Service) failing(ctx context.Context, accountID int64, h delivery.WebhookHealth) (bool, error) {
	if h.FailedInRow < WorryingFailures {
		return false, nil
	}
	// Few are read first: there are hardly ever tests among them.
	for _, size := range []int{WorryingFailures, CountedUpTo} {
		attempts, _, err := s.rooms.Deliveries.History(ctx, accountID,
			delivery.HistoryFilter{WebhookID: h.WebhookID, Page: app.Page{Number: 1, Size: size}})
		if err != nil {
			return false, err
		}
		failed := 0
		if len(attempts) < size {
			failed = max(0, int(h.FailedInRow)-len(attempts)) // these were pruned
		}
		for _, a := range attempts[:min(len(attempts), int(h.FailedInRow))] {
			if a.Delivery.TransactionID != 0 {
				failed++
			}
		}
		if failed >= WorryingFailures {
			return true, nil
		}
	}
	return false, nil
}

// retryAttention says that a webhook has deliveries that failed and are tried
// again. It stands on the overview from the first failure on. There are no alerts
// about it.
func (s *Service) retryAttention(hook delivery.Webhook, h delivery.WebhookHealth, now time.Time) Attention {
	name := app.Isolated(hook.Name)
	text := counted(h.Retrying, "transaction could not be delivered yet", "transactions could not be delivered yet",
		"giao dịch chưa báo được cho cửa hàng")
	if h.Retrying == CountedUpTo {
		text = app.Text{EN: "At least " + text.EN, VI: "Ít nhất " + text.VI}
	}
	next := app.Text{EN: "is being tried again", VI: "đang thử lại"}
	if h.RetryAt.After(now) {
		at := h.RetryAt.In(s.zone).Format("15:04:05")
		next = app.Text{EN: "next attempt at " + at, VI: "thử lại lúc " + at}
	}
	return Attention{
		Kind: AttentionRetry, Key: "retry " + strconv.FormatInt(hook.ID, 10), ID: hook.ID, Action: app.Text{EN: "See why", VI: "Xem lý do"},
		Name: app.Textf("Webhook “%s” is trying again", "Webhook “%s” đang thử lại", name),
		Text: app.Text{EN: "Webhook “" + name + "”: " + text.EN + ", " + next.EN + ".",
			VI: "Webhook “" + name + "”: " + text.VI + ", " + next.VI + "."},
	}
}

// failedAttention counts the deliveries that failed lately and weren't resent.
func (s *Service) failedAttention(ctx context.Context, accountID int64, now time.Time) ([]Attention, error) {
	since := now.Add(-app.Recently)
	failed, more, err := s.rooms.Deliveries.FailedDeliveries(ctx, accountID, delivery.Filter{From: since}, CountedUpTo)
	if err != nil || len(failed) == 0 {
		return nil, err
	}
	text := counted(int64(len(failed)), "delivery failed in the last 24 hours. Your shop has not confirmed the transaction.",
		"deliveries failed in the last 24 hours. Your shop has not confirmed the transactions.",
		"thông báo thất bại trong 24 giờ qua. Cửa hàng chưa xác nhận đã nhận giao dịch.")
	if more {
		text = app.Text{EN: "More than " + text.EN, VI: "Hơn " + text.VI}
	}
	return []Attention{{
		Kind: AttentionFailed, Key: "failed", Text: text,
		Name:  app.Text{EN: "Deliveries failed in the last 24 hours", VI: "Có thông báo thất bại trong 24 giờ qua"},
		Since: app.DayOf(since, s.zone), Action: app.Text{EN: "Review and resend", VI: "Xem và gửi lại"},
	}}, nil
}

// inboundAttention counts the received items that are unassigned, rejected or
// in conflict.
func (s *Service) inboundAttention(ctx context.Context, accountID int64, _ time.Time) (list []Attention, _ error) {
	open, err := s.rooms.Inbound.OpenInbound(ctx, accountID, CountedUpTo)
	if err != nil {
		return nil, err
	}
	for _, o := range []struct {
		n             int64
		one, many, vi string
		state         inbound.Outcome
		name, action  app.Text
	}{
		{open.Unassigned, "transaction is waiting because its bank account is not linked.",
			"transactions are waiting because their bank accounts are not linked.", "giao dịch đang chờ vì tài khoản ngân hàng chưa được liên kết.",
			inbound.OutcomeUnassigned, app.Text{EN: "Transactions are waiting for a bank account", VI: "Có giao dịch của tài khoản chưa liên kết"},
			app.Text{EN: "Link account", VI: "Liên kết tài khoản"}},
		{open.Rejected, "received item could not be read.", "received items could not be read.", "giao dịch nhận được nhưng không đọc được.",
			inbound.OutcomeRejected, app.Text{EN: "Received items could not be read", VI: "Có giao dịch nhận được nhưng không đọc được"},
			app.Text{EN: "See why", VI: "Xem lý do"}},
		{open.Conflicts, "received item conflicts with a recorded transaction.", "received items conflict with recorded transactions.",
			"giao dịch trùng mã nhưng khác số tiền hoặc tài khoản.",
			inbound.OutcomeConflict, app.Text{EN: "Received items conflict with recorded transactions",
				VI: "Có giao dịch trùng mã nhưng khác số tiền hoặc tài khoản"}, app.Text{EN: "Compare", VI: "So sánh"}},
		{open.MayBeRepeats, "received item may be money that is recorded already. Say whether it is the same or another transfer.",
			"received items may be money that is recorded already. Say whether each is the same or another transfer.",
			"giao dịch nhận được có thể trùng với giao dịch đã ghi nhận. Hãy xác nhận trùng hay là lần chuyển khác.",
			inbound.OutcomeMayBeRepeat, app.Text{EN: "Received items may be repeats", VI: "Có giao dịch nhận được chưa rõ có trùng không"},
			app.Text{EN: "Decide", VI: "Xác nhận"}},
	} {
		if o.n == 0 {
			continue
		}
		text := counted(o.n, o.one, o.many, o.vi)
		if o.n == CountedUpTo {
			text = app.Text{EN: "At least " + text.EN, VI: "Ít nhất " + text.VI}
		}
		list = append(list,
			Attention{Kind: AttentionInbound, Key: "inbound " + string(o.state), Name: o.name, Text: text, State: o.state, Action: o.action})
	}
	return list, nil
}

func (s *Service) bankAttention(ctx context.Context, accountID int64, _ time.Time) (list []Attention, _ error) {
	banks, err := s.rooms.Ledger.BankAccounts(ctx, accountID)
	if err != nil {
		return nil, err
	}
	var sources []inbound.Source
	for _, b := range banks {
		if b.Status != app.BankAccountError {
			continue
		}
		if sources == nil {
			if sources, err = s.rooms.Inbound.Sources(ctx, accountID); err != nil {
				return nil, err
			}
		}
		id, name, reason := strconv.FormatInt(b.ID, 10), app.BankShortName(b.Bank)+" "+app.Tail(b.AccountNumber),
			inbound.BankAccountReason(b, sources)
		list = append(list, Attention{
			Kind: AttentionBank, Key: "bank " + id, Name: app.Textf("Bank account %s has an error", "Tài khoản %s có lỗi", name),
			Text: app.Text{EN: name + ": " + reason.EN, VI: name + ": " + reason.VI}, ID: b.ID, Action: app.Text{EN: "View", VI: "Xem"},
		})
	}
	return list, nil
}

// sourceAttention lists the sources that have gone silent, whose calls are
// refused, or that have lost their secret.
func (s *Service) sourceAttention(ctx context.Context, accountID int64, now time.Time) (list []Attention, _ error) {
	sources, err := s.rooms.Inbound.SourcesHealth(ctx, accountID)
	if err != nil {
		return nil, err
	}
	for _, src := range sources {
		id, name, busy := strconv.FormatInt(src.ID, 10), app.Isolated(src.Name), false
		if len(sources) == 1 && src.Silent(true, now) {
			if busy, err = s.busyBefore(ctx, accountID, src.LastCallAt); err != nil {
				return nil, err
			}
		}
		a := Attention{Kind: AttentionSource, ID: src.ID, SecretLost: src.SecretLost, Action: app.Text{EN: "Check", VI: "Kiểm tra"}}
		switch refused := src.LastRefused.ReceivedAt; {
		case src.SecretLost:
			a.Key, a.Name = "secret of source "+id, app.Textf("Source “%s” has lost its secret", "Nguồn “%s” đã mất khoá bí mật", name)
			a.Text = app.Textf("Source “%s” has lost its secret, so its calls are refused and its transactions are not received.",
				"Nguồn “%s” đã mất khoá bí mật nên lần gọi bị từ chối và không nhận được giao dịch.", name)
			a.Action = app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"}
		case refused.Unix() > src.LastCallAt.Unix() && now.Sub(refused) < app.Recently: // a call is kept to the second
			a.Refused = name
			a.Key, a.Name = "refused "+id, app.Textf("Calls to source “%s” are refused", "Lần gọi đến nguồn “%s” bị từ chối", name)
			a.Text = app.Textf("Calls to source “%s” are refused, so its transactions are not received.",
				"Lần gọi đến nguồn “%s” bị từ chối nên không nhận được giao dịch.", name).
				And(src.LastRefused.LikelyCause())
		case src.Silent(busy, now):
			at := app.WriteTime(src.LastCallAt, s.zone)
			a.Key, a.Name = "silent "+id, app.Textf("Source “%s” has gone silent", "Nguồn “%s” không gửi gì", name)
			a.Text = app.Text{EN: "Source “" + name + "” has sent nothing since " + at.EN + ".",
				VI: "Nguồn “" + name + "” chưa gửi gì từ " + at.VI + "."}
		default:
			continue
		}
		list = append(list, a)
	}
	return list, nil
}

// busyBefore reports whether there were transactions on each of the last
// busyDays days before an instant.
func (s *Service) busyBefore(ctx context.Context, accountID int64, at time.Time) (bool, error) {
	last := app.DayOf(at, s.zone)
	rows, err := s.rooms.Ledger.Days(ctx, accountID, 0, last-busyDays+1, last)
	busy := map[app.Day]bool{}
	for _, row := range rows {
		if row.Day <= last && row.Count > 0 {
			busy[row.Day] = true
		}
	}
	return len(busy) == busyDays, err
}

// codesAttention lists the code patterns of which nine tenths are taken.
func (s *Service) codesAttention(ctx context.Context, accountID int64, now time.Time) (list []Attention, _ error) {
	patterns, err := s.rooms.Payments.AlmostUsedUp(ctx, accountID, now)
	for _, p := range patterns {
		list = append(list, Attention{
			Kind: AttentionCodes, Key: "codes " + strconv.FormatInt(p.ID, 10), Action: app.Text{EN: "Add longer codes", VI: "Thêm mã dài hơn"},
			Name: app.Textf("Payment codes that begin with %s are almost used up", "Mã thanh toán bắt đầu bằng %s sắp hết", p.Prefix),
			Text: app.Textf("Payment codes that begin with %s are almost used up: nine tenths are taken by requests of the last 30 days. "+
				"Without a free code nobody can make a bill.",
				"Mã thanh toán bắt đầu bằng %s sắp hết: chín phần mười đã dùng cho các yêu cầu trong 30 ngày qua. Hết mã thì không tạo được đơn.",
				p.Prefix),
		})
	}
	return list, err
}

func (s *Service) alertAttention(ctx context.Context, accountID int64, _ time.Time) (list []Attention, _ error) {
	channels, err := s.AlertChannels(ctx, accountID)
	for _, c := range channels {
		if c.Feed.Failures > c.Failures {
			c.Failures, c.Problem = c.Feed.Failures, c.Feed.Problem
		}
		if c.Failures < WorryingFailures {
			continue
		}
		name := c.Medium.Name()
		list = append(list, Attention{
			Kind: AttentionAlert, Key: c.attentionKey(),
			Name: app.Text{EN: "Alerts by " + name.EN + " are not being delivered", VI: "Cảnh báo qua " + name.VI + " không gửi được"},
			Text: app.Text{EN: "Alerts by " + name.EN + " are not being delivered. " + c.Problem.EN,
				VI: "Cảnh báo qua " + name.VI + " không gửi được. " + c.Problem.VI},
			Action: app.Text{EN: "Check", VI: "Kiểm tra"},
		})
	}
	return list, err
}

// counted writes a small number of things; English has another form for one.
func counted(n int64, one, many, vi string) app.Text {
	if n == 1 {
		many = one
	}
	digits := strconv.FormatInt(n, 10)
	return app.Text{EN: digits + " " + many, VI: digits + " " + vi}
}

// worryingStreamFailure is how long a stream must fail before it needs attention. Less
// may be a restart of the broker.
const worryingStreamFailure = time.Minute

// streamAttention lists the active streams that have lost their secret, or keep failing.
func (s *Service) streamAttention(ctx context.Context, accountID int64, now time.Time) (list []Attention, _ error) {
	streams, err := s.rooms.Streams.Streams(ctx, accountID)
	for _, st := range streams {
		id, name := strconv.FormatInt(st.ID, 10), app.Isolated(st.Name)
		switch {
		case !st.IsActive:
		case st.SecretLost:
			list = append(list, Attention{
				Kind: AttentionStream, Key: "secret of stream " + id,
				Name: app.Textf("Stream “%s” has lost its secret", "Luồng “%s” đã mất khoá bí mật", name),
				Text: app.Textf("Stream “%s” has lost its secret and its password, so nothing is sent. "+
					"Rotate the secret, then enter the password again.",
					"Luồng “%s” đã mất khoá bí mật và mật khẩu nên không gửi được gì. Hãy đổi khoá bí mật rồi nhập lại mật khẩu.", name),
				ID: st.ID, SecretLost: true, Action: app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"},
			})
		case !st.FailingSince.IsZero() && now.Sub(st.FailingSince) >= worryingStreamFailure:
			at := app.WriteTime(st.FailingSince, s.zone)
			list = append(list, Attention{
				Kind: AttentionStream, Key: "stream " + id,
				Name: app.Textf("Stream “%s” is not reaching its broker", "Luồng “%s” không gửi được", name),
				Text: app.Text{EN: "Stream “" + name + "” has not reached its broker since " + at.EN + ".",
					VI: "Luồng “" + name + "” không gửi được từ " + at.VI + "."}.And(st.Problem),
				ID: st.ID, Action: app.Text{EN: "See why", VI: "Xem lý do"},
			})
		}
	}
	return list, err
}
