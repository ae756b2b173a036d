import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

// Built, as users have it, and in half the time that Node needs to start it from its sources.
export const mainPath = fileURLToPath(new URL('../../../dist/adapters/cli/main.js', import.meta.url))

export interface CliEnd {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

interface CliSurroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Who starts it, where that is not who tests it. */
  readonly uid?: number
  readonly gid?: number
}

/** The command as a process, with pipes for all three streams. */
export function spawnCli(
  args: readonly string[],
  { env, ...surroundings }: CliSurroundings = {},
): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawn(process.execPath, [mainPath, ...args], {
    ...surroundings,
    env: { ...process.env, ...env },
    stdio: 'pipe',
  })
}

/** Runs the command to its end, with `input` as its standard input. */
export async function runCli(
  args: readonly string[],
  { input = '', ...surroundings }: CliSurroundings & { readonly input?: string } = {},
): Promise<CliEnd> {
  const child = spawnCli(args, surroundings)
  // A command that reads nothing may be gone before all of it is written.
  child.stdin.on('error', () => undefined).end(input)
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { exitCode, stdout, stderr }
}
