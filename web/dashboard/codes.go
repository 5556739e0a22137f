package dashboard

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/paymentcode"
)

type codesData struct {
	pageParts
	Rows []codeRow
	Form codeForm
	Full bool   // no further pattern is allowed
	Try  string // a content
	Code string // the payment code that was read from it
}

type codeRow struct {
	app.CodePattern
	Remove confirmation
}

type codeForm struct{ Prefix, Least, Most, Alphabet string }

var newCodeForm = codeForm{Least: "6", Alphabet: string(paymentcode.Digits)}

func (s *Server) codesPage(v *visit) error {
	return s.showCodes(v, "", nil, nil)
}

// showCodes shows the page. wrong is why the form named refused is refused, and sent is that
// form as it was entered: codes, or the form of a part.
func (s *Server) showCodes(v *visit, refused string, sent any, wrong error) error {
	patterns, err := s.Services.Ledger.CodePatterns(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := codesData{pageParts: s.partsOf(v, refused, sent), Form: newCodeForm, Full: len(patterns) == app.MaxCodePatterns}
	if form, own := sent.(codeForm); own {
		data.Form = form
	}
	data.Try = app.CleanText(strings.TrimSpace(v.URL.Query().Get("content")), app.MaxContent)
	limited, err := s.limitedToCodes(v)
	if err != nil {
		return err
	}
	for _, p := range patterns {
		data.Rows = append(data.Rows, codeRow{p, s.codeRemoval(v, p, limited)})
	}
	if data.Try != "" {
		data.Code = app.NewCodeReader(patterns).Read(data.Try).Text
	}
	return s.render(v, wrong, pageHead{"codes", "settings", app.Text{EN: "Payment codes", VI: "Mã thanh toán"}}, data)
}

func (s *Server) createCode(v *visit) error {
	form := codeForm{
		Prefix: strings.ToUpper(strings.TrimSpace(v.PostFormValue("prefix"))), Least: strings.TrimSpace(v.PostFormValue("min_length")),
		Most: strings.TrimSpace(v.PostFormValue("max_length")), Alphabet: v.PostFormValue("alphabet"),
	}
	in := paymentcode.Pattern{Prefix: form.Prefix, Alphabet: paymentcode.Alphabet(form.Alphabet)}
	in.Least, _ = strconv.Atoi(form.Least) // 0, which is out of bounds, if it is no number
	if in.Most = in.Least; form.Most != "" {
		in.Most, _ = strconv.Atoi(form.Most)
	}
	p, err := s.Services.Ledger.CreateCodePattern(v.Context(), v.account.ID, in, v.now)
	if err != nil {
		return s.showCodes(v, "codes", form, err)
	}
	to := "/settings/codes"
	if back := v.PostFormValue("back"); back != "" { // the form of the usual pattern is also on other pages
		to = localPath(back)
	}
	return s.redirect(v, to,
		app.Textf("Codes that begin with %s are read from now on.", "Từ bây giờ, mã bắt đầu bằng %s sẽ được đọc.", p.Prefix))
}

var codesStep = guideStep{
	Name: "codes", Title: app.Text{EN: "Payment codes", VI: "Mã thanh toán"}, To: "/settings/codes", Optional: true,
	read: (*Server).readCodesStep, show: (*Server).showCodesStep,
}

func (s *Server) readCodesStep(v *visit) (guideProgress, error) {
	patterns, err := s.Services.Ledger.CodePatterns(v.Context(), v.account.ID)
	return doneByFirst(patterns, err, func(p app.CodePattern) string { return p.Prefix })
}

func (s *Server) showCodesStep(_ *visit, page view, _ any) (template.HTML, error) {
	return s.showPart(page, "guide-codes", guidePath)
}

// limitedToCode is a webhook or a stream that is limited to codes with a prefix.
type limitedToCode struct{ name, prefix string }

func (s *Server) limitedToCodes(v *visit) (list []limitedToCode, _ error) {
	hooks, err := s.Services.Deliveries.Webhooks(v.Context(), v.account.ID)
	if err != nil {
		return nil, err
	}
	streams, err := s.Services.Streams.Streams(v.Context(), v.account.ID)
	for _, hook := range hooks {
		for _, prefix := range hook.CodePrefixes {
			list = append(list, limitedToCode{hook.Name, prefix})
		}
	}
	for _, st := range streams {
		list = append(list, limitedToCode{st.Name, st.CodePrefix})
	}
	return slices.DeleteFunc(list, func(l limitedToCode) bool { return l.prefix == "" }), err
}

// codeRemoval asks before a pattern is removed. It names the webhooks and streams that get
// nothing more without the pattern.
func (s *Server) codeRemoval(v *visit, p app.CodePattern, limited []limitedToCode) confirmation {
	var names []string
	for _, l := range limited {
		if strings.HasPrefix(l.prefix, p.Prefix) || strings.HasPrefix(p.Prefix, l.prefix) {
			names = append(names, "“"+app.Isolated(l.name)+"”")
		}
	}
	texts := []string{v.T("Codes that begin with it are not read any more. Those of recorded transactions stay.",
		"Mã bắt đầu bằng tiền tố này sẽ không được đọc nữa. Mã của các giao dịch đã ghi nhận vẫn giữ.")}
	if len(names) > 0 {
		texts = append(texts, v.T("Limited to such codes, and without new transactions from then on: ",
			"Các nơi chỉ nhận mã này sẽ không nhận giao dịch mới nữa: ")+strings.Join(names, ", ")+".")
	}
	return confirmation{
		Path: "/settings/codes/" + strconv.FormatInt(p.ID, 10) + "/delete", Back: "/settings/codes", section: "settings",
		Title: v.T("Delete the pattern “", "Xoá mẫu “") + p.Prefix + "”?", Button: v.T("Delete", "Xoá"),
		Texts: texts,
		do:    func() error { return s.Services.Ledger.DeleteCodePattern(v.Context(), v.account.ID, p.ID, v.now) },
		done:  app.Textf("Pattern %s deleted.", "Đã xoá mẫu %s.", p.Prefix),
	}
}

func (s *Server) deleteCode(v *visit) error {
	patterns, err := s.Services.Ledger.CodePatterns(v.Context(), v.account.ID)
	p, err := named(v, patterns, err, func(p app.CodePattern) int64 { return p.ID }, app.ErrNoCodePattern)
	if err != nil {
		return err
	}
	limited, err := s.limitedToCodes(v)
	if err != nil {
		return err
	}
	return s.confirm(v, s.codeRemoval(v, p, limited))
}

// codes makes a reader of the account's payment codes.
func (s *Server) codes(v *visit) (app.CodeReader, error) {
	patterns, err := s.Services.Ledger.CodePatterns(v.Context(), v.account.ID)
	return app.NewCodeReader(patterns), err
}

// codePrefixes are the prefixes that a webhook or a stream may be limited to.
func (s *Server) codePrefixes(v *visit) (list []string, _ error) {
	patterns, err := s.Services.Ledger.CodePatterns(v.Context(), v.account.ID)
	for _, p := range patterns {
		list = append(list, p.Prefix)
	}
	return list, err
}

// onlyOf writes the bank accounts, codes and receiving number that something is limited to;
// empty: there is no limit.
func (v *visit) onlyOf(bankAccountIDs []int64, codePrefix, receiving string, banks []app.BankAccount) string {
	var only []string
	if banks := v.limitText(v.user.Role, access.BankAccountLimit{On: bankAccountIDs != nil, IDs: bankAccountIDs}, banks); banks != "" {
		only = append(only, banks)
	}
	if number := v.numberText(receiving, banks); number != "" {
		only = append(only, number)
	}
	if codePrefix != "" {
		only = append(only, v.T("codes that begin with", "mã bắt đầu bằng")+" "+codePrefix)
	}
	return strings.Join(only, "; ")
}

// CodeFollows says what follows the prefix of a code.
func (w words) CodeFollows(p app.CodePattern) string {
	n := strconv.Itoa(p.Least)
	if p.Most > p.Least {
		n += "–" + strconv.Itoa(p.Most)
	}
	if p.Alphabet == paymentcode.LettersAndDigits {
		return n + " " + w.T("letters and digits", "chữ cái và chữ số")
	}
	return n + " " + w.T("digits", "chữ số")
}

// CodeExample is an example of the shortest code of a pattern.
func (w words) CodeExample(p app.CodePattern) string {
	body := "123456789012345678901234567890"
	if p.Alphabet == paymentcode.LettersAndDigits {
		body = "A1B2C3D4E5F6G7H8I9J0K1L2M3N4O5"
	}
	return p.Prefix + body[:p.Least]
}
