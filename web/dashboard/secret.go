package dashboard

import (
	"html/template"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// secretPage is the page that shows a secret once.
type secretPage struct {
	Lead    string // names the secret, and says what to do with it now
	Label   string
	Secret  string
	Example string       // a command line; empty: none
	Address givenAddress // zero: the secret is no address
	QR      template.URL // of the address, for the camera of another device; empty: not shown
	Back    string
}

func (s *Server) showOnce(v *visit, section string, title app.Text, page secretPage) error {
	return s.render(v, nil, pageHead{"secret", section, title}, page)
}

// secretData is the page of a new signing secret. Secret is empty if it was shown before.
type secretData struct {
	Path      string // of the page of the webhook or stream
	Lead, Use app.Text
	Secret    string
	New       bool // the webhook or stream is new too
	OverlapTo time.Time
	Plain     string
	Receivers []receiver
	Script    string // of a webhook of delivery.WebhookSheet, which has no receivers
	Help      string // the page of the help, if there are no receivers
}

func (s *Server) showSigningSecret(v *visit, data secretData) error {
	title := app.Text{EN: "Save this secret now", VI: "Hãy lưu khoá bí mật này ngay"}
	if data.Secret == "" {
		title = app.Text{EN: "Secret already shown", VI: "Khoá bí mật đã được hiển thị"}
	}
	return s.render(v, nil, pageHead{"signing_secret", "webhooks", title}, data)
}

// sendSecret answers with a secret as a file. The page of a new secret sends the secret with
// the request, since the server keeps no copy.
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
