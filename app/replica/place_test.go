package replica_test

import (
	"strings"
	"testing"

	"baoco/app/replica"
)

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]replica.Place{
		"file:///mnt/disk/baoco/": {Scheme: replica.File, Path: "/mnt/disk/baoco"},
		"sftp://copy@nas.shop.vn/srv/baoco": {Scheme: replica.SFTP, User: "copy", Host: "nas.shop.vn:22",
			Path: "/srv/baoco"},
		"sftp://copy@[2001:db8::1]:2022/b":   {Scheme: replica.SFTP, User: "copy", Host: "[2001:db8::1]:2022", Path: "/b"},
		"s3://shop-replica?region=eu-west-1": {Scheme: replica.S3, Bucket: "shop-replica", Region: "eu-west-1"},
		"s3://shop/a/b?endpoint=https://s3.example.vn/&region=vn-1": {Scheme: replica.S3, Bucket: "shop", Path: "a/b",
			Endpoint: "https://s3.example.vn", Region: "vn-1"},
		"s3://shop?endpoint=http://127.0.0.1:9000": {Scheme: replica.S3, Bucket: "shop", Endpoint: "http://127.0.0.1:9000", Region: "us-east-1"},
	} {
		got, err := replica.ParsePlace(text)
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := replica.ParsePlace(got.String()); err != nil || again != want {
			t.Errorf("%s, printed as %s, is read as %+v, %v", text, got, again, err)
		}
	}
}

func TestParsePlaceRefuses(t *testing.T) {
	const secret = "Hunter2"
	for _, text := range []string{
		"", "/mnt/disk", "file://mnt/disk", "file:///", "file:relative", "file:///a/../b", "file:///a//b", "file:///a?x=1", "file:///a#b",
		"file:///a\nb", "file:///a%0ab", "file:///$HOME/a",
		"ftp://h/b", "https://h/b", "file:///" + strings.Repeat("a", 1000),
		"sftp://h/b", "sftp://u@h", "sftp://u@h/", "sftp://u:" + secret + "@h/b", "sftp://u@h/b?password=" + secret, "sftp://-oProxyCommand@h/b",
		"sftp://u@h:99999999/b",
		"s3://B/b?region=x1", "s3://shop/b", "s3://" + secret + "@shop/b?region=x1", "s3://shop/b?region=x1&secret-access-key=" + secret,
		"s3://shop/b?region=x1&region=x2", "s3://shop/b?region=X!",
		"s3://shop?endpoint=http://s3.example.vn", "s3://shop?endpoint=https://u:" + secret + "@s3.example.vn",
		"s3://shop?endpoint=https://s3.example.vn/path", "s3://shop?endpoint=ftp://127.0.0.1", "s3://shop:80/b?region=x1",
	} {
		p, err := replica.ParsePlace(text)
		if err == nil {
			t.Errorf("%.80q is taken as %+v", text, p)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("the error repeats the secret: %v", err)
		}
	}
}

func FuzzParsePlace(f *testing.F) {
	for _, text := range []string{"file:///mnt/a b", "sftp://u@h:22/b", "s3://shop/b?endpoint=https://s3.vn&region=x1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := replica.ParsePlace(text)
		if err != nil {
			return
		}
		if again, err := replica.ParsePlace(p.String()); err != nil || again != p {
			t.Errorf("%q is %+v, printed as %q, and read as %+v, %v", text, p, p, again, err)
		}
	})
}
