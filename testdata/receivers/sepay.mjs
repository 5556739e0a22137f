// A shop that understands SePay's webhook and knows nothing of baoco, for the tests: HMAC, with
// the time of the call, and 400 for what it refuses. It has the order DH12, of 200000 VND.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'

const types = {
  id: 'number', gateway: 'string', transactionDate: 'string', accountNumber: 'string', subAccount: 'object', code: 'string',
  content: 'string', transferType: 'string', description: 'string', transferAmount: 'number', accumulated: 'number', referenceCode: 'string'
}
const seen = new Set()

function refusal (raw, headers) {
  const stamp = headers['x-sepay-timestamp']
  const signature = createHmac('sha256', process.env.BAOCO_SECRET).update(`${stamp}.`).update(raw).digest('hex')
  if (headers['x-sepay-signature'] !== `sha256=${signature}` || !(Math.abs(Date.now() / 1000 - stamp) < 300)) return 'wrong key'
  const sent = JSON.parse(raw.toString('utf8'))
  const sentTypes = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, typeof value]))
  if (JSON.stringify(sentTypes) !== JSON.stringify(types) || !Number.isSafeInteger(sent.id)) return 'wrong fields'
  if (sent.transferType !== 'in' || sent.code !== 'DH12' || sent.transferAmount !== 200000) return 'no such order'
  if (!seen.has(sent.id)) console.log(`credit ${sent.id}: ${sent.transferAmount} VND`)
  seen.add(sent.id)
}

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const message = refusal(Buffer.concat(chunks), request.headers)
    response.writeHead(message ? 400 : 201, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ success: !message, message }))
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
