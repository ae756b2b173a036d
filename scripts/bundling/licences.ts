/**
 * The licences of other packages' code in a bundled file: a licence must be distributed with its code.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const modules = join(import.meta.dirname, '../../node_modules')

interface Manifest {
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name: string }
}

/** Their names, versions and texts, one after another. Throws for a package that does not state its licence. */
export function licencesOf(packages: readonly string[]): string {
  return packages.map(licenceOf).join('\n\n----\n\n')
}

function licenceOf(name: string): string {
  const folder = join(modules, name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  // A few packages name the licence and its holder, but do not contain its text.
  const { license, author } = manifest
  if (files.length === 0 && license === undefined) throw new Error(`${name} does not say its licence`)
  const holder = typeof author === 'object' ? author.name : author
  return [`${name} ${manifest.version}`, ...(files.length > 0 ? texts : [`${license}, by ${holder}`])].join(
    '\n\n',
  )
}
