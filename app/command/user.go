package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/command/serve"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func userCommand() *cli.Command {
	passwordFile := &cli.StringFlag{Name: "password-file",
		Usage: "`FILE` that holds the password, - for standard input (default: generate one)"}
	return &cli.Command{
		Name: "user", Usage: "users who may sign in to the dashboard",
		Subcommands: []*cli.Command{
			{
				Name: "set-up", Usage: "print a new link with which the first user is created in the browser",
				Description: terminal.Example("baoco user set-up"),
				Flags:       []cli.Flag{terminal.DBFlag, terminal.OutputFlag}, Action: session.WithoutArguments(openSetUp),
			},
			{
				Name: "create", Usage: "create a user; a generated password is shown once", ArgsUsage: "NAME",
				Description: terminal.Example("baoco user create lan", "baoco user create thungan --role cashier --password-file password.txt"),
				Flags: terminal.AdminFlags(
					terminal.Suggest(cli.StringFlag{Name: "role", Usage: roleUsage, Value: string(access.RoleOwner)}, access.Roles...),
					passwordFile,
				),
				Action: session.WithArgument("the name of a user", createUser),
			},
			session.Plain("user list", "list the users", listUsers),
			{
				Name: "passwd", Usage: "change the password of a user and sign them out everywhere", ArgsUsage: "NAME",
				Description: terminal.Example("baoco user passwd lan"), Flags: terminal.AdminFlags(passwordFile), Action: withUser(setPassword),
			},
			{
				Name: "role", Usage: "change the role of a user, who is signed out everywhere", ArgsUsage: "NAME",
				Description: terminal.Example("baoco user role thungan --role accountant"),
				Flags:       terminal.AdminFlags(terminal.Suggest(cli.StringFlag{Name: "role", Usage: roleUsage, Required: true}, access.Roles...)),
				Action:      withUser(setRole),
			},
			{
				Name: "limit", Usage: "limit an accountant or a cashier to some bank accounts; it counts at once", ArgsUsage: "NAME",
				Description: terminal.Example("baoco user limit thungan --bank-account-id 1 --bank-account-id 3",
					"baoco user limit thungan --bank-account-id 1 --receiving-number 96247CISI1", "baoco user limit thungan --all"),
				Flags: terminal.AdminFlags(
					&cli.Int64SliceFlag{Name: "bank-account-id", Usage: "the user sees bank account `ID` (repeatable; see baoco bank list)"},
					&cli.StringFlag{Name: "receiving-number",
						Usage: "of the one bank account, the user sees only money to this receiving `NUMBER`", DefaultText: "all"},
					&cli.BoolFlag{Name: "all", Usage: "end the limit: the user sees all bank accounts"},
				),
				Action: withUser(limitUser),
			},
			ofUser("sign-out", "sign a user out everywhere", signOutUser),
			ofUser("second-factor-off", "remove the authenticator app, passkeys and recovery codes of a user, who is signed out everywhere",
				endSecondFactor),
			ofUser("remove", "remove a user; they are signed out at once", removeUser),
		},
	}
}

const roleUsage = "`ROLE`: owner (everything), accountant (reads and exports the money), developer (webhooks, " +
	"deliveries and sources, no sums) " +
	"or cashier (the counter and the money that came in today)"

type userJSON struct {
	ID           int64       `json:"id"`
	Name         string      `json:"name"`
	Role         access.Role `json:"role"`
	CreatedAt    string      `json:"created_at"`
	LastSignInAt *string     `json:"last_sign_in_at"`
	// BankAccountIDs are the bank accounts that the user is limited to; null: the user sees all.
	BankAccountIDs  []int64 `json:"bank_account_ids"`
	ReceivingNumber string  `json:"receiving_number,omitempty"`
}

func encodeUser(s *session.Session, u access.User) userJSON {
	zone := s.Services.Ledger.Zone()
	v := userJSON{u.ID, u.Name, u.Role, app.FormatTime(u.CreatedAt, zone), api.TimeOrNull(u.LastSignInAt, zone), nil, u.Limit.ReceivingNumber}
	if u.Limit.On {
		v.BankAccountIDs = u.Limit.IDs
	}
	return v
}

