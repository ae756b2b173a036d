/** `lazaret/client` as a browser gets it: bundled, small, and without any part of Node. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { adaToken, serveHere } from '../http/serve-here.ts'

const compressedBytesMax = 30 * 1024

async function bundle(): Promise<string> {
  await using building = await rolldown({
    input: join(checkoutRoot, 'src/adapters/client/index.ts'),
    platform: 'browser',
    // The bundle must contain everything: a remaining import would be one of Node's.
    external: [],
    checks: { pluginTimings: false },
  })
  const { output } = await building.generate({ format: 'iife', name: 'lazaretClient', minify: true })
  assert.equal(output.length, 1)
  return output[0].code
}

/** Only the names that a page has. */
const platform = {
  ...{ fetch, URL, AbortController, AbortSignal, ReadableStream, TextDecoder, TextEncoder, crypto },
  ...{ atob, btoa, setTimeout },
}

test('it is at most 30 kB compressed, and imports no module', async (context) => {
  const code = await bundle()
  const { length } = gzipSync(code)
  context.diagnostic(`${length} bytes compressed`)
  assert.ok(length <= compressedBytesMax, `${length} bytes`)
  assert.doesNotMatch(code, /\brequire\(|\bimport\(|["'`]node:(?!os|util\/types)/)
})

test('without `process` and `Buffer`, it runs code, calls functions and transfers bytes', async () => {
  await using here = await serveHere()
  const page = createContext({ ...platform, url: here.url, token: adaToken })
  assert.equal(runInContext('typeof process + typeof Buffer', page), 'undefinedundefined')
  runInContext(await bundle(), page)
  const seen = (await runInContext(
    `(async () => {
      const lazaret = lazaretClient.connectLazaret({ url, token })
      const pieces = []
      const result = await lazaret.run({
        language: 'python',
        code: 'import sys\\nsys.stdout.buffer.write(input_data["bytes"])\\nopen("out", "wb").write(b"\\\\xff")\\nsorted(twice(input_data["set"]))',
        input: { bytes: new Uint8Array([0x80, 1]), set: new Set([1, 2]), big: 2n ** 70n, when: new Date(0), map: new Map([[1, /a/g]]) },
        collect: ['out'],
        functions: { twice: (set) => [...set].map((one) => one * 2) },
        onOutput: ({ bytes }) => void pieces.push(...bytes),
      })
      const refused = await lazaret.run({ language: 'cobol', code: '' }).catch((error) => error)
      return JSON.stringify({
        value: result.value, pieces, out: [...result.files.out], text: result.toText(),
        refused: [refused instanceof lazaretClient.LazaretError, refused.code],
      })
    })()`,
    page,
  )) as string
  assert.deepEqual(JSON.parse(seen), {
    value: [2, 4],
    pieces: [0x80, 1],
    out: [255],
    text: 'stdout: \ufffd\u0001\n\nvalue: [2, 4]',
    refused: [true, 'INVALID_REQUEST'],
  })
})
