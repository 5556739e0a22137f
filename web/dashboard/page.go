package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"baoco/web/wire"
)

// page is one row of the table.
type page struct {
	Method string
	Path   string
	Takes  permission
	handle func(s *Server, v *visit) error
	kind   pageKind
}

// pageKind is how a page stays up to date, and how the form of an action is read.
type pageKind struct {
	live    bool   // the page updates itself: see live.go
	lasts   bool   // the answer stays open: see eventstream.go, export.go
	signsIn bool   // the visitor signs in there, so it must use HTTPS if there is an HTTPS base URL
	asks    bool   // it is a question, and POST of its path is the answer: see confirmation
	once    bool   // the form counts once, however often it is sent: see once.go
	form    string // the page with the form of the action; empty: see formPage
	file    int64  // the largest size in bytes of a form with a file, which its handler reads itself; 0: no file
}

var (
	still    = pageKind{} // the page doesn't change while it is open
	live     = pageKind{live: true}
	lasting  = pageKind{lasts: true}
	signsIn  = pageKind{signsIn: true}
	question = pageKind{asks: true}
	once     = pageKind{once: true}
)

// withFile is a form with a file, of at most so many bytes.
func withFile(most int64) pageKind { return pageKind{file: most} }

// The largest size of a form, in bytes.
const (
	maxForm     = 64 << 10
	maxOpenForm = 8 << 10 // if nobody has to be signed in
)

// answered adds a row for the answer after the row of each question.
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

// The path of the page of one thing, and of an action on it, names the thing. Such a handler
// is made of two functions: one finds the thing, the other does something with it.

// of is the handler that calls handle with the thing that find finds.
func of[T any](find func(*Server, *visit) (T, error), handle func(*Server, *visit, T) error) func(*Server, *visit) error {
	return func(s *Server, v *visit) error {
		found, err := find(s, v)
		if err != nil {
			return err
		}
		return handle(s, v, found)
	}
}

// shown is the page of the thing that find finds.
func shown[T any](find func(*Server, *visit) (T, error), show func(*Server, *visit, T, error) error) func(*Server, *visit) error {
	return of(find, func(s *Server, v *visit, found T) error { return show(s, v, found, nil) })
}

// tried is the action act on the thing that find finds. If the action is refused, show shows the
// page of the thing, which says why. act may store in the thing what was entered.
func tried[T any](find func(*Server, *visit) (T, error), act func(*Server, *visit, *T) error,
	show func(*Server, *visit, T, error) error) func(*Server, *visit) error {
	return of(find, func(s *Server, v *visit, found T) error {
		if err := act(s, v, &found); err != nil {
			return show(s, v, found, err)
		}
		return nil
	})
}

// blank is the page of a form that wasn't sent yet, filled in with form.
func blank[F any](show func(*Server, *visit, F, error) error, form F) func(*Server, *visit) error {
	return func(s *Server, v *visit) error { return show(s, v, form, nil) }
}

// asks is the question before an action on the thing that find finds, and the action.
func asks[T any](find func(*Server, *visit) (T, error), ask func(*Server, *visit, T) confirmation) func(*Server, *visit) error {
	return of(find, func(s *Server, v *visit, found T) error { return s.confirm(v, ask(s, v, found)) })
}

// Routes are the pages and the static files. An action from another site is refused by
// Sec-Fetch-Site, or by Origin if an old browser doesn't send Sec-Fetch-Site. All browsers
// send one of the two with a POST. A client that sends neither is a program, which no other
// site can make act for a user.
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

// pageAbove is the nearest page at a path or above it.
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

// depthBelowPage is how many segments must be removed from the end of a path to get the path
// of a page, which answers GET.
func (s *Server) depthBelowPage(path string) (n int) {
	for path != "" && !slices.ContainsFunc(s.table, func(p page) bool { return p.Method == http.MethodGet && p.Path == path }) {
		path = path[:strings.LastIndexByte(path, '/')]
		n++
	}
	return n
}

// pathBack is the page to show again after a visitor changed the language or the theme. The
// answer to a POST can't be shown again: then pathBack is the page at its path, or the nearest
// page above.
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

// formPage is the page with the form of an action: the page named new below the path of the
// action, else the page that its row names, else the page at its path, or the nearest above.
// For the visit of a page, formPage is that page.
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
