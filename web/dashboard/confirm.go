package dashboard

import (
	"cmp"
	"net/http"
	"strings"
	"unicode"

	"baoco/app"
)

// confirmation is an action that can't be undone, and the question before it: in
// a dialog ({{template "ask"}}), or on a page of its own where there are no
// scripts. GET of its path asks, POST acts; both rows of the table have the same
// handler, which makes the confirmation and gives it to confirm.
type confirmation struct {
	Path   string
	Title  string
	Texts  []string // what will happen
	Button string
	Back   string // the page of whom the answer is no

	Word   string // must be typed to confirm; empty: a click is enough
	Prompt string // asks for it
	same   func(typed, word string) bool

	do   func() error
	done app.Text // that it was done
	to   string   // the page that follows; empty: Back
}

// ID is that of the dialog.
func (c confirmation) ID() string { return "ask" + strings.ReplaceAll(c.Path, "/", "-") }

// confirm shows the page of the question, or acts.
func (s *Server) confirm(v *visit, section string, c confirmation) (err error) {
	if v.Method == http.MethodPost {
		if c.Word != "" && !c.same(v.PostFormValue("word"), c.Word) {
			err = app.Refused(app.CodeValidation, app.Text{EN: "What you typed does not match. Nothing was changed.", VI: "Nội dung nhập không khớp. Chưa có gì thay đổi."})
		} else {
			err = c.do()
		}
		if err == nil {
			return s.redirect(v, cmp.Or(c.to, c.Back), c.done)
		}
	}
	return s.renderForm(v, err, "confirm", section, app.Text{EN: c.Title, VI: c.Title}, c)
}

// typeName makes a confirmation ask for a name.
func (c confirmation) typeName(v *visit, name string) confirmation {
	c.Word, c.Prompt, c.same = name, v.T("Type the name to confirm:", "Nhập tên để xác nhận:"), sameName
	return c
}

// sameName compares a name with what somebody typed. It ignores case and
// invisible characters.
func sameName(typed, name string) bool {
	drop := func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}
	seen := func(s string) string { return strings.Join(strings.Fields(strings.Map(drop, s)), " ") }
	return strings.EqualFold(seen(typed), seen(name))
}
