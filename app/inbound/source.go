package inbound

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
)

// Auth is how the calls of a source authenticate.
type Auth string

const (
	AuthBearer Auth = "bearer" // Authorization: Bearer <secret>
	AuthAPIKey Auth = "apikey" // Authorization: Apikey <secret>
	AuthToken  Auth = "token"  // the secret alone, in a header of its own
	AuthBasic  Auth = "basic"  // user name and secret, for a short-lived token
	AuthHMAC   Auth = "hmac"   // a signature keyed with the secret
)

// ProviderKind is what a kind of source can do. Package provider declares the kinds.
type ProviderKind struct {
	Provider    app.Provider
	Name        string // as people call it
	Group       ProviderGroup
	About       app.Text // which of its products this is, in a few words
	Auths       []Auth
	DefaultAuth Auth           // empty: one must be given
	Options     []SourceOption // the options that a source of this kind may have
	// NamesNoAccount says that the calls don't name the bank account. The
	// source must be for one bank account.
	NamesNoAccount bool
	// CatchUp says that the provider has a list of transactions, which an API
	// key opens.
	CatchUp bool
	// OwnSecret is the name of the key that the provider makes, which is the
	// secret; empty: the provider takes any secret.
	OwnSecret string
	// Before says what to get from the provider before the source is added;
	// empty: nothing.
	Before app.Text
	// Setup says what to do on the provider's side for a source, in a few
	// sentences: only what its way of authenticating needs.
	Setup func(Source) app.Text
	// Check refuses what the kind can't work with; nil allows everything.
	// Auth is filled in.
	Check func(SourceAdd) error
}

// ProviderGroup is what calls: a gateway, a phone or a program. Kinds of sources are shown by group.
type ProviderGroup int

// The groups, those first that most shops need.
const (
	Gateways ProviderGroup = iota
	PhoneApps
	OwnPrograms
)

// Source is one provider account from which transactions come in.
type Source struct {
	ID        int64
	AccountID int64
	Name      string
	Provider  app.Provider
	Auth      Auth
	Token     string // names the source in a path; doesn't authenticate
	Secret    string // Bearer or Apikey token, or HMAC key
	// SecretLost says that the secret, the options and the API key can't be
	// opened, because their key is gone. Every call is refused until somebody
	// rotates the secret.
	SecretLost    bool
	BankAccountID int64 // 0: every bank account of the account
	Options       SourceOptions
	CreatedAt     time.Time
	RemovedAt     time.Time // zero: in use

	APIKey string // reads the provider's list of transactions; empty: no catching up
	APIURL string // base of that list; empty: the provider's

	LastCallAt        time.Time // zero: never
	LastTransactionAt time.Time // zero: never

	ListFrom  time.Time // when it first got an API key; older transactions make no deliveries; zero: never
	Progress  string    // how far the list is read; only Config.Poll understands it
	PolledAt  time.Time // when the list was last read to its end; zero: never
	PollError PollFault // why it couldn't be read since; empty: no fault
}

// MaxSources is how many sources an account may have.
const MaxSources = 100

// ErrTooManySources refuses a source beyond MaxSources.
var ErrTooManySources error = app.Refused(app.CodeLimitReached, app.Textf(
	"An account may have at most %d sources: remove one first.",
	"Mỗi tài khoản có tối đa %d nguồn giao dịch: hãy gỡ bớt trước.", MaxSources))

// How long a source may go without a call before somebody should look at it.
// quietSource is longer than a weekend, since shops close. quietBusySource is
// for a shop that has transactions every day and only this source. After
// forgottenSource nobody is warned any more.
const (
	quietSource     = 72 * time.Hour
	quietBusySource = 24 * time.Hour
	forgottenSource = 30 * 24 * time.Hour
)

// Silent reports whether a source that used to call has stopped. busy says that
// there were transactions on each of the days before its last call.
func (s Source) Silent(busy bool, now time.Time) bool {
	quiet := now.Sub(s.LastCallAt)
	if s.LastCallAt.IsZero() || quiet > forgottenSource {
		return false
	}
	return quiet > quietSource || busy && quiet > quietBusySource
}

// URLPath is the path of the URL that the provider calls.
func (s Source) URLPath() string { return "/api/webhooks/provider/" + s.Token }

// SourceAdd is a request to add a source. An empty secret is generated, unless
// the kind needs one.
type SourceAdd struct {
	Provider      app.Provider
	Auth          Auth
	Name          string
	Secret        string
	BankAccountID int64
	Options       SourceOptions
	APIKey        string
	APIURL        string
	NewName       bool // ErrSameName if a source in use has the name
	// Key makes the addition safe to repeat: the second time returns the source
	// that was made, without its secret.
	Key app.IdempotencyKey
}

