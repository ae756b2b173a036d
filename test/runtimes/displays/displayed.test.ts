/** The displays so far: replaced, cleared, and never more than fit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Displayed } from '../../../src/runtimes/displays/displayed.ts'

const text = (content: string) => ({ 'text/plain': content })
const texts = (displayed: Displayed) => displayed.bundles.map((bundle) => bundle['text/plain'])

test('an update replaces the display with its id, wherever it is, and the others stay', () => {
  const displayed = new Displayed(1000)
  displayed.add(text('a'), 1, { displayId: 'one' })
  displayed.add(text('b'), 1, {})
  displayed.add(text('c'), 1, { displayId: 'one' })
  displayed.add(text('d'), 1, { displayId: 'one', isUpdate: true })
  assert.deepEqual(texts(displayed), ['d', 'b'])
  displayed.add(text('e'), 1, { displayId: 'of earlier code', isUpdate: true })
  assert.deepEqual(texts(displayed), ['d', 'b', 'e'])
})

test('cleared displays are removed at once, or with the next display', () => {
  const displayed = new Displayed(1000)
  displayed.add(text('a'), 1, {})
  displayed.clear(true)
  assert.deepEqual(texts(displayed), ['a'])
  displayed.add(text('b'), 1, {})
  assert.deepEqual(texts(displayed), ['b'])
  displayed.clear(false)
  assert.deepEqual(texts(displayed), [])
})

test('only replaced and cleared displays free their room', () => {
  const displayed = new Displayed(10)
  assert.equal(displayed.add(text('a'), 8, { displayId: 'one' }), true)
  assert.equal(displayed.add(text('b'), 3, {}), false)
  assert.equal(displayed.add(text('c'), 10, { displayId: 'one', isUpdate: true }), true)
  assert.equal(displayed.takeFreedBytes(), 8)
  assert.equal(displayed.takeFreedBytes(), 0)
  assert.equal(displayed.add(text('d'), 11, { displayId: 'one', isUpdate: true }), false)
  assert.deepEqual(texts(displayed), ['c'])
  displayed.clear(false)
  assert.equal(displayed.add(text('e'), 10, {}), true)
  assert.equal(displayed.takeFreedBytes(), 10)
})
