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

// faults is what is wrong with a form that was sent. A template writes all faults above the
// form with {{template "problem" .}}, and the fault of a field at its input: it has
// {{.Wrong "name"}} in the tag of the input and {{.Why "name"}} after the label.
type faults struct {
	Problem string            // empty: nothing is wrong
	byField map[string]string // one sentence each

	sameName bool // another thing has the same name: see SameName
}

// faultsOf writes an error for the visitor who filled the form in: the sentence of each field,
// or the sentence of the error if it names no field.
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

// Wrong is the attributes that mark the input of a field with a fault. They also name the
// texts that describe the input: hints, which are ids, and the text of Why.
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

// SameName is a hidden field with which the form may be sent again, if it was refused because
// another thing has the same name.
func (f faults) SameName(name string) template.HTML {
	if !f.sameName {
		return ""
	}
	return template.HTML(`<input type="hidden" name="same_name" value="` + template.HTMLEscapeString(name) + `">`)
}

// newName reports whether the form must be refused if another thing has the same name.
func (v *visit) newName() bool { return v.PostFormValue("same_name") != v.PostFormValue("name") }

// Why says what is wrong with a field; empty: nothing is wrong.
func (f faults) Why(field string) template.HTML {
	if f.byField[field] == "" {
		return ""
	}
	return template.HTML(`<p class="hint field-problem" id="` + field + `-problem">` + template.HTMLEscapeString(f.byField[field]) + `</p>`)
}

// A form that replaces stored fields holds a digest of them as they were when it was
// shown. If somebody has changed them meanwhile, the form is refused once: the page
// says what is stored now, and keeps what was typed. When the form is sent again, it counts.

// FormVersion is the hidden field with the digest of the fields that the form shows. A form
// that was refused keeps its digest.
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

// unchanged refuses the form that was sent if the stored fields were changed since the form was
// shown. now are the stored fields, in the order of the template.
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
		case []int64, bool: // ids and ticks can't be written alone
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

// confirmation is an action that can't be undone, and the question before it. The question is
// a dialog ({{template "ask"}}), or a page of its own if the browser runs no scripts. GET of
// its path asks, POST acts. Its row of the table has the kind question, and its handler makes
// the confirmation and passes it to confirm.
type confirmation struct {
	Path   string
	Title  string
	Texts  []string // what will happen
	Button string
	Back   string // the page if the answer is no

	section string // of the navigation

	Word   string // the visitor must type it to confirm; empty: a click is enough
	Prompt string // the label that asks for Word
	same   func(typed, word string) bool

	do   func() error
	done app.Text // says that it was done
	to   string   // the page that follows; empty: Back
}

// ID is the HTML id of the dialog.
func (c confirmation) ID() string {
	return "ask" + strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(c.Path)
}

// confirm shows the page of the question, or acts if the method is POST.
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
	visible := func(s string) string { return strings.Join(strings.Fields(strings.Map(drop, s)), " ") }
	return strings.EqualFold(visible(typed), visible(name))
}
