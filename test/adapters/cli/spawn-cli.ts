import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

// The built command, as users have it. It starts twice as fast as from its sources.
export const mainPath = fileURLToPath(new URL('../../../dist/adapters/cli/main.js', import.meta.url))

export interface CliEnd {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

interface CliSurroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The uid that starts it, if not the test's. */
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
  // A command that reads nothing may end before all input has been written.
  child.stdin.on('error', () => undefined).end(input)
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { exitCode, stdout, stderr }
}
