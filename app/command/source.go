package command

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/app/services"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func sourceCommand() *cli.Command {
	secretFile := &cli.StringFlag{Name: "secret-file",
		Usage: "`FILE` that holds the secret, - for standard input (default: generate one; payos and pay2s-ipn need the provider's)"}
	return &cli.Command{
		Name: "source", Usage: "sources of transactions, one for each provider account",
		Subcommands: []*cli.Command{
			{
				Name: "add", Usage: "add a source and show its secret",
				Description: terminal.Example(
					"baoco source add --provider native --name till",
					"baoco source add --provider sepay --auth apikey --name SePay",
					"baoco source add --provider sepay --auth hmac --name SePay --secret-file sepay.secret",
					"baoco source add --provider generic --name erp --map amount=data.sum --map id=data.id --map account=data.acc",
				),
				Flags: terminal.AdminFlags(
					terminal.Suggest(cli.StringFlag{Name: "provider", Usage: "`KIND`: %s", Required: true}, providers()...),
					&cli.StringFlag{Name: "name", Usage: "a `NAME` to recognise it by", Required: true},
					terminal.Suggest(cli.StringFlag{Name: "auth", Usage: "`METHOD` of authentication: " + authChoices()}, auths()...),
					&cli.Int64Flag{Name: "bank-account-id", Usage: "record on bank account `ID` only", DefaultText: "any"},
					secretFile,
					&cli.StringSliceFlag{Name: "map",
						Usage: "path of a field, `FIELD=PATH`, such as amount=data.sum (" + takers(inbound.OptionMap) + "; repeatable)"},
					&cli.StringFlag{Name: "header",
						Usage: "`NAME` of the header that carries the secret (" + takers(inbound.OptionHeader) + "; default: Authorization: Bearer)"},
					&cli.StringSliceFlag{Name: "sender", Usage: "another sender `NAME` of the bank's messages (SMS; repeatable)"},
					&cli.StringFlag{Name: "access-key", Usage: "the `KEY` that Pay2S calls accessKey (" + takers(inbound.OptionAccessKey) + ")"},
					&cli.StringFlag{Name: "username", Usage: "`NAME` with which VietQR signs in to get a token (" + takers(inbound.OptionUsername) + ")"},
					&cli.StringFlag{Name: "api-key-file",
						Usage: "`FILE` that holds the provider's API key, to sync transactions whose calls never arrived (" +
							provider.Names(provider.HasList) + ")"},
					&cli.StringFlag{Name: "api-url", Usage: "`URL` of that API (default: the provider's)"},
				),
				Action: session.WithoutArguments(addSource),
			},
			session.Plain("source list", "list the sources with their state", listSources),
			session.Of("source show", "show a source, its settings and its last calls, without its secret", "source", describeSource),
			{
				Name: "rotate", Usage: "rotate the secret of a source, effective at once, or replace its API key", ArgsUsage: "ID",
				Description: terminal.Example("baoco source rotate 1", "baoco source rotate 1 --api-key-file sepay.key"),
				Flags: terminal.AdminFlags(secretFile,
					&cli.StringFlag{Name: "api-key-file",
						Usage: "`FILE` that holds the provider's new API key, - for standard input; the secret stays the same"}),
				Action: session.WithID("source", rotateSource),
			},
			{
				Name: "allow", Usage: "allow another sender of bank messages (SMS)", ArgsUsage: "ID",
				Description: terminal.Example("baoco source allow 1 --sender VIETCOMBANK"),
				Flags: terminal.AdminFlags(&cli.StringSliceFlag{Name: "sender",
					Usage: "the `NAME` or number, as the phone shows it (repeatable)"}), Action: session.WithID("source", allowSenders),
			},
			session.Of("source remove", "remove a source; its transactions are kept", "source",
				session.End(func(s *services.All) session.Ending { return s.Inbound.RemoveSource },
					"removed", "Source %d is removed; its calls are refused from now on and its transactions are kept.")),
			session.Of("source catch-up", "sync the provider's list of transactions now, in case calls never arrived", "source", catchUpSource),
			logCommand(),
			session.Of("source event", "show a call: its transactions, what became of each, and its body", "inbound event", showEvent),
			linkCommand(), session.Of("source retry", "reprocess a call and record what can be recorded now", "inbound event", retryEvent),
			settleCommand(), discardCommand(),
		},
	}
}

