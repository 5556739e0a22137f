package dashboard

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/web/wire"
)

// sourceForm is the form of a new source as it was entered, without its secrets.
type sourceForm struct {
	Kind                          inbound.ProviderKind
	Name, Auth, BankAccountID     string
	Header, Map, Sender, Username string
	Banks                         []app.BankAccount
	Others                        []inbound.Source // the sources that exist already
}

// Takes reports whether sources of this kind have an option.
func (f sourceForm) Takes(option string) bool {
	return slices.Contains(f.Kind.Options, inbound.SourceOption(option))
}

// authNames name the ways in which calls authenticate, except the one with a username.
var authNames = map[inbound.Auth]app.Text{
	inbound.AuthBearer: {EN: "Secret in the header Authorization: Bearer", VI: "Khoá bí mật trong header Authorization: Bearer"},
	inbound.AuthAPIKey: {EN: "API key: secret in a header", VI: "API Key (như SePay gọi)"},
	inbound.AuthToken:  {EN: "Only the secret, in its own header", VI: "Chỉ có khoá bí mật, trong một header riêng"},
	inbound.AuthHMAC:   {EN: "HMAC signature", VI: "Chữ ký HMAC"},
}

// AuthName names the way in which calls authenticate.
func (w words) AuthName(a inbound.Auth) string {
	return cmp.Or(authNames[a], app.Text{EN: "Username and password", VI: "Tên đăng nhập và mật khẩu"}).In(w.Lang)
}

// newSourcePage shows the kinds of sources, or the form of the kind that was chosen.
func (s *Server) newSourcePage(v *visit) error {
	provider := app.Provider(v.URL.Query().Get("provider"))
	if provider == "" {
		return s.render(v, nil, pageHead{"source_kinds", "inbound", app.Text{EN: "Add source", VI: "Thêm nguồn giao dịch"}}, s.providerGroups())
	}
	kind, known := s.Services.Inbound.ProviderKind(provider)
	if !known {
		return wire.ErrNothingHere()
	}
	return s.showNewSource(v, newSourceForm(kind), nil)
}

func newSourceForm(kind inbound.ProviderKind) sourceForm {
	form := sourceForm{Kind: kind, Name: kind.Name}
	if form.Takes("map") {
		form.Map = "id=\namount=\naccount=\ncontent=\ntime="
	}
	return form
}

func (s *Server) showNewSource(v *visit, form sourceForm, wrong error) (err error) {
	if form.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	if form.Others, err = s.Services.Inbound.Sources(v.Context(), v.account.ID); err != nil {
		return err
	}
	title := app.Text{EN: "Add source: " + form.Kind.Name, VI: "Thêm nguồn giao dịch: " + form.Kind.Name}
	return s.render(v, wrong, pageHead{"source_new", "inbound", title}, form)
}

var sourceStep = guideStep{
	Name: "source", Title: app.Text{EN: "Sources", VI: "Nguồn giao dịch"}, To: "/inbound",
	form: "source_new", read: (*Server).readSourceStep, show: (*Server).showSourceStep,
}

// readSourceStep reads the step, which is done once a source has called: see hasCalled.
func (s *Server) readSourceStep(v *visit) (p guideProgress, err error) {
	sources, err := s.Services.Inbound.SourcesHealth(v.Context(), v.account.ID)
	if p.State = stepLater; len(sources) > 0 {
		p.State = stepWaiting
	}
	for _, src := range sources {
		if hasCalled(src) {
			at := src.LastCallAt
			if at.IsZero() {
				at = src.PolledAt
			}
			p = doneIf(src.Name + ", " + v.T("last call ", "lần gọi gần nhất ") + v.When(at))
		}
	}
	return p, err
}

// hasCalled reports whether a call of a source was accepted, or its list was read.
func hasCalled(src inbound.SourceHealth) bool {
	return !src.LastCallAt.IsZero() || !src.PolledAt.IsZero()
}

// waitingSource is a source that waits for its first call.
type waitingSource struct {
	sourceRow
	Steps []string
}

// sourceStepData is the step: the sources that wait for their first call, else the form of the
// chosen kind, else the kinds to choose from.
type sourceStepData struct {
	Waiting []waitingSource
	Form    sourceForm // empty until a kind is chosen
	Groups  []providerGroup
}

func (s *Server) showSourceStep(v *visit, page view, sent any) (template.HTML, error) {
	data := sourceStepData{Groups: s.providerGroups()}
	sources, err := s.Services.Inbound.SourcesHealth(v.Context(), v.account.ID)
	if err != nil {
		return "", err
	}
	for _, src := range sources {
		kind, _ := s.Services.Inbound.ProviderKind(src.Provider)
		if !hasCalled(src) {
			data.Waiting = append(data.Waiting, waitingSource{s.sourceRow(v, src), splitNumbered(kind.Setup(src.Source).In(v.Lang))})
		}
	}
	var refused bool
	data.Form, refused = sent.(sourceForm)
	if kind, known := s.Services.Inbound.ProviderKind(app.Provider(v.URL.Query().Get("provider"))); known && !refused {
		data.Form = newSourceForm(kind)
		if data.Form.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
			return "", err
		}
	}
	return s.showPart(page, "guide-source", data)
}

// addSource makes a source and answers with the page that shows its secret. The address of the
// provider's API can't be set here: a signed-in user could make the server call any address.
func (s *Server) addSource(v *visit) error {
	kind, known := s.Services.Inbound.ProviderKind(app.Provider(v.PostFormValue("provider")))
	if !known {
		return wire.ErrNothingHere()
	}
	form := sourceForm{
		Kind: kind, Name: v.PostFormValue("name"), Auth: v.PostFormValue("auth"), BankAccountID: v.PostFormValue("bank_account_id"),
		Header: strings.TrimSpace(v.PostFormValue("header")), Map: v.PostFormValue("map"), Sender: v.PostFormValue("sender"),
		Username: strings.TrimSpace(v.PostFormValue("username")),
	}
	in, err := form.read()
	if err == nil {
		in.Secret, in.APIKey, in.Options.AccessKey = v.PostFormValue("secret"), v.PostFormValue("api_key"), v.PostFormValue("access_key")
		in.NewName, in.Key = v.newName(), v.form.key
		var src inbound.Source
		if src, err = s.Services.Inbound.AddSource(v.Context(), v.account.ID, in, v.now); err == nil {
			return s.showSourceSecret(v, src, true)
		}
	}
	return s.showNewSource(v, form, err)
}

// read reads the form without its secrets.
func (f sourceForm) read() (inbound.SourceAdd, error) {
	in := inbound.SourceAdd{
		Provider: f.Kind.Provider, Auth: inbound.Auth(f.Auth), Name: f.Name,
		Options: inbound.SourceOptions{Header: f.Header, Username: f.Username, Senders: lines(f.Sender)},
	}
	var bad app.Invalid
	in.BankAccountID = readBankAccountID(f.BankAccountID, &bad)
	if f.Takes("map") {
		in.Options.Map = map[string]string{}
		for _, line := range lines(f.Map) {
			field, path, found := strings.Cut(line, "=")
			field, path = strings.TrimSpace(field), strings.TrimSpace(path)
			if path == "" && found {
				continue // an empty row of the form
			}
			if _, twice := in.Options.Map[field]; !found || field == "" || twice {
				bad.Add("map", "needs one line FIELD=PATH per field", "cần mỗi trường một dòng dạng TRƯỜNG=ĐƯỜNG_DẪN")
				break
			}
			in.Options.Map[field] = path
		}
	}
	return in, bad.Err()
}

// lines are the lines of a text that aren't blank, without blanks around them.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
