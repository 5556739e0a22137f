package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/command/serve"
	"baoco/app/command/session"
	"baoco/app/command/terminal"
	"baoco/app/replica"
	"baoco/web/api"

	"github.com/urfave/cli/v2"
)

func ReplicaCommand() *cli.Command {
	return &cli.Command{
		Name: "replica", Usage: "the copy of the database that Litestream keeps elsewhere, every second",
		Subcommands: []*cli.Command{
			{
				Name: "setup", Usage: "prepare the copy: Litestream's configuration beside the database, and its systemd unit", ArgsUsage: "URL",
				Description: terminal.Example(
					"baoco replica setup sftp://backup@nas.shop.vn/srv/baoco --credentials-file replica.txt --passphrase-file words.txt > "+
						"baoco-litestream.service",
					"baoco replica setup 's3://shop-replica?endpoint=https://s3.example.vn' --credentials-file replica.txt --unit-dir /etc/systemd/system",
				),
				Flags: terminal.AdminFlags(
					&cli.StringFlag{Name: "credentials-file",
						Usage: "`FILE` of mode 600 with what opens the place: access-key-id and secret-access-key, or host-key and key-file or password"},
					&cli.StringFlag{Name: "passphrase-file", Usage: "`FILE` of mode 600: seal the key with this passphrase and put it beside the copy"},
					&cli.StringFlag{Name: "litestream", Usage: "`PROGRAM` (default: litestream of PATH)"},
					&cli.StringFlag{Name: "unit-dir", Usage: "write the unit into `DIRECTORY` instead of printing it"},
					&cli.BoolFlag{Name: "anew", Usage: "begin a new copy beside the old one, which can't be restored any more"},
					&cli.BoolFlag{Name: "force", Usage: "copy to another place than before, or begin anew where another server's copy lies"},
				),
				Action: session.Admin(setUpReplica),
			},
			{
				Name: "show", Usage: "show where the copy lies and whether the key lies beside it",
				Description: terminal.Example("baoco replica show", "baoco replica show -o json"),
				Flags:       terminal.AdminFlags(), Action: session.WithoutArguments(showReplica),
			},
			{
				Name: "check", Usage: "restore the copy into a file that is thrown away, and compare it with the database",
				Description: "Exit code 6 says that the copy is not good. The server does the same by itself, and says it in the " +
					"dashboard and by alerts.\n\n" + terminal.Example("baoco replica check"),
				Flags: terminal.AdminFlags(), Action: terminal.Interruptible(session.WithoutArguments(checkReplica)),
			},
			{
				Name: "seal-key", Usage: "seal the key with a passphrase and put it beside the copy, in place of an older one",
				Description: terminal.Example("baoco replica seal-key --passphrase-file words.txt"),
				Flags: terminal.AdminFlags(&cli.StringFlag{Name: "passphrase-file",
					Usage: "`FILE` of mode 600 with the passphrase", Required: true}),
				Action: session.WithoutArguments(sealReplicaKey),
			},
			{
				Name: "open-key", Usage: "open the sealed key beside a copy on another machine, and write it as a key file", ArgsUsage: "URL",
				Description: terminal.Example("baoco replica open-key sftp://backup@nas.shop.vn/srv/baoco --credentials-file replica.txt " +
					"--passphrase-file words.txt --to baoco.db.key"),
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "credentials-file", Usage: "`FILE` of mode 600 with what opens the place"},
					&cli.StringFlag{Name: "passphrase-file", Usage: "`FILE` of mode 600 with the passphrase", Required: true},
					&cli.StringFlag{Name: "to", Usage: "key `FILE` to make", Required: true},
					terminal.OutputFlag,
				},
				Action: openReplicaKey,
			},
			session.Plain("replica remove", "remove Litestream's configuration; what lies in the place stays", removeReplica),
		},
	}
}

const replicaTime = time.Minute

type replicaJSON struct {
	Place      string  `json:"place"`
	Epoch      int64   `json:"epoch"`
	Litestream string  `json:"litestream"`
	Version    *string `json:"version"` // null: the program can't be used; see problem
	Config     string  `json:"config"`
	Unit       *string `json:"unit,omitempty"` // the file of the unit, or its text
	SealedKey  *string `json:"sealed_key"`     // none, present or old; null: the place can't be reached; see problem
	Problem    *string `json:"problem"`
}

func replicaOf(c *cli.Context) (replica.Config, error) {
	db, err := resolved(c.String("db"))
	if err != nil {
		return replica.Config{}, err
	}
	config, err := replica.ReadConfig(db)
	if errors.Is(err, fs.ErrNotExist) {
		err = terminal.Exit(terminal.ExitNotFound, errors.New("no replica is set up: baoco replica setup"))
	}
	return config, err
}

