package inbound

import (
	"net/http"
	"strconv"
	"time"

	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/web/wire"
)

// vietQRCall takes VietQR's transaction-sync. VietQR counts a call as failed if the answer has
// no reftransactionid.
func (s *Server) vietQRCall(w http.ResponseWriter, r *http.Request) {
	recording, err := s.accept(w, r, s.findVietQRByToken)
	if err != nil {
		status, body := s.AuthErrorBody(w, r, err, time.Now())
		reason := string(body.Code)
		wire.WriteJSON(w, status, vietQRAnswer{Error: true, ErrorReason: &reason, ToastMessage: body.Messages})
		return
	}
	reference := "inbound-" + strconv.FormatInt(recording.EventID, 10)
	if ids := recording.TransactionIDs; len(ids) > 0 && ids[0] != 0 {
		reference = strconv.FormatInt(ids[0], 10)
	}
	wire.WriteJSON(w, http.StatusOK, vietQRAnswer{
		ToastMessage: wire.OK(r, "The call was recorded.", "Đã ghi nhận.").Messages, Object: &vietQRReference{reference},
	})
}

type vietQRAnswer struct {
	Error        bool             `json:"error"`
	ErrorReason  *string          `json:"errorReason"`
	ToastMessage string           `json:"toastMessage"`
	Object       *vietQRReference `json:"object"`
}

type vietQRReference struct {
	RefTransactionID string `json:"reftransactionid"`
}

// findVietQRByToken finds a source by the token in the path. On the path without a token it
// finds the source that the access token names. It returns the zero Source if there is none.
func (s *Server) findVietQRByToken(r *http.Request) (source inbound.Source, err error) {
	if r.PathValue("token") != "" {
		source, err = s.findSource(r)
	} else if id, ok := provider.VietQRTokenSource(wire.Bearer(r.Header)); ok {
		source, _, err = s.service.Inbound.SourceByID(r.Context(), id)
	}
	return onlyVietQR(source), err
}

// findVietQRByUsername finds a source by the token in the path. On the path without a token it
// finds the source by the user name. It returns the zero Source if there is none.
func (s *Server) findVietQRByUsername(r *http.Request) (source inbound.Source, err error) {
	if r.PathValue("token") != "" {
		source, err = s.findSource(r)
	} else if name, ok := provider.BasicUsername(r.Header); ok {
		source, _, err = s.service.Inbound.FindSourceByUsername(r.Context(), name)
	}
	return onlyVietQR(source), err
}

// onlyVietQR returns source if its provider is VietQR, else the zero Source.
func onlyVietQR(source inbound.Source) inbound.Source {
	if source.Provider != provider.VietQR {
		return inbound.Source{}
	}
	return source
}

func (s *Server) vietQRToken(w http.ResponseWriter, r *http.Request) {
	source, err := s.findVietQRByUsername(r)
	kind, _ := provider.Find(source.Provider)
	var in provider.Call
	if err == nil {
		in, err = s.verify(w, r, source, kind, provider.VerifyVietQRLogin)
	}
	if err != nil {
		status, body := s.AuthErrorBody(w, r, err, time.Now())
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Basic")
		}
		wire.WriteJSON(w, status, struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		}{"FAILED", body.Messages})
		return
	}
	wire.WriteJSON(w, http.StatusOK, struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}{provider.MakeVietQRToken(in.Source, in.At), "Bearer", int(provider.VietQRTokenLife / time.Second)})
}
