package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"baoco/web/wire"
)

// page is one line of the table.
type page struct {
	Method string
	Path   string
	Takes  permission
	handle func(s *Server, v *visit) error
	kind   pageKind
}

// pageKind is how long an answer is good for, and how the form of an action is taken.
type pageKind struct {
	live    bool   // it is kept up to date: see live.go
	lasts   bool   // the answer itself goes on: see eventstream.go, export.go
	signsIn bool   // the visitor signs in there, so over HTTPS where there is one
	asks    bool   // it is a question: POST of its path is the answer, see confirmation
	once    bool   // the form counts once, however often it is sent: see once.go
	form    string // the page of that form; empty: see formPage
	file    int64  // the largest size in bytes of a form with a file, which its handler reads itself; 0: it has none
}

var (
	still    = pageKind{} // as it was when it was asked for
	live     = pageKind{live: true}
	lasting  = pageKind{lasts: true}
	signsIn  = pageKind{signsIn: true}
	question = pageKind{asks: true}
	once     = pageKind{once: true}
)

// withFile is a form with a file, of a largest size in bytes.
func withFile(most int64) pageKind { return pageKind{file: most} }

// The largest size of a form, in bytes.
const (
	maxForm     = 64 << 10
	maxOpenForm = 8 << 10 // if nobody has to be signed in
)

// answered adds the row of the answer behind that of each question.
func answered(rows []page) (all []page) {
	for _, p := range rows {
		all = append(all, p)
		if p.kind.asks {
			p.Method = http.MethodPost
			all = append(all, p)
		}
	}
	return all
}

// The page of one thing, and the actions on it, name it in their path. Their handlers are made
// of the function that finds it and of what is done with what was found.

// of lets handle do something with what find has found.
func of[T any](find func(*Server, *visit) (T, error), handle func(*Server, *visit, T) error) func(*Server, *visit) error {
	return func(s *Server, v *visit) error {
		found, err := find(s, v)
		if err != nil {
			return err
		}
		return handle(s, v, found)
	}
}

// shown is the page of what find has found. show also shows it where an action on it is refused.
func shown[T any](find func(*Server, *visit) (T, error), show func(*Server, *visit, T, error) error) func(*Server, *visit) error {
	return of(find, func(s *Server, v *visit, found T) error { return show(s, v, found, nil) })
}

// tried is the action act on what find has found. Where it is refused, show shows the page of
// what was found, which says why: act may put there what was entered.
func tried[T any](find func(*Server, *visit) (T, error), act func(*Server, *visit, *T) error,
	show func(*Server, *visit, T, error) error) func(*Server, *visit) error {
	return of(find, func(s *Server, v *visit, found T) error {
		if err := act(s, v, &found); err != nil {
			return show(s, v, found, err)
		}
		return nil
	})
}

// blank is the page of a form before anything but form was entered.
func blank[F any](show func(*Server, *visit, F, error) error, form F) func(*Server, *visit) error {
	return func(s *Server, v *visit) error { return show(s, v, form, nil) }
}

// asks is the question before something is done with what find has found, and then does it.
func asks[T any](find func(*Server, *visit) (T, error), ask func(*Server, *visit, T) confirmation) func(*Server, *visit) error {
	return of(find, func(s *Server, v *visit, found T) error { return s.confirm(v, ask(s, v, found)) })
}

// Routes are the pages and the static files. An action from another site is
// refused, by Sec-Fetch-Site, or by Origin where a browser is too old to send that.
// All browsers send one of the two with a POST. What sends neither is a program,
// which no other site can make act for a user.
func (s *Server) Routes() []wire.Route {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Refuse(w, r, errOtherSite) }))
	list := []wire.Route{{Method: "GET", Path: "/static/{name}", Handler: s.static}}
	for _, p := range s.table {
		route := wire.Route{Method: p.Method, Path: p.Path, Lasts: p.kind.lasts}
		route.Handler = protection.Handler(s.withSession(s.visiting(p, s.depthBelowPage(p.Path)))).ServeHTTP
		switch {
		case p.Method != http.MethodPost:
		case p.Takes == open:
			route.MaxBody = maxOpenForm
		default:
			route.MaxBody = cmp.Or(p.kind.file, maxForm)
		}
		list = append(list, route)
	}
	return list
}

// pageAbove is the address of the nearest page above a path.
func (s *Server) pageAbove(path string) string {
	isPage := func(p page) bool {
		return p.Method == http.MethodGet &&
			slices.EqualFunc(strings.Split(p.Path, "/"), strings.Split(path, "/"), func(pattern, segment string) bool {
				return pattern == segment || strings.HasPrefix(pattern, "{") && pattern != "{$}"
			})
	}
	for path != "" && !slices.ContainsFunc(s.table, isPage) {
		path = path[:strings.LastIndexByte(path, '/')]
	}
	return cmp.Or(path, "/")
}

// depthBelowPage is how many segments at the end of a path must go to get the
// path of a page, something that answers GET.
func (s *Server) depthBelowPage(path string) (n int) {
	for path != "" && !slices.ContainsFunc(s.table, func(p page) bool { return p.Method == http.MethodGet && p.Path == path }) {
		path = path[:strings.LastIndexByte(path, '/')]
		n++
	}
	return n
}

// pathBack is the page to show again after a visitor changed the language or the
// theme. The answer to a POST can't be shown again: for one it is the nearest
// page above its path.
func (v *visit) pathBack() string {
	if v.Method == http.MethodGet || v.Method == http.MethodHead {
		return v.URL.RequestURI()
	}
	to := v.URL.EscapedPath()
	for range v.backDepth {
		to = to[:strings.LastIndexByte(to, '/')]
	}
	return cmp.Or(to, "/")
}

// formPage is the page at which an action's form stands: that of its row, else the one
// named new below the path of the action, the page at that path, or the nearest above it.
// Of a page it is the page.
func (s *Server) formPage(v *visit, p page) string {
	if v.Method != http.MethodPost {
		return v.pathBack()
	}
	hasForm := func(other page) bool { return other.Method == http.MethodGet && other.Path == p.Path+"/new" }
	if slices.ContainsFunc(s.table, hasForm) {
		return p.Path + "/new"
	}
	return cmp.Or(p.kind.form, v.pathBack())
}
