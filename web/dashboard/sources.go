package dashboard

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/inbound"
	"baoco/web/wire"
)

func sourcePath(id int64) string { return "/inbound/sources/" + strconv.FormatInt(id, 10) }

// providerGroup is a group of kinds of sources to choose from.
type providerGroup struct {
	Title app.Text
	Hint  app.Text // says for whom the group is, and what it costs
	Kinds []inbound.ProviderKind
}

// providerGroups are all kinds of sources, with the kinds that most shops need first.
func (s *Server) providerGroups() []providerGroup {
	groups := []providerGroup{
		inbound.Gateways: {Title: app.Text{EN: "Payment gateways", VI: "Cổng thanh toán, dịch vụ báo giao dịch"}, Hint: app.Text{
			EN: "Take the one that you have already, otherwise begin with SePay. Each charges by its own price list.",
			VI: "Đang dùng dịch vụ nào thì chọn dịch vụ đó, chưa có thì bắt đầu với SePay. Phí theo bảng giá của từng dịch vụ.",
		}},
		inbound.PhoneApps: {Title: app.Text{EN: "Bank SMS through a phone app", VI: "SMS ngân hàng, qua ứng dụng trên điện thoại"},
			Hint: app.Text{EN: "No contract: an Android phone passes on the bank’s messages. The bank may charge for its SMS.",
				VI: "Không cần hợp đồng: một điện thoại Android chuyển tiếp tin của ngân hàng. Ngân hàng có thể thu phí SMS."}},
		inbound.OwnPrograms: {Title: app.Text{EN: "Your own program", VI: "Chương trình của bạn"}, Hint: app.Text{
			EN: "For developers; costs nothing.", VI: "Dành cho lập trình viên, không mất phí.",
		}},
	}
	for _, kind := range s.Services.Inbound.ProviderKinds() {
		groups[kind.Group].Kinds = append(groups[kind.Group].Kinds, kind)
	}
	return groups
}

// nameOf is the name of a kind of source.
func (s *Server) nameOf(p app.Provider) string {
	kind, _ := s.Services.Inbound.ProviderKind(p)
	return kind.Name
}

// In writes a text in the language of the visitor.
func (w words) In(t app.Text) string { return t.In(w.Lang) }

type sourceRow struct {
	inbound.SourceHealth
	KindName string
	Address  givenAddress
	State    string // of the pill: active, pending, error or empty
	Word     string
}

type sourcesData struct {
	Rows []sourceRow
	Open inbound.OpenItems
}

