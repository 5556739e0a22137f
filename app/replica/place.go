// Package replica is the outside world of a replica: the place where it lies (place.go), the
// program Litestream that writes it there (litestream.go), and the objects beside it
// (objects.go; fence.go says which server may serve).
package replica

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"baoco/app/pattern"
)

// Scheme says what kind of place it is.
type Scheme string

const (
	File Scheme = "file"
	SFTP Scheme = "sftp"
	S3   Scheme = "s3"
)

// Place is where a replica lies. It has no secrets: those are [Credentials].
type Place struct {
	Scheme   Scheme
	Path     string // file, sftp: absolute. s3: what object names begin with, without slashes at its ends; may be empty
	User     string // sftp
	Host     string // sftp: host:port
	Bucket   string // s3
	Endpoint string // s3: the URL of the service; empty: that of AWS for Region
	Region   string // s3
}

// maxPlace is how many bytes the URL of a place has at most.
const maxPlace = 1000

var (
	bucketName = pattern.Lazy(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionName = pattern.Lazy(`^[a-z0-9][a-z0-9-]{0,39}$`)
	pathText   = pattern.Lazy(`^[A-Za-z0-9/._=@+ -]*$`)
	hostText   = pattern.Lazy(`^[A-Za-z0-9:][A-Za-z0-9.:_-]{0,254}$`)
	userText   = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}$`)
)

// ParsePlace reads the URL of a place:
//
//	file:///mnt/disk/baoco
//	sftp://user@host:22/srv/baoco
//	s3://bucket/baoco?endpoint=https://s3.example.vn&region=vn-1
//
// An error never repeats the text, because it may have a secret.
func ParsePlace(text string) (Place, error) {
	refuse := func(format string, args ...any) (Place, error) {
		return Place{}, fmt.Errorf("the place of a replica "+format, args...)
	}
	if len(text) > maxPlace || !utf8.ValidString(text) || strings.IndexFunc(text, unicode.IsControl) >= 0 {
		return refuse("is at most %d letters long and has no control characters", maxPlace)
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Fragment != "" {
		return refuse("is a URL that begins with file:///, sftp:// or s3://")
	}
	if _, secret := u.User.Password(); secret {
		return refuse("has no password in it: passwords belong in the credentials file")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return refuse("has a query that can't be read")
	}
	for name, values := range query {
		if len(values) != 1 || u.Scheme != string(S3) || name != "endpoint" && name != "region" {
			return refuse("has no settings but endpoint and region, each once and for s3 only; secrets belong in the credentials file")
		}
	}
	clean := strings.Trim(u.Path, "/")
	if clean != "" && path.Clean(clean) != clean || strings.HasPrefix(clean, "..") || !pathText().MatchString(clean) {
		return refuse("has a path of plain letters, digits and ._=@+- between single slashes, without ..")
	}
	p := Place{Scheme: Scheme(u.Scheme), Path: "/" + clean}
	switch p.Scheme {
	case File:
		if u.Host != "" || u.User != nil || clean == "" {
			return refuse("on this machine is an absolute path: file:///mnt/disk/baoco")
		}
		return p, nil
	case SFTP:
		return p.sftp(u, clean)
	case S3:
		p.Path = clean
		return p.s3(u, query)
	}
	return refuse("begins with file:///, sftp:// or s3://")
}

func (p Place) sftp(u *url.URL, path string) (Place, error) {
	port := cmp.Or(u.Port(), "22")
	n, err := strconv.ParseUint(port, 10, 16)
	p.User = u.User.Username()
	if !userText().MatchString(p.User) || !hostText().MatchString(u.Hostname()) || path == "" || err != nil || n == 0 {
		return Place{}, fmt.Errorf("an SFTP place needs a user, a host and a path: sftp://user@host/srv/baoco")
	}
	p.Host = net.JoinHostPort(u.Hostname(), port)
	return p, nil
}

func (p Place) s3(u *url.URL, query url.Values) (Place, error) {
	p.Bucket, p.Endpoint, p.Region = u.Host, strings.TrimRight(query.Get("endpoint"), "/"), query.Get("region")
	switch {
	case u.User != nil:
		return Place{}, fmt.Errorf("an S3 place names no user: the access key belongs in the credentials file")
	case !bucketName().MatchString(p.Bucket):
		return Place{}, fmt.Errorf("an S3 place begins with its bucket, as in s3://shop-replica/baoco")
	case p.Region != "" && !regionName().MatchString(p.Region):
		return Place{}, fmt.Errorf("the region of an S3 place is a name such as ap-southeast-1")
	case p.Endpoint == "" && p.Region == "":
		return Place{}, fmt.Errorf("an S3 place needs ?region=… at AWS, else ?endpoint=https://…")
	case p.Endpoint != "" && !goodEndpoint(p.Endpoint):
		return Place{}, fmt.Errorf("the endpoint of an S3 place is https:// and a host, without a path; http:// only in your own network")
	}
	p.Region = cmp.Or(p.Region, "us-east-1") // most services other than AWS take this for any region
	return p, nil
}

// goodEndpoint reports whether data may be sent to a URL: it is encrypted, or in a private
// network.
func goodEndpoint(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && (ip.IsLoopback() || ip.IsPrivate()))
}

// String is the URL of the place. ParsePlace reads it again.
func (p Place) String() string {
	u := url.URL{Scheme: string(p.Scheme), Path: p.Path}
	switch p.Scheme {
	case SFTP:
		u.User, u.Host = url.User(p.User), p.Host
	case S3:
		u.Host = p.Bucket
		if p.Path != "" {
			u.Path = "/" + p.Path
		}
		query := url.Values{"region": {p.Region}}
		if p.Endpoint != "" {
			query.Set("endpoint", p.Endpoint)
		}
		u.RawQuery = query.Encode()
	}
	return u.String()
}
