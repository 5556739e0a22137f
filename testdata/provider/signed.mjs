// What the providers that sign fields make their signatures over, in JavaScript
// and without a line of the program that is tested against it.
//
//   node signed.mjs     reads lines of {"kind", "body"}, the body in base64, and
//                       writes for each the base64 of what is signed, or null
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const sorted = v => Array.isArray(v)
  ? v.map(sorted)
  : v !== null && typeof v === 'object' ? Object.fromEntries(Object.keys(v).sort().map(k => [k, sorted(v[k])])) : v

const sortedOnce = v => Object.fromEntries(Object.keys(v).sort().map(k => [k, v[k]]))

export const casso = body => JSON.stringify(sorted(JSON.parse(body)))

export function payos (body) {
  const data = sortedOnce(JSON.parse(body).data)
  return Object.keys(data).map(key => {
    let value = data[key]
    if (Array.isArray(value)) value = JSON.stringify(value.map(sortedOnce))
    if (value === null || value === 'null' || value === 'undefined') value = ''
    return `${key}=${value}`
  }).join('&')
}

export const pay2sKeys = ['accessKey', 'amount', 'extraData', 'message', 'orderId', 'orderInfo', 'orderType', 'partnerCode',
  'payType', 'requestId', 'responseTime', 'resultCode', 'transId']

export function pay2s (body, accessKey) {
  const values = { ...JSON.parse(body), accessKey }
  return pay2sKeys.map(key => `${key}=${values[key] ?? ''}`).join('&')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const kinds = { casso, payos }
  for await (const line of createInterface({ input: process.stdin })) {
    const { kind, body } = JSON.parse(line)
    let text = null
    try {
      text = Buffer.from(kinds[kind](Buffer.from(body, 'base64').toString('utf8')), 'utf8').toString('base64')
    } catch {}
    process.stdout.write(JSON.stringify(text) + '\n')
  }
}
