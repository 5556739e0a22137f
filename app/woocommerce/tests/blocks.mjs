// Runs assets/blocks.js as a browser does, with what it calls of WordPress and WooCommerce.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import vm from 'node:vm'

const registered = []
const window = {
  wp: {
    element: { createElement: (type, props, text) => ({ type, props, text }) },
    htmlEntities: { decodeEntities: text => text.replace('&amp;', '&') }
  },
  wc: {
    wcSettings: { getSetting: (name, none) => name === 'baoco_data' ? { title: 'VietQR &amp; co', description: 'Quét mã <b>', supports: ['products'] } : none },
    wcBlocksRegistry: { registerPaymentMethod: method => registered.push(method) }
  }
}
vm.runInNewContext(readFileSync(new URL('../assets/blocks.js', import.meta.url), 'utf8'), { window })

const plain = value => JSON.parse(JSON.stringify(value))
assert.equal(registered.length, 1)
const [method] = registered
assert.equal(method.name, 'baoco')
assert.equal(method.ariaLabel, 'VietQR & co')
assert.deepEqual(plain(method.label), { type: 'span', props: null, text: 'VietQR & co' })
assert.deepEqual(plain(method.content), { type: 'span', props: null, text: 'Quét mã <b>' }) // as text, not as HTML
assert.deepEqual(plain(method.edit), plain(method.content))
assert.equal(method.canMakePayment(), true)
assert.deepEqual(plain(method.supports), { features: ['products'] })
