/** The hosts of a secret: their notation, and whether a connection leads to one. Pure. */
import { parseRule } from '../rules.ts'
import type { Rule } from '../rules.ts'

/** Where a connection leads, by the name that the guest used. */
export interface Target {
  readonly host: string
  readonly port: number
}

export interface SecretHost {
  readonly rule: Exclude<Rule, { readonly kind: 'range' }>
  readonly port: number
  readonly isEncrypted: boolean
}

const unencrypted = 'http://'

/** Throws an error whose message says what is wrong with the text. */
export function parseSecretHost(text: string): SecretHost {
  const isEncrypted = !text.startsWith(unencrypted)
  const rule = parseRule(isEncrypted ? text : text.slice(unencrypted.length))
  if (rule.kind === 'range') throw new Error(`is an address, and a secret is for hosts with a name: ${text}`)
  return { rule, port: rule.port ?? (isEncrypted ? 443 : 80), isEncrypted }
}

export function leadsTo({ rule, port }: SecretHost, target: Target): boolean {
  if (target.port !== port) return false
  if (rule.kind === 'localhost') return target.host === 'localhost'
  return rule.kind === 'below' ? target.host.endsWith(`.${rule.name}`) : target.host === rule.name
}
