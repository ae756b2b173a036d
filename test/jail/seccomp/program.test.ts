import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import fc from '../../support/fast-check.ts'

import { architectures } from '../../../src/jail/seccomp/architectures.ts'
import { conditionalJumpMax, encode, ifEqual, skip } from '../../../src/jail/seccomp/instruction.ts'
import { planRules } from '../../../src/jail/seccomp/policy.ts'
import type { SeccompOptions } from '../../../src/jail/seccomp/policy.ts'
import { seccompProgram } from '../../../src/jail/seccomp/program.ts'
import { refusalErrno } from '../../../src/jail/seccomp/syscall-rule.ts'
import { instructionBytes, runFilter } from './bpf-interpreter.ts'
import { expectedAnswer } from './expected-answer.ts'
import { architecturesTested, everySituation, numberOf } from './situations.ts'

const allowed = 0x7fff0000
const killed = 0x80000000
const errno = (value: number) => 0x00050000 | value

const i386 = 0x40000003
const arm = 0x40000028
const x32Bit = 0x40000000

/** Returns a filter's answer to one call, by name. */
function ask(options: SeccompOptions, name: string, ...values: readonly (number | bigint)[]): number {
  const { auditArchitecture } = architectures[options.architecture]
  const number = numberOf(name, options.architecture)
  const call = { number, auditArchitecture, arguments: values.map(BigInt) }
  return runFilter(seccompProgram(options), call)
}

function expected(options: SeccompOptions, number: number, values: readonly bigint[]): number {
  const answer = expectedAnswer(options, number, values)
  return answer === 'allowed' ? allowed : errno(refusalErrno[answer])
}

