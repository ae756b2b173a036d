/** The command on a real terminal: a pseudo-terminal that Python opens, to type into and to read from. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { mainPath } from '../spawn-cli.ts'

const bridge = `import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`

export interface TerminalSession extends AsyncDisposable {
  readonly type: (keys: string) => void
  /** Waits for a match in the output since the last call, and resolves with that output up to the end of the match. */
  readonly until: (pattern: RegExp) => Promise<string>
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
}

/** Longer than anything here takes on a busy machine. */
const patienceMs = 30_000

export function openTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TerminalSession {
  const child = spawn('python3', ['-c', bridge, process.execPath, mainPath, ...args], {
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let screen = ''
  let look = () => undefined as void
  child.stdin.on('error', () => undefined)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    look()
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  void ended.then(() => look())
  return {
    type: (keys) => void child.stdin.write(keys),
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`${pattern} did not come: ${JSON.stringify(screen)}`)),
          patienceMs,
        )
        look = () => {
          const match = pattern.exec(screen)
          if (match === null && child.exitCode === null) return
          clearTimeout(late)
          look = () => undefined
          if (match === null) {
            reject(new Error(`it ended before ${pattern}: ${JSON.stringify(screen)}`))
            return
          }
          const end = match.index + match[0].length
          resolve(screen.slice(0, end))
          screen = screen.slice(end)
        }
        look()
      }),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      child.kill('SIGKILL')
      await ended
    },
  }
}