func (s *Server) sourcesPage(v *visit) error {
	list, err := s.Services.Inbound.SourcesHealth(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	var data sourcesData
	if data.Open, err = s.Services.Inbound.OpenInbound(v.Context(), v.account.ID, alert.CountedUpTo); err != nil {
		return err
	}
	for _, src := range list {
		data.Rows = append(data.Rows, s.sourceRow(v, src))
	}
	return s.render(v, nil, pageHead{"sources", "inbound", app.Text{EN: "Sources", VI: "Nguồn giao dịch"}}, data)
}

func (s *Server) sourceRow(v *visit, src inbound.SourceHealth) sourceRow {
	row := sourceRow{SourceHealth: src, KindName: s.nameOf(src.Provider), Address: s.sourceAddress(v, src.Source)}
	word := app.Text{EN: "Active", VI: "Đang hoạt động"}
	row.State = "active"
	switch {
	case src.SecretLost:
		row.State, word = "error", app.Text{EN: "Secret lost", VI: "Mất khoá bí mật"}
	case src.PollError == inbound.PollKeyRefused:
		row.State, word = "error", app.Text{EN: "API key rejected", VI: "Khoá API không hợp lệ"}
	case src.LastRefused.ReceivedAt.After(src.LastCallAt):
		row.State, word = "error", app.Text{EN: "Refused calls", VI: "Lần gọi bị từ chối"}
	case src.LastCallAt.IsZero() && src.PolledAt.IsZero():
		row.State, word = "pending", app.Text{EN: "No calls yet", VI: "Chưa nhận lần nào"}
	case src.Silent(false, v.now):
		row.State, word = "pending", app.Text{EN: "No recent calls", VI: "Lâu chưa nhận được gì"}
	}
	row.Word = word.In(v.Lang)
	return row
}

// pollFaults say why a provider's list couldn't be read.
var pollFaults = map[inbound.PollFault]app.Text{
	inbound.PollKeyRefused: {EN: "The provider rejects the API key.", VI: "Nhà cung cấp không chấp nhận khoá API."},
	inbound.PollRateLimited: {EN: "The provider is limiting requests; baoco will try again later.",
		VI: "Nhà cung cấp giới hạn số yêu cầu; baoco sẽ thử lại sau."},
	inbound.PollUnreachable: {EN: "The provider could not be reached.", VI: "Không kết nối được với nhà cung cấp."},
	inbound.PollUnreadable:  {EN: "The provider’s response could not be read.", VI: "Không đọc được phản hồi của nhà cung cấp."},
}

// PollFault says why a provider's list couldn't be read.
func (w words) PollFault(f inbound.PollFault) string { return pollFaults[f].In(w.Lang) }

type sourceData struct {
	sourceRow
	BankAccount app.BankAccount // zero: all, or a bank account that is no longer linked
	Kind        inbound.ProviderKind
	Steps       []string
	Fields      []string // the fields of the map
	Refused     []inbound.RefusedCall
}

// TakesSenders reports whether the source can be allowed further senders.
func (d sourceData) TakesSenders() bool { return slices.Contains(d.Kind.Options, inbound.OptionSender) }

func (s *Server) pageSource(v *visit) (inbound.SourceHealth, error) {
	return s.Services.Inbound.SourceHealth(v.Context(), v.account.ID, v.pathID())
}

// refusedShown is how many refused calls the page of a source lists.
const refusedShown = 5

func (s *Server) sourcePage(v *visit) error {
	return s.showSource(v, nil)
}

func (s *Server) showSource(v *visit, wrong error) error {
	src, err := s.pageSource(v)
	if err != nil {
		return err
	}
	kind, _ := s.Services.Inbound.ProviderKind(src.Provider)
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := sourceData{
		sourceRow: s.sourceRow(v, src), BankAccount: bankAccount(banks, src.BankAccountID), Kind: kind,
		Steps: splitNumbered(kind.Setup(src.Source).In(v.Lang)),
	}
	for field, path := range src.Options.Map {
		data.Fields = append(data.Fields, field+"="+path)
	}
	slices.Sort(data.Fields)
	if data.Refused, err = s.Services.Inbound.RefusedCalls(v.Context(), v.account.ID, src.ID, refusedShown); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"source", "inbound", app.Text{EN: app.Isolated(src.Name), VI: app.Isolated(src.Name)}}, data)
}

var stepNumber = regexp.MustCompile(`(?:^|\s)\d\. `)

// splitNumbered splits a text into its numbered sentences, without their numbers.
func splitNumbered(text string) (list []string) {
	for _, step := range stepNumber.Split(text, -1) {
		if step = strings.TrimSpace(step); step != "" {
			list = append(list, step)
		}
	}
	return list
}

// sourceSecret is the page of a new secret. Secret is empty if it was shown
// before.
type sourceSecret struct {
	inbound.Source
	Address givenAddress
	New     bool // the source is new too
	Short   bool // the secret is short enough to be guessed
	Kind    inbound.ProviderKind
	Steps   []string
}

func (s *Server) showSourceSecret(v *visit, src inbound.Source, isNew bool) error {
	kind, _ := s.Services.Inbound.ProviderKind(src.Provider)
	data := sourceSecret{
		Source: src, Address: s.sourceAddress(v, src), New: isNew,
		Short: utf8.RuneCountInString(src.Secret) < inbound.ShortSecret, Kind: kind, Steps: splitNumbered(kind.Setup(src).In(v.Lang)),
	}
	title := app.Text{EN: "Enter these at the provider", VI: "Nhập thông tin này bên nhà cung cấp"}
	if src.Secret == "" {
		title = app.Text{EN: "Secret already shown", VI: "Khoá bí mật đã được hiển thị"}
	}
	return s.render(v, nil, pageHead{"source_secret", "inbound", title}, data)
}

func (s *Server) showRotateSource(v *visit, src inbound.SourceHealth, wrong error) error {
	kind, _ := s.Services.Inbound.ProviderKind(src.Provider)
	return s.render(v, wrong, pageHead{"source_rotate", "inbound", app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"}}, struct {
		inbound.SourceHealth
		Kind inbound.ProviderKind
	}{src, kind})
}

