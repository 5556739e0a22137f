package dashboard

import (
	"cmp"
	"html/template"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/web/dashboard/help"
	"baoco/web/wire"
)

// helpPage is a page of the help, in the language of the visitor.
func (s *Server) helpPage(v *visit) error {
	name := cmp.Or(v.PathValue("page"), help.First)
	title, err := help.Title(name, v.Lang)
	if err != nil {
		return wire.ErrNothingHere()
	}
	content, err := help.Render(name, v.Lang)
	if err != nil {
		return err
	}
	query, _ := app.ReadText(v.URL.Query().Get("q"), 100, "")
	data := struct {
		Content   template.HTML
		Receivers []receiver // the samples below the page
		Query     string
		Found     []string // the pages that the search found
	}{Content: content, Query: query, Found: help.Search(query, v.Lang)}
	if name == "receiver" {
		data.Receivers = receivers(delivery.Webhook{URL: "https://shop.vn/baoco"}, "", v.Lang)
	}
	return s.render(v, nil, pageHead{"help", "help", app.Text{EN: title, VI: title}}, data)
}