// AddSource makes a source and returns it with its secret, and with a generated
// user name if it needs one and none was given. The secret is empty where
// in.Key was used before.
func (s *Service) AddSource(ctx context.Context, accountID int64, in SourceAdd, now time.Time) (Source, error) {
	var v app.Invalid
	name, err := app.CleanName("name", in.Name)
	if err != nil {
		return Source{}, err
	}
	kind, known := s.ProviderKind(in.Provider)
	if !known {
		names := joined(s.config.Providers, func(k ProviderKind) string { return string(k.Provider) })
		v.Add("provider", "must be one of "+names, "phải là một trong "+names)
	} else if auth, ok := kind.choose(in); ok {
		in.Auth = auth
	} else {
		names := joined(kind.Auths, func(a Auth) string { return string(a) })
		v.Add("auth", "must be one of "+names+" for this provider", "phải là một trong "+names+" với nhà cung cấp này")
	}
	if known {
		v.Merge(kind.checkOptions(in))
	}
	if in.APIURL != "" {
		v.Merge(s.config.Targets.CheckAPIURL(in.APIURL))
	}
	in.Secret, err = kind.readSecret(in.Auth, in.Secret)
	v.Merge(err)
	if in.Options.Username == "" && slices.Contains(kind.Options, OptionUsername) {
		in.Options.Username = "baoco-" + strings.ToLower(rand.Text()[:12])
	}
	if err := v.Err(); err != nil {
		return Source{}, err
	}
	src := Source{
		AccountID: accountID, Name: name, Provider: in.Provider, Auth: in.Auth, Token: app.RandomToken(),
		Secret: in.Secret, BankAccountID: in.BankAccountID, Options: in.Options, APIKey: in.APIKey, APIURL: in.APIURL, CreatedAt: now,
	}
	if src.APIKey != "" {
		src.ListFrom = now
	}
	return s.store.CreateSource(ctx, src, in.NewName, in.Key, now)
}

// NeedsSecret reports whether the secret must be entered: the provider makes the key
// and signs with it, so a generated one would refuse every call.
func (k ProviderKind) NeedsSecret(auth Auth) bool { return k.OwnSecret != "" && auth == AuthHMAC }

// readSecret returns the secret that was entered, or a generated one.
func (k ProviderKind) readSecret(auth Auth, secret string) (string, error) {
	switch {
	case secret != "":
		return secret, checkSourceSecret("secret", secret)
	case k.NeedsSecret(auth):
		return "", app.InvalidField("secret", "is required: the provider makes this key and signs with it",
			"là bắt buộc: nhà cung cấp cấp khoá này và ký bằng nó")
	}
	if auth == AuthAPIKey { // SePay's own guides want letters and digits only
		return delivery.NewSepayKey(), nil
	}
	return "bcs_" + app.RandomToken(), nil
}

// checkOptions refuses options that the kind doesn't have, and demands those that it
// needs.
func (k ProviderKind) checkOptions(in SourceAdd) error {
	var v app.Invalid
	for _, option := range in.Options.given() {
		if !slices.Contains(k.Options, option) {
			v.Merge(errNotTaken(option))
		}
	}
	if k.NamesNoAccount && in.BankAccountID == 0 {
		v.Add("bank_account_id", "is required: this provider does not say which account received the money",
			"là bắt buộc: nhà cung cấp này không cho biết tiền vào tài khoản nào")
	}
	v.Merge(in.Options.check(in.Auth))
	if k.Check != nil {
		v.Merge(k.Check(in))
	}
	if in.APIKey == "" && in.APIURL == "" {
		return v.Err()
	}
	if !k.CatchUp {
		v.Merge(errNotTaken("api_key"))
	} else if in.APIKey == "" {
		v.Add("api_key", "is required with an API address", "là bắt buộc khi có địa chỉ API")
	} else {
		v.Merge(checkSourceSecret("api_key", in.APIKey))
	}
	return v.Err()
}

// choose is the way of authenticating: the requested one, AuthToken if a header
// for it is named, or the default. ok is false where the kind doesn't have it.
func (k ProviderKind) choose(in SourceAdd) (Auth, bool) {
	switch {
	case in.Auth != "":
		return in.Auth, slices.Contains(k.Auths, in.Auth)
	case in.Options.Header != "" && slices.Contains(k.Auths, AuthToken):
		return AuthToken, true
	}
	return k.DefaultAuth, k.DefaultAuth != ""
}

func joined[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i, member := range list {
		names[i] = name(member)
	}
	return strings.Join(names, ", ")
}

