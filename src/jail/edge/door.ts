/**
 * The host's side of one cell's network: it answers the resolver's questions and decides where each connection leads. The
 * relay gets the address that was checked, so a later answer for the same name has no effect.
 */
import { isIP } from 'node:net'

import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { writeRule } from '../../core/network.ts'
import type { NetworkReport, RefusalReason } from '../../core/network.ts'
import { isClosed, ownAddresses } from './address-ranges.ts'
import { dnsCodes, dnsTypes, readQuestion, writeAnswer } from './dns-message.ts'
import type { DnsQuestion } from './dns-message.ts'
import type { Lookup } from './lookups.ts'
import type { Budget, ConnectionEnd, DoorListener, RelayProcess } from './relay-process.ts'
import type { NetworkRules } from './rules.ts'
import type { Target } from './secrets/secret-hosts.ts'
import type { Expected } from './secrets/secret-proxy.ts'
import type { StandInAddresses } from './stand-in-addresses.ts'
import type { Tally } from './tally.ts'

/** What all doors of a run or a sandbox share. */
export interface DoorParts extends Budget {
  readonly rules: NetworkRules
  readonly tally: Tally
  readonly stand: StandInAddresses
  readonly clock: Clock
  readonly lookup: Lookup
  /** Undefined for a host without secrets. */
  expect(target: Target, addresses: readonly string[]): Promise<Expected> | undefined
  leave(): Promise<void>
}

/** The door's part of the plan of a cell or space. */
export interface DoorGround {
  readonly id: number
  readonly token: Uint8Array
}

interface Opening {
  readonly target: Target
  /** Addresses that were checked, and not yet tried. */
  left: string[]
  missingRule?: string | undefined
  cancel: () => void
  isConnected: boolean
}

interface Resolved {
  /** Those that may be connected to. */
  readonly addresses: string[]
  /** Why there are none. */
  readonly reason: RefusalReason
  /** What would have allowed the first special address. */
  readonly missingRule?: string | undefined
}

/**
 * Long enough for programs that look up a name for each request, and short enough for programs that cache addresses.
 */
const answerLifeSeconds = 60
/** How many addresses of a name are tried, one after another. */
const triesMax = 4

export class Door implements DoorListener {
  readonly ground: DoorGround
  readonly #edge: DoorParts
  readonly #relay: RelayProcess
  readonly #connections = new Map<number, Opening>()
  readonly #end = Promise.withResolvers<void>()
  #left = Promise.resolve()
  #isClosing = false

  constructor(edge: DoorParts, relay: RelayProcess) {
    this.#edge = edge
    this.#relay = relay
    this.ground = relay.admit(edge, this)
  }

  get report(): NetworkReport {
    return this.#edge.tally.report
  }

