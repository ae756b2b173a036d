/**
 * The static checks of `npm run check`: each command counts as one test. They run during the tests, at a lower
 * priority.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { PassResults } from './results.ts'

export async function runChecks(): Promise<PassResults> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { check: string } }
  let passed = 0
  const failures: string[] = []
  // One after another: each of them uses all processors.
  for (const command of scripts.check.split(' && ')) {
    const startedMs = performance.now()
    const { isGood, output } = await runCommand(command)
    if (isGood) passed++
    else failures.push(command)
    const ms = Math.round(performance.now() - startedMs)
    process.stdout.write(`${isGood ? '' : output}${isGood ? '✔' : '✖'} ${command} (${ms} ms)\n`)
  }
  return {
    passed,
    failed: failures.length,
    skipped: [],
    failures,
    reasons: {},
    unsteady: [],
    files: [],
    processorMs: 0,
  }
}

async function runCommand(command: string): Promise<{ isGood: boolean; output: string }> {
  const env = { ...process.env, PATH: `${process.cwd()}/node_modules/.bin:${process.env['PATH']}` }
  // Its output is printed in one piece, between the lines of the tests.
  const words = ['-n', '10', 'sh', '-c', `exec 2>&1; ${command}`]
  const child = spawn('nice', words, { stdio: ['ignore', 'pipe', 'ignore'], env })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { isGood: status === 0, output }
}
