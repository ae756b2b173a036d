/** A service may be started with a umask that gives others nothing, as `UMask=0077` of systemd does. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { mainPath } from '../../adapters/cli/spawn-cli.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'

const skip = await whyNoSandboxes()
const underMask = (...args: string[]) =>
  spawnSync('sh', ['-c', 'umask 077; exec "$0" "$@"', process.execPath, mainPath, ...args], {
    encoding: 'utf8',
    input: '6 * 7',
  })

test('sandboxes, credentials and code contexts work under any umask of the host', { skip }, () => {
  const plain = underMask('exec', '--', 'echo text > file; ls -l file | cut -c1-10')
  assert.deepEqual([plain.stdout, plain.stderr], ['-rw-r--r--\n', ''])
  const secure = underMask('exec', '--env', 'TOKEN=a1', '--', 'echo $TOKEN')
  assert.deepEqual([secure.stdout, secure.stderr], ['a1\n', ''])
  const code = underMask('repl', '-l', 'python')
  assert.deepEqual([code.stdout, code.stderr], ['42\n', ''])
})