for (const architecture of architecturesTested) {
  const { auditArchitecture, newestReviewed } = architectures[architecture]
  const usual: SeccompOptions = { architecture, memoryHeldByCgroup: true }

  describe(`the ${architecture} filter`, () => {
    it('kills a call of a foreign architecture, whatever its number is', () => {
      const program = seccompProgram(usual)
      const foreign = Object.values(architectures).map((facts) => facts.auditArchitecture)
      for (const value of [0, i386, arm, 0xffffffff, ...foreign]) {
        if (value === auditArchitecture) continue
        for (const number of [0, 1, 20, 39, newestReviewed, newestReviewed + 1, x32Bit]) {
          assert.equal(runFilter(program, { number, auditArchitecture: value }), killed)
        }
      }
    })

    it('answers ENOSYS to x32 numbers and to numbers nobody has reviewed', () => {
      const program = seccompProgram(usual)
      for (const number of [
        newestReviewed + 1,
        512,
        547,
        1000,
        x32Bit,
        x32Bit + 39,
        0x7fffffff,
        0xffffffff,
      ]) {
        assert.equal(runFilter(program, { number, auditArchitecture }), errno(38), String(number))
      }
      assert.equal(runFilter(program, { number: newestReviewed, auditArchitecture }), allowed)
    })

    it('decides every number as the rules say, in every situation', () => {
      const vectors = [0n, 1n, 2n, 0xffffffffn, 0xffffffffffffffffn].map((value) => Array(6).fill(value))
      for (const situation of everySituation(architecture)) {
        const program = seccompProgram(situation)
        for (let number = 0; number <= newestReviewed + 100; number++) {
          for (const values of vectors) {
            assert.equal(
              runFilter(program, { number, auditArchitecture, arguments: values }),
              expected(situation, number, values),
              `${JSON.stringify(situation)} ${number} ${values[0]}`,
            )
          }
        }
      }
    })

    it('decides calls with arguments of any kind as the rules say', () => {
      const situations = everySituation(architecture).map((options) => ({
        options,
        program: seccompProgram(options),
        tested: planRules(options).filter((rule) => rule.tests !== undefined),
      }))
      const near = planRules({
        ...usual,
        memoryHeldByCgroup: false,
        canSpawn: false,
        sharesHost: { network: true, owner: true },
      })
        .flatMap((rule) => rule.tests ?? [])
        .flatMap((test) => ['isOneOf' in test ? test.isOneOf : test.isNoneOf, test.mask ?? 0].flat())
      const value = fc.oneof(
        fc.constantFrom(...near).map(BigInt),
        fc.constantFrom(...near).map((low) => (1n << 32n) | BigInt(low)),
        fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
      )
      const values = fc.array(value, { minLength: 6, maxLength: 6 })
      fc.assert(
        fc.property(fc.constantFrom(...situations), fc.nat(), values, (situation, choice, chosen) => {
          const rule = situation.tested[choice % situation.tested.length]
          const number = rule?.numbers[architecture] ?? 0
          const call = { number, auditArchitecture, arguments: chosen }
          assert.equal(runFilter(situation.program, call), expected(situation.options, number, chosen))
        }),
        { numRuns: 20_000 },
      )
    })

    it('is small enough for the kernel', () => {
      for (const situation of everySituation(architecture)) {
        const program = seccompProgram(situation)
        assert.equal(program.byteLength % instructionBytes, 0)
        assert.ok(program.byteLength / instructionBytes < 4096)
      }
    })
  })

  describe(`on ${architecture}, a guest`, () => {
    it('gets no namespace from clone, but threads and processes', () => {
      const sigchld = 17
      const pthread = 0x3d0f00
      assert.equal(ask(usual, 'clone', sigchld), allowed)
      assert.equal(ask(usual, 'clone', pthread), allowed)
      const newFlags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
      for (const flag of newFlags) {
        assert.equal(ask(usual, 'clone', flag | sigchld), errno(1))
        assert.equal(ask(usual, 'clone', flag | pthread), errno(1))
        assert.equal(ask(usual, 'clone', BigInt(flag) | (1n << 32n)), errno(1))
      }
    })

    it('starts threads and nothing else when it may not spawn', () => {
      const threadsOnly = { ...usual, canSpawn: false }
      assert.equal(ask(threadsOnly, 'clone', 0x3d0f00), allowed)
      assert.equal(ask(threadsOnly, 'clone', 17), errno(1))
      assert.equal(ask(threadsOnly, 'clone', 0x4111), errno(1)) // CLONE_VM | CLONE_VFORK, as posix_spawn does
      assert.equal(ask(threadsOnly, 'clone', 0x10000000 | 0x10000), errno(1))
      assert.equal(ask(threadsOnly, 'clone3'), errno(38))
      assert.equal(ask(threadsOnly, 'execve'), allowed)
    })

    it('cannot type into a terminal, even with bits set in the half that the kernel drops', () => {
      for (const request of [0x5412n, 0x541cn, 0x5423n]) {
        assert.equal(ask(usual, 'ioctl', 0n, request), errno(25))
        assert.equal(ask(usual, 'ioctl', 0n, request | (1n << 32n)), errno(25))
        assert.equal(ask(usual, 'ioctl', 0n, request | (0xffffffffn << 32n)), errno(25))
      }
      assert.equal(ask(usual, 'ioctl', 0, 0x5413), allowed) // TIOCGWINSZ
      assert.equal(ask(usual, 'ioctl', 0x5412, 0x5413), allowed)
    })

    it('opens Unix, internet and route sockets, and no others', () => {
      for (const family of [1, 2, 10]) {
        for (const type of [1, 2, 1 | 0o2000000, 2 | 0o4000]) {
          assert.equal(ask(usual, 'socket', family, type, 0), allowed, `${family} ${type}`)
        }
      }
      assert.equal(ask(usual, 'socket', 1, 5, 0), allowed) // AF_UNIX, SOCK_SEQPACKET
      assert.equal(ask(usual, 'socket', 2, 2, 1), allowed) // ping
      assert.equal(ask(usual, 'socket', 16, 3 | 0o2000000, 0), allowed)
      for (let family = 0; family < 60; family++) {
        if ([1, 2, 10, 16].includes(family)) continue
        assert.equal(ask(usual, 'socket', family, 1, 0), errno(97), String(family))
      }
      for (let protocol = 1; protocol < 30; protocol++) {
        assert.equal(ask(usual, 'socket', 16, 3, protocol), errno(97), String(protocol))
      }
      for (const type of [0, 3, 4, 5, 6, 10, 3 | 0o2000000, 10 | 0o4000]) {
        assert.equal(ask(usual, 'socket', 2, type, 0), errno(1), String(type))
        assert.equal(ask(usual, 'socket', 10, type, 0), errno(1), String(type))
      }
      for (const protocol of [33, 115, 132, 136, 255, 256, 262]) {
        assert.equal(ask(usual, 'socket', 2, 1, protocol), errno(93), String(protocol))
      }
    })

    it('ties a protocol to its type, because an unsupported pair loads a module', () => {
      for (const family of [2, 10]) {
        for (const [type, protocol] of [
          [1, 17],
          [1, 1],
          [1, 58],
          [2, 6],
          [2, family === 2 ? 58 : 1],
        ] as const) {
          assert.equal(
            ask(usual, 'socket', family, type, protocol),
            errno(93),
            `${family} ${type} ${protocol}`,
          )
        }
      }
      assert.equal(ask(usual, 'socket', 2, 2, 1), allowed)
      assert.equal(ask(usual, 'socket', 10, 2, 58), allowed)
      assert.equal(ask(usual, 'socket', 1, 3, 0), errno(94))
      assert.equal(ask(usual, 'socketpair', 1, 1, 6), errno(93))
    })

    it('binds addresses of the internet, and names of other lengths nowhere on the host', () => {
      const online = { ...usual, sharesHost: { network: true, owner: false } }
      for (const length of [12, 16, 28, 128]) assert.equal(ask(online, 'bind', 3, 1, length), allowed)
      for (const length of [2, 3, 15, 17, 29, 110]) assert.equal(ask(online, 'bind', 3, 1, length), errno(22))
    })

    it('makes pairs of Unix sockets only', () => {
      assert.equal(ask(usual, 'socketpair', 1, 1 | 0o2000000, 0), allowed)
      for (const family of [0, 2, 10, 16, 30, 38, 40]) {
        assert.equal(ask(usual, 'socketpair', family, 1, 0), errno(97))
      }
    })

    it('opens no socket where the filter is its network wall, and pairs that stay pairs', () => {
      const offline = { ...usual, sharesHost: { network: false, owner: false } }
      for (const family of [1, 2, 10, 16]) assert.equal(ask(offline, 'socket', family, 1, 0), errno(97))
      assert.equal(ask(offline, 'socketpair', 1, 1 | 0o2000000, 0), allowed)
      assert.equal(ask(offline, 'socketpair', 1, 5, 0), allowed)
      assert.equal(ask(offline, 'socketpair', 1, 2, 0), errno(97))
    })

    it('opens internet sockets but no Unix socket where it shares the host’s network', () => {
      const online = { ...usual, sharesHost: { network: true, owner: false } }
      assert.equal(ask(online, 'socket', 1, 1, 0), errno(97))
      for (const family of [2, 10]) assert.equal(ask(online, 'socket', family, 1, 0), allowed)
    })

    it('changes nothing about files that belong to its uid, where that is the service’s', () => {
      const owner = { ...usual, sharesHost: { network: false, owner: true } }
      const stranger = { ...usual, sharesHost: { network: false, owner: false } }
      for (const name of ['fchmod', 'fchmodat', 'fchmodat2']) {
        assert.equal(ask(owner, name, 3, 0o777), errno(0), name)
        assert.equal(ask(stranger, name, 3, 0o777), allowed, name)
      }
      for (const options of [owner, stranger]) assert.equal(ask(options, 'utimensat', 3), errno(0))
      for (const name of ['fchown', 'fchownat', 'fremovexattr', 'file_setattr']) {
        assert.equal(ask(owner, name, 3, 0), errno(1), name)
        assert.equal(ask(stranger, name, 3, 0), allowed, name)
      }
      assert.equal(ask(owner, 'ioctl', 3, 0x40086602), errno(25))
      assert.equal(ask(owner, 'ioctl', 3, (1n << 32n) | 0x40806685n), errno(25))
    })

    it('sets no attribute of a file, and writes back nobody’s files', () => {
      for (const name of ['setxattr', 'lsetxattr', 'fsetxattr', 'setxattrat'])
        assert.equal(ask(usual, name, 3, 0), errno(95), name)
      for (const name of ['sync', 'syncfs']) assert.equal(ask(usual, name, 3), errno(0), name)
    })

    it('takes no lease on a file, which makes others wait, and watches none by signals', () => {
      for (const command of [1024, 1026, 1036, 1038]) {
        assert.equal(ask(usual, 'fcntl', 3, command, 1), errno(22))
        assert.equal(ask(usual, 'fcntl', 3, (1n << 32n) | BigInt(command), 1), errno(22))
      }
      for (const command of [0, 1, 2, 3, 4, 6, 1030, 1031]) {
        assert.equal(ask(usual, 'fcntl', 3, command, 1), allowed)
      }
    })

    it('watches no folders where they are the host’s', () => {
      const shared = { ...usual, sharesHost: { network: true, owner: false } }
      for (const name of ['inotify_init1', 'inotify_add_watch']) {
        assert.equal(ask(shared, name, 0), errno(38), name)
        assert.equal(ask(usual, name, 0), allowed, name)
      }
    })

    it('sets its own limits, and those of nobody else', () => {
      assert.equal(ask(usual, 'prlimit64', 0, 7, 1, 0), allowed)
      assert.equal(ask(usual, 'prlimit64', 1, 7, 1, 0), errno(1))
      assert.equal(ask(usual, 'prlimit64', -1, 7, 1, 0), errno(1))
      assert.equal(ask(usual, 'prlimit64', (1n << 32n) | 1n, 7, 1, 0), errno(1))
      // The kernel uses the low half as the pid, so this is the guest itself.
      assert.equal(ask(usual, 'prlimit64', 1n << 32n, 7, 1, 0), allowed)
    })

    it('asks for its personality and keeps it', () => {
      assert.equal(ask(usual, 'personality', 0xffffffff), allowed)
      assert.equal(ask(usual, 'personality', -1n), allowed)
      assert.equal(ask(usual, 'personality', 0), allowed)
      for (const value of [0x0040000, 0x0100000, 0x0400000, 0x0020000, 8, 1]) {
        assert.equal(ask(usual, 'personality', value), errno(1))
      }
    })

    it('adds no filters of its own, which would use up a budget of the whole machine', () => {
      const setFilter = 22
      for (const flags of [0, 1, 8, 8 | 16 | 1]) assert.equal(ask(usual, 'seccomp', 1, flags), errno(22))
      assert.equal(ask(usual, 'seccomp', 2, 0), allowed)
      assert.equal(ask(usual, 'prctl', setFilter, 2), errno(22))
      assert.equal(ask({ ...usual, entersSpaces: true }, 'prctl', setFilter, 2), allowed)
    })

    it('maps shared memory without a file only where a cgroup counts it', () => {
      const shared = [0, 4096, 3, 0x21, -1, 0]
      const validated = [0, 4096, 3, 0x23, -1, 0]
      const uncounted = { ...usual, memoryHeldByCgroup: false }
      for (const call of [shared, validated]) {
        assert.equal(ask(usual, 'mmap', ...call), allowed)
        assert.equal(ask(uncounted, 'mmap', ...call), errno(1))
      }
      for (const flags of [0x22, 0x4022, 0x01, 0x11, 0x32]) {
        assert.equal(ask(uncounted, 'mmap', 0, 4096, 7, flags, -1, 0), allowed)
      }
    })

    it('schedules itself only, where it shares pids with the host', () => {
      const shared = { ...usual, sharesHost: { network: true, owner: false } }
      assert.equal(ask(shared, 'setpriority', 0, 0, 10), allowed)
      assert.equal(ask(shared, 'setpriority', 0, 1234, 10), errno(1))
      assert.equal(ask(shared, 'setpriority', 1, 0, 10), errno(1))
      assert.equal(ask(shared, 'setpriority', 2, 0, 10), errno(1))
      assert.equal(ask(usual, 'setpriority', 2, 0, 10), allowed)
      assert.equal(ask(shared, 'ioprio_set', 1, 0, 0), allowed)
      assert.equal(ask(shared, 'ioprio_set', 1, 1234, 0), errno(1))
      assert.equal(ask(shared, 'ioprio_set', 3, 0, 0), errno(1))
      for (const name of ['sched_setaffinity', 'sched_setscheduler', 'sched_setparam', 'sched_setattr']) {
        assert.equal(ask(shared, name, 0), allowed, name)
        assert.equal(ask(shared, name, 1234), errno(1), name)
        assert.equal(ask(usual, name, 1234), allowed, name)
      }
    })
  })
}

describe('the assembler', () => {
  it('refuses a jump that does not fit into its byte', () => {
    assert.doesNotThrow(() => encode([ifEqual(1, conditionalJumpMax, 0)]))
    assert.throws(() => encode([ifEqual(1, conditionalJumpMax + 1, 0)]), RangeError)
    assert.throws(() => encode([ifEqual(1, 0, conditionalJumpMax + 1)]), RangeError)
  })

  it('refuses a program that the kernel would not take', () => {
    assert.doesNotThrow(() => encode(Array(4096).fill(skip(0))))
    assert.throws(() => encode(Array(4097).fill(skip(0))), RangeError)
  })
})
