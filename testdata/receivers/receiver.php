<?php
// Mẫu nhận webhook của baoco bằng PHP thuần, từ bản 7.4.
// A sample receiver of baoco's webhooks in plain PHP, 7.4 or newer.
//
// Chạy thử / Try it:  BAOCO_SECRET=whsec_... php -S 127.0.0.1:9000 receiver.php
declare(strict_types=1);

http_response_code(500); // nếu có lỗi, baoco sẽ gửi lại / should anything fail, baoco tries again

function answer(int $status, array $body): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    exit(json_encode($body));
}

// Secret nhận được một lần khi tạo webhook; dùng nguyên cả chuỗi "whsec_...".
// The secret, shown once when the webhook was made; the whole string is the key.
$secret = (string) getenv('BAOCO_SECRET');
$seenFile = getenv('BAOCO_SEEN') ?: dirname(__DIR__) . '/baoco-seen.txt';
if ($secret === '') {
    throw new RuntimeException('BAOCO_SECRET is not set');
}

// 1. Kiểm tra chữ ký trên đúng các byte nhận được, trước khi đọc JSON.
//    Verify the signature over the raw bytes, before any JSON is read.
$raw = file_get_contents('php://input');
$given = $_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? '';
if (!hash_equals(hash_hmac('sha256', $raw, $secret), $given)) {
    answer(401, ['success' => false, 'message' => 'wrong signature']);
}
$event = json_decode($raw, true);
if (!empty($event['test'])) { // nút "gửi thử" / the "send a test" button
    answer(200, ['success' => true]);
}

// Khoá tệp để hai lần gửi cùng lúc không cộng tiền hai lần. Cửa hàng thật nên dùng
// cột UNIQUE trong cơ sở dữ liệu, ghi trong cùng transaction với việc cộng tiền.
// Locked, so that two calls at once don't credit twice. A real shop keeps a UNIQUE
// column in its database and writes it in the same transaction as the credit.
$seen = fopen($seenFile, 'c+');
flock($seen, LOCK_EX);
$processed = array_flip(explode("\n", (string) stream_get_contents($seen)));

foreach ($event['transactions'] as $transaction) {
    // 2. Kiểm tra checksum: bỏ checksum, xếp khoá tăng dần, mã hoá JSON. Thiếu một
    //    trong ba cờ này thì "/", tiếng Việt hoặc U+2028 sẽ làm checksum sai.
    //    Check the checksum: without it, keys ascending, as JSON. Without all three
    //    flags "/", Vietnamese letters or U+2028 make another checksum.
    $checksum = $transaction['checksum'];
    unset($transaction['checksum']);
    ksort($transaction, SORT_STRING);
    $canonical = json_encode($transaction, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS);
    if (!hash_equals(hash_hmac('sha256', $canonical, $secret), $checksum)) {
        answer(401, ['success' => false, 'message' => 'wrong checksum']);
    }
    // 3. Bỏ qua giao dịch đã xử lý, theo id: checksum thay đổi khi đổi secret.
    //    Skip what was processed before, by id: the checksum changes with the secret.
    if (isset($processed[$transaction['id']])) {
        continue;
    }
    // Cộng tiền cho đơn hàng ở đây. / Credit the order here:
    // $transaction['transferType'], ['transferAmount'], ['content'], ['transactionNumber']
    error_log("credit {$transaction['id']}: {$transaction['transferAmount']} VND");
    if (fwrite($seen, $transaction['id'] . "\n") === false) {
        throw new RuntimeException('cannot write ' . $seenFile);
    }
}
answer(200, ['success' => true]);
