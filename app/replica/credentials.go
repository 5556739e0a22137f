package replica

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
	"golang.org/x/text/unicode/norm"
)

// Credentials open a place. A place of this machine needs none.
type Credentials struct {
	AccessKeyID     string // s3
	SecretAccessKey string // s3
	Password        string // sftp: this or KeyFile
	KeyFile         string // sftp: the absolute path of an OpenSSH private key without a passphrase
	HostKey         string // sftp: the server's public key, as in known_hosts without the host: ssh-ed25519 AAAA…
}

// String keeps secrets out of whatever prints a Credentials.
func (Credentials) String() string { return "credentials" }

// GoString is String for %#v.
func (Credentials) GoString() string { return "credentials" }

const maxCredentials = 16 << 10

// ReadCredentials reads a file of lines such as "password: s3cret". Empty lines and
// those that begin with # are skipped. The file must be readable by its owner alone.
func ReadCredentials(file string) (c Credentials, err error) {
	text, err := readPrivate(file, maxCredentials)
	if err != nil {
		return c, err
	}
	if !utf8.ValidString(text) {
		return c, fmt.Errorf("%s is no text", file)
	}
	fields := map[string]*string{"access-key-id": &c.AccessKeyID, "secret-access-key": &c.SecretAccessKey, "password": &c.Password,
		"key-file": &c.KeyFile, "host-key": &c.HostKey}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		field := fields[strings.TrimSpace(name)]
		if !found || field == nil || value == "" || *field != "" || strings.IndexFunc(value, unicode.IsControl) >= 0 {
			return Credentials{},
				fmt.Errorf("line %d of %s is none of these, each once and with a value after the colon: "+
					"access-key-id, secret-access-key, password, key-file, host-key", i+1, file)
		}
		*field = value
	}
	return c, nil
}

// Check says which credentials are missing for a place, or are too many.
func (c Credentials) Check(p Place) error {
	switch p.Scheme {
	case File:
		if c != (Credentials{}) {
			return errors.New("a place of this machine takes no credentials")
		}
	case S3:
		if c.AccessKeyID == "" || c.SecretAccessKey == "" || c.Password+c.KeyFile+c.HostKey != "" {
			return errors.New("the credentials of an S3 place are access-key-id and secret-access-key")
		}
	case SFTP:
		return c.checkSFTP(p)
	}
	return nil
}

func (c Credentials) checkSFTP(p Place) error {
	if c.AccessKeyID+c.SecretAccessKey != "" || (c.Password == "") == (c.KeyFile == "") {
		return errors.New("the credentials of an SFTP place are host-key, and key-file or password")
	}
	if c.HostKey == "" {
		host, _, _ := strings.Cut(p.Host, ":")
		return fmt.Errorf("the credentials of an SFTP place need host-key: without it anybody between could read the copy; "+
			"compare what ssh-keyscan -t ed25519 %s prints with the server's own", host)
	}
	if _, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(c.HostKey)); err != nil || len(options)+len(rest) > 0 {
		return errors.New("host-key is a public key in one line, as in ssh-ed25519 AAAA…, without the name of the host")
	}
	if c.KeyFile == "" {
		return nil
	}
	if !filepath.IsAbs(c.KeyFile) {
		return errors.New("key-file is an absolute path")
	}
	_, err := readPrivate(c.KeyFile, maxCredentials)
	return err
}

// ReadPassphrase reads a passphrase from a file that its owner alone can read, without
// the white space around it. A letter with marks may be typed as one character or as
// several.
func ReadPassphrase(file string) (string, error) {
	text, err := readPrivate(file, maxKey)
	text = norm.NFC.String(strings.TrimSpace(text))
	if err == nil && (!utf8.ValidString(text) || utf8.RuneCountInString(text) < MinPassphrase) {
		err = fmt.Errorf("the passphrase in %s needs at least %d letters: five words or more", file, MinPassphrase)
	}
	return text, err
}

// readPrivate reads a file that holds a secret, and refuses one that anybody but its owner
// can read.
func readPrivate(file string, most int64) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", file)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others than its owner can read or change %s: chmod 600 it", file)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", file, most)
	}
	return string(text), err
}
