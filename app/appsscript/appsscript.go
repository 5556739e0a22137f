// Package appsscript knows how a Google Apps Script that is deployed as a web app
// is called, how it answers, and has the script that writes deliveries into a
// Google Sheet.
//
// Google publishes no contract for callers that don't follow redirects. This package
// relies on the facts in which its guide (developers.google.com/apps-script/guides/content,
// "Redirects") and public reports agree: doPost runs at the address of the web
// app; the text that it returns lies at a second address, to which a 302 leads. A
// script that throws, or that can't be run, answers with a page and no such 302.
package appsscript

import (
	"crypto/hmac"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"baoco/app/pattern"
)

var address = pattern.Lazy(`^https://script\.google\.com/macros/s/[A-Za-z0-9_-]{20,200}/exec$`)

// IsURL reports whether raw is the address of a deployed web app.
func IsURL(raw string) bool { return address().MatchString(raw) }

// Ran reports whether an answer says that the script ran to its end: it is the
// 302 to where the returned text lies, and nothing that is only like it.
func Ran(status int, location string) bool {
	u, err := url.Parse(location)
	return err == nil && status == http.StatusFound && u.Scheme == "https" && u.Host == "script.googleusercontent.com" && u.User == nil &&
		u.EscapedPath() == "/macros/echo" && u.Query().Get("user_content_key") != ""
}

// AsksForLogin reports whether an answer leads to Google's sign-in page: the web
// app isn't open to everybody.
func AsksForLogin(location string) bool {
	u, err := url.Parse(location)
	return err == nil && u.Host == "accounts.google.com"
}

// Token is what tells the script that a call comes from baoco. A script can't read
// headers, and so no signature. The secret doesn't follow from the token.
func Token(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("google sheet"))
	return hex.EncodeToString(mac.Sum(nil))
}

// Call is the address of one call, with what the script can't read elsewhere: the
// webhook-id, and the tokens of all secrets that are valid.
func Call(address, id string, secrets []string) string {
	query := url.Values{"webhook_id": {id}}
	for _, secret := range secrets {
		query.Add("token", Token(secret))
	}
	return address + "?" + query.Encode()
}

//go:embed sheet.gs.txt
var sheet string

// Texts are the words in the script that people read.
type Texts struct {
	Paste  string // a comment: what to do with it
	Repeat string // a comment: why rows are looked for
	Head   string // the names of the columns, by commas
}

// Script is the script to paste, with the token of the secret.
func Script(secret string, t Texts) string {
	head := "'" + strings.ReplaceAll(t.Head, ",", "', '") + "'"
	return strings.NewReplacer("«paste»", t.Paste, "«repeat»", t.Repeat, "«token»", Token(secret), "«head»", head).Replace(sheet)
}
