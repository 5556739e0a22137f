// Makes vectors.json: request bodies, checksums and signatures as a receiver
// written in JavaScript expects them, made without a line of the program that
// is tested against them.
//
//   node make.mjs            writes vectors.json
//   node make.mjs --stdout   prints it
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'

const secret = 'whsec_' + Buffer.from(Array.from({ length: 32 }, (_, i) => (i * 7 + 3) & 255)).toString('base64')
const hmac = (key, text, encoding) => createHmac('sha256', key).update(text, 'utf8').digest(encoding)

const sentence = 'Thanh toán đơn hàng số 42 của chị Nguyễn Thị Ưởng ở Đắk Lắk, nghĩa là đã chuyển đủ'
const contents = {
  ascii: 'NAPTIEN MOMO 963869789',
  empty: '',
  spaces: '  two  spaces at both ends  ',
  'vietnamese composed': sentence.normalize('NFC'),
  'vietnamese decomposed': sentence.normalize('NFD'),
  quotes: `"double" 'single' \`back\``,
  backslashes: 'C:\\new\\table \\u0041 \\u2028 \\" \\\\ ends in \\',
  'slash and html': '</script><b>A & B</b> 1/2 &amp; https://shop.vn/?a=1&b=2',
  'line separators': 'a\u2028b\u2029c\u0085d',
  emoji: 'cà phê ☕️ 🧾 👨‍👩‍👧 🇻🇳',
  'short escapes': 'a\bb\tc\nd\fe\rf\r\n',
  'other controls': Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)).join(''),
  'delete and c1': 'x\u007fy\u0080z\u009f',
  'bom, bidi and replacement': '\ufeffa\u202eb\u200fc\ufffdd',
  'last of each plane': '\ud7ff\ue000\uffff\u{10000}\u{10ffff}',
  '2000 characters': 'ệ🧾"\\/\n<\u2028'.repeat(250),
  'looks like json': '{"transactions":[{"id":"1","checksum":"x"}]}',
}

const vectors = Object.entries(contents).map(([name, content], i) => {
  const transaction = {
    id: String(3521 + i),
    gateway: ['ACB', 'VCB', 'TCB'][i % 3],
    transactionDate: `2025-10-${String(10 + i).padStart(2, '0')} 10:59:30`,
    transactionNumber: i === 1 ? '' : `FT2531468${i}"/\\${i}`,
    accountNumber: '0019354957',
    content,
    transferType: i % 4 === 3 ? 'OUT' : 'IN',
    transferAmount: [200000, 1, 9999999999999][i % 3],
  }
  return vector(name, transaction, false)
})
// Of an account with code patterns.
for (const [i, code] of ['DH001234', ''].entries()) {
  vectors.push(vector(code ? 'payment code' : 'no payment code', {
    id: String(4000 + i), gateway: 'VCB', transactionDate: '2025-10-14 10:59:30', transactionNumber: 'FT' + i, accountNumber: '0019354957',
    content: `MBVCB.327890.${code}.CT tu`, transferType: 'IN', transferAmount: 200000, code,
  }, false))
}
vectors.push(vector('payment request', {
  id: '4002', gateway: 'VCB', transactionDate: '2025-10-14 10:59:30', transactionNumber: 'FT2', accountNumber: '0019354957',
  content: 'DH001234', transferType: 'IN', transferAmount: 150000, code: 'DH001234',
  payment_request: { due: 200000, id: 7, received: 150001, reference: 'Đơn "hàng" số 7/2025 \\ <Ưởng>', status: 'underpaid' },
}, false))
vectors.push(vector('sample', {
  id: '0', gateway: 'ACB', transactionDate: '2025-10-14 10:59:30', transactionNumber: 'TEST-1760414370000',
  accountNumber: '0000000000', content: 'BAOCO TEST', transferType: 'IN', transferAmount: 0,
}, true))

function vector (name, transaction, test) {
  const canonical = JSON.stringify(Object.fromEntries(Object.keys(transaction).sort().map(k => [k, transaction[k]])))
  const checksum = hmac(secret, canonical, 'hex')
  const envelope = { transactions: [{ ...transaction, checksum }] }
  if (test) envelope.test = true
  const body = JSON.stringify(envelope)
  const messageID = `dlv_${transaction.id}_mgq1`
  const timestamp = 1760414370 + Number(transaction.id)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return {
    name, secret, transaction, test, canonical, checksum, body,
    signature: hmac(secret, body, 'hex'),
    message_id: messageID, timestamp,
    standard_signature: 'v1,' + hmac(key, `${messageID}.${timestamp}.${body}`, 'base64'),
  }
}

// Only ASCII in the file, so that no editor can normalise what is compared.
const ascii = JSON.stringify(vectors, null, 1).replace(/[\u007f-\uffff]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) + '\n'
if (process.argv.includes('--stdout')) process.stdout.write(ascii)
else writeFileSync(new URL('vectors.json', import.meta.url), ascii)
