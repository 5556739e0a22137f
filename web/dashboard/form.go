package dashboard

import (
	"errors"
	"html/template"

	"baoco/app"
	"baoco/web/wire"
)

// formProblems is what is wrong with a form that was sent: a sentence above
// it, and one at each field.
type formProblems struct {
	Problem  string
	Problems map[string]string // by field
}

// explain takes what err says to whom filled the form in, and gives the status
// of the answer; other errors are given back.
func (f *formProblems) explain(err error, lang app.Lang) (status int, _ error) {
	var e *app.Error
	if !errors.As(err, &e) {
		return 0, err
	}
	switch e.Code {
	case app.CodeValidation:
		f.Problem = app.Text{EN: "Please check the highlighted fields.", VI: "Vui lòng kiểm tra lại các mục được đánh dấu."}.In(lang)
		f.Problems = map[string]string{}
		for _, field := range e.Fields {
			f.Problems[field.Field] = app.FieldName(field.Field).In(lang) + " " + field.Text.In(lang) + "."
		}
	case app.CodePlanExpired, app.CodePlanLimit, app.CodeConflict:
		f.Problem = e.Text.In(lang)
	default:
		return 0, err
	}
	return wire.StatusOf(e.Code), nil
}

// Wrong marks the input of a field that has a problem, and names where it is
// said. The field's name is the template's.
func (f formProblems) Wrong(field string) template.HTMLAttr {
	if f.Problems[field] == "" {
		return ""
	}
	return template.HTMLAttr(`aria-invalid="true" aria-describedby="` + field + `-problem"`)
}

// Why says what is wrong with a field, below its input.
func (f formProblems) Why(field string) template.HTML {
	if f.Problems[field] == "" {
		return ""
	}
	return template.HTML(`<p class="hint field-problem" id="` + field + `-problem">` + template.HTMLEscapeString(f.Problems[field]) + `</p>`)
}
