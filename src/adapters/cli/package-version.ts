import { readFileSync } from 'node:fs'

/** The version in the package's package.json. Its relative path is the same from the source and from the built file. */
export function readPackageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
