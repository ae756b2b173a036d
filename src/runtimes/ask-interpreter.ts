/**
 * How an interpreter is asked about itself. It answers on the host, with no wall around it, so neither the current folder nor
 * our environment may influence it: a `.python-version`, `bunfig.toml` or `.env` of the current folder, `PYTHONPATH`,
 * `NODE_OPTIONS` or `LD_PRELOAD` would choose what is executed.
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

/** Version managers keep there what they have installed. From the list of users: the environment's word can be anybody's. */
function homeOfUser(): string {
  try {
    return userInfo().homedir
  } catch {
    return '/'
  }
}

/** Throws when it does not answer well. */
export async function askInterpreter(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args, surroundings())
  return stdout
}

/** The same, at once. */
export function askInterpreterNow(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { ...surroundings(), stdio: ['ignore', 'pipe', 'ignore'] })
}

/** What it says of its version. Throws when it does not. */
export async function askVersion(program: string, known?: string): Promise<string> {
  return known ?? (await askInterpreter(program, ['--version'])).split('\n')[0] ?? ''
}
