// Command baoco is a bank transaction notification service for one merchant's
// own server: the bank's transactions come in through a provider's webhook,
// are recorded once and for ever, and pushed at once to the shop's own URLs as
// signed webhooks, retried on a fixed schedule.
//
// This file is the root of the command line; every command group has a file
// of its own, main_<group>.go, with thin actions over the use cases of app.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // a small server may have none

	"baoco/app"
	"baoco/scheduler"
	"baoco/sqlitestore"
	"baoco/web"

	"github.com/urfave/cli/v2"
)

// version is set at release: -ldflags "-X main.version=1.2.3".
var version = "dev"

// Exit codes.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitNotFound = 3
	exitDatabase = 4 // or configuration
	exitConflict = 5 // or a limit
	exitCheck    = 6 // a check failed
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write to a reader that has gone fails like any other
	os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: data goes to stdout, all else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, w, stderr io.Writer) int {
	out := &stdout{Writer: w}
	root := rootCommand(stdin, out, stderr)
	err := root.RunContext(ctx, flagsFirst(root, args))
	code := exitCode(err)
	if out.err != nil && errors.Is(err, out.err) {
		err = nil // fault says it
	}
	for _, fault := range []error{err, out.fault()} {
		if fault != nil {
			fmt.Fprintln(stderr, "baoco: "+oneLine(errorText(fault)))
			code = max(code, exitError)
		}
	}
	return code
}

func rootCommand(stdin io.Reader, out, stderr io.Writer) *cli.App {
	root := &cli.App{
		Name:           "baoco",
		Usage:          "notify your shop of every bank transaction, from your own server",
		Description:    "Start with: baoco demo\nThen, in an empty directory: baoco serve",
		Version:        version,
		HideVersion:    true, // its flag prints more than the command version does
		Flags:          []cli.Flag{&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version", DisableDefaultText: true}},
		Reader:         stdin,
		Writer:         out,
		ErrWriter:      stderr,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageError,
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return unknownCommand(c, c.App.Commands)
			case c.Bool("version"):
				return printVersion(c)
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			serveCommand(), demoCommand(), apiKeyCommand(), bankCommand(), sourceCommand(), webhookCommand(),
			deliveryCommand(), transactionCommand(), accountCommand(), userCommand(), counterCommand(), alertCommand(),
			backupCommand(), restoreCommand(), doctorCommand(), pruneCommand(), systemdCommand(), benchCommand(), openAPICommand(), completionCommand(), versionCommand(),
		},
	}
	for _, command := range root.Commands {
		finish(command)
	}
	return root
}

// finish gives a command and those below it what all of them have.
func finish(command *cli.Command) {
	command.OnUsageError = usageError
	if len(command.Subcommands) == 0 {
		for _, f := range []cli.Flag{dbFlag, accountFlag} {
			if !hasFlag(command, f.Names()[0]) {
				command.Flags = append(command.Flags, f)
			}
		}
		ownFlags(command)
		checkFlags(command)
		return
	}
	if command.Action == nil {
		command.Action = func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c, command.Subcommands)
			}
			return cli.ShowSubcommandHelp(c)
		}
	}
	for _, sub := range command.Subcommands {
		finish(sub)
	}
}

func hasFlag(command *cli.Command, name string) bool {
	return slices.ContainsFunc(command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// ownFlags gives a command copies of its flags: the library writes what a
// variable of the environment holds into a flag, for every later run in the
// process.
func ownFlags(command *cli.Command) {
	for i, f := range command.Flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			own := *f
			command.Flags[i] = &own
		case *cli.Int64Flag:
			own := *f
			command.Flags[i] = &own
		}
	}
}

