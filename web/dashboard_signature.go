package web

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"baoco/app"
)

// maxSignatureForm is the most that the form of the signature tool may be: the
// largest body, as form encoding writes it, and what stands around it.
const maxSignatureForm = 4*app.MaxCheckedBody + 16<<10

// signatureData is the signature tool's form, and what came of it. The secret
// that was entered is nowhere in it.
type signatureData struct {
	Webhooks                        []app.Webhook
	WebhookID, DeliveryID           string
	Body                            string
	Signature, MessageID, Timestamp string
	Check                           *app.SignatureCheck // nil: nothing was checked
	formProblems
}

// Webhook is the id of the webhook that the form names; 0: none.
func (d signatureData) Webhook() int64 { return idOrNone(d.WebhookID) }

// Delivery is the id of the delivery that the form names; 0: none.
func (d signatureData) Delivery() int64 { return idOrNone(d.DeliveryID) }

func idOrNone(s string) int64 {
	if id, found := parseID(s); found {
		return id
	}
	return 0
}

// Further tells whether the fields that few need are open.
func (d signatureData) Further() bool { return d.MessageID != "" || d.Timestamp != "" }

func (s *dashboardServer) signaturePage(v *visit) error {
	query := v.URL.Query()
	return s.showSignature(v, http.StatusOK, signatureData{WebhookID: query.Get("webhook_id"), DeliveryID: query.Get("delivery_id")})
}

func (s *dashboardServer) showSignature(v *visit, status int, data signatureData) (err error) {
	if data.Webhooks, err = s.service.Webhooks(v.Context(), v.account.ID); err != nil {
		return err
	}
	return s.render(v, status, "signature", "webhooks", app.Text{EN: "Check a signature", VI: "Kiểm tra chữ ký"}, data)
}

// checkSignature checks what was entered. Nothing of it is kept: the answer is
// the page.
func (s *dashboardServer) checkSignature(v *visit) error {
	err := v.ParseForm()
	if err == nil { // it fits into memory: no file is made of it
		err = v.ParseMultipartForm(maxSignatureForm)
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return s.explainSignature(v, signatureData{}, signatureFormError(err))
	}
	data := signatureData{
		WebhookID: v.PostFormValue("webhook_id"), DeliveryID: strings.TrimPrefix(strings.TrimSpace(v.PostFormValue("delivery_id")), "#"),
		Signature: v.PostFormValue("signature"), MessageID: v.PostFormValue("message_id"), Timestamp: v.PostFormValue("timestamp"),
		// A text area sends every line break as CRLF, whatever it was.
		Body: strings.ReplaceAll(v.PostFormValue("body"), "\r\n", "\n"),
	}
	claim, err := s.readClaim(v, data)
	data.forget(claim.Secret)
	if err == nil {
		var check app.SignatureCheck
		if check, err = s.service.CheckSignature(v.Context(), v.account.ID, claim, v.now); err == nil {
			data.Check = &check
			return s.showSignature(v, http.StatusOK, data)
		}
	}
	if app.CodeOf(err) == app.CodeNotFound { // the webhook was found
		err = app.ErrUnknownReference("delivery_id")
	}
	return s.explainSignature(v, data, err)
}

// readClaim reads what is to be checked. A file, whose bytes are as they are,
// goes before the text area.
func (s *dashboardServer) readClaim(v *visit, data signatureData) (claim app.SignatureClaim, err error) {
	claim = app.SignatureClaim{
		Body: []byte(data.Body), Signature: data.Signature, MessageID: data.MessageID, Timestamp: data.Timestamp, Secret: v.PostFormValue("secret"),
	}
	var bad app.Invalid
	var found bool
	if claim.WebhookID, found = parseID(data.WebhookID); found {
		_, err := s.service.Webhook(v.Context(), v.account.ID, claim.WebhookID)
		if err != nil && app.CodeOf(err) != app.CodeNotFound {
			return claim, err
		}
		found = err == nil
	}
	if !found && data.WebhookID != "" {
		bad.Merge(app.ErrUnknownReference("webhook_id"))
	}
	if claim.DeliveryID, found = parseID(data.DeliveryID); !found && data.DeliveryID != "" {
		bad.Merge(app.ErrUnknownReference("delivery_id"))
	}
	if file, _, err := v.FormFile("file"); err == nil {
		defer file.Close()
		if claim.Body, err = io.ReadAll(file); err != nil {
			return claim, signatureFormError(err)
		}
	}
	return claim, bad.Err()
}

func signatureFormError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return app.InvalidField("body", "must be at most 64 KiB", "tối đa 64 KiB")
	}
	return app.InvalidField("body", "did not arrive whole; please try again", "chưa được tải lên trọn vẹn, vui lòng thử lại")
}

// forget takes out of the form what looks like a secret, in whichever field it
// was entered: the page never repeats one.
func (d *signatureData) forget(secret string) {
	secret = strings.TrimSpace(secret)
	for _, field := range []*string{&d.Body, &d.Signature, &d.MessageID, &d.Timestamp, &d.DeliveryID, &d.WebhookID} {
		if strings.Contains(*field, "whsec_") || secret != "" && strings.Contains(*field, secret) {
			*field = ""
		}
	}
}

// explainSignature shows the form with what is wrong with it.
func (s *dashboardServer) explainSignature(v *visit, data signatureData, err error) error {
	status, err := data.explain(err, v.lang)
	if err != nil {
		return err
	}
	return s.showSignature(v, status, data)
}

// Doubted tells whether an attempt may have failed for its signature.
func (v view) Doubted(r app.Result) bool {
	return r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden
}
