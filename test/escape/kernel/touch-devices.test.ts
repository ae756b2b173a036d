/** Changing times, modes and owners of the host's device nodes: write permission for /dev/null is enough to touch it. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'

import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)

const code = `
import errno, os
answers = set()
for path in input_data:
    for change in (lambda: os.utime(path), lambda: os.chmod(path, 0o666), lambda: os.chown(path, -1, -1)):
        try: change(); answers.add('changed')
        except OSError as error: answers.add(errno.errorcode[error.errno])
sorted(answers)`

function describe(path: string): string {
  const { mtimeNs, ctimeNs, mode, uid, gid } = statSync(path, { bigint: true })
  return [path, mtimeNs, ctimeNs, mode, uid, gid].join(' ')
}

test('a guest changes nothing of a device node', async (t) => {
  if (guests.level === 'restricted') return t.skip('without mounts of its own a guest has the host’s nodes')
  const before = devices.map(describe)
  const { value, stderr } = await guests.run({ ...python, code, input: devices })
  assert.deepEqual(value, ['EROFS'], stderr)
  assert.deepEqual(devices.map(describe), before)
})

test('devices are read and written to in every usual way', async () => {
  const commands = [
    'echo lost > /dev/null',
    'echo lost >> /dev/null',
    'true < /dev/null',
    'cat /dev/null > /dev/null 2>&1',
    `python3 -c "open('/dev/null', 'w').write('lost'); open('/dev/null', 'wb+').close()" || command -v python3 > /dev/null || true`,
    'cp /bin/sh /dev/null',
    'test "$(head -c 4 /dev/zero | wc -c)" = 4',
    'test "$(head -c 4 /dev/urandom | wc -c)" = 4',
    '! echo lost > /dev/full',
  ]
  const { stdout, stderr } = await guests.run({
    ...shell,
    code: `set -e\n${commands.join('\n')}\necho whole`,
  })
  assert.equal(stdout, 'whole\n', stderr)
})
