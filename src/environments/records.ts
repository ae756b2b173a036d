/** The two kinds of small files in a store: the environment that a name points to, and an environment's contents. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { z } from 'zod'

import type { Environment } from './environment.ts'
import { environmentFailed } from './failed.ts'
import type { Seal } from './seal.ts'

/** The properties of an environment that do not depend on its name. */
export type SealedEnvironment = Omit<Environment, 'name' | keyof NamedEnvironment>

/** An environment and the hash of its files: what is stored, and what the environment's own hash covers. */
export type Manifest = SealedEnvironment & Seal

/** The properties of a name. */
export type NamedEnvironment = Pick<Environment, 'hash' | 'updatedAt' | 'spec'>

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/)
const namedSchema = z.object({ hash: hashSchema, updatedAt: z.string(), spec: z.looseObject({}) })
const packages = z.array(z.object({ name: z.string(), version: z.string() }))
const manifestSchema = z.object({
  pythonVersion: z.string().nullable(),
  python: packages,
  npm: packages,
  contents: hashSchema,
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
  if (!parsed.success)
    throw environmentFailed(`${path} is damaged.`, 'Create the environment again, with replace.')
  return parsed.data
}

/** The text that is stored for an environment, and the environment's hash, which is the text's. */
export function writeManifest(manifest: Manifest): { readonly text: string; readonly hash: string } {
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  return { text, hash: hashOf(text) }
}

/** Undefined if it is missing, damaged, or not what the hash is of. */
export function readManifest(path: string, hash: string): Manifest | undefined {
  const text = readText(path)
  if (text === undefined || hashOf(text) !== hash) return undefined
  const parsed = manifestSchema.safeParse(parseJson(text))
  return parsed.success ? (parsed.data as Manifest) : undefined
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
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