func addSource(c *cli.Context, s *session.Session) error {
	secret, err := terminal.ReadSecretFile(c, c.String("secret-file"))
	if err != nil {
		return err
	}
	apiKey, err := terminal.ReadSecretFile(c, c.String("api-key-file"))
	if err != nil {
		return err
	}
	options, err := sourceOptions(c)
	if err != nil {
		return err
	}
	src, err := s.Services.Inbound.AddSource(c.Context, s.Account, inbound.SourceAdd{
		Provider: app.Provider(c.String("provider")), Auth: inbound.Auth(c.String("auth")), Name: c.String("name"),
		Secret: secret, BankAccountID: c.Int64("bank-account-id"),
		Options: options, APIKey: apiKey, APIURL: strings.TrimSuffix(c.String("api-url"), "/"),
	}, s.Now)
	if err != nil {
		return err
	}
	return showSource(c, s, src, "was added", secret == "")
}

// nextStep matches the start of the next step in a set-up text. Each step gets its own line.
var nextStep = regexp.MustCompile(` (\d\. )`)

func sourceOptions(c *cli.Context) (inbound.SourceOptions, error) {
	fields, err := mapFlag(c)
	return inbound.SourceOptions{
		Header: c.String("header"), Map: fields, Senders: c.StringSlice("sender"), AccessKey: c.String("access-key"),
		Username: c.String("username"),
	}, err
}

// mapFlag reads the pairs of --map: a path for each field.
func mapFlag(c *cli.Context) (map[string]string, error) {
	fields := map[string]string{}
	var pairs []string
	for _, part := range c.StringSlice("map") {
		// The library cuts values at commas, but a column's name may have commas.
		if n := len(pairs); n > 0 && !strings.Contains(part, "=") {
			pairs[n-1] += "," + part
			continue
		}
		pairs = append(pairs, part)
	}
	for _, pair := range pairs {
		field, path, found := strings.Cut(pair, "=")
		if _, twice := fields[field]; !found || field == "" || path == "" || twice {
			return nil, terminal.Usagef("--map takes FIELD=PATH, each field once, not %q", pair)
		}
		fields[field] = path
	}
	return fields, nil
}

func takers(option inbound.SourceOption) string {
	return provider.Names(func(k provider.Kind) bool { return slices.Contains(k.Options, option) })
}

func providers() []app.Provider {
	return api.All(provider.Kinds, func(k provider.Kind) app.Provider { return k.Provider })
}

