/** Long scripts in each language: every entry has its expected result, and three repetitions have the same results. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { javascriptScript } from './javascript-script.ts'
import { playScript } from './play-script.ts'
import { pythonScript } from './python-script.ts'
import { typescriptScript } from './typescript-script.ts'
import { describeContexts } from './use-contexts.ts'

const scripts = { python: pythonScript, javascript: javascriptScript, typescript: typescriptScript } as const

await describeContexts((sandbox) => {
  for (const language of ['python', 'javascript', 'typescript'] as const)
    test(`a script in ${language}, of at least 60 entries, gives the same result three times`, async () => {
      const script = scripts[language]
      assert.ok(script.length >= 60)
      const first = await playScript(sandbox, language, script)
      for (let times = 1; times < 3; times++)
        assert.deepEqual(await playScript(sandbox, language, script), first)
    })
})
