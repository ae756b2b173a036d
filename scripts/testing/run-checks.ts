/** The static checks of `npm run check`: each command counts as one test. They run before the tests, all at one time. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { noResults } from './results.ts'
import type { PassResults } from './results.ts'

export async function runChecks(): Promise<PassResults> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { check: string } }
  const commands = scripts.check.split(' && ')
  const ended = await Promise.all(
    commands.map(async (command) => {
      const startedMs = performance.now()
      const { isGood, output } = await runCommand(command)
      const ms = Math.round(performance.now() - startedMs)
      process.stdout.write(`${isGood ? '' : output}${isGood ? '✔' : '✖'} ${command} (${ms} ms)\n`)
      return { command, isGood }
    }),
  )
  const failures = ended.filter(({ isGood }) => !isGood).map(({ command }) => command)
  return { ...noResults, passed: commands.length - failures.length, failed: failures.length, failures }
}

async function runCommand(command: string): Promise<{ isGood: boolean; output: string }> {
  const env = { ...process.env, PATH: `${process.cwd()}/node_modules/.bin:${process.env['PATH']}` }
  // Its output is printed in one piece, between the lines of the others.
  const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], { stdio: ['ignore', 'pipe', 'ignore'], env })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { isGood: status === 0, output }
}
