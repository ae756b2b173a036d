/** Ignore rules against names that a guest has chosen to defeat them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'
import { parsePattern } from '../../../src/runtimes/collect/pattern.ts'
import { parseIgnore } from '../../../src/sandbox/files/ignore-rules.ts'

const processorMsMax = 1000

test('a thousand files in the deepest folder of the longest names take a millisecond each at most', () => {
  const isIgnored = parseIgnore(['**/a*a*a*a*a*a*b', 'node_modules', 'build/*.map'])
  const folders = Array.from({ length: 63 }, () => 'a'.repeat(63))
  const paths = [
    ...folders.map((_, index) => folders.slice(0, index + 1).join('/')),
    ...Array.from({ length: 1000 }, (_, index) => [...folders, `${'a'.repeat(50)}${index}`].join('/')),
  ]
  const before = process.cpuUsage()
  for (const path of paths) assert.equal(isIgnored(path), false)
  const { user } = process.cpuUsage(before)
  assert.ok(user < processorMsMax * 1000, `${user / 1000} ms`)
})

test('in any order of paths, a rule leaves out a name, a path, or everything below a folder', () => {
  const name = fc.constantFrom('a', 'b', 'log', 'x')
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
  const rule = fc.constantFrom('a', 'lo?', 'a/b', '**/x/log', 'b/**')
  fc.assert(
    fc.property(fc.array(path), fc.array(rule, { maxLength: 3 }), (paths, rules) => {
      const isIgnored = parseIgnore(rules)
      const matches = (one: string) =>
        rules.some((text) =>
          parsePattern(text).some((pattern) =>
            pattern.matches(text.includes('/') ? one : (one.split('/').at(-1) ?? '')),
          ),
        )
      for (const one of paths) {
        const names = one.split('/')
        const expected = names.some((_, index) => matches(names.slice(0, index + 1).join('/')))
        assert.equal(isIgnored(one), expected, `${one} by ${rules.join(' ')}`)
      }
    }),
  )
})
