package nats_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/stream"
	"baoco/scheduler/broker/brokertest"
	"baoco/scheduler/broker/nats"

	"github.com/nats-io/jwt/v2"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

func TestNATSProblems(t *testing.T) {
	payments := jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}}
	full, small := payments, payments
	full.MaxBytes, full.Discard = 500, jetstream.DiscardNew
	small.MaxMsgSize = 200
	const users = `authorization { users: [ { user: admin, password: admin }, { user: shop, password: "s3cret-s3cret", permissions: { ` +
		`publish: "%s", subscribe: "%s" } } ] }`
	for _, c := range []struct {
		name, config       string
		stream             *jetstream.StreamConfig
		username, password string
		want               string
	}{
		{"no stream", "", nil, "", "", "No JetStream stream takes the subject shop.payments"},
		{"full", "", &full, "", "", "can’t keep more"},
		{"message too large for the stream", "", &small, "", "", "too large"},
		{"message too large for the server", "max_payload: 500", nil, "", "", "max_payload"},
		{"no credentials", "authorization { user: admin, password: admin }", nil, "", "", "refuses the user name and password"},
		{"wrong password", "authorization { user: admin, password: admin }", nil, "admin", "wr0ng-wr0ng", "refuses the user name and password"},
		{"wrong token", "authorization { token: admin }", nil, "", "wr0ng-wr0ng", "refuses the user name and password"},
		{"no credentials file", "", nil, "", "-----BEGIN NATS USER JWT-----\ngarbage\n", "isn’t one"},
		{"may not publish", fmt.Sprintf(users, "other.>", "_INBOX.>"), &payments, "shop", "s3cret-s3cret",
			"may not publish to the subject shop.payments"},
		{"may not subscribe", fmt.Sprintf(users, "shop.>", "other.>"), &payments, "shop", "s3cret-s3cret", "may not subscribe to _INBOX.>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := brokertest.StartNATS(t, c.config)
			if c.stream != nil {
				server.Stream(t, *c.stream, client.UserInfo("admin", "admin"))
			}
			b := stream.Broker{Kind: stream.NATS, Hosts: []string{server.Address}, Topic: "shop.payments", Username: c.username,
				Password: c.password}
			p := open(t, b)
			for range 2 { // the second time as the first
				kept, err := p.Publish(t.Context(), brokertest.Messages(1, 3, 1))
				brokertest.RefusedAs(t, b, kept, err, c.want)
			}
		})
	}
}

// What stands before a message that is too large is kept, in both ways.
func TestNATSTooLarge(t *testing.T) {
	for _, batches := range []bool{false, true} {
		server := brokertest.StartNATS(t, "max_payload: 2000")
		server.Stream(t, jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}, AllowAtomicPublish: batches})
		sent := brokertest.Messages(1, 50, 5)
		sent[40].Body = bytes.Repeat([]byte("x"), 1900)
		b := stream.Broker{Kind: stream.NATS, Hosts: []string{server.Address}, Topic: "shop.payments"}
		kept, err := open(t, b).Publish(t.Context(), sent)
		brokertest.RefusedAs(t, b, kept-40, err, "too large")
	}
}

func TestNATSCredentials(t *testing.T) {
	operator, operatorKey := newNKey(t, nkeys.CreateOperator)
	account, accountKey := newNKey(t, nkeys.CreateAccount)
	user, userKey := newNKey(t, nkeys.CreateUser)
	operatorToken, err := jwt.NewOperatorClaims(operator).Encode(operatorKey)
	apptest.Must(t, err)
	claims := jwt.NewAccountClaims(account)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	accountToken, err := claims.Encode(operatorKey)
	apptest.Must(t, err)
	system, _ := newNKey(t, nkeys.CreateAccount)
	systemToken, err := jwt.NewAccountClaims(system).Encode(operatorKey)
	apptest.Must(t, err)
	userToken, err := jwt.NewUserClaims(user).Encode(accountKey)
	apptest.Must(t, err)
	seed, err := userKey.Seed()
	apptest.Must(t, err)
	file, err := jwt.FormatUserConfig(userToken, seed)
	apptest.Must(t, err)

	for _, c := range []struct {
		name, config       string
		username, password string
		admin              client.Option
	}{
		{"user name and password", `authorization { user: shop, password: "s3cret" }`, "shop", "s3cret", client.UserInfo("shop", "s3cret")},
		{"token", `authorization { token: "s3cret" }`, "", "s3cret", client.Token("s3cret")},
		{
			"credentials file", fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %[2]s: %s, %s: %s }",
				operatorToken, system, systemToken, account, accountToken),
			"", "\n" + strings.ReplaceAll(string(file), "\n", "\r\n"), client.UserJWTAndSeed(userToken, string(seed)),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := brokertest.StartNATS(t, c.config)
			server.Stream(t, jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}}, c.admin)
			p := open(t, stream.Broker{Kind: stream.NATS, Hosts: []string{server.Address}, Topic: "shop.payments", Username: c.username,
				Password: c.password})
			if kept, err := p.Publish(t.Context(), brokertest.Messages(1, 3, 1)); kept != 3 || err != nil {
				t.Errorf("kept %d, %v", kept, err)
			}
		})
	}
}

func newNKey(t *testing.T, create func() (nkeys.KeyPair, error)) (public string, key nkeys.KeyPair) {
	key, err := create()
	apptest.Must(t, err)
	public, err = key.PublicKey()
	apptest.Must(t, err)
	return public, key
}

func TestNATSOverTLS(t *testing.T) {
	own, trusting := brokertest.Certificate(t)
	dir := t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	apptest.Must(t, err)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	apptest.Must(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}), 0o600))
	apptest.Must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	server := brokertest.StartNATS(t,
		fmt.Sprintf("tls { cert_file: %q, key_file: %q }\nauthorization { user: shop, password: \"s3cret-s3cret\" }", certFile, keyFile))
	server.Stream(t, jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}}, client.UserInfo("shop", "s3cret-s3cret"),
		client.Secure(trusting))
	b := stream.Broker{Kind: stream.NATS, Hosts: []string{server.Address}, Topic: "shop.payments", Username: "shop", Password: "s3cret-s3cret"}

	for _, b.TLS = range []bool{true, false} { // the server demands it anyway
		p := nats.Open(b, (&net.Dialer{}).DialContext, trusting)
		defer p.Close()
		if kept, err := p.Publish(t.Context(), brokertest.Messages(1, 3, 1)); kept != 3 || err != nil {
			t.Errorf("TLS %v: kept %d, %v", b.TLS, kept, err)
		}
		kept, err := open(t, b).Publish(t.Context(), brokertest.Messages(1, 3, 1)) // trusts nobody
		brokertest.RefusedAs(t, b, kept, err, "No TLS connection to 127.0.0.1")
	}
	named := b
	named.TLS, named.Hosts = true, []string{strings.Replace(server.Address, "127.0.0.1", "localhost", 1)}
	p := nats.Open(named, (&net.Dialer{}).DialContext, trusting)
	defer p.Close()
	kept, err := p.Publish(t.Context(), brokertest.Messages(1, 3, 1))
	brokertest.RefusedAs(t, b, kept, err, "No TLS connection to localhost")
}
