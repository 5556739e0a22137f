package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"baoco/app/upkeep"
)

// A standby shows the pages of a copy, with a banner on each (layout.html). What would
// change something, or could be taken for the server's, is refused in this file, before
// a handler sees it.

// standbyForms are the forms that change nothing in the copy.
var standbyForms = []string{"/login", "/login/code", "/login/passkey", "/logout", "/look"}

// onStandby reports whether a standby answers: not what acts, nor what shows money to a
// counter, is about this machine's own service, or must be written into the audit log.
func (p page) onStandby() bool {
	switch {
	case p.Method == http.MethodPost:
		return slices.Contains(standbyForms, p.Path)
	case strings.Contains(p.Path, "/counter"), strings.Contains(p.Path, tillPath), strings.HasPrefix(p.Path, "/setup/"), p.Path == "/system", p.Path == guidePath:
		return false
	}
	return p.kind != lasting || p.Path == livePath
}

// standbyView is what the banner shows.
type standbyView struct {
	upkeep.Standby
	Seconds  int // how old the copy is
	Problems []string
}

// standbyView is what the banner shows; nil: this is the server.
func (s *Server) standbyView(v *visit) *standbyView {
	if s.Standby == nil {
		return nil
	}
	state := s.Standby()
	shown := &standbyView{Standby: state, Seconds: int(state.Age(v.now).Seconds())}
	for _, problem := range state.Problems(v.now) {
		shown.Problems = append(shown.Problems, problem.In(v.Lang))
	}
	return shown
}
