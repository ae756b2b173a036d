/** A caller that receives output as it arrives need not get it again in the result. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'

const lazaret = createLazaret()
after(() => lazaret.close({ graceMs: 0 }))

const programs: Readonly<Record<string, RunRequest & { readonly printed: string }>> = {
  shell: { language: 'shell', code: 'echo out; echo err >&2', printed: 'out\nerr\n' },
  bun: { language: 'javascript', code: 'console.log("out")', printed: 'out\n' },
  isolate: { language: 'javascript', runtime: 'isolate', code: 'console.log("out")', printed: 'out\n' },
  snippet: { language: 'javascript', runtime: 'snippet', code: 'emit("out")', printed: 'out' },
}

for (const [name, { printed, ...request }] of Object.entries(programs))
  test(`${name}: the result is without the output that onOutput has taken`, async () => {
    const texts: string[] = []
    const onOutput = ({ text }: { text: string }) => {
      texts.push(text)
    }
    const result = await lazaret.run({ ...request, onOutput, keepOutput: false })
    assert.deepEqual([result.stdout, result.stderr], ['', ''])
    assert.equal(texts.join(''), printed)
    assert.deepEqual(result.truncated, [])
    const { stdout, stderr } = await lazaret.run({ ...request, onOutput })
    assert.equal(stdout + stderr, printed)
  })

test('a request that would lose its output is refused', async () => {
  const request = { language: 'shell', code: 'echo a', keepOutput: false } as const
  await assert.rejects(lazaret.run(request), { code: 'INVALID_REQUEST', message: /keepOutput/ })
})
