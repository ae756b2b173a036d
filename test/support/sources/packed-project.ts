/**
 * The tarball in an empty project, as a user has it: packed, installed elsewhere, without a compiler or this checkout.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { SpawnSyncReturns } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkoutRoot, readText } from './checkout.ts'

export interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

export interface UseOptions {
  /** The uid that uses it, if not the test's. */
  readonly userId?: number | undefined
  /** Arguments before the command, such as a program that removes a layer of the wall. */
  readonly before?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A uid of no user: scripts/testing/plan/passes.ts has the reason. */
export const plainUserId = 65_533
const asUser = join(checkoutRoot, 'scripts/testing/as-user.ts')
/** Far more than npm needs on an idle machine; this one may be busy. */
const npmMs = 300_000
const npm = findNpm()
/** By default npm waits ten seconds before it retries, for each package. */
const impatient = ['--fetch-retries=1', '--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=1000']

/** Owns its folder. */
export class PackedProject implements Disposable {
  readonly packed: Packed
  readonly tarball: string
  /** Where it is installed. */
  readonly folder: string
  /** The output of npm's installation; undefined if no registry can be reached. */
  readonly saidByNpm: string | undefined
  readonly #root = mkdtempSync(join(tmpdir(), 'lazaret-package-'))
  readonly #tools = join(this.#root, 'bin')

  /** Installs these packages, too, if a registry can be reached. */
  constructor(packages: readonly string[] = []) {
    // Other users use it, too.
    chmodSync(this.#root, 0o755)
    this.folder = join(this.#root, 'consumer')
    mkdirSync(this.folder)
    writeFileSync(join(this.folder, 'package.json'), '{"private":true,"type":"module"}')
    this.#makeTools()
    this.packed = this.#pack()
    this.tarball = join(this.#root, this.packed.filename)
    this.saidByNpm = this.#install([this.tarball, ...packages])
    if (this.saidByNpm === undefined) this.#unpackWithOurDependencies()
  }

  /** Runs a command in its folder, as a user would. `lazaret` is the link that npm has created in .bin. */
  use(command: string, args: readonly string[], options: UseOptions = {}): SpawnSyncReturns<string> {
    const [file, ...words] = this.words(command, args, options)
    const env = { ...this.environment(options.userId), ...options.env }
    return spawnSync(file, words, { cwd: this.folder, encoding: 'utf8', env })
  }

  words(
    command: string,
    args: readonly string[],
    { userId, before = [] }: UseOptions,
  ): [string, ...string[]] {
    const file =
      command === 'lazaret' ? join(this.folder, 'node_modules/.bin/lazaret') : join(this.#tools, command)
    const become = userId === undefined ? [] : [process.execPath, asUser, String(userId)]
    const [first = file, ...words] = [...become, ...before, file, ...args]
    return [first, ...words]
  }

  environment(userId?: number): Record<string, string> {
    return { PATH: this.#tools, HOME: this.home(userId), LANG: 'C.UTF-8' }
  }

  /** A folder that only this user may read. */
  home(userId?: number): string {
    const folder = join(this.#root, `home-${userId ?? 'own'}`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (userId !== undefined) chownSync(folder, userId, userId)
    return folder
  }

  /** Runs a module in the project, and returns its output, parsed as JSON. */
  ask(program: string, options: UseOptions = {}): unknown {
    writeFileSync(join(this.folder, 'program.mjs'), program)
    const { status, stdout, stderr } = this.use('node', ['program.mjs'], options)
    assert.equal(status, 0, stderr)
    return JSON.parse(stdout)
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  /** A PATH with only these programs. The interpreters and the shell of the machine are found in /usr/bin. */
  #makeTools(): void {
    mkdirSync(this.#tools)
    symlinkSync(process.execPath, join(this.#tools, 'node'))
    for (const name of ['sh', 'env']) symlinkSync(`/usr/bin/${name}`, join(this.#tools, name))
  }

  /** Without scripts: this packs what `npm test` has just built, and rebuilds nothing during tests. */
  #pack(): Packed {
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', this.#root, checkoutRoot]
    const packing = this.#runNpm(args)
    assert.equal(packing.status, 0, packing.stderr)
    const answer: unknown = JSON.parse(packing.stdout)
    // An array of packages up to npm 11; an object by name later.
    return Object.values(answer as Record<string, Packed>)[0] as Packed
  }

  /** The output of npm, or undefined if it failed. */
  #install(words: readonly string[]): string | undefined {
    const options = ['--prefer-offline', '--no-audit', '--no-fund', ...impatient]
    const { status, stdout, stderr } = this.#runNpm(['install', ...options, ...words])
    if (status !== 0) process.stderr.write(stderr)
    return status === 0 ? stdout + stderr : undefined
  }

  #unpackWithOurDependencies(): void {
    process.stderr.write('No registry can be reached; the dependencies are copied from this checkout.\n')
    const modules = join(this.folder, 'node_modules')
    rmSync(modules, { recursive: true, force: true })
    mkdirSync(join(modules, 'lazaret'), { recursive: true })
    const where = ['-C', join(modules, 'lazaret'), '--strip-components=1']
    assert.equal(spawnSync('tar', ['-xzf', this.tarball, ...where]).status, 0)
    const lock = JSON.parse(readText('package-lock.json')) as { packages: Record<string, { dev?: boolean }> }
    for (const [path, { dev }] of Object.entries(lock.packages)) {
      if (path === '' || dev === true || !existsSync(join(checkoutRoot, path))) continue
      mkdirSync(dirname(join(this.folder, path)), { recursive: true })
      cpSync(join(checkoutRoot, path), join(this.folder, path), { recursive: true })
    }
    mkdirSync(join(modules, '.bin'), { recursive: true })
    symlinkSync('../lazaret/dist/adapters/cli/main.js', join(modules, '.bin/lazaret'))
    assert.equal(statSync(join(modules, '.bin/lazaret')).mode & 0o111, 0o111)
  }

  #runNpm(args: readonly string[]): SpawnSyncReturns<string> {
    const env = { ...outerEnvironment(), PATH: this.#tools, TMPDIR: this.#root }
    const options = { cwd: this.folder, encoding: 'utf8', timeout: npmMs, env } as const
    return spawnSync(process.execPath, [npm, ...args], options)
  }
}

/**
 * The environment without an outer npm's variables about this checkout, and without options of the Node that runs the
 * tests. npm's configuration files and the certificates that this machine trusts still apply.
 */
function outerEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_(cache|registry|userconfig)$)|^NODE_(?!EXTRA_CA_CERTS$)/.test(name),
  )
  return Object.fromEntries(entries)
}

/** npm's script, so that it runs with this process's Node. */
function findNpm(): string {
  const outer = process.env['npm_execpath']
  if (outer?.endsWith('npm-cli.js')) return outer
  const found = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim()
  return realpathSync(found)
}
