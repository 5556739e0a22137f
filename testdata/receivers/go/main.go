// Mẫu nhận webhook của baoco bằng Go, chỉ dùng thư viện chuẩn.
// A sample receiver of baoco's webhooks in Go, standard library only.
//
// Chạy thử / Try it:  BAOCO_SECRET=whsec_... PORT=9000 go run main.go
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
)

var secret = os.Getenv("BAOCO_SECRET") // cả chuỗi "whsec_..." / the whole string
// Cửa hàng thật nên dùng cột UNIQUE trong cơ sở dữ liệu, ghi cùng lúc với việc cộng tiền.
// A real shop keeps a UNIQUE column in its database, written together with the credit.
var processed sync.Map

func verified(data []byte, digest string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(data)
	return secret != "" && hmac.Equal(fmt.Appendf(nil, "%x", mac.Sum(nil)), []byte(digest))
}

func receive(r *http.Request) (status int) {
	// 1. Kiểm tra chữ ký trên đúng các byte nhận được. / Verify the signature over the raw bytes.
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil || !verified(raw, r.Header.Get("X-Webhook-Signature")) {
		return 401
	}
	// RawMessage giữ nguyên từng giá trị, encoding/json thì không. / keeps each value as it came, encoding/json doesn't.
	var event struct{ Transactions []map[string]json.RawMessage }
	_ = json.Unmarshal(raw, &event) // đã ký, nên là JSON / signed, so it is JSON
	for _, transaction := range event.Transactions {
		// 2. Kiểm tra checksum: bỏ checksum, khoá tăng dần. / Check the checksum: without it, keys ascending.
		checksum := string(bytes.Trim(transaction["checksum"], `"`))
		delete(transaction, "checksum")
		var canonical bytes.Buffer
		encoder := json.NewEncoder(&canonical)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(transaction) != nil || !verified(bytes.TrimSpace(canonical.Bytes()), checksum) {
			return 401
		}
		// 3. Bỏ qua giao dịch đã xử lý (theo id) và bản thử. / Skip what was processed, by id, and samples.
		id := string(transaction["id"])
		if _, done := processed.LoadOrStore(id, true); !done && string(transaction["transferAmount"]) != "0" {
			log.Printf("credit %s: %s VND", id, transaction["transferAmount"]) // cộng tiền ở đây / credit here
		}
	}
	return 200
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	log.Print("listening on http://", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := receive(r)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"success":%t}`, status == 200)
	})))
}
