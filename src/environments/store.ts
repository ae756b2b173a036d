/**
 * Stores environments on the host's disk: a folder for each, named after the hash of its manifest, which has the hash of its
 * files, and a small file for each name. A folder never changes once it has its hash, and each change of a name is one rename
 * or link.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { chmod, link, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { LazaretError } from '../core/errors/errors.ts'
import { isLeftBehind, nameOfThisHost } from '../jail/machine/host-identity.ts'
import type { Environment } from './environment.ts'
import { environmentFailed } from './failed.ts'
import { readManifest, readNamed, writeManifest } from './records.ts'
import type { Manifest, NamedEnvironment, SealedEnvironment } from './records.ts'
import { hashFolder } from './seal.ts'

const groupAndOthersWrite = 0o022
const manifestName = 'environment.json'

/** What a build of this name has made, in the folder that `stage()` gave it. */
export interface Kept extends Omit<NamedEnvironment, 'hash'> {
  readonly manifest: Manifest
  /** Whether another environment may have had the name. */
  readonly replace: boolean
}

/** The part of a build's folder that becomes the environment. */
export function environmentIn(staged: string): string {
  return join(staged, 'environment')
}

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

  /** What this name points to, or undefined. Throws ENVIRONMENT_FAILED if that is damaged. */
  named(name: string): NamedEnvironment | undefined {
    this.#requireOwn()
    return readNamed(this.#pathOfName(name))
  }

  /** The environment of this name, or undefined. Throws ENVIRONMENT_FAILED if its record is damaged. */
  find(name: string): Environment | undefined {
    const named = this.named(name)
    return named && { name, ...named, ...this.#readSealed(name, named.hash) }
  }

  #readSealed(name: string, hash: string): SealedEnvironment {
    const known = this.#sealed.get(hash)
    if (known !== undefined) return known
    const manifest = readManifest(this.#manifestOf(hash), hash)
    if (manifest === undefined)
      throw environmentFailed(
        `The record of the environment ${name} is damaged, missing, or of an earlier version of Lazaret.`,
        'Create the environment again, with replace.',
      )
    const { contents: _contents, ...sealed } = manifest
    this.#sealed.set(hash, sealed)
    return sealed
  }

  async list(): Promise<readonly Environment[]> {
    return (await this.names()).flatMap((name) => this.find(name) ?? [])
  }

  async names(): Promise<readonly string[]> {
    const files = await listNames(join(this.#folder, 'names'))
    const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))
    return names.toSorted()
  }

  folderOf(hash: string): string {
    return join(this.#folder, 'objects', hash)
  }

  /**
   * Creates a folder for a build, with an empty one for its environment, and removes leftovers of dead builds. Disposal
   * removes it with its contents.
   */
  async stage(): Promise<AsyncDisposable & { readonly path: string }> {
    this.#makeOwn()
    await this.sweep()
    const path = join(this.#folder, 'building', nameOfThisHost())
    await mkdir(environmentIn(path), { recursive: true })
    // Guests are shown what is in it.
    await chmod(path, 0o755)
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
  }

  /**
   * Moves a finished build to its final place and points the name to it. Throws ENVIRONMENT_EXISTS if another build got the
   * name first.
   */
  async keep(name: string, staged: string, { manifest, replace, ...named }: Kept): Promise<Environment> {
    const { text, hash } = writeManifest(manifest)
    await writeFile(join(environmentIn(staged), manifestName), text, { mode: 0o644 })
    await mkdir(join(this.#folder, 'objects'), { recursive: true, mode: 0o755 })
    // Until it has its name, others would remove it as unused.
    const stop = this.#mark(hash)
    try {
      const place = () => this.#place(staged, hash)
      // A remover that checked for marks too early either puts the folder back, or finds the second one in place.
      if (!(await place()) && !(await place())) throw unstored(name)
      if (!(await this.#writeName(name, { hash, ...named }, { replace })))
        throw new LazaretError('ENVIRONMENT_EXISTS', { detail: `Environment ${name}.` })
    } catch (error) {
      await stop()
      await this.removeUnused(hash)
      throw error
    }
    await stop()
    const { contents: _contents, ...sealed } = manifest
    return { name, hash, ...named, ...sealed }
  }

  /**
   * A folder may be in the place: of another build of the same packages, which is as good as this one if all of its files are
   * as they were hashed. Otherwise it is moved out of the way, and the result is false.
   */
  async #place(staged: string, hash: string): Promise<boolean> {
    const folder = this.folderOf(hash)
    if (await rename(environmentIn(staged), folder).then(isDone, isThere)) return true
    if (await isWhole(folder, hash)) return true
    await rename(folder, join(staged, 'damaged')).catch(isMissing)
    return false
  }

  /**
   * Removes a name, then the environment that it pointed to, in that order: a name never points to nothing, whenever this
   * process dies. False if the environment is in use, and the name stays.
   */
  async remove(name: string, named: NamedEnvironment): Promise<boolean> {
    const { hash } = named
    if (await this.#isUsed(hash)) return false
    await this.forget(name)
    if (await this.removeUnused(hash)) return true
    // Another process has begun to use it meanwhile.
    await this.#writeName(name, named, { replace: false })
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
    return (await this.names()).some((name) => readNamed(this.#pathOfName(name))?.hash === hash)
  }

  async #isUsed(hash: string): Promise<boolean> {
    const users = this.#usersOf(hash)
    const names = await listNames(users)
    for (const name of names.filter(isLeftBehind))
      await rm(join(users, name), { recursive: true, force: true })
    return names.some((name) => !isLeftBehind(name))
  }

  /** False if the name is there and may not be replaced. Of several processes that write a new name, one succeeds. */
  async #writeName(
    name: string,
    named: NamedEnvironment,
    { replace }: Pick<Kept, 'replace'>,
  ): Promise<boolean> {
    const path = this.#pathOfName(name)
    await mkdir(join(this.#folder, 'names'), { recursive: true, mode: 0o755 })
    const temporary = `${path}.${nameOfThisHost()}`
    await writeFile(temporary, `${JSON.stringify(named)}\n`, { mode: 0o644, flag: 'wx' })
    if (replace) return await rename(temporary, path).then(isDone)
    const isNew = await link(temporary, path).then(isDone, isThere)
    await rm(temporary)
    return isNew
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
    return join(this.folderOf(hash), manifestName)
  }

  #usersOf(hash: string): string {
    return join(this.#folder, 'users', hash)
  }
}

/** Whether an environment in this folder is what its hash says, down to each byte of its files. */
export async function isWhole(folder: string, hash: string): Promise<boolean> {
  const manifest = readManifest(join(folder, manifestName), hash)
  if (manifest === undefined) return false
  const found = await hashFolder(folder, manifestName).catch(() => undefined)
  return found?.contents === manifest.contents
}

async function listNames(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  })
}

const isDone = (): boolean => true

/** `<host>` of a build; `<name>.json.<host>` is a name before its rename. */
const isLeftover = (file: string): boolean => isLeftBehind(file.replace(/^[^/]*\.json\./, ''))

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
  environmentFailed(
    `Another process removed the environment ${name} while it was stored.`,
    'Create it again.',
  )
