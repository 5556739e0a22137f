package dashboard

import (
	"crypto/rand"
	"html/template"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// What is shown once, such as an API key or a secret, stands in the answer to the
// POST that made it: never in an address, which browsers and proxies remember,
// and never in the session, which is on disk. The server keeps no copy. A browser
// that loads such an answer again sends the form again; so the second time it must
// make nothing and show nothing.

// sentForm is a form that counts once. The Service call that takes the key uses
// it up together with what it does.
type sentForm struct {
	key  app.IdempotencyKey
	page string // where the form is shown
}

// formLifetime is how long such a form may lie open before it is sent. It is
// shorter than the time for which keys are remembered.
const formLifetime = app.IdempotencyWindow / 2

// Once is the hidden field of a form that counts once. Its key holds the time
// at which the form was shown.
func (v view) Once() template.HTML {
	return template.HTML(`<input type="hidden" name="once" value="` + strconv.FormatInt(v.now.Unix(), 10) + "-" + rand.Text() + `">`)
}

// readSentForm reads the key of a form that counts once. It gives false where
// the key is missing or too old.
func (v *visit) readSentForm(p page) bool {
	key := v.PostFormValue("once")
	v.form = sentForm{app.IdempotencyKey{Key: "form " + key, Operation: v.URL.Path}, v.next(v.formPage(p))}
	shown, _, _ := strings.Cut(key, "-")
	seconds, err := strconv.ParseInt(shown, 10, 64)
	age := v.now.Sub(time.Unix(seconds, 0))
	return err == nil && len(key) <= 60 && age <= formLifetime && age >= -time.Minute
}

func (s *Server) formExpired(v *visit) error {
	return s.redirect(v, v.form.page, app.Text{
		EN: "This form has expired, so nothing was done. Please fill it in again.",
		VI: "Biểu mẫu đã hết hạn nên chưa có gì được thực hiện. Vui lòng điền lại.",
	})
}

// secretPage shows something this once.
type secretPage struct {
	Lead    string // what it is, and what to do with it now
	Label   string
	Secret  string
	Example string       // a command line; empty: none
	Address givenAddress // that is the secret; zero: it is none
	QR      template.URL // of the address, for the camera of another device; empty: none
	Back    string
}

func (s *Server) showOnce(v *visit, section string, title app.Text, page secretPage) error {
	return s.render(v, nil, pageHead{"secret", section, title}, page)
}

// secretData is the page of a new secret that signs. Secret is empty if it was shown
// before.
type secretData struct {
	Path      string // of what it is the secret of
	Lead, Use app.Text
	Secret    string
	New       bool // what it is the secret of is new too
	OverlapTo time.Time
	Plain     string
	Receivers []receiver
	Script    string // of a webhook of delivery.WebhookSheet, which has no receivers
}

func (s *Server) showSigningSecret(v *visit, data secretData) error {
	title := app.Text{EN: "Save this secret now", VI: "Hãy lưu khoá bí mật này ngay"}
	if data.Secret == "" {
		title = app.Text{EN: "Secret already shown", VI: "Khoá bí mật đã được hiển thị"}
	}
	return s.render(v, nil, pageHead{"signing_secret", "webhooks", title}, data)
}

// sendSecret answers with a secret as a file. The page of a new secret sends the
// secret here, since the server keeps no copy.
func (v *visit) sendSecret(noun string, id int64) error {
	secret := v.PostFormValue("secret")
	if !delivery.IsSecret(secret) {
		return app.InvalidField("secret", "is not one that baoco made", "không phải khoá bí mật do baoco tạo")
	}
	of := strconv.FormatInt(id, 10)
	h := v.w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="baoco-`+noun+"-"+of+`.env"`)
	_, _ = v.w.Write([]byte("# baoco, " + noun + " " + of + "\nBAOCO_SECRET=" + secret + "\n"))
	return nil
}
