import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'

const pythonIsMissing = new Toolchains().python() === null && 'python3 is not installed'

function useFolder(): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'lazaret-toolchain-')))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

test('a configured toolchain is used, with its real path', () => {
  using folder = useFolder()
  const link = join(folder.path, 'node')
  symlinkSync(process.execPath, link)
  const toolchains = new Toolchains({ node: link, bun: link })
  assert.deepEqual(
    [toolchains.node(), toolchains.bun()],
    [realpathSync(process.execPath), realpathSync(process.execPath)],
  )
})

test('a configured toolchain that is missing or cannot be executed is not replaced by another', () => {
  using folder = useFolder()
  const plain = join(folder.path, 'plain')
  writeFileSync(plain, 'text')
  for (const path of [plain, '/no/such/file']) {
    const toolchains = new Toolchains({ node: path, bun: path, python: path })
    assert.deepEqual([toolchains.node(), toolchains.bun(), toolchains.python()], [null, null, null], path)
  }
})

test('a program that does not answer like Python is not used as Python', () => {
  using folder = useFolder()
  const fake = join(folder.path, 'python3')
  writeFileSync(fake, '#!/bin/sh\necho relative/python\necho 3.12\n')
  chmodSync(fake, 0o755)
  assert.equal(new Toolchains({ python: fake }).python(), null)
})

test('problems are reported for configured interpreters, but not for others', () => {
  using folder = useFolder()
  const plain = join(folder.path, 'plain')
  writeFileSync(plain, 'text')
  for (const [path, reason] of [
    [
      join(folder.path, 'nope'),
      /`toolchains\.python`, .*\/nope, is not a usable interpreter: there is no such file/,
    ],
    [plain, /not a file that this user may execute/],
    [folder.path, /not a file that this user may execute/],
    ['/bin/false', /does not answer as a Python 3 does/],
  ] as const) {
    const toolchains = new Toolchains({ python: path })
    assert.equal(toolchains.python(), null)
    assert.match(String(toolchains.explain('python')), reason)
    assert.equal(toolchains.explain('bun'), undefined)
  }
  assert.equal(new Toolchains({ bun: folder.path }).bun(), null)
})

test('without configuration this Node is found if it is new enough', () => {
  assert.equal(new Toolchains().node(), realpathSync(process.execPath))
})

test('a shell is found', { skip: !existsSync('/bin/sh') && 'there is no /bin/sh' }, () => {
  assert.match(String(new Toolchains().shell()), /^\/.*\/(bash|dash|sh|busybox)$/)
})

test(
  'Python is the interpreter itself with the folders that it needs, not a shim',
  { skip: pythonIsMissing },
  () => {
    const { path, version, folders } = new Toolchains().python() ?? assert.fail()
    assert.equal(realpathSync(path), path)
    assert.deepEqual([...readFileSync(path).subarray(0, 4)], [0x7f, 0x45, 0x4c, 0x46]) // an ELF file, not a script
    assert.match(version, /^3\.\d+\.\d+/)
    for (const folder of folders) {
      assert.ok(existsSync(folder), folder)
      assert.ok(!folder.startsWith('/usr/'), folder)
      assert.ok(!folders.some((other) => other !== folder && folder.startsWith(`${other}/`)), folder)
    }
  },
)

test('behind a shim on PATH the interpreter itself is found', { skip: pythonIsMissing }, () => {
  using folder = useFolder()
  const { path = '' } = new Toolchains().python() ?? {}
  writeFileSync(join(folder.path, 'python3'), `#!/bin/sh\nexec ${path} "$@"\n`, { mode: 0o755 })
  const before = process.env['PATH']
  process.env['PATH'] = `${folder.path}:${before}`
  try {
    const found = new Toolchains().python() ?? assert.fail()
    assert.deepEqual([found.path, found.because], [path, 'path'])
  } finally {
    process.env['PATH'] = before
  }
})

test('a Python that was not found is not searched for again', () => {
  using folder = useFolder()
  const counter = join(folder.path, 'count')
  const fake = join(folder.path, 'python3')
  writeFileSync(fake, `#!/bin/sh\necho asked >> ${counter}\nexit 1\n`)
  chmodSync(fake, 0o755)
  const toolchains = new Toolchains({ python: fake })
  assert.deepEqual([toolchains.python(), toolchains.python()], [null, null])
  assert.equal(readFileSync(counter, 'utf8'), 'asked\n')
})
