package passkey_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/passkey"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

var shop = passkey.Place{Origin: "https://shop.vn:8443", Host: "shop.vn"}

func device(t testing.TB) *apptest.Authenticator {
	return apptest.NewAuthenticator(t, shop.Origin, shop.Host)
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]passkey.Place{
		"https://Shop.vn":        {Origin: "https://shop.vn", Host: "shop.vn"},
		"https://shop.vn:443":    {Origin: "https://shop.vn", Host: "shop.vn"},
		"https://shop.vn:8443":   {Origin: "https://shop.vn:8443", Host: "shop.vn"},
		"http://localhost:80":    {Origin: "http://localhost", Host: "localhost"},
		"http://localhost:3000":  {Origin: "http://localhost:3000", Host: "localhost"},
		"http://a.localhost":     {Origin: "http://a.localhost", Host: "a.localhost"},
		"http://shop.vn":         {},
		"http://192.168.1.2":     {},
		"https://192.168.1.2":    {},
		"https://[::1]:8443":     {},
		"https://[::1]":          {},
		"http://127.0.0.1:3000":  {},
		"http://xlocalhost:3000": {},
		"https://":               {},
		"":                       {},
	} {
		got, ok := passkey.PlaceOf(origin)
		if ok != (want.Host != "") || ok && got != want {
			t.Errorf("%s: %+v, %v", origin, got, ok)
		}
	}
}

// judge is go-webauthn as a whole.
func judge(t testing.TB) *webauthn.WebAuthn {
	t.Helper()
	w, err := webauthn.New(&webauthn.Config{RPID: shop.Host, RPDisplayName: "x", RPOrigins: []string{shop.Origin}})
	apptest.Must(t, err)
	return w
}

type owner struct{ has []webauthn.Credential }

func (owner) WebAuthnID() []byte                           { return []byte("lan") }
func (owner) WebAuthnName() string                         { return "lan" }
func (owner) WebAuthnDisplayName() string                  { return "lan" }
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.has }

// challenge is long enough for the judge.
const challenge = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

func judgeCreated(t testing.TB, answer string) error {
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return err
	}
	_, err = judge(t).CreateCredential(owner{}, webauthn.SessionData{
		Challenge: challenge, UserID: owner{}.WebAuthnID(), UserVerification: protocol.VerificationRequired, CredParams: webauthn.CredentialParametersDefault(),
	}, parsed)
	return err
}

func judgeSigned(t testing.TB, answer string, c passkey.Credential) error {
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return err
	}
	known := webauthn.Credential{ID: c.ID, PublicKey: c.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: c.BackupEligible}}
	_, err = judge(t).ValidateLogin(owner{[]webauthn.Credential{known}}, webauthn.SessionData{
		Challenge: challenge, UserID: owner{}.WebAuthnID(), UserVerification: protocol.VerificationRequired,
	}, parsed)
	return err
}

type otherKeys struct {
	ed      ed25519.PrivateKey
	rsa2048 *rsa.PrivateKey
}

var someKeys = sync.OnceValue(func() (k otherKeys) {
	_, k.ed, _ = ed25519.GenerateKey(rand.Reader)
	k.rsa2048, _ = rsa.GenerateKey(rand.Reader, 2048)
	return k
})

