package dashboard

import (
	"slices"
	"strconv"
	"strings"

	"baoco/app"
)

const guidePath = "/guide"

// inGuide reports whether the visitor is an owner on the guide, or sent a form from it.
func (v *visit) inGuide() bool {
	return v.may(ownerOnly) && (v.URL.Path == guidePath || v.PostForm.Get("guide") != "")
}

// next is the page that follows an action: the guide if its form was sent from there, else
// page.
func (v *visit) next(page string) string {
	if v.inGuide() {
		return guidePath
	}
	return page
}

// nextAt is next for an action whose result its step of the guide shows.
func (v *visit) nextAt(step, page string) string {
	if v.inGuide() {
		return guidePath + "?step=" + step + "#step-" + step
	}
	return page
}

type stepState string

const (
	stepDone    stepState = "done"
	stepWaiting stepState = "waiting" // the owner has done their part, and others must act
	stepOpen    stepState = "open"    // the guide shows it with its form
	stepLater   stepState = "later"
	stepSkipped stepState = "skipped"
)

// overviewSteps is the name that an owner skips to hide the steps on the overview.
const overviewSteps = "overview"

// skipped reports whether the owners of the account skipped a step.
func (v *visit) skipped(name string) bool {
	return slices.Contains(strings.Fields(v.account.GuideSkipped), name)
}

// guideStep is a step of the guide, as the page of its subject makes it.
type guideStep struct {
	Name     string // a part of its address
	Title    app.Text
	To       string // the page that lists what the step makes
	Optional bool   // money is recorded without the step, so it can be skipped
	form     string // the page with the form of the step, which the guide shows if it is refused; empty: the step has no form
	read     func(s *Server, v *visit) (guideProgress, error)
	show     part // makes a step that isn't done; its argument sent is the data of the page with the refused form
}

// guideProgress is how far a step is.
type guideProgress struct {
	State stepState // empty: the visitor has no such step
	Made  string    // names what the step made, if it is done
}

// doneIf is the progress of a step: done if something was made.
func doneIf(made string) guideProgress {
	if made == "" {
		return guideProgress{State: stepLater}
	}
	return guideProgress{stepDone, made}
}

// doneByFirst is the progress of a step: done if a list, which was read with err, isn't empty.
// It names the first element and says how many others there are.
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

// stepOf is the name of the step whose form is on a page; empty: no step has its form there.
func (s *Server) stepOf(form string) string {
	at := slices.IndexFunc(s.steps, func(step guideStep) bool { return step.form == form })
	if at < 0 {
		return ""
	}
	return s.steps[at].Name
}
