/** The terminal that the application was started from: /dev/tty is there for terminals that a guest makes itself. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../../dist/adapters/cli/main.js', import.meta.url))
const script = '/usr/bin/script'
const skip = !existsSync(script) && 'script, of util-linux, is not installed'

/** What appears on a terminal where a shell runs this. */
function showOnTerminal(line: string): Promise<string> {
  const child = spawn(script, ['-qec', line, '/dev/null'], { stdio: ['ignore', 'pipe', 'inherit'] })
  return text(child.stdout)
}

test('a guest cannot write to the terminal of its host, which the host itself can', { skip }, async () => {
  const write = 'echo reached > /dev/tty; : 3<> /dev/tty && echo opened || echo refused'
  assert.match(await showOnTerminal(write), /^reached\s+opened\s+$/)
  const shown = await showOnTerminal(
    `'${process.execPath}' '${command}' exec --minimum restricted -- '${write}'`,
  )
  assert.doesNotMatch(shown, /reached|opened/)
  assert.match(shown, /refused/)
  // Landlock refuses it, or the guest's session has no terminal.
  assert.match(shown, /\/dev\/tty: (No such device or address|Permission denied)/)
})