// cases are what a device or a browser may say, and what is wrong with that.
var cases = []struct {
	name string
	set  func(a *apptest.Authenticator)
	want error
}{
	{"as it should be", func(*apptest.Authenticator) {}, nil},
	{"a count", func(a *apptest.Authenticator) { a.Count = 7 }, nil},
	{"eligible for a backup", func(a *apptest.Authenticator) { a.Flags |= 8 }, nil},
	{"backed up", func(a *apptest.Authenticator) { a.Flags |= 8 | 16 }, nil},
	{"an Ed25519 key", func(a *apptest.Authenticator) { a.Key = someKeys().ed }, nil},
	{"an RSA key", func(a *apptest.Authenticator) { a.Key = someKeys().rsa2048 }, nil},
	{"an extension", func(a *apptest.Authenticator) { a.Flags |= 128; a.Tail = []byte{0xa0} }, nil},
	{"another origin", func(a *apptest.Authenticator) { a.Origin = "https://evil.vn:8443" }, passkey.ErrPlace},
	{"another port", func(a *apptest.Authenticator) { a.Origin = "https://shop.vn" }, passkey.ErrPlace},
	{"plain http", func(a *apptest.Authenticator) { a.Origin = "http://shop.vn:8443" }, passkey.ErrPlace},
	{"a subdomain", func(a *apptest.Authenticator) { a.Origin = "https://evil.shop.vn:8443" }, passkey.ErrPlace},
	{"another host", func(a *apptest.Authenticator) { a.Host = "evil.vn" }, passkey.ErrPlace},
	{"in a frame of another site", func(a *apptest.Authenticator) { a.CrossOrigin = true }, passkey.ErrPlace},
	{"no user verified", func(a *apptest.Authenticator) { a.Flags = 1 }, passkey.ErrNotVerified},
	{"no user present", func(a *apptest.Authenticator) { a.Flags = 4 }, passkey.ErrNotVerified},
	{"backed up, but not eligible", func(a *apptest.Authenticator) { a.Flags |= 16 }, passkey.ErrAnswer},
	{"no extension", func(a *apptest.Authenticator) { a.Flags |= 128 }, passkey.ErrAnswer},
	{"more than one extension", func(a *apptest.Authenticator) { a.Flags |= 128; a.Tail = []byte{0xa0, 0xa0} }, passkey.ErrAnswer},
	{"an unannounced extension", func(a *apptest.Authenticator) { a.Tail = []byte{0xa0} }, passkey.ErrAnswer},
	{"another ceremony", func(a *apptest.Authenticator) { a.Type = "payment.get" }, passkey.ErrAnswer},
}

func TestCreated(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		a := device(t)
		c.set(a)
		text := a.Create(challenge)
		answer, err := passkey.Read(text)
		apptest.Must(t, err)
		got, err := answer.Created(shop)
		if !errors.Is(err, c.want) || (err == nil) != (judgeCreated(t, text) == nil) {
			t.Errorf("%s: %v; go-webauthn: %v", c.name, err, judgeCreated(t, text))
		}
		if err == nil && (string(got.ID) != string(a.ID) || string(got.PublicKey) != string(a.COSE()) || got.BackupEligible != (a.Flags&8 != 0) || got.Transports != "internal,hybrid" || answer.Challenge() != challenge) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if c.name == "a count" && got.SignCount != 7 {
			t.Errorf("counts from %d", got.SignCount)
		}
		// What signs is no new passkey.
		answer, err = passkey.Read(a.Sign(challenge))
		apptest.Must(t, err)
		if _, err := answer.Created(shop); err == nil {
			t.Errorf("%s: a signature is a new passkey", c.name)
		}
	}
}

// A new passkey has the id that the device says. Of what a browser says about it no more
// is kept than a little.
func TestCreatedID(t *testing.T) {
	t.Parallel()
	a := device(t)
	text := a.Create(challenge)
	other, err := passkey.Read(strings.Replace(text, `"rawId":"`, `"rawId":"AAAA`, 1))
	apptest.Must(t, err)
	if _, err := other.Created(shop); !errors.Is(err, passkey.ErrAnswer) {
		t.Errorf("another id: %v", err)
	}
	long, err := passkey.Read(strings.Replace(text, `"internal"`, `"`+strings.Repeat("x", 100)+`"`, 1))
	apptest.Must(t, err)
	if c, err := long.Created(shop); err != nil || c.Transports != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestSigned(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		a := device(t)
		c.set(a)
		kept := passkey.Credential{ID: a.ID, PublicKey: a.COSE(), BackupEligible: a.Flags&8 != 0}
		check := func(name, text string, kept passkey.Credential, want error) {
			t.Helper()
			answer, err := passkey.Read(text)
			apptest.Must(t, err)
			count, err := answer.Signed(shop, kept)
			if !errors.Is(err, want) || (err == nil) != (judgeSigned(t, text, kept) == nil) {
				t.Errorf("%s: %v; go-webauthn: %v", name, err, judgeSigned(t, text, kept))
			}
			if err == nil && a.Count != 0 && count != a.Count-1 {
				t.Errorf("%s: count %d", name, count)
			}
		}
		check(c.name, a.Sign(challenge), kept, c.want)
		if c.want != nil {
			continue
		}
		other := device(t)
		check(c.name+", with another key", a.Sign(challenge), passkey.Credential{ID: a.ID, PublicKey: other.COSE(), BackupEligible: kept.BackupEligible}, passkey.ErrSignature)
		check(c.name+", with another id", a.Sign(challenge), passkey.Credential{ID: other.ID, PublicKey: a.COSE(), BackupEligible: kept.BackupEligible}, passkey.ErrSignature)
		check(c.name+", moved to a device of another kind", a.Sign(challenge), passkey.Credential{ID: a.ID, PublicKey: a.COSE(), BackupEligible: !kept.BackupEligible}, passkey.ErrMoved)
		check(c.name+", no key", a.Sign(challenge), passkey.Credential{ID: a.ID, BackupEligible: kept.BackupEligible}, passkey.ErrSignature)
		// A new passkey is no signature.
		answer, err := passkey.Read(a.Create(challenge))
		apptest.Must(t, err)
		if _, err := answer.Signed(shop, kept); err == nil {
			t.Errorf("%s: a new passkey signs in", c.name)
		}
	}
}

