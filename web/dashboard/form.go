package dashboard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"unicode"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
)

// faults is what is wrong with a form that was sent. A template writes all of it
// above the form with {{template "problem" .}}. At the input of a field it
// repeats what is wrong there: {{.Wrong "name"}} stands in the tag of the input
// and {{.Why "name"}} after the label.
type faults struct {
	Problem string            // empty: nothing is wrong
	byField map[string]string // one sentence each

	sameName bool // the name is that of another one: see SameName
}

// faultsOf says what is wrong to whom filled the form in: the sentence of each
// field, or that of the error where it names no field.
func faultsOf(e *app.Error, lang app.Lang) faults {
	if len(e.Fields) == 0 {
		return faults{Problem: e.Text.In(lang)}
	}
	f := faults{byField: map[string]string{}, sameName: errors.Is(e, app.ErrSameName)}
	var all []string
	for _, field := range e.Fields {
		sentence := app.FieldName(field.Field).In(lang) + " " + field.Text.In(lang) + "."
		f.byField[field.Field] = sentence
		all = append(all, sentence)
	}
	f.Problem = strings.Join(all, " ")
	return f
}

// Wrong marks the input of a field that has a problem. It names what describes
// the input: its hints, by their ids, and what Why writes.
func (f faults) Wrong(field string, hints ...string) template.HTMLAttr {
	mark := ""
	if f.byField[field] != "" {
		mark = `aria-invalid="true" `
		hints = append(hints, field+"-problem")
	}
	if len(hints) > 0 {
		mark += `aria-describedby="` + strings.Join(hints, " ") + `"`
	}
	return template.HTMLAttr(mark)
}

// SameName is a hidden field where the name that was entered is that of another one:
// with it the form may be sent again.
func (f faults) SameName(name string) template.HTML {
	if !f.sameName {
		return ""
	}
	return template.HTML(`<input type="hidden" name="same_name" value="` + template.HTMLEscapeString(name) + `">`)
}

// newName tells whether the name of the form that was sent must not be that of another
// one.
func (v *visit) newName() bool { return v.PostFormValue("same_name") != v.PostFormValue("name") }

// Why says what is wrong with a field; empty: nothing is.
func (f faults) Why(field string) template.HTML {
	if f.byField[field] == "" {
		return ""
	}
	return template.HTML(`<p class="hint field-problem" id="` + field + `-problem">` + template.HTMLEscapeString(f.byField[field]) + `</p>`)
}

// A form that writes back several fields holds a digest of them as they were when it
// was shown. Where somebody has changed them since, in another tab or elsewhere, the
// form is refused once: it names what is there now, and keeps what was typed. Sent
// again, it counts.

// FormVersion is the hidden field of such a form, made of the fields as it shows
// them. A form that was refused keeps its version.
func (v view) FormVersion(fields ...any) template.HTML {
	digest := v.formVersion
	if digest == "" {
		digest = formVersion(fields)
	}
	return template.HTML(`<input type="hidden" name="version" value="` + template.HTMLEscapeString(digest) + `">`)
}

func formVersion(fields []any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", fields)))
	return hex.EncodeToString(sum[:8])
}

// unchanged refuses the form that was sent if its fields differ from what they were
// when it was shown. now are the fields as they are, in the order of the template.
func (v *visit) unchanged(now ...any) error {
	sent := v.PostFormValue("version")
	v.formVersion = sent
	current := formVersion(now)
	if sent == "" || sent == current {
		return nil
	}
	v.formVersion = current
	var list []string
	for _, field := range now {
		text := fmt.Sprint(field)
		switch f := field.(type) {
		case app.Text:
			text = f.In(v.Lang)
		case access.Role:
			text = v.In(f.Name())
		case delivery.WebhookType:
			text = v.In(f.Name())
		case []int64, bool: // ids of what another field names, and ticks
			text = ""
		}
		if text != "" {
			list = append(list, "“"+app.Isolated(text)+"”")
		}
	}
	if len(list) == 0 {
		list = append(list, v.T("nothing", "để trống"))
	}
	there := strings.Join(list, ", ")
	return app.Refused(app.CodeConflict, app.Textf(
		"This was changed elsewhere while you were editing, so nothing was saved. It is now: %s. What you entered is still in the form: "+
			"save again to replace it.",
		"Nội dung này đã được đổi ở nơi khác trong lúc bạn sửa nên chưa lưu gì. Hiện đang là: %s. Nội dung bạn nhập vẫn còn trong biểu mẫu: "+
			"bấm lưu lần nữa để thay thế.", there))
}

// confirmation is an action that can't be undone, and the question before it: in
// a dialog ({{template "ask"}}), or on a page of its own where there are no
// scripts. GET of its path asks, POST acts; its row of the table is a question, whose
// handler makes the confirmation and gives it to confirm.
type confirmation struct {
	Path   string
	Title  string
	Texts  []string // what will happen
	Button string
	Back   string // the page of whom the answer is no

	section string // of the navigation

	Word   string // must be typed to confirm; empty: a click is enough
	Prompt string // asks for it
	same   func(typed, word string) bool

	do   func() error
	done app.Text // that it was done
	to   string   // the page that follows; empty: Back
}

// ID is that of the dialog.
func (c confirmation) ID() string {
	return "ask" + strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(c.Path)
}

// confirm shows the page of the question, or acts.
func (s *Server) confirm(v *visit, c confirmation) (err error) {
	if v.Method == http.MethodPost {
		if c.Word != "" && !c.same(v.PostFormValue("word"), c.Word) {
			err = app.Refused(app.CodeValidation,
				app.Text{EN: "What you typed does not match. Nothing was changed.", VI: "Nội dung nhập không khớp. Chưa có gì thay đổi."})
		} else {
			err = c.do()
		}
		if err == nil {
			return s.redirect(v, cmp.Or(c.to, c.Back), c.done)
		}
	}
	return s.render(v, err, pageHead{"confirm", c.section, app.Text{EN: c.Title, VI: c.Title}}, c)
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
