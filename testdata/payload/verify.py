"""Verifies deliveries as a receiver written in Python does.

Reads a JSON array of {"name", "secret", "body" (base64), "signature",
"message_id", "timestamp", "standard_signature"} from standard input and
prints what does not verify; no output means that everything does.
"""
import base64
import hashlib
import hmac
import json
import sys


def digest(key, message):
    return hmac.new(key, message, hashlib.sha256)


for d in json.load(sys.stdin):
    key, body = d["secret"].encode(), base64.b64decode(d["body"])
    if digest(key, body).hexdigest() != d["signature"]:
        print(d["name"], "X-Webhook-Signature")
    standard_key = base64.b64decode(d["secret"].removeprefix("whsec_"))
    signed = b"%s.%d." % (d["message_id"].encode(), d["timestamp"]) + body
    if "v1," + base64.b64encode(digest(standard_key, signed).digest()).decode() != d["standard_signature"]:
        print(d["name"], "webhook-signature")
    for transaction in json.loads(body)["transactions"]:
        checksum = transaction.pop("checksum")
        canonical = json.dumps(transaction, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if digest(key, canonical.encode()).hexdigest() != checksum:
            print(d["name"], "checksum")
