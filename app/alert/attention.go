package alert

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"baoco/app"
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
