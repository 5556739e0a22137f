"""Mẫu nhận webhook của baoco bằng Python 3, chỉ dùng thư viện chuẩn.
A sample receiver of baoco's webhooks in Python 3, standard library only.

Chạy thử / Try it:  BAOCO_SECRET=whsec_... PORT=9000 python3 receiver.py
"""
import hashlib
import hmac
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Secret nhận được một lần khi tạo webhook; dùng nguyên cả chuỗi "whsec_...".
# The secret, shown once when the webhook was made; the whole string is the key.
SECRET = os.environ.get("BAOCO_SECRET", "").encode() or sys.exit("BAOCO_SECRET is not set")
SEEN_FILE = os.environ.get("BAOCO_SEEN", "baoco-seen.txt")
LOCK = threading.Lock()


def verified(data: bytes, digest: str) -> bool:
    expected = hmac.new(SECRET, data, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), digest.encode())


def receive(raw: bytes, signature: str) -> int:
    # 1. Kiểm tra chữ ký trên đúng các byte nhận được, trước khi đọc JSON.
    #    Verify the signature over the raw bytes, before any JSON is read.
    if not verified(raw, signature):
        return 401
    event = json.loads(raw)
    if event.get("test"):  # nút "gửi thử" / the "send a test" button
        return 200
    # Khoá để hai lần gửi cùng lúc không cộng tiền hai lần. Cửa hàng thật nên dùng cột
    # UNIQUE trong cơ sở dữ liệu, ghi trong cùng transaction với việc cộng tiền.
    # Locked, so that two calls at once don't credit twice. A real shop keeps a UNIQUE
    # column in its database and writes it in the same transaction as the credit.
    with LOCK, open(SEEN_FILE, "a+", encoding="ascii") as file:
        file.seek(0)
        seen = set(file.read().split())
        for transaction in event["transactions"]:
            # 2. Kiểm tra checksum: bỏ checksum, xếp khoá tăng dần, JSON không khoảng trắng, giữ nguyên dấu.
            #    Check the checksum: without it, keys ascending, JSON without white space, letters as they are.
            checksum = transaction.pop("checksum")
            canonical = json.dumps(transaction, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            if not verified(canonical.encode(), checksum):
                return 401
            # 3. Bỏ qua giao dịch đã xử lý, theo id: checksum thay đổi khi đổi secret.
            #    Skip what was processed before, by id: the checksum changes with the secret.
            if transaction["id"] not in seen:
                # Cộng tiền cho đơn hàng ở đây. / Credit the order here:
                # transaction["transferType"], ["transferAmount"], ["content"]
                print(f"credit {transaction['id']}: {transaction['transferAmount']} VND", flush=True)
                file.write(transaction["id"] + "\n")
    return 200


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = receive(raw, self.headers.get("X-Webhook-Signature", ""))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"success": status == 200}).encode())


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Handler)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
