/** An interrupt may arrive between any two steps of the harness of a context, and never ends the context. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'

import { frameMessage } from '../../../src/runtimes/channel/message-frame.ts'
import { harnessFolder, python } from './guest-process.ts'

const codes = [
  '1',
  'x = [str(n) for n in range(200)]',
  'raise ValueError',
  'import asyncio\nawait asyncio.sleep(0)',
]
/** The harness creates an encoder where no exception may be raised. From now on an interrupt arrives then. */
const interruptThere = `import codecs, os, signal
info = codecs.lookup("utf-8")
create = info.incrementalencoder
def interrupt(*options):
    os.kill(os.getpid(), signal.SIGINT)
    return create(*options)
info.incrementalencoder = interrupt`

test('a context survives interrupts at any moment', async () => {
  const guest = spawn(python, ['-X', 'utf8', join(harnessFolder, 'guest.py')], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
  })
  const exited = once(guest, 'exit')
  const channel = guest.stdio[3] as Duplex
  channel.setEncoding('latin1')
  const send = async (message: object): Promise<string> => {
    let answer = ''
    channel.write(frameMessage(JSON.stringify(message)))
    while (!answer.includes('"type":"end"')) {
      const [text] = (await Promise.race([once(channel, 'data'), exited.then(() => [undefined])])) as [
        string | undefined,
      ]
      assert.ok(text !== undefined, 'the context has ended')
      answer += text
    }
    return answer
  }
  await send({ context: 'python', folder: '/tmp', resultBytes: 1000 })
  let entry = 0
  const run = (code: string) => send({ entry: entry++, code })
  for (const code of Array.from({ length: 20 }, () => codes).flat()) {
    const ended = run(code)
    for (let turn = entry % 5; turn > 0; turn--) await nextTurn()
    guest.kill('SIGINT')
    await ended
  }
  await run(interruptThere)
  assert.match(await run('x = 1'), /"name":"KeyboardInterrupt"/)
  await run('info.incrementalencoder = create')
  assert.match(await run('40 + 2'), /"value":42/)
  channel.end()
  await exited
})
