/** Any sequence of operations has the same effect on a real cell as on a model of a file system in a few maps. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import type { ErrorCode } from '../../../src/core/errors/errors.ts'
import { useFiles } from './use-files.ts'

const { files, shell } = useFiles()

type Node =
  | { readonly kind: 'file'; content: Buffer }
  | { readonly kind: 'folder'; readonly entries: Map<string, Node> }

class Refusal extends Error {
  readonly code: ErrorCode
  constructor(code: ErrorCode) {
    super(code)
    this.code = code
  }
}

const folder = (): Node & { readonly kind: 'folder' } => ({ kind: 'folder', entries: new Map() })

/** Without links and permissions: only names, and the order in which the kernel checks them. */
class Model {
  readonly root = folder()

  find(parts: readonly string[]): Node {
    let node: Node = this.root
    for (const part of parts) {
      if (node.kind !== 'folder') throw new Refusal('NOT_A_FOLDER')
      const next = node.entries.get(part)
      if (next === undefined) throw new Refusal('FILE_NOT_FOUND')
      node = next
    }
    return node
  }

  parent(parts: readonly string[]): Map<string, Node> {
    const node = this.find(parts.slice(0, -1))
    if (node.kind !== 'folder') throw new Refusal('NOT_A_FOLDER')
    return node.entries
  }

  makeFolders(parts: readonly string[]): void {
    for (let length = 1; length <= parts.length; length++) {
      const path = parts.slice(0, length)
      const entries = this.parent(path)
      if (!entries.has(String(path.at(-1)))) entries.set(String(path.at(-1)), folder())
    }
  }

  write(parts: readonly string[], content: Buffer, createParents: boolean): void {
    if (createParents) this.makeFolders(parts.slice(0, -1))
    const entries = this.parent(parts)
    const name = String(parts.at(-1))
    const before = entries.get(name)
    if (before?.kind === 'folder') throw new Refusal('NOT_A_FILE')
    if (before === undefined) entries.set(name, { kind: 'file', content })
    else before.content = content
  }

  read(parts: readonly string[]): Buffer {
    const node = this.find(parts)
    if (node.kind !== 'file') throw new Refusal('NOT_A_FILE')
    return node.content
  }

  mkdir(parts: readonly string[], recursive: boolean): void {
    if (recursive) {
      this.makeFolders(parts)
      if (this.find(parts).kind !== 'folder') throw new Refusal('FILE_EXISTS')
      return
    }
    const entries = this.parent(parts)
    if (entries.has(String(parts.at(-1)))) throw new Refusal('FILE_EXISTS')
    entries.set(String(parts.at(-1)), folder())
  }

  delete(parts: readonly string[], recursive: boolean): void {
    const node = this.find(parts)
    if (node.kind === 'folder' && !recursive) throw new Refusal('NOT_A_FILE')
    this.parent(parts).delete(String(parts.at(-1)))
  }

  rename(from: readonly string[], to: readonly string[]): void {
    const source = this.parent(from)
    const target = this.parent(to)
    const node = source.get(String(from.at(-1)))
    if (node === undefined) throw new Refusal('FILE_NOT_FOUND')
    const other = target.get(String(to.at(-1)))
    const isInside = (inner: readonly string[], outer: readonly string[]) =>
      inner.length > outer.length && outer.every((part, index) => inner[index] === part)
    if (isInside(to, from)) throw new Refusal('FILE_REFUSED')
    if (isInside(from, to)) throw new Refusal('FOLDER_NOT_EMPTY')
    if (node === other) return
    if (node.kind === 'folder' && other?.kind === 'file') throw new Refusal('NOT_A_FOLDER')
    if (node.kind === 'file' && other?.kind === 'folder') throw new Refusal('NOT_A_FILE')
    if (other?.kind === 'folder' && other.entries.size > 0) throw new Refusal('FOLDER_NOT_EMPTY')
    source.delete(String(from.at(-1)))
    target.set(String(to.at(-1)), node)
  }

  list(parts: readonly string[]): readonly string[] {
    const node = this.find(parts)
    if (node.kind !== 'folder') throw new Refusal('NOT_A_FOLDER')
    const walk = (entries: Map<string, Node>, prefix: string): string[] =>
      [...entries].flatMap(([name, child]) => [
        `${prefix}${name} ${child.kind} ${child.kind === 'file' ? child.content.length : ''}`,
        ...(child.kind === 'folder' ? walk(child.entries, `${prefix}${name}/`) : []),
      ])
    return walk(node.entries, '').sort()
  }
}

const name = fc.constantFrom('a', 'b', 'c d', '-x', 'é\n')
const path = fc.array(name, { minLength: 1, maxLength: 4 })
const content = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('write' as const), path, content, flag: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('mkdir' as const), path, flag: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), path, flag: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('rename' as const, 'move' as const), path, to: path }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('list' as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tar' as const), path, to: path }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function list(at: string): Promise<readonly string[]> {
  const { entries, isComplete } = await files.listFiles(at, { recursive: true })
  assert.ok(isComplete)
  const describe = (type: string, bytes: number) => `${type} ${type === 'file' ? bytes : ''}`
  return entries.map(({ path: one, type, bytes }) => `${one} ${describe(type, bytes)}`).sort()
}

async function doReal(one: Step): Promise<unknown> {
  const at = one.path.join('/')
  if (one.do === 'write') return files.writeFile(at, one.content, { createParents: one.flag })
  if (one.do === 'read') return Buffer.from(await files.readFile(at, { encoding: 'bytes' }))
  if (one.do === 'mkdir') return files.mkdir(at, { recursive: one.flag })
  if (one.do === 'delete') return files.deleteFile(at, { recursive: one.flag })
  if (one.do === 'rename') return files.renameFile(at, one.to.join('/'))
  if (one.do === 'move') return files.moveFile(at, one.to.join('/'))
  if (one.do === 'list') return list(at)
  const chunks: Uint8Array[] = []
  for await (const chunk of files.downloadTar({ path: at })) chunks.push(chunk)
  await shell('rm -rf /tmp/copy')
  await files.uploadTar(Buffer.concat(chunks), { path: '/tmp/copy' })
  return list('/tmp/copy')
}

function doModel(model: Model, one: Step): unknown {
  if (one.do === 'write') return model.write(one.path, one.content, one.flag)
  if (one.do === 'read') return model.read(one.path)
  if (one.do === 'mkdir') return model.mkdir(one.path, one.flag)
  if (one.do === 'delete') return model.delete(one.path, one.flag)
  if (one.do === 'rename' || one.do === 'move') return model.rename(one.path, one.to)
  return model.list(one.path)
}

async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return { answer: await work() }
  } catch (error) {
    if (error instanceof LazaretError || error instanceof Refusal) return { refused: error.code }
    throw error
  }
}

test('every operation of a sequence has the outcome that it has in the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await shell('rm -rf ./* ./-x')
      const model = new Model()
      for (const one of steps) {
        const expected = await outcome(() => doModel(model, one))
        assert.deepEqual(await outcome(() => doReal(one)), expected, JSON.stringify(one))
      }
      assert.deepEqual(await list('.'), model.list([]))
    }),
    { numRuns: 60 },
  )
})
