package replica

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// bucket is a place in a bucket of a service with the interface of S3. It uses only a part
// of that interface: objects are read, written and listed, and each request is signed (AWS
// Signature Version 4).
type bucket struct {
	place  Place
	secret Credentials
	client *http.Client
	now    func() time.Time
}

func newBucket(p Place, c Credentials) *bucket {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2, IdleConnTimeout: 90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10}
	return &bucket{place: p, secret: c, now: time.Now, client: &http.Client{
		Transport: transport, Timeout: objectTime,
		// A redirect would take the signature to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *bucket) Get(ctx context.Context, name string) (data []byte, err error) {
	err = b.do(ctx, objectCall{method: http.MethodGet, key: b.key(name)}, func(body io.Reader) error {
		data, err = readObject(body, name)
		return err
	})
	return data, err
}

// Create relies on If-None-Match, which a service may not know: TryExclusive tries it.
func (b *bucket) Create(ctx context.Context, name string, data []byte) error {
	return b.do(ctx, objectCall{method: http.MethodPut, key: b.key(name), data: data, isNew: true}, nil)
}

func (b *bucket) Put(ctx context.Context, name string, data []byte) error {
	return b.do(ctx, objectCall{method: http.MethodPut, key: b.key(name), data: data}, nil)
}

// maxListing is how many bytes a page of a list has at most: a thousand objects.
const maxListing = 4 << 20

func (b *bucket) List(ctx context.Context, dir string) (list []Object, err error) {
	root := b.key("")
	query := url.Values{"list-type": {"2"}, "prefix": {b.key(dir + "/")}}
	for {
		var page struct {
			Contents []struct {
				Key          string
				Size         int64
				LastModified time.Time
				ETag         string
			}
			IsTruncated           bool
			NextContinuationToken string
		}
		err := b.do(ctx, objectCall{method: http.MethodGet, query: query}, func(body io.Reader) error {
			return xml.NewDecoder(io.LimitReader(body, maxListing)).Decode(&page)
		})
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			if len(list) == maxObjects {
				return nil, tooManyObjects()
			}
			list = append(list, Object{Name: strings.TrimPrefix(o.Key, root), Size: o.Size, Modified: o.LastModified, Tag: o.ETag})
		}
		if !page.IsTruncated {
			return list, nil
		}
		if page.NextContinuationToken == "" || page.NextContinuationToken == query.Get("continuation-token") {
			return nil, errors.New("the list of the bucket does not end")
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

func (b *bucket) Close() error {
	b.client.CloseIdleConnections()
	return nil
}

// key is the name of an object in the bucket.
func (b *bucket) key(name string) string {
	if b.place.Path == "" {
		return name
	}
	return b.place.Path + "/" + name
}

// url is where a key is asked for: AWS has a host for each bucket, others a path.
func (b *bucket) url(key string, query url.Values) *url.URL {
	u := &url.URL{Scheme: "https", Host: b.place.Bucket + ".s3." + b.place.Region + ".amazonaws.com", Path: "/" + key}
	if b.place.Endpoint != "" || strings.Contains(b.place.Bucket, ".") { // no certificate is for a.b.s3…
		u.Host = "s3." + b.place.Region + ".amazonaws.com"
		if endpoint, err := url.Parse(b.place.Endpoint); err == nil && endpoint.Host != "" {
			u.Scheme, u.Host = endpoint.Scheme, endpoint.Host
		}
		u.Path = "/" + b.place.Bucket + "/" + key
	}
	u.RawPath = escapePath(u.Path)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u
}

// objectCall asks for an object of the bucket; without a key, for its list.
type objectCall struct {
	method, key string
	query       url.Values
	data        []byte // of the object
	isNew       bool   // the call fails with fs.ErrExist if the object exists
}

// do makes a signed request, and calls read with the body if it succeeds.
func (b *bucket) do(ctx context.Context, call objectCall, read func(io.Reader) error) error {
	r, err := http.NewRequestWithContext(ctx, call.method, b.url(call.key, call.query).String(), bytes.NewReader(call.data))
	if err != nil {
		return errors.New("the address of the bucket can't be read")
	}
	if call.isNew {
		r.Header.Set("If-None-Match", "*")
	}
	sign(r, call.data, b.secret, b.place.Region, b.now())
	response, err := b.client.Do(r)
	if err != nil {
		return err // names the address; the credentials are in a header
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusOK && read != nil:
		return read(response.Body)
	case response.StatusCode == http.StatusOK:
		return nil
	case response.StatusCode == http.StatusPreconditionFailed, response.StatusCode == http.StatusConflict:
		return fs.ErrExist
	}
	return bucketError(response)
}

// bucketError reads the error in an answer.
func bucketError(response *http.Response) error {
	var fault struct{ Code string }
	_ = xml.NewDecoder(io.LimitReader(response.Body, maxObject)).Decode(&fault) // where it can't be read, the status is enough
	if response.StatusCode == http.StatusNotFound && fault.Code != "NoSuchBucket" {
		return fs.ErrNotExist
	}
	err := fmt.Errorf("the bucket answered %d %.60q", response.StatusCode, fault.Code)
	if server, e := http.ParseTime(response.Header.Get("Date")); fault.Code == "RequestTimeTooSkewed" && e == nil {
		err = fmt.Errorf("the clock of this machine differs from that of the bucket, where it is %s: %w", server.UTC().Format(time.RFC3339), err)
	}
	return err
}

// sign signs a request with AWS Signature Version 4: all of its headers, the query and the
// body.
func sign(r *http.Request, body []byte, c Credentials, region string, now time.Time) {
	at := now.UTC().Format("20060102T150405Z")
	digest := sha256Hex(body)
	r.Header.Set("X-Amz-Date", at)
	r.Header.Set("X-Amz-Content-Sha256", digest)
	headers := map[string]string{"host": r.URL.Host}
	for name := range r.Header {
		headers[strings.ToLower(name)] = strings.TrimSpace(r.Header.Get(name))
	}
	names := slices.Sorted(maps.Keys(headers))
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "%s\n%s\n%s\n", r.Method, r.URL.EscapedPath(), r.URL.RawQuery)
	for _, name := range names {
		fmt.Fprintf(&canonical, "%s:%s\n", name, headers[name])
	}
	signed := strings.Join(names, ";")
	fmt.Fprintf(&canonical, "\n%s\n%s", signed, digest)
	scope := at[:8] + "/" + region + "/s3/aws4_request"
	key := []byte("AWS4" + c.SecretAccessKey)
	for _, part := range strings.Split(scope, "/") {
		key = hmacSHA256(key, part)
	}
	signature := hmacSHA256(key, "AWS4-HMAC-SHA256\n"+at+"\n"+scope+"\n"+sha256Hex([]byte(canonical.String())))
	r.Header.Set("Authorization",
		fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%x", c.AccessKeyID, scope, signed, signature))
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// escapePath escapes a path as the signature demands: all but letters, digits and -._~/.
func escapePath(path string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(path))
}
