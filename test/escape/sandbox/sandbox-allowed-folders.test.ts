/**
 * Folders of the host that the operator allows to sandboxes, of which one sandbox replaces a part by a link while another
 * one asks for it.
 */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import type { LazaretError, Sandbox, SandboxOptions, Work } from '../../../src/index.ts'
import { noPools, useLazaret } from '../../support/use-lazaret.ts'

const outer = mkdtempSync(join(tmpdir(), 'lazaret-swapped-'))
after(() => rmSync(outer, { recursive: true, force: true }))
const [given, outside] = [join(outer, 'given'), join(outer, 'outside')]
/** A user who is neither root nor the cell's. */
const owner = process.getuid?.() === 0 ? 4242 : undefined
for (const folder of [outer, given, outside]) {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  if (owner !== undefined) chownSync(folder, owner, owner)
}
writeFileSync(join(outside, 'kept'), 'of the host')

let whileAsked: (() => Promise<unknown>) | undefined
const admit = async ({ kind }: Work): Promise<boolean> => {
  const act = whileAsked
  if (kind !== 'sandbox' || act === undefined) return true
  whileAsked = undefined
  await act()
  return true
}
const access = { workspaces: [given], readable: [given] }
const { lazaret } = await useLazaret({ access, admit, pools: noPools })

const inner = join(given, 'inner')
/** Each attempt asks in another way, because the plan of a cell's view is kept for the next one of the same shape. */
const asks: Readonly<Record<string, (turn: number) => SandboxOptions>> = {
  'its workspace': (turn) => ({ workspace: inner, limits: { diskBytes: (1 + turn) * 1024 * 1024 } }),
  'a folder to read': (turn) => ({ readable: [{ host: inner, guest: `/shown/${turn}` }] }),
}
const read = 'cat /workspace/kept /shown/*/kept 2>/dev/null'
/** If only the check were late, one attempt in a hundred would show what it must not. */
const turnsMax = 200

async function inGiven(act: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  await using sandbox = await lazaret.sandbox({ workspace: given })
  await act(sandbox)
}

for (const [what, asked] of Object.entries(asks))
  test(`a link that replaces ${what} after the policy has allowed it leads nowhere`, () =>
    inGiven(async (sandbox) => {
      await sandbox.exec('rm -rf inner && mkdir inner')
      whileAsked = () => sandbox.exec(`rmdir inner && ln -s ${outside} inner`)
      await assert.rejects(
        async () => {
          await using other = await lazaret.sandbox(asked(0))
          assert.equal((await other.exec(read)).stdout, '')
        },
        (error: LazaretError) => error.code === 'ACCESS_DENIED',
      )
    }))

const swapping = `
import ctypes, os
libc = ctypes.CDLL(None)
if not os.path.lexists('link'): os.symlink('${outside}', 'link')
while True: libc.renameat2(-100, b'inner', -100, b'link', 2)`

for (const [what, asked] of Object.entries(asks))
  test(`a folder that is exchanged with a link over and over as ${what} shows nothing else`, () =>
    inGiven(async (sandbox) => {
      await sandbox.exec('rm -rf inner link && mkdir inner')
      const swap = await sandbox.startProcess(`exec python3 -c "${swapping}"`)
      const seen = new Map<string, number>()
      for (let turn = 0; turn < turnsMax; turn++) {
        const saw = await attempt(asked(turn))
        seen.set(saw, (seen.get(saw) ?? 0) + 1)
      }
      swap.kill()
      assert.ok(!seen.has('of the host'), JSON.stringify([...seen]))
    }))

test('a folder that its guest closes over and over makes no other cell do without its view of the host', () =>
  inGiven(async (sandbox) => {
    await sandbox.exec('rm -rf inner link && mkdir -p inner/deep')
    const before = await countFileSystems()
    const closing = await sandbox.startProcess(
      `exec python3 -c "import os\nwhile True: os.chmod('inner', 0o700); os.chmod('inner', 0o755)"`,
    )
    const deep = { readable: [{ host: join(inner, 'deep'), guest: '/shown' }] }
    for (let turn = 0; turn < 30; turn++) await attempt(deep)
    closing.kill()
    assert.equal(await countFileSystems(), before)
  }))

/** Those in a cell of a run: each view is one. */
async function countFileSystems(): Promise<string> {
  const code = `awk '{print $3}' /proc/self/mountinfo | sort -u | wc -l`
  return (await lazaret.run({ language: 'shell', code })).stdout
}

/** What a sandbox with these folders reads, or the code of its refusal. */
async function attempt(asked: SandboxOptions): Promise<string> {
  try {
    await using other = await lazaret.sandbox(asked)
    return (await other.exec(read)).stdout
  } catch (error) {
    return (error as LazaretError).code
  }
}
