/** States what a run or a command was and how it ended, and signs that if the operator has configured a key. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import type { Clock } from '../core/clock.ts'
import type { Outcome } from '../core/outcome.ts'
import type { Receipt, Signature, Statement, Usage } from '../core/receipt.ts'
import type { Validation } from '../core/validation.ts'
import type { CodeWork, CommandWork, RunWork } from '../core/work.ts'
import { canonicalJson } from './canonical-json.ts'
import { keyIdOf } from './key-id.ts'
import { givenOf, stateKind, stateValidation } from './state-work.ts'

export interface NotaryParts {
  readonly clock: Pick<Clock, 'timestamp'>
  readonly key?: SigningKey | undefined
  /** The version that the interpreter reports; undefined if it reports none. */
  readonly versionOf: (work: RunWork | CommandWork | CodeWork) => Promise<string | undefined>
}

/** The part of a result that says how a program ended. */
export interface Attestable {
  readonly outcome: Outcome
  readonly usage: Usage
  readonly receipt: Receipt
}

/** A program that was hashed before it started, because the caller may change its request afterwards. */
export interface Noted {
  /** The statement, and the result, with a signed receipt if there is a key. */
  readonly attest: <Result extends Attestable>(
    result: Result,
    validation?: Validation,
  ) => Promise<Attested<Result>>
}

export interface Attested<Result = unknown> {
  readonly result: Result
  readonly statement: Statement
  readonly signature?: Signature
}

export class Notary {
  readonly #parts: NotaryParts

  constructor(parts: NotaryParts) {
    this.#parts = parts
  }

  note(work: RunWork | CommandWork | CodeWork): Noted {
    const { versionOf, key, clock } = this.#parts
    const known = work.kind === 'run' ? stateKind(work, givenOf(work)) : stateKind(work)
    const asked = versionOf(work).catch(() => undefined)
    return {
      async attest<Result extends Attestable>(
        result: Result,
        validation?: Validation,
      ): Promise<Attested<Result>> {
        const { outcome, usage, receipt } = result
        const runtimeVersion = await asked
        const statement: Statement = {
          version: 1,
          time: clock.timestamp(),
          ...known,
          ...(runtimeVersion === undefined ? {} : { runtimeVersion }),
          ...stateValidation(validation),
          outcome: outcome.kind,
          ...('exitCode' in outcome ? { exitCode: outcome.exitCode } : {}),
          durationMs: usage.wallMs,
          usage,
          protection: receipt.protection,
          receipt,
        }
        if (key === undefined) return { result, statement }
        const signature = key.sign(statement)
        const signed = { ...receipt, signature: { ...signature, statement } }
        return { result: { ...result, receipt: signed }, statement, signature }
      },
    }
  }
}

export class SigningKey {
  readonly #key: KeyObject
  readonly id: string

  /** Throws if it is not a private Ed25519 key. */
  constructor(pem: string | Buffer) {
    this.#key = createPrivateKey(pem)
    if (this.#key.asymmetricKeyType !== 'ed25519') throw new TypeError('It is not a private Ed25519 key.')
    this.id = keyIdOf(createPublicKey(this.#key))
  }

  sign(statement: Statement): Signature {
    const value = sign(null, Buffer.from(canonicalJson(statement)), this.#key).toString('base64')
    return { keyId: this.id, value }
  }
}
