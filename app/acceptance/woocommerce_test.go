package acceptance_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
)

// The WooCommerce plugin of app/woocommerce: by itself, and with a whole baoco in
// three shops. Two of them have what the plugin calls of WooCommerce only.

const wooPlugin = "../woocommerce"

// findPHP also looks at every file of the plugin, so that Go doesn't repeat a result
// from its cache after one changed.
func findPHP(t *testing.T) (php string, files []string) {
	t.Helper()
	must(t, filepath.WalkDir(wooPlugin, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".php") {
			files = append(files, path)
			_, err = os.ReadFile(path)
		}
		return err
	}))
	php, err := exec.LookPath("php")
	if err != nil {
		apptest.Missing(t, "php")
	}
	return php, files
}

// The plugin directory reads the requirements from readme.txt, WordPress from baoco.php.
func TestWooCommerceReadme(t *testing.T) {
	t.Parallel()
	plugin, err := os.ReadFile(filepath.Join(wooPlugin, "baoco.php"))
	must(t, err)
	readme, err := os.ReadFile(filepath.Join(wooPlugin, "readme.txt"))
	must(t, err)
	value := func(text []byte, name string) string {
		found := regexp.MustCompile(`(?m)^(?: \* )?` + name + `: (.+)$`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("no %s", name)
		}
		return string(found[1])
	}
	for in, as := range map[string]string{"Version": "Stable tag", "Requires at least": "Requires at least", "Requires PHP": "Requires PHP",
		"Requires Plugins": "Requires Plugins", "License": "License", "License URI": "License URI"} {
		if a, b := value(plugin, in), value(readme, as); a != b {
			t.Errorf("%s is %s in baoco.php and %s in readme.txt", in, a, b)
		}
	}
}

func TestWooCommercePlugin(t *testing.T) {
	t.Parallel()
	php, files := findPHP(t)
	for _, file := range files {
		if out, err := exec.Command(php, "-l", file).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	out, err := exec.Command(php, filepath.Join(wooPlugin, "tests/run.php")).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if node, err := exec.LookPath("node"); err == nil {
		if out, err := exec.Command(node, filepath.Join(wooPlugin, "tests/blocks.mjs")).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// startGroup starts a server that has processes of its own. At the end of the test they
// are killed with it.
func startGroup(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := startAs(t, cmd)
	t.Cleanup(func() { _ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) })
	return p
}

var listeningAt = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// TestWooCommerceShop has a shop that is PHP's own server.
func TestWooCommerceShop(t *testing.T) {
	t.Parallel()
	php, _ := findPHP(t)
	cmd := exec.Command(php, "-S", "127.0.0.1:0", filepath.Join(wooPlugin, "tests/site.php"))
	cmd.Env = append(os.Environ(), "STUB_OPTIONS="+t.TempDir(), "PHP_CLI_SERVER_WORKERS=4")
	server := startGroup(t, cmd)
	at := server.stderr.Await(listeningAt, 30*time.Second)
	if at == nil {
		t.Fatalf("PHP's server did not start:\n%s", server.stderr)
	}
	newWooStory(t, at[0]+"/control/").run()
}

// realWooCommerce is the directory of a WooCommerce for WordPress 6.5, which npm doesn't
// have. Where it is set, it is used in place of what stands for it.
var realWooCommerce = os.Getenv("BAOCO_WOOCOMMERCE")

// playground is where WordPress runs: PHP in Node.js, by the package @wp-playground/cli.
type playground struct{ node, cli, wordpress string }

// findPlayground installs what package-lock.json names, once a machine.
func findPlayground(t *testing.T) playground {
	t.Helper()
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: WordPress is installed over the network")
	}
	var p playground
	var err error
	for _, name := range []string{"npm", "node"} {
		if p.node, err = exec.LookPath(name); err != nil {
			apptest.Missing(t, name)
		}
	}
	modules, err := installPlayground()
	if err != nil {
		apptest.Missing(t, fmt.Sprintf("@wp-playground/cli, which npm can't install: %v", err))
	}
	p.cli = filepath.Join(modules, "@wp-playground/cli/wp-playground.js")
	p.wordpress = filepath.Join(modules, "@wp-playground/wordpress-builds/src/wordpress/wp-6.5.zip")
	return p
}

var installPlayground = sync.OnceValues(func() (string, error) {
	modules, err := installPackages(filepath.Join(wooPlugin, "tests/playground"), "baoco-wordpress-tests")
	if err != nil {
		return "", err
	}
	return modules, os.RemoveAll(filepath.Join(modules, "@wp-playground/wordpress-builds/public")) // 400 MB that WordPress doesn't need
})

// site makes a WordPress in which the plugin and what stands for WooCommerce are
// installed, but not active.
func (p playground) site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	archive, err := zip.OpenReader(p.wordpress)
	must(t, err)
	defer archive.Close()
	must(t, os.CopyFS(dir, archive))
	content := filepath.Join(dir, "wp-content")
	must(t, os.CopyFS(filepath.Join(content, "plugins/woocommerce"),
		os.DirFS(cmp.Or(realWooCommerce, filepath.Join(wooPlugin, "tests/woocommerce")))))
	for _, part := range []string{"includes", "assets", "languages", "baoco.php", "uninstall.php", "tests/playground/control-plugin.php",
		"tests/control.php"} {
		to := filepath.Join(content, "plugins/baoco", part)
		switch part {
		case "tests/playground/control-plugin.php":
			to = filepath.Join(content, "mu-plugins/control-plugin.php")
		case "tests/control.php":
			to = filepath.Join(content, "mu-plugins/baoco/control.php")
		}
		from := filepath.Join(wooPlugin, part)
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			must(t, os.CopyFS(to, os.DirFS(from)))
			continue
		}
		text, err := os.ReadFile(from)
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		must(t, os.WriteFile(to, text, 0o644))
	}
	return dir
}

