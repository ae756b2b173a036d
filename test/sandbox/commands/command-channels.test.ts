/** A command of a sandbox with its own channel calls functions of the host through it, in either space. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import type { HostFunction } from '../../../src/core/request.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import type { Space } from '../../../src/jail/cell/sandbox-cell.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { Channel } from '../../../src/runtimes/channel/channel.ts'
import { FunctionCalls } from '../../../src/runtimes/functions/function-calls.ts'
import { HostBudget } from '../../../src/runtimes/channel/host-budget.ts'
import { Command } from '../../../src/sandbox/commands/command.ts'
import { Spaces } from '../../../src/sandbox/spaces.ts'
import { guestPython } from '../../support/channel-cell.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { ampleMs } from '../../support/patient-run.ts'

const limits = { ...defaultLimits, resultBytes: 8 * 1024 * 1024 }

const caller = `
import json, os
def send(message):
    data = json.dumps(message).encode()
    data = len(data).to_bytes(4, 'little') + data
    while data: data = data[os.write(3, data):]
def take(count):
    pieces = b''
    while len(pieces) < count:
        piece = os.read(3, count - len(pieces))
        if not piece: raise EOFError
        pieces += piece
    return pieces
calls = iter(range(1000))
def call(name, *args):
    send({'type': 'call', 'id': next(calls), 'name': name, 'args': args})
    return json.loads(take(int.from_bytes(take(4), 'little')))
`

interface Talk {
  readonly command: Command
  readonly channel: Channel
}

describe('a command of a sandbox with its own channel', () => {
  const leaks = new LeakCheck()
  let machine: Machine
  let spaces: Spaces

  before(async () => {
    await leaks.takeBaseline()
    machine = new Machine({ uidRange: defaultUidRange })
    const wall = { machine, minimum: 'restricted', onRefusal: () => undefined } as const
    const shape = { binds: [], network: 'none', diskBytes: limits.diskBytes, isSandbox: true } as const
    const own = { network: 'none', packages: {}, shell: '/bin/bash' } as const
    spaces = await Spaces.open({ wall, clock: systemClock, shape, limits, ...own })
  })

  after(async () => {
    await spaces[Symbol.asyncDispose]()
    await machine[Symbol.asyncDispose]()
    await leaks.checkDisposed()
  })

  function start(space: Space, code: string, functions: Record<string, HostFunction>): Talk {
    const command = new Command({
      space,
      clock: systemClock,
      limits,
      spec: {
        ...spaces.commonSpec(space),
        file: guestPython,
        argv: ['python3', '-I', '-S', '-c', `${caller}\n${code}`],
        env: {},
        folder: '/',
        channel: 'own',
      },
    })
    const stream = command.channel
    assert.ok(stream !== null)
    const budget = new HostBudget(systemClock, limits.hostMs)
    const calls = new FunctionCalls({ functions, limits, clock: systemClock, budget, stream })
    const listener = { elapsed: () => 0, onFlood: () => undefined, onEnd: () => undefined, budget, calls }
    command.begin({ timeoutMs: ampleMs })
    return { command, channel: new Channel(stream, limits, listener) }
  }

  async function end({ command, channel }: Talk): Promise<string> {
    const { stdout, stderr, outcome } = await command.ended
    await channel.drain(systemClock)
    assert.deepEqual([outcome, stderr], [{ kind: 'completed', exitCode: 0 }, ''])
    await channel.ended
    return stdout
  }

  const add = (one: unknown, other: unknown) => Number(one) + Number(other)

  it('calls its functions over it, next to a command with other functions', async () => {
    const code = `for number in range(100): assert call('add', number, 1) == {'type': 'return', 'id': number, 'value': NUMBER}
print(call('other')['type'])`
    const talks = [
      start(spaces.user, code.replace('NUMBER', 'number + 1'), { add }),
      start(spaces.user, code.replace('NUMBER', 'number + 2'), {
        add: (one, other) => add(one, other) + 1,
        other: () => null,
      }),
    ]
    assert.deepEqual(await Promise.all(talks.map(end)), ['throw\n', 'return\n'])
  })

  it('gets large answers completely, and its value arrives', async () => {
    const large = 'x'.repeat(4 * 1024 * 1024)
    const talk = start(
      spaces.user,
      `
value = call('large', 'y' * ${large.length})['value']
send({'type': 'value', 'value': len(value), 'text': '', 'truncated': False})
print(set(value))`,
      {
        large: (argument) => {
          assert.equal((argument as string).length, large.length)
          return large
        },
      },
    )
    assert.equal(await end(talk), "{'x'}\n")
    assert.equal(talk.channel.claims.value?.live, large.length)
  })

  it('also works next to commands with credentials', async () => {
    const space = await spaces.takeSecure()
    try {
      assert.equal(await end(start(space, "print(call('add', 1, 2)['value'])", { add })), '3\n')
    } finally {
      await space.clean()
    }
  })
})
