/** Packages that tests create: wheels, source archives and npm tarballs, as installers read them. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, gzipSync } from 'node:zlib'

import { packTar } from 'modern-tar'
import type { TarEntry } from 'modern-tar'

export type Contents = Readonly<Record<string, string>>

export interface PackageName {
  readonly name: string
  readonly version: string
}

/** Source: "Binary distribution format", Python Packaging User Guide. `files` are those besides its metadata. */
export function makeWheel(
  folder: string,
  { name, version }: PackageName,
  { files, commands = {} }: { readonly files: Contents; readonly commands?: Contents },
): string {
  const info = `${name}-${version}.dist-info`
  const entries = Object.entries(commands).map(([command, place]) => `${command} = ${place}\n`)
  const all: Record<string, string> = {
    ...files,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ...(entries.length > 0 && { [`${info}/entry_points.txt`]: `[console_scripts]\n${entries.join('')}` }),
  }
  const record = Object.entries(all).map(([path, text]) => `${path},${recordHash(text)},${text.length}\n`)
  all[`${info}/RECORD`] = `${record.join('')}${info}/RECORD,,\n`
  return write(folder, `${name}-${version}-py3-none-any.whl`, zip(all))
}

/**
 * A source archive with its own build backend, which needs no download: `backend` runs during installation. Source: PEP
 * 517.
 */
export async function makeSourceArchive(
  folder: string,
  { name, version }: PackageName,
  backend: string,
): Promise<string> {
  const root = `${name}-${version}`
  const project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
  const about = `[project]\nname = "${name}"\nversion = "${version}"\n`
  const files = {
    'pyproject.toml': `${project}${about}`,
    'backend.py': `${wheelBuilder(name, version)}${backend}`,
  }
  const inRoot = Object.entries(files).map(([path, text]) => [`${root}/${path}`, text])
  return write(folder, `${root}.tar.gz`, await tarball(Object.fromEntries(inRoot) as Contents))
}

/** `module` is the source of the wheel's only module. */
const wheelBuilder = (name: string, version: string): string => `
import os, zipfile
module = ''
def build_wheel(folder, settings=None, metadata=None):
    info, wheel = '${name}-${version}.dist-info', '${name}-${version}-py3-none-any.whl'
    with zipfile.ZipFile(os.path.join(folder, wheel), 'w') as out:
        out.writestr('${name}.py', module)
        out.writestr(info + '/METADATA', 'Metadata-Version: 2.1\\nName: ${name}\\nVersion: ${version}\\n')
        out.writestr(info + '/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        out.writestr(info + '/RECORD', '')
    return wheel
`

export async function makeNpmTarball(
  folder: string,
  { name, version }: PackageName,
  { files, manifest = {} }: { readonly files: Contents; readonly manifest?: object },
): Promise<string> {
  const all = { ...files, 'package.json': JSON.stringify({ name, version, main: 'index.js', ...manifest }) }
  const inFolder = Object.entries(all).map(([path, text]) => [`package/${path}`, text])
  return write(folder, `${name}-${version}.tgz`, await tarball(Object.fromEntries(inFolder) as Contents))
}

async function tarball(files: Contents): Promise<Uint8Array> {
  const entries = Object.entries(files).map(([name, body]): TarEntry => ({
    header: { name, size: Buffer.byteLength(body), type: 'file', mode: 0o755, mtime: new Date(0) },
    body,
  }))
  return gzipSync(await packTar(entries))
}

function recordHash(text: string): string {
  return `sha256=${createHash('sha256').update(text).digest('base64url')}`
}

function write(folder: string, name: string, bytes: Uint8Array): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), bytes, { mode: 0o644 })
  return join(folder, name)
}

/** Stores the files without compression. Source: APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16. */
function zip(files: Contents): Uint8Array {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, text] of Object.entries(files)) {
    const [name, bytes] = [Buffer.from(path), Buffer.from(text)]
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0) // version needed
    common.writeUInt16LE(0x21, 8) // 1 January 1980
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(bytes.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, bytes])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, rest, name]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(directory.length, 4)
  end.writeUInt16LE(directory.length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, central, Buffer.from('PK\x05\x06'), end])
}