// Whatever of a signed answer is changed, it is refused.
func TestEveryByteIsSigned(t *testing.T) {
	t.Parallel()
	a := device(t)
	kept := passkey.Credential{ID: a.ID, PublicKey: a.COSE()}
	var whole map[string]any
	apptest.Must(t, json.Unmarshal([]byte(a.Sign(challenge)), &whole))
	response := whole["response"].(map[string]any)
	for part, value := range response {
		b, err := base64.RawURLEncoding.DecodeString(value.(string))
		apptest.Must(t, err)
		for i := range b {
			b[i] ^= 1
			response[part] = base64.RawURLEncoding.EncodeToString(b)
			b[i] ^= 1
			text, err := json.Marshal(whole)
			apptest.Must(t, err)
			answer, err := passkey.Read(string(text))
			if err == nil {
				_, err = answer.Signed(shop, kept)
			}
			if err == nil {
				t.Errorf("byte %d of %s was changed, and the answer is taken", i, part)
			}
		}
		response[part] = value
	}
}

// Keys of other kinds than were asked for are refused, and those that anybody could
// sign with.
func TestKeys(t *testing.T) {
	t.Parallel()
	with := func(change func(key string) string) func(a *apptest.Authenticator) string {
		return func(a *apptest.Authenticator) string { return change(string(a.COSE())) }
	}
	replaced := func(old, by string) func(a *apptest.Authenticator) string {
		return with(func(key string) string {
			if !strings.Contains(key, old) {
				t.Errorf("no %x in %x", old, key)
			}
			return strings.Replace(key, old, by, 1)
		})
	}
	ec := func(*apptest.Authenticator) {}
	ed := func(a *apptest.Authenticator) { a.Key = someKeys().ed }
	rs := func(a *apptest.Authenticator) { a.Key = someKeys().rsa2048 }
	for name, c := range map[string]struct {
		set func(a *apptest.Authenticator)
		key func(a *apptest.Authenticator) string
	}{
		"ES384":                  {ec, replaced("\x03\x26", "\x03\x38\x22")},
		"Ed25519 on P-256":       {ec, replaced("\x03\x26", "\x03\x27")},
		"ECDSA of another type":  {ec, replaced("\x01\x02", "\x01\x01")},
		"ECDSA on another curve": {ec, replaced("\x20\x01", "\x20\x02")},
		"not on the curve":       {ec, with(func(key string) string { return key[:len(key)-1] + string([]byte{key[len(key)-1] ^ 1}) })},
		"cut off":                {ec, with(func(key string) string { return key[:len(key)-1] })},
		"coordinates of unequal length": {ec, func(a *apptest.Authenticator) string {
			key := string(a.COSE())
			x, y := key[10:42], key[45:]
			return key[:8] + "\x58\x21" + x + y[:1] + "\x22\x58\x1f" + y[1:]
		}},
		"the point at infinity": {ec, with(func(string) string { return "\xa5\x01\x02\x03\x26\x20\x01\x21\x40\x22\x40" })},
		"zero": {ec, with(func(key string) string {
			return key[:10] + strings.Repeat("\x00", 32) + key[42:45] + strings.Repeat("\x00", 32)
		})},
		"ECDSA with Ed25519's key": {ed, replaced("\x03\x27", "\x03\x26")},
		"Ed25519 of another curve": {ed, replaced("\x20\x06", "\x20\x07")},
		"a short Ed25519":          {ed, with(func(key string) string { return strings.Replace(key[:len(key)-1], "\x58\x20", "\x58\x1f", 1) })},
		"PS256":                    {rs, replaced("\x03\x39\x01\x00", "\x03\x38\x24")},
		"RS1":                      {rs, replaced("\x03\x39\x01\x00", "\x03\x39\xff\xfe")},
		"a short RSA": {rs, with(func(key string) string {
			return key[:8] + "\x58\x80" + key[11:11+128] + "\x21\x43\x01\x00\x01"
		})},
		"a long RSA": {rs, with(func(key string) string {
			return key[:8] + "\x59\x02\x01" + key[11:11+256] + key[11:11+256] + "\xff\x21\x43\x01\x00\x01"
		})},
		"a large exponent": {rs, replaced("\x21\x43\x01\x00\x01", "\x21\x44\x80\x00\x00\x01")},
		"a number as modulus": {rs, with(func(string) string {
			return "\xa4\x01\x03\x03\x39\x01\x00\x20\x01\x21\x43\x01\x00\x01"
		})},
	} {
		a := device(t)
		c.set(a)
		var whole struct {
			ID, RawID, Type string
			Response        map[string]any
		}
		apptest.Must(t, json.Unmarshal([]byte(a.Create(challenge)), &whole))
		object, err := base64.RawURLEncoding.DecodeString(whole.Response["attestationObject"].(string))
		apptest.Must(t, err)
		with := func(key string) string {
			before := string(object[:len(object)-len(a.COSE())])
			i := strings.Index(before, "authData\x59") + len("authData\x59")
			length := len(before) - i - 2 + len(key)
			whole.Response["attestationObject"] = base64.RawURLEncoding.EncodeToString([]byte(before[:i] + string([]byte{byte(length >> 8), byte(length)}) + before[i+2:] + key))
			text, err := json.Marshal(map[string]any{"id": whole.ID, "rawId": whole.RawID, "type": whole.Type, "response": whole.Response})
			apptest.Must(t, err)
			return string(text)
		}
		for _, key := range []string{string(a.COSE()), c.key(a)} {
			text := with(key)
			answer, err := passkey.Read(text)
			apptest.Must(t, err)
			want := error(nil)
			if key != string(a.COSE()) {
				want = passkey.ErrAnswer
			}
			if _, err := answer.Created(shop); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			} else if err == nil && judgeCreated(t, text) != nil {
				t.Errorf("%s: go-webauthn: %v", name, judgeCreated(t, text))
			}
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	good := device(t).Sign(challenge)
	for name, text := range map[string]string{
		"nothing":        "",
		"no object":      "[]",
		"cut off":        good[:len(good)-1],
		"no id":          strings.Replace(good, "rawId", "x", 1),
		"padded":         strings.Replace(good, `"rawId":"`, `"rawId":"=`, 1),
		"a long id":      `{"rawId":"` + strings.Repeat("AAAA", 342) + `","response":{"clientDataJSON":"e30"}}`,
		"no client data": `{"rawId":"AAAA","response":{}}`,
	} {
		if _, err := passkey.Read(text); !errors.Is(err, passkey.ErrAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := passkey.Read(`{"rawId":"` + strings.Repeat("AAAA", 341) + `","response":{"clientDataJSON":"e30"}}`); err != nil {
		t.Errorf("the longest id: %v", err)
	}
}

func TestChallenges(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	var mine, others passkey.Challenges
	one, two := mine.New("sign in", now), mine.New("sign in", now)
	if len(one) != 75 || one == two {
		t.Errorf("challenges %q and %q", one, two)
	}
	for name, used := range map[string]bool{
		"of another process": others.Use(one, "sign in", now),
		"for something else": mine.Use(one, "add", now),
		"ended":              mine.Use(one, "sign in", now.Add(passkey.ChallengeTime)),
		"changed":            mine.Use("B"+one[1:], "sign in", now),
		"cut off":            mine.Use(one[:len(one)-4], "sign in", now),
		"empty":              mine.Use("", "sign in", now),
	} {
		if used {
			t.Errorf("a challenge that is %s counts", name)
		}
	}
	late := now.Add(passkey.ChallengeTime - time.Second)
	if !mine.Use(one, "sign in", late) || mine.Use(one, "sign in", late) || mine.Use(one+"\n", "sign in", late) || !mine.Use(two, "sign in", late) {
		t.Error("a challenge doesn't count once, until it ends")
	}
	// Those that have ended are forgotten, and no more are remembered than may be.
	later := late.Add(time.Hour)
	n := 0
	for range 10_001 {
		if mine.Use(mine.New("sign in", later), "sign in", later) {
			n++
		}
	}
	if n != 10_000 {
		t.Errorf("%d challenges are remembered", n)
	}
}

// What is asked is what go-webauthn knows too.
func TestOptions(t *testing.T) {
	t.Parallel()
	has := []passkey.Credential{{ID: []byte{1, 2, 3}, Transports: "usb,nfc"}, {ID: []byte{4}}}
	var create protocol.PublicKeyCredentialCreationOptions
	text, err := json.Marshal(passkey.CreationOptions(shop, challenge, passkey.Owner{Handle: []byte("lan"), Name: "lan"}, has))
	apptest.Must(t, err)
	apptest.Must(t, json.Unmarshal(text, &create))
	if create.RelyingParty.ID != "shop.vn" || create.Challenge.String() != challenge || create.User.ID != "bGFu" || create.AuthenticatorSelection.UserVerification != "required" ||
		create.AuthenticatorSelection.ResidentKey != "required" || create.Attestation != "none" || len(create.CredentialExcludeList) != 2 || len(create.Parameters) != 3 || create.Timeout != 300_000 {
		t.Errorf("%s", text)
	}
	var request protocol.PublicKeyCredentialRequestOptions
	text, err = json.Marshal(passkey.RequestOptions(shop, challenge, has))
	apptest.Must(t, err)
	apptest.Must(t, json.Unmarshal(text, &request))
	if request.RelyingPartyID != "shop.vn" || request.UserVerification != "required" || len(request.AllowedCredentials) != 2 || len(request.AllowedCredentials[0].Transport) != 2 {
		t.Errorf("%s", text)
	}
}

// FuzzAnswer holds that nothing is taken that go-webauthn refuses, whatever a device
// and a browser say.
func FuzzAnswer(f *testing.F) {
	f.Add(byte(5), "https://shop.vn:8443", "shop.vn", []byte{}, uint32(0))
	f.Add(byte(0x95), "https://shop.vn:8443", "shop.vn", []byte{0xa1, 0x61, 'x', 1}, uint32(9))
	f.Add(byte(0x45), "https://SHOP.vn:8443", "shop.vn", make([]byte, 99), uint32(1))
	f.Fuzz(func(t *testing.T, flags byte, origin, host string, tail []byte, count uint32) {
		a := device(t)
		a.Flags, a.Origin, a.Host, a.Tail, a.Count = flags, origin, host, tail[:min(len(tail), 60_000)], count
		text := a.Create(challenge)
		if answer, err := passkey.Read(text); err == nil {
			if c, err := answer.Created(shop); err == nil && judgeCreated(t, text) != nil {
				t.Errorf("made %+v of %s: %v", c, text, judgeCreated(t, text))
			}
		}
		text = a.Sign(challenge)
		kept := passkey.Credential{ID: a.ID, PublicKey: a.COSE(), BackupEligible: flags&8 != 0}
		if answer, err := passkey.Read(text); err == nil {
			if _, err := answer.Signed(shop, kept); err == nil && judgeSigned(t, text, kept) != nil {
				t.Errorf("took %s: %v", text, judgeSigned(t, text, kept))
			}
		}
	})
}

// FuzzKey holds that no signature counts, under whatever key, that go-webauthn refuses.
func FuzzKey(f *testing.F) {
	for _, key := range []crypto.Signer{device(f).Key, someKeys().ed, someKeys().rsa2048} {
		a := device(f)
		a.Key = key
		f.Add(a.COSE(), a.Sign(challenge))
	}
	f.Fuzz(func(t *testing.T, key []byte, text string) {
		answer, err := passkey.Read(text)
		if err != nil || answer.Challenge() != challenge {
			return
		}
		kept := passkey.Credential{ID: answer.ID, PublicKey: key}
		if _, err := answer.Signed(shop, kept); err == nil && judgeSigned(t, text, kept) != nil {
			t.Errorf("took %s by %x: %v", text, key, judgeSigned(t, text, kept))
		}
	})
}

// FuzzRead feeds whatever text there is.
func FuzzRead(f *testing.F) {
	f.Add(device(f).Sign(challenge))
	f.Add(device(f).Create(challenge))
	f.Fuzz(func(t *testing.T, text string) {
		answer, err := passkey.Read(text)
		if err != nil {
			return
		}
		if c, err := answer.Created(shop); err == nil && (len(c.ID) == 0 || len(c.PublicKey) == 0) {
			t.Errorf("%+v", c)
		}
		_, _ = answer.Signed(shop, passkey.Credential{})
	})
}
