/**
 * Missing packages that a stranger has planted where Node would look for them: in a parent folder, in the home, in
 * NODE_PATH. The host executes the packaged Bun without a wall, and shows the other packages to guests.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

import { createTemporaryFolder } from '../../adapters/cli/temporary-folder.ts'
import type { TemporaryFolder } from '../../adapters/cli/temporary-folder.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { copyProgram } from '../../support/sources/copy-program.ts'

const bun = process.arch === 'arm64' ? '@oven/bun-linux-aarch64' : '@oven/bun-linux-x64'
const isRoot = process.geteuid?.() === 0
const stranger = 12_345
let folder: TemporaryFolder

beforeEach(async () => {
  folder = await createTemporaryFolder()
  copyProgram(inFolder('above', 'program'), (name) => name === 'acorn')
  // In a build these modules are part of a bundle.
  cpSync(join(checkoutRoot, 'src'), inFolder('above', 'program', 'src'), { recursive: true })
})
afterEach(async () => folder[Symbol.asyncDispose]())

const inFolder = (...names: string[]) => join(realpathSync(folder.path), ...names)
const above = (...names: string[]) => inFolder('above', 'node_modules', ...names)

function plant(packages: string): void {
  for (const name of [bun, 'acorn']) {
    mkdirSync(join(packages, name, 'bin'), { recursive: true })
    writeFileSync(join(packages, name, 'package.json'), '{"main":"bin/bun"}')
    writeFileSync(join(packages, name, 'bin', 'bun'), '#!/bin/sh\n', { mode: 0o755 })
  }
}

interface Found {
  readonly bun: string | null
  /** The path of its folder; empty if none is accepted. */
  readonly acorn: string
  readonly why: string
}

/** The folder that the copied program takes for its packages. */
function look(): Found {
  const build = inFolder('above', 'program', 'src', 'runtimes')
  const script = `const { Toolchains } = await import('${build}/packages/toolchains.ts')
const { packageBind } = await import('${build}/packages/package-files.ts')
const toolchains = new Toolchains()
const found = { bun: toolchains.bun(), acorn: '', why: '' }
try { found.acorn = packageBind('acorn').host } catch (error) { found.why = error.message }
found.why += toolchains.explain('bun') ?? ''
console.log(JSON.stringify(found))`
  const env = { HOME: inFolder('home'), NODE_PATH: inFolder('named'), PATH: '/nowhere' }
  const args = ['--input-type=module', '--eval', script]
  return JSON.parse(execFileSync(process.execPath, args, { env, cwd: '/', encoding: 'utf8' })) as Found
}

test('packages in the home and in NODE_PATH are not used', () => {
  for (const place of ['home/.node_modules', 'home/.node_libraries', 'named']) plant(inFolder(place))
  const { bun: found, acorn, why } = look()
  assert.deepEqual([found, acorn], [null, ''])
  assert.match(why, /acorn.* is not installed/)
})

test('packages in a parent folder of this user are used, by their real paths', () => {
  plant(inFolder('store'))
  mkdirSync(dirname(above(bun)), { recursive: true })
  for (const name of [bun, 'acorn']) symlinkSync(inFolder('store', name), above(name))
  const { bun: found, acorn } = look()
  assert.deepEqual([found, acorn], [inFolder('store', bun, 'bin', 'bun'), inFolder('store', 'acorn')])
})

/** Paths that can be swapped between the check and the execution. */
const ways: Readonly<Record<string, () => void>> = {
  'a folder that everybody can write': () => {
    plant(above())
    chmodSync(above(), 0o777)
  },
  'links through a folder that everybody can write': () => {
    plant(inFolder('open', 'packages'))
    chmodSync(inFolder('open'), 0o777)
    symlinkSync(inFolder('open', 'packages'), above())
  },
  'a program that everybody can write, in packages that they can write': () => {
    plant(above())
    chmodSync(above(bun, 'bin', 'bun'), 0o777)
    chmodSync(above('acorn'), 0o777)
  },
  ...(isRoot && {
    'links that lead to files of another user': () => {
      plant(inFolder('theirs'))
      mkdirSync(dirname(above(bun)), { recursive: true })
      for (const name of [bun, 'acorn']) {
        for (const part of ['', 'bin', 'bin/bun'])
          chownSync(inFolder('theirs', name, part), stranger, stranger)
        symlinkSync(inFolder('theirs', name), above(name))
      }
    },
    'links of another user that lead to ours': () => {
      plant(inFolder('ours'))
      mkdirSync(above())
      chownSync(above(), stranger, stranger)
      mkdirSync(dirname(above(bun)))
      for (const name of [bun, 'acorn']) symlinkSync(inFolder('ours', name), above(name))
    },
    'a link to our program in a folder of another user': () => {
      plant(above())
      renameSync(above(bun, 'bin'), inFolder('bin'))
      symlinkSync(inFolder('bin'), above(bun, 'bin'))
      chownSync(inFolder('bin'), stranger, stranger)
      chownSync(above('acorn'), stranger, stranger)
    },
  }),
}

for (const [way, prepare] of Object.entries(ways)) {
  test(`packages in a parent folder are ${way}: they are not used, and the refusal says so`, () => {
    prepare()
    const { bun: found, acorn, why } = look()
    assert.deepEqual([found, acorn], [null, ''])
    assert.match(why, /acorn.* is not used: \S+ (can be written by|belongs to)/)
    assert.match(why, /bun-\S+ is not used: \S+ (can be written by|belongs to)/)
  })
}
