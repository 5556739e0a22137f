package docs

import (
	"bytes"
	"fmt"
	"net/http"
	"path"

	"baoco/app"
	"baoco/web/dashboard/help"
	"baoco/web/wire"
)

// llms leads assistants to everything that is written for people, by the convention llms.txt.
func (s *Server) llms(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "llms.txt", llmsIndex)
}

func llmsIndex() wire.File {
	var b bytes.Buffer
	b.WriteString("# baoco\n\n> Notifies a shop in Vietnam of every bank transaction, from its own server: money comes in, " +
		"is recorded once, and is told by signed webhooks, on a till and by messages.\n\n" +
		"## API\n\n- [OpenAPI](/openapi.json): Every endpoint, field and error.\n" +
		"- [Reference](/docs): The same as pages.\n")
	for _, section := range []struct {
		lang app.Lang
		name string
	}{{app.English, "Help"}, {app.Vietnamese, "Hướng dẫn"}} {
		fmt.Fprintf(&b, "\n## %s\n\n", section.name)
		for _, name := range help.Names() {
			title, _ := help.Title(name, section.lang) // every page is there in both languages
			fmt.Fprintf(&b, "- [%s](/docs/help/%s/%s.md): %s\n", title, section.lang, name, help.Sentence(name, section.lang))
		}
	}
	return wire.NewFile("text/plain; charset=utf-8", b.Bytes())
}

var helpTypes = map[string]string{".md": "text/markdown; charset=utf-8", ".webp": "image/webp"}

// help writes a page of the help as it stands in the repository, or one of its pictures. Nobody
// needs to sign in: they say nothing of this installation.
func (s *Server) help(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("page")
	data, err := help.File(name, app.Lang(r.PathValue("lang")))
	if err != nil {
		s.responder.WriteError(w, r, wire.ErrNothingHere())
		return
	}
	s.serve(w, r, r.URL.Path, func() wire.File { return wire.NewFile(helpTypes[path.Ext(name)], data) })
}
