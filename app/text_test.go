package app_test

import (
	"testing"

	"baoco/app"
)

func TestAcceptedLang(t *testing.T) {
	for header, want := range map[string]app.Lang{
		"":                                    app.English,
		"*":                                   app.English,
		"vi":                                  app.Vietnamese,
		"VI":                                  app.Vietnamese,
		"vi-VN":                               app.Vietnamese,
		"vi-Latn-VN":                          app.Vietnamese,
		" vi ":                                app.Vietnamese,
		"vi;q=0.8":                            app.Vietnamese,
		"vi ; q=0.001":                        app.Vietnamese,
		"vi-VN,vi;q=0.9,en-US;q=0.8,en;q=0.7": app.Vietnamese,
		"vi, en":                              app.Vietnamese,
		"fr-FR, fr;q=0.9, vi;q=0.8, en;q=0.7": app.Vietnamese,
		"ja,vi;q=0.5":                         app.Vietnamese,
		"en;q=0, vi":                          app.Vietnamese,
		"en-US,en;q=0.9":                      app.English,
		"en-US,en;q=0.9,vi;q=0.8":             app.English,
		"fr, de":                              app.English,
		"vi;q=0":                              app.English,
		"vi; q=0.000, en":                     app.English,
		"vi;q=0.0, fr":                        app.English,
		"vi;q=0.1, en":                        app.English,
		"en;q=0.8, vi;q=0.9":                  app.Vietnamese,
		"en;q=0.5, vi;q=0.5":                  app.English,
		"vi;Q=0.2, en;Q=0.3":                  app.English,
		"vi;q=nan, en;q=0.1":                  app.English,
		"vi;q=2, en;q=0.1":                    app.English,
		"vi;q=-1":                             app.English,
		"vi;level=1, en;q=0.9":                app.Vietnamese,
		"vie":                                 app.English, // not the tag of Vietnamese
		"v":                                   app.English,
		"-vi":                                 app.English,
		"xvi":                                 app.English,
		"x-vi":                                app.English,
		",,,":                                 app.English,
		";;;,---,q=1":                         app.English,
		",,vi":                                app.Vietnamese,
		"vi\x00":                              app.English,
		"\xff\xfe":                            app.English,
		"tiếng Việt":                          app.English,
	} {
		if got := app.AcceptedLang(header, app.English); got != want {
			t.Errorf("AcceptedLang(%q) = %s, want %s", header, got, want)
		}
	}
}

// A header that names neither language leaves it to who asks.
func TestAcceptedLangOtherwise(t *testing.T) {
	for header, want := range map[string]app.Lang{"": app.Vietnamese, "fr": app.Vietnamese, "vi;q=0": app.Vietnamese,
		"fr, en;q=0.1": app.English} {
		if got := app.AcceptedLang(header, app.Vietnamese); got != want {
			t.Errorf("AcceptedLang(%q) = %s, want %s", header, got, want)
		}
	}
}

func TestTextIn(t *testing.T) {
	text := app.Textf("%d webhooks", "%d webhook", 3)
	for lang, want := range map[app.Lang]string{app.English: "3 webhooks", app.Vietnamese: "3 webhook", "": "3 webhooks", "fr": "3 webhooks"} {
		if got := text.In(lang); got != want {
			t.Errorf("In(%q) = %q, want %q", lang, got, want)
		}
	}
	if got := (app.Text{EN: "only"}).In(app.Vietnamese); got != "only" {
		t.Errorf("a text without Vietnamese is %q", got)
	}
}

// A shell takes what is printed as one word and as it is: a command with the path of a
// file can be copied wherever the file lies.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"/var/lib/baoco/baoco.db": "/var/lib/baoco/baoco.db", "--keep=50%": "--keep=50%", "a,b+c@d:e_f-g": "a,b+c@d:e_f-g",
		"": "''", "/srv/báo có.db": "'/srv/báo có.db'", "$HOME": "'$HOME'", "it's": `'it'\''s'`, "a\nb": "'a\nb'", `a\b`: `'a\b'`, "~": "'~'",
	} {
		if got := app.ShellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
