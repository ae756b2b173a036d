/** import() of files of the host, URLs, files of /proc, and code in the specifier. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const specifiers = [
  'file:///etc/shadow',
  // Not package.json, because engines read the one of this package to find out the type of their program.
  `file://${process.cwd()}/tsconfig.json`,
  `${process.cwd()}/src/index.ts`,
  `/proc/${process.pid}/cwd/package.json`,
  '/proc/1/root/etc/passwd',
  '/proc/1/environ',
  'http://169.254.169.254/latest/meta-data/',
  'https://example.com/x.js',
  'npm:left-pad',
  'jsr:@std/path',
  'lodash',
  'left-pad',
  '../../../../../etc/shadow',
  'node:../../etc/shadow',
  'blob:null/1',
]

const code = `
  const reached = []
  for (const one of input) for (const how of [() => import(one), () => import(one, { with: { type: 'json' } }), () => import(one, { with: { type: 'text' } })]) {
    try { reached.push([one, JSON.stringify(await how()).slice(0, 60)]) } catch {}
  }
  const { text } = await import('data:text/javascript,export const text = typeof process')
  console.log(JSON.stringify(reached), text)`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: import() finds no file of the host and nothing on a network`, async () => {
    const { outcome, stdout, stderr } = await guests.run({
      ...runtime,
      code,
      input: specifiers,
      limits: { wallMs: ampleMs },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, '[] object\n')
  })
}