// checkFlags checks flags before the action, required ones too: the library
// would print its help to stdout, where data goes. What the action finds wrong
// is told in the words of the command line.
func checkFlags(command *cli.Command) {
	var required []string
	for _, f := range command.Flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			if f.Required {
				f.Required = false
				required = append(required, f.Name)
			}
		case *cli.Int64Flag:
			if f.Required {
				f.Required = false
				required = append(required, f.Name)
			}
		}
	}
	action := command.Action
	command.Action = func(c *cli.Context) error {
		if err := missingFlags(c, required); err != nil {
			return err
		}
		for _, f := range command.Flags {
			name := f.Names()[0]
			_, number := f.(*cli.Int64Flag) // others are ids of providers
			if number && strings.HasSuffix(name, "-id") && name != "since-id" && c.IsSet(name) && c.Int64(name) < 1 {
				return exitStatus{exitNotFound, fmt.Errorf("--%s %d names nothing", name, c.Int64(name))}
			}
		}
		if err := action(c); err != nil {
			return typedError{err, command}
		}
		return nil
	}
}

// missingFlags tells all required flags that were not given.
func missingFlags(c *cli.Context, required []string) error {
	var missing []string
	for _, name := range required {
		if !c.IsSet(name) {
			missing = append(missing, "--"+name)
		}
	}
	switch n := len(missing); n {
	case 0:
		return nil
	case 1:
		return usagef("%s is required; see %s --help", missing[0], c.Command.HelpName)
	default:
		return usagef("%s and %s are required; see %s --help", strings.Join(missing[:n-1], ", "), missing[n-1], c.Command.HelpName)
	}
}

// unknownCommand is the error of a word that should be one of commands.
func unknownCommand(c *cli.Context, commands []*cli.Command) error {
	typed := c.Args().First()
	var names []*cli.Command
	for _, command := range commands {
		if !command.Hidden {
			names = append(names, command)
		}
	}
	return usagef("there is no command %q. %s See %s --help", strings.TrimSpace(c.Command.HelpName+" "+typed), cli.SuggestCommand(names, typed), c.Command.HelpName)
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", Description: example("baoco version"),
		Flags: []cli.Flag{outputFlag},
		Action: func(c *cli.Context) error {
			return printVersion(c)
		},
	}
}

func printVersion(c *cli.Context) error {
	return output(c, map[string]string{"version": version}, func(w io.Writer) { fmt.Fprintln(w, "baoco "+version) })
}

func example(lines ...string) string { return "Example:\n   " + strings.Join(lines, "\n   ") }

// Flags that many commands have.
var (
	dbFlag = &cli.StringFlag{
		Name: "db", Usage: "database `FILE`", Value: "baoco.db", EnvVars: []string{"BAOCO_DB"},
	}
	accountFlag = &cli.Int64Flag{
		Name: "account", Usage: "account `ID`", Value: app.DefaultAccountID, EnvVars: []string{"BAOCO_ACCOUNT"},
	}
	outputFlag = &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Usage: "`FORMAT`: text or json", Value: "text", EnvVars: []string{"BAOCO_OUTPUT"},
	}
)

// adminFlags are the flags of a command that works on the file.
func adminFlags(more ...cli.Flag) []cli.Flag {
	return append(more, dbFlag, accountFlag, outputFlag)
}

// session is what a command works with: the use cases over an open file.
type session struct {
	store   *sqlitestore.Store
	service *app.Service
	account int64
	now     time.Time
}

// admin wraps an action that works on the file, beside a running server or
// without one. It never creates the file.
func admin(action func(c *cli.Context, s *session) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := checkOutput(c); err != nil {
			return err
		}
		store, err := openDatabase(c.Context, c.String("db"), sqlitestore.Options{Migrating: sayMigrating(c.App.ErrWriter)})
		if errors.Is(err, sqlitestore.ErrNoFile) {
			return fmt.Errorf("%w; baoco serve creates it, --db names another", err)
		}
		if err != nil {
			return err
		}
		defer store.Close()
		s := &session{store: store, account: c.Int64("account"), now: time.Now()}
		if s.service, _, err = newService(c.Context, store, nil); err != nil {
			return err
		}
		if _, err := s.service.Account(c.Context, s.account); err != nil {
			return err
		}
		return action(c, s)
	}
}

