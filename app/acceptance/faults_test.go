package acceptance_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
)

// The tests of faults repeat what they do: a few times by default, many times
// with BAOCO_FULL=1, as in .ci/proofs, and as often as is asked for with
//
//	go test -run 'TestKill|PowerCut|Disk' -timeout 2h ./app/acceptance -faults.rounds=200
var faultRounds = flag.Int("faults.rounds", 0,
	"how often the tests of faults repeat what they do; 0 is a few times, or many with BAOCO_FULL=1")

// rounds is how often a test of faults repeats what it does.
func rounds(few, full int) int {
	if *faultRounds > 0 {
		return *faultRounds
	}
	return apptest.Rounds(few, full)
}

// proof skips a test of faults whose kin takes a sample by default, unless all rounds are
// asked for.
func proof(t *testing.T) {
	t.Helper()
	if *faultRounds == 0 && !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1, as in .ci/proofs")
	}
}

// installation is a database made for a test, with what a shop sets up.
type installation struct {
	dir    string // an ordinary directory
	db     string
	source inbound.Source
	key    string

	webhookSecret string
}

// install makes a database in a directory of its own, with a webhook to the
// receiver.
func install(t testing.TB, receiver *shop) installation {
	t.Helper()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	apptest.Must(t, w.Store.SetAllowTargets(context.Background(), []string{receiver.target()}))
	w.Link("ACB", "19354957")
	_, secret := w.Webhook(receiver.URL+"/a", delivery.WebhookAll)
	receiver.sign("/a", secret)
	return installation{filepath.Dir(w.Path), w.Path, w.Source("native", "", ""), w.APIKey(access.ScopeFull), secret}
}

// provider calls the installation at a server's address.
func (in installation) provider(url string) *caller {
	return &caller{url: url + in.source.URLPath(), secret: in.source.Secret, pause: ease(), acked: map[string]bool{}}
}

// sample takes n of the numbers below of: each of the first, and some of the
// rest.
func sample(n, of int) []int {
	n = min(n, of)
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
		if i >= n/3 {
			numbers[i] = n/3 + (i-n/3)*(of-n/3)/(n-n/3)
		}
	}
	return numbers
}

// readImage reads the files of a directory.
func readImage(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	image := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		content, e2 := os.ReadFile(filepath.Join(dir, e.Name()))
		image[e.Name()], err = content, errors.Join(err, e2)
	}
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// save puts an image into a directory of an ordinary disk.
func save(t testing.TB, image map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range image {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
