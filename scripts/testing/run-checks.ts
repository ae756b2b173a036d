/** The static checks, as `npm run check` has them: each command of that script counts as one test. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { PassResults } from './results.ts'

export function runChecks(): PassResults {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { check: string } }
  const commands = scripts.check.split(' && ')
  const env = { ...process.env, PATH: `${process.cwd()}/node_modules/.bin:${process.env['PATH']}` }
  const isGood = commands.map((command) => {
    const startedMs = performance.now()
    const { status } = spawnSync('sh', ['-c', command], { stdio: ['ignore', 'inherit', 'inherit'], env })
    process.stdout.write(
      `${status === 0 ? '✔' : '✖'} ${command} (${Math.round(performance.now() - startedMs)} ms)\n`,
    )
    return status === 0
  })
  return { passed: isGood.filter(Boolean).length, failed: isGood.filter((good) => !good).length, skipped: [] }
}
