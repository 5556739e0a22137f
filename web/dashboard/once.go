package dashboard

import (
	"crypto/rand"
	"html/template"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// An API key or a secret is shown once, in the answer to the POST that made it: never in an
// address, which browsers and proxies remember, and never in the session, which is on
// disk. The server keeps no copy. A browser that reloads this answer sends the form
// again; the second time the form must make nothing and show nothing.

// sentForm is a form that counts once. The call of a service that takes the key stores it in
// the commit that makes the change.
type sentForm struct {
	key  app.IdempotencyKey
	page string // where the form is shown
}

// formLifetime is how long a form that counts once may stay open before it is sent. It is
// shorter than the time for which keys are kept.
const formLifetime = app.IdempotencyWindow / 2

// Once is the hidden field of a form that counts once. Its key begins with the time at which
// the form was shown.
func (v view) Once() template.HTML {
	return template.HTML(`<input type="hidden" name="once" value="` + strconv.FormatInt(v.now.Unix(), 10) + "-" + rand.Text() + `">`)
}

// readSentForm reads the key of a form that counts once. It returns false if the key is missing
// or too old.
func (s *Server) readSentForm(v *visit, p page) bool {
	key := v.PostFormValue("once")
	v.form = sentForm{app.IdempotencyKey{Key: "form " + key, Operation: v.URL.Path}, v.next(s.formPage(v, p))}
	shown, _, _ := strings.Cut(key, "-")
	seconds, err := strconv.ParseInt(shown, 10, 64)
	age := v.now.Sub(time.Unix(seconds, 0))
	return err == nil && len(key) <= 60 && age <= formLifetime && age >= -time.Minute
}

func (s *Server) formExpired(v *visit) error {
	return s.redirect(v, v.form.page, app.Text{EN: "This form has expired, so nothing was done. Please fill it in again.",
		VI: "Biểu mẫu đã hết hạn nên chưa có gì được thực hiện. Vui lòng điền lại."})
}
