package inbound

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"baoco/app"
)

// SourceOption is a setting that only some kinds of sources have.
type SourceOption string

const (
	OptionHeader    SourceOption = "header"     // the header with the secret
	OptionMap       SourceOption = "map"        // where the fields are
	OptionSender    SourceOption = "sender"     // further senders of a bank's texts
	OptionAccessKey SourceOption = "access_key" // a text that is signed but not sent
	OptionUsername  SourceOption = "username"
)

// SourceOptions are the values of the options; the zero value has none.
type SourceOptions struct {
	Header    string            `json:"header,omitempty"`
	Map       map[string]string `json:"map,omitempty"` // field to path
	Senders   []string          `json:"senders,omitempty"`
	AccessKey string            `json:"access_key,omitempty"`
	Username  string            `json:"username,omitempty"`
}

func (o SourceOptions) given() (names []SourceOption) {
	for _, option := range []struct {
		name SourceOption
		set  bool
	}{
		{OptionHeader, o.Header != ""}, {OptionMap, len(o.Map) > 0}, {OptionSender, len(o.Senders) > 0},
		{OptionAccessKey, o.AccessKey != ""}, {OptionUsername, o.Username != ""},
	} {
		if option.set {
			names = append(names, option.name)
		}
	}
	return names
}

// check refuses values that are wrong for every kind.
func (o SourceOptions) check(auth Auth) error {
	var v app.Invalid
	// net/http removes these three from a request's headers.
	reserved := slices.ContainsFunc([]string{"Host", "Content-Length", "Transfer-Encoding"},
		func(name string) bool { return strings.EqualFold(name, o.Header) })
	if reserved || strings.Trim(o.Header, headerLetters) != "" || len(o.Header) > 100 {
		v.Add("header", "must be the name of a header, such as X-Api-Key", "phải là tên header, ví dụ X-Api-Key")
	} else if o.Header != "" && auth != AuthToken {
		v.Add("header", "goes with auth token only", "chỉ dùng với auth token")
	}
	for _, sender := range o.Senders {
		v.Merge(checkSender(sender))
	}
	if strings.Trim(o.Username, usernameLetters) != "" || len(o.Username) > 100 {
		v.Add("username", "must be at most 100 letters, digits and the signs . _ @ -",
			"phải có tối đa 100 chữ cái không dấu, chữ số và các ký tự . _ @ -")
	}
	return v.Err()
}

const (
	usernameLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._@-"
	headerLetters   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&'*+-.^_`|~" // RFC 9110, 5.6.2
)

func checkSender(sender string) error {
	n := utf8.RuneCountInString(sender)
	if n < 1 || n > 50 || strings.TrimSpace(sender) != sender || !utf8.ValidString(sender) || strings.IndexFunc(sender, app.IsControl) >= 0 {
		return app.InvalidField("sender", "must be a name or number as the phone shows it, at most 50 characters",
			"phải là tên hoặc số như điện thoại hiển thị, tối đa 50 ký tự")
	}
	return nil
}

// AllowSenders lets a source accept texts from further senders as a bank's.
// Elements that were rejected for their sender count once they are retried.
func (s *Service) AllowSenders(ctx context.Context, accountID, id int64, senders []string) (Source, error) {
	source, err := s.source(ctx, accountID, id)
	if err != nil {
		return Source{}, err
	}
	var v app.Invalid
	if kind, _ := s.ProviderKind(source.Provider); !slices.Contains(kind.Options, OptionSender) {
		v.Merge(errNotTaken(OptionSender))
	}
	if len(senders) == 0 {
		v.Add("sender", "is required", "là bắt buộc")
	}
	for _, sender := range senders {
		v.Merge(checkSender(sender))
	}
	if err := v.Err(); err != nil {
		return Source{}, err
	}
	return s.store.AddSourceSenders(ctx, accountID, id, senders)
}