  /** Resolves when all its listeners and connections are closed. */
  close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true
      if (this.#relay.isLost) this.#end.resolve()
      else this.#relay.drop(this.ground.id)
      this.#left = this.#end.promise.then(() => this.#edge.leave())
    }
    return this.#left
  }

  onQuestion(number: number, datagram: Buffer): void {
    const question = readQuestion(datagram)
    if (question === undefined) return this.#relay.answer(this.ground.id, number, Buffer.alloc(0))
    if (question === 'malformed')
      return this.#relay.answer(
        this.ground.id,
        number,
        writeAnswer(datagram, undefined, { code: dnsCodes.malformed }),
      )
    const copy = Buffer.from(datagram)
    void this.#answer(question).then((answer) =>
      this.#relay.answer(this.ground.id, number, writeAnswer(copy, question, answer)),
    )
    return undefined
  }

  async #answer({ name, shown, type, isInternet }: DnsQuestion) {
    const { rules, tally, stand } = this.#edge
    if (!isInternet) return { code: dnsCodes.notImplemented }
    if (name === 'localhost')
      return type === dnsTypes.a ? { code: dnsCodes.ok, address: '127.0.0.1' } : { code: dnsCodes.ok }
    const verdict = name === undefined ? 'not-allowed' : rules.judgeName(name)
    if (name === undefined || verdict !== undefined) {
      // Programs ask for both address families at once; that counts as one refusal.
      if (type !== dnsTypes.aaaa) tally.refuse(shown, verdict ?? 'not-allowed')
      return { code: dnsCodes.noName }
    }
    // The name has no records of other types, in particular none that lead around the policy (HTTPS, SVCB).
    if (type !== dnsTypes.a) return { code: dnsCodes.ok }
    const { addresses, reason, missingRule } = await this.#resolve(name)
    if (addresses.length === 0) {
      tally.refuse(name, reason, { missingRule })
      return { code: dnsCodes.noName }
    }
    const address = stand.of(name)
    return address === undefined
      ? { code: dnsCodes.failed }
      : { code: dnsCodes.ok, address, lifeSeconds: answerLifeSeconds }
  }

  /** The addresses of a name that may be connected to on at least one port, or on `port` if it is given. */
  async #resolve(name: string, port?: number): Promise<Resolved> {
    const { rules, lookup } = this.#edge
    const answers = await lookup(name, rules.deniesNames)
    if (answers.some((one) => !isAddress(one) && rules.deniesAlias(one, port)))
      return { addresses: [], reason: 'denied' }
    const found = answers.filter(isAddress)
    const own = ownAddresses()
    const ports = port === undefined ? rules.ports : [port]
    const verdicts = found.map((address) => ports.map((one) => rules.judgeAddress(address, one, own)))
    const addresses = found.filter((_, index) => verdicts[index]?.includes(undefined))
    const reason = verdicts[0]?.[0] ?? 'not-found'
    const special = found.find((one, index) => verdicts[index]?.[0] === 'special-address' && !isClosed(one))
    const missingRule = special && writeRule(special, port ?? rules.portsOfName(name)[0])
    return { addresses, reason, missingRule }
  }

  onArrived(connection: number, { address, port }: { address: string; port: number }): void {
    const name = this.#edge.stand.nameOf(address)
    const isLocal = address === '::1' || address.startsWith('127.')
    const target = { host: isLocal ? 'localhost' : (name ?? address), port }
    const opening: Opening = { target, left: [], cancel: () => undefined, isConnected: false }
    this.#connections.set(connection, opening)
    opening.cancel = this.#edge.clock.after(this.#edge.rules.connectMs, () =>
      this.#refuse(connection, 'too-slow'),
    )
    void this.#lead(connection, opening, { address, name, isLocal })
  }

  /** Finds out where a connection leads, and connects it. */
  async #lead(
    connection: number,
    opening: Opening,
    { address, name, isLocal }: { address: string; name: string | undefined; isLocal: boolean },
  ): Promise<void> {
    const { rules } = this.#edge
    const { port } = opening.target
    if (isLocal) {
      const verdict = rules.judgeLocalhost(port)
      if (verdict !== undefined) return this.#refuse(connection, verdict)
      opening.left = ['127.0.0.1', '::1']
      return this.#begin(connection, opening, 'unreachable')
    }
    const verdict =
      name === undefined ? rules.judgeRawAddress(address, port) : rules.judgeNamedPort(name, port)
    if (verdict !== undefined) return this.#refuse(connection, verdict)
    const { addresses, reason, missingRule } =
      name === undefined ? this.#checkRaw(address, port) : await this.#resolve(name, port)
    opening.left = addresses.slice(0, triesMax)
    opening.missingRule = missingRule
    return this.#begin(connection, opening, reason)
  }

  /** Connects to one of the target's addresses, or through the proxy that knows the secrets for this host. */
  async #begin(connection: number, opening: Opening, reason: RefusalReason): Promise<void> {
    const { target, left } = opening
    const expected = left.length === 0 ? undefined : this.#edge.expect(target, left)
    if (expected === undefined) return this.#tryNext(connection, opening, reason)
    // Without the proxy the connection is refused. Otherwise the server would get placeholders, and the guest would not
    // learn why.
    opening.left = []
    const proxy = await expected.catch(() => undefined)
    if (proxy === undefined || this.#connections.get(connection) !== opening)
      return this.#refuse(connection, 'no-secret-proxy')
    return this.#relay.connect(connection, { address: '127.0.0.1', port: proxy.port, preface: proxy.ticket })
  }

  #checkRaw(address: string, port: number): Resolved {
    const verdict = this.#edge.rules.judgeAddress(address, port, ownAddresses())
    const canBeNamed = verdict === 'special-address' && !isClosed(address)
    const missingRule = canBeNamed ? writeRule(address, port) : undefined
    return {
      addresses: verdict === undefined ? [address] : [],
      reason: verdict ?? 'unreachable',
      missingRule,
    }
  }

  /** Tries the next address. If none is left, refuses the connection for this reason. */
  #tryNext(connection: number, opening: Opening, reason: RefusalReason): void {
    // The connection may have been closed during the lookup.
    if (this.#connections.get(connection) !== opening) return
    const address = opening.left.shift()
    if (address === undefined) return this.#refuse(connection, reason)
    this.#relay.connect(connection, { address, port: opening.target.port })
  }

  onFailed(connection: number): void {
    const opening = this.#connections.get(connection)
    if (opening !== undefined) this.#tryNext(connection, opening, 'unreachable')
    else this.#relay.refuse(connection)
  }

  onConnected(connection: number): void {
    const opening = this.#connections.get(connection)
    if (opening === undefined) return
    opening.cancel()
    opening.isConnected = true
    this.#edge.tally.reach(opening.target.host, opening.target.port)
  }

  onClosed(connection: number, { because, sentBytes, receivedBytes }: ConnectionEnd): void {
    const opening = this.#connections.get(connection)
    if (opening === undefined) return
    opening.cancel()
    this.#connections.delete(connection)
    const { target, isConnected } = opening
    if (isConnected) this.#edge.tally.count(target, sentBytes, receivedBytes)
    if (because === 'bytes') this.#edge.tally.refuse(target.host, 'bytes', { port: target.port })
  }

  onDropped(overMax: number): void {
    if (overMax > 0) this.#edge.tally.refuse('any', 'connections', { count: overMax })
    for (const { cancel } of this.#connections.values()) cancel()
    this.#connections.clear()
    this.#end.resolve()
  }

  #refuse(connection: number, reason: RefusalReason): void {
    const opening = this.#connections.get(connection)
    if (opening === undefined || opening.isConnected) return
    opening.cancel()
    this.#connections.delete(connection)
    const missingRule = reason === 'special-address' ? opening.missingRule : undefined
    this.#edge.tally.refuse(opening.target.host, reason, { port: opening.target.port, missingRule })
    this.#relay.refuse(connection)
  }
}

/** A zone may follow the address; `judgeAddress` refuses that. */
const isAddress = (answer: string): boolean => isIP(answer.split('%')[0] ?? '') !== 0

/** Without a network namespace nothing can enforce a policy. */
export function policyUnenforceable(): LazaretError {
  return new LazaretError('LIMIT_UNENFORCEABLE', {
    detail: 'A network policy needs a network namespace, which cells do not have on this machine.',
    hint: "Run `lazaret doctor` for the fix, or ask for `network: 'none'`.",
  })
}
