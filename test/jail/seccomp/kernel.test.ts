import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { after, before, describe, it } from 'node:test'

import { architectures } from '../../../src/jail/seccomp/architectures.ts'
import { planRules } from '../../../src/jail/seccomp/policy.ts'
import type { SeccompOptions } from '../../../src/jail/seccomp/policy.ts'
import { refusalErrno } from '../../../src/jail/seccomp/syscall-rule.ts'
import { FilteredCommands, architecture, reasonToSkip } from './filtered-command.ts'
import { everySituation, numberOf } from './situations.ts'

const clone = 'clone'
const sigchld = 17
const efault = 14
const ebadf = 9

describe('the running kernel, under the filter,', { skip: reasonToSkip() }, () => {
  let commands: FilteredCommands
  let trySyscalls: string

  before(() => {
    commands = new FilteredCommands()
    trySyscalls = commands.compile('try-syscalls')
  })
  after(() => commands[Symbol.dispose]())

  /** The errno of each call, in order. A call is a number and its arguments; missing ones are -1. */
  async function errnosOf(
    options: Omit<SeccompOptions, 'architecture'>,
    calls: readonly (readonly (number | bigint)[])[],
  ): Promise<readonly number[]> {
    const { stdout, stderr, exitCode, signal } = await commands.run(options, [
      trySyscalls,
      ...calls.map((call) => call.map((value) => BigInt.asUintN(64, BigInt(value))).join(',')),
    ])
    assert.deepEqual({ stderr, exitCode, signal }, { stderr: '', exitCode: 0, signal: null })
    return stdout.trim().split('\n').map(Number)
  }

  it('refuses every call of the tables with the errno that its rule names', async () => {
    for (const situation of everySituation(architecture)) {
      const rules = planRules(situation).filter(
        ({ numbers, tests }) => numbers[architecture] !== undefined && tests === undefined,
      )
      const errnos = await errnosOf(
        situation,
        rules.map(({ numbers }) => [numbers[architecture] ?? -1]),
      )
      assert.deepEqual(
        rules.map(({ name }, index) => [name, errnos[index]]),
        rules.map(({ name, action }) => [name, refusalErrno[action]]),
      )
    }
  })

  it('refuses calls for what their arguments say, and lets the rest through', async () => {
    const call = (name: string) => numberOf(name, architecture)
    const cases: readonly [errno: number, name: string, ...values: (number | bigint)[]][] = [
      [0, clone, sigchld, 0, 0, 0, 0],
      [1, clone, 0x10000000 | sigchld, 0, 0, 0, 0],
      [1, clone, 0x20000 | sigchld, 0, 0, 0, 0],
      [1, clone, 0x100000000n | 0x40000000n, 0, 0, 0, 0],
      [25, 'ioctl', -1, 0x5412],
      [25, 'ioctl', -1, 0x100005412n],
      [25, 'ioctl', -1, 0x541c],
      [25, 'ioctl', -1, 0x5423],
      [ebadf, 'ioctl', -1, 0x5413],
      [0, 'socket', 1, 1, 0],
      [0, 'socket', 2, 1, 0],
      [0, 'socket', 2, 2, 17],
      [0, 'socket', 16, 3, 0],
      [97, 'socket', 16, 3, 9], // NETLINK_AUDIT
      [97, 'socket', 17, 3, 0], // AF_PACKET
      [97, 'socket', 38, 5, 0], // AF_ALG
      [97, 'socket', 40, 1, 0], // AF_VSOCK
      [1, 'socket', 2, 3, 1],
      [1, 'socket', 2, 10, 0],
      [93, 'socket', 2, 1, 132], // SCTP
      [efault, 'socketpair', 1, 1, 0, -1],
      [97, 'socketpair', 30, 1, 0, -1], // AF_TIPC
      [0, 'prlimit64', 0, 7, 0, 0],
      [0, 'prlimit64', 0x100000000n, 7, 0, 0],
      [1, 'prlimit64', 1, 7, 0, 0],
      [0, 'personality', 0xffffffff],
      [0, 'personality', 0],
      [1, 'personality', 0x0040000],
      [22, 'seccomp', 1, 0, -1],
      [22, 'seccomp', 1, 8, -1],
      [efault, 'seccomp', 2, 0, -1],
      [0, 'mmap', 0, 4096, 3, 0x21, -1, 0],
      [0, 'mmap', 0, 4096, 7, 0x22, -1, 0], // private, writable and executable, as JITs ask for
    ]
    const errnos = await errnosOf(
      { memoryHeldByCgroup: true },
      cases.map(([, name, ...values]) => [call(name), ...values]),
    )
    assert.deepEqual(
      cases.map(([, ...rest], index) => [errnos[index], ...rest]),
      cases,
    )
  })

  it('allows no memory that nothing counts', async () => {
    const mmap = numberOf('mmap', architecture)
    const calls = [0x21, 0x23, 0x22].map((flags) => [mmap, 0, 4096, 3, flags, -1, 0])
    assert.deepEqual(await errnosOf({ memoryHeldByCgroup: false }, calls), [1, 1, 0])
  })

  it('starts no process where processes are not allowed', async () => {
    const calls = [[numberOf(clone, architecture), sigchld, 0, 0, 0, 0]]
    if (architecture === 'x64') calls.push([numberOf('fork', 'x64')], [numberOf('vfork', 'x64')])
    const errnos = await errnosOf({ memoryHeldByCgroup: true, canSpawn: false }, calls)
    assert.deepEqual(
      errnos,
      calls.map(() => 1),
    )
  })

  it('prevents access to other processes and the internet where guests share the host’s namespaces', async () => {
    const options = { memoryHeldByCgroup: false, sharesHost: { network: false, owner: true } }
    const calls = [
      [numberOf('socket', architecture), 2, 1, 0],
      [numberOf('socket', architecture), 1, 1, 0],
      [numberOf('setpriority', architecture), 0, process.pid, 0],
      [numberOf('setpriority', architecture), 0, 0, Math.max(5, getPriority())],
      [numberOf('sched_setaffinity', architecture), process.pid, 8],
      [numberOf('ioprio_set', architecture), 1, process.pid, 0],
    ]
    assert.deepEqual(await errnosOf(options, calls), [97, 97, 1, 0, 1, 1])
  })

  it('does not know calls above the newest reviewed one, nor those in the holes', async () => {
    const { newestReviewed, unassigned } = architectures[architecture]
    const calls = [newestReviewed + 1, newestReviewed + 2, 512, 547, 0x40000000 + 39, ...unassigned.flat()]
    const errnos = await errnosOf(
      { memoryHeldByCgroup: true },
      calls.map((number) => [number]),
    )
    assert.deepEqual(
      errnos,
      calls.map(() => 38),
    )
  })

  it('kills a process that calls through the 32-bit gate', async (context) => {
    const gate = [trySyscalls, 'int80']
    const { stdout } = await commands.runUnfiltered(gate)
    if (stdout !== '1\n') return context.skip('this kernel has no 32-bit gate')
    const { signal, stdout: printed } = await commands.run({ memoryHeldByCgroup: true }, gate)
    assert.deepEqual({ signal, printed }, { signal: 'SIGSYS', printed: '' })
  })
})
