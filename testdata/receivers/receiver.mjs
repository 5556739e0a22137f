// Mẫu nhận webhook của baoco bằng Node.js, không cần thư viện.
// A sample receiver of baoco's webhooks in Node.js, without libraries.
//
// Chạy thử / Try it:  BAOCO_SECRET=whsec_... PORT=9000 node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'

// Secret nhận được một lần khi tạo webhook; dùng nguyên cả chuỗi "whsec_...".
// The secret, shown once when the webhook was made; the whole string is the key.
const secret = process.env.BAOCO_SECRET
if (!secret) throw new Error('BAOCO_SECRET is not set')

const seenFile = process.env.BAOCO_SEEN || 'baoco-seen.txt'
const seen = new Set(existsSync(seenFile) ? readFileSync(seenFile, 'utf8').split('\n') : [])

const hmac = data => createHmac('sha256', secret).update(data).digest('hex')
const same = (a, b) => {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

function receive (raw, signature) {
  // 1. Kiểm tra chữ ký trên đúng các byte nhận được, trước khi đọc JSON.
  //    Verify the signature over the raw bytes, before any JSON is read.
  if (!same(hmac(raw), signature)) return 401
  const event = JSON.parse(raw.toString('utf8'))
  if (event.test) return 200 // nút "gửi thử" / the "send a test" button

  for (const { checksum, ...transaction } of event.transactions) {
    // 2. Kiểm tra checksum: bỏ checksum, xếp khoá tăng dần, JSON.stringify.
    //    Check the checksum: without it, keys ascending, JSON.stringify.
    const sorted = Object.fromEntries(Object.keys(transaction).sort().map(key => [key, transaction[key]]))
    if (!same(hmac(JSON.stringify(sorted)), checksum)) return 401

    // 3. Bỏ qua giao dịch đã xử lý, theo id: checksum thay đổi khi đổi secret. Cửa hàng thật
    //    nên dùng cột UNIQUE trong cơ sở dữ liệu, ghi trong cùng transaction với việc cộng tiền.
    //    Skip what was processed before, by id: the checksum changes with the secret. A real
    //    shop keeps a UNIQUE column in its database and writes it in the same transaction as the credit.
    if (seen.has(transaction.id)) continue
    // Cộng tiền cho đơn hàng ở đây. / Credit the order here:
    // transaction.transferType, .transferAmount, .content, .transactionNumber
    console.log(`credit ${transaction.id}: ${transaction.transferAmount} VND`)
    appendFileSync(seenFile, transaction.id + '\n')
    seen.add(transaction.id)
  }
  return 200
}

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    let status = 405
    try {
      if (request.method === 'POST') status = receive(Buffer.concat(chunks), request.headers['x-webhook-signature'] ?? '')
    } catch (error) {
      console.error(error)
      status = 500 // baoco sẽ gửi lại / baoco will try again
    }
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ success: status === 200 }))
  })
})
server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
