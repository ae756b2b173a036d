/** States what a run was and how it ended, and signs that where the operator has a key for it. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import type { Clock } from '../core/clock.ts'
import type { RunResult } from '../core/result.ts'
import type { Signature, Statement } from '../core/receipt.ts'
import type { RunWork } from '../core/work.ts'
import { canonicalJson } from './canonical-json.ts'
import { keyIdOf } from './key-id.ts'
import { givenOf, stateKind } from './state-work.ts'

export interface NotaryParts {
  readonly clock: Pick<Clock, 'timestamp'>
  readonly key?: SigningKey | undefined
  /** As the interpreter says it; undefined where it does not. */
  readonly versionOf: (work: RunWork) => Promise<string | undefined>
}

/** A run that has been looked at before it began: the caller may change what it has sent afterwards. */
export interface Noted {
  /** The result with a signed receipt where there is a key, and what was stated. */
  readonly attest: (result: RunResult) => Promise<Attested>
}

export interface Attested {
  readonly result: RunResult
  readonly statement: Statement
  readonly signature?: Signature
}

export class Notary {
  readonly #parts: NotaryParts

  constructor(parts: NotaryParts) {
    this.#parts = parts
  }

  note(work: RunWork): Noted {
    const { versionOf, key, clock } = this.#parts
    const known = stateKind(work, givenOf(work))
    const asked = versionOf(work).catch(() => undefined)
    return {
      async attest(result) {
        const { outcome, usage, receipt } = result
        const runtimeVersion = await asked
        const statement: Statement = {
          version: 1,
          time: clock.timestamp(),
          ...known,
          ...(runtimeVersion === undefined ? {} : { runtimeVersion }),
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

  /** Throws when it is no private key of Ed25519. */
  constructor(pem: string | Buffer) {
    this.#key = createPrivateKey(pem)
    if (this.#key.asymmetricKeyType !== 'ed25519') throw new TypeError('It is no private key of Ed25519.')
    this.id = keyIdOf(createPublicKey(this.#key))
  }

  sign(statement: Statement): Signature {
    const value = sign(null, Buffer.from(canonicalJson(statement)), this.#key).toString('base64')
    return { keyId: this.id, value }
  }
}
