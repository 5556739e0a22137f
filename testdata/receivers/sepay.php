<?php
// A shop that understands SePay's webhook and knows nothing of baoco, for the tests: an API
// key, strict types, and 200 also for what it refuses. It has the order DH12, of 200000 VND.
declare(strict_types=1);

function refuse(int $status, string $why): void
{
    if (strpos($_SERVER['HTTP_ACCEPT'] ?? '', 'application/json') === false) {
        header('Location: /', true, 302); // as frameworks do for a browser
        exit;
    }
    http_response_code($status);
    header('Content-Type: application/json');
    exit(json_encode(['success' => 'false', 'message' => $why]));
}

$seenFile = (string) getenv('BAOCO_SEEN');
if (($_SERVER['HTTP_AUTHORIZATION'] ?? '') !== 'Apikey ' . getenv('BAOCO_SECRET')) {
    refuse(200, 'wrong key');
}
$sent = json_decode((string) file_get_contents('php://input'), true);
$types = ['id' => 'integer', 'gateway' => 'string', 'transactionDate' => 'string', 'accountNumber' => 'string', 'subAccount' => 'NULL',
    'code' => 'string', 'content' => 'string', 'transferType' => 'string', 'description' => 'string', 'transferAmount' => 'integer',
    'accumulated' => 'integer', 'referenceCode' => 'string'];
if (!is_array($sent) || array_map('gettype', $sent) !== $types) {
    refuse(422, 'wrong fields');
}
if ($sent['transferType'] !== 'in' || $sent['code'] !== 'DH12' || $sent['transferAmount'] !== 200000
    || !DateTime::createFromFormat('!Y-m-d H:i:s', $sent['transactionDate'])) {
    refuse(200, 'no such order');
}
if (strpos((string) @file_get_contents($seenFile), "|{$sent['id']}|") === false) {
    file_put_contents($seenFile, "|{$sent['id']}|", FILE_APPEND);
    error_log("credit {$sent['id']}: {$sent['transferAmount']} VND");
}
header('Content-Type: application/json');
echo json_encode(['success' => 'true']);
