/**
 * Runs an interpreter to ask for its version. It runs on the host, outside of any cell, so neither the current folder
 * nor our environment may influence it: a `.python-version`, `bunfig.toml` or `.env` of the current folder,
 * `PYTHONPATH`, `NODE_OPTIONS` or `LD_PRELOAD` would choose what is executed.
 */
import { execFile, execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'

const answerMs = 10_000
const answerBytesMax = 64 * 1024
const execute = promisify(execFile)

/** The folders of the system, where the scripts of version managers find their shell. */
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

function surroundings() {
  return {
    cwd: '/',
    env: { PATH: path, HOME: homeOfUser(), LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: answerMs,
    killSignal: 'SIGKILL',
    maxBuffer: answerBytesMax,
  } as const
}

/**
 * Version managers keep their installations there. It comes from the list of users, because anybody may have set the
 * environment.
 */
function homeOfUser(): string {
  try {
    return userInfo().homedir
  } catch {
    return '/'
  }
}

/** Throws if it fails. */
export async function askInterpreter(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args, surroundings())
  return stdout
}

/** The same, synchronously. */
export function askInterpreterNow(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { ...surroundings(), stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Its version. Throws if it reports none. */
export async function askVersion(program: string, known?: string): Promise<string> {
  return known ?? (await askInterpreter(program, ['--version'])).split('\n')[0] ?? ''
}
