package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"baoco/app"
	"baoco/web"

	"github.com/urfave/cli/v2"
)

func sourceCommand() *cli.Command {
	secretFile := &cli.StringFlag{Name: "secret-file", Usage: "`FILE` that holds the secret, - for standard input (default: a generated one)"}
	return &cli.Command{
		Name: "source", Usage: "where transactions come in: one for each provider account",
		Subcommands: []*cli.Command{
			{
				Name: "add", Usage: "add a source and show its secret",
				Description: example(
					"baoco source add --provider native --name till",
					"baoco source add --provider sepay --auth apikey --name SePay",
					"baoco source add --provider sepay --auth hmac --name SePay --secret-file sepay.secret",
				),
				Flags: adminFlags(
					&cli.StringFlag{Name: "provider", Usage: "`KIND`: " + providerNames(), Required: true},
					&cli.StringFlag{Name: "name", Usage: "a `NAME` to tell it apart", Required: true},
					&cli.StringFlag{Name: "auth", Usage: "`WAY` its calls authenticate: bearer or hmac (native), apikey or hmac (sepay)"},
					&cli.Int64Flag{Name: "bank-account-id", Usage: "record on bank account `ID` only"},
					secretFile,
					&cli.StringSliceFlag{Name: "map", Usage: "where a field stands, `FIELD=PATH`, such as amount=data.sum (generic; repeatable)"},
					&cli.StringFlag{Name: "header", Usage: "`NAME` of the header that carries the secret (generic, sms-to-url; default: Authorization: Bearer)"},
					&cli.StringSliceFlag{Name: "sender", Usage: "further `NAME` under which a bank's texts come (SMS; repeatable)"},
					&cli.StringFlag{Name: "access-key", Usage: "the `KEY` that Pay2S calls accessKey (pay2s-ipn)"},
					&cli.StringFlag{Name: "username", Usage: "`NAME` with which VietQR asks for its token (vietqr)"},
					&cli.StringFlag{Name: "api-key-file", Usage: "`FILE` with the key of the provider's API, to catch up on calls that never came (sepay, casso, casso-v2)"},
					&cli.StringFlag{Name: "api-url", Usage: "`URL` of that API, where it isn't the provider's own"},
				),
				Action: admin(addSource),
			},
			{
				Name: "list", Usage: "list the sources", Description: example("baoco source list"),
				Flags: adminFlags(), Action: admin(listSources),
			},
			{
				Name: "rotate", Usage: "give a source a new secret, at once, or a new API key", ArgsUsage: "ID",
				Description: example("baoco source rotate 1", "baoco source rotate 1 --api-key-file sepay.key"),
				Flags:       adminFlags(secretFile, &cli.StringFlag{Name: "api-key-file", Usage: "`FILE` with the new key of the provider's API, - for standard input; the secret stays"}),
				Action:      admin(rotateSource),
			},
			{
				Name: "remove", Usage: "end a source; what it recorded stays", ArgsUsage: "ID", Description: example("baoco source remove 1"),
				Flags: adminFlags(), Action: admin(removeSource),
			},
			catchUpCommand(),
			{
				Name: "log", Usage: "the last calls, newest first", Description: example("baoco source log --open", "baoco source log --rejected"),
				Flags: adminFlags(
					&cli.BoolFlag{Name: "open", Usage: "only those with unassigned, conflicting or rejected transactions"},
					&cli.BoolFlag{Name: "rejected", Usage: "the calls that did not authenticate, with the reason"},
					&cli.Int64Flag{Name: "source-id", Usage: "only those of source `ID`"},
					&cli.IntFlag{Name: "limit", Usage: "at most `N`", Value: 20},
				),
				Action: admin(sourceLog),
			},
			{
				Name: "retry", Usage: "read the body of a call again and record what can be recorded now", ArgsUsage: "EVENT_ID",
				Description: example("baoco source retry 17"), Flags: adminFlags(), Action: admin(retryEvent),
			},
			{
				Name: "discard", Usage: "close what of a call needs attention, because it is nothing", ArgsUsage: "EVENT_ID",
				Description: example("baoco source discard 17"), Flags: adminFlags(), Action: admin(discardEvent),
			},
		},
	}
}