// auths are all methods of authentication; each kind of source has some of them.
func auths() (list []inbound.Auth) {
	for _, kind := range provider.Kinds {
		list = append(list, kind.Auths...)
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// authChoices returns the kinds that have several methods of authentication, with the methods.
func authChoices() string {
	var choices []string
	for i, kind := range provider.Kinds {
		auths := api.All(kind.Auths, func(a inbound.Auth) string { return string(a) })
		same := func(k provider.Kind) bool { return slices.Equal(k.Auths, kind.Auths) }
		if len(kind.Auths) > 1 && !slices.ContainsFunc(provider.Kinds[:i], same) {
			choices = append(choices, fmt.Sprintf("%s (%s)", strings.Join(auths, " or "), provider.Names(same)))
		}
	}
	return strings.Join(choices, ", ")
}

// showSource prints a source after a change; did says what was done. A secret that the
// user gave isn't printed.
func showSource(c *cli.Context, s *session.Session, src inbound.Source, did string, generated bool) error {
	base, err := s.Store.BaseURL(c.Context)
	if err != nil {
		return err
	}
	v := api.EncodeCreatedSource(src, generated)
	lost := fmt.Sprintf("Source %d %s.", src.ID, did)
	if generated {
		lost = fmt.Sprintf("Source %d %s, but nobody has seen the secret. Make another: baoco source rotate %d%s", src.ID, did, src.ID,
			session.OnAccount(s.Account))
	}
	return terminal.Report(c, v, lost, func(w io.Writer) {
		fmt.Fprintf(w, "Source:  %d (%s, %s)\nURL:     %s\n", src.ID, src.Provider, src.Auth, base+src.URLPath())
		if src.Options.Username != "" {
			fmt.Fprintf(w, "Username: %s\n", src.Options.Username)
		}
		if generated {
			fmt.Fprintf(w, "Secret:  %s\n", src.Secret)
		}
		if kind, known := s.Services.Inbound.ProviderKind(src.Provider); known {
			fmt.Fprintln(c.App.ErrWriter, nextStep.ReplaceAllString(kind.Setup(src).EN, "\n$1"))
		}
		if utf8.RuneCountInString(src.Secret) < inbound.ShortSecret {
			fmt.Fprintf(c.App.ErrWriter, "The secret is short and could be guessed: use at least %d characters.\n", inbound.ShortSecret)
		}
	})
}

func listSources(c *cli.Context, s *session.Session) error {
	sources, err := s.Services.Inbound.SourcesHealth(c.Context, s.Account)
	table := terminal.Table{
		None:    "There is no source yet: baoco source add --provider native --name NAME",
		Columns: ">ID|NAME|PROVIDER|AUTH|BANK ACCOUNT|LAST CALL|LAST TRANSACTION|LAST CATCH-UP|>REFUSED|LAST REFUSAL",
		After: func(w io.Writer) {
			for _, src := range sources {
				if src.SecretLost {
					fmt.Fprintf(c.App.ErrWriter, "Source %d has lost its secret, so its calls are refused: baoco source rotate %d%s\n", src.ID, src.ID,
						session.OnAccount(s.Account))
				}
			}
		},
	}
	return terminal.List(c, err, sources, table, func(src inbound.SourceHealth) (api.SourceJSON, []string) {
		e := api.EncodeSource(src, s.Services.Ledger.Zone(), app.English)
		return e, []string{strconv.FormatInt(e.ID, 10), e.Name, string(e.Provider), string(e.Auth), textOf(e.BankAccountID, "all"),
			orNever(e.LastCallAt), orNever(e.LastTransactionAt), lastPoll(src, e.LastPollAt), strconv.Itoa(e.RefusedCalls), lastRefusal(e)}
	})
}

func lastRefusal(e api.SourceJSON) string {
	return strings.TrimSpace(orNever(e.LastRefusedAt) + " " + textOf(e.LastRefusedCode, ""))
}

// shownCalls is how many calls source show lists, and how many refused ones.
const shownCalls = 5

// describedSource is what source show prints: a source as source list has it, with
// the options that aren't secret and the last calls.
type describedSource struct {
	api.SourceJSON
	Header   string                 `json:"header"`
	Map      map[string]string      `json:"map"`
	Senders  []string               `json:"senders"`
	Username string                 `json:"username"`
	CatchUp  bool                   `json:"catch_up"` // an API key is given
	APIURL   string                 `json:"api_url"`
	Setup    string                 `json:"setup"`
	Events   []api.InboundEventJSON `json:"events"`
	Refused  []api.RefusedCallJSON  `json:"refused"`
}

func describeSource(c *cli.Context, s *session.Session, id int64) error {
	src, err := s.Services.Inbound.SourceHealth(c.Context, s.Account, id)
	if err != nil {
		return err
	}
	events, _, err := s.Services.Inbound.InboundEvents(c.Context, s.Account,
		inbound.Filter{SourceID: id, Page: app.Page{Number: 1, Size: shownCalls}})
	if err != nil {
		return err
	}
	refused, err := s.Services.Inbound.RefusedCalls(c.Context, s.Account, id, shownCalls)
	if err != nil {
		return err
	}
	base, err := s.Store.BaseURL(c.Context)
	if err != nil {
		return err
	}
	zone, o := s.Services.Ledger.Zone(), src.Options
	d := describedSource{
		api.EncodeSource(src, zone, app.English), o.Header, o.Map, o.Senders, o.Username, src.APIKey != "", src.APIURL, "",
		encodeEvents(s, events), encodeRefused(s, refused),
	}
	kind, _ := s.Services.Inbound.ProviderKind(src.Provider)
	d.Setup = kind.Setup(src.Source).EN
	return terminal.Output(c, d, func(w io.Writer) { d.print(w, base) })
}

func (d describedSource) print(w io.Writer, base string) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-18s%s\n", name+":", terminal.OneLine(value))
		}
	}
	line("Source", fmt.Sprintf("%d %s (%s, %s)", d.ID, d.Name, d.Provider, d.Auth))
	line("URL", base+*d.URLPath)
	line("Bank account", textOf(d.BankAccountID, "all"))
	line("Header", d.Header)
	var fields []string
	for field, path := range d.Map {
		fields = append(fields, field+"="+path)
	}
	slices.Sort(fields)
	line("Map", strings.Join(fields, ", "))
	line("Senders", strings.Join(d.Senders, ", "))
	line("Username", d.Username)
	line("Catch-up", terminal.YesNo(d.CatchUp))
	line("API URL", d.APIURL)
	if d.SecretLost {
		line("Secret", fmt.Sprintf("lost, so calls are refused: baoco source rotate %d", d.ID))
	}
	line("Set up", d.Setup)
	line("Last call", orNever(d.LastCallAt))
	line("Last transaction", orNever(d.LastTransactionAt))
	fmt.Fprintln(w)
	printEvents(w, "No calls yet.", d.Events)
	fmt.Fprintln(w)
	printRefused(w, d.Refused)
}

