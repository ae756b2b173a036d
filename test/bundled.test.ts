/** A program that bundles Lazaret lacks the files beside Lazaret's code. Every refusal says so. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { rolldown } from 'rolldown'
import { checkoutRoot } from './support/sources/checkout.ts'

const root = mkdtempSync(join(tmpdir(), 'lazaret-bundled-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Deep enough that every place where Lazaret looks for a missing file is in the test's own folder. */
const folder = join(root, 'a/b/c/d')
const optional = /^(isolated-vm|prom-client|@oven\/|@opentelemetry\/)/

const program = `
import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'src/index.ts'))}
const lazaret = createLazaret({ minimumProtection: 'restricted' })
const refusals = []
const ask = (work) => work.catch(({ code, hint }) => refusals.push({ code, hint }))
for (const language of ['python', 'shell']) await ask(lazaret.run({ language, code: '' }))
await ask(lazaret.run({ language: 'javascript', runtime: 'snippet', code: '' }))
for (const language of ['javascript', 'typescript']) await ask(lazaret.run({ language, runtime: 'node', code: '' }))
await ask(lazaret.sandbox())
await lazaret.close()
console.log(JSON.stringify(refusals))`

test('a bundle that contains lazaret gets an error that says to exclude it', async () => {
  mkdirSync(folder, { recursive: true })
  await using building = await rolldown({
    input: 'program',
    platform: 'node',
    external: optional,
    checks: { pluginTimings: false },
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? join(checkoutRoot, 'program.ts') : null),
        load: (id) => (id === join(checkoutRoot, 'program.ts') ? program : null),
      },
    ],
  })
  await building.write({ dir: folder, format: 'esm', entryFileNames: 'program.mjs' })
  const printed = execFileSync(process.execPath, [join(folder, 'program.mjs')], { encoding: 'utf8' })
  const refusals = JSON.parse(printed) as { readonly code: string; readonly hint: string }[]
  assert.deepEqual(
    refusals.map(({ code }) => code),
    [
      ...['RUNTIME_UNAVAILABLE', 'JAIL_UNAVAILABLE', 'RUNTIME_UNAVAILABLE'],
      ...['RUNTIME_UNAVAILABLE', 'RUNTIME_UNAVAILABLE', 'JAIL_UNAVAILABLE'],
    ],
  )
  for (const { hint } of refusals) assert.match(hint, /^If your program is bundled.*`--external:lazaret`/)
})