// createdSource is what source add and rotate show.
type createdSource struct {
	ID       int64        `json:"id"`
	Name     string       `json:"name"`
	Provider app.Provider `json:"provider"`
	Auth     app.Auth     `json:"auth"`
	URLPath  string       `json:"url_path"`
	Secret   string       `json:"secret"`
}

func addSource(c *cli.Context, s *session) error {
	if err := noArguments(c); err != nil {
		return err
	}
	secret, err := readSecretFile(c, c.String("secret-file"))
	if err != nil {
		return err
	}
	apiKey, err := readSecretFile(c, c.String("api-key-file"))
	if err != nil {
		return err
	}
	options, err := sourceOptions(c)
	if err != nil {
		return err
	}
	src, err := s.service.AddSource(c.Context, s.account, app.SourceAdd{
		Provider: app.Provider(c.String("provider")), Auth: app.Auth(c.String("auth")), Name: c.String("name"),
		Secret: secret, BankAccountID: c.Int64("bank-account-id"),
		Options: options, APIKey: apiKey, APIURL: strings.TrimSuffix(c.String("api-url"), "/"),
	}, s.now)
	if err != nil {
		return err
	}
	return showSource(c, s, src)
}

// sourceOptions are the options of a new source.
func sourceOptions(c *cli.Context) (app.SourceOptions, error) {
	fields, err := mapFlag(c)
	return app.SourceOptions{
		Header: c.String("header"), Map: fields, Senders: c.StringSlice("sender"), AccessKey: c.String("access-key"), Username: c.String("username"),
	}, err
}

// mapFlag reads the pairs of --map.
func mapFlag(c *cli.Context) (map[string]string, error) {
	fields := map[string]string{}
	var pairs []string
	for _, part := range c.StringSlice("map") {
		// The library cuts values at commas, which a column's name may have.
		if n := len(pairs); n > 0 && !strings.Contains(part, "=") {
			pairs[n-1] += "," + part
			continue
		}
		pairs = append(pairs, part)
	}
	for _, pair := range pairs {
		field, path, found := strings.Cut(pair, "=")
		if _, twice := fields[field]; !found || field == "" || path == "" || twice {
			return nil, usagef("--map takes FIELD=PATH, each field once, not %q", pair)
		}
		fields[field] = path
	}
	return fields, nil
}

// providerNames lists the kinds of sources.
func providerNames() string {
	var names []string
	for _, kind := range web.Providers() {
		names = append(names, string(kind.Provider))
	}
	return strings.Join(names, ", ")
}

func showSource(c *cli.Context, s *session, src app.Source) error {
	base, err := s.store.BaseURL(c.Context)
	if err != nil {
		return err
	}
	return output(c, createdSource{src.ID, src.Name, src.Provider, src.Auth, src.URLPath(), src.Secret}, func(w io.Writer) {
		fmt.Fprintf(w, "Source:  %d (%s, %s)\nURL:     %s\nSecret:  %s\n", src.ID, src.Provider, src.Auth, base+src.URLPath(), src.Secret)
		for _, kind := range s.service.ProviderKinds() {
			if kind.Provider == src.Provider {
				fmt.Fprintln(c.App.ErrWriter, kind.Setup.EN)
			}
		}
		if utf8.RuneCountInString(src.Secret) < app.ShortSecret {
			fmt.Fprintf(c.App.ErrWriter, "The secret is short: one of at least %d characters can't be guessed.\n", app.ShortSecret)
		}
	})
}