func rotateSource(c *cli.Context, s *session.Session, id int64) error {
	if c.IsSet("api-key-file") {
		return rotateAPIKey(c, s, id)
	}
	secret, err := terminal.ReadSecretFile(c, c.String("secret-file"))
	if err != nil {
		return err
	}
	src, err := s.Services.Inbound.RotateSource(c.Context, s.Account, id, inbound.SourceRotate{Secret: secret}, s.Now)
	if err != nil {
		return err
	}
	return showSource(c, s, src, "has a new secret", secret == "")
}

func allowSenders(c *cli.Context, s *session.Session, id int64) error {
	src, err := s.Services.Inbound.AllowSenders(c.Context, s.Account, id, c.StringSlice("sender"))
	return terminal.Changed(c, err, map[string]any{"id": src.ID, "senders": src.Options.Senders},
		"Source %d accepts messages from the sender names of banks and from %s.", src.ID, strings.Join(src.Options.Senders, ", "))
}

func catchUpSource(c *cli.Context, s *session.Session, id int64) error {
	progress := terminal.NewProgress(c, "reading the provider's list")
	r, err := s.Services.Inbound.CatchUpSource(c.Context, s.Account, id, s.Now)
	progress.Stop()
	counts := map[string]int{
		"pages": r.Pages, "recorded": r.Recorded, "duplicates": r.Duplicates, "unassigned": r.Unassigned, "conflicts": r.Conflicts,
		"rejected": r.Rejected,
	}
	return terminal.Changed(c, err, counts,
		"Source %d, pages read: %d. Transactions: %d recorded, %d duplicates, %d unassigned, %d in conflict, %d rejected.",
		id, r.Pages, r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected)
}

// lastPoll returns when the list of a source was last read to its end, and the error since
// then. For a source without an API key it returns "-".
func lastPoll(src inbound.SourceHealth, at *string) string {
	switch {
	case src.APIKey == "":
		return "-"
	case src.PollError != "":
		return orNever(at) + ", " + string(src.PollError)
	}
	return orNever(at)
}

// rotateAPIKey changes the API key only: the provider's website has the secret
// and the key at different places.
func rotateAPIKey(c *cli.Context, s *session.Session, id int64) error {
	if c.IsSet("secret-file") {
		return terminal.Usagef("--secret-file and --api-key-file need a command each")
	}
	apiKey, err := terminal.ReadSecretFile(c, c.String("api-key-file"))
	if err != nil {
		return err
	}
	_, err = s.Services.Inbound.SetSourceAPIKey(c.Context, s.Account, id, apiKey, s.Now)
	return terminal.Done(c, err, session.StateJSON{ID: id, State: "api_key_set"}, "Source %d has the new API key.", id)
}
