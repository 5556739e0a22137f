package demo

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// receiver is the shop. It verifies deliveries as the documentation says, without
// any code of the service.
type receiver struct {
	server *http.Server
	url    string

	mu      sync.Mutex
	secrets map[string]string
	fails   map[string]int
	calls   map[string][]call
}

type call struct {
	at     time.Time
	status int
	id     string
	body   []byte
	fault  string
}

func startReceiver() (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + l.Addr().String(), secrets: map[string]string{}, fails: map[string]int{}, calls: map[string][]call{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	go r.server.Serve(l)
	return r, nil
}

func (r *receiver) port() string {
	_, port, _ := strings.Cut(strings.TrimPrefix(r.url, "http://"), ":")
	return port
}

func (r *receiver) expect(path, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[path] = secret
}

func (r *receiver) failFirst(path string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails[path] = n
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	at := time.Now()
	body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
	r.mu.Lock()
	defer r.mu.Unlock()
	path := request.URL.Path
	call := call{at: at, status: http.StatusOK, id: request.Header.Get("webhook-id"), body: body}
	if err = errors.Join(err, VerifyDelivery(r.secrets[path], request.Header.Get("X-Webhook-Signature"), body)); err != nil {
		call.fault, call.status = err.Error(), http.StatusUnauthorized
	} else if r.fails[path] > 0 {
		r.fails[path]--
		call.status = http.StatusInternalServerError
	}
	r.calls[path] = append(r.calls[path], call)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(call.status)
	fmt.Fprintf(w, `{"success":%v}`, call.status == http.StatusOK)
}

// VerifyDelivery checks the signature over the raw body, and the checksum of
// every transaction in it.
func VerifyDelivery(secret, signature string, body []byte) error {
	if !hmac.Equal([]byte(signature), []byte(hexHMAC(secret, body))) {
		return errors.New("the signature is wrong")
	}
	var delivery struct {
		Transactions []map[string]any `json:"transactions"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&delivery); err != nil {
		return err
	}
	for _, t := range delivery.Transactions {
		checksum, _ := t["checksum"].(string)
		delete(t, "checksum")
		var canonical bytes.Buffer
		encoder := json.NewEncoder(&canonical) // sorts the keys of a map
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(t); err != nil {
			return err
		}
		if checksum != hexHMAC(secret, bytes.TrimSuffix(canonical.Bytes(), []byte("\n"))) {
			return errors.New("the checksum is wrong")
		}
	}
	return nil
}

func hexHMAC(secret string, data []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil))
}

// await waits for the n-th call to a path, for at most 8 seconds.
func (r *receiver) await(ctx context.Context, path string, n int) (got call, arrived bool) {
	arrived = waitUntil(ctx, func() bool { return r.count(path) >= n })
	r.mu.Lock()
	defer r.mu.Unlock()
	if arrived {
		got = r.calls[path][n-1]
	}
	return got, arrived
}

func (r *receiver) count(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls[path])
}
