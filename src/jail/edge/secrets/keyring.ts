/**
 * The secrets of one sandbox on the host: for each a placeholder, which guests find in a variable, and the certificate
 * authority that guests trust.
 */
import { LazaretError } from '../../../core/errors/errors.ts'
import { randomText } from '../../../core/clock.ts'
import type { NetworkPolicy } from '../../../core/network.ts'
import type { EdgeSecrets } from '../../../core/secrets.ts'
import { NetworkRules } from '../rules.ts'
import { createAuthority } from './authority.ts'
import type { Authority } from './authority.ts'
import type { PlacedSecret } from './placed-secrets.ts'
import { leadsTo, parseSecretHost } from './secret-hosts.ts'
import type { SecretHost, Target } from './secret-hosts.ts'

interface KeptSecret extends PlacedSecret {
  readonly hosts: readonly SecretHost[]
}

/** What a connection to one of their hosts gets. */
export interface Opened {
  readonly secrets: readonly PlacedSecret[]
  readonly isEncrypted: boolean
}

const placeholderBytes = 16

export class Keyring {
  readonly authority: Authority = createAuthority()
  /** Keys are the names of variables. */
  readonly placeholders: Readonly<Record<string, string>>
  readonly #secrets: readonly KeptSecret[]

  /** Throws INVALID_REQUEST for a host that the policy does not let guests reach. */
  constructor(secrets: EdgeSecrets, policy: NetworkPolicy) {
    const rules = new NetworkRules(policy)
    const named = Object.entries(secrets).map(([name, secret]) => {
      const hosts = secret.hosts.map(parseSecretHost)
      for (const host of hosts) requireReachable(name, host, rules)
      const placeholder = `lazaret_${Buffer.from(randomText(placeholderBytes), 'latin1').toString('hex')}`
      return { name, placeholder, value: secret.value, places: secret.in ?? (['header'] as const), hosts }
    })
    this.#secrets = named
    this.placeholders = Object.fromEntries(named.map(({ name, placeholder }) => [name, placeholder]))
  }

  /** Undefined for a host without secrets: such a connection does not pass the proxy. */
  open(target: Target): Opened | undefined {
    const secrets = this.#secrets.filter(({ hosts }) => hosts.some((host) => leadsTo(host, target)))
    if (secrets.length === 0) return undefined
    const hosts = secrets.flatMap((one) => one.hosts.filter((host) => leadsTo(host, target)))
    // Only these three: the proxy has no use for the rest.
    const placed = secrets.map(({ placeholder, value, places }) => ({ placeholder, value, places }))
    return { secrets: placed, isEncrypted: hosts.some(({ isEncrypted }) => isEncrypted) }
  }
}

/** A name below a wildcard is only judged when a guest asks for it. */
function requireReachable(name: string, { rule, port }: SecretHost, rules: NetworkRules): void {
  if (rule.kind === 'below') return
  const verdict =
    rule.kind === 'localhost' ? rules.judgeLocalhost(port) : rules.judgeNamedPort(rule.name, port)
  if (verdict === undefined) return
  const host = rule.kind === 'localhost' ? 'localhost' : rule.name
  throw new LazaretError('INVALID_REQUEST', {
    detail: `secrets: ${name} is for ${host}:${port}, which the network policy does not allow.`,
    hint: 'Add the host to `network.allow`, or take it out of the secret.',
  })
}
