package dashboard

import (
	"cmp"
	"encoding/json"

	"baoco/app"
)

// manifest tells a tablet how to install a counter screen: it then opens at the
// counter's own address, without the bars of the browser.
type manifest struct {
	Name       string         `json:"name"`
	ShortName  string         `json:"short_name"`
	Lang       app.Lang       `json:"lang"`
	StartURL   string         `json:"start_url"`
	Scope      string         `json:"scope"`
	Display    string         `json:"display"`
	Background string         `json:"background_color"`
	Theme      string         `json:"theme_color"`
	Icons      []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

func (s *Server) counterManifest(v *visit) error {
	return writeManifest(v, ownCounter(v), "/counter")
}

func (s *Server) counterLinkManifest(v *visit) error {
	token := v.PathValue("token")
	link, err := s.Service.CounterLink(v.Context(), token)
	if err != nil {
		return err
	}
	return writeManifest(v, link, link.Path(token))
}

// writeManifest writes the manifest of the counter whose address is path.
func writeManifest(v *visit, link app.CounterLink, path string) error {
	const background = "#f6f7f9" // as in app.css
	name := cmp.Or(link.Name, v.T("Counter screen", "Màn hình quầy"))
	body, err := json.Marshal(manifest{
		Name: name + " · baoco", ShortName: name, Lang: v.Lang, StartURL: path, Scope: "/counter", Display: "standalone",
		Background: background, Theme: background,
		Icons: []manifestIcon{
			{staticURL("icon-192.png"), "192x192", "image/png", "any"},
			{staticURL("icon-512.png"), "512x512", "image/png", "any"},
			{staticURL("icon-maskable-512.png"), "512x512", "image/png", "maskable"},
		},
	})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/manifest+json")
	_, _ = v.w.Write(body)
	return nil
}
