package dashboard

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/verify"
	"baoco/web/wire"
)

// maxSignatureForm is the largest form of the signature tool, in bytes: the largest body as a
// form encodes it, and the other fields.
const maxSignatureForm = 4*verify.MaxBody + 16<<10

// signatureData is the form of the signature tool and its result. It never holds
// the secret that was entered.
type signatureData struct {
	Webhooks                        []delivery.Webhook
	WebhookID, DeliveryID           string
	Body                            string
	Signature, MessageID, Timestamp string
	Check                           *verify.Result // nil: nothing was checked
}

// Webhook is the id of the webhook that the form names; 0: none.
func (d signatureData) Webhook() int64 { return idOrNone(d.WebhookID) }

// Delivery is the id of the delivery that the form names; 0: none.
func (d signatureData) Delivery() int64 { return idOrNone(d.DeliveryID) }

func idOrNone(s string) int64 {
	id, _ := wire.ParseID(s)
	return id
}

// Further reports whether the form shows the fields that few visitors need.
func (d signatureData) Further() bool { return d.MessageID != "" || d.Timestamp != "" }

func (s *Server) signaturePage(v *visit) error {
	query := v.URL.Query()
	return s.showSignature(v, signatureData{WebhookID: query.Get("webhook_id"), DeliveryID: query.Get("delivery_id")}, nil)
}

func (s *Server) showSignature(v *visit, data signatureData, wrong error) (err error) {
	if data.Webhooks, err = s.Services.Deliveries.Webhooks(v.Context(), v.account.ID); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"signature", "webhooks", app.Text{EN: "Check the signature", VI: "Kiểm tra chữ ký"}}, data)
}

// checkSignature checks the signature that was entered and shows the result. It stores nothing.
func (s *Server) checkSignature(v *visit) error {
	data, claim, err := readClaim(v)
	if err == nil {
		data.Check, err = s.judgeClaim(v, claim)
	}
	return s.showSignature(v, data, err)
}

// judgeClaim checks a claim against the webhooks and deliveries of the account.
func (s *Server) judgeClaim(v *visit, claim verify.Claim) (*verify.Result, error) {
	facts, err := s.Services.Deliveries.SignatureFacts(v.Context(), v.account.ID, claim.Reference(), v.now)
	if app.CodeOf(err) == app.CodeNotFound {
		if _, err := s.Services.Deliveries.Webhook(v.Context(), v.account.ID, claim.WebhookID); claim.WebhookID != 0 && err != nil {
			return nil, app.ErrUnknownReference("webhook_id")
		}
		return nil, app.ErrUnknownReference("delivery_id")
	}
	if err != nil {
		return nil, err
	}
	check, err := verify.Check(claim, facts, v.now)
	return &check, err
}

// readClaim reads the form. It prefers a file to the text area, since the bytes of a file
// arrive unchanged.
func readClaim(v *visit) (data signatureData, claim verify.Claim, err error) {
	err = v.ParseForm()
	if err == nil { // the form fits into memory, so no temporary file is made
		err = v.ParseMultipartForm(maxSignatureForm)
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return data, claim, signatureFormError(err)
	}
	data = signatureData{
		WebhookID: v.PostFormValue("webhook_id"), DeliveryID: strings.TrimPrefix(strings.TrimSpace(v.PostFormValue("delivery_id")), "#"),
		Signature: v.PostFormValue("signature"), MessageID: v.PostFormValue("message_id"), Timestamp: v.PostFormValue("timestamp"),
		// A text area sends every line break as CRLF.
		Body: strings.ReplaceAll(v.PostFormValue("body"), "\r\n", "\n"),
	}
	claim = verify.Claim{
		CallReference: delivery.CallReference{WebhookID: data.Webhook(), DeliveryID: data.Delivery()},
		Body:          []byte(data.Body), Signature: data.Signature, MessageID: data.MessageID, Timestamp: data.Timestamp,
		Secret: v.PostFormValue("secret"),
	}
	var bad app.Invalid
	if claim.WebhookID == 0 && data.WebhookID != "" {
		bad.Merge(app.ErrUnknownReference("webhook_id"))
	}
	if claim.DeliveryID == 0 && data.DeliveryID != "" {
		bad.Merge(app.ErrUnknownReference("delivery_id"))
	}
	data.forget(claim.Secret)
	if file, _, none := v.FormFile("file"); none == nil {
		defer file.Close()
		if claim.Body, err = io.ReadAll(file); err != nil {
			return data, claim, signatureFormError(err)
		}
	}
	return data, claim, bad.Err()
}

func signatureFormError(err error) error {
	if _, found := errors.AsType[*http.MaxBytesError](err); found {
		return app.InvalidField("body", "must be at most 64 KiB", "tối đa 64 KiB")
	}
	return app.InvalidField("body", "did not arrive whole; please try again", "chưa được tải lên trọn vẹn, vui lòng thử lại")
}

// forget empties each field of the form that holds the secret, so that the page never shows
// it.
func (d *signatureData) forget(secret string) {
	secret = strings.TrimSpace(secret)
	for _, field := range []*string{&d.Body, &d.Signature, &d.MessageID, &d.Timestamp, &d.DeliveryID, &d.WebhookID} {
		if strings.Contains(*field, delivery.SecretPrefix) || secret != "" && strings.Contains(*field, secret) {
			*field = ""
		}
	}
}

// MaybeBadSignature reports whether an attempt may have failed because the receiver
// refused its signature.
func (w words) MaybeBadSignature(r delivery.Result) bool {
	return r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden
}
