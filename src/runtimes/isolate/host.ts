/** The program of a worker that creates V8 isolates: one Node process in a cell, which serves one run after another. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import { pathIn } from '../../jail/plan/place.ts'
import type { Bind } from '../../jail/plan/shape.ts'
import { engineFolder, compilerPackages } from '../javascript/host.ts'
import { noNode } from '../node/host.ts'
import { findInPackage } from '../packages/own-packages.ts'
import { buildIn, manifestBind } from '../packages/package-files.ts'
import { guestEnvironment } from '../runtime.ts'
import type { Ground, Program } from '../runtime.ts'

const MiB = 1024 * 1024
/** The prepared isolates (guest/stock.ts), the running one, and the one that is being disposed of. */
const isolatesMax = 12
/**
 * See node/host.ts: each isolate reserves as much memory for its code as a thread of Node, and that counts as data.
 */
const dataBytes = (568 + (4 + isolatesMax) * 526) * MiB
/**
 * Makes malloc return freed memory to the kernel: large blocks are mapped individually, and the threads of timers share one
 * arena, because each arena keeps freed memory.
 */
const allocator = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '1048576',
}
/** The heap of the worker's own realm, which holds requests and answers and runs no guest code. */
const ownHeapMiB = 192

/** Throws RUNTIME_UNAVAILABLE with a hint if Node or isolated-vm is missing. */
export function prepareIsolates({ toolchains, place }: Ground): Program {
  const binary = toolchains.node()
  if (binary === null) throw toolchains.refuse('node', noNode())
  const node = { host: binary, guest: `${engineFolder}/node` }
  const build = buildIn(place)
  const engine = isolatedVmBind()
  const compilers = compilerPackages()
  const file = pathIn(place, node)
  return {
    file,
    argv: [
      file,
      // isolated-vm's README: isolates may crash if Node itself started from its snapshot.
      '--no-node-snapshot',
      // The checksum would be verified for each isolate. The snapshot needs none: this process has just created it.
      '--no-verify-snapshot-checksum',
      // All isolates share the snapshot's hash seed: a program that provokes collisions wastes only its own time.
      '--no-rehash-snapshot',
      `--max-old-space-size=${ownHeapMiB}`,
      `${pathIn(place, build)}/harness-isolate/guest.js`,
      pathIn(place, engine),
      ...(place.work === null ? [] : compilers.map(({ name, bind }) => `${name}=${bind.host}`)),
    ],
    env: { ...guestEnvironment({ language: 'javascript', code: '' }, place, [dirname(file)]), ...allocator },
    binds: [node, build, manifestBind(), engine, ...compilers.map(({ bind }) => bind)],
    files: [],
    baseDataBytes: dataBytes,
  }
}

/** The folder with the builds of isolated-vm's native part for all supported versions of Node. */
function isolatedVmBind(): Bind {
  const folder = `linux-${process.arch}`
  const { path, passedOver } = findInPackage('isolated-vm', join('prebuilds', folder))
  if (path === undefined || !existsSync(path)) {
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail:
        passedOver === undefined
          ? 'The package isolated-vm, which creates V8 isolates, is not installed; Lazaret leaves that to you.'
          : `The package isolated-vm, which creates V8 isolates, is not used: ${passedOver.reason}.`,
      hint: 'Run `npm install --ignore-scripts isolated-vm@7`: the package contains its native part, so its install script is not needed.',
    })
  }
  return { host: realpathSync(path), guest: '/opt/lazaret/isolated-vm' }
}
