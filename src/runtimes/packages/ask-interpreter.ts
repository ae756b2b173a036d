/**
 * Runs an interpreter to query its version. It runs on the host, outside of any cell, so neither the current folder nor
 * Lazaret's environment may influence it. Otherwise a `.python-version`, `bunfig.toml` or `.env` in the current folder,
 * `PYTHONPATH`, `NODE_OPTIONS` or `LD_PRELOAD` could choose what is executed.
 */
import { execFile, execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'

const answerMs = 10_000
const answerBytesMax = 64 * 1024
const execute = promisify(execFile)

/** The system's folders, in which the scripts of version managers find their shell. */
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
 * The home folder, in which version managers keep their installations. It is read from the user database, because `HOME`
 * may have been set by anybody.
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

/** The version that a program reports. Throws if it fails. */
export async function askVersion(program: string, known?: string): Promise<string> {
  return known ?? (await askInterpreter(program, ['--version'])).split('\n')[0] ?? ''
}