func placeArgument(c *cli.Context) (p replica.Place, secret replica.Credentials, err error) {
	if c.NArg() != 1 {
		return p, secret, terminal.Usagef("%s takes one argument, the URL of the place", c.Command.Name)
	}
	if p, err = replica.ParsePlace(c.Args().First()); err != nil {
		return p, secret, terminal.Usagef("%v", err)
	}
	if file := c.String("credentials-file"); file != "" {
		secret, err = replica.ReadCredentials(file)
	}
	if err == nil {
		err = secret.Check(p)
	}
	if err != nil {
		err = terminal.Usagef("%v", err)
	}
	return p, secret, err
}

// resolved returns the path of the database by which Litestream finds its log.
func resolved(db string) (string, error) {
	path, err := filepath.Abs(db)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func hasReplica(db string) bool {
	path, err := resolved(db)
	if err == nil {
		_, err = os.Stat(replica.ConfigPath(path))
	}
	return err == nil
}

// sealedKeyState compares the key beside the replica with that of the database.
func sealedKeyState(ctx context.Context, o replica.Objects, db string) (string, error) {
	text, err := o.Get(ctx, replica.SealedKey)
	if errors.Is(err, fs.ErrNotExist) {
		return "none", nil
	}
	if err != nil {
		return "", err
	}
	id, err := replica.SealedKeyID(text)
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(db + ".key")
	if err == nil && replica.KeyID(key) != id {
		return "old", nil
	}
	return "present", err
}

func putSealedKey(ctx context.Context, o replica.Objects, db, passphraseFile string) error {
	passphrase, err := replica.ReadPassphrase(passphraseFile)
	if err != nil {
		return terminal.Usagef("%v", err)
	}
	key, err := os.ReadFile(db + ".key")
	if err != nil {
		return err
	}
	sealed, err := replica.SealKey(key, passphrase)
	if err != nil {
		return terminal.Usagef("%v", err)
	}
	return o.Put(ctx, replica.SealedKey, sealed)
}

func showReplica(c *cli.Context, _ *session.Session) error {
	config, err := replicaOf(c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(c.Context, replicaTime)
	defer stop()
	v := encodeReplica(ctx, config)
	return terminal.Output(c, v, v.print)
}

func encodeReplica(ctx context.Context, config replica.Config) replicaJSON {
	v := replicaJSON{Place: config.Place.String(), Epoch: config.Epoch, Litestream: config.Program,
		Config: replica.ConfigPath(config.Database)}
	program, programErr := replica.FindProgram(ctx, config.Program)
	if programErr == nil {
		v.Version = &program.Version
	}
	var state string
	objects, err := replica.Open(ctx, config.Place, config.Credentials)
	if err == nil {
		defer objects.Close()
		if state, err = sealedKeyState(ctx, objects, config.Database); err == nil {
			v.SealedKey = &state
		}
	}
	if err := errors.Join(programErr, err); err != nil {
		v.Problem = api.OrNull(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return v
}

func (v replicaJSON) print(w io.Writer) {
	fmt.Fprintf(w, "Place:       %s\nEpoch:       %d\nLitestream:  %s", v.Place, v.Epoch, terminal.OneLine(v.Litestream))
	if v.Version != nil {
		fmt.Fprintf(w, " (%s)", *v.Version)
	}
	fmt.Fprintf(w, "\nConfig:      %s\n", terminal.OneLine(v.Config))
	if v.Problem != nil {
		fmt.Fprintf(w, "Problem:     %s\n", terminal.OneLine(*v.Problem))
	}
	if v.SealedKey != nil {
		fmt.Fprintln(w, "Sealed key:  "+sealedKeyText[*v.SealedKey])
	}
}

var sealedKeyText = map[string]string{
	"none":    "none. A copy without the key can sign nothing: keep the key file elsewhere, or run baoco replica seal-key.",
	"present": "lies beside the copy; only its passphrase opens it.",
	"old":     "is of an older key: run baoco replica seal-key.",
}

type replicaCheckJSON struct {
	Good          bool    `json:"good"`
	Problem       *string `json:"problem"`
	BehindSeconds float64 `json:"behind_seconds"` // the age of the oldest change that isn't in the copy
	Transactions  int64   `json:"transactions"`   // in the copy
	TookSeconds   float64 `json:"took_seconds"`
}

func checkReplica(c *cli.Context, s *session.Session) error {
	if _, err := replicaOf(c); err != nil {
		return err
	}
	checker := &serve.ReplicaChecker{Store: s.Store}
	progress := terminal.NewProgress(c, "restoring and comparing")
	check := checker.Check(c.Context, s.Now)
	progress.Stop()
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	v := replicaCheckJSON{check.Problem.EN == "", api.OrNull(check.Problem.EN), check.Behind.Seconds(), check.Transactions,
		check.Took.Seconds()}
	err := terminal.Output(c, v, v.print)
	if err == nil && !v.Good {
		err = terminal.Exit(terminal.ExitCheck, errors.New("the replica is not good"))
	}
	return err
}

func (v replicaCheckJSON) print(w io.Writer) {
	if v.Problem != nil {
		fmt.Fprintln(w, terminal.OneLine(*v.Problem))
		return
	}
	fmt.Fprintf(w, "good, %.1f s behind: %s, checked in %.1f s\n", v.BehindSeconds,
		terminal.Counted(v.Transactions, "transaction", "transactions"), v.TookSeconds)
}

func sealReplicaKey(c *cli.Context, s *session.Session) error {
	config, err := replicaOf(c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(c.Context, replicaTime)
	defer stop()
	objects, err := replica.Open(ctx, config.Place, config.Credentials)
	if err != nil {
		return err
	}
	defer objects.Close()
	if err := putSealedKey(ctx, objects, config.Database, c.String("passphrase-file")); err != nil {
		return err
	}
	err = s.Services.Ledger.Audit(c.Context, app.DefaultAccountID, app.DeedReplicaSealKey, 0, app.AuditNamed(config.Place.String()))
	return terminal.Changed(c, err, encodeReplica(ctx, config),
		"The sealed key lies beside the copy. Only its passphrase opens it: keep that apart from this machine.")
}

func openReplicaKey(c *cli.Context) error {
	place, credentials, err := placeArgument(c)
	if err != nil {
		return err
	}
	passphrase, err := replica.ReadPassphrase(c.String("passphrase-file"))
	if err != nil {
		return terminal.Usagef("%v", err)
	}
	ctx, stop := context.WithTimeout(c.Context, replicaTime)
	defer stop()
	objects, err := replica.Open(ctx, place, credentials)
	if err != nil {
		return err
	}
	defer objects.Close()
	sealed, err := objects.Get(ctx, replica.SealedKey)
	if errors.Is(err, fs.ErrNotExist) {
		return terminal.Exit(terminal.ExitNotFound, errors.New("no sealed key lies there"))
	}
	if err != nil {
		return err
	}
	key, err := replica.OpenKey(sealed, passphrase)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(c.String("to"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(key)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return terminal.Changed(c, nil, struct {
		Key string `json:"key"`
	}{file.Name()}, "The key is %s: baoco takeover takes it by --key.", terminal.OneLine(file.Name()))
}

func removeReplica(c *cli.Context, s *session.Session) error {
	config, err := replicaOf(c)
	if err != nil {
		return err
	}
	if err := waitForFenceLook(c.Context, replica.ConfigPath(config.Database)); err != nil {
		return err
	}
	if err := errors.Join(os.Remove(replica.ConfigPath(config.Database)), serve.NotFenced(config.Database)); err != nil {
		return err
	}
	err = s.Services.Ledger.Audit(c.Context, app.DefaultAccountID, app.DeedReplicaRemove, 0, app.AuditNamed(config.Place.String()))
	return terminal.Done(c, err, struct {
		Place string `json:"place"`
		State string `json:"state"`
	}{config.Place.String(), "removed"},
		"The copy at %s is not kept up to date any more, and stays there. As root: systemctl disable --now baoco-litestream", config.Place)
}

// waitForFenceLook waits until a running server has read file, which setup wrote. A server that
// doesn't find its new epoch in the file would take it for the epoch of another server.
func waitForFenceLook(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(serve.FenceTime, time.Until(info.ModTime().Add(serve.FenceTime)))):
		return nil
	}
}

// writeUnit writes Litestream's unit into a directory, or returns its text.
func writeUnit(dir string, config replica.Config) (file string, text []byte, err error) {
	u := serve.ReplicaUnit{Program: config.Program, Config: replica.ConfigPath(config.Database), Database: config.Database,
		KeyFile: config.Credentials.KeyFile}
	if u.User, err = serve.OwnerName(config.Database); err != nil {
		return "", nil, err
	}
	if config.Place.Scheme == replica.File {
		u.Place = config.Place.Path
	}
	var unit bytes.Buffer
	if err := u.Write(&unit); err != nil || dir == "" {
		return "", unit.Bytes(), err
	}
	file = filepath.Join(dir, serve.ReplicaUnitName)
	return file, nil, os.WriteFile(file, unit.Bytes(), 0o644)
}