// newPassword returns the password of --password-file, or a generated one as both results.
func newPassword(c *cli.Context) (secret, generated string, err error) {
	if secret, err = terminal.ReadSecretFile(c, c.String("password-file")); err != nil || secret != "" {
		return secret, "", err
	}
	generated = access.GeneratePassword()
	return generated, generated, nil
}

// openSetUp prints the link that serve prints when it starts on a terminal. It makes a new
// token, and the earlier link no longer works.
func openSetUp(c *cli.Context, s *session.Session) error {
	token, err := s.Services.Access.OpenSetUp(c.Context, s.Now)
	if err != nil {
		return err
	}
	if token == "" {
		return terminal.Exit(terminal.ExitConflict,
			errors.New("there is a user already, so there is no set-up link; a lost password is replaced by baoco user passwd NAME"))
	}
	base, err := s.Store.BaseURL(c.Context)
	if err != nil {
		return err
	}
	address, err := s.Store.ReachedAt(c.Context)
	if err != nil {
		return err
	}
	link := serve.SetUpLink(address, token)
	lost := "A set-up link was made, but nobody has seen it. Make another: baoco user set-up"
	return terminal.Report(c, map[string]string{"url": link}, lost, func(w io.Writer) {
		fmt.Fprintln(w, link)
		fmt.Fprintf(c.App.ErrWriter, "Open it within %.0f minutes; it works once.\n", access.SetUpTime.Minutes())
		if base == "" {
			fmt.Fprintln(c.App.ErrWriter, "baoco serve has no --domain and no --base-url yet, so this link is for a browser on this computer.")
		}
	})
}

func createUser(c *cli.Context, s *session.Session, name string) error {
	secret, generated, err := newPassword(c)
	if err != nil {
		return err
	}
	u, err := s.Services.Access.CreateUser(c.Context, s.Account,
		access.UserCreate{Name: name, Password: secret, Role: access.ReadRole(c.String("role"))}, s.Now)
	if err != nil {
		return err
	}
	return showPassword(c, s, u, "was created", generated)
}

// showPassword prints a user after a change, and a generated password, which is printed only
// once; empty: the user entered it. did says what was done.
func showPassword(c *cli.Context, s *session.Session, u access.User, did, generated string) error {
	v := struct {
		userJSON
		Password *string `json:"password"`
	}{encodeUser(s, u), nil}
	lost := fmt.Sprintf("User %s %s.", u.Name, did)
	if generated != "" {
		v.Password = &generated
		lost = fmt.Sprintf("User %s %s, but nobody has seen the password. Make another: baoco user passwd %s%s", u.Name, did, u.Name,
			session.OnAccount(s.Account))
	}
	return terminal.Report(c, v, lost, func(w io.Writer) {
		fmt.Fprintf(w, "User:      %s (%s)\n", u.Name, u.Role)
		if generated != "" {
			fmt.Fprintf(w, "Password:  %s\n", generated)
			fmt.Fprintln(c.App.ErrWriter, "Save the password now: it is not shown again.")
		}
	})
}

func listUsers(c *cli.Context, s *session.Session) error {
	users, err := s.Services.Access.Users(c.Context, s.Account)
	table := terminal.Table{
		None:    "There is no user yet: baoco user create NAME",
		Columns: ">ID|NAME|ROLE|CREATED|LAST SIGN-IN|BANK ACCOUNTS",
	}
	return terminal.List(c, err, users, table, func(u access.User) (userJSON, []string) {
		e := encodeUser(s, u)
		return e, []string{strconv.FormatInt(e.ID, 10), e.Name, string(e.Role), e.CreatedAt, orNever(e.LastSignInAt), bankAccountsText(u.Limit)}
	})
}

