package dashboard

import (
	"slices"
	"strconv"
	"strings"

	"baoco/app"
)

const guidePath = "/guide"

// inGuide tells whether an owner is on the guide or sent a form of it.
func (v *visit) inGuide() bool {
	return v.may(ownerOnly) && (v.URL.Path == guidePath || v.PostForm.Get("guide") != "")
}

// next is the page that follows an action: the guide where its form stood there.
func (v *visit) next(page string) string {
	if v.inGuide() {
		return guidePath
	}
	return page
}

// nextAt is next for an action whose result is seen at its step of the guide.
func (v *visit) nextAt(step, page string) string {
	if v.inGuide() {
		return guidePath + "?step=" + step + "#step-" + step
	}
	return page
}

type stepState string

const (
	stepDone    stepState = "done"
	stepWaiting stepState = "waiting" // for somebody else
	stepOpen    stepState = "open"    // it is shown with its form
	stepLater   stepState = "later"
	stepSkipped stepState = "skipped"
)

// overviewSteps is what an owner skips to hide the steps on the overview.
const overviewSteps = "overview"

// skipped tells whether the owners of the account skipped a step.
func (v *visit) skipped(name string) bool {
	return slices.Contains(strings.Fields(v.account.GuideSkipped), name)
}

// guideStep is a step of the guide, as the page of its subject makes it.
type guideStep struct {
	Name     string // a part of its address
	Title    app.Text
	To       string // the page of what it makes
	Optional bool   // money is received without it, so it can be skipped
	form     string // the page with the form of the step: where that form is refused, the guide shows it; empty: it has none
	read     func(s *Server, v *visit) (guideProgress, error)
	show     part // the step where it isn't done; what was sent is the data of the page with the refused form
}

// guideProgress is how far a step is.
type guideProgress struct {
	State stepState // empty: the visitor has no such step
	Made  string    // what it made, if it is done
}

// doneIf is done where something was made.
func doneIf(made string) guideProgress {
	if made == "" {
		return guideProgress{State: stepLater}
	}
	return guideProgress{stepDone, made}
}

// doneByFirst is done where there is something in a list, which was read with err: it names the
// first, and says how many there are besides.
func doneByFirst[T any](list []T, err error, name func(T) string) (guideProgress, error) {
	if err != nil || len(list) == 0 {
		return doneIf(""), err
	}
	made := name(list[0])
	if n := len(list); n > 1 {
		made += " +" + strconv.Itoa(n-1)
	}
	return doneIf(made), nil
}

// stepOf is the name of the step whose form stands on a page; empty: there is none.
func (s *Server) stepOf(form string) string {
	at := slices.IndexFunc(s.steps, func(step guideStep) bool { return step.form == form })
	if at < 0 {
		return ""
	}
	return s.steps[at].Name
}
