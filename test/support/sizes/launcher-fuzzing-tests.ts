/** The same tests in several sizes: new inputs for the launcher's parsers, if clang and its runtime are installed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { buildTargets, findObstacle } from '../../../scripts/fuzzing/build-targets.ts'
import { writeInputs } from '../../../scripts/fuzzing/corpus.ts'
import { runTarget } from '../../../scripts/fuzzing/run-target.ts'
import { targets } from '../../../scripts/fuzzing/targets.ts'

/** The caller removes `folder`. */
export function testLauncherFuzzing(seconds: number, folder: string): void {
  describe(`new inputs, for ${seconds} s a target,`, { skip: findObstacle('fuzz') ?? false }, () => {
    const programs = buildTargets('fuzz', targets, folder)
    for (const target of targets) {
      test(`break nothing in ${target.name}`, async (context) => {
        const corpus = join(folder, 'new', target.name)
        writeInputs(target.name, corpus)
        const lines: string[] = []
        const result = await runTarget(programs.get(target.name) ?? '', target, {
          seconds,
          corpus,
          findingsFolder: join(folder, 'findings'),
          onProgress: (line) => lines.push(line),
        })
        const shown = result.findings.map((file) => {
          const isFile = file.startsWith('/')
          return `${file}: ${isFile ? readFileSync(file).toString('base64') : ''}`
        })
        assert.deepEqual(shown, [], lines.at(-1))
        assert.ok(result.executions > 0)
        context.diagnostic(
          `${result.executions} executions, ${result.executionsPerSecond} a second, ${result.edges} edges`,
        )
      })
    }
  })
}
