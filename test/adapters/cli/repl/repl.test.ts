/** `lazaret repl` as people use it: at a terminal, and with code piped in. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

import { whyNoSandboxes } from '../../../support/sandboxes-here.ts'
import { runCli } from '../spawn-cli.ts'
import { openTerminal } from './terminal-session.ts'
import type { TerminalSession } from './terminal-session.ts'

const skip = await whyNoSandboxes()
const state = mkdtempSync(join(tmpdir(), 'repl-'))
after(() => rmSync(state, { recursive: true, force: true }))
const env = { XDG_STATE_HOME: state }
const history = (language: string) => join(state, 'lazaret', `repl-${language}.history`)
/** A prompt with the cursor after it. */
// oxlint-disable-next-line no-control-regex -- the line editor writes it
const next = />>> \x1b\[5G$/
// oxlint-disable-next-line no-control-regex -- as above.
const more = /\.\.\. \x1b\[5G$/
// oxlint-disable-next-line no-control-regex -- as above.
const nextOfScript = /(?<!>)> \x1b\[3G$/

/** A REPL at its first prompt. */
async function openRepl(args: readonly string[], prompt = next): Promise<TerminalSession> {
  const terminal = openTerminal(['repl', ...args], env)
  try {
    await terminal.until(prompt)
    return terminal
  } catch (error) {
    await terminal[Symbol.asyncDispose]()
    throw error
  }
}

test('piped code runs as one piece, and its outcome determines the exit code', { skip }, async () => {
  const good = await runCli(['repl', '-l', 'python'], { input: 'rows = [1, 2]\nprint("rows")\nsum(rows)\n' })
  assert.deepEqual(good, { exitCode: 0, stdout: 'rows\n3\n', stderr: '' })
  const bad = await runCli(['repl'], { input: '1 / 0\n' })
  assert.deepEqual([bad.exitCode, bad.stdout], [1, ''])
  assert.match(bad.stderr, /ZeroDivisionError/)
  const script = { input: 'const n: number = 6\nn * 7' }
  assert.equal((await runCli(['repl', '-l', 'typescript'], script)).stdout, '42\n')
  const late = await runCli(['repl', '--timeout', '300ms'], { input: 'while True: pass' })
  assert.equal(late.exitCode, 124, late.stderr)
  const nobody = await runCli(['repl'], { input: 'input("name? ")' })
  assert.match(nobody.stderr, /nobody answers input\(\) here/)
})

test(
  'python at a terminal: state, blocks, values, errors, Ctrl-C, input() and the end',
  { skip },
  async () => {
    await using terminal = await openRepl(['-l', 'python'])
    const { type, until } = terminal
    type('x = 20\r')
    await until(next)
    type('def f(n):\r')
    await until(more)
    type('    return n + x\r')
    await until(more)
    type('\r')
    await until(next)
    type('f(22)\r')
    assert.match(await until(next), /\n42\r\n/)
    type('1 / 0\r')
    assert.match(await until(next), /ZeroDivisionError/)
    type('print("goes", "on"); __import__("time").sleep(1000)\r')
    await until(/goes on/)
    type('\x03')
    assert.match(await until(next), /KeyboardInterrupt[^]*still there/)
    type('half of a line\x03')
    await until(next)
    type('input("na\\x1b[2Jme? ") + str(x)\r')
    await until(/na \[2Jme\? /)
    type('secret answer\r')
    assert.match(await until(next), /'secret answer20'/)
    type('.restart\r')
    await until(next)
    type('x\r')
    assert.match(await until(next), /NameError/)
    type('\x04')
    assert.equal(await terminal.ended, 0)
    const historyText = readFileSync(history('python'), 'utf8')
    assert.match(historyText, /^x = 20\ndef f\(n\):\n/)
    assert.doesNotMatch(historyText, /secret answer|return n/)
    assert.equal(statSync(history('python')).mode & 0o777, 0o600)
  },
)

test('exit() and quit() of Python leave', { skip }, async () => {
  for (const leave of ['exit()', ' quit() ']) {
    await using terminal = await openRepl(['-l', 'python', '--no-history'])
    terminal.type(`${leave}\r`)
    await assert.rejects(terminal.until(next), /it ended before/)
    assert.equal(await terminal.ended, 0)
  }
})

test('output, values and names of a guest cannot control the terminal', { skip }, async () => {
  await using terminal = await openRepl(['--no-history'])
  const { type, until } = terminal
  const evil = '\\x1b]0;owned\\x07\\x1b[2J\\x9b2J'
  for (const code of [
    `print("${evil}")`,
    `print("${evil}", file=__import__("sys").stderr)`,
    `display({"text/plain": "${evil}"}, raw=True)`,
    `type("Odd", (), {"__repr__": lambda self: "${evil}"})()`,
    `raise RuntimeError("${evil}")`,
    `display({"${evil}": "x"}, raw=True)`,
  ]) {
    type(`${code}\r`)
    const shown = await until(next)
    // oxlint-disable-next-line no-control-regex -- what must not be there; the line editor writes the rest
    assert.doesNotMatch(shown, /\x1b\]|\x1b\[2J|\x9b|\x07/, code)
  }
  type(
    'display.__globals__["load"]("complete").complete = lambda *_: ["\\x1b]0;x\\x07", "xa", "x\\x1b[2J"]\r',
  )
  await until(next)
  type('x\t')
  // oxlint-disable-next-line no-control-regex -- as above.
  assert.doesNotMatch(await until(/xa/), /\x1b\]|\x1b\[2J/)
  type('\x03')
  await until(next)
  type('.exit\r')
  assert.equal(await terminal.ended, 0)
})

test('Tab completes names of the context, and indents an empty line', { skip }, async () => {
  await using terminal = await openRepl(['--no-history'])
  const { type, until } = terminal
  type('rows_of_data = [3, 4]\r')
  await until(next)
  type('rows_\t')
  await until(/rows_of_data/)
  type('.cou\t')
  await until(/count/)
  type('(4)\r')
  assert.match(await until(next), /\n1\r\n/)
  type('if True:\r')
  await until(more)
  type('\tprint("ind" + "ented")\r')
  await until(more)
  type('\r')
  assert.match(await until(next), /indented/)
})

test('javascript at a terminal: several lines, values, and Ctrl-C in a loop', { skip }, async () => {
  await using terminal = await openRepl(['-l', 'javascript'], nextOfScript)
  const { type, until } = terminal
  type('function add(a, b) {\r')
  await until(more)
  type('\r')
  await until(more)
  type('return a + b }; let kept = add(40, 2)\r')
  await until(nextOfScript)
  type('kept\r')
  assert.match(await until(nextOfScript), /\n42\r\n/)
  type('console.log("en" + "dless"); for (;;);\r')
  await until(/endless/)
  type('\x03')
  assert.match(await until(nextOfScript), /still there/)
  type('kept + 1\r')
  assert.match(await until(nextOfScript), /\n43\r\n/)
  type('\x04')
  assert.equal(await terminal.ended, 0)
})

test('a picture is shown with the protocol of the terminal, or its name is printed', { skip }, async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const code = `display({"image/png": "${png}"}, raw=True)\r`
  // oxlint-disable-next-line no-control-regex -- the sequence itself.
  const kitty = /\x1b_Ga=T,f=100,m=0;(?<data>[A-Za-z0-9+/=]+)\x1b\\/
  const shown: [Record<string, string>, RegExp][] = [
    [{ KITTY_WINDOW_ID: '1' }, kitty],
    [{ TERM_PROGRAM: 'WezTerm' }, /\]1337;File=inline=1:[A-Za-z0-9+/=]+/],
    [{ KITTY_WINDOW_ID: '1', TERM: 'screen-256color' }, /\[image\/png, /],
    [{}, /\[image\/png, /],
  ]
  const usual = { KITTY_WINDOW_ID: undefined, TERM_PROGRAM: undefined } as unknown as Record<string, string>
  for (const [named, expected] of shown) {
    await using terminal = openTerminal(['repl', '--no-history'], { ...env, ...usual, ...named })
    await terminal.until(next)
    terminal.type(code)
    await terminal.until(expected)
  }
})

test('history lines with control sequences are dropped, and a link is not followed', { skip }, async () => {
  const path = history('python')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  const lines = 'print("from " + "before")\nprint("\x1b]0;owned\x07")\n'
  writeFileSync(path, lines, { mode: 0o600 })
  await using terminal = await openRepl([])
  terminal.type('\x1b[A\r')
  assert.match(await terminal.until(/\r\nfrom before/), /from " \+ "before/)
  const elsewhere = join(state, 'elsewhere')
  writeFileSync(elsewhere, lines)
  rmSync(path)
  symlinkSync(elsewhere, path)
  await using second = await openRepl([])
  second.type('\x1b[A7 * 6\r')
  assert.match(await second.until(next), /\n42\r\n/)
  assert.equal(readFileSync(elsewhere, 'utf8'), lines)
})