// sayMigrating tells a person that a file of an older baoco is brought up to date.
func sayMigrating(w io.Writer) func(sqlitestore.Migration) {
	return func(m sqlitestore.Migration) {
		fmt.Fprintf(w, "Bringing the database from schema %d to %d. A copy of it as it was: %s\n", m.From, m.To, m.Kept)
	}
}

// interruptible has a command that takes its time end in order when it is told
// to stop.
func interruptible(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		ctx, stop := untilStopped(c.Context)
		defer stop()
		c.Context = ctx
		err := action(c)
		if err == nil || ctx.Err() == nil {
			return err
		}
		text := "interrupted"
		var rest unfinishedError
		if errors.As(err, &rest) {
			text += "; " + rest.state
		}
		return exitStatus{exitError, errors.New(text)}
	}
}

// untilStopped is done at Ctrl-C, at a stop and when the terminal is closed,
// unless the command was started to outlive that (nohup). A second signal ends
// the process at once.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// unfinishedError is that of a command which was interrupted, with what is done
// by then and what isn't.
type unfinishedError struct {
	error
	state string
}

func (e unfinishedError) Unwrap() error { return e.error }

func unfinished(err error, state string) error {
	if err == nil {
		return nil
	}
	return unfinishedError{err, state}
}

// openDatabase opens the file. Whatever keeps it from that, a disk that can
// only be read among others, is a failure of the database.
func openDatabase(ctx context.Context, path string, o sqlitestore.Options) (*sqlitestore.Store, error) {
	store, err := sqlitestore.Open(ctx, path, o)
	return store, databaseError(err)
}

// databaseError is a failure that has no exit code of its own, of work on
// database files.
func databaseError(err error) error {
	if err != nil && exitCode(err) == exitError {
		return exitStatus{exitDatabase, err}
	}
	return err
}

// newService wires the use cases over a file, with what the file knows of the
// installation. A nil schedule is that of the interface.
func newService(ctx context.Context, store *sqlitestore.Store, schedule []time.Duration) (*app.Service, *scheduler.Sender, error) {
	zone, err := store.Zone(ctx)
	if err != nil {
		return nil, nil, err
	}
	allowed, err := store.AllowTargets(ctx)
	if err != nil {
		return nil, nil, err
	}
	targets, err := app.ParseTargetPolicy(allowed)
	if err != nil {
		return nil, nil, err
	}
	sender := scheduler.NewSender(targets, version, nil)
	poller := scheduler.NewPoller(targets, zone, version, nil)
	return app.NewService(app.Config{
		Store: store, Zone: zone, Targets: targets,
		Providers: web.Providers(), ReadInbound: readInbound(poller), Poll: poller.Poll,
		Send: sender.Send, Alert: scheduler.NewAlerter(targets, version, nil).Send, Schedule: schedule,
	}), sender, nil
}

// readInbound reads a body as what it came as: a page of a list, or a call.
func readInbound(poller *scheduler.Poller) app.ReadInbound {
	return func(source app.Source, channel app.Channel, body []byte, receivedAt time.Time, zone *time.Location) app.InboundReading {
		if channel == app.ChannelPoll {
			return app.InboundReading{Elements: poller.ReadPage(source, body)}
		}
		return web.ReadInbound(source, channel, body, receivedAt, zone)
	}
}

// exitStatus is an error with an exit code of its own.
type exitStatus struct {
	code int
	err  error
}

func (e exitStatus) Error() string { return e.err.Error() }
func (e exitStatus) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return exitStatus{exitUsage, fmt.Errorf(format, args...)}
}

// usageError is what the library says of flags that it can't read, with the
// nearest flag where there is none of the name.
func usageError(c *cli.Context, err error, _ bool) error {
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		return usagef("there is no flag %q. Did you mean %s? See %s --help", dashed(name), cli.SuggestFlag(c.Command.Flags, name, false), c.Command.HelpName)
	}
	if name, missing := strings.CutPrefix(err.Error(), "flag needs an argument: -"); missing {
		return usagef("%s needs a value; see %s --help", dashed(name), c.Command.HelpName)
	}
	var value, name string
	if n, _ := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &name); n == 2 {
		return usagef("%s can't be %q; see %s --help", dashed(strings.TrimSuffix(name, ":")), value, c.Command.HelpName)
	}
	return exitStatus{exitUsage, err}
}