// TestWooCommerceInWordPress has a shop that is a real WordPress, with the oldest PHP that
// the plugin is for and a newer one.
func TestWooCommerceInWordPress(t *testing.T) {
	t.Parallel()
	findPHP(t)
	p := findPlayground(t)
	plugin, err := filepath.Abs(wooPlugin)
	must(t, err)
	t.Run("tests/run.php in PHP 7.4", func(t *testing.T) {
		out, err := exec.Command(p.node, p.cli, "php", "--php=7.4", "--mount="+plugin+":/plugin",
			"--wordpress-install-mode=do-not-attempt-installing",
			"--skip-sqlite-setup", "--", "/plugin/tests/run.php").CombinedOutput()
		if err != nil || !strings.Contains(string(out), " passed, 0 failed") {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	for _, php := range []string{"7.4", "8.3"} {
		t.Run("WordPress in PHP "+php, func(t *testing.T) { p.shop(t, php, false) })
		if realWooCommerce != "" {
			t.Run("WordPress in PHP "+php+", orders in their own tables", func(t *testing.T) { p.shop(t, php, true) })
		}
	}
}

// shop starts WordPress and has it do what a shop does.
func (p playground) shop(t *testing.T, php string, ownTables bool) {
	address := apptest.FreeAddress(t)
	// No request leaves this machine: WordPress would look for updates.
	server := startGroup(t,
		exec.Command(p.node, p.cli, "server", "--port="+address[strings.LastIndexByte(address, ':')+1:], "--php="+php, "--workers=3",
			"--mount-before-install="+p.site(t)+":/wordpress", "--wordpress-install-mode=install-from-existing-files",
			"--define-bool", "WP_HTTP_BLOCK_EXTERNAL", "true", "--define", "WP_ACCESSIBLE_HOSTS", "127.0.0.1", "--define-bool",
			"DISABLE_WP_CRON", "true"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", server.stderr)
		}
	})
	eventually(t, "WordPress answers", func() bool {
		response, err := http.Get("http://" + address + "/?rest_route=/")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	s := newWooStory(t, "http://"+address+"/?rest_route=/control/")
	s.activates(php)
	if realWooCommerce != "" {
		stored := wooFields{}
		s.shop("storage", wooFields{"own_tables": ownTables}, &stored)
		if s.shop("stored", nil, &stored); stored["own_tables"] != ownTables {
			t.Fatalf("orders are stored so: %v", stored)
		}
	}
	s.run()
	s.keepsSecret()
}

// activates switches the plugins on as the owner does.
func (s *wooStory) activates(php string) {
	var active struct {
		Alone, WordPress, PHP string
		Shop, Both            any
	}
	s.shop("activate", nil, &active)
	if active.Alone != "plugin_missing_dependencies" || active.Shop != nil || active.Both != nil || !strings.HasPrefix(active.PHP, php) {
		s.Fatalf("activated: %+v", active)
	}
	var text struct{ Text string }
	s.language = "vi"
	s.shop("translate", nil, &text)
	if s.language = ""; text.Text != "Đơn hàng đã được thanh toán." {
		s.Errorf("in Vietnamese: %s", text.Text)
	}
}

// keepsSecret checks what WordPress loads on every page.
func (s *wooStory) keepsSecret() {
	var loaded struct{ Options []string }
	s.shop("autoloaded", nil, &loaded)
	if !slices.Equal(loaded.Options, []string{"woocommerce_baoco_settings"}) {
		s.Errorf("loaded on every page: %q", loaded.Options)
	}
}

// wooStory is a shop that is connected with a baoco, and what they do together.
type wooStory struct {
	*testing.T
	control  string // the URL of tests/control.php
	baoco    *process
	key      string
	webhook  string // the URL of the webhook
	language string // of the shop
	sent     int    // transactions
}

func newWooStory(t *testing.T, control string) *wooStory {
	dir := t.TempDir()
	s := &wooStory{T: t, control: control, baoco: serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")}
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	s.key = strings.TrimSpace(do(t, dir, "apikey", "create", "shop"))
	return s
}

// call sends JSON and reads JSON into answer.
func (s *wooStory) call(method, url string, body, answer any) int {
	s.Helper()
	encoded, err := json.Marshal(body)
	must(s, err)
	request, err := http.NewRequest(method, url, bytes.NewReader(encoded))
	must(s, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.key)
	if s.language != "" {
		request.Header.Set("X-Locale", s.language)
	}
	response, err := http.DefaultClient.Do(request)
	must(s, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	must(s, err)
	if err := json.Unmarshal(raw, answer); err != nil {
		s.Fatalf("%s %s: %d %v\n%s", method, url, response.StatusCode, err, raw)
	}
	return response.StatusCode
}

type wooFields map[string]any

// shop does something in the shop.
func (s *wooStory) shop(what string, in wooFields, answer any) {
	s.Helper()
	if status := s.call(http.MethodPost, s.control+what, in, answer); status != http.StatusOK {
		s.Fatalf("%s: %d", what, status)
	}
}

// wooOrder is an order as the shop shows it.
type wooOrder struct {
	ID            int
	Status        string
	TransactionID string `json:"transaction_id"`
	Notes         []string
	Code, URL     string // of its payment request
	RequestID     int    `json:"request_id"`
}

func (s *wooStory) order(id int) (o wooOrder) {
	s.Helper()
	s.shop("show", wooFields{"id": id}, &o)
	return o
}

// pay makes the customer go to the payment page.
func (s *wooStory) pay(id int) wooOrder {
	s.Helper()
	var paid struct{ Result, Redirect string }
	s.shop("pay", wooFields{"id": id}, &paid)
	o := s.order(id)
	if paid.Result != "success" || !strings.HasPrefix(paid.Redirect, s.baoco.url+"/pay/") || paid.Redirect != o.URL || o.Status != "on-hold" {
		s.Fatalf("the customer is led to %+v, with order %+v", paid, o)
	}
	response, err := http.Get(paid.Redirect)
	must(s, err)
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		s.Fatalf("the payment page: %d", response.StatusCode)
	}
	return o
}

func (s *wooStory) newOrder(total string) wooOrder {
	s.Helper()
	var made struct{ ID int }
	s.shop("order", wooFields{"total": total}, &made)
	return s.pay(made.ID)
}

// transfer records money in.
func (s *wooStory) transfer(code string, amount int) {
	s.Helper()
	s.sent++
	number := fmt.Sprintf("FT%d", s.sent)
	var answer wooFields
	if status := s.call(http.MethodPost, s.baoco.url+"/api/v1/transactions", wooFields{
		"id": number, "gateway": "ACB", "transactionNumber": number, "accountNumber": "19354957", "transferType": "IN",
		"transferAmount": amount, "content": "CT DEN " + code + " thanh toan",
		"transactionDate": time.Now().In(time.FixedZone("", 7*60*60)).Format(time.DateTime),
	}, &answer); status != http.StatusCreated {
		s.Fatalf("%d %v", status, answer)
	}
}

// until waits for an order to be as it must be.
func (s *wooStory) until(what string, id int, truth func(o wooOrder) bool) (o wooOrder) {
	s.Helper()
	defer func() {
		if s.Failed() {
			s.Logf("the order: %+v", o)
		}
	}()
	eventually(s, what, func() bool { o = s.order(id); return truth(o) })
	return o
}

// wooAttempt is an attempt to deliver something to the shop.
type wooAttempt struct {
	ID         int
	StatusCode int `json:"status_code"`
}

// attempted waits until the shop has taken n deliveries, and gives the attempts that did
// it, the last first. The shop must refuse none; on a busy machine it may be too slow for
// one, which is tried again.
func (s *wooStory) attempted(n int) (taken []wooAttempt) {
	s.Helper()
	eventually(s, fmt.Sprintf("%d deliveries are taken", n), func() bool {
		time.Sleep(100 * time.Millisecond) // an API key may call 300 times a minute
		var answer struct{ History []wooAttempt }
		s.call(http.MethodGet, s.baoco.url+"/api/v1/webhooks/history?per_page=100", nil, &answer)
		taken = nil
		for _, a := range answer.History {
			switch a.StatusCode {
			case http.StatusOK:
				taken = append(taken, a)
			case 0:
			default:
				s.Fatalf("a delivery was answered with %d", a.StatusCode)
			}
		}
		return len(taken) >= n
	})
	return taken
}

func hasNote(o wooOrder, text string) bool {
	return slices.ContainsFunc(o.Notes, func(note string) bool { return strings.Contains(note, text) })
}

func (o wooOrder) isPaid() bool { return o.Status == "processing" || o.Status == "completed" }

func (s *wooStory) run() {
	s.connects()
	s.paidInTwoParts()
	s.manyAtOnce()
	s.totalChanges()
	s.cancelled()
	s.attempted(6)
}

// connects saves the settings twice; the webhook and the pattern are made once.
func (s *wooStory) connects() {
	settings := wooFields{"enabled": "1", "title": "VietQR", "description": "", "address": s.baoco.url, "api_key": s.key, "bank_account": "",
		"prefix": "DH", "minutes": "", "paid_status": ""}
	for range 2 {
		var answer struct {
			Connected     bool
			Said, Webhook string
		}
		s.shop("connect", settings, &answer)
		if !answer.Connected {
			s.Fatalf("connect: %s\n%s", answer.Said, s.baoco.stderr)
		}
		s.webhook = answer.Webhook
		settings["api_key"] = ""
	}
	var hooks struct{ Webhooks []wooFields }
	s.call(http.MethodGet, s.baoco.url+"/api/v1/webhooks", nil, &hooks)
	var patterns struct {
		Patterns []wooFields `json:"code_patterns"`
	}
	s.call(http.MethodGet, s.baoco.url+"/api/v1/code-patterns", nil, &patterns)
	if len(hooks.Webhooks) != 1 || hooks.Webhooks[0]["webhook_url"] != s.webhook || hooks.Webhooks[0]["code_prefix"] != "DH" ||
		len(patterns.Patterns) != 1 {
		s.Fatalf("webhooks %v, patterns %v", hooks.Webhooks, patterns.Patterns)
	}
}

func (s *wooStory) paidInTwoParts() {
	o := s.newOrder("200000")
	if again := s.pay(o.ID); again.URL != o.URL {
		s.Errorf("a second page: %s, %s", o.URL, again.URL)
	}
	s.transfer(o.Code, 50_000)
	s.until("the order has a note of what is missing", o.ID, func(o wooOrder) bool { return hasNote(o, "150") })
	s.transfer(o.Code, 150_000)
	paid := s.until("the order is paid", o.ID, func(o wooOrder) bool { return o.isPaid() && hasNote(o, "FT2") })

	// Both again, by hand. Two tests were sent when the shop was connected.
	before := s.attempted(4)
	for _, a := range before[:2] {
		var answer wooFields
		if status := s.call(http.MethodPost, fmt.Sprintf("%s/api/v1/webhooks/%d/resend", s.baoco.url, a.ID), nil,
			&answer); status != http.StatusAccepted {
			s.Fatalf("%d %v", status, answer)
		}
	}
	s.attempted(6)
	if again := s.order(o.ID); again.Status != paid.Status || again.TransactionID != paid.TransactionID ||
		len(again.Notes) != len(paid.Notes) {
		s.Errorf("sent again, the order is\n%+v, before\n%+v", again, paid)
	}
}

// manyAtOnce delivers one transfer eight times at once, signed, and once unsigned.
func (s *wooStory) manyAtOnce() {
	o := s.newOrder("300000.00")
	body := fmt.Sprintf(`{"transactions":[{"id":"900","transactionNumber":"FT900","transferType":"IN","transferAmount":300000,"code":%q`+
		`,"payment_request":{"id":%d,"reference":"%d","status":"paid","due":300000,"received":300000}}]}`, o.Code, o.RequestID, o.ID)
	var kept struct{ Secret string }
	s.shop("secret", nil, &kept)
	send := func(signature string) int {
		request, err := http.NewRequest(http.MethodPost, s.webhook, strings.NewReader(body))
		if err != nil {
			return 0
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Webhook-Signature", signature)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0
		}
		response.Body.Close()
		return response.StatusCode
	}
	if status := send(delivery.Signature("whsec_other", []byte(body))); status != http.StatusUnauthorized ||
		s.order(o.ID).Status != "on-hold" {
		s.Errorf("a wrong signature: %d", status)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if status := send(delivery.Signature(kept.Secret, []byte(body))); status != http.StatusOK && status != http.StatusServiceUnavailable {
				s.Errorf("one of eight at once: %d", status)
			}
		})
	}
	all.Wait()
	paid := s.order(o.ID)
	if notes := len(paid.Notes) - len(o.Notes); !paid.isPaid() || strings.Count(strings.Join(paid.Notes, "\n"), "FT900") != 1 {
		s.Errorf("after eight at once: %d more notes, %+v", notes, paid)
	}
}

// totalChanges raises the total after a part came: the rest of it is asked for.
func (s *wooStory) totalChanges() {
	o := s.newOrder("200000")
	before := len(s.attempted(0))
	s.transfer(o.Code, 50_000)
	s.attempted(before + 1) // the shop saves the order after its note
	s.until("the order has a note of what is missing", o.ID, func(o wooOrder) bool { return hasNote(o, "150") })
	s.shop("change", wooFields{"id": o.ID, "total": "250000"}, new(any))
	changed := s.pay(o.ID)
	var old, fresh struct {
		Request struct {
			Status string
			Amount int
		} `json:"payment_request"`
	}
	s.call(http.MethodGet, fmt.Sprintf("%s/api/v1/payment-requests/%d", s.baoco.url, o.RequestID), nil, &old)
	s.call(http.MethodGet, fmt.Sprintf("%s/api/v1/payment-requests/%d", s.baoco.url, changed.RequestID), nil, &fresh)
	if old.Request.Status != "cancelled" || fresh.Request.Amount != 200_000 {
		s.Errorf("the old request %+v, the new one %+v", old, fresh)
	}
	s.transfer(changed.Code, 200_000)
	s.until("the order is paid", o.ID, func(o wooOrder) bool { return o.isPaid() })
}

// cancelled pays an order that was cancelled: it stays so.
func (s *wooStory) cancelled() {
	o := s.newOrder("200000")
	s.shop("cancel", wooFields{"id": o.ID}, new(any))
	s.transfer(o.Code, 200_000)
	late := s.until("the order has a note of the money", o.ID, func(o wooOrder) bool { return hasNote(o, fmt.Sprintf("FT%d", s.sent)) })
	if late.Status != "cancelled" {
		s.Errorf("a cancelled order became %s", late.Status)
	}
	var request struct {
		Request struct{ Status string } `json:"payment_request"`
	}
	s.call(http.MethodGet, fmt.Sprintf("%s/api/v1/payment-requests/%d", s.baoco.url, o.RequestID), nil, &request)
	if request.Request.Status != string(app.PaymentPaidLate) {
		s.Errorf("its payment request is %s", request.Request.Status)
	}
}