func setPassword(c *cli.Context, s *session.Session, u access.User) error {
	secret, generated, err := newPassword(c)
	if err != nil {
		return err
	}
	u, err = s.Services.Access.SetPassword(c.Context, u, secret, app.IdempotencyKey{}, s.Now)
	if err != nil {
		return err
	}
	return showPassword(c, s, u, "has a new password", generated)
}

func setRole(c *cli.Context, s *session.Session, u access.User) error {
	u, err := s.Services.Access.SetRole(c.Context, s.Account, u.ID, access.ReadRole(c.String("role")))
	return terminal.Done(c, err, encodeUser(s, u), "User %s is %s now, and signed out everywhere.", u.Name, u.Role)
}

func bankAccountsText(limit access.BankAccountLimit) string {
	if !limit.On {
		return "all"
	}
	text := strings.Trim(fmt.Sprint(limit.IDs), "[]")
	text = strings.ReplaceAll(cmp.Or(text, "none"), " ", ", ")
	if limit.ReceivingNumber != "" {
		text += ", number " + limit.ReceivingNumber
	}
	return text
}

func limitUser(c *cli.Context, s *session.Session, u access.User) error {
	limit := access.BankAccountLimit{On: !c.Bool("all"), IDs: c.Int64Slice("bank-account-id"),
		ReceivingNumber: app.NormalizeAccountNumber(c.String("receiving-number"))}
	if limit.On == (len(limit.IDs) == 0) || !limit.On && limit.ReceivingNumber != "" {
		return terminal.Usagef("name the bank accounts that the user sees with --bank-account-id, or give --all")
	}
	u, err := s.Services.Access.LimitUser(c.Context, s.Account, u.ID, limit)
	if !limit.On {
		return terminal.Done(c, err, encodeUser(s, u), "User %s sees all bank accounts now.", u.Name)
	}
	return terminal.Done(c, err, encodeUser(s, u), "User %s sees only these bank accounts now: %s.", u.Name, bankAccountsText(u.Limit))
}

func signOutUser(c *cli.Context, s *session.Session, u access.User) error {
	_, err := s.Services.Access.EndSessions(c.Context, s.Account, u.ID)
	return terminal.Done(c, err, session.StateJSON{ID: u.ID, State: "signed_out"}, "User %s is signed out everywhere.", u.Name)
}

func endSecondFactor(c *cli.Context, s *session.Session, u access.User) error {
	if !u.SecondFactor {
		return terminal.Done(c, nil, session.StateJSON{ID: u.ID, State: "second_factor_off"},
			"User %s has no second factor. Nothing was changed.", u.Name)
	}
	_, err := s.Services.Access.RemoveSecondFactor(c.Context, s.Account, u.ID)
	return terminal.Done(c, err, session.StateJSON{ID: u.ID, State: "second_factor_off"},
		"The second factor of %s is off: the app, passkeys and recovery codes are removed, and %s is signed out everywhere.", u.Name, u.Name)
}

func removeUser(c *cli.Context, s *session.Session, u access.User) error {
	err := s.Services.Access.RemoveUser(c.Context, s.Account, u.ID)
	return terminal.Done(c, err, session.StateJSON{ID: u.ID, State: "removed"}, "User %s is removed.", u.Name)
}

// ofUser is a command for a user of the account without other flags.
func ofUser(name, usage string, action func(*cli.Context, *session.Session, access.User) error) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: "NAME", Description: terminal.Example("baoco user " + name + " lan"),
		Flags: terminal.AdminFlags(), Action: withUser(action),
	}
}

// withUser wraps an action of a command whose one argument is the name of a user of the account.
func withUser(action func(c *cli.Context, s *session.Session, u access.User) error) cli.ActionFunc {
	return session.WithArgument("the name of a user", func(c *cli.Context, s *session.Session, name string) error {
		users, err := s.Services.Access.Users(c.Context, s.Account)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(users, func(u access.User) bool { return u.Name == name }); i >= 0 {
			return action(c, s, users[i])
		}
		return terminal.Exit(terminal.ExitNotFound, fmt.Errorf("there is no user named %q in this account", name))
	})
}
