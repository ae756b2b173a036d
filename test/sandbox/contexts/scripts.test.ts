/** Long scripts in each language: every entry is held against what is expected, and twice the same comes of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { javascriptScript, typescriptScript } from './javascript-script.ts'
import { playScript } from './play-script.ts'
import { pythonScript } from './python-script.ts'
import { describeContexts } from './use-contexts.ts'

const scripts = { python: pythonScript, javascript: javascriptScript, typescript: typescriptScript } as const

await describeContexts((sandbox) => {
  for (const language of ['python', 'javascript', 'typescript'] as const)
    test(`a script in ${language}, played twice, comes to the same`, async () => {
      const first = await playScript(sandbox, language, scripts[language])
      assert.deepEqual(await playScript(sandbox, language, scripts[language]), first)
    })
})
