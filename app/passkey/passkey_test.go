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

var lan = passkey.Owner{Handle: []byte("lan"), Name: "lan"}

// challenge is 32 bytes, all 0.
const challenge = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

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
	{"the protection of the key", func(a *apptest.Authenticator) { a.Flags |= 128; a.Tail = []byte("\xa1\x6bcredProtect\x02") }, nil},
	{"attested by itself", func(a *apptest.Authenticator) { a.Attests = a.Key }, nil},
	{"another ceremony", func(a *apptest.Authenticator) { a.Type = "payment.get" }, passkey.ErrAnswer},
}

func TestCreated(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		a := device(t)
		c.set(a)
		got, answers, err := passkey.Created(shop, lan, a.Create(challenge))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && (string(got.ID) != string(a.ID) || string(got.PublicKey) != string(a.COSE()) || got.BackupEligible != (a.Flags&8 != 0) ||
			got.Transports != "internal,hybrid" || answers != challenge) {
			t.Errorf("%s: %+v, %s", c.name, got, answers)
		}
		if c.name == "a count" && got.SignCount != 7 {
			t.Errorf("counts from %d", got.SignCount)
		}
		// What signs is no new passkey.
		if _, _, err := passkey.Created(shop, lan, a.Sign(challenge)); err == nil {
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
	other := strings.ReplaceAll(text, base64.RawURLEncoding.EncodeToString(a.ID), "AAAA")
	if _, _, err := passkey.Created(shop, lan, other); !errors.Is(err, passkey.ErrAnswer) {
		t.Errorf("another id: %v", err)
	}
	long := strings.Replace(text, `"internal"`, `"`+strings.Repeat("x", 100)+`"`, 1)
	if c, _, err := passkey.Created(shop, lan, long); err != nil || c.Transports != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Nobody is asked who made a device, but what it says of that must be signed by its key.
func TestAttestation(t *testing.T) {
	t.Parallel()
	a := device(t)
	a.Attests = device(t).Key
	if _, _, err := passkey.Created(shop, lan, a.Create(challenge)); !errors.Is(err, passkey.ErrAnswer) {
		t.Errorf("attested by another key: %v", err)
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
			count := uint32(0)
			if err == nil {
				count, err = answer.Signed(shop, lan, kept)
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
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
		check(c.name+", with another key", a.Sign(challenge),
			passkey.Credential{ID: a.ID, PublicKey: other.COSE(), BackupEligible: kept.BackupEligible}, passkey.ErrAnswer)
		check(c.name+", with another id", a.Sign(challenge),
			passkey.Credential{ID: other.ID, PublicKey: a.COSE(), BackupEligible: kept.BackupEligible}, passkey.ErrAnswer)
		check(c.name+", moved to a device of another kind", a.Sign(challenge),
			passkey.Credential{ID: a.ID, PublicKey: a.COSE(), BackupEligible: !kept.BackupEligible}, passkey.ErrMoved)
		check(c.name+", no key", a.Sign(challenge),
			passkey.Credential{ID: a.ID, BackupEligible: kept.BackupEligible}, passkey.ErrAnswer)
		a.Handle = lan.Handle
		check(c.name+", its owner's", a.Sign(challenge), kept, nil)
		a.Handle = []byte("hoa")
		check(c.name+", another user's", a.Sign(challenge), kept, passkey.ErrAnswer)
		// A new passkey is no signature.
		if _, err := passkey.Read(a.Create(challenge)); !errors.Is(err, passkey.ErrAnswer) {
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
				_, err = answer.Signed(shop, lan, kept)
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
			whole.Response["attestationObject"] = base64.RawURLEncoding.EncodeToString([]byte(before[:i] +
				string([]byte{byte(length >> 8), byte(length)}) + before[i+2:] + key))
			text, err := json.Marshal(map[string]any{"id": whole.ID, "rawId": whole.RawID, "type": whole.Type, "response": whole.Response})
			apptest.Must(t, err)
			return string(text)
		}
		for _, key := range []string{string(a.COSE()), c.key(a)} {
			want := error(nil)
			if key != string(a.COSE()) {
				want = passkey.ErrAnswer
			}
			if _, _, err := passkey.Created(shop, lan, with(key)); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
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
		"two ids":        strings.Replace(good, `"rawId":"`, `"rawId":"AAAA`, 1),
		"no client data": `{"id":"AAAA","rawId":"AAAA","type":"public-key","response":{}}`,
	} {
		if _, err := passkey.Read(text); !errors.Is(err, passkey.ErrAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChallenges(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	var mine, others passkey.Challenges
	made := func(now time.Time) string { return base64.RawURLEncoding.EncodeToString(mine.New("sign in", now)) }
	one, two := made(now), made(now)
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
	if !mine.Use(one, "sign in", late) || mine.Use(one, "sign in", late) || mine.Use(one+"\n", "sign in", late) ||
		!mine.Use(two, "sign in", late) {
		t.Error("a challenge doesn't count once, until it ends")
	}
	// Those that have ended are forgotten, and no more are remembered than may be.
	later := late.Add(time.Hour)
	n := 0
	for range 10_001 {
		if mine.Use(made(later), "sign in", later) {
			n++
		}
	}
	if n != 10_000 {
		t.Errorf("%d challenges are remembered", n)
	}
}

// What is asked has all that this program's rules need of a browser.
func TestOptions(t *testing.T) {
	t.Parallel()
	has := []passkey.Credential{{ID: []byte{1, 2, 3}, Transports: "usb,nfc"}, {ID: []byte{4}}}
	for _, c := range []struct {
		options any
		want    string
	}{
		{passkey.CreationOptions(shop, []byte("a challenge"), lan, has), `{"rp":{"name":"báo có","id":"shop.vn"},` +
			`"user":{"name":"lan","displayName":"lan","id":"bGFu"},"challenge":"YSBjaGFsbGVuZ2U",` +
			`"pubKeyCredParams":[{"type":"public-key","alg":-7},{"type":"public-key","alg":-8},{"type":"public-key","alg":-257}],` +
			`"timeout":300000,"excludeCredentials":[{"type":"public-key","id":"AQID","transports":["usb","nfc"]},{"type":"public-key","id":"BA"}],` +
			`"authenticatorSelection":{"requireResidentKey":true,"residentKey":"required","userVerification":"required"},"attestation":"none"}`},
		{passkey.RequestOptions(shop, []byte("a challenge"), has), `{"challenge":"YSBjaGFsbGVuZ2U","timeout":300000,"rpId":"shop.vn",` +
			`"allowCredentials":[{"type":"public-key","id":"AQID","transports":["usb","nfc"]},{"type":"public-key","id":"BA"}]` +
			`,"userVerification":"required"}`},
		{passkey.RequestOptions(shop, []byte("a challenge"), nil),
			`{"challenge":"YSBjaGFsbGVuZ2U","timeout":300000,"rpId":"shop.vn","userVerification":"required"}`},
	} {
		if text, err := json.Marshal(c.options); err != nil || string(text) != c.want {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// FuzzAnswer holds what an answer that counts has, whatever a device and a browser say.
func FuzzAnswer(f *testing.F) {
	f.Add(byte(5), "https://shop.vn:8443 shop.vn", []byte{}, uint32(0))
	f.Add(byte(0x95), "https://shop.vn:8443 shop.vn", []byte{0xa1, 0x61, 'x', 1}, uint32(9))
	f.Add(byte(0x45), "https://SHOP.vn:8443 shop.vn", make([]byte, 99), uint32(1))
	f.Fuzz(func(t *testing.T, flags byte, place string, tail []byte, count uint32) {
		a := device(t)
		origin, host, _ := strings.Cut(place, " ")
		a.Flags, a.Origin, a.Host, a.Tail, a.Count = flags, origin, host, tail[:min(len(tail), 60_000)], count
		ours := strings.EqualFold(origin, shop.Origin) && host == shop.Host && flags&5 == 5
		if c, _, err := passkey.Created(shop, lan, a.Create(challenge)); err == nil && !ours {
			t.Errorf("made %+v", c)
		}
		kept := passkey.Credential{ID: a.ID, PublicKey: a.COSE(), BackupEligible: flags&8 != 0}
		if answer, err := passkey.Read(a.Sign(challenge)); err == nil {
			if _, err := answer.Signed(shop, lan, kept); err == nil && !ours {
				t.Errorf("took %+v", answer)
			}
		}
	})
}

// FuzzRead feeds whatever text there is, and whatever key.
func FuzzRead(f *testing.F) {
	for _, key := range []crypto.Signer{device(f).Key, someKeys().ed, someKeys().rsa2048} {
		a := device(f)
		a.Key = key
		f.Add(a.COSE(), a.Sign(challenge))
		f.Add(a.COSE(), a.Create(challenge))
	}
	f.Fuzz(func(t *testing.T, key []byte, text string) {
		if c, _, err := passkey.Created(shop, lan, text); err == nil && (len(c.ID) == 0 || len(c.PublicKey) == 0) {
			t.Errorf("%+v", c)
		}
		if answer, err := passkey.Read(text); err == nil {
			_, _ = answer.Signed(shop, lan, passkey.Credential{ID: answer.ID, PublicKey: key})
		}
	})
}
