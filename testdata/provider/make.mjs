// Makes vectors.json: providers' calls that are signed without a line of the
// program that is tested against them, with what must come of each.
//
//   node make.mjs            writes vectors.json
//   node make.mjs --stdout   prints it
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { casso, payos, pay2s } from './signed.mjs'

const hmac = (algorithm, key, text) => createHmac(algorithm, key).update(text).digest('hex')
const vectors = []
const account = '0071000888888'
const json = { 'Content-Type': 'application/json' }

// SePay: the same transaction in each format and with each credential.
const transfer = {
  id: '92801', gateway: 'Vietcombank', transactionDate: '2025-10-14 10:59:30', accountNumber: account, code: '',
  content: 'Nguyễn Thị Ưởng + 100% & = "DH42"', transferType: 'out', transferAmount: '2277000', accumulated: '19077000',
  subAccount: '', referenceCode: 'FT25287.1', description: '',
}
const sepay = {
  event_id: '92801', account, gateway: 'VCB', direction: 'OUT', amount: 2277000, time: '2025-10-14 10:59:30', bank_ref: 'FT25287.1', content: transfer.content,
}
const boundary = '------------------------d74496d66958873e'
const multipart = Object.entries(transfer).map(([key, value]) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`).join('') + `--${boundary}--\r\n`
const formats = [
  ['form', new URLSearchParams(transfer).toString(), 'application/x-www-form-urlencoded'],
  ['multipart', multipart, `multipart/form-data; boundary=${boundary}`],
  ['json', JSON.stringify(transfer), 'application/json'],
]
for (const [format, body, type] of formats) {
  const secret = 'whsec_khoá-bí-mật-của-cửa-hàng'
  const stamp = '1760414370'
  vectors.push({
    name: `sepay-hmac-${format}`, provider: 'sepay', auth: 'hmac', secret, body, normalized: [sepay],
    headers: { 'Content-Type': type, 'X-SePay-Timestamp': stamp, 'X-SePay-Signature': 'sha256=' + hmac('sha256', secret, `${stamp}.${body}`) },
  })
  vectors.push({
    name: `sepay-apikey-${format}`, provider: 'sepay', auth: 'apikey', secret: 'SEPAY_KEY_0123456789', body, normalized: [sepay],
    headers: { 'Content-Type': type, Authorization: 'Apikey SEPAY_KEY_0123456789' },
  })
}

vectors.push({
  name: 'casso-with-bank', provider: 'casso', auth: 'token', secret: 'cassoSecureToken01',
  headers: { ...json, 'Secure-Token': 'cassoSecureToken01' },
  body: `{"error":0,"data":[{"id":900001,"tid":"FT25287900001","description":"giao dich thu nghiem","amount":599000,"cusum_balance":599000,"when":"2025-10-14 15:45:25","bank_sub_acc_id":"","subAccId":"${account}","bankName":"Vietcombank","bankAbbreviation":"VCB","virtualAccount":"","virtualAccountName":"","corresponsiveName":"NGUYEN VAN A","corresponsiveAccount":"8888888888","corresponsiveBankId":"970415","corresponsiveBankName":"VietinBank"},{"id":"900002","tid":900002,"description":"","amount":-1.5e5,"when":"2025-10-15","bank_sub_acc_id":"${account}"}]}`,
  normalized: [
    { event_id: '900001', account, gateway: 'VCB', direction: 'IN', amount: 599000, time: '2025-10-14 15:45:25', bank_ref: 'FT25287900001', content: 'giao dich thu nghiem' },
    { event_id: '900002', account, gateway: 'VCB', direction: 'OUT', amount: 150000, time: '2025-10-15 00:00:00', bank_ref: '900002', content: '' },
  ],
})

// Casso V2: bodies as a server in JavaScript sends them, and such as it may
// meet on the way.
const cassoSecret = 'g3oZ950pJQ4k6REhOPGkx37RsXgWz9QJ9RCAZ7i0yagLF32XQZtemQ6r3JIo4MCr'
function cassoV2 (name, body, ...normalized) {
  const stamp = '1760414370123'
  vectors.push({
    name, provider: 'casso-v2', auth: 'hmac', secret: cassoSecret, body, normalized,
    headers: { ...json, 'X-Casso-Signature': `t=${stamp},v1=` + hmac('sha512', cassoSecret, `${stamp}.${casso(body)}`) },
  })
}
const cassoData = {
  id: 218897, reference: 'FT24364030863634', description: 'hoi lai 100 bao mun dua', amount: 16775000, runningBalance: 16775000,
  transactionDateTime: '2024-12-23 07:00:00', accountNumber: account, bankName: 'Vietcombank', bankAbbreviation: 'VCB', virtualAccountNumber: '',
  virtualAccountName: '', counterAccountName: '', counterAccountNumber: '', counterAccountBankId: '', counterAccountBankName: '',
}
const cassoWant = {
  event_id: '218897', account, gateway: 'VCB', direction: 'IN', amount: 16775000, time: '2024-12-23 07:00:00', bank_ref: 'FT24364030863634',
  content: 'hoi lai 100 bao mun dua',
}
cassoV2('casso-v2-in', JSON.stringify({ error: 0, data: cassoData }), cassoWant)
cassoV2('casso-v2-out', JSON.stringify({ error: 0, data: { ...cassoData, amount: -16775000 } }), { ...cassoWant, direction: 'OUT' })
const hostile = 'Đơn "42" \\ 1/2 </b> \u2028\u2029\u007f\b\t\u0001 ☕️🧾'
cassoV2('casso-v2-hostile-text', JSON.stringify({ error: 0, data: { ...cassoData, description: hostile } }),
  { ...cassoWant, content: hostile })
cassoV2('casso-v2-numbers', `{"error":-0,"data":{"id":9007199254740993,"amount":1.50e3,"runningBalance":-0.0,"tiny":1e-7,"large":1e21,"third":0.1000000000000000055,"reference":"R1","accountNumber":"${account}","transactionDateTime":"2024-12-23","bankAbbreviation":"VCB"}}`,
  { event_id: '9007199254740992', account, gateway: 'VCB', direction: 'IN', amount: 1500, time: '2024-12-23 00:00:00', bank_ref: 'R1', content: '' })
cassoV2('casso-v2-orders', `{\n  "error" : 0,\n  "y" : [ { "b" : 1, "a" : [ null, true, {} ] } ], "x" : {"\\ue000":1,"\\ud83e\\uddfe":2,"B":3,"b":4},\n  "data" : ${JSON.stringify(cassoData, null, 4)}\n}\n`, cassoWant)

function payOS (name, data, ...normalized) {
  const secret = '1a54716c8f0efb2744fb28b6e38b25da7f67a925d98bc1c18bd8faaecadd7675'
  const signature = hmac('sha256', secret, payos(`{"data":${data}}`))
  vectors.push({
    name, provider: 'payos', auth: 'hmac', secret, headers: json, normalized,
    body: `{"code":"00","desc":"success","success":true,"data":${data},"signature":"${signature}"}`,
  })
}
const payOSData = {
  orderCode: 1765353576022, amount: 69000, description: 'CSXB3Y2K đơn sách', accountNumber: account, reference: 'FT25344881',
  transactionDateTime: '2025-10-14 14:30:00', currency: 'VND', paymentLinkId: '124c33293c43417ab7879e14c8d9eb18', code: '00', desc: 'Thành công',
  counterAccountBankId: '', counterAccountBankName: null, counterAccountName: 'CTY A & B', counterAccountNumber: null, virtualAccountName: null, virtualAccountNumber: 'V3CAS1',
}
const payOSWant = {
  event_id: 'FT25344881124c33293c43417ab7879e14c8d9eb18', account, direction: 'IN', amount: 69000, time: '2025-10-14 14:30:00', bank_ref: 'FT25344881', content: 'CSXB3Y2K đơn sách',
}
payOS('payos-in', JSON.stringify(payOSData), payOSWant)
payOS('payos-order-123', JSON.stringify({ ...payOSData, orderCode: 123 }), payOSWant)
payOS('payos-null-words', JSON.stringify({ ...payOSData, description: 'null', desc: 'undefined' }), { ...payOSWant, content: '' })
payOS('payos-numbers', JSON.stringify(payOSData).replace('69000', '6.9e4').replace('1765353576022', '1765353576022.0'), payOSWant)
payOS('payos-nested', JSON.stringify({ ...payOSData, 7: true, items: [{ z: 1, a: [3] }, {}], empty: [], about: { a: 1 } }), payOSWant)
payOS('payos-unpaid', JSON.stringify({ ...payOSData, code: '01' }))

vectors.push({
  name: 'pay2s-two', provider: 'pay2s', auth: 'bearer', secret: 'pay2s-hook-token-01', headers: { ...json, Authorization: 'Bearer pay2s-hook-token-01' },
  body: `{"transactions":[{"id":1788053,"gateway":"VCB","transactionDate":"2025-10-14 00:02:18","transactionNumber":"10418","accountNumber":"${account}","content":"DH 1","transferType":"in","transferAmount":"50000","checksum":"7e2b"},{"id":"1788054","gateway":"Vietcombank","transactionDate":"2025-10-14 00:02:19","transactionNumber":"10418","accountNumber":"${account}","content":"DH 1","transferType":"OUT","transferAmount":50000}]}`,
  normalized: [
    { event_id: '1788053', account, gateway: 'VCB', direction: 'IN', amount: 50000, time: '2025-10-14 00:02:18', bank_ref: '10418', content: 'DH 1' },
    { event_id: '1788054', account, gateway: 'VCB', direction: 'OUT', amount: 50000, time: '2025-10-14 00:02:19', bank_ref: '10418', content: 'DH 1' },
  ],
})

function ipn (name, fields, ...normalized) {
  const secret = 'khoá-ký-thông-báo'
  const accessKey = '40fc988c0c175b57096f15bb03b4d098'
  const signature = hmac('sha256', secret, pay2s(JSON.stringify(fields), accessKey))
  vectors.push({
    name, provider: 'pay2s-ipn', auth: 'hmac', secret, access_key: accessKey, headers: json, normalized,
    body: JSON.stringify({ ...fields, m2signature: signature }),
  })
}
const notice = {
  partnerCode: 'PAY2S', orderId: '01234567890123451633504872421', requestId: '01234567890123451633504872421', amount: 1000,
  orderInfo: 'Đơn 1234556', orderType: 'Pay2S_wallet', transId: 2588659987, resultCode: 0, message: 'Giao dịch thành công.', payType: 'qr',
  responseTime: 1760414370, extraData: '',
}
const paid = { event_id: '2588659987', direction: 'IN', amount: 1000, time: '2025-10-14 10:59:30', bank_ref: '', content: 'Đơn 1234556' }
ipn('pay2s-ipn-numbers', notice, paid)
ipn('pay2s-ipn-strings', Object.fromEntries(Object.entries(notice).map(([k, v]) => [k, String(v)])), paid)
ipn('pay2s-ipn-null', { ...notice, extraData: null, message: undefined, responseTime: 1760414370123 }, paid)
ipn('pay2s-ipn-failed', { ...notice, resultCode: 1006 })

const text = JSON.stringify(vectors, null, 1) + '\n'
if (process.argv[2] === '--stdout') process.stdout.write(text)
else writeFileSync(new URL('vectors.json', import.meta.url), text)