// ProviderKinds lists the kinds of sources.
func (s *Service) ProviderKinds() []ProviderKind { return s.config.Providers }

// ProviderKind finds a kind of source. A kind that is no longer known has only its
// name.
func (s *Service) ProviderKind(p app.Provider) (ProviderKind, bool) {
	i := slices.IndexFunc(s.config.Providers, func(k ProviderKind) bool { return k.Provider == p })
	if i < 0 {
		return ProviderKind{Provider: p, Name: string(p)}, false
	}
	return s.config.Providers[i], true
}

// ShortSecret is the length in characters below which a secret can be guessed.
// Short ones are allowed, since some providers make them.
const ShortSecret = 16

// checkSourceSecret refuses a secret that no header could carry.
func checkSourceSecret(field, secret string) error {
	n := utf8.RuneCountInString(secret)
	if n < 1 || n > 500 || strings.TrimSpace(secret) != secret || !utf8.ValidString(secret) || strings.IndexFunc(secret, app.IsControl) >= 0 {
		return app.InvalidField(field, "must be 1 to 500 characters without control characters or spaces at its ends",
			"phải có từ 1 đến 500 ký tự, không có ký tự điều khiển hay khoảng trắng ở hai đầu")
	}
	return nil
}

// SourceHealth is a source with its refused calls.
type SourceHealth struct {
	Source
	RefusedCalls int         // among the kept ones
	LastRefused  RefusedCall // zero: none
}

// SourceHealth finds a source in use.
func (s *Service) SourceHealth(ctx context.Context, accountID, id int64) (SourceHealth, error) {
	list, err := s.SourcesHealth(ctx, accountID)
	return app.Find(list, err, func(src SourceHealth) bool { return src.ID == id }, ErrNoSource)
}

// source finds a source in use.
func (s *Service) source(ctx context.Context, accountID, id int64) (Source, error) {
	list, err := s.Sources(ctx, accountID)
	return app.Find(list, err, func(src Source) bool { return src.ID == id }, ErrNoSource)
}

// SourceRotate is a request for a new secret of a source.
type SourceRotate struct {
	Secret string // empty: one is made, unless the kind needs one
	Key    app.IdempotencyKey
}

// RotateSource replaces the secret of a source at once. Where in.Key was used before
// nothing changes, and the result has no secret.
func (s *Service) RotateSource(ctx context.Context, accountID, id int64, in SourceRotate, now time.Time) (Source, error) {
	source, err := s.source(ctx, accountID, id)
	if err != nil {
		return Source{}, err
	}
	kind, _ := s.ProviderKind(source.Provider)
	if in.Secret, err = kind.readSecret(source.Auth, in.Secret); err != nil {
		return Source{}, err
	}
	return s.store.SetSourceSecret(ctx, accountID, id, in, now)
}

// SetSourceAPIKey replaces the API key that opens the provider's list.
// CodeValidation where the provider has no list.
func (s *Service) SetSourceAPIKey(ctx context.Context, accountID, id int64, apiKey string, now time.Time) (Source, error) {
	source, err := s.source(ctx, accountID, id)
	if err != nil {
		return Source{}, err
	}
	if kind, _ := s.ProviderKind(source.Provider); !kind.CatchUp {
		return Source{}, errNotTaken("api_key")
	}
	if err := checkSourceSecret("api_key", apiKey); err != nil {
		return Source{}, err
	}
	return s.store.SetSourceAPIKey(ctx, accountID, id, apiKey, now)
}

func errNotTaken(field SourceOption) error {
	return app.InvalidField(string(field), "is nothing that this provider takes", "không dùng được với nhà cung cấp này")
}

// FindSource finds the source of a call by the token of its path or, if that is
// empty, by its Bearer credential. It authenticates nobody. ok is false if
// there is no such source.
func (s *Service) FindSource(ctx context.Context, token, bearer string) (src Source, ok bool, err error) {
	switch {
	case token != "":
		return s.store.SourceByToken(ctx, token)
	case bearer != "":
		return s.store.SourceByBearer(ctx, sha256.Sum256([]byte(bearer)))
	}
	return Source{}, false, nil
}

// FindSourceByUsername finds the source with a user name. It authenticates
// nobody. ok is false if there is no such source.
func (s *Service) FindSourceByUsername(ctx context.Context, username string) (src Source, ok bool, err error) {
	if username == "" {
		return Source{}, false, nil
	}
	return s.store.SourceByUsername(ctx, username)
}

// ErrNoSource says that an id names no source.
var ErrNoSource error = app.NotFound("There is no source with this id.", "Không có nguồn giao dịch với id này.")
