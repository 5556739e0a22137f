package stream_test

import (
	"slices"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/app/stream"
)

func TestCheckBroker(t *testing.T) {
	targets := apptest.Targets(t, "10.0.0.0/8", "kafka.lan")
	for raw, hosts := range map[string]string{
		"nats://nats.shop.vn":                                      "nats nats.shop.vn:4222",
		"nats+tls://nats.shop.vn:443":                              "nats tls nats.shop.vn:443",
		"kafka://10.1.2.3,kafka.lan:9093":                          "kafka 10.1.2.3:9092 kafka.lan:9093",
		"kafka+tls://[2606:4700::1111]:9094,a.vn":                  "kafka tls [2606:4700::1111]:9094 a.vn:9092",
		"kafka://" + strings.Repeat("k.shop.vn,", 9) + "k.shop.vn": "kafka" + strings.Repeat(" k.shop.vn:9092", 10),
		// Refused.
		"kafka://" + strings.Repeat("k.shop.vn,", 10) + "k.shop.vn": "",
		"":                            "",
		"nats.shop.vn":                "",
		"tls://nats.shop.vn":          "",
		"https://nats.shop.vn":        "",
		"nats://":                     "",
		"nats://,":                    "",
		"nats://a.vn,":                "",
		"nats://u:p@nats.shop.vn":     "",
		"nats://nats.shop.vn/x":       "",
		"nats://nats.shop.vn?x=1":     "",
		"nats://nats.shop.vn#x":       "",
		"nats://localhost":            "",
		"nats://127.0.0.1":            "",
		"nats://a.vn,192.168.1.1":     "",
		"nats://169.254.169.254:80":   "",
		"nats://nats.shop.vn:0":       "",
		"nats://nats.shop.vn:99999":   "",
		"nats://nats.shop.vn:04222":   "",
		"kafka://bad host":            "",
		"kafka://k.shop.vn, k2.vn":    "",
		"NATS://nats.shop.vn":         "",
		"kafka://k.shop.vn:9092:9092": "",
	} {
		b, bad := stream.CheckBroker(targets, raw)
		got := string(b.Kind)
		if b.TLS {
			got += " tls"
		}
		got += " " + strings.Join(b.Hosts, " ")
		if (bad != nil) != (hosts == "") || bad == nil && got != hosts {
			t.Errorf("%q: %v, %s", raw, bad, got)
		}
	}
}

func TestCheckStream(t *testing.T) {
	store := apptest.OpenStore(t, apptest.NewFile(t), true)
	defer store.Close()
	s := apptest.Over(t, store, services.Config{})
	least := int64(-1)
	for _, c := range []struct {
		change func(*stream.Create)
		fields []string
	}{
		{func(*stream.Create) {}, nil},
		{func(in *stream.Create) { in.Topic = "shop.*" }, []string{"topic"}},
		{func(in *stream.Create) { in.Topic = "shop..x" }, []string{"topic"}},
		{func(in *stream.Create) { in.Topic = "" }, []string{"topic"}},
		{func(in *stream.Create) { in.Topic = "$JS.API.x" }, []string{"topic"}},
		{func(in *stream.Create) { in.Topic = "_INBOX.x" }, []string{"topic"}},
		{func(in *stream.Create) { in.Topic = strings.Repeat("a", 201) }, []string{"topic"}},
		{func(in *stream.Create) { in.URL, in.Topic = "kafka://k.vn", strings.Repeat("a", 249) }, nil},
		{func(in *stream.Create) { in.URL, in.Topic = "kafka://k.vn", strings.Repeat("a", 250) }, []string{"topic"}},
		{func(in *stream.Create) { in.URL, in.Topic = "kafka://k.vn", ".." }, []string{"topic"}},
		{func(in *stream.Create) { in.Credentials.Password = "token" }, nil},
		{func(in *stream.Create) { in.URL, in.Credentials.Password = "kafka://k.vn", "x" }, []string{"username"}},
		{func(in *stream.Create) { in.Credentials.Username = "u" }, []string{"password"}},
		{func(in *stream.Create) {
			in.Credentials = stream.BrokerCredentials{Username: "u\n", Password: "x"}
		}, []string{"username"}},
		{func(in *stream.Create) { in.Credentials.Password = strings.Repeat("x", 9000) }, []string{"password"}},
		{func(in *stream.Create) { in.Type = "in" }, []string{"type"}},
		{func(in *stream.Create) { in.SinceID = &least }, []string{"since_id"}},
		{func(in *stream.Create) { *in = stream.Create{} }, []string{"name", "url"}},
	} {
		in := stream.Create{Name: "ledger", URL: "nats://nats.shop.vn", Topic: "shop.transactions-1"}
		c.change(&in)
		err := s.Streams.CheckStream(in)
		var got []string
		if fields, ok := err.(*app.Error); ok {
			for _, f := range fields.Fields {
				got = append(got, f.Field)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.fields) {
			t.Errorf("%+v: %v, want %v", in, err, c.fields)
		}
	}
}

// A password that travels unencrypted is warned of, and nothing else is.
func TestPlainBroker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, username string
		password      bool
		warns         bool
	}{
		{"nats://nats.shop.vn", "", true, true},
		{"nats://nats.shop.vn", "shop", false, true},
		{"kafka://k1.shop.vn,k2.shop.vn", "shop", true, true},
		{"nats://nats.shop.vn", "", false, false},
		{"nats+tls://nats.shop.vn", "shop", true, false},
		{"kafka+tls://k1.shop.vn", "shop", true, false},
	} {
		if got := (stream.Stream{URL: c.url, Username: c.username}).PlainWarning(c.password); (got.EN != "") != c.warns ||
			(got.VI != "") != c.warns {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
