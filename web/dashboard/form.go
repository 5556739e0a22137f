package dashboard

import (
	"html/template"
	"strings"

	"baoco/app"
)

// faults is what is wrong with a form that was sent. A template writes all of it
// above the form with {{template "problem" .}}. At the input of a field it
// repeats what is wrong there: {{.Wrong "name"}} stands in the tag of the input
// and {{.Why "name"}} after the label.
type faults struct {
	Problem string            // empty: nothing is wrong
	byField map[string]string // one sentence each
}

// faultsOf says what is wrong to whom filled the form in: the sentence of each
// field, or that of the error where it names no field.
func faultsOf(e *app.Error, lang app.Lang) faults {
	if len(e.Fields) == 0 {
		return faults{Problem: e.Text.In(lang)}
	}
	f := faults{byField: map[string]string{}}
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

// Why says what is wrong with a field; empty: nothing is.
func (f faults) Why(field string) template.HTML {
	if f.byField[field] == "" {
		return ""
	}
	return template.HTML(`<p class="hint field-problem" id="` + field + `-problem">` + template.HTMLEscapeString(f.byField[field]) + `</p>`)
}