func listSources(c *cli.Context, s *session) error {
	if err := noArguments(c); err != nil {
		return err
	}
	sources, err := s.service.Sources(c.Context, s.account)
	if err != nil {
		return err
	}
	type source struct {
		ID                int64        `json:"id"`
		Name              string       `json:"name"`
		Provider          app.Provider `json:"provider"`
		Auth              app.Auth     `json:"auth"`
		URLPath           string       `json:"url_path"`
		BankAccountID     *int64       `json:"bank_account_id"`
		CreatedAt         string       `json:"created_at"`
		LastCallAt        *string      `json:"last_call_at"`
		LastTransactionAt *string      `json:"last_transaction_at"`
		LastPollAt        *string      `json:"last_poll_at"`
		PollError         *string      `json:"poll_error"`
	}
	zone := s.service.Zone()
	list, rows := []source{}, [][]string{}
	for _, src := range sources {
		e := source{src.ID, src.Name, src.Provider, src.Auth, src.URLPath(), nil, app.FormatTime(src.CreatedAt, zone),
			optionalTime(src.LastCallAt, zone), optionalTime(src.LastTransactionAt, zone), optionalTime(src.PolledAt, zone), nil}
		if src.PollError != "" {
			e.PollError = (*string)(&src.PollError)
		}
		only := "all"
		if src.BankAccountID != 0 {
			e.BankAccountID = &src.BankAccountID
			only = strconv.FormatInt(src.BankAccountID, 10)
		}
		list = append(list, e)
		rows = append(rows, []string{strconv.FormatInt(src.ID, 10), src.Name, string(src.Provider), string(src.Auth), only,
			orNever(e.LastCallAt), orNever(e.LastTransactionAt), lastPoll(src, e.LastPollAt)})
	}
	return output(c, list, func(w io.Writer) {
		printTable(w, "There is no source yet: baoco source add --provider native --name NAME",
			[]string{"ID", "NAME", "PROVIDER", "AUTH", "BANK ACCOUNT", "LAST CALL", "LAST TRANSACTION", "LAST POLL"}, rows, "ID")
	})
}

func rotateSource(c *cli.Context, s *session) error {
	id, err := idArgument(c, "source")
	if err != nil {
		return err
	}
	if c.IsSet("api-key-file") {
		return rotateAPIKey(c, s, id)
	}
	secret, err := readSecretFile(c, c.String("secret-file"))
	if err != nil {
		return err
	}
	src, err := s.service.RotateSource(c.Context, s.account, id, secret)
	if err != nil {
		return err
	}
	return showSource(c, s, src)
}

func removeSource(c *cli.Context, s *session) error {
	id, err := idArgument(c, "source")
	if err != nil {
		return err
	}
	if err := s.service.RemoveSource(c.Context, s.account, id, s.now); err != nil {
		return err
	}
	return done(c, id, "removed", "Source %d is removed; its calls are refused from now on.\n", id)
}

func sourceLog(c *cli.Context, s *session) error {
	if err := noArguments(c); err != nil {
		return err
	}
	limit := c.Int("limit")
	if limit < 1 || limit > 1000 {
		return usagef("--limit must be from 1 to 1000")
	}
	if c.Bool("rejected") {
		return refusedLog(c, s, limit)
	}
	events, err := s.service.InboundEvents(c.Context, s.account, app.InboundFilter{
		SourceID: c.Int64("source-id"), OpenOnly: c.Bool("open"), Page: app.Page{Number: 1, Size: limit},
	})
	if err != nil {
		return err
	}
	list, rows := []inboundEvent{}, [][]string{}
	for _, e := range events {
		encoded, err := encodeInboundEvent(c, s, e)
		if err != nil {
			return err
		}
		list = append(list, encoded)
		rows = append(rows, []string{strconv.FormatInt(e.ID, 10), encoded.ReceivedAt, e.SourceName, strconv.Itoa(e.Recorded), strconv.Itoa(e.Duplicates),
			strconv.Itoa(e.Unassigned), strconv.Itoa(e.Conflicts), strconv.Itoa(e.Rejected), encoded.reasons()})
	}
	return output(c, list, func(w io.Writer) {
		printTable(w, "No call came in yet.",
			[]string{"EVENT", "RECEIVED", "SOURCE", "RECORDED", "DUPLICATES", "UNASSIGNED", "CONFLICTS", "REJECTED", "OPEN"}, rows,
			"EVENT", "RECORDED", "DUPLICATES", "UNASSIGNED", "CONFLICTS", "REJECTED")
	})
}

type inboundEvent struct {
	ID         int64         `json:"id"`
	SourceID   int64         `json:"source_id"`
	Source     string        `json:"source"`
	Channel    app.Channel   `json:"channel"`
	ReceivedAt string        `json:"received_at"`
	Recorded   int           `json:"recorded"`
	Duplicates int           `json:"duplicates"`
	Unassigned int           `json:"unassigned"`
	Conflicts  int           `json:"conflicts"`
	Rejected   int           `json:"rejected"`
	Items      []inboundItem `json:"items"`
	Body       string        `json:"body"`
}