// dashed is a flag as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// typedError is an error of a command, whose flags are what people typed.
type typedError struct {
	error
	command *cli.Command
}

func (e typedError) Unwrap() error { return e.error }

// flagNames are the flags whose names differ from those of the fields that
// they fill.
var flagNames = map[string][]string{
	"webhook_url": {"url"}, "account_number": {"number"}, "accountNumber": {"account-number"}, "account_name": {"name"}, "gateway": {"bank"},
	"transferType": {"type"}, "transferAmount": {"amount"}, "transactionNumber": {"transaction-number"}, "transactionDate": {"date"},
	"email_to": {"to"}, "email_from": {"from"}, "smtp_host": {"host"}, "smtp_port": {"port"}, "smtp_security": {"security"}, "smtp_user": {"user"},
	"smtp_password": {"password-file"}, "password": {"password-file"}, "secret": {"secret-file"}, "token": {"token-file"}, "api_key": {"api-key-file"},
	"body": {"body-file"}, "kind": {"mute"}, "expires_at": {"expires"},
}

// typed is what was typed for a field: a flag of the command, or its argument.
func typed(command *cli.Command, field string) string {
	for _, name := range append(flagNames[field], strings.ReplaceAll(field, "_", "-")) {
		if hasFlag(command, name) {
			return "--" + name
		}
	}
	if strings.EqualFold(field, command.ArgsUsage) {
		return command.ArgsUsage
	}
	return field
}

// exitCode is the one table of what an error is to a shell.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	var status exitStatus
	if errors.As(err, &status) {
		return status.code
	}
	for _, known := range []error{
		sqlitestore.ErrNoFile, sqlitestore.ErrNotDatabase, sqlitestore.ErrDamaged, sqlitestore.ErrNewer, sqlitestore.ErrOlder, sqlitestore.ErrSchema,
		sqlitestore.ErrServed, sqlitestore.ErrTaken, sqlitestore.ErrTwoNames, sqlitestore.ErrKey, sqlitestore.ErrNoRoom, fs.ErrPermission, fs.ErrExist, syscall.EROFS,
	} {
		if errors.Is(err, known) {
			return exitDatabase
		}
	}
	switch app.CodeOf(err) {
	case app.CodeValidation, app.CodeInvalidJSON:
		if namesNothing(err) {
			return exitNotFound
		}
		return exitUsage
	case app.CodeNotFound:
		return exitNotFound
	case app.CodeConflict, app.CodePlanLimit, app.CodePlanExpired, app.CodeWebhookDeleted, app.CodeWebhookInactive, app.CodeDeliveryPending,
		app.CodeSecretLost:
		return exitConflict
	case app.CodeUnavailable:
		return exitDatabase
	}
	return exitError
}

// namesNothing tells whether all that is wrong is ids that name nothing.
func namesNothing(err error) bool {
	var e *app.Error
	return errors.As(err, &e) && len(e.Fields) > 0 &&
		!slices.ContainsFunc(e.Fields, func(f app.FieldError) bool { return f.Text != app.UnknownReference && f.Text != app.NotLinked })
}

// errorText is an error for the person at the terminal: in their words where
// it is one of the service's.
func errorText(err error) string {
	var e *app.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if len(e.Fields) == 0 {
		if e.Err != nil {
			return e.Text.EN + " (" + e.Err.Error() + ")"
		}
		return e.Text.EN
	}
	var in typedError
	var parts []string
	for _, f := range e.Fields {
		name := f.Field
		if errors.As(err, &in) {
			name = typed(in.command, name)
		}
		parts = append(parts, name+" "+f.Text.EN)
	}
	return strings.Join(parts, "; ")
}
