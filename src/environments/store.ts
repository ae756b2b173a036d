/**
 * Stores environments on the host's disk: a folder for each, named after the hash of its contents, and a small file for
 * each name. A folder never changes once it has its hash, and each change of a name is one rename.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { LazaretError } from '../core/errors/errors.ts'
import { isLeftBehind, nameOfThisHost } from '../jail/machine/host-identity.ts'
import type { Environment } from './environment.ts'
import { readNamed, readSealed } from './records.ts'
import type { NamedEnvironment, SealedEnvironment } from './records.ts'

const groupAndOthersWrite = 0o022

export class EnvironmentStore {
  readonly #find: () => string
  #found: string | undefined
  /** A cache by hash. Entries stay valid, because an environment never changes. */
  readonly #sealed = new Map<string, SealedEnvironment>()

  constructor(folder: () => string) {
    this.#find = folder
  }

  get #folder(): string {
    return (this.#found ??= this.#find())
  }

  /** The environment of this name, or undefined. Throws ENVIRONMENT_FAILED if its files are damaged. */
  find(name: string): Environment | undefined {
    this.#requireOwn()
    const named = readNamed(this.#pathOfName(name))
    if (named === undefined) return undefined
    const sealed = this.#sealed.get(named.hash) ?? readSealed(this.#manifestOf(named.hash), named.hash)
    this.#sealed.set(named.hash, sealed)
    return { name, ...named, ...sealed }
  }

  async list(): Promise<readonly Environment[]> {
    const files = await listNames(join(this.#folder, 'names'))
    const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))
    return names.toSorted().flatMap((name) => this.find(name) ?? [])
  }

  folderOf(hash: string): string {
    return join(this.#folder, 'objects', hash)
  }

  /**
   * Creates an empty folder for a build, and removes leftovers of dead builds. Disposal removes it with its contents.
   */
  async stage(): Promise<AsyncDisposable & { readonly path: string }> {
    this.#makeOwn()
    await this.sweep()
    const path = join(this.#folder, 'building', nameOfThisHost())
    await mkdir(path, { recursive: true })
    await chmod(path, 0o755)
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
  }

  /** Moves a finished build to its final place and points the name to it. */
  async keep(
    name: string,
    staged: string,
    { sealed, named }: { readonly sealed: SealedEnvironment; readonly named: NamedEnvironment },
  ): Promise<Environment> {
    await writeFile(join(staged, 'environment.json'), `${JSON.stringify(sealed, null, 2)}\n`, { mode: 0o644 })
    await mkdir(join(this.#folder, 'objects'), { recursive: true, mode: 0o755 })
    const { hash } = named
    // Until it has its name, others would remove it as unused.
    const stop = this.#mark(hash)
    try {
      const place = () => this.#place(staged, hash)
      // A remover that checked for marks too early either puts the folder back, or finds the second one in place.
      if (!(await place()) && !(await place())) throw unstored(name)
      await this.#writeName(name, named)
    } finally {
      await stop()
    }
    return { name, ...named, ...sealed }
  }

  /** A concurrent build of the same packages may have moved an identical folder there first. */
  async #place(staged: string, hash: string): Promise<boolean> {
    const isMoved = await rename(staged, this.folderOf(hash)).then(isDone, isThere)
    return isMoved || existsSync(this.#manifestOf(hash))
  }

  /**
   * Removes a name, then the environment that it pointed to, in that order: a name never points to nothing, whenever this
   * process dies. False if the environment is in use, and the name stays.
   */
  async remove({ name, hash, updatedAt, spec }: Environment): Promise<boolean> {
    if (await this.#isUsed(hash)) return false
    await this.forget(name)
    if (await this.removeUnused(hash)) return true
    // Another process has begun to use it meanwhile.
    await this.#writeName(name, { hash, updatedAt, spec })
    return false
  }

  async forget(name: string): Promise<void> {
    await rm(this.#pathOfName(name), { force: true })
  }

  /**
   * Marks an environment as used by this process until the returned function is called. Undefined if it was removed.
   */
  use(hash: string): (() => Promise<void>) | undefined {
    const stop = this.#mark(hash)
    // The check comes after the mark, because a remover checks for marks after it has moved the folder away.
    return existsSync(this.#manifestOf(hash)) ? stop : undefined
  }

  #mark(hash: string): () => Promise<void> {
    const marker = join(this.#usersOf(hash), nameOfThisHost())
    try {
      mkdirSync(marker, { recursive: true })
    } catch (error) {
      // The environments belong to another user, and only that user can remove them.
      if (!isRefused(error)) throw error
    }
    return () => rm(marker, { recursive: true, force: true })
  }

  /** Removes a folder that nobody uses and no name points to. False if it is still needed. */
  async removeUnused(hash: string): Promise<boolean> {
    const folder = this.folderOf(hash)
    if (await this.#isWanted(hash)) return false
    await using aside = await this.stage()
    const gone = join(aside.path, hash)
    if (!(await rename(folder, gone).then(isDone, isMissing))) return true
    if (await this.#isWanted(hash)) {
      await rename(gone, folder).then(isDone, isThere)
      return false
    }
    await rm(this.#usersOf(hash), { recursive: true, force: true })
    this.#sealed.delete(hash)
    return true
  }

  /** Hashes of all stored folders, with and without names. */
  async hashes(): Promise<readonly string[]> {
    return await listNames(join(this.#folder, 'objects'))
  }

  /** Removes the leftovers of builds whose processes have died: their folders, archives, marks and unfinished names. */
  async sweep(): Promise<void> {
    for (const kind of ['building', 'names']) {
      const folder = join(this.#folder, kind)
      for (const file of (await listNames(folder)).filter(isLeftover))
        await rm(join(folder, file), { recursive: true, force: true })
    }
    for (const hash of await listNames(join(this.#folder, 'users'))) await this.#isUsed(hash)
  }

  /** Marks first, because a build removes its mark once the name exists. */
  async #isWanted(hash: string): Promise<boolean> {
    return (await this.#isUsed(hash)) || (await this.#isNamed(hash))
  }

  async #isNamed(hash: string): Promise<boolean> {
    const files = await listNames(join(this.#folder, 'names'))
    const names = files.filter((file) => file.endsWith('.json'))
    return names.some((file) => readNamed(join(this.#folder, 'names', file))?.hash === hash)
  }

  async #isUsed(hash: string): Promise<boolean> {
    const users = this.#usersOf(hash)
    const names = await listNames(users)
    for (const name of names.filter(isLeftBehind))
      await rm(join(users, name), { recursive: true, force: true })
    return names.some((name) => !isLeftBehind(name))
  }

  async #writeName(name: string, named: NamedEnvironment): Promise<void> {
    const path = this.#pathOfName(name)
    await mkdir(join(this.#folder, 'names'), { recursive: true, mode: 0o755 })
    const temporary = `${path}.${nameOfThisHost()}`
    await writeFile(temporary, `${JSON.stringify(named)}\n`, { mode: 0o644, flag: 'wx' })
    await rename(temporary, path)
  }

  /** Guests import these files, so only root and this user may be able to write here. */
  #requireOwn(): void {
    const facts = statSync(this.#folder, { throwIfNoEntry: false })
    if (facts === undefined) return
    const isOurs = facts.uid === process.geteuid?.() || facts.uid === 0
    if (isOurs && (facts.mode & groupAndOthersWrite) === 0) return
    throw new LazaretError('INVALID_REQUEST', {
      detail: `environments.folder: others can write to ${this.#folder}, or own it.`,
      hint: 'Name a folder that belongs to you, or to root, and that nobody else can write to.',
    })
  }

  #makeOwn(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o755 })
    this.#requireOwn()
  }

  #pathOfName(name: string): string {
    return join(this.#folder, 'names', `${name}.json`)
  }

  #manifestOf(hash: string): string {
    return join(this.folderOf(hash), 'environment.json')
  }

  #usersOf(hash: string): string {
    return join(this.#folder, 'users', hash)
  }
}

async function listNames(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  })
}

const isDone = (): boolean => true

/** `<host>` and `<host>.tar` of a build; `<name>.json.<host>` is a name before its rename. */
const isLeftover = (file: string): boolean =>
  isLeftBehind(file.replace(/^[^/]*\.json\./, '').replace(/\.tar$/, ''))

/** False if another folder is in the place. Throws other errors. */
function isThere(error: unknown): boolean {
  if (['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) return false
  throw error
}

function isMissing(error: unknown): boolean {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
  throw error
}

function isRefused(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code))
}

const unstored = (name: string): LazaretError =>
  new LazaretError('ENVIRONMENT_FAILED', {
    detail: `Another process removed the environment ${name} while it was stored.`,
    hint: 'Create it again.',
  })