type inboundItem struct {
	Position      int         `json:"position"`
	State         app.Outcome `json:"state"`
	Field         string      `json:"field"`
	Reason        string      `json:"reason"`
	EventID       string      `json:"event_id"`
	Gateway       string      `json:"gateway"`
	AccountNumber string      `json:"account_number"`
	Amount        int64       `json:"amount"`
}

func (e inboundEvent) reasons() string {
	var parts []string
	for _, i := range e.Items {
		switch i.State {
		case app.OutcomeRecorded, app.OutcomeDuplicate, app.OutcomeDiscarded:
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %s %s", i.State, i.Field, i.Reason))
	}
	return clip(strings.Join(parts, "; "), 80)
}

func encodeInboundEvent(c *cli.Context, s *session, e app.InboundEvent) (inboundEvent, error) {
	encoded := inboundEvent{
		ID: e.ID, SourceID: e.SourceID, Source: e.SourceName, Channel: e.Channel, ReceivedAt: app.FormatTime(e.ReceivedAt, s.service.Zone()),
		Recorded: e.Recorded, Duplicates: e.Duplicates, Unassigned: e.Unassigned, Conflicts: e.Conflicts, Rejected: e.Rejected,
		Items: []inboundItem{}, Body: app.CleanText(string(e.Body), 1<<20),
	}
	if e.Unassigned+e.Conflicts+e.Rejected == 0 {
		return encoded, nil
	}
	items, err := s.service.InboundItems(c.Context, s.account, e.ID)
	for _, i := range items {
		encoded.Items = append(encoded.Items, inboundItem{
			i.Position, i.State, i.Fault.Field, i.Fault.Text.EN, i.EventID, i.Gateway, i.AccountNumber, i.Amount,
		})
	}
	return encoded, err
}

func refusedLog(c *cli.Context, s *session, limit int) error {
	calls, err := s.service.RefusedCalls(c.Context, s.account, c.Int64("source-id"), limit)
	if err != nil {
		return err
	}
	type refused struct {
		ID         int64           `json:"id"`
		SourceID   int64           `json:"source_id"`
		Source     string          `json:"source"`
		ReceivedAt string          `json:"received_at"`
		Remote     string          `json:"remote"`
		Code       app.RefusalCode `json:"code"`
		Reason     string          `json:"reason"`
	}
	list, rows := []refused{}, [][]string{}
	for _, r := range calls {
		e := refused{r.ID, r.SourceID, r.SourceName, app.FormatTime(r.ReceivedAt, s.service.Zone()), r.Remote, r.Code, r.Text.EN}
		list = append(list, e)
		rows = append(rows, []string{e.ReceivedAt, e.Source, e.Remote, e.Reason})
	}
	return output(c, list, func(w io.Writer) {
		printTable(w, "No call was refused.", []string{"RECEIVED", "SOURCE", "FROM", "REASON"}, rows)
	})
}

func discardEvent(c *cli.Context, s *session) error {
	id, err := idArgument(c, "inbound event")
	if err != nil {
		return err
	}
	n, err := s.service.DiscardInbound(c.Context, s.account, id)
	if err != nil {
		return err
	}
	return output(c, map[string]int{"discarded": n}, func(w io.Writer) {
		fmt.Fprintf(w, "Event %d: %d discarded.\n", id, n)
	})
}

func retryEvent(c *cli.Context, s *session) error {
	id, err := idArgument(c, "inbound event")
	if err != nil {
		return err
	}
	r, err := s.service.RetryInbound(c.Context, s.account, id, s.now)
	if err != nil {
		return err
	}
	counts := map[string]int{"recorded": r.Recorded, "duplicates": r.Duplicates, "unassigned": r.Unassigned, "conflicts": r.Conflicts, "rejected": r.Rejected}
	return output(c, counts, func(w io.Writer) {
		fmt.Fprintf(w, "Event %d: %d recorded, %d known already, %d unassigned, %d in conflict, %d rejected.\n",
			id, r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected)
	})
}
