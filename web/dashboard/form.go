package dashboard

import (
	"errors"
	"html/template"
	"strings"

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
			f.Problems[field.Field] = fieldProblem(field, lang)
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

// fieldProblem is one wrong field as a sentence.
func fieldProblem(f app.FieldError, lang app.Lang) string {
	return app.FieldName(f.Field).In(lang) + " " + f.Text.In(lang) + "."
}

// fieldProblems is for a form with one place for all problems: the fields that
// err is about, in words. It is empty for any other error.
func fieldProblems(err error, lang app.Lang) string {
	var e *app.Error
	if !errors.As(err, &e) {
		return ""
	}
	var parts []string
	for _, f := range e.Fields {
		parts = append(parts, fieldProblem(f, lang))
	}
	return strings.Join(parts, " ")
}

// problemOf is fieldProblems for a form whose names can be in use already: it
// says what a conflict is, too.
func problemOf(err error, lang app.Lang) string {
	var e *app.Error
	if errors.As(err, &e) && e.Code == app.CodeConflict && len(e.Fields) == 0 {
		return e.Text.In(lang)
	}
	return fieldProblems(err, lang)
}
