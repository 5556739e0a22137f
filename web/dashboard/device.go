package dashboard

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"baoco/app"
)

// The cookie of a device holds the tokens of the users who signed in there last,
// with a dot between them.
const (
	devicesKept    = 5 // users of one browser
	deviceLifetime = 400 * 24 * time.Hour
)

func (s *Server) deviceCookie() string {
	if s.Secure {
		return "__Host-baoco-device"
	}
	return "baoco-device"
}

// devices are the tokens that a browser sends. They aren't checked yet.
func (s *Server) devices(r *http.Request) []string {
	c, err := r.Cookie(s.deviceCookie())
	if err != nil || c.Value == "" {
		return nil
	}
	tokens := strings.Split(c.Value, ".")
	return tokens[:min(len(tokens), devicesKept)]
}

// rememberDevice makes the browser a device of u, who has just signed in there.
func (s *Server) rememberDevice(v *visit, u app.User) error {
	tokens := s.devices(v.Request)
	token, err := s.Service.KnownDevice(v.Context(), u.Name, tokens)
	if err == nil && token == "" {
		token, err = s.Service.NewDevice(v.Context(), u)
	}
	if err != nil {
		return err
	}
	tokens = append([]string{token}, slices.DeleteFunc(tokens, func(t string) bool { return t == token })...)
	http.SetCookie(v.w, &http.Cookie{
		Name: s.deviceCookie(), Value: strings.Join(tokens[:min(len(tokens), devicesKept)], "."), Path: "/",
		MaxAge: int(deviceLifetime / time.Second), HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
	return nil
}
