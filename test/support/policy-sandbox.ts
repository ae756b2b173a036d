/** A sandbox with a network policy, on a machine whose lookups a test controls. */
import assert from 'node:assert/strict'

import { systemClock } from '../../src/core/clock.ts'
import { defaultLimits } from '../../src/core/limits.ts'
import type { NetworkPolicy, NetworkRefusal, NetworkReport } from '../../src/core/network.ts'
import type { Lookup } from '../../src/jail/edge/lookups.ts'
import { Machine } from '../../src/jail/machine/machine.ts'
import { defaultUidRange } from '../../src/jail/machine/uid-range.ts'
import { Command } from '../../src/sandbox/commands/command.ts'
import { Spaces } from '../../src/sandbox/spaces.ts'
import { guestPython } from './channel-cell.ts'

const limits = defaultLimits

export class PolicySandbox implements AsyncDisposable {
  readonly machine: Machine
  readonly spaces: Spaces
  readonly #report: ReturnType<Spaces['watchNetwork']>

  private constructor(machine: Machine, spaces: Spaces) {
    this.machine = machine
    this.spaces = spaces
    this.#report = spaces.watchNetwork()
  }

  /** Names for which `lookup` returns no addresses do not exist. */
  static async open(network: NetworkPolicy, lookup: Lookup = async () => []): Promise<PolicySandbox> {
    return PolicySandbox.openOn(new Machine({ uidRange: defaultUidRange, lookup }), network)
  }

  /** Disposing the sandbox also ends the machine. */
  static async openOn(machine: Machine, network: NetworkPolicy): Promise<PolicySandbox> {
    try {
      const wall = { machine, minimum: 'restricted', onRefusal: () => undefined } as const
      const shape = { binds: [], network: 'none', diskBytes: limits.diskBytes, isSandbox: true } as const
      const own = { network, packages: {}, shell: '/bin/bash' }
      return new PolicySandbox(
        machine,
        await Spaces.open({ wall, clock: systemClock, shape, limits, ...own }),
      )
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
  }

  get report(): NetworkReport {
    const report = this.#report()
    assert.ok(report)
    return report
  }

  get refused(): readonly NetworkRefusal[] {
    return this.report.refused
  }

  /** Starts a Python program in the user space. */
  start(code: string): Command {
    const { user } = this.spaces
    const spec = {
      ...this.spaces.commonSpec(user),
      file: guestPython,
      argv: ['python3', '-I', '-c', `${guestProgram}\n${code}`],
      env: { PATH: '/usr/bin:/bin' },
      folder: '/workspace',
    }
    const command = new Command({ space: user, clock: systemClock, limits, spec })
    command.begin({ timeoutMs: 60_000 })
    return command
  }

  /** The output of a Python program. */
  async run(code: string): Promise<string> {
    const { stdout, stderr, outcome } = await this.start(code).ended
    assert.deepEqual([outcome, stderr], [{ kind: 'completed', exitCode: 0 }, ''])
    return stdout
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.spaces[Symbol.asyncDispose]()
    await this.machine[Symbol.asyncDispose]()
  }
}

/** Python functions for guests. Each returns its result as one word. */
const guestProgram = `
import errno, socket, struct, sys, os
def say(error):
    # Which error a reset causes depends on the pending system call.
    if error.errno in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN): return 'reset'
    return os.strerror(error.errno) if error.errno else type(error).__name__
def connect(host, port, patience=20):
    try:
        one = socket.create_connection((host, port), patience)
    except socket.gaierror as error:
        return 'not found'
    except OSError as error:
        return say(error)
    return one
def ask(host, port, words=b'hello', patience=20):
    one = connect(host, port, patience)
    if isinstance(one, str): return one
    try:
        one.sendall(words)
        one.shutdown(socket.SHUT_WR)
        answer = b''
        while True:
            piece = one.recv(65536)
            if not piece: return answer.decode('latin1') or 'nothing'
            answer += piece
    except OSError as error:
        return say(error)
    finally:
        one.close()
def question(labels, kind=1, flags=0x0100, count=1):
    name = b''.join(bytes([len(label)]) + label for label in labels) + bytes(1)
    return struct.pack('>6H', 7, flags, count, 0, 0, 0) + name + struct.pack('>2H', kind, 1)
def resolve(packet, patience=20, server=('127.0.0.1', 53)):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.settimeout(patience)
    try:
        one.connect(server)
        one.send(packet)
        answer = one.recv(4096)
    except OSError as error:
        return say(error)
    code, answers = answer[3] & 15, struct.unpack('>H', answer[6:8])[0]
    return ['ok', 'malformed', 'failed', 'no name', 'not implemented'][code] + (' ' + socket.inet_ntoa(answer[-4:]) if answers else '')
`
