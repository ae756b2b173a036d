/** Checks the request for an environment. */
import { statSync } from 'node:fs'

import { z } from 'zod'

import { LazaretError } from '../core/errors/errors.ts'
import { once } from '../core/once.ts'
import { readInput } from '../policy/hostile-input.ts'
import { absolutePath, parsing, sayIssues } from '../policy/schemas.ts'
import type { EnvironmentSpec } from './environment.ts'

const packagesMax = 500
const textCharsMax = 300
const lockCharsMax = 8 * 1024 * 1024

export const environmentNameSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'must be up to 64 of a-z, 0-9, ".", "_" and "-", and begin with a letter or digit',
  )

/** One word that no installer can mistake for an option, a path or several words. */
const requirement = z
  .string()
  .min(1)
  .max(textCharsMax)
  .regex(/^[A-Za-z0-9]/, 'must begin with the name of a package')
  .regex(/^[^\p{C}]*$/u, 'has control characters')
  .refine((text) => !/[/\\]/.test(text), { error: 'must not be a path or an address' })
const npmPackage = z
  .string()
  .max(textCharsMax)
  .regex(
    /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:@[\w.^~<>=|*+ -]+)?$/i,
    'must be the name of a package, with a version or range after "@" if wanted',
  )
  .refine((text) => !text.startsWith('-'), { error: 'must not begin with "-"' })

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true
const folder = absolutePath.refine(isFolder, { error: 'is not a folder' })
const lockText = z.string().max(lockCharsMax)

const specSchema = once(() =>
  z
    .strictObject({
      python: z.array(requirement).max(packagesMax).optional(),
      npm: z.array(npmPackage).max(packagesMax).optional(),
      findLinks: z.array(folder).max(16).optional(),
      npmTarballs: z
        .array(absolutePath.refine(isFile, { error: 'is not a file' }))
        .max(packagesMax)
        .optional(),
      npmCache: folder.optional(),
      offline: z.boolean().optional(),
      allowScripts: z.array(npmPackage).max(packagesMax).optional(),
      lock: z
        .strictObject({
          python: lockText.optional(),
          npm: z.strictObject({ manifest: lockText, lockFile: lockText }).optional(),
        })
        .optional(),
    })
    .refine(
      ({ python = [], npm = [], npmTarballs = [], lock }) =>
        python.length + npm.length + npmTarballs.length > 0 ||
        lock?.python !== undefined ||
        lock?.npm !== undefined,
      { error: 'names no package in `python`, `npm`, `npmTarballs` or `lock`' },
    ),
)

/** Throws INVALID_REQUEST. */
export function readSpec(spec: unknown): EnvironmentSpec {
  const parsed = readInput(() => specSchema().safeParse(spec, parsing))
  if (!parsed.success)
    throw new LazaretError('INVALID_REQUEST', { detail: `Environment: ${sayIssues(parsed.error)}` })
  return parsed.data as EnvironmentSpec
}

/** Throws INVALID_REQUEST. */
export function readName(name: unknown): string {
  const parsed = environmentNameSchema.safeParse(name, parsing)
  if (!parsed.success)
    throw new LazaretError('INVALID_REQUEST', {
      detail: `Name of the environment: ${sayIssues(parsed.error)}`,
    })
  return parsed.data
}
