/** Pictures arrive as image content. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '../../../src/core/limits.ts'
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { clientKinds, connect } from './connect.ts'

const python = findPythonWith(['matplotlib'])
const { lazaret } = await useLazaret(python === null ? {} : { toolchains: { python: python.path } })
const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
/** One transparent pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

test('a displayed picture is a picture for every client, and a forged one is not', async () => {
  await using service = await serveOverHttp({ host, port: 0 })
  const code = `
import base64
class Picture:
    def __init__(self, data): self.data = data
    def _repr_png_(self): return self.data
display(Picture(base64.b64decode("${pixel}")))
display(Picture(b"no picture"))
print("shown")`
  for (const kind of clientKinds) {
    await using connection = await connect(kind, service)
    const { content, isError } = await connection.execute({ language: 'python', code })
    assert.notEqual(isError, true, content[0]?.text)
    assert.deepEqual(
      content.filter(({ type }) => type === 'image'),
      [{ type: 'image', mimeType: 'image/png', data: pixel }],
    )
    assert.match(content[0]?.text ?? '', /^stdout: shown/)
  }
})

const skip = python === null && 'no Python with matplotlib here'
test('a figure of matplotlib is a picture', { skip }, async () => {
  await using service = await serveOverHttp({ host, port: 0 })
  await using connection = await connect('modern', service)
  const code = 'import matplotlib.pyplot as plt\nplt.plot(input_data)\nplt.show()'
  const { content } = await connection.execute({ language: 'python', code, input: [1, 4, 9] })
  const picture = content.find(({ type }) => type === 'image')
  assert.equal(picture?.mimeType, 'image/png')
  assert.ok((picture?.data ?? '').length > 5000)
})
