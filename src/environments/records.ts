/** The two kinds of small files in a store: the environment that a name points to, and an environment's contents. */
import { readFileSync } from 'node:fs'

import { z } from 'zod'

import { LazaretError } from '../core/errors/errors.ts'
import type { Environment } from './environment.ts'

/** The properties of an environment that do not depend on its name. */
export type SealedEnvironment = Omit<Environment, 'name' | keyof NamedEnvironment>

/** The properties of a name. */
export type NamedEnvironment = Pick<Environment, 'hash' | 'updatedAt' | 'spec'>

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/)
const namedSchema = z.object({ hash: hashSchema, updatedAt: z.string(), spec: z.looseObject({}) })
const packages = z.array(z.object({ name: z.string(), version: z.string() }))
const sealedSchema = z.object({
  pythonVersion: z.string().nullable(),
  python: packages,
  npm: packages,
  files: z.int(),
  bytes: z.int(),
  lock: z.object({
    python: z.string().optional(),
    npm: z.object({ manifest: z.string(), lockFile: z.string() }).optional(),
  }),
})

/** Undefined when there is none. */
export function readNamed(path: string): NamedEnvironment | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  const parsed = namedSchema.safeParse(parseJson(text))
  if (!parsed.success) throw damaged(path)
  return parsed.data
}

export function readSealed(path: string, hash: string): SealedEnvironment {
  const parsed = sealedSchema.safeParse(parseJson(readText(path) ?? ''))
  if (!parsed.success) throw damaged(`The environment ${hash.slice(0, 12)}`)
  return parsed.data as SealedEnvironment
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function damaged(what: string): LazaretError {
  return new LazaretError('ENVIRONMENT_FAILED', {
    detail: `${what} is damaged or missing.`,
    hint: 'Create the environment again, with replace.',
  })
}
