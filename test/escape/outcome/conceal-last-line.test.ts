/** Styles that a guest leaves active on the terminal, by its output, value or stack, end before Lazaret's own last line. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { mainPath } from '../../adapters/cli/spawn-cli.ts'
import { untilShown } from '../../support/patient-run.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'

const execute = promisify(execFile)
const python = findPythonWith(['pty'])?.path ?? 'python3'

const conceal = String.raw`\x1b[30;40;8;5;11mguest`
const programs = {
  'what it prints': ['-l', 'python', '-e', `print('${conceal}', end='')\nraise SystemExit(7)`],
  'what it prints, and a deadline': [
    '-l',
    'shell',
    '--timeout',
    '500ms',
    '-e',
    `printf '${conceal}'; sleep 60`,
  ],
  'its value, of which a part is missing': [
    '-l',
    'python',
    '--collect',
    'none',
    '--output-dir',
    '/tmp',
    '-e',
    `
class Concealing:
    def __repr__(self): return '${conceal}'
Concealing()`,
  ],
  'its stack': [
    '-l',
    'javascript',
    '-e',
    `const error = new Error('x'); error.stack = '${conceal}'; throw error`,
  ],
}

/** What a terminal gets for both streams, with a picture for each escape */
async function onTerminal(command: readonly string[]): Promise<string> {
  const spawn = 'import pty, sys, os; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])) and 0)'
  const { stdout } = await execute(python, ['-c', spawn, ...command], {
    env: { ...process.env, TERM: 'xterm' },
  })
  return stdout.replaceAll('\x1b', '␛')
}

const lazaret = [process.execPath, mainPath, 'run']

/** The styles of a guest that are active when the terminal gets a line of Lazaret. */
function stylesBeforeOurs(shown: string): string[] {
  return shown
    .split(/lazaret: /)
    .slice(0, -1)
    .map((before) => {
      const styles =
        before
          .split(/␛\[0?m/)
          .at(-1)
          ?.match(/␛\[[\d;:]*m/g) ?? []
      // Lazaret's own red is between the two.
      return styles.filter((style) => style !== '␛[31m').join('')
    })
}

for (const [what, flags] of Object.entries(programs)) {
  test(`on a terminal, ${what} conceals nothing`, async () => {
    const shown = await onTerminal([...lazaret, ...flags])
    assert.doesNotMatch(shown, /␛\[[\d;]*\b(?:5|8|11)[;m]/)
    assert.match(shown, /␛\[30;40mguest/)
    if (what !== 'what it prints') assert.match(shown, /lazaret: (?!warning)/)
    assert.deepEqual(
      stylesBeforeOurs(shown).filter((styles) => styles !== ''),
      [],
    )
  })
}

test('a program that shows Lazaret’s piped output conceals nothing either', async () => {
  const attempt = (timeoutMs: number) => {
    const flags = ['-l', 'shell', '--timeout', `${timeoutMs}ms`, '-e', `printf '${conceal}'; sleep 60`]
    const words = [...lazaret, ...flags].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    return onTerminal(['sh', '-c', `${words.join(' ')} | cat`])
  }
  const { seen: shown } = await untilShown(attempt, ({ seen }) => seen.includes('guest'))
  assert.match(shown, /␛\[30;40;8;5;11mguest[^]*␛\[0m[^]*lazaret: timed out/)
})
