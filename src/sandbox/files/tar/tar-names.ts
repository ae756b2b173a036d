/**
 * Which names an archive may contain. They are checked as text, without any lookup: a path goes down from the folder
 * and never through a link, and a link climbs first, if at all, and never above the folder.
 */
export type NameCheck<T> = { readonly is: T } | { readonly refused: string }

/** The same depth that the file service can walk. */
const depthMax = 64
const nameBytesMax = 255
const pathBytesMax = 4095

/** The path without `.`, doubled slashes and a slash at the end; empty for the folder itself. */
export function parseTarPath(name: string): NameCheck<string> {
  const wrong = explainText(name)
  if (wrong !== undefined) return { refused: wrong }
  if (name.startsWith('/')) return { refused: 'its name is absolute' }
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return { refused: 'its name contains `..`' }
  if (parts.length > depthMax) return { refused: `it is more than ${depthMax} folders deep` }
  if (parts.some((part) => Buffer.byteLength(part) > nameBytesMax))
    return { refused: `its name is longer than ${nameBytesMax} bytes` }
  return { is: parts.join('/') }
}

/** Where a symlink at `path` leads, if that is inside the folder whatever other links the archive contains. */
export function parseLinkTarget(target: string, path: string): NameCheck<string> {
  const wrong = explainText(target)
  if (wrong !== undefined) return { refused: wrong }
  if (target === '' || target.startsWith('/')) return { refused: 'it leads out of the folder' }
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const down = parts.findIndex((part) => part !== '..')
  const climbs = down === -1 ? parts.length : down
  // After a name, `..` means the parent of that name's target, which may be anywhere.
  if (parts.slice(climbs).includes('..')) return { refused: 'it goes down and up again' }
  if (climbs > path.split('/').length - 1) return { refused: 'it leads out of the folder' }
  return { is: target }
}

function explainText(text: string): string | undefined {
  if (text.includes('\0')) return 'a name contains a NUL character'
  if (text.includes('\uFFFD')) return 'a name is not UTF-8'
  return Buffer.byteLength(text) > pathBytesMax ? `a name is longer than ${pathBytesMax} bytes` : undefined
}

/**
 * The paths of an archive. Only a folder may occur twice, and no path may be below something that is not a
 * folder.
 */
export class TarPaths {
  readonly #kinds = new Map<string, TarPathKind>()
  #characters = 0

  /** Why this path is refused; if undefined, it has been added. */
  add(path: string, kind: TarPathKind): string | undefined {
    const before = this.#kinds.get(path)
    if (before !== undefined && (before !== 'folder' || kind !== 'folder')) return 'its name occurs twice'
    const parents = listParents(path)
    const blocking = parents.find((parent) => (this.#kinds.get(parent) ?? 'folder') !== 'folder')
    if (blocking !== undefined) return 'its name goes through an entry that is not a folder'
    // A parent folder without its own entry also counts as a folder.
    for (const parent of parents) this.#keep(parent, 'folder')
    this.#keep(path, kind)
    return this.#characters > charactersMax ? 'the names together are too long' : undefined
  }

  #keep(path: string, kind: TarPathKind): void {
    if (!this.#kinds.has(path)) this.#characters += path.length
    this.#kinds.set(path, kind)
  }

  /** Whether a regular file of this archive has this path. */
  hasFile(path: string): boolean {
    return this.#kinds.get(path) === 'file'
  }
}

export type TarPathKind = 'file' | 'folder' | 'link'

/** What is remembered of an archive while it is unpacked. */
const charactersMax = 32 * 1024 * 1024

function listParents(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}
