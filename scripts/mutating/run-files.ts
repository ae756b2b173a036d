/**
 * Runs test files of the checkout that it lies in, and writes their results as JSON: `node run-files.ts <results> <files>`.
 * Copies of the checkout run their own one.
 */
import { writeFileSync } from 'node:fs'

import { planPasses } from '../testing/plan/passes.ts'
import type { PassResults } from '../testing/results.ts'
import { runPass } from '../testing/run-pass.ts'

process.chdir(`${import.meta.dirname}/../..`)
const [target = '', ...filters] = process.argv.slice(2)
const results: PassResults[] = []
for (const pass of planPasses({ run: 'daily', filters, isRoot: process.getuid?.() === 0 }))
  results.push(await runPass(pass))
writeFileSync(target, JSON.stringify(results))