func (s *Server) rotateSource(v *visit, src inbound.SourceHealth) error {
	rotated, err := s.Services.Inbound.RotateSource(v.Context(), v.account.ID, src.ID, inbound.SourceRotate{
		Secret: v.PostFormValue("secret"), Key: v.form.key,
	}, v.now)
	if err != nil {
		return s.showRotateSource(v, src, err)
	}
	return s.showSourceSecret(v, rotated, false)
}

// allowSender allows a source one more sender of texts. If the form was on the page of a call,
// the call is read again.
func (s *Server) allowSender(v *visit, src inbound.SourceHealth) error {
	var event eventData
	if from := v.PostFormValue("event_id"); from != "" {
		var err error
		id, _ := wire.ParseID(from)
		if event, err = s.eventData(v, id); err != nil {
			return err
		}
	}
	_, err := s.Services.Inbound.AllowSenders(v.Context(), v.account.ID, src.ID, []string{strings.TrimSpace(v.PostFormValue("sender"))})
	if err == nil && event.ID != 0 {
		err = s.processAgain(v, event.ID, app.Text{EN: "Sender allowed.", VI: "Đã cho phép người gửi."})
	}
	switch {
	case err != nil && event.ID == 0:
		return s.showSource(v, err)
	case err != nil:
		return s.showEvent(v, event, err)
	case event.ID != 0:
		return nil
	}
	return s.redirect(v, sourcePath(src.ID), app.Text{EN: "Sender allowed. Reprocess the messages that were rejected because of it.",
		VI: "Đã cho phép người gửi. Hãy xử lý lại các tin đã bị từ chối vì người gửi này."})
}

// setSourceKey gives a source the API key of its provider.
func (s *Server) setSourceKey(v *visit, src inbound.SourceHealth) error {
	if _, err := s.Services.Inbound.SetSourceAPIKey(v.Context(), v.account.ID, src.ID, v.PostFormValue("api_key"), v.now); err != nil {
		return s.showSource(v, err)
	}
	return s.redirect(v, sourcePath(src.ID),
		app.Text{EN: "API key saved. Sync now to test it.", VI: "Đã lưu khoá API. Hãy đồng bộ ngay để thử."})
}

// catchUpTime bounds the reading of a source's list while the visitor waits. The rest is read
// in the background.
const catchUpTime = wire.RequestTimeout - 3*time.Second

// catchUpSource reads the list of a source now.
func (s *Server) catchUpSource(v *visit, src inbound.SourceHealth) error {
	ctx, cancel := context.WithTimeout(v.Context(), catchUpTime)
	defer cancel()
	r, err := s.Services.Inbound.CatchUpSource(ctx, v.account.ID, src.ID, v.now)
	if fault, found := errors.AsType[*inbound.PollError](err); found {
		err = app.Refused(app.CodeConflict, pollFaults[fault.Fault])
	}
	if err != nil {
		return s.showSource(v, err)
	}
	return s.redirect(v, sourcePath(src.ID), app.Textf(
		"Synced. New: %d; duplicates: %d; unassigned: %d; in conflict or unreadable: %d.",
		"Đã đồng bộ. Mới: %d; trùng: %d; tài khoản chưa liên kết: %d; trùng mã nhưng khác thông tin, hoặc không đọc được: %d.",
		r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts+r.Rejected))
}

func (s *Server) sourceRemoval(v *visit, src inbound.SourceHealth) confirmation {
	return confirmation{
		Path: sourcePath(src.ID) + "/remove", Back: sourcePath(src.ID), section: "inbound", to: "/inbound",
		Title: v.T("Remove source", "Xoá nguồn giao dịch"), Button: v.T("Delete permanently", "Xoá vĩnh viễn"),
		Texts: []string{
			v.T("Calls from this source will be refused. Remove it at the provider too.",
				"Lần gọi từ nguồn này sẽ bị từ chối. Hãy xoá cả bên nhà cung cấp."),
			v.T("Its transactions and log are kept.", "Giao dịch và lịch sử nhận của nguồn vẫn được giữ."),
			v.T("The URL and secret are permanently deleted; adding the source again creates new ones.",
				"URL và khoá bí mật bị xoá vĩnh viễn; nếu thêm lại, nguồn sẽ có URL và khoá bí mật mới."),
		},
		do:   func() error { return s.Services.Inbound.RemoveSource(v.Context(), v.account.ID, src.ID, v.now) },
		done: app.Text{EN: "Source removed. Its transactions are kept.", VI: "Đã xoá nguồn. Các giao dịch đã ghi nhận vẫn được giữ."},
	}.typeName(v, src.Name)
}
