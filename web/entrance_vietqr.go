package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/provider"
)

// vietQREntrance is the way in for transaction-sync. VietQR counts a call as
// failed where its answer has no reftransactionid.
var vietQREntrance = entrance{
	find: (*Server).findVietQRByToken,
	success: func(r *http.Request, recording app.Recording) any {
		answer := vietQRAnswer{ToastMessage: ok(r, "The call was recorded.", "Đã ghi nhận.").Messages, Object: &vietQRReference{}}
		answer.Object.RefTransactionID = "inbound-" + strconv.FormatInt(recording.EventID, 10)
		if ids := recording.TransactionIDs; len(ids) > 0 && ids[0] != 0 {
			answer.Object.RefTransactionID = strconv.FormatInt(ids[0], 10)
		}
		return answer
	},
	failure: func(f failure) any {
		reason := string(f.Code)
		return vietQRAnswer{Error: true, ErrorReason: &reason, ToastMessage: f.Messages}
	},
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

// findVietQRByToken finds a source by the path's token, or on the bare path by
// the source that its access token names.
func (s *Server) findVietQRByToken(r *http.Request) (app.Source, provider.Kind, bool, error) {
	if r.PathValue("token") != "" {
		return s.findVietQRByPath(r)
	}
	token, ok := provider.ParseVietQRToken(bearer(r.Header))
	if !ok {
		return app.Source{}, provider.Kind{}, false, nil
	}
	source, found, err := s.service.SourceByID(r.Context(), token.Source)
	return source, provider.VietQRAdapter, found && source.Provider == provider.VietQR, err
}

func (s *Server) findVietQRByPath(r *http.Request) (app.Source, provider.Kind, bool, error) {
	source, a, found, err := s.findSource(r)
	return source, a, found && source.Provider == provider.VietQR, err
}

// vietQRTokenEntrance is the way in for token_generate.
var vietQRTokenEntrance = entrance{
	find: (*Server).findVietQRByUsername,
	failure: func(f failure) any {
		return struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		}{"FAILED", f.Messages}
	},
}

// findVietQRByUsername finds a source by the path's token, or on the bare path
// by the user name.
func (s *Server) findVietQRByUsername(r *http.Request) (source app.Source, a provider.Kind, found bool, err error) {
	if r.PathValue("token") != "" {
		source, a, found, err = s.findVietQRByPath(r)
	} else if login, why := provider.BasicLogin(r.Header); why.Code == "" {
		name, _, _ := strings.Cut(login, ":")
		source, found, err = s.service.FindSourceByUsername(r.Context(), name)
		a, found = provider.VietQRAdapter, found && source.Provider == provider.VietQR
	}
	a.Verify = provider.VerifyVietQRLogin
	return source, a, found, err
}

// vietQRToken answers token_generate.
func (s *Server) vietQRToken(w http.ResponseWriter, r *http.Request) {
	in, _, err := s.verified(w, r, vietQRTokenEntrance, time.Now())
	if err != nil {
		status, body := s.refused(w, r, err, in.At)
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Basic")
		}
		writeJSON(w, status, vietQRTokenEntrance.failure(body))
		return
	}
	writeJSON(w, http.StatusOK, struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}{provider.MakeVietQRToken(in.Source, in.At.Add(provider.VietQRTokenLife)), "Bearer", int(provider.VietQRTokenLife / time.Second)})
}
