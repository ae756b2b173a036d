/**
 * The native parts as the checkout brings them, compressed, so that `npm install` needs no C compiler. They are used only
 * if they were built from exactly these sources and this machine's libc is new enough. The build is reproducible: the same
 * compiler writes the same bytes, which test-deep/prebuilt.test.ts checks.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const root = join(import.meta.dirname, '..')
export const prebuiltFolder = join(root, 'native/prebuilt')

/** The processors for which a package holds native parts. */
export const architectures = ['x64', 'arm64'] as const
export type Architecture = (typeof architectures)[number]

export interface Prebuilt {
  /** The hash of the sources. */
  readonly sources: string
  readonly compiler: string
  /** The SHA-256 of each file, unpacked. */
  readonly files: Readonly<Record<string, string>>
  /** The oldest libc that has all symbols of the libraries; the launcher is static. */
  readonly glibcMin: string
}

/** Everything that decides what is built, relative to the checkout. */
export function nativeSources(): string[] {
  const files = globSync('native/{cell,relay,zygote}/**/*.{c,h}', { cwd: root })
  return [...files, 'scripts/build-native.ts'].toSorted()
}

export function hashSources(): string {
  const hash = createHash('sha256')
  for (const file of nativeSources()) {
    const content = readFileSync(join(root, file))
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

const manifestOf = (architecture: string) => join(prebuiltFolder, `linux-${architecture}.json`)

/** Undefined if there is none for this processor. */
export function readPrebuilt(architecture: string = process.arch): Prebuilt | undefined {
  const manifest = manifestOf(architecture)
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as Prebuilt) : undefined
}

/** The native parts for a processor: the launcher, and the libraries of zygotes. */
export function targetsOf(architecture: string): readonly [string, string, string] {
  return [
    `cell-linux-${architecture}`,
    `zygote-linux-${architecture}.so`,
    `javascript-zygote-linux-${architecture}.so`,
  ]
}

/** Whether the prebuilt files fit, and are now in the folder. Those for another processor are only packed. */
export function unpackPrebuilt(architecture: string, folder: string): boolean {
  const prebuilt = readPrebuilt(architecture)
  if (prebuilt?.sources !== hashSources()) return false
  if (architecture === process.arch && !hasGlibc(prebuilt.glibcMin)) return false
  mkdirSync(folder, { recursive: true })
  for (const name of targetsOf(architecture)) {
    const temporary = join(folder, `${name}.${process.pid}`)
    writeFileSync(temporary, unpack(name), { mode: 0o755 })
    // Renamed into place, so that a starting cell never finds half a launcher.
    renameSync(temporary, join(folder, name))
  }
  return true
}

export function unpack(name: string): Buffer {
  return brotliDecompressSync(readFileSync(join(prebuiltFolder, `${name}.br`)))
}

export function keepPrebuilt(architecture: string, folder: string, compiler: string): void {
  const names = targetsOf(architecture)
  mkdirSync(prebuiltFolder, { recursive: true })
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
  for (const name of names) {
    const packed = brotliCompressSync(readFileSync(join(folder, name)), { params })
    writeFileSync(join(prebuiltFolder, `${name}.br`), packed)
  }
  const prebuilt: Prebuilt = {
    sources: hashSources(),
    compiler: describeCompiler(compiler),
    files: Object.fromEntries(names.map((name) => [name, hashOf(readFileSync(join(folder, name)))])),
    glibcMin: names.map((name) => glibcOf(readFileSync(join(folder, name), 'latin1'))).reduce(newer),
  }
  writeFileSync(manifestOf(architecture), `${JSON.stringify(prebuilt, null, 2)}\n`)
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** `cc (Debian 12.2.0-14+deb12u1) 12.2.0`; empty if there is none. */
export function describeCompiler(compiler: string): string {
  const { stdout, error } = spawnSync(compiler, ['--version'], { encoding: 'utf8' })
  return error === undefined ? (stdout.split('\n')[0] ?? '') : ''
}

/** The newest version whose symbols a file imports. */
function glibcOf(file: string): string {
  return [...file.matchAll(/\0GLIBC_(\d+\.\d+)/g)].map(([, version = '']) => version).reduce(newer, '0.0')
}

function hasGlibc(min: string): boolean {
  // Looking up this machine's addresses could wait for a name server.
  Object.assign(process.report, { excludeNetwork: true })
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const own = header.glibcVersionRuntime
  return own !== undefined && newer(own, min) === own
}

function newer(one: string, other: string): string {
  return one.localeCompare(other, 'en', { numeric: true }) >= 0 ? one : other
}
