package replica

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"baoco/app/pattern"
)

// Config is what Litestream needs to copy a database to a place. A replica is set up if
// its configuration lies beside the database.
type Config struct {
	Database    string // absolute
	Place       Place
	Credentials Credentials
	Epoch       int64  // the server's own: an older server writes elsewhere
	Program     string // the absolute path of Litestream; not needed to read a replica
}

// ConfigPath is where the configuration of a database's replica lies.
func ConfigPath(database string) string { return database + ".litestream.yml" }

// StatePath is the directory in which Litestream keeps its state of a database. A
// restore sets it aside with the database.
func StatePath(database string) string {
	return filepath.Join(filepath.Dir(database), "."+filepath.Base(database)+"-litestream")
}

// metaPath is the part of StatePath for this place and epoch: each replica has a state of
// its own.
func (c Config) metaPath() string {
	sum := sha256.Sum256(fmt.Appendln(nil, c.Place, c.Epoch))
	return filepath.Join(StatePath(c.Database), hex.EncodeToString(sum[:4]))
}

// EpochDir is the directory of one epoch's copy, below the place.
func EpochDir(epoch int64) string { return fmt.Sprintf("epoch-%06d", epoch) }

const MaxEpoch = 999999

// These settings of Litestream differ from its defaults.
const (
	syncInterval      = "1s" // between copies to the place, and between looks at the write-ahead log
	snapshotInterval  = "24h"
	snapshotRetention = "72h"
)

const maxConfig = 64 << 10

// configHead comes before the JSON, and the path of the program after it. A
// configuration with another head isn't read.
const configHead = "# Made by baoco replica setup. Don't edit it: run that again.\n# program: "

// configFile is a configuration of Litestream, as far as this package writes it. It
// is JSON, which YAML contains.
type configFile struct {
	Snapshot struct {
		Interval  string `json:"interval"`
		Retention string `json:"retention"`
	} `json:"snapshot"`
	DBs []configDB `json:"dbs"`
}

type configDB struct {
	Path            string        `json:"path"`
	MetaPath        string        `json:"meta-path"`
	MonitorInterval string        `json:"monitor-interval"`
	Replica         configReplica `json:"replica"`
}

type configReplica struct {
	Type            Scheme `json:"type"`
	SyncInterval    string `json:"sync-interval"`
	Path            string `json:"path"`
	Host            string `json:"host,omitempty"`
	User            string `json:"user,omitempty"`
	Password        string `json:"password,omitempty"`
	KeyPath         string `json:"key-path,omitempty"`
	HostKey         string `json:"host-key,omitempty"`
	Bucket          string `json:"bucket,omitempty"`
	Endpoint        string `json:"endpoint,omitempty"`
	Region          string `json:"region,omitempty"`
	AccessKeyID     string `json:"access-key-id,omitempty"`
	SecretAccessKey string `json:"secret-access-key,omitempty"`
}

// encode returns the text of the configuration. Litestream must not expand
// variables in it.
func (c Config) encode() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p, secret := c.Place, c.Credentials
	var f configFile
	f.Snapshot.Interval, f.Snapshot.Retention = snapshotInterval, snapshotRetention
	f.DBs = []configDB{{
		Path: c.Database, MetaPath: c.metaPath(), MonitorInterval: syncInterval, Replica: configReplica{
			Type: p.Scheme, SyncInterval: syncInterval, Path: path.Join(p.Path, EpochDir(c.Epoch)),
			Host: p.Host, User: p.User, Password: secret.Password, KeyPath: secret.KeyFile, HostKey: secret.HostKey,
			Bucket: p.Bucket, Endpoint: p.Endpoint, Region: p.Region, AccessKeyID: secret.AccessKeyID, SecretAccessKey: secret.SecretAccessKey,
		},
	}}
	text, err := json.MarshalIndent(f, "", "  ")
	return append([]byte(configHead+c.Program+"\n"), text...), err
}

// check refuses a configuration that Litestream would understand differently.
func (c Config) check() error {
	switch name := c.Database; {
	case !filepath.IsAbs(name) || filepath.Clean(name) != name || !utf8.ValidString(name) || strings.ContainsAny(name, "?#%") ||
		strings.IndexFunc(name, unicode.IsControl) >= 0:
		return fmt.Errorf("%q can't be copied by Litestream: it needs an absolute path without the characters ? # %%", name)
	case c.Program != "" && !filepath.IsAbs(c.Program) || strings.IndexFunc(c.Program, unicode.IsControl) >= 0:
		return fmt.Errorf("%q is no absolute path of a program", c.Program)
	case c.Epoch < 1 || c.Epoch > MaxEpoch:
		return fmt.Errorf("epoch %d is none from 1 to %d", c.Epoch, MaxEpoch)
	}
	return c.Credentials.Check(c.Place)
}

// Write writes the configuration beside the database, readable by the database's owner
// alone. It replaces an older one in one step.
func (c Config) Write() error {
	text, err := c.encode()
	if err != nil {
		return err
	}
	owner, err := os.Stat(c.Database)
	if err != nil {
		return err
	}
	return writeFile(ConfigPath(c.Database), text, owner, os.Rename)
}

// ReadConfig reads the configuration beside a database. The error is fs.ErrNotExist
// where no replica is set up.
func ReadConfig(database string) (Config, error) {
	database, err := filepath.Abs(database)
	if err != nil {
		return Config{}, err
	}
	if resolved, err := filepath.EvalSymlinks(database); err == nil { // as setup names it
		database = resolved
	}
	name := ConfigPath(database)
	text, err := readPrivate(name, maxConfig)
	if err != nil {
		return Config{}, err
	}
	c, err := decodeConfig(text)
	if err == nil && c.Database != database {
		err = fmt.Errorf("it is about %s", c.Database)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s can't be used: %w; run baoco replica setup again", name, err)
	}
	return c, nil
}

var epochPath = pattern.Lazy(`^(.*?)/?epoch-([0-9]{6})$`)

func decodeConfig(text string) (c Config, err error) {
	var f configFile
	rest, made := strings.CutPrefix(text, configHead)
	program, file, _ := strings.Cut(rest, "\n")
	decoder := json.NewDecoder(strings.NewReader(file))
	decoder.DisallowUnknownFields()
	// JSON with a name twice, or with text after its end, isn't valid.
	if !made || !jsontext.Value(file).IsValid() || decoder.Decode(&f) != nil {
		return c, errors.New("this baoco didn't write it") // an error of JSON could repeat secrets
	}
	if len(f.DBs) != 1 {
		return c, fmt.Errorf("it has %d databases instead of one", len(f.DBs))
	}
	db, r := f.DBs[0], f.DBs[0].Replica
	at := epochPath().FindStringSubmatch(r.Path)
	if at == nil {
		return c, errors.New("its path has no epoch")
	}
	c.Database, c.Program = db.Path, program
	c.Epoch, _ = strconv.ParseInt(at[2], 10, 64)
	c.Credentials = Credentials{r.AccessKeyID, r.SecretAccessKey, r.Password, r.KeyPath, r.HostKey}
	c.Place, err = ParsePlace(Place{
		Scheme: r.Type, Path: at[1], User: r.User, Host: r.Host, Bucket: r.Bucket, Endpoint: r.Endpoint, Region: r.Region,
	}.String())
	return c, err
}
